package modeltest

import (
	"encoding/json"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// ollamaWriter writes lines.
type ollamaWriter struct {
	e     *events
	model string
	quirk Quirk
	left  int    // texts to come
	held  string // text that waits for a call or the end
}

func (ollama) stream(e *events, req *request, reply *Reply, _ model.Usage) writer {
	e.lines = true
	e.open()
	return &ollamaWriter{e: e, model: req.model, quirk: reply.Quirk, left: len(reply.Text)}
}

// line is an event of a message, with args in their places.
func (w *ollamaWriter) line(msg fields, args ...string) {
	w.e.piece("", filled(w.event(msg, false), args...))
}

func (w *ollamaWriter) event(msg fields, done bool) fields {
	msg["role"] = "assistant"
	if msg["content"] == nil {
		msg["content"] = ""
	}
	return fields{"model": w.model, "created_at": "2026-01-02T03:04:05.678Z", "message": msg, "done": done}
}

func (w *ollamaWriter) think(s string) { w.line(fields{"thinking": s}) }

func (w *ollamaWriter) text(s string) {
	w.left--
	if w.left == 0 && (w.quirk == TextWithCall || w.quirk == TextInLast) {
		w.held = s
		return
	}
	w.line(fields{"content": s})
}

func (w *ollamaWriter) tools(ts []Tool) {
	var calls []any
	var args []string
	for i, t := range ts {
		if t.Args == "" {
			t.Args = "{}"
		}
		if !isObject(json.RawMessage(t.Args)) { // the server does not know it for a call
			w.line(fields{"content": t.Name + t.Args})
			continue
		}
		call := fields{"id": t.ID, "function": fields{"index": i, "name": t.Name, "arguments": here}}
		if w.quirk == WithoutIDs {
			delete(call, "id")
		}
		calls, args = append(calls, call), append(args, t.Args)
		if w.quirk == OneEvent && i < len(ts)-1 {
			continue
		}
		msg := fields{"tool_calls": calls}
		if w.quirk == TextWithCall {
			msg["content"], w.held = w.held, ""
		}
		w.line(msg, args...)
		calls, args = nil, nil
	}
}

func (w *ollamaWriter) fail(_, message string) { w.e.send("", fields{"error": message}) }

func (w *ollamaWriter) end(stop model.Stop, u model.Usage) {
	v := w.event(fields{"content": w.held}, true)
	v["done_reason"], v["total_duration"], v["load_duration"] = "stop", 5_000_000, 1_000_000
	if stop == model.StopLength || stop == model.StopContext {
		v["done_reason"] = "length"
	}
	if u.Known {
		v["prompt_eval_count"], v["prompt_eval_duration"] = u.Input, 1_000_000
		v["eval_count"], v["eval_duration"] = u.Output, 3_000_000
	}
	w.e.send("", v)
}
