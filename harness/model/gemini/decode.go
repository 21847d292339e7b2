package gemini

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/internal/parts"
	"github.com/lorimer-dev/lorimer/harness/model/internal/stream"
)

// A candidate is what has come of the answer since the last event.
type candidate struct {
	Index   int `json:"index"`
	Content struct {
		Parts []part `json:"parts"`
	} `json:"content"`
	FinishReason  string `json:"finishReason"`
	FinishMessage string `json:"finishMessage"`
}

// A part is text, a thought or a call. Parts of other kinds come from tools of
// Google's own, which are never asked for, and are empty here.
type part struct {
	Text         string        `json:"text"`
	Thought      bool          `json:"thought"`
	Signature    string        `json:"thoughtSignature"`
	FunctionCall *functionCall `json:"functionCall"`
}

type functionCall struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

// usage is how tokens are counted: totals so far, without those that are zero.
type usage struct {
	Prompt     int `json:"promptTokenCount"`
	ToolPrompt int `json:"toolUsePromptTokenCount"`
	Cached     int `json:"cachedContentTokenCount"`
	Candidates int `json:"candidatesTokenCount"`
	Thoughts   int `json:"thoughtsTokenCount"`
	Total      int `json:"totalTokenCount"`
}

// A piece is a text, a thought or a call of the answer under construction.
type piece struct {
	kind      pieceKind
	text      strings.Builder
	parts     []sealedText // of a text
	signature string       // of a thought
	call      llms.ToolCall
	seal      sealedCall
}

type pieceKind int

const (
	textPiece pieceKind = iota
	thoughtPiece
	callPiece
)

// An answer is a reply under construction.
type answer struct {
	stream.Teller
	ref string // of the model, for its signatures

	last   []candidate // of the last event; reused
	tally  []byte      // the last counts, as they came; reused
	pieces []*piece
	calls  int
	stop   string
	why    string // what the provider says of the stop
	model  string
	id     string
	counts usage
}

