package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/tools"
)

// An output shows a turn of `lorimer run`.
type output interface {
	event.Sink
	begin(s *harness.Session)
	end(o harness.Outcome, failed error) error
}

// outputs are the formats by their names on the command line.
var outputs = map[string]func(Process) output{
	"text": func(p Process) output {
		return &textOutput{out: p.Stdout, steered: isTerminalWriter(p.Stdout), progress: progress{p}}
	},
	"json":        func(p Process) output { return &jsonOutput{out: p.Stdout, progress: progress{p}} },
	"stream-json": func(p Process) output { return &streamOutput{enc: encoder(p.Stdout)} },
}

// progress tells a person at standard error what goes on.
type progress struct{ p Process }

func (g progress) tell(e event.Event) {
	switch e := e.(type) {
	case event.Notice:
		fmt.Fprintln(g.p.Stderr, "lorimer:", tools.Visible(e.Text))
	case event.Retry:
		fmt.Fprintf(g.p.Stderr, "lorimer: %s; trying again in %v\n", tools.Visible(e.Reason), e.Wait.Round(100*time.Millisecond))
	case event.Done:
		if e.Replaced() && !e.Thought {
			fmt.Fprintln(g.p.Stderr, "lorimer: the answer so far did not hold; it begins anew")
		}
	case event.ToolCall:
		if e.Status == event.InProgress && e.Title != "" && isTerminalWriter(g.p.Stderr) {
			fmt.Fprintln(g.p.Stderr, "·", tools.Visible(e.Title))
		}
	}
}

// textOutput prints the answer as it comes, a blank line between its messages.
type textOutput struct {
	out     io.Writer
	steered bool // out is a terminal
	message string
	breaks  int // line breaks at the end of what is written
	progress
}

func (t *textOutput) begin(*harness.Session) {}

func (t *textOutput) Emit(e event.Event) error {
	t.tell(e)
	piece, ok := e.(event.Text)
	if !ok || piece.Text == "" {
		return nil
	}
	text := t.shown(piece.Text)
	if t.message != "" && t.message != piece.MessageID {
		text = strings.Repeat("\n", max(0, 2-t.breaks)) + strings.TrimLeft(text, "\n")
	}
	t.message = piece.MessageID
	t.breaks = len(text) - len(strings.TrimRight(text, "\n"))
	_, err := io.WriteString(t.out, text)
	return err
}

// shown is text as it is written. A terminal is not steered by it: a model repeats what
// it has read, which may be by anybody.
func (t *textOutput) shown(text string) string {
	if !t.steered {
		return text
	}
	return tools.Visible(strings.ReplaceAll(text, "\r\n", "\n"))
}

func (t *textOutput) end(o harness.Outcome, _ error) error {
	if t.message != "" && t.breaks == 0 {
		if _, err := io.WriteString(t.out, "\n"); err != nil {
			return err
		}
	}
	if short, ok := shortfalls[o.Stop]; ok {
		fmt.Fprintln(t.p.Stderr, "lorimer:", short)
	}
	return nil
}

// shortfalls say what is missing from an answer that was given all the same.
var shortfalls = map[harness.Stop]string{
	harness.MaxTokens:       "the answer is cut off, since the model may write no more at once",
	harness.MaxTurnRequests: "the turn took as many steps as one may and was ended; run it again with a smaller task",
	harness.Refusal:         "the model declined to answer this",
}

// A summary is what the json format prints.
type summary struct {
	Session    string       `json:"session"`
	Answer     string       `json:"answer"`
	StopReason harness.Stop `json:"stopReason,omitempty"`
	Usage      *usage       `json:"usage,omitempty"`
	ToolCalls  []toolCall   `json:"toolCalls"`
	Error      string       `json:"error,omitempty"`
}

type usage struct {
	Input      int  `json:"input"`
	Output     int  `json:"output"`
	CacheRead  int  `json:"cacheRead"`
	CacheWrite int  `json:"cacheWrite"`
	Known      bool `json:"known"`
}

func usageOf(u model.Usage) *usage {
	return &usage{u.Input, u.Output, u.CacheRead, u.CacheWrite, u.Known}
}

