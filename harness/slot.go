package harness

import (
	"context"

	"github.com/lorimer-dev/lorimer/harness/event"
)

// A Slot is a place in a session's queue of prompts, with the options as they
// were when it was taken. It is used once: by Prompt or by Leave.
type Slot struct{ s *Session }

// Enter takes the next place in the queue. It does not block, so that prompts
// which arrive one after the other keep their order and each gets the options
// that were chosen before it (R-ACP-07, R-ACP-18). It fails with [ErrBusy] when
// the queue is full (R-ACP-25) and with [ErrClosed] after Close.
func (s *Session) Enter() (*Slot, error) { return nil, ErrClosed }

// Prompt waits until the places before it are free, and answers in. The end of
// ctx cancels it, also while it waits: that is an outcome, not an error
// (R-HARN-27). After an error the session can be prompted again.
func (sl *Slot) Prompt(ctx context.Context, in Input, sink event.Sink) (Outcome, error) {
	return Outcome{}, ErrClosed
}

// Leave gives the place up without a prompt.
func (sl *Slot) Leave() {}