// chunk takes the next event of the stream.
func (a *answer) chunk(p *stream.Post, data []byte) (stream.Progress, error) {
	switch data = bytes.TrimSpace(data); {
	case len(data) == 0:
		return stream.Alive, nil
	case string(data) == "[DONE]": // of servers that imitate this one
		return stream.Done, nil
	case data[0] == '[': // Google sends some errors as a list
		if e := p.Fault(http.StatusOK, nil, data); e.Message != "" {
			return 0, e
		}
	}
	a.last = a.last[:0]
	err := members(data, func(key, value []byte) error {
		switch string(key) {
		case "candidates":
			a.clear()
			return json.Unmarshal(value, &a.last)
		case "usageMetadata":
			a.tally = append(a.tally[:0], value...)
		case "modelVersion":
			return first(&a.model, value)
		case "responseId":
			return first(&a.id, value)
		case "promptFeedback":
			return refusal(p, value)
		case "error":
			if string(value) != "null" {
				return p.Fault(http.StatusOK, nil, data)
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	for i := range a.last {
		if a.last[i].Index != 0 {
			continue
		}
		if err := a.candidate(&a.last[i]); err != nil {
			return 0, err
		}
	}
	if a.stop != "" {
		a.count()
		return stream.Ending, nil
	}
	return stream.More, nil
}

// refusal is the error that the feedback on a prompt is, nil for one that is
// answered.
func refusal(p *stream.Post, feedback []byte) error {
	var f struct {
		Reason  string `json:"blockReason"`
		Message string `json:"blockReasonMessage"`
	}
	if err := json.Unmarshal(feedback, &f); err != nil {
		return err
	}
	switch f.Reason {
	case "", "BLOCKED_REASON_UNSPECIFIED", "BLOCK_REASON_UNSPECIFIED":
		return nil
	}
	return &model.Error{Kind: model.Refused, Provider: p.Provider, Code: f.Reason,
		Message: "the prompt is blocked" + because(cmp.Or(f.Message, f.Reason)) + "; say it in other words"}
}

// clear empties the candidates but for the room that they have: json decodes on
// top of what is there.
func (a *answer) clear() {
	all := a.last[:cap(a.last)]
	for i := range all {
		room := all[i].Content.Parts
		clear(room[:cap(room)])
		all[i] = candidate{}
		all[i].Content.Parts = room[:0]
	}
}

// first decodes the string b into s, which keeps what it has.
func first(s *string, b []byte) error {
	if *s != "" {
		return nil
	}
	return json.Unmarshal(b, s)
}

// candidate takes the parts of one event in their order.
func (a *answer) candidate(c *candidate) error {
	for i := range c.Content.Parts {
		if err := a.part(&c.Content.Parts[i]); err != nil {
			return err
		}
	}
	if r := c.FinishReason; r != "" && r != "FINISH_REASON_UNSPECIFIED" {
		a.stop, a.why = r, c.FinishMessage
	}
	return nil
}

func (a *answer) part(p *part) error {
	switch {
	case p.FunctionCall != nil:
		return a.call(p)
	case p.Text == "" && p.Signature == "":
		return nil
	case p.Thought:
		return a.thought(p)
	}
	b := a.open(textPiece)
	b.text.WriteString(p.Text)
	if n := len(b.parts); n > 0 && b.parts[n-1].Signature == "" && p.Signature == "" {
		b.parts[n-1].Len += len(p.Text)
	} else {
		b.parts = append(b.parts, sealedText{len(p.Text), p.Signature})
	}
	if p.Text == "" {
		return nil
	}
	return a.Tell(model.Text(p.Text))
}

// open returns the last piece if it is of that kind, else a new one.
func (a *answer) open(kind pieceKind) *piece {
	if n := len(a.pieces); n > 0 && a.pieces[n-1].kind == kind {
		return a.pieces[n-1]
	}
	b := &piece{kind: kind}
	a.pieces = append(a.pieces, b)
	return b
}

// thought takes a thought. One with a signature is a piece of its own, since it
// goes back alone.
func (a *answer) thought(p *part) error {
	var b *piece
	if n := len(a.pieces); p.Signature == "" && n > 0 && a.pieces[n-1].kind == thoughtPiece && a.pieces[n-1].signature == "" {
		b = a.pieces[n-1]
	} else {
		b = &piece{kind: thoughtPiece, signature: p.Signature}
		a.pieces = append(a.pieces, b)
	}
	if p.Text == "" {
		return nil
	}
	b.text.WriteString(p.Text)
	return a.Tell(model.Think(p.Text))
}

// call takes a call, which always comes whole.
func (a *answer) call(p *part) error {
	f := p.FunctionCall
	args := string(bytes.TrimSpace(f.Args))
	if args == "" || args == "null" {
		args = "{}"
	}
	id := f.ID
	for _, b := range a.pieces {
		if b.kind != callPiece || id == "" || b.seal.ID != id {
			continue
		}
		if had := b.call.FunctionCall; had.Name == f.Name && had.Arguments == args {
			return nil // the same call once more
		}
		id = "" // two calls under one id
	}
	b := &piece{kind: callPiece, seal: sealedCall{f.ID, p.Signature}, call: llms.ToolCall{
		ID: cmp.Or(id, parts.NewID()), Type: "function", FunctionCall: &llms.FunctionCall{Name: f.Name, Arguments: args},
	}}
	a.pieces = append(a.pieces, b)
	n := a.calls
	a.calls++
	if err := a.Tell(model.ToolStart{Index: n, ID: b.call.ID, Name: f.Name}); err != nil {
		return err
	}
	return a.Tell(model.ToolArgs{Index: n, Fragment: args})
}

// count takes the totals of the last event; what it leaves out stays. Those that
// cannot be read are unknown, and no reason to fail.
func (a *answer) count() {
	var u usage
	if json.Unmarshal(a.tally, &u) != nil || u == (usage{}) {
		return
	}
	c := &a.counts
	*c = usage{
		Prompt: cmp.Or(u.Prompt, c.Prompt), ToolPrompt: cmp.Or(u.ToolPrompt, c.ToolPrompt), Cached: cmp.Or(u.Cached, c.Cached),
		Candidates: cmp.Or(u.Candidates, c.Candidates), Thoughts: cmp.Or(u.Thoughts, c.Thoughts), Total: cmp.Or(u.Total, c.Total),
	}
}

// usage is the counts in our terms. Some servers count thoughts among the
// candidates; their total shows it.
func (a *answer) usage() model.Usage {
	c := a.counts
	u := model.Usage{
		Input: c.Prompt + c.ToolPrompt, Output: c.Candidates + c.Thoughts,
		CacheRead: c.Cached, Reasoning: c.Thoughts, Known: c != usage{},
	}
	if c.Total > 0 && c.Candidates >= c.Thoughts && c.Total == u.Input+c.Candidates {
		u.Output = c.Candidates
	}
	return u
}

// finish says why a stream that came to its end is no answer.
func (a *answer) finish(p *stream.Post) error {
	e := &model.Error{Provider: p.Provider, Code: a.stop}
	switch a.stop {
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MALFORMED_RESPONSE":
		e.Kind, e.Message = model.Malformed, "the model called a tool in a way that cannot be read"
	case "MISSING_THOUGHT_SIGNATURE":
		e.Kind, e.Message = model.Invalid, "the provider misses the signature of an earlier call"
	default:
		return nil
	}
	e.Message += because(a.why)
	return e
}

// because is why on one line, cut to what is worth reading, to follow a message.
func because(why string) string {
	why = strings.Join(strings.Fields(why), " ")
	if r := []rune(why); len(r) > 200 {
		why = string(r[:200]) + "…"
	}
	if why == "" {
		return ""
	}
	return ": " + why
}

// reply is the answer so far; only a whole one has calls.
func (a *answer) reply(id string, whole bool) *model.Reply {
	a.count()
	r := &model.Reply{RawStop: a.stop, Usage: a.usage(), Model: a.model, RequestID: cmp.Or(id, a.id)}
	for _, b := range a.pieces {
		if p, ok := b.part(a.ref); ok && (whole || b.kind != callPiece) {
			r.Parts = append(r.Parts, p)
		}
	}
	r.Stop = reason(a.stop, a.calls)
	return r
}

// part is b as a part of a reply. A signature without anything that it could
// stand on is none.
func (b *piece) part(ref string) (llms.ContentPart, bool) {
	text := llms.TextContent{Text: b.text.String()}
	switch b.kind {
	case callPiece:
		return model.Extra{ToolCall: b.call, Provider: ref, Content: b.seal.seal()}, true
	case thoughtPiece:
		return model.Reasoning{TextContent: text, Provider: ref, Signature: b.signature}, true
	}
	for _, p := range b.parts {
		if p.Signature != "" {
			return model.SignedText{TextContent: text, Provider: ref, Content: marshal(b.parts)}, text.Text != ""
		}
	}
	return text, text.Text != ""
}

func reason(raw string, calls int) model.Stop {
	switch raw {
	case "MAX_TOKENS", "CONTINUATION":
		return model.StopLength
	case "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "ESCALATION",
		"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION":
		return model.StopRefusal
	}
	if calls > 0 {
		return model.StopTools
	}
	return model.StopEnd
}
