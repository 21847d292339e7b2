package modeltest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// responsesWriter writes events. It builds the output item by item; an item has
// its events sent when it begins, grows and ends, as far as the quirk leaves them.
type responsesWriter struct {
	e      *events
	req    *request
	reply  *Reply
	memory *memory
	id     string // of the response
	seq    int
	items  []*outputItem
	calls  []string
}

// An outputItem is an item of the output under construction.
type outputItem struct {
	kind  string
	index int
	id    string
	parts []string // of a summary, a text or arguments
	call  Tool
	done  bool
}

func (it *outputItem) text() string { return strings.Join(it.parts, "") }

func (p responses) stream(e *events, req *request, reply *Reply, _ model.Usage) writer {
	e.open()
	w := &responsesWriter{e: e, req: req, reply: reply, memory: p.memory, id: "resp_" + e.prefix}
	w.event("response.created", fields{"response": w.response("in_progress", nil)})
	w.event("response.in_progress", fields{"response": w.response("in_progress", nil)})
	return w
}

// response is the object that opens and closes a stream.
func (w *responsesWriter) response(status string, usage any) fields {
	output := []any{}
	for _, it := range w.items {
		if it.done && w.reply.Quirk != EmptyOutput && w.reply.Quirk != HugeArgument {
			output = append(output, w.whole(it, "completed"))
		}
	}
	return fields{"id": w.id, "object": "response", "created_at": 1, "status": status, "model": w.req.model,
		"output": output, "error": nil, "incomplete_details": nil, "usage": usage,
		"parallel_tool_calls": true, "tools": []any{}, "tool_choice": "auto", "store": w.req.stored}
}

// phase is that of what is said: models up to gpt-5.2 have none.
func (w *responsesWriter) phase() any {
	switch f := familyOf(w.req.model); {
	case f.own && f.version < 503:
		return nil
	case len(w.reply.Tools) > 0:
		return "commentary"
	}
	return "final_answer"
}

// event sends an event that the quirk leaves.
func (w *responsesWriter) event(kind string, v fields) {
	if w.hidden(kind) {
		return
	}
	v["type"], v["sequence_number"] = kind, w.seq
	w.seq++
	if strings.HasSuffix(kind, ".delta") {
		w.e.piece(kind, v)
		return
	}
	w.e.send(kind, v)
}

func (w *responsesWriter) hidden(kind string) bool {
	switch w.reply.Quirk {
	case NoDeltas:
		return strings.HasSuffix(kind, ".delta")
	case ArgumentsDone:
		return kind == "response.function_call_arguments.delta"
	case OnlyItems:
		return strings.Count(kind, ".") > 1 && kind != "response.output_item.done"
	}
	return false
}

// of sends an event of an item.
func (w *responsesWriter) of(it *outputItem, kind string, v fields) {
	v["output_index"], v["item_id"] = it.index, it.id
	w.event("response."+kind, v)
}

func (w *responsesWriter) begin(kind, prefix string, call Tool) *outputItem {
	n := len(w.items)
	it := &outputItem{kind: kind, index: n, id: fmt.Sprintf("%s_%s_%d", prefix, w.e.prefix, n), call: call}
	w.items = append(w.items, it)
	known := item{kind: kind, stored: w.req.stored}
	if n > 0 && w.items[0].kind == "reasoning" {
		known.reasoning = w.items[0].id
	}
	if kind == "message" {
		known.phase, _ = w.phase().(string)
	}
	w.memory.keep(it.id, known)
	w.event("response.output_item.added", fields{"output_index": n, "item": w.whole(it, "in_progress")})
	return it
}

// whole is an item as it is so far.
func (w *responsesWriter) whole(it *outputItem, status string) fields {
	v := fields{"type": it.kind, "id": it.id}
	switch it.kind {
	case "reasoning":
		summary := []any{}
		for _, s := range it.summary(w.reply.Quirk) {
			summary = append(summary, fields{"type": "summary_text", "text": s})
		}
		v["summary"] = summary
		if w.req.encrypted && status != "in_progress" {
			v["encrypted_content"] = sign(w.req.model, it.id)
		}
	case "message":
		content := []any{}
		if len(it.parts) > 0 {
			content = append(content, w.part(it.text()))
		}
		v["status"], v["role"], v["phase"], v["content"] = status, "assistant", w.phase(), content
	case "function_call":
		v["status"], v["call_id"], v["name"], v["arguments"] = status, it.call.ID, it.call.Name, it.text()
	}
	return v
}

// summary are the parts of a summary, which is one but for a quirk.
func (it *outputItem) summary(q Quirk) []string {
	switch {
	case q == SummaryParts:
		return it.parts
	case len(it.parts) == 0:
		return nil
	}
	return []string{it.text()}
}

// part is a part of a message.
func (w *responsesWriter) part(s string) fields {
	if w.reply.Quirk == Refusal {
		return fields{"type": "refusal", "refusal": s}
	}
	return fields{"type": "output_text", "annotations": []any{}, "logprobs": []any{}, "text": s}
}

// current is the item that grows, a new one if the last is of another kind.
func (w *responsesWriter) current(kind, prefix string) *outputItem {
	if n := len(w.items); n > 0 && w.items[n-1].kind == kind {
		return w.items[n-1]
	}
	w.close()
	return w.begin(kind, prefix, Tool{})
}

