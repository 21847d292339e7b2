package modeltest

import (
	"strings"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// openAIWriter writes chunks.
type openAIWriter struct {
	e       *events
	req     *request
	quirk   Quirk
	thought strings.Builder
	said    strings.Builder
	left    int    // texts to come
	held    string // text that waits for a call
}

func (openAI) stream(e *events, req *request, reply *Reply, _ model.Usage) writer {
	e.open()
	w := &openAIWriter{e: e, req: req, quirk: reply.Quirk, left: len(reply.Text)}
	if w.quirk == Prelude {
		e.send("", w.full(fields{"choices": []any{}, "prompt_filter_results": []any{}}))
	}
	w.chunk(fields{"role": "assistant", "content": ""}, nil)
	return w
}

// full is a chunk with what all chunks have.
func (w *openAIWriter) full(v fields) fields {
	v["id"], v["object"], v["created"], v["model"] = "chatcmpl-test", "chat.completion.chunk", 1, w.req.model
	if _, has := v["usage"]; !has && w.req.usage {
		v["usage"] = nil
	}
	return v
}

func choices(delta, finish any) []any {
	return []any{fields{"index": 0, "delta": delta, "logprobs": nil, "finish_reason": finish}}
}

func (w *openAIWriter) chunk(delta, finish any) {
	w.e.piece("", w.full(fields{"choices": choices(delta, finish)}))
}

func (w *openAIWriter) think(s string) {
	w.thought.WriteString(s)
	detail := fields{"type": "reasoning.text", "text": s, "index": 0, "format": "unknown"}
	switch w.quirk {
	case ReasoningField:
		w.chunk(fields{"reasoning": s}, nil)
	case ReasoningDetails:
		w.chunk(fields{"reasoning": s, "reasoning_details": []any{detail}}, nil)
	case TypedContent:
		w.chunk(fields{"content": []any{fields{"type": "thinking", "thinking": []any{fields{"type": "text", "text": s}}}}}, nil)
	default:
		w.chunk(fields{"reasoning_content": s}, nil)
	}
}

func (w *openAIWriter) text(s string) {
	w.signDetails()
	w.said.WriteString(s)
	w.left--
	switch {
	case w.quirk == TextWithCall && w.left == 0:
		w.held = s
	case w.quirk == Refusal:
		w.chunk(fields{"refusal": s}, nil)
	case w.quirk == TypedContent:
		w.chunk(fields{"content": []any{fields{"type": "text", "text": s}}}, nil)
	default:
		w.chunk(fields{"content": s}, nil)
	}
}

// signDetails ends a thought that came in details with its signature.
func (w *openAIWriter) signDetails() {
	if w.quirk == ReasoningDetails && w.thought.Len() > 0 {
		w.chunk(fields{"reasoning_details": []any{fields{"type": "reasoning.text", "index": 0,
			"signature": sign(w.req.model, w.thought.String())}}}, nil)
		w.thought.Reset()
	}
}

func (w *openAIWriter) tools(ts []Tool) {
	w.signDetails()
	calls := make([][]fields, len(ts))
	for i, t := range ts {
		calls[i] = w.deltas(i, t)
	}
	switch w.quirk {
	case Interleaved:
		for k, more := 0, true; more; k++ {
			more = false
			for _, c := range calls {
				if k < len(c) {
					w.call(c[k])
					more = true
				}
			}
		}
	case OneEvent:
		var all []fields
		for _, c := range calls {
			all = append(all, c...)
		}
		w.call(all...)
	default:
		for _, c := range calls {
			for _, d := range c {
				w.call(d)
			}
		}
	}
	switch w.quirk {
	case RepeatedCall:
		for i, c := range calls {
			c[0]["index"] = len(ts) + i
			w.call(c[0])
		}
	case TrailingDelta:
		w.call(fields{"index": len(ts), "function": fields{"name": "", "arguments": ""}})
	}
}

// call sends deltas of calls in a chunk, with the text that waits for one.
func (w *openAIWriter) call(deltas ...fields) {
	v := fields{"tool_calls": deltas}
	if w.held != "" {
		v["content"] = w.held
		w.held = ""
	}
	w.chunk(v, nil)
}

// deltas are the pieces of call i.
func (w *openAIWriter) deltas(i int, t Tool) []fields {
	if isMistral(w.req.model) && !nineRule.MatchString(t.ID) {
		t.ID = short(t.ID)[:9]
	}
	gemini := geminiVersion(w.req.model) > 0
	first := fields{"index": i, "id": t.ID, "type": "function", "function": fields{"name": t.Name, "arguments": ""}}
	out := []fields{first}
	for _, part := range halves(t.Args) {
		out = append(out, fields{"index": i, "function": fields{"arguments": part}})
	}
	switch {
	case gemini || w.quirk == WholeCall || w.quirk == OneEvent || w.quirk == RepeatedCall || isMistral(w.req.model):
		first["function"] = fields{"name": t.Name, "arguments": t.Args}
		out = out[:1]
	case w.quirk == TrailingDelta:
		out = append(out, fields{"index": i, "function": fields{"arguments": ""}})
	}
	if gemini && i == 0 {
		first["extra_content"] = fields{"google": fields{"thought_signature": sign(w.req.model, "call:"+t.Name)}}
	}
	for k, d := range out {
		w.distort(k, d, t.ID)
		if gemini {
			delete(d, "index")
		}
	}
	return out
}

// distort changes delta k of a call as the quirk says.
func (w *openAIWriter) distort(k int, d fields, id string) {
	switch w.quirk {
	case NoIndex:
		delete(d, "index")
	case ReusedIndex:
		if k < 2 {
			d["index"] = 0
		}
	case NoType:
		delete(d, "type")
	case TypeAlways:
		d["type"] = "function"
		if k > 0 {
			d["id"] = nil
		}
	case LateID:
		delete(d, "id")
		if k == 1 {
			d["id"] = id
		}
	case EmptyID:
		d["id"] = ""
	case WithoutIDs:
		delete(d, "id")
	}
}

// halves cuts s in two, not inside a character.
func halves(s string) []string {
	if len(s) < 2 {
		return []string{s}
	}
	at := len(s) / 2
	for at < len(s) && s[at]&0xC0 == 0x80 {
		at++
	}
	return []string{s[:at], s[at:]}
}

func (w *openAIWriter) fail(code, message string) {
	w.e.send("", fields{"error": fields{"message": message, "type": code, "code": nil}})
}

func (w *openAIWriter) end(stop model.Stop, u model.Usage) {
	w.signDetails()
	if w.held != "" {
		w.chunk(fields{"content": w.held}, nil)
	}
	finish := map[model.Stop]string{model.StopEnd: "stop", model.StopTools: "tool_calls", model.StopLength: "length",
		model.StopContext: "length", model.StopRefusal: "content_filter", model.StopPause: "stop"}[stop]
	last := fields{"choices": choices(fields{}, finish)}
	inFinish := w.quirk == UsageInFinish || countsUnasked(w.req.model)
	told := u.Known && w.req.usage
	if told && inFinish {
		last["usage"] = openAIUsage(u)
	}
	w.e.piece("", w.full(last))
	if w.quirk == NullFinish {
		w.chunk(fields{}, nil)
	}
	if told && !inFinish {
		w.e.send("", w.full(fields{"choices": []any{}, "usage": openAIUsage(u)}))
	}
	if w.quirk != NoDone {
		w.e.send("", "[DONE]")
	}
}

func openAIUsage(u model.Usage) fields {
	return fields{"prompt_tokens": u.Input, "completion_tokens": u.Output, "total_tokens": u.Input + u.Output,
		"prompt_tokens_details":     fields{"cached_tokens": u.CacheRead, "cache_write_tokens": u.CacheWrite},
		"completion_tokens_details": fields{"reasoning_tokens": u.Reasoning}}
}
