package acp

import (
	"sync"

	"github.com/lorimer-dev/lorimer/harness"
)

type commandsUpdate struct {
	Update   string    `json:"sessionUpdate"`
	Commands []command `json:"availableCommands"`
}

// A command is a slash command as clients show it.
type command struct {
	Name        string     `json:"name"`
	Description string     `json:"description"`
	Input       *inputHint `json:"input,omitempty"`
}

type inputHint struct {
	Hint string `json:"hint"`
}

func commands(h *harness.Session) []command {
	list := []command{}
	for _, x := range h.Commands() {
		cmd := command{Name: x.Name, Description: x.Description}
		if x.Hint != "" {
			cmd.Input = &inputHint{x.Hint}
		}
		list = append(list, cmd)
	}
	return list
}

// An announcer tells the client the commands of one session of the harness, and
// tells them again when they are others (R-ACP-14). It is silent until [begin],
// since many clients drop what comes before the answer that opens the session.
//
// One goroutine tells at a time; who comes meanwhile leaves it to that one to tell
// once more. So the list that is told last is the one that holds, and no lock is
// held while the client is slow to read.
type announcer struct {
	s *session
	h *harness.Session // set before begin

	mu      sync.Mutex // guards the fields below
	begun   bool
	telling bool
	again   bool // what is being told may be old
}

// begin tells the commands, and has every change told from here on. It is called
// each time when the session was opened and that has been answered.
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
		a.s.update(commandsUpdate{"available_commands_update", commands(a.h)})
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