func (w *responsesWriter) think(s string) {
	it := w.current("reasoning", "rs")
	if w.reply.Quirk == SummaryParts && len(it.parts) > 0 {
		w.summaryDone(it)
	}
	at := 0
	if w.reply.Quirk == SummaryParts {
		at = len(it.parts)
	}
	if len(it.parts) == 0 || w.reply.Quirk == SummaryParts {
		w.of(it, "reasoning_summary_part.added", fields{"summary_index": at, "part": fields{"type": "summary_text", "text": ""}})
	}
	it.parts = append(it.parts, s)
	w.of(it, "reasoning_summary_text.delta", fields{"summary_index": at, "delta": s})
}

func (w *responsesWriter) summaryDone(it *outputItem) {
	all := it.summary(w.reply.Quirk)
	at, text := len(all)-1, all[len(all)-1]
	w.of(it, "reasoning_summary_text.done", fields{"summary_index": at, "text": text})
	w.of(it, "reasoning_summary_part.done", fields{"summary_index": at, "part": fields{"type": "summary_text", "text": text}})
}

func (w *responsesWriter) text(s string) {
	it := w.current("message", "msg")
	if len(it.parts) == 0 {
		w.of(it, "content_part.added", fields{"content_index": 0, "part": w.part("")})
	}
	it.parts = append(it.parts, s)
	if w.reply.Quirk == Refusal {
		w.of(it, "refusal.delta", fields{"content_index": 0, "delta": s})
		return
	}
	w.of(it, "output_text.delta", fields{"content_index": 0, "delta": s, "logprobs": []any{}})
}

// close ends the last item, if it is open.
func (w *responsesWriter) close() {
	if n := len(w.items); n > 0 {
		w.finish(w.items[n-1])
	}
}

func (w *responsesWriter) finish(it *outputItem) {
	if it.done {
		return
	}
	it.done = true
	status := "completed"
	switch text := it.text(); it.kind {
	case "reasoning":
		w.summaryDone(it)
	case "message":
		if w.reply.Quirk == Refusal {
			w.of(it, "refusal.done", fields{"content_index": 0, "refusal": text})
		} else {
			w.of(it, "output_text.done", fields{"content_index": 0, "text": text, "logprobs": []any{}})
		}
		w.of(it, "content_part.done", fields{"content_index": 0, "part": w.part(text)})
		if w.reply.Quirk == IncompleteItem {
			status = "incomplete"
		}
		if p, ok := w.phase().(string); ok {
			w.memory.say(w.req.model, text, p)
		}
	case "function_call":
		w.of(it, "function_call_arguments.done", fields{"name": it.call.Name, "arguments": text})
		w.calls = append(w.calls, it.call.ID)
	}
	w.event("response.output_item.done", fields{"output_index": it.index, "item": w.whole(it, status)})
}

func (w *responsesWriter) tools(ts []Tool) {
	w.close()
	if w.reply.Quirk != Interleaved {
		for _, t := range ts {
			it := w.begin("function_call", "fc", t)
			for _, part := range halves(t.Args) {
				w.grow(it, part)
			}
			w.finish(it)
		}
		return
	}
	first := len(w.items)
	for _, t := range ts {
		w.begin("function_call", "fc", t)
	}
	for k := range 2 {
		for i, t := range ts {
			if parts := halves(t.Args); k < len(parts) {
				w.grow(w.items[first+i], parts[k])
			}
		}
	}
	for _, it := range slices.Backward(w.items[first:]) {
		w.finish(it)
	}
}

func (w *responsesWriter) grow(it *outputItem, part string) {
	it.parts = append(it.parts, part)
	w.of(it, "function_call_arguments.delta", fields{"delta": part})
}

func (w *responsesWriter) fail(code, message string) {
	if code == "" {
		code = "server_error"
	}
	if w.reply.Quirk == ErrorEvent {
		w.event("error", fields{"code": code, "message": message, "param": nil})
		return
	}
	r := w.response("failed", nil)
	r["error"] = fields{"code": code, "message": message}
	w.event("response.failed", fields{"response": r})
}

func (w *responsesWriter) end(stop model.Stop, u model.Usage) {
	w.close()
	if w.req.stored {
		w.memory.store(w.id, w.calls)
	}
	var usage any
	if u.Known {
		usage = fields{"input_tokens": u.Input, "output_tokens": u.Output, "total_tokens": u.Input + u.Output,
			"input_tokens_details":  fields{"cached_tokens": u.CacheRead, "cache_write_tokens": u.CacheWrite},
			"output_tokens_details": fields{"reasoning_tokens": u.Reasoning}}
	}
	reason := map[model.Stop]string{model.StopLength: "max_output_tokens", model.StopContext: "max_output_tokens", model.StopRefusal: "content_filter"}[stop]
	if w.reply.Quirk == IncompleteItem {
		reason = "max_output_tokens"
	}
	if reason == "" {
		w.event("response.completed", fields{"response": w.response("completed", usage)})
		return
	}
	r := w.response("incomplete", usage)
	r["incomplete_details"] = fields{"reason": reason}
	w.event("response.incomplete", fields{"response": r})
}
