package responses

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/internal/parts"
	"github.com/lorimer-dev/lorimer/harness/model/internal/stream"
)

// The events that bring an item.
const (
	itemAdded = "response.output_item.added"
	itemDone  = "response.output_item.done"
)

// An answer is a reply under construction.
type answer struct {
	stream.Teller
	ref string // of the model, for what goes back to it

	last  event // reused from event to event
	items []*item
	calls int   // that have been told
	spoke *item // whose text was told last, nil after a call

	id, model string
	stop      string
	short     bool // the answer is incomplete
	usage     model.Usage
}

// event takes the next event of the stream. Types that it does not know are a
// sign of life.
func (a *answer) event(p *stream.Post, data []byte) (stream.Progress, error) {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || string(data) == "[DONE]" {
		return stream.Alive, nil
	}
	e := &a.last
	*e = event{}
	if err := json.Unmarshal(data, e); err != nil {
		return 0, err
	}
	switch e.Type {
	case "response.output_text.delta":
		return a.grow("message", said, e.Content, e.Delta)
	case "response.refusal.delta":
		return a.grow("message", refused, e.Content, e.Delta)
	case "response.reasoning_summary_text.delta":
		return a.grow("reasoning", summary, e.Summary, e.Delta)
	case "response.reasoning_text.delta":
		return a.grow("reasoning", thought, e.Content, e.Delta)
	case "response.function_call_arguments.delta":
		return a.grow("function_call", args, 0, e.Delta)
	case "response.output_text.done":
		return a.settle("message", said, e.Content, e.Text)
	case "response.refusal.done":
		return a.settle("message", refused, e.Content, e.Refusal)
	case "response.reasoning_summary_text.done":
		return a.settle("reasoning", summary, e.Summary, e.Text)
	case "response.reasoning_text.done":
		return a.settle("reasoning", thought, e.Content, e.Text)
	case "response.function_call_arguments.done":
		return a.settle("function_call", args, 0, e.Arguments)
	case itemAdded, itemDone:
		return stream.More, a.take(e.Item, e.Output, e.Type)
	case "response.created":
		_, err := a.read(e.Response)
		return stream.More, err
	case "response.completed", "response.incomplete", "response.done", "response.failed", "response.cancelled":
		return stream.Done, a.end(p, e)
	case "error", "":
		if e.Type == "error" || present(e.Error) {
			return 0, broken(p, data)
		}
	}
	return stream.Alive, nil
}

func present(v json.RawMessage) bool { return len(v) > 0 && string(v) != "null" }

// grow adds s to the piece of the item that the last event names.
func (a *answer) grow(kind string, f form, index int, s stream.Text) (stream.Progress, error) {
	it := a.named(kind, &a.last)
	return stream.More, a.add(it, it.piece(f, index), string(s))
}

// settle compares the piece of the item that the last event names with all of
// its text.
func (a *answer) settle(kind string, f form, index int, all stream.Text) (stream.Progress, error) {
	it := a.named(kind, &a.last)
	return stream.More, a.reconcile(it, it.piece(f, index), string(all))
}

// named returns the item of a type that e speaks of: by its id first, by its
// index in the output second, else the last one. Gateways give an item another id
// in each event, so that the index counts where the id says nothing.
func (a *answer) named(kind string, e *event) *item {
	if it := a.known(kind, e.ItemID); it != nil {
		return it
	}
	if it := a.at(kind, e.Output); it != nil && !it.done {
		return it
	}
	if n := len(a.items); n > 0 && e.ItemID == "" && e.Output == nil && a.items[n-1].Type == kind {
		return a.items[n-1]
	}
	return a.open(&source{Type: kind, ID: e.ItemID}, e.Output)
}

// known returns the item of a type that goes by one of ids, the first of which that
// one goes by counts; nil without one.
func (a *answer) known(kind string, ids ...string) *item {
	for _, id := range ids {
		for _, it := range slices.Backward(a.items) {
			if it.Type == kind && it.goes(id) {
				return it
			}
		}
	}
	return nil
}

