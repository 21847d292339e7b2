package v1

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lorimer-dev/lorimer/harness/event"
)

// How often and how much live output is told.
const (
	deltaEvery = 100 * time.Millisecond // to a terminal, which takes what is new
	maxDelta   = 64 << 10
	tailEvery  = 250 * time.Millisecond // to content, which is replaced each time
	maxTail    = 8 << 10
)

// live is the output of a running call that waits to be told.
type live struct {
	limit   int             // bytes kept
	text    strings.Builder // the end of the output; of a delta, what is new
	skipped int             // bytes dropped from the front of text
	any     bool            // something was printed
	sent    time.Time       // when the client was told last
	timer   *time.Timer     // runs while something waits; nil else
}

// add takes what a tool printed. More than the limit stays for a while, so that
// cutting costs little.
func (l *live) add(s string) {
	l.any = true
	l.text.WriteString(s)
	if l.text.Len() > 2*l.limit {
		l.cut()
	}
}

// cut drops the front of the text, up to a line or at least a character.
func (l *live) cut() {
	s := l.text.String()
	n := len(s) - l.limit
	if n <= 0 {
		return
	}
	for n < len(s) && !utf8.RuneStart(s[n]) {
		n++
	}
	if i := strings.IndexByte(s[n:], '\n'); i >= 0 && i < 1<<10 {
		n += i + 1
	}
	l.skipped += n
	l.text.Reset()
	l.text.WriteString(s[n:])
}

// String returns the text, and how much came before it that is not shown.
func (l *live) String() string {
	l.cut()
	if l.skipped == 0 {
		return l.text.String()
	}
	return fmt.Sprintf("[%d bytes before this are not shown]\n%s", l.skipped, l.text.String())
}

// take returns the text and forgets it.
func (l *live) take() string {
	s := l.String()
	l.text.Reset()
	l.skipped = 0
	return s
}

// output tells what a running tool printed: at once after a pause, else together
// with what follows within the interval.
func (e *Encoder) output(ev event.Output) error {
	c := e.calls[ev.ID]
	if c == nil || c.final || ev.Data == "" {
		return nil
	}
	every := tailEvery
	if c.terminal {
		every = deltaEvery
	}
	l := c.live
	if l == nil {
		l = &live{limit: maxTail}
		if c.terminal {
			l.limit = maxDelta
		}
		c.live = l
	}
	l.add(ev.Data)
	if l.timer != nil {
		return nil
	}
	if wait := every - time.Since(l.sent); wait > 0 {
		e.timers.Add(1)
		l.timer = time.AfterFunc(wait, func() { e.late(ev.ID, c) })
		return nil
	}
	return e.flush(ev.ID, c)
}

// late tells output whose interval is over.
func (e *Encoder) late(id string, c *call) {
	defer e.timers.Done()
	e.mu.Lock()
	defer e.mu.Unlock()
	if c.final || c.live == nil || c.live.timer == nil {
		return // it ended while this waited for the lock
	}
	c.live.timer = nil
	if err := e.flush(id, c); err != nil {
		e.err = err
	}
}

func (e *Encoder) flush(id string, c *call) error {
	c.live.sent = time.Now()
	if c.terminal {
		return e.terminalOutput(id, c.live.take())
	}
	return e.update(ToolCall{
		Update:  "tool_call_update",
		ID:      id,
		Content: []any{textContent(fence(c.live.String()))},
	})
}

func (e *Encoder) terminalOutput(id, data string) error {
	return e.update(ToolCall{
		Update: "tool_call_update",
		ID:     id,
		Meta:   map[string]any{"terminal_output": map[string]any{"terminal_id": id, "data": data}},
	})
}

// stop ends the timer of c. The caller holds e.mu.
func (e *Encoder) stop(c *call) {
	if c.live == nil || c.live.timer == nil {
		return
	}
	if c.live.timer.Stop() {
		e.timers.Done()
	}
	c.live.timer = nil
}
