package export

import (
	"context"
	"encoding/json"
	"time"

	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/tools"
)

// A Kind is what a [Piece] is.
type Kind string

// The kinds.
const (
	User    Kind = "user"
	Answer  Kind = "assistant"
	Thought Kind = "thought"
	Call    Kind = "tool"
)

// A Piece is something that the user of a thread saw, in the order in which it was
// shown.
type Piece struct {
	Seq      int64        `json:"seq"` // of the entry
	Time     time.Time    `json:"time"`
	Kind     Kind         `json:"kind"`
	ID       string       `json:"id,omitempty"` // of the message or the call
	Text     string       `json:"text,omitempty"`
	Model    string       `json:"model,omitempty"` // PROVIDER/MODEL that answered
	Attached []Attachment `json:"attached,omitempty"`
	Tool     *Tool        `json:"tool,omitempty"`     // of a call
	Partial  bool         `json:"partial,omitempty"`  // the answer was cut off
	Replaced bool         `json:"replaced,omitempty"` // another answer was given in its place
	Sources  []Cited      `json:"sources,omitempty"`  // what its numbers in brackets mean
}

// An Attachment is what a message of the user carried beside its text.
type Attachment struct {
	Name  string `json:"name,omitempty"`
	URI   string `json:"uri,omitempty"`
	MIME  string `json:"mimeType,omitempty"`
	Bytes int    `json:"bytes,omitempty"` // of what was sent along; 0 for a link alone

	Empty bool `json:"empty,omitempty"` // it was sent along, and has no bytes
}

// A Tool is a call of a tool in short.
type Tool struct {
	Name    string         `json:"name"`
	Title   string         `json:"title,omitempty"`
	State   State          `json:"state"`
	Answers []tools.Answer `json:"answers,omitempty"` // of the user, to questions of the call
}

// A State is how a call ended.
type State string

// The states.
const (
	Completed   State = "completed"
	Failed      State = "failed"
	Interrupted State = "interrupted" // no result is there, since the turn was ended in the middle
)

// Walk calls f with each piece of the thread that info is of, up to its last
// entry at that time. It returns the first error of f.
func Walk(ctx context.Context, s Source, info thread.Info, o Options, f func(Piece) error) error {
	w := walk{o: o, info: info, f: f}
	if err := s.Read(ctx, info.ID, 0, w.entry); err != nil {
		return err
	}
	return w.flush()
}

// A walk holds the pieces of a step until the results of its calls are known.
type walk struct {
	o    Options
	info thread.Info
	f    func(Piece) error

	step []Piece
	open map[string]int // calls of the step without a result, by our id
}

func (w *walk) entry(e thread.Entry) error {
	if e.Seq > w.info.Last {
		return nil // appended meanwhile
	}
	switch b := e.Body.(type) {
	case thread.User:
		if err := w.flush(); err != nil {
			return err
		}
		return w.f(user(e, b))
	case thread.Assistant:
		if err := w.flush(); err != nil {
			return err
		}
		w.answer(e, b)
	case thread.Result:
		w.result(b)
	}
	return nil
}

// flush gives away the step, whose calls get no more results.
func (w *walk) flush() error {
	step := w.step
	w.step, w.open = nil, nil
	for _, p := range step {
		if p.Replaced && !w.o.Replaced {
			continue
		}
		if err := w.f(p); err != nil {
			return err
		}
	}
	return nil
}

func user(e thread.Entry, u thread.User) Piece {
	p := Piece{Seq: e.Seq, Time: e.Time, Kind: User, ID: u.MessageID}
	for _, b := range u.Blocks {
		switch {
		case b.URI == "" && b.MIME == "" && len(b.Data) == 0:
			if p.Text != "" {
				p.Text += "\n\n"
			}
			p.Text += b.Text
		default:
			p.Attached = append(p.Attached, attachment(b))
		}
	}
	return p
}

func attachment(b event.Block) Attachment {
	return Attachment{Name: b.Name, URI: b.URI, MIME: b.MIME, Bytes: max(len(b.Data), len(b.Text)), Empty: b.Embedded}
}

// answer adds the pieces of one answer. The sources belong to its last message.
func (w *walk) answer(e thread.Entry, a thread.Assistant) {
	base := Piece{Seq: e.Seq, Time: e.Time, Model: a.Model, Replaced: a.Void || w.info.Hidden(e.Seq)}
	last := -1
	for _, part := range a.Parts {
		p := base
		p.ID = part.ID
		switch {
		case part.Call != nil:
			p.Kind, p.ID, p.Model = Call, part.Call.ID, ""
			p.Tool = &Tool{Name: part.Call.Name, State: Interrupted}
			if w.open == nil {
				w.open = make(map[string]int)
			}
			w.open[part.Call.ID] = len(w.step)
		case part.Reasoning != nil:
			if !w.o.Reasoning || part.Reasoning.Text == "" {
				continue
			}
			p.Kind, p.Text = Thought, part.Reasoning.Text
		case part.Text != "":
			if last >= 0 && last == len(w.step)-1 && w.step[last].ID == part.ID {
				w.step[last].Text += part.Text
				continue
			}
			p.Kind, p.Text, last = Answer, part.Text, len(w.step)
		default:
			continue
		}
		w.step = append(w.step, p)
	}
	if last >= 0 {
		w.step[last].Partial = a.Partial
		w.step[last].Sources = sources(a.Meta)
	}
}

func (w *walk) result(r thread.Result) {
	i, ok := w.open[r.CallID]
	if !ok {
		return
	}
	delete(w.open, r.CallID)
	t := w.step[i].Tool
	t.Title, t.State, t.Answers = r.Shown.Title, Completed, r.Answers
	if r.IsError {
		t.State = Failed
	}
}

// Cited is a source, and the number that answers cite it by.
type Cited struct {
	Index int    `json:"index"`
	URL   string `json:"url"`
	Title string `json:"title"`
}

// sources returns those that the metadata of an answer names: its snapshot of the
// registry, and what its citations carry. What is not of that form is none.
func sources(meta json.RawMessage) []Cited {
	var m struct {
		Sources   list[Cited] `json:"sources"`
		Citations list[struct {
			Sources list[Cited] `json:"sources"`
		}] `json:"citations"`
	}
	if json.Unmarshal(meta, &m) != nil {
		return nil
	}
	all := m.Sources
	for _, c := range m.Citations {
		all = append(all, c.Sources...)
	}
	var out []Cited
	seen := make(map[Cited]bool)
	for _, c := range all {
		key := Cited{Index: c.Index, URL: c.URL}
		if c.Index > 0 && c.URL != "" && !seen[key] {
			seen[key] = true
			out = append(out, c)
		}
	}
	return out
}

// A list leaves out elements that are of another form.
type list[T any] []T

func (l *list[T]) UnmarshalJSON(data []byte) error {
	var raw []json.RawMessage
	if json.Unmarshal(data, &raw) != nil {
		return nil
	}
	for _, r := range raw {
		var v T
		if json.Unmarshal(r, &v) == nil {
			*l = append(*l, v)
		}
	}
	return nil
}