// at returns the last item at index, nil if there is none or it is of another
// type.
func (a *answer) at(kind string, index *int) *item {
	if index == nil {
		return nil
	}
	for _, it := range slices.Backward(a.items) {
		if it.index == *index {
			if it.Type != kind {
				return nil
			}
			return it
		}
	}
	return nil
}

func (a *answer) open(s *source, index *int) *item {
	it := &item{source: source{Type: s.Type}, index: -1, ordinal: -1}
	it.merge(s, index)
	a.items = append(a.items, it)
	return it
}

// add tells s as the next of p.
func (a *answer) add(it *item, p *piece, s string) error {
	if s == "" {
		return nil
	}
	if p.form == args {
		p.text.WriteString(s)
		if it.ordinal < 0 { // told with its name
			return nil
		}
		return a.Tell(model.ToolArgs{Index: it.ordinal, Fragment: s})
	}
	first := p.text.Len() == 0
	p.text.WriteString(s)
	if first {
		p.lead = a.gap(it)
		s = p.lead + s
	}
	a.spoke = it
	if it.Type == "reasoning" {
		return a.Tell(model.Think(s))
	}
	return a.Tell(model.Text(s))
}

// gap is what sets a new piece of it apart from what was told before, where that
// would run into it: another part of a thought, another message.
func (a *answer) gap(it *item) string {
	if a.spoke == nil || a.spoke.Type != it.Type || a.spoke == it && it.Type != "reasoning" {
		return ""
	}
	return "\n\n"
}

// reconcile tells what all has beyond the pieces of p that came. Arguments that
// end otherwise than they streamed are those of the reply; a text stays as it was
// told.
func (a *answer) reconcile(it *item, p *piece, all string) error {
	rest, ok := strings.CutPrefix(all, p.text.String())
	switch {
	case ok:
		return a.add(it, p, rest)
	case all != "" && p.form == args:
		p.final = all
	}
	return nil
}

// take takes an item as the server has it when event says: begun, whole, or in
// the output of the response that closes the stream.
func (a *answer) take(raw json.RawMessage, index *int, event string) error {
	var s source
	if err := json.Unmarshal(raw, &s); err != nil {
		switch s.Type {
		case "", "message", "reasoning", "function_call":
			return err
		}
		s = source{Type: s.Type, ID: s.ID} // to be passed over
	}
	it := a.known(s.Type, s.ID, s.CallID)
	if it != nil && it.follows(&s, index, event) {
		it = nil
	}
	if at := a.at(s.Type, index); it == nil && at != nil && event != itemAdded && (!at.done || event != itemDone) {
		it = at
	}
	if it == nil {
		it = a.open(&s, index)
	} else {
		it.merge(&s, index)
	}
	if err := a.fill(it, &s); err != nil || event == itemAdded {
		return err
	}
	it.done = true
	if it.Type == "reasoning" && it.raw == nil {
		it.raw = bytes.Clone(raw)
	}
	return nil
}

// fill tells what s has that did not stream.
func (a *answer) fill(it *item, s *source) error {
	switch it.Type {
	case "message":
		for i, b := range s.Content {
			f, all := said, b.Text
			if b.Type == "refusal" {
				f, all = refused, b.Refusal
			}
			if err := a.reconcile(it, it.piece(f, i), all); err != nil {
				return err
			}
		}
	case "reasoning":
		for i, b := range s.Summary {
			if err := a.reconcile(it, it.piece(summary, i), b.Text); err != nil {
				return err
			}
		}
		for i, b := range s.Content {
			if err := a.reconcile(it, it.piece(thought, i), b.Text); err != nil {
				return err
			}
		}
	case "function_call":
		if err := a.reconcile(it, it.piece(args, 0), string(s.Arguments)); err != nil || it.ordinal >= 0 || it.Name == "" {
			return err
		}
		return a.start(it)
	}
	return nil
}

