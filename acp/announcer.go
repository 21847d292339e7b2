package acp

import "sync"

// An announcer tells the client something of one session of the harness, and tells it
// again when it is something else (R-ACP-14). It is silent until begin, since many
// clients drop what comes before the answer that opens the session.
//
// One goroutine tells at a time; who comes meanwhile leaves it to that one to tell
// once more. So what is told last is what holds, and no lock is held while the client
// is slow to read.
type announcer struct {
	tell func() // as it is now; set before begin

	mu      sync.Mutex // guards the fields below
	begun   bool
	telling bool
	again   bool // what is being told may be old
}

// begin tells, and has every change told from here on. It is called each time when
// the session was opened and that has been answered.
func (a *announcer) begin() {
	a.mu.Lock()
	a.begun = true
	a.mu.Unlock()
	a.changed()
}

// changed implements Changed of [harness.Spec].
func (a *announcer) changed() {
	if !a.enter() {
		return
	}
	for more := true; more; more = a.leave() {
		a.tell()
	}
}

// enter reports whether the caller is the one to tell.
func (a *announcer) enter() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.again = a.telling
	if !a.begun || a.telling {
		return false
	}
	a.telling = true
	return true
}

// leave ends the telling, or reports that it has to go on.
func (a *announcer) leave() (more bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	more, a.again = a.again, false
	a.telling = more
	return more
}
