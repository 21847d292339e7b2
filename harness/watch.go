package harness

import (
	"context"
	"sync"
	"unicode/utf8"

	"github.com/lorimer-dev/lorimer/harness/event"
)

// A watcher is the sink of a turn, for all goroutines of it. When the sink has
// failed nobody watches any more: the turn is cancelled, and what it says until
// it has ended is dropped.
type watcher struct {
	sink   event.Sink
	cancel context.CancelCauseFunc

	mu  sync.Mutex // held during Emit: the sink hears one event at a time
	err error
}

func (w *watcher) emit(e event.Event) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	if w.err = w.sink.Emit(e); w.err != nil {
		w.cancel(w.err)
	}
	return w.err
}

// gone returns why nobody watches any more, or nil.
func (w *watcher) gone() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// live passes the output of a running tool on as valid UTF-8: a rune that is
// cut between two pieces waits for its rest.
type live struct {
	id  string // of the call
	out *watcher

	mu    sync.Mutex // guards the fields below
	rest  []byte     // the beginning of a rune
	ended bool
}

// write is the Output of a [tools.Call]. What comes after end is dropped. The
// watcher keeps the error of a failed emit.
func (l *live) write(p []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	data := append(l.rest, p...)
	n := len(data) - cutRune(data)
	l.rest = append([]byte(nil), data[n:]...)
	l.say(data[:n])
}

// end says what is left.
func (l *live) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.say(l.rest)
	l.rest, l.ended = nil, true
}

func (l *live) say(p []byte) {
	if len(p) > 0 {
		_ = l.out.emit(event.Output{ID: l.id, Data: valid(string(p))}) // the watcher ends the turn
	}
}

// cutRune returns how many bytes at the end of p begin a rune that is not whole.
func cutRune(p []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(p); n++ {
		if tail := p[len(p)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}