// start tells of a call and of the arguments that came before its name.
func (a *answer) start(it *item) error {
	it.id = cmp.Or(it.CallID, it.ID)
	if it.id == "" || slices.ContainsFunc(a.items, func(o *item) bool { return o != it && o.id == it.id }) {
		it.id = parts.NewID()
	}
	it.ordinal = a.calls
	a.calls++
	a.spoke = nil
	if err := a.Tell(model.ToolStart{Index: it.ordinal, ID: it.id, Name: it.Name}); err != nil {
		return err
	}
	if so := it.piece(args, 0).text.String(); so != "" {
		return a.Tell(model.ToolArgs{Index: it.ordinal, Fragment: so})
	}
	return nil
}

// read takes over what a response says about itself.
func (a *answer) read(raw json.RawMessage) (*response, error) {
	r := new(response)
	if present(raw) {
		if err := json.Unmarshal(raw, r); err != nil {
			return nil, err
		}
	}
	a.id, a.model = cmp.Or(r.ID, a.id), cmp.Or(r.Model, a.model)
	a.usage = cmp.Or(model.Usage(r.Usage), a.usage)
	return r, nil
}

// end takes the response that closes the stream. Servers that do not stream have
// all of the answer there.
func (a *answer) end(p *stream.Post, e *event) error {
	r, err := a.read(e.Response)
	switch {
	case err != nil:
		return err
	case r.Status == "failed", r.Status == "cancelled", e.Type == "response.failed", e.Type == "response.cancelled":
		return broken(p, r.Error)
	}
	for i, it := range a.items {
		if it.index < 0 {
			it.index = i
		}
	}
	for i, raw := range r.Output {
		if err := a.take(raw, &i, e.Type); err != nil {
			return err
		}
	}
	for _, it := range a.items { // without a name: for the caller to refuse
		if it.Type == "function_call" && it.ordinal < 0 && it.String() != "" {
			if err := a.start(it); err != nil {
				return err
			}
		}
	}
	a.short = r.Status == "incomplete" || r.Incomplete.Reason != ""
	a.stop = cmp.Or(r.Incomplete.Reason, r.Status)
	return nil
}

// broken is the error that data holds. Without a word about it the provider is at
// fault.
func broken(p *stream.Post, data []byte) error {
	e := p.Fault(http.StatusOK, nil, data)
	if e.Kind == model.Unknown && e.Message == "" {
		e.Kind, e.Message = model.Overloaded, "the provider broke the answer off"
	}
	return e
}

// reply is the answer so far; only a whole one has calls, and thoughts that go
// back. The API refuses an item under its id without the thought that led to it, so
// that it keeps the id only together with that.
func (a *answer) reply(id string, whole bool) *model.Reply {
	r := &model.Reply{RawStop: a.stop, Usage: a.usage, Model: a.model, RequestID: cmp.Or(id, a.id)}
	calls, linked := 0, false
	for i, it := range a.items {
		switch it.Type {
		case "reasoning":
			linked = whole && it.whole() && a.leads(i)
		case "function_call":
			if !whole || it.ordinal < 0 {
				continue
			}
			calls++
		}
		if p := it.part(a.ref, linked); p != nil {
			r.Parts = append(r.Parts, p)
		}
	}
	r.Stop = a.reason(calls)
	return r
}

// leads reports whether the thought at i led to an item that goes back as well.
func (a *answer) leads(i int) bool {
	for _, it := range a.items[i+1:] {
		if it.Type != "reasoning" {
			return it.speaks()
		}
	}
	return false
}

func (a *answer) reason(calls int) model.Stop {
	switch {
	case a.stop == "content_filter":
		return model.StopRefusal
	case a.short:
		return model.StopLength
	case calls > 0:
		return model.StopTools
	case slices.ContainsFunc(a.items, (*item).refuses):
		return model.StopRefusal
	}
	return model.StopEnd
}
