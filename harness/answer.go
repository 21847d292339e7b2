package harness

import (
	"errors"
	"slices"
	"strings"

	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/tools"
)

// An answer is what one request gave: told to the watcher while it streams, and
// put in order when it has ended. Where the request is repeated it is that of
// the last attempt; see restart.
type answer struct {
	t       *turn
	segs    []*segment    // of this attempt, in order
	started map[int]*call // announced while streaming, by their index in the answer

	attempt int        // from 0
	made    int        // segments so far
	ahead   []*segment // shown by attempts before, and this one has not come to them
	left    []*segment // shown by attempts before, and this one has no part in them

	// Set by settle.
	parts []thread.Part
	calls []*call // of the parts, in order
	loose []*call // announced, but not in the parts
	stop  model.Stop
	usage model.Usage
}

// A segment is a run of text, of thought, or a call, as it streamed. Each text
// and each thought is a message with an id of its own.
type segment struct {
	number  int // in the order in which they were shown, from 1
	id      string
	thought bool
	text    strings.Builder
	told    int   // bytes of text that parts have claimed
	call    *call // instead of text

	shown  bool // the text is that of an attempt before, and this one has not gone beyond it
	echoed int  // bytes of it that this attempt has said as well

	leftBy int            // the attempt that had no part in it
	result *thread.Result // of a call that was left
}

// hear is the sink of the stream.
func (a *answer) hear(e model.Event) error {
	switch e := e.(type) {
	case model.Text:
		return a.say(string(e), false)
	case model.Think:
		return a.say(string(e), true)
	case model.ToolStart:
		return a.start(e)
	case model.ToolArgs:
		if c := a.started[e.Index]; c != nil {
			c.heard.WriteString(e.Fragment)
		}
	case model.Retrying:
		a.restart(e)
		return a.t.out.emit(event.Retry{Reason: reason(e.Err), Wait: e.Wait, Attempt: e.Attempt})
	}
	return nil
}

// say continues the last segment, or begins one when that is of another kind.
// What an attempt before has shown already is not told again.
func (a *answer) say(text string, thought bool) error {
	text = valid(text)
	if text == "" {
		return nil
	}
	seg := a.last()
	if seg == nil || seg.call != nil || seg.thought != thought {
		if err := a.end(); err != nil {
			return err
		}
		seg = a.begin(thought)
	}
	if seg.shown {
		return a.echo(seg, text)
	}
	return a.tell(seg, text)
}

// tell shows text as the next piece of seg.
func (a *answer) tell(seg *segment, text string) error {
	if text == "" {
		return nil
	}
	seg.text.WriteString(text)
	if seg.thought {
		return a.t.out.emit(event.Thought{MessageID: seg.id, Text: text})
	}
	return a.t.out.emit(event.Text{MessageID: seg.id, Text: text})
}

// last returns the segment that streams, nil before the first.
func (a *answer) last() *segment {
	if len(a.segs) == 0 {
		return nil
	}
	return a.segs[len(a.segs)-1]
}

// add makes seg the next of this attempt.
func (a *answer) add(seg *segment) *segment {
	if seg.number == 0 {
		a.made++
		seg.number = a.made
	}
	a.segs = append(a.segs, seg)
	return seg
}

// start announces a call as soon as its name is known.
func (a *answer) start(e model.ToolStart) error {
	if a.started[e.Index] != nil {
		return nil
	}
	if err := a.end(); err != nil {
		return err
	}
	c := &call{Call: thread.Call{ID: a.t.id("c"), WireID: e.ID, Name: valid(e.Name)}}
	a.started[e.Index] = c
	a.add(&segment{call: c})
	a.t.announce(c)
	return a.t.out.gone()
}

