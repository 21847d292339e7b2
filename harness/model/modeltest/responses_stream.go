package modeltest

import (
	"fmt"
	"strings"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// responsesWriter writes events. Each item of the answer has an id, and what a
// client must send back is signed: the encrypted content of a reasoning item for
// its model and summary.
type responsesWriter struct {
	e         *events
	model     string
	session   string
	encrypted bool   // the request includes reasoning.encrypted_content
	phase     string // of messages
	seq       int
	n         int // items begun
	output    []any
	open      string // kind of the open item
	id        string // of the open item
	said      strings.Builder
}

func (responses) stream(e *events, req *request, reply *Reply, _ model.Usage) writer {
	e.open()
	w := &responsesWriter{e: e, model: req.model, session: req.session, encrypted: req.encrypted, phase: "final_answer"}
	if len(reply.Tools) > 0 {
		w.phase = "commentary"
	}
	w.event("response.created", map[string]any{"response": w.response("in_progress", nil)})
	w.event("response.in_progress", map[string]any{"response": w.response("in_progress", nil)})
	return w
}

// response is the object that opens and closes a stream.
func (w *responsesWriter) response(status string, usage any) map[string]any {
	return map[string]any{"id": "resp_test", "object": "response", "created_at": 1, "status": status, "model": w.model,
		"output": append([]any{}, w.output...), "error": nil, "incomplete_details": nil, "usage": usage,
		"parallel_tool_calls": true, "tools": []any{}, "store": false}
}

func (w *responsesWriter) event(kind string, v map[string]any) {
	v["type"], v["sequence_number"] = kind, w.seq
	w.seq++
	if strings.HasSuffix(kind, ".delta") {
		w.e.piece(kind, v)
		return
	}
	w.e.send(kind, v)
}

// at is v with the place of the open item.
func (w *responsesWriter) at(v map[string]any) map[string]any {
	v["output_index"], v["item_id"] = w.n-1, w.id
	return v
}

func (w *responsesWriter) begin(kind, prefix string, item map[string]any) {
	w.close()
	w.n++
	w.open, w.id = kind, fmt.Sprintf("%s_%s%d", prefix, sign(w.session, fmt.Sprint(w.e.number)), w.n)
	w.said.Reset()
	item["type"], item["id"] = kind, w.id
	w.event("response.output_item.added", map[string]any{"output_index": w.n - 1, "item": item})
}

func (w *responsesWriter) finish(item map[string]any) {
	item["type"], item["id"] = w.open, w.id
	w.output = append(w.output, item)
	w.event("response.output_item.done", map[string]any{"output_index": w.n - 1, "item": item})
	w.open = ""
}

// close ends the open item, if there is one.
func (w *responsesWriter) close() {
	text := w.said.String()
	switch w.open {
	case "reasoning":
		part := map[string]any{"type": "summary_text", "text": text}
		w.event("response.reasoning_summary_text.done", w.at(map[string]any{"summary_index": 0, "text": text}))
		w.event("response.reasoning_summary_part.done", w.at(map[string]any{"summary_index": 0, "part": part}))
		item := map[string]any{"summary": []any{part}}
		if w.encrypted {
			item["encrypted_content"] = sign(w.model, text)
		}
		w.finish(item)
	case "message":
		part := map[string]any{"type": "output_text", "annotations": []any{}, "logprobs": []any{}, "text": text}
		w.event("response.output_text.done", w.at(map[string]any{"content_index": 0, "text": text, "logprobs": []any{}}))
		w.event("response.content_part.done", w.at(map[string]any{"content_index": 0, "part": part}))
		w.finish(map[string]any{"status": "completed", "role": "assistant", "phase": w.phase, "content": []any{part}})
	}
}

func (w *responsesWriter) think(s string) {
	if w.open != "reasoning" {
		w.begin("reasoning", "rs", map[string]any{"summary": []any{}})
		w.event("response.reasoning_summary_part.added", w.at(map[string]any{"summary_index": 0,
			"part": map[string]any{"type": "summary_text", "text": ""}}))
	}
	w.said.WriteString(s)
	w.event("response.reasoning_summary_text.delta", w.at(map[string]any{"summary_index": 0, "delta": s}))
}

func (w *responsesWriter) text(s string) {
	if w.open != "message" {
		w.begin("message", "msg", map[string]any{"status": "in_progress", "role": "assistant", "phase": w.phase, "content": []any{}})
		w.event("response.content_part.added", w.at(map[string]any{"content_index": 0,
			"part": map[string]any{"type": "output_text", "annotations": []any{}, "logprobs": []any{}, "text": ""}}))
	}
	w.said.WriteString(s)
	w.event("response.output_text.delta", w.at(map[string]any{"content_index": 0, "delta": s, "logprobs": []any{}}))
}

func (w *responsesWriter) tools(ts []Tool) {
	for _, t := range ts {
		w.begin("function_call", "fc", map[string]any{"status": "in_progress", "call_id": t.ID, "name": t.Name, "arguments": ""})
		for _, part := range halves(t.Args) {
			w.event("response.function_call_arguments.delta", w.at(map[string]any{"delta": part}))
		}
		w.event("response.function_call_arguments.done", w.at(map[string]any{"name": t.Name, "arguments": t.Args}))
		w.finish(map[string]any{"status": "completed", "call_id": t.ID, "name": t.Name, "arguments": t.Args})
	}
}

func (w *responsesWriter) fail(code, message string) {
	if code == "" {
		code = "server_error"
	}
	r := w.response("failed", nil)
	r["error"] = map[string]any{"code": code, "message": message}
	w.event("response.failed", map[string]any{"response": r})
}

func (w *responsesWriter) end(stop model.Stop, u model.Usage) {
	w.close()
	var usage any
	if u.Known {
		usage = map[string]any{"input_tokens": u.Input, "output_tokens": u.Output, "total_tokens": u.Input + u.Output,
			"input_tokens_details":  map[string]any{"cached_tokens": u.CacheRead, "cache_write_tokens": u.CacheWrite},
			"output_tokens_details": map[string]any{"reasoning_tokens": u.Reasoning}}
	}
	reason := map[model.Stop]string{model.StopLength: "max_output_tokens", model.StopContext: "max_output_tokens", model.StopRefusal: "content_filter"}[stop]
	if reason == "" {
		w.event("response.completed", map[string]any{"response": w.response("completed", usage)})
		return
	}
	r := w.response("incomplete", usage)
	r["incomplete_details"] = map[string]any{"reason": reason}
	w.event("response.incomplete", map[string]any{"response": r})
}
