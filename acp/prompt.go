package acp

import (
	"context"
	"errors"
	"runtime/debug"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/lorimer-dev/lorimer/acp/v1"
	"github.com/lorimer-dev/lorimer/acp/wire"
	"github.com/lorimer-dev/lorimer/harness"
)

// largePrompt is the size in bytes from which the memory of a prompt's line is
// given back once the prompt has been read. That costs a few milliseconds; left
// to itself a program that then waits for a model keeps it for minutes.
const largePrompt = 8 << 20

// prompt is session/prompt. Its place in the queue and its options are fixed
// before the next request of the session begins (R-ACP-07, R-ACP-25).
func (s *session) prompt(ctx context.Context, r *wire.Request, t *turn) (any, error) {
	in, err := readPrompt(members(r.Params), s.c.o.Audio)
	size := len(r.Params)
	r.Params = nil // the turn keeps what was read
	if size > largePrompt {
		debug.FreeOSMemory()
	}
	if err != nil {
		return nil, err
	}
	if in.MessageID == "" {
		return s.run(ctx, t, in)
	}
	s.c.mu.Lock()
	first, a := s.repeats.enter(in.MessageID)
	s.c.mu.Unlock()
	if !first {
		r.Release()
		return a.wait(ctx)
	}
	return s.runFirst(ctx, t, in, a)
}

// errPanicked stands for the outcome of a turn that did not return.
var errPanicked = errors.New("turn panicked")

// runFirst is run for a prompt whose repeats wait for its answer, which they get
// whatever happens.
func (s *session) runFirst(ctx context.Context, t *turn, in harness.Input, a *answer) (result any, err error) {
	result, err = nil, errPanicked
	defer func() {
		s.c.mu.Lock()
		defer s.c.mu.Unlock()
		s.repeats.leave(a, result, err)
	}()
	return s.run(ctx, t, in)
}

// run runs a turn and answers for it. A turn that was cancelled answers so
// whatever became of it, also when the cancel came just too late (R-ACP-26).
func (s *session) run(ctx context.Context, t *turn, in harness.Input) (any, error) {
	slot, err := s.h.Enter()
	if err != nil {
		return nil, err
	}
	t.r.Release()
	if t.prev != nil {
		// Nothing of this turn may be told before the response to the one
		// before it, to which a client would count it (R-ACP-20).
		select {
		case <-t.prev:
		case <-ctx.Done():
		}
	}
	before := s.h.OptionSet()
	out, err := s.tell(ctx, slot, in)
	if set := s.h.OptionSet(); !sameValues(before, set) { // more is known of the model
		t.r.After(func() { s.update(optionsUpdate{"config_option_update", configOptions(set)}) })
	}
	if ctx.Err() != nil {
		out.Stop = harness.Cancelled
	} else if err != nil {
		return nil, err
	}
	return promptResponse(out), nil
}

// promptResponse tells how a turn ended, and the id of the user's message, since
// a client that named none could not fork at it otherwise (C053).
func promptResponse(out harness.Outcome) acpsdk.PromptResponse {
	r := acpsdk.PromptResponse{StopReason: acpsdk.StopReason(out.Stop)}
	if out.MessageID != "" {
		r.Meta = map[string]any{v1.Namespace: map[string]any{"messageId": out.MessageID}}
	}
	return r
}

// tell runs a turn and tells the client of it. When it returns, by a panic too,
// nothing more is told and no tool call is open (R-ACP-06, R-ACP-23).
func (s *session) tell(ctx context.Context, slot *harness.Slot, in harness.Input) (out harness.Outcome, err error) {
	sink := s.enc.Turn()
	defer func() { err = errors.Join(err, sink.End()) }()
	return slot.Prompt(ctx, in, sink)
}

// maxRepeats is how many prompts of a session are remembered by the client's
// message id.
const maxRepeats = 64

// repeats are the prompts that the client has named, so that one which is sent
// again is not run again (R-ACP-33). They are known for as long as the session is
// open in the connection, through a load of it too, and to no other connection:
// what the store keeps of a message does not say how its turn ended. The zero
// value is ready.
type repeats struct {
	byID  map[string]*answer
	order []string // the oldest first
}

// An answer is what a prompt was answered with, or will be.
type answer struct {
	id     string
	ready  chan struct{} // closed when the fields below are set
	result any
	err    error
}

// enter returns the answer to the prompt with an id, and whether the caller is
// the first and has to give it.
func (rs *repeats) enter(id string) (first bool, a *answer) {
	if a := rs.byID[id]; a != nil {
		return false, a
	}
	if rs.byID == nil {
		rs.byID = make(map[string]*answer)
	}
	if len(rs.order) == maxRepeats {
		delete(rs.byID, rs.order[0])
		rs.order = rs.order[1:]
	}
	a = &answer{id: id, ready: make(chan struct{})}
	rs.byID[id] = a
	rs.order = append(rs.order, id)
	return true, a
}

// leave gives the answer. One that failed is forgotten, so that the same message
// can be sent again.
func (rs *repeats) leave(a *answer, result any, err error) {
	a.result, a.err = result, err
	close(a.ready)
	if err != nil && rs.byID[a.id] == a {
		delete(rs.byID, a.id)
	}
}

// wait returns the answer when it is there.
func (a *answer) wait(ctx context.Context) (any, error) {
	select {
	case <-a.ready:
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return promptResponse(harness.Outcome{Stop: harness.Cancelled}), nil
	}
	return a.result, a.err
}