// settle puts the answer in order: the parts of reply, with the ids under which
// they streamed, or what streamed if there is no reply. What had not streamed
// is told now, so that the messages of the watcher add up to those of the
// thread (R-ACP-22). An answer that was cut is what is shown, be it of an attempt
// before; one that is whole leaves behind what it did not say as well.
func (a *answer) settle(reply *model.Reply, cut bool) {
	if reply != nil {
		a.stop, a.usage = reply.Stop, reply.Usage.Plausible()
	}
	switch {
	case cut && a.behind(), reply == nil, len(reply.Parts) == 0:
		if !cut {
			a.finish()
		}
		a.parts = a.streamed()
	default:
		_ = a.end() // the watcher ends the turn
		a.parts = a.replied(reply)
		a.finish()
	}
	given := make(map[string]bool)
	for _, p := range a.parts {
		if p.Call == nil {
			continue
		}
		c := a.byID(p.Call.ID)
		a.calls = append(a.calls, c)
		a.t.unique(c, p.Call, given)
	}
	for _, s := range a.segs {
		if s.call != nil && !s.call.settled {
			a.loose = append(a.loose, s.call)
		}
	}
}

// replied gives the parts of reply the ids of the segments that they streamed
// as.
func (a *answer) replied(reply *model.Reply) []thread.Part {
	var out []thread.Part
	index := 0 // of the next call
	for _, p := range reply.Parts {
		part, ok := thread.FromModel(p)
		if !ok {
			continue
		}
		switch {
		case part.Call != nil:
			c := a.started[index]
			if c == nil {
				_ = a.end() // the watcher ends the turn
				c = &call{Call: thread.Call{ID: a.t.id("c"), Name: part.Call.Name}}
				a.add(&segment{call: c})
				a.t.announce(c)
			}
			index++
			part.Call.ID = c.ID
			c.Call, c.settled = *part.Call, true
		case part.Reasoning != nil:
			part.ID = a.claim(part.Reasoning.Text, true)
		default:
			part.Text = valid(part.Text)
			part.ID = a.claim(part.Text, false)
		}
		out = append(out, part)
	}
	return out
}

// claim returns the id of the segment that text begins in, and takes the bytes
// of text from the segments. What no segment has is told under the last id.
func (a *answer) claim(text string, thought bool) string {
	id, left := "", len(text)
	for _, s := range a.segs {
		free := s.text.Len() - s.told
		if s.call != nil || s.thought != thought || free == 0 {
			continue
		}
		if left == 0 {
			break
		}
		if id == "" {
			id = s.id
		}
		n := min(free, left)
		s.told += n
		left -= n
	}
	if left == 0 {
		return id
	}
	_ = errors.Join(a.say(text[len(text)-left:], thought), a.end()) // the watcher ends the turn
	s := a.last()
	s.told = s.text.Len()
	if id == "" {
		id = s.id
	}
	return id
}

// streamed returns what streamed as parts. Thoughts are without the proof that
// a provider wants back, so they are for display alone.
func (a *answer) streamed() []thread.Part {
	var out []thread.Part
	for _, s := range slices.Concat(a.segs, a.ahead) {
		if s.call != nil {
			s.call.Args, s.call.settled = s.call.heard.String(), true
		}
		out = append(out, s.part())
	}
	return out
}

// part returns what is shown of s as a part.
func (s *segment) part() thread.Part {
	switch {
	case s.call != nil:
		c := s.call.Call
		return thread.Part{Call: &c}
	case s.thought:
		return thread.Part{ID: s.id, Reasoning: &thread.Reasoning{Text: s.text.String()}}
	}
	return thread.Part{ID: s.id, Text: s.text.String()}
}

// byID returns the call with an id of ours.
func (a *answer) byID(id string) *call {
	for _, s := range a.segs {
		if s.call != nil && s.call.ID == id {
			return s.call
		}
	}
	return nil
}

// spoke reports whether the answer has any text.
func (a *answer) spoke() bool { return lastMessage(a.parts) != "" }

// reason says in one line why a request is sent again.
func reason(err error) string {
	if fail, ok := errors.AsType[*model.Error](err); ok {
		return tools.Line(fail.Error(), tools.MaxTitle)
	}
	return tools.Line(tools.ErrorText(err), tools.MaxTitle)
}

// valid returns s with every run of invalid bytes replaced.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
