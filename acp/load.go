package acp

import (
	"context"
	"errors"
	"fmt"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/lorimer-dev/lorimer/acp/wire"
	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/event"
)

// load is session/load: it attaches a stored session and tells all that happened
// in it before it answers (R-ACP-15). If that is cancelled, a session that was
// not open before is not open afterwards.
func (c *conn) load(ctx context.Context, r *wire.Request, a admission) (any, error) {
	fresh, err := c.attach(ctx, r, a)
	if err != nil {
		return nil, err
	}
	if err := a.s.replay(ctx); err != nil {
		if fresh {
			err = errors.Join(err, a.s.end(ctx))
		}
		return nil, fmt.Errorf("replaying session: %w", err)
	}
	modes, options := a.s.state(r)
	return acpsdk.LoadSessionResponse{Modes: modes, ConfigOptions: options}, nil
}

// resume is session/resume: load without the telling.
func (c *conn) resume(ctx context.Context, r *wire.Request, a admission) (any, error) {
	if _, err := c.attach(ctx, r, a); err != nil {
		return nil, err
	}
	modes, options := a.s.state(r)
	return acpsdk.ResumeSessionResponse{Modes: modes, ConfigOptions: options}, nil
}

// attach opens a stored session, and reports whether it was not open before. One
// that is open waits for the prompts that came before the request to be answered;
// then it goes on as it is if the request asks for nothing else, and is opened
// anew if the directories or the servers differ (C008, C009).
func (c *conn) attach(ctx context.Context, r *wire.Request, a admission) (fresh bool, err error) {
	p := members(r.Params)
	id, err := p.storedID()
	if err != nil {
		return false, err
	}
	o, err := readOpening(p)
	if err != nil {
		return false, err
	}
	b, err := c.backend(ctx)
	if err != nil {
		return false, err
	}
	if err := answeredAll(ctx, a.before); err != nil {
		return false, err
	}
	// What does not exist must not cost an open session its life.
	if _, err := b.Engine.Info(ctx, id); err != nil {
		return false, storedFailure(id, err)
	}
	fresh = a.s.h == nil
	if !fresh && a.s.opened.same(o) {
		return false, nil
	}
	return fresh, storedFailure(id, c.open(ctx, a.s, b, o, b.Engine.Load))
}

// answeredAll waits until the response to each of the turns has been written.
func answeredAll(ctx context.Context, turns []*turn) error {
	for _, t := range turns {
		select {
		case <-t.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// replay tells the client what happened in the session. A client that reads
// slowly slows it; nothing is held for it but what the connection buffers.
func (s *session) replay(ctx context.Context) error {
	sink := s.enc.Replay()
	err := s.h.Replay(ctx, event.SinkFunc(func(ev event.Event) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return sink.Emit(ev)
	}))
	return errors.Join(err, sink.End())
}

// storedFailure explains why a session could not be read from the store.
func storedFailure(id string, err error) error {
	if errors.Is(err, harness.ErrNotFound) {
		return notStored(id)
	}
	return err
}

// notStored is the error for a session that there is not.
func notStored(id string) error {
	return &Error{
		Code:    SessionNotFound,
		Message: fmt.Sprintf("There is no session %.100q. Start one with session/new, or look for it with session/list.", id),
		Data:    map[string]any{"sessionId": id},
	}
}
