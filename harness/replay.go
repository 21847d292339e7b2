package harness

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/tools"
)

// Replay tells sink what happened in the thread, in the original order: messages,
// thoughts, tool calls in their last state, answers with their metadata, and at
// the end what the last answer has used (R-ACP-15). What was answered anew is left
// out. It reads up to what is stored when it begins, and holds no more than a page
// and a step of the thread in memory. The error of the sink ends it.
func (s *Session) Replay(ctx context.Context, sink event.Sink) error {
	info, err := s.e.o.Threads.Info(ctx, s.id)
	if err != nil {
		return err
	}
	r := replay{sink: sink, info: info}
	err = s.e.o.Threads.Read(ctx, s.id, 0, r.add)
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	if err := r.flush(); err != nil || r.usage == (model.Usage{}) {
		return err
	}
	return sink.Emit(holds(r.usage, s.window()))
}

// window is the size of the chosen model's window, 0 if it is not known.
func (s *Session) window() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.models, s.choice.chose); i >= 0 {
		return s.models[i].Window
	}
	return 0
}

// A replay tells entries as events. It holds an answer back until the results of
// its calls have come, since each call is told once.
type replay struct {
	sink  event.Sink
	info  thread.Info
	usage model.Usage // of the last answer

	seq     int64             // of the answer that is held back
	held    *thread.Assistant // nil is none
	of      *thread.Assistant // the answer that is told
	results map[string]thread.Result
}

// add tells the next entry, or holds it back.
func (r *replay) add(e thread.Entry) error {
	if e.Seq > r.info.Last {
		return errEnough
	}
	if r.info.Hidden(e.Seq) {
		return nil
	}
	switch b := e.Body.(type) {
	case thread.User:
		if err := r.flush(); err != nil {
			return err
		}
		return r.sink.Emit(event.User{MessageID: b.MessageID, Blocks: b.Blocks})
	case thread.Assistant:
		if err := r.flush(); err != nil {
			return err
		}
		r.seq, r.held, r.results = e.Seq, &b, make(map[string]thread.Result)
		if !b.Void {
			r.usage = b.Usage
		}
	case thread.Result:
		if r.held != nil {
			r.results[b.CallID] = b
		}
	}
	return nil
}

// flush tells the answer that was held back. Of one that was given anew each
// message is closed, since each had to hold for itself.
func (r *replay) flush() error {
	a := r.held
	if a == nil {
		return nil
	}
	r.held, r.of = nil, a
	for i, p := range a.Parts {
		e, done := r.part(p, cmp.Or(p.ID, fmt.Sprintf("m%d-%d", r.seq, i))) // an imported part may have no id
		if e == nil {
			continue
		}
		if err := r.sink.Emit(e); err != nil {
			return err
		}
		if !a.Void || done.MessageID == "" {
			continue
		}
		done.Meta = a.Meta
		if err := r.sink.Emit(done); err != nil {
			return err
		}
	}
	if a.Void || a.MessageID == "" {
		return nil
	}
	return r.sink.Emit(event.Done{MessageID: a.MessageID, Meta: a.Meta})
}

// part returns a part as an event, nil if it shows nothing, and what would close
// the message that it is.
func (r *replay) part(p thread.Part, id string) (event.Event, event.Done) {
	switch {
	case p.Call != nil:
		return r.call(*p.Call), event.Done{}
	case p.Reasoning != nil && p.Reasoning.Text != "":
		return event.Thought{MessageID: id, Text: p.Reasoning.Text}, event.Done{MessageID: id, Thought: true}
	case p.Text != "":
		return event.Text{MessageID: id, Text: p.Text}, event.Done{MessageID: id}
	}
	return nil, event.Done{}
}

// call returns a call in its last state. One without a result was cut off.
func (r *replay) call(c thread.Call) event.ToolCall {
	result, ok := r.results[c.ID]
	shown := result.Shown
	if !ok || shown.Status == "" {
		shown = bare(c, result, ok)
		shown.Meta = calledTool(r.of, c.Name)
	}
	shown.ID, shown.New, shown.Images = c.ID, true, result.Images
	return shown
}

// bare describes a call of which nobody has stored how it looked.
func bare(c thread.Call, result thread.Result, ok bool) event.ToolCall {
	info := tools.Info{Name: c.Name}
	shown := event.ToolCall{Name: c.Name, Kind: tools.KindOther, Status: event.Completed, Text: result.Text}
	if json.Valid([]byte(c.Args)) {
		shown.Input = json.RawMessage(c.Args)
	}
	shown.Title = tools.Title(info, shown.Input)
	if !ok {
		result = thread.Interrupted(c)
		shown.Text = result.Text
	}
	if result.IsError {
		shown.Status = event.Failed
	}
	return shown
}
