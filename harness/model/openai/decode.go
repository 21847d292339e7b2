package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/internal/stream"
)

// A chunk is one event of the stream, as far as it matters.
type chunk struct {
	Object  string          `json:"object"`
	Model   string          `json:"model"`
	Error   json.RawMessage `json:"error"`
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
}

type choice struct {
	Index        int    `json:"index"`
	Delta        delta  `json:"delta"`
	FinishReason string `json:"finish_reason"`
	Usage        *usage `json:"usage"` // Moonshot has it here
}

type delta struct {
	Content          content           `json:"content"`
	Refusal          string            `json:"refusal"`
	ReasoningContent *string           `json:"reasoning_content"`
	Reasoning        *string           `json:"reasoning"`
	Details          []json.RawMessage `json:"reasoning_details"`
	ToolCalls        []callDelta       `json:"tool_calls"`
}

type callDelta struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string      `json:"name"`
		Arguments stream.Text `json:"arguments"`
	} `json:"function"`
	Extra json.RawMessage `json:"extra_content"`
}

// content is the text of a delta: a string, or the list of typed parts that
// Mistral's reasoning models send.
type content struct{ text, think string }

func (c *content) UnmarshalJSON(b []byte) error {
	*c = content{}
	if s, ok := stream.Plain(b); ok { // most of all deltas
		c.text = s
		return nil
	}
	if b[0] != '[' {
		return json.Unmarshal(b, &c.text)
	}
	var parts []struct {
		Type     string
		Text     string
		Thinking []struct{ Text string }
	}
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		c.text += p.Text
		for _, t := range p.Thinking {
			c.think += t.Text
		}
	}
	return nil
}

// An answer is a reply under construction.
type answer struct {
	stream.Teller
	ref     string // of the model, for its reasoning
	profile *Profile

	last    chunk // reused from event to event
	text    strings.Builder
	think   strings.Builder
	field   string // in which reasoning came
	details details
	refused bool
	calls   calls
	stop    string
	model   string
	usage   model.Usage
}

func newAnswer(ref string, p *Profile, sink func(model.Event) error) *answer {
	return &answer{Teller: stream.Teller{Sink: sink}, ref: ref, profile: p}
}

// chunk takes the next event of the stream.
func (a *answer) chunk(p *stream.Post, data []byte) (stream.Progress, error) {
	data = bytes.TrimSpace(data)
	switch {
	case len(data) == 0:
		return stream.Alive, nil
	case string(data) == "[DONE]":
		return stream.Done, nil
	}
	c := &a.last
	clear(c.Choices[:cap(c.Choices)]) // json decodes on top of what was there
	*c = chunk{Choices: c.Choices[:0]}
	if err := json.Unmarshal(data, c); err != nil {
		return 0, err
	}
	if present(c.Error) || c.Object == "error" {
		return 0, p.Fault(http.StatusOK, nil, data)
	}
	a.model = cmp.Or(a.model, c.Model)
	a.count(c.Usage)
	for i := range c.Choices {
		if c.Choices[i].Index != 0 {
			continue
		}
		if err := a.delta(&c.Choices[i].Delta); err != nil {
			return 0, err
		}
		a.stop = cmp.Or(c.Choices[i].FinishReason, a.stop)
		a.count(c.Choices[i].Usage)
	}
	if a.stop != "" {
		return stream.Ending, nil
	}
	return stream.More, nil
}

// count takes totals; a later one that says nothing does not take them back.
func (a *answer) count(u *usage) {
	if u != nil {
		a.usage = cmp.Or(model.Usage(*u), a.usage)
	}
}

func present(v json.RawMessage) bool { return len(v) > 0 && string(v) != "null" }

// delta takes the pieces of one event in the order in which models produce them.
func (a *answer) delta(d *delta) error {
	if err := a.thoughts(d); err != nil {
		return err
	}
	if s := d.Content.text + d.Refusal; s != "" {
		a.refused = a.refused || d.Refusal != ""
		a.text.WriteString(s)
		if err := a.Tell(model.Text(s)); err != nil {
			return err
		}
	}
	for i := range d.ToolCalls {
		if err := a.calls.add(&d.ToolCalls[i], a.Tell); err != nil {
			return err
		}
	}
	return nil
}

