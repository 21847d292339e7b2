package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lorimer-dev/lorimer/harness/event"
)

// A Slot is a place in a session's queue of prompts, with the options as they
// were when it was taken. It is used once: by Prompt or by Leave.
type Slot struct {
	s      *Session
	choice Choice
	turn   chan struct{} // closed when all places before it are free

	// guarded by the session's mu
	used   bool
	cancel context.CancelCauseFunc // of the prompt, once there is one
}

// Enter takes the next place in the queue. It does not block, so that prompts
// which arrive one after the other keep their order and each gets the options
// that were chosen before it (R-ACP-07, R-ACP-18). It fails with [ErrBusy] when
// the queue is full (R-ACP-25) and with [ErrClosed] after Close.
func (s *Session) Enter() (*Slot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, ErrClosed
	case len(s.queue) > s.e.o.Waiting:
		return nil, ErrBusy
	}
	sl := &Slot{s: s, choice: s.choice, turn: make(chan struct{})}
	s.queue = append(s.queue, sl)
	if len(s.queue) == 1 {
		close(sl.turn)
	}
	return sl, nil
}

// Leave gives the place up without a prompt. After Prompt it does nothing.
func (sl *Slot) Leave() {
	s := sl.s
	s.mu.Lock()
	defer s.mu.Unlock()
	sl.used = true
	i := slices.Index(s.queue, sl)
	if i < 0 {
		return
	}
	s.queue = slices.Delete(s.queue, i, i+1)
	if i == 0 && len(s.queue) > 0 {
		close(s.queue[0].turn)
	}
	if s.closed && len(s.queue) == 0 {
		close(s.idle)
	}
}

// Prompt waits until the places before it are free, and answers in. The end of
// ctx cancels it, also while it waits: that is an outcome, not an error
// (R-HARN-27), and so is the end of the session. After an error the session can
// be prompted again. Sink is not called after Prompt has returned. A choice that
// is none is [ErrOption].
func (sl *Slot) Prompt(ctx context.Context, in Input, sink event.Sink) (Outcome, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if !sl.use(cancel) {
		return Outcome{}, errors.New("slot is used up; enter the session again")
	}
	defer sl.Leave()
	choice := sl.choice
	if in.Choice != nil {
		choice = in.Choice.complete()
		if err := choice.check(); err != nil {
			return Outcome{}, err
		}
	}

	select {
	case <-sl.turn:
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return Outcome{Stop: Cancelled}, nil
	}
	w := &watcher{sink: sink, cancel: cancel}
	t := newTurn(sl.s, choice, in, w)
	run, ok := sl.s.command(in)
	if !ok {
		run = func(ctx context.Context, t *turn) (Stop, error) { return t.run(ctx) }
	}
	stop, err := run(ctx, t)
	out := Outcome{Stop: stop, MessageID: t.stored(), Usage: t.usage, Unasked: t.unasked}
	if ctx.Err() != nil {
		out.Stop, err = Cancelled, nil
	}
	if gone := w.gone(); gone != nil {
		err = fmt.Errorf("telling of the turn: %w", gone)
	}
	return out, err
}

// use marks the place as taken by a prompt that cancel ends. It reports false
// if it was used before.
func (sl *Slot) use(cancel context.CancelCauseFunc) bool {
	sl.s.mu.Lock()
	defer sl.s.mu.Unlock()
	if sl.used {
		return false
	}
	sl.used, sl.cancel = true, cancel
	if sl.s.closed {
		cancel(ErrClosed)
	}
	return true
}
