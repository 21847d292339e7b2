package ollama

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/internal/parts"
	"github.com/lorimer-dev/lorimer/harness/model/internal/stream"
)

// A line is one line of the stream, as far as it matters.
type line struct {
	Model      string          `json:"model"`
	Error      json.RawMessage `json:"error"`
	Message    message         `json:"message"`
	Done       bool            `json:"done"`
	DoneReason string          `json:"done_reason"`
	Prompt     count           `json:"prompt_eval_count"`        // the whole prompt
	Cached     count           `json:"prompt_eval_cached_count"` // what of it was there already
	Output     count           `json:"eval_count"`
}

type message struct {
	Content  string      `json:"content"`
	Thinking string      `json:"thinking"`
	Calls    []callDelta `json:"tool_calls"`
}

// A callDelta is a whole call, whatever the name says that other protocols give it.
type callDelta struct {
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// A count is a number of tokens, 0 where there is none: servers leave out the field
// that would be 0. One that cannot be read is unknown, and no reason to fail.
type count int

func (c *count) UnmarshalJSON(b []byte) error {
	n, err := strconv.ParseFloat(string(b), 64)
	if err != nil || n < 0 || n > 1<<40 {
		n = 0
	}
	*c = count(n)
	return nil
}

// An answer is a reply under construction.
type answer struct {
	stream.Teller
	ref    string // of the model, for its reasoning
	window int    // that was asked for, 0 is none
	limit  int    // of tokens of the answer, 0 is none

	last  line // the newest, reused
	text  strings.Builder
	think strings.Builder
	calls []llms.ToolCall
	given []string // ids of the server, by call
	model string
	end   line // the last line, without its message
	short bool // fewer tokens were counted than there are
}

// line takes the next line of the stream.
func (a *answer) line(p *stream.Post, data []byte) (stream.Progress, error) {
	l := &a.last
	*l = line{}
	if err := json.Unmarshal(data, l); err != nil {
		return 0, err
	}
	if len(l.Error) > 0 && string(l.Error) != "null" {
		e := p.Fault(http.StatusOK, nil, data)
		if e.Kind == model.Unknown { // the model had been asked, and broke off
			e.Kind = model.Overloaded
		}
		return 0, e
	}
	a.model = cmp.Or(a.model, l.Model)
	if err := a.take(&l.Message); err != nil {
		return 0, err
	}
	switch {
	case l.Done:
		a.end = *l
		a.end.Message = message{}
		return stream.Done, nil
	case l.Message.Content == "" && l.Message.Thinking == "" && len(l.Message.Calls) == 0:
		return stream.Alive, nil
	}
	return stream.More, nil
}

// take takes the pieces of one line in the order in which models produce them.
func (a *answer) take(m *message) error {
	if m.Thinking != "" {
		a.think.WriteString(m.Thinking)
		if err := a.Tell(model.Think(m.Thinking)); err != nil {
			return err
		}
	}
	if m.Content != "" {
		a.text.WriteString(m.Content)
		if err := a.Tell(model.Text(m.Content)); err != nil {
			return err
		}
	}
	for i := range m.Calls {
		if err := a.call(&m.Calls[i]); err != nil {
			return err
		}
	}
	return nil
}

// call takes a call. Servers may leave out its id, or give one that another call
// has; one that says what an earlier one said is that one again.
func (a *answer) call(d *callDelta) error {
	name, args := d.Function.Name, arguments(d.Function.Arguments)
	if name == "" && args == "{}" {
		return nil
	}
	for i, c := range a.calls {
		if a.given[i] == d.ID && c.FunctionCall.Name == name && c.FunctionCall.Arguments == args {
			return nil
		}
	}
	id := d.ID
	if id == "" || slices.ContainsFunc(a.calls, func(c llms.ToolCall) bool { return c.ID == id }) {
		id = parts.NewID()
	}
	index := len(a.calls)
	a.calls = append(a.calls, llms.ToolCall{ID: id, Type: "function", FunctionCall: &llms.FunctionCall{Name: name, Arguments: args}})
	a.given = append(a.given, d.ID)
	if err := a.Tell(model.ToolStart{Index: index, ID: id, Name: name}); err != nil {
		return err
	}
	return a.Tell(model.ToolArgs{Index: index, Fragment: args})
}

// arguments are raw as they came: an object, or a string that holds one.
func arguments(raw json.RawMessage) string {
	args := string(bytes.TrimSpace(raw))
	if strings.HasPrefix(args, `"`) {
		var s string
		if json.Unmarshal(raw, &s) == nil {
			args = strings.TrimSpace(s)
		}
	}
	if args == "" || args == "null" {
		return "{}"
	}
	return args
}

// finish says why a stream that came to its end is no answer.
func (a *answer) finish(p *stream.Post, req *model.Request) error {
	if e := a.cut(req); e != nil {
		e.Provider = p.Provider
		return e
	}
	return nil
}

// reply is the answer so far; only a whole one has calls.
func (a *answer) reply(whole bool) *model.Reply {
	r := &model.Reply{RawStop: a.end.DoneReason, Model: a.model}
	if a.think.Len() > 0 {
		r.Parts = append(r.Parts, model.Reasoning{TextContent: llms.TextContent{Text: a.think.String()}, Provider: a.ref, Field: thinkingField})
	}
	if a.text.Len() > 0 {
		r.Parts = append(r.Parts, llms.TextContent{Text: a.text.String()})
	}
	if whole {
		for _, c := range a.calls {
			r.Parts = append(r.Parts, c)
		}
		r.Usage = a.usage()
	}
	r.Stop = a.reason()
	return r
}
