package anthropic

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/internal/parts"
	"github.com/lorimer-dev/lorimer/harness/model/internal/stream"
)

// An event of the stream, as far as it matters.
type event struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		Model string `json:"model"`
		Usage *usage `json:"usage"`
	} `json:"message"`
	ContentBlock struct {
		Type      string          `json:"type"`
		Text      string          `json:"text"`
		Thinking  string          `json:"thinking"`
		Signature string          `json:"signature"`
		Data      string          `json:"data"`
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Input     json.RawMessage `json:"input"`
	} `json:"content_block"`
	Delta struct {
		Type        string `json:"type"`
		Text        string `json:"text"`
		Thinking    string `json:"thinking"`
		Signature   string `json:"signature"`
		PartialJSON string `json:"partial_json"`
		StopReason  string `json:"stop_reason"`
	} `json:"delta"`
	Usage *usage `json:"usage"`
}

// usage is how tokens are counted: each event that has counts has totals, not
// increments, and may leave some of them out.
type usage struct {
	Input  *int `json:"input_tokens"`
	Output *int `json:"output_tokens"`
	Read   *int `json:"cache_read_input_tokens"`
	Write  *int `json:"cache_creation_input_tokens"`
	More   struct {
		Thinking int `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// UnmarshalJSON takes the counts that can be read; the others are no reason to
// fail.
func (u *usage) UnmarshalJSON(b []byte) error {
	type counts usage
	*u = usage{}
	json.Unmarshal(b, (*counts)(u)) // what does not fit is skipped
	return nil
}

// A piece is one block of the answer under construction.
type piece struct {
	kind      string
	text      strings.Builder // text, thought or arguments
	signature strings.Builder
	data      string // of a redacted thought
	id, name  string
	ordinal   int // of a call
	input     json.RawMessage
	closed    bool
}

// An answer is a reply under construction.
type answer struct {
	stream.Teller
	ref    string         // of the model, for its thoughts
	last   event          // reused
	pieces []*piece       // in the order in which they began
	at     map[int]*piece // by the index of the block, which some servers use again
	calls  int
	stop   string
	model  string
	counts struct {
		known                                bool
		input, output, read, write, thinking int
	}
}

// event takes the next event of the stream.
func (a *answer) event(p *stream.Post, data []byte) (stream.Progress, error) {
	if string(data) == "[DONE]" { // of servers that imitate another protocol as well
		return stream.Done, nil
	}
	e := &a.last
	*e = event{}
	if err := json.Unmarshal(data, e); err != nil {
		return 0, err
	}
	switch e.Type {
	case "error":
		return 0, p.Fault(http.StatusOK, nil, data)
	case "": // an error of what stands before the server
		if f := p.Fault(http.StatusOK, nil, data); f.Message != "" {
			return 0, f
		}
	case "ping":
		return stream.Alive, nil
	case "message_start":
		a.model = e.Message.Model
		a.count(e.Message.Usage)
	case "content_block_start":
		return stream.More, a.open(e)
	case "content_block_delta":
		return stream.More, a.grow(e)
	case "content_block_stop":
		if b := a.at[e.Index]; b != nil {
			b.closed = true
			return stream.More, a.complete(b)
		}
	case "message_delta":
		a.stop = cmp.Or(e.Delta.StopReason, a.stop)
		a.count(e.Usage)
	case "message_stop":
		return stream.Done, nil
	}
	if a.stop != "" {
		return stream.Ending, nil
	}
	return stream.More, nil
}

func (a *answer) open(e *event) error {
	c := &e.ContentBlock
	b := &piece{kind: c.Type, data: c.Data, id: c.ID, name: c.Name, input: c.Input}
	a.begin(e.Index, b)
	b.signature.WriteString(c.Signature)
	switch b.kind {
	case "text":
		return a.say(b, c.Text)
	case "thinking":
		return a.think(b, c.Thinking)
	case "tool_use":
		if b.id == "" || a.has(b) { // its result would find no call, or two
			b.id = parts.NewID()
		}
		b.ordinal = a.calls
		a.calls++
		return a.Tell(model.ToolStart{Index: b.ordinal, ID: b.id, Name: b.name})
	}
	return nil
}

// has reports whether another call has the id of b.
func (a *answer) has(b *piece) bool {
	return slices.ContainsFunc(a.pieces, func(c *piece) bool { return c != b && c.kind == b.kind && c.id == b.id })
}

func (a *answer) begin(index int, b *piece) {
	if a.at == nil {
		a.at = map[int]*piece{}
	}
	a.at[index] = b
	a.pieces = append(a.pieces, b)
}

// grow takes a delta of a block. One that does not fit its block is none of ours:
// tools that run at the provider, and kinds of blocks that are yet to come, have
// deltas too.
func (a *answer) grow(e *event) error {
	d := &e.Delta
	b := a.at[e.Index]
	if b == nil { // some servers do not say that a block begins
		kind, ok := strings.CutSuffix(d.Type, "_delta")
		if !ok || kind != "text" && kind != "thinking" {
			return nil
		}
		b = &piece{kind: kind}
		a.begin(e.Index, b)
	}
	switch {
	case d.Type == "text_delta" && b.kind == "text":
		return a.say(b, d.Text)
	case d.Type == "thinking_delta" && b.kind == "thinking":
		return a.think(b, d.Thinking)
	case d.Type == "signature_delta":
		b.signature.WriteString(d.Signature)
	case d.Type == "input_json_delta" && b.kind == "tool_use" && d.PartialJSON != "":
		b.text.WriteString(d.PartialJSON)
		return a.Tell(model.ToolArgs{Index: b.ordinal, Fragment: d.PartialJSON})
	}
	return nil
}

func (a *answer) say(b *piece, s string) error {
	if s == "" {
		return nil
	}
	b.text.WriteString(s)
	return a.Tell(model.Text(s))
}

func (a *answer) think(b *piece, s string) error {
	if s == "" {
		return nil
	}
	b.text.WriteString(s)
	return a.Tell(model.Think(s))
}

// complete gives a call whose arguments came with its start, as some servers
// send them, the arguments that it has.
func (a *answer) complete(b *piece) error {
	if b.kind != "tool_use" || b.text.Len() > 0 {
		return nil
	}
	switch string(b.input) {
	case "", "{}", `""`, "null":
		return nil
	}
	b.text.Write(b.input)
	return a.Tell(model.ToolArgs{Index: b.ordinal, Fragment: string(b.input)})
}

// finish completes the calls of which nobody said that they ended.
func (a *answer) finish() error {
	for _, b := range a.pieces {
		if err := a.complete(b); err != nil {
			return stream.Own(err)
		}
	}
	return nil
}

// count takes totals; a zero does not take back what was counted at the start.
func (a *answer) count(u *usage) {
	if u == nil {
		return
	}
	set := func(to *int, n *int) {
		if n != nil && *n > 0 {
			*to, a.counts.known = *n, true
		}
	}
	set(&a.counts.input, u.Input)
	set(&a.counts.output, u.Output)
	set(&a.counts.read, u.Read)
	set(&a.counts.write, u.Write)
	set(&a.counts.thinking, &u.More.Thinking)
}

// reply is the answer so far; only a whole one has calls and unsigned thoughts.
func (a *answer) reply(id string, whole bool) *model.Reply {
	n := a.counts
	r := &model.Reply{RawStop: a.stop, Model: a.model, RequestID: id, Usage: model.Usage{
		Input: n.input + n.read + n.write, Output: n.output, CacheRead: n.read, CacheWrite: n.write,
		Reasoning: n.thinking, Known: n.known,
	}}
	calls := 0
	for _, b := range a.pieces {
		p, ok := b.part(a.ref)
		if _, call := p.(llms.ToolCall); call {
			ok = ok && whole
			calls++
		}
		if ok && (whole || b.closed || b.kind == "text") {
			r.Parts = append(r.Parts, p)
		}
	}
	r.Stop = reason(a.stop, calls)
	return r
}

// part is b as a part of a reply; a block of an unknown kind is none.
func (b *piece) part(ref string) (llms.ContentPart, bool) {
	text := llms.TextContent{Text: b.text.String()}
	switch b.kind {
	case "text":
		return text, text.Text != ""
	case "thinking":
		sig := b.signature.String()
		return model.Reasoning{TextContent: text, Provider: ref, Signature: sig}, text.Text != "" || sig != ""
	case "redacted_thinking":
		return model.Reasoning{Provider: ref, Redacted: b.data}, b.data != ""
	case "tool_use":
		return llms.ToolCall{ID: b.id, Type: "function", FunctionCall: &llms.FunctionCall{
			Name: b.name, Arguments: cmp.Or(text.Text, "{}"),
		}}, true
	}
	return nil, false
}

func reason(raw string, calls int) model.Stop {
	switch raw {
	case "max_tokens":
		return model.StopLength
	case "model_context_window_exceeded":
		return model.StopContext
	case "refusal":
		return model.StopRefusal
	case "pause_turn":
		return model.StopPause
	}
	if calls > 0 {
		return model.StopTools
	}
	return model.StopEnd
}
