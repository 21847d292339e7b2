package modeltest

import (
	"encoding/json"
	"strings"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// geminiWriter writes chunks.
type geminiWriter struct {
	e       *events
	req     *request
	reply   *Reply
	usage   model.Usage
	version int
	left    int // texts to come
	held    []any
	invalid bool // a call could not be sent
	ended   bool // the reason has been sent
}

func (gemini) stream(e *events, req *request, reply *Reply, u model.Usage) writer {
	e.open()
	return &geminiWriter{e: e, req: req, reply: reply, usage: u, version: geminiVersion(req.model), left: len(reply.Text)}
}

// chunk sends parts, with args in their places.
func (w *geminiWriter) chunk(finish string, args []string, parts ...any) {
	c := fields{"index": 0}
	if len(parts) > 0 {
		c["content"] = fields{"role": "model", "parts": parts}
	}
	if finish != "" {
		c["finishReason"] = finish
		w.ended = true
	}
	v := fields{"candidates": []any{c}, "modelVersion": w.req.model, "responseId": "resp_" + w.e.prefix}
	if u := w.counts(finish != "" && w.reply.Quirk != EmptyLastChunk); u != nil {
		v["usageMetadata"] = u
	}
	w.e.piece("", filled(v, args...))
}

// counts are the token counts, which are complete at the end.
func (w *geminiWriter) counts(last bool) fields {
	u := w.usage
	if !u.Known {
		return nil
	}
	out := fields{"promptTokenCount": u.Input, "totalTokenCount": u.Input}
	if u.CacheRead > 0 {
		out["cachedContentTokenCount"] = u.CacheRead
	}
	if last {
		out["totalTokenCount"] = u.Input + u.Output
		if n := u.Output - u.Reasoning; n > 0 {
			out["candidatesTokenCount"] = n
		}
		if u.Reasoning > 0 {
			out["thoughtsTokenCount"] = u.Reasoning
		}
	}
	return out
}

func (w *geminiWriter) think(s string) { w.chunk("", nil, fields{"text": s, "thought": true}) }

func (w *geminiWriter) text(s string) {
	w.left--
	p := fields{"text": s}
	switch {
	case w.left == 0 && w.reply.Quirk == TextWithCall:
		w.held = []any{p}
		return
	case w.left == 0 && w.reply.Quirk == SignatureOnText && w.signs():
		p["thoughtSignature"] = sign(w.req.model, "text")
	}
	w.chunk("", nil, p)
}

// signs reports whether the model signs what it thinks.
func (w *geminiWriter) signs() bool { return w.version >= 205 }

func (w *geminiWriter) tools(ts []Tool) {
	var args []string
	parts := w.held
	w.held = nil
	for i, t := range ts {
		if t.Args == "" {
			t.Args = "{}"
		}
		if !isObject(json.RawMessage(t.Args)) {
			w.invalid = true // the model wrote what is no call
			continue
		}
		parts, args = append(parts, w.call(i, t)), append(args, t.Args)
		switch last := i == len(ts)-1; {
		case w.reply.Quirk == OneEvent && !last:
		case w.reply.Quirk == FinishWithCall && last:
			w.chunk("STOP", args, parts...)
		default:
			w.chunk("", args, parts...)
			parts, args = nil, nil
		}
	}
}

// call is the part of call i. Gemini 3 names its calls and signs the first.
func (w *geminiWriter) call(i int, t Tool) fields {
	call := fields{"name": t.Name, "args": here}
	if w.version >= 300 && w.reply.Quirk != WithoutIDs {
		call["id"] = t.ID
	}
	p := fields{"functionCall": call}
	if i == 0 && w.signs() {
		p["thoughtSignature"] = sign(w.req.model, "call:"+t.Name)
	}
	return p
}

func (w *geminiWriter) fail(code, message string) {
	status := 500
	if strings.Contains(code, "overloaded") || code == "UNAVAILABLE" {
		status = 503
	}
	w.e.send("", gemini{}.fault(nil, &wrong{status: status, reason: message}))
}

func (w *geminiWriter) end(stop model.Stop, _ model.Usage) {
	if len(w.held) > 0 {
		w.chunk("", nil, w.held...)
	}
	finish := map[model.Stop]string{model.StopLength: "MAX_TOKENS", model.StopContext: "MAX_TOKENS", model.StopRefusal: "SAFETY"}[stop]
	switch {
	case w.ended:
	case w.invalid:
		w.chunk("MALFORMED_FUNCTION_CALL", nil)
	case finish != "":
		w.chunk(finish, nil)
	default:
		p := fields{"text": ""}
		if w.signs() && len(w.reply.Tools) == 0 && w.reply.Quirk != SignatureOnText {
			p["thoughtSignature"] = sign(w.req.model, "text")
		}
		w.chunk("STOP", nil, p)
	}
	if u := w.counts(true); w.reply.Quirk == EmptyLastChunk && u != nil {
		w.e.send("", fields{"usageMetadata": u, "modelVersion": w.req.model, "responseId": "resp_" + w.e.prefix})
	}
}
