package harness

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/thread"
)

// restart begins the answer anew, because the request is repeated. What has been
// shown of it stays where the next attempt says the same, so that no text is
// shown twice (R-HARN-28): text is compared with text and thought with thought,
// one message with the next, and goes on under its id where the attempt goes
// further. From where it says something else, what was shown is left. Calls are
// not compared: they are closed, since nothing runs before its answer is whole.
func (a *answer) restart(e model.Retrying) {
	spent := e.Usage.Plausible()
	a.t.count(spent)
	if spent.Known {
		a.t.tell(holds(spent, a.t.snap.Model.Window))
	}
	a.attempt++
	var texts []*segment
	for _, s := range a.segs {
		if s.call == nil {
			s.shown, s.echoed = true, 0
			texts = append(texts, s)
			continue
		}
		s.call.Args = s.call.heard.String()
		r := s.call.conclude(cutResult(e.Err))
		s.result, s.leftBy = &r, a.attempt
		a.t.reveal(s.call)
		a.left = append(a.left, s)
	}
	a.ahead = append(texts, a.ahead...)
	a.segs, a.started = nil, make(map[int]*call)
}

// begin begins a text or a thought: the next one of those that were shown before,
// or a new one.
func (a *answer) begin(thought bool) *segment {
	i := slices.IndexFunc(a.ahead, func(s *segment) bool { return s.thought == thought })
	if i < 0 {
		return a.add(&segment{id: a.t.id("m"), thought: thought})
	}
	seg := a.ahead[i]
	a.ahead = slices.Delete(a.ahead, i, i+1)
	return a.add(seg)
}

// echo compares text with what was shown of the last segment. Only the last text
// that was shown may go on: one before it must be the same to its end.
func (a *answer) echo(seg *segment, text string) error {
	rest := seg.text.String()[seg.echoed:]
	if strings.HasPrefix(rest, text) {
		seg.echoed += len(text)
		return nil
	}
	more := slices.ContainsFunc(a.ahead, func(s *segment) bool { return s.thought == seg.thought })
	if strings.HasPrefix(text, rest) && !more {
		seg.shown = false
		return a.tell(seg, text[len(rest):])
	}
	return a.replace(seg, text)
}

// end ends the last segment. A text that is shorter than what was shown is
// another one.
func (a *answer) end() error {
	if s := a.last(); s != nil && s.shown && s.echoed < s.text.Len() {
		return a.replace(s, "")
	}
	return nil
}

// replace shows what this attempt has said of the last segment, and then text, as
// a message of its own. What was shown in its place, and all of its kind after
// that, is left.
func (a *answer) replace(old *segment, text string) error {
	text = old.text.String()[:old.echoed] + text
	a.segs = a.segs[:len(a.segs)-1]
	a.leave(old)
	a.leaveAhead(func(s *segment) bool { return s.thought == old.thought })
	return a.tell(a.begin(old.thought), text)
}

// finish ends a whole answer: what it has not come to is no part of it.
func (a *answer) finish() {
	_ = a.end() // the watcher ends the turn
	a.leaveAhead(func(*segment) bool { return true })
}

// behind reports whether this attempt has said less than is shown.
func (a *answer) behind() bool {
	s := a.last()
	return len(a.ahead) > 0 || s != nil && s.shown && s.echoed < s.text.Len()
}

func (a *answer) leaveAhead(which func(*segment) bool) {
	for _, s := range a.ahead {
		if which(s) {
			a.leave(s)
		}
	}
	a.ahead = slices.DeleteFunc(a.ahead, which)
}

// leave closes a message that did not hold.
func (a *answer) leave(s *segment) {
	s.leftBy = a.attempt
	a.left = append(a.left, s)
	a.t.tell(event.Done{MessageID: s.id, Thought: s.thought, Meta: replacedMeta()})
}

// replacedMeta is the metadata of a message that did not hold.
func replacedMeta() json.RawMessage { return json.RawMessage(`{"replaced":true}`) }

// leftovers are the entries for what was left: it was shown, so the thread has
// it, but it is no part of the conversation. An attempt whose text went on in
// the next leaves none.
func (a *answer) leftovers() []thread.Body {
	slices.SortFunc(a.left, func(s, o *segment) int { return cmp.Or(s.leftBy-o.leftBy, s.number-o.number) })
	var out []thread.Body
	for left := a.left; len(left) > 0; {
		n := slices.IndexFunc(left, func(s *segment) bool { return s.leftBy != left[0].leftBy })
		if n < 0 {
			n = len(left)
		}
		out = append(out, a.leftover(left[:n])...)
		left = left[n:]
	}
	return out
}

// leftover are the entries for what one attempt left.
func (a *answer) leftover(segs []*segment) []thread.Body {
	void := thread.Assistant{Model: a.t.snap.Model.Ref(), Partial: true, Void: true, Meta: replacedMeta()}
	said := false
	var results []thread.Body
	for _, s := range segs {
		void.Parts = append(void.Parts, s.part())
		if s.result != nil {
			results = append(results, *s.result)
		} else {
			said = true
		}
	}
	if !said {
		return nil
	}
	void.MessageID = lastMessage(void.Parts)
	return append([]thread.Body{void}, results...)
}