// A toolCall says of a call what is known; in a stream, what is new.
type toolCall struct {
	ID     string          `json:"id"`
	Name   string          `json:"name,omitempty"`
	Title  string          `json:"title,omitempty"`
	Status event.Status    `json:"status,omitempty"`
	Input  json.RawMessage `json:"input,omitempty"`
}

// jsonOutput prints one object at the end.
type jsonOutput struct {
	out      io.Writer
	summary  summary
	messages []message // that hold
	progress
}

// A message is a text of the model.
type message struct{ id, text string }

func (j *jsonOutput) begin(s *harness.Session) {
	j.summary = summary{Session: s.ID(), ToolCalls: []toolCall{}}
}

func (j *jsonOutput) Emit(e event.Event) error {
	j.tell(e)
	switch e := e.(type) {
	case event.Text:
		if n := len(j.messages); n == 0 || j.messages[n-1].id != e.MessageID {
			j.messages = append(j.messages, message{id: e.MessageID})
		}
		j.messages[len(j.messages)-1].text += e.Text
	case event.Done:
		if e.Replaced() {
			j.messages = slices.DeleteFunc(j.messages, func(m message) bool { return m.id == e.MessageID })
		}
	case event.ToolCall:
		j.call(e)
	}
	return nil
}

func (j *jsonOutput) call(e event.ToolCall) {
	calls := j.summary.ToolCalls
	i := len(calls) - 1
	for ; i >= 0 && calls[i].ID != e.ID; i-- {
	}
	if i < 0 {
		j.summary.ToolCalls = append(calls, toolCall{ID: e.ID})
		i = len(calls)
	}
	c := &j.summary.ToolCalls[i]
	if e.Name != "" {
		c.Name = e.Name
	}
	if e.Title != "" {
		c.Title = e.Title
	}
	if e.Status != "" {
		c.Status = e.Status
	}
	if e.Input != nil {
		c.Input = e.Input
	}
}

func (j *jsonOutput) end(o harness.Outcome, failed error) error {
	if n := len(j.messages); n > 0 { // the answer is the last of them
		j.summary.Answer = j.messages[n-1].text
	}
	j.summary.StopReason, j.summary.Usage = o.Stop, usageOf(o.Usage)
	if failed != nil {
		j.summary.Error = failed.Error()
	}
	return printJSON(j.out, j.summary)
}

// streamOutput prints an object a line, as things happen.
type streamOutput struct{ enc *json.Encoder }

func (s *streamOutput) begin(session *harness.Session) {
	s.enc.Encode(map[string]any{"type": "session", "session": session.ID()}) // a closed output shows at the next line
}

func (s *streamOutput) Emit(e event.Event) error {
	line := map[string]any{}
	switch e := e.(type) {
	case event.Text:
		line["type"], line["messageId"], line["text"] = "text", e.MessageID, e.Text
	case event.Thought:
		line["type"], line["messageId"], line["text"] = "thought", e.MessageID, e.Text
	case event.Done:
		if !e.Replaced() {
			return nil
		}
		line["type"], line["messageId"] = "replaced", e.MessageID
	case event.ToolCall:
		line["type"], line["toolCall"] = "tool_call", toolCall{e.ID, e.Name, e.Title, e.Status, e.Input}
		if e.Text != "" {
			line["text"] = e.Text
		}
	case event.Output:
		line["type"], line["id"], line["data"] = "output", e.ID, e.Data
	case event.Usage:
		line["type"], line["used"], line["size"] = "usage", e.Used, e.Size
		if e.Estimated {
			line["estimated"] = true
		}
	case event.Retry:
		line["type"], line["reason"], line["waitMs"], line["attempt"] = "retry", e.Reason, e.Wait.Milliseconds(), e.Attempt
	case event.Notice:
		line["type"], line["severity"], line["text"] = "notice", e.Severity, e.Text
	default:
		return nil
	}
	return s.enc.Encode(line)
}

func (s *streamOutput) end(o harness.Outcome, failed error) error {
	line := map[string]any{"type": "result", "stopReason": o.Stop, "usage": usageOf(o.Usage)}
	if failed != nil {
		line["error"] = failed.Error()
	}
	return s.enc.Encode(line)
}

// isTerminalWriter reports whether a person reads w.
func isTerminalWriter(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && isTerminal(f)
}
