package modeltest

import (
	"encoding/json"
	"strings"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// anthropicWriter writes events.
type anthropicWriter struct {
	e       *events
	model   string
	quirk   Quirk
	index   int
	open    string // kind of the open block
	thought strings.Builder
	odd     bool // the block that the quirk adds has been sent
}

func (anthropic) stream(e *events, req *request, reply *Reply, u model.Usage) writer {
	e.open()
	w := &anthropicWriter{e: e, model: req.model, quirk: reply.Quirk, index: -1}
	msg := fields{"id": "msg_" + e.prefix, "type": "message", "role": "assistant", "model": req.model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil}
	if u.Known {
		msg["usage"] = fields{"input_tokens": u.Input - u.CacheRead - u.CacheWrite, "output_tokens": 1,
			"cache_read_input_tokens": u.CacheRead, "cache_creation_input_tokens": u.CacheWrite,
			"cache_creation": fields{"ephemeral_5m_input_tokens": u.CacheWrite, "ephemeral_1h_input_tokens": 0}}
	}
	w.event("message_start", fields{"message": msg})
	w.event("ping", fields{})
	return w
}

func (w *anthropicWriter) event(kind string, v fields) {
	v["type"] = kind
	w.e.send(kind, v)
	if w.quirk == Pings && kind != "ping" {
		w.event("ping", fields{})
	}
}

func (w *anthropicWriter) begin(kind string, block fields) {
	w.close()
	w.index++
	w.open, block["type"] = kind, kind
	w.event("content_block_start", fields{"index": w.index, "content_block": block})
}

func (w *anthropicWriter) delta(index int, v fields) {
	w.e.piece("content_block_delta", fields{"type": "content_block_delta", "index": index, "delta": v})
	if w.quirk == Pings {
		w.event("ping", fields{})
	}
}

func (w *anthropicWriter) close() {
	if w.open == "thinking" {
		w.delta(w.index, fields{"type": "signature_delta", "signature": sign(w.model, w.thought.String())})
		w.thought.Reset()
	}
	if w.open != "" {
		w.event("content_block_stop", fields{"index": w.index})
	}
	w.open = ""
}

// block sends a whole block.
func (w *anthropicWriter) block(kind string, v fields, deltas ...fields) {
	w.begin(kind, v)
	for _, d := range deltas {
		w.delta(w.index, d)
	}
	w.close()
}

// oddity sends the blocks that a quirk adds, before what is said.
func (w *anthropicWriter) oddity() {
	if w.odd {
		return
	}
	w.odd = true
	switch w.quirk {
	case UnknownBlock:
		w.block("crystal_ball", fields{"vision": fields{}}, fields{"type": "vision_delta", "vision": "fog"})
	case RedactedThinking:
		w.block("redacted_thinking", fields{"data": sign(w.model, "redacted")})
	case ServerToolUse:
		w.block("server_tool_use", fields{"id": "srvtoolu_" + w.e.prefix, "name": "web_search", "input": fields{}},
			fields{"type": "input_json_delta", "partial_json": `{"query":"x"}`})
		w.block("web_search_tool_result", fields{"tool_use_id": "srvtoolu_" + w.e.prefix, "content": []any{}})
	}
}

func (w *anthropicWriter) think(s string) {
	if w.open != "thinking" {
		w.begin("thinking", fields{"thinking": "", "signature": ""})
	}
	w.thought.WriteString(s)
	w.delta(w.index, fields{"type": "thinking_delta", "thinking": s})
}

func (w *anthropicWriter) text(s string) {
	if w.open != "text" {
		w.close()
		w.oddity()
		w.begin("text", fields{"text": ""})
	}
	w.delta(w.index, fields{"type": "text_delta", "text": s})
}

func (w *anthropicWriter) tools(ts []Tool) {
	w.close()
	w.oddity()
	switch w.quirk {
	case Interleaved:
		w.interleaved(ts)
	case WholeCall:
		for _, t := range ts {
			w.whole(t)
		}
	default:
		for _, t := range ts {
			deltas := []fields{{"type": "input_json_delta", "partial_json": ""}}
			for _, part := range halves(t.Args) {
				deltas = append(deltas, fields{"type": "input_json_delta", "partial_json": part})
			}
			w.block("tool_use", fields{"id": t.ID, "name": t.Name, "input": fields{}}, deltas...)
		}
	}
}

// interleaved opens all blocks before it fills the first.
func (w *anthropicWriter) interleaved(ts []Tool) {
	first := w.index + 1
	for _, t := range ts {
		w.index++
		w.event("content_block_start", fields{"index": w.index, "content_block": fields{"type": "tool_use", "id": t.ID, "name": t.Name, "input": fields{}}})
	}
	for k := range 2 {
		for i, t := range ts {
			if parts := halves(t.Args); k < len(parts) {
				w.delta(first+i, fields{"type": "input_json_delta", "partial_json": parts[k]})
			}
		}
	}
	for i := range ts {
		w.event("content_block_stop", fields{"index": first + i})
	}
}

// whole sends a call whose input stands in its start.
func (w *anthropicWriter) whole(t Tool) {
	if !isObject(json.RawMessage(t.Args)) {
		t.Args = "{}"
	}
	w.index++
	w.e.send("content_block_start", filled(fields{"type": "content_block_start", "index": w.index,
		"content_block": fields{"type": "tool_use", "id": t.ID, "name": t.Name, "input": here}}, t.Args))
	w.event("content_block_stop", fields{"index": w.index})
}

func (w *anthropicWriter) fail(code, message string) {
	if code == "" {
		code = "api_error"
	}
	w.event("error", fields{"error": fields{"type": code, "message": message}})
}

func (w *anthropicWriter) end(stop model.Stop, u model.Usage) {
	w.close()
	raw := map[model.Stop]string{model.StopEnd: "end_turn", model.StopTools: "tool_use", model.StopLength: "max_tokens",
		model.StopContext: "model_context_window_exceeded", model.StopRefusal: "refusal", model.StopPause: "pause_turn"}[stop]
	v := fields{"delta": fields{"stop_reason": raw, "stop_sequence": nil}}
	if u.Known {
		v["usage"] = fields{"output_tokens": u.Output, "output_tokens_details": fields{"thinking_tokens": u.Reasoning}}
	}
	w.event("message_delta", v)
	w.event("message_stop", fields{})
}