func (a *answer) thoughts(d *delta) error {
	s := d.Content.think
	switch {
	case d.ReasoningContent != nil:
		a.field, s = "reasoning_content", s+*d.ReasoningContent
	case d.Reasoning != nil:
		a.field, s = "reasoning", s+*d.Reasoning
	}
	if len(d.Details) > 0 {
		more := a.details.add(d.Details)
		if s == "" {
			s = more
		}
	}
	if s == "" {
		return nil
	}
	a.think.WriteString(s)
	return a.Tell(model.Think(s))
}

// finish tells what is left to tell, or why a stream that came to its end is no
// answer.
func (a *answer) finish(p *stream.Post) error {
	switch a.stop {
	case "error", "network_error", "insufficient_system_resource":
		return &model.Error{Kind: model.Overloaded, Provider: p.Provider, Code: a.stop,
			Message: "the provider broke the answer off"}
	}
	return stream.Own(a.calls.close(a.Tell))
}

// reply is the answer so far; only a whole one has calls.
func (a *answer) reply(id string, whole bool) *model.Reply {
	r := &model.Reply{RawStop: a.stop, Usage: a.usage, Model: a.model, RequestID: id}
	if p, ok := a.reasoning(whole); ok {
		r.Parts = append(r.Parts, p)
	}
	if a.text.Len() > 0 {
		r.Parts = append(r.Parts, llms.TextContent{Text: a.text.String()})
	}
	calls := 0
	if whole {
		for _, c := range a.calls.list {
			r.Parts = append(r.Parts, c.part(a.ref))
			calls++
		}
	}
	r.Stop = a.reason(calls)
	return r
}

// reasoning is what the model thought. An empty thought is kept where the server
// wants the field back, empty or not. Details of an answer that was cut short are
// left out: sent back without their signature they would spoil every later
// request.
func (a *answer) reasoning(whole bool) (model.Reasoning, bool) {
	r := model.Reasoning{TextContent: llms.TextContent{Text: a.think.String()}, Provider: a.ref, Field: a.field}
	if a.text.Len() == 0 && len(a.calls.list) == 0 && a.reason(0) == model.StopLength {
		whole = false // the thought itself met the limit
	}
	if raw := a.details.json(); raw != "" && whole {
		r.Field, r.Signature = "reasoning_details", raw
	}
	kept := r.Text != "" || r.Signature != "" || r.Field != "" && r.Field == a.profile.Echo
	return r, kept
}

func (a *answer) reason(calls int) model.Stop {
	switch a.stop {
	case "length", "max_tokens", "model_length":
		return model.StopLength
	case "content_filter", "sensitive", "refusal":
		return model.StopRefusal
	}
	switch {
	case calls > 0:
		return model.StopTools
	case a.refused:
		return model.StopRefusal
	}
	return model.StopEnd
}

// usage is token counts. Those that cannot be read are unknown, and no reason to
// fail.
type usage model.Usage

func (u *usage) UnmarshalJSON(b []byte) error {
	var v struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Total      int `json:"total_tokens"`
		Hit        int `json:"prompt_cache_hit_tokens"` // DeepSeek's name for cached
		Cached     int `json:"cached_tokens"`           // Moonshot's
		PromptMore struct {
			Cached  int `json:"cached_tokens"`
			Written int `json:"cache_write_tokens"`
		} `json:"prompt_tokens_details"`
		CompletionMore struct {
			Reasoning int `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
	}
	*u = usage{}
	if json.Unmarshal(b, &v) != nil || v.Prompt+v.Completion == 0 {
		return nil
	}
	*u = usage{
		Input: v.Prompt, Output: max(v.Completion, v.Total-v.Prompt), // some count thoughts in the total alone
		CacheRead:  max(v.PromptMore.Cached, v.Hit, v.Cached),
		CacheWrite: v.PromptMore.Written, Reasoning: v.CompletionMore.Reasoning, Known: true,
	}
	return nil
}
