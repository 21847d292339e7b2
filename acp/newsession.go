package acp

import (
	"context"
	"errors"
	"fmt"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/lorimer-dev/lorimer/acp/v1"
	"github.com/lorimer-dev/lorimer/acp/wire"
	"github.com/lorimer-dev/lorimer/harness"
)

// newSession is session/new (R-ACP-13). The id is reserved.
func (c *conn) newSession(ctx context.Context, r *wire.Request, a admission) (any, error) {
	if err := a.s.free(); err != nil {
		return nil, err
	}
	o, err := readOpening(members(r.Params))
	if err != nil {
		return nil, err
	}
	b, err := c.backend(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.openNew(ctx, a.s, b, o, b.Engine.Open); err != nil {
		return nil, wishFailure(a.s.id, err)
	}
	return a.s.answerNew(r), nil
}

// fork is session/fork: a session that begins with what another one has, as it
// stands, or up to a message of it (R-ACP-16). The id is reserved.
func (c *conn) fork(ctx context.Context, r *wire.Request, a admission) (any, error) {
	p := members(r.Params)
	source, err := p.storedID()
	if err != nil {
		return nil, err
	}
	if err := a.s.free(); err != nil {
		return nil, err
	}
	at, err := p.ours("messageId")
	if err != nil {
		return nil, err
	}
	o, err := readOpening(p)
	if err != nil {
		return nil, err
	}
	b, err := c.backend(ctx)
	if err != nil {
		return nil, err
	}
	err = c.openNew(ctx, a.s, b, o, func(ctx context.Context, sp harness.Spec) (*harness.Session, error) {
		return b.Engine.Fork(ctx, source, at, sp)
	})
	switch {
	case errors.Is(err, harness.ErrNotFound):
		return nil, notStored(source)
	case errors.Is(err, harness.ErrNoEntry):
		return nil, invalid(ourField("messageId"), "is %.100q, which is no message of session %.100q", at, source)
	case err != nil:
		return nil, wishFailure(a.s.id, err)
	}
	return a.s.answerNew(r), nil
}

// openNew is open for a session whose thread start makes. Nobody has been told of the
// thread when it fails after that, so it is deleted again.
func (c *conn) openNew(ctx context.Context, s *session, b *Backend, o opening, start startSession) error {
	made := false
	err := c.open(ctx, s, b, o, func(ctx context.Context, sp harness.Spec) (*harness.Session, error) {
		h, err := start(ctx, sp)
		made = err == nil
		return h, err
	})
	if err == nil || !made {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.o.Grace)
	defer cancel()
	return errors.Join(err, b.Engine.Delete(ctx, s.id))
}

// answerNew is the answer with which a session begins.
func (s *session) answerNew(r *wire.Request) acpsdk.NewSessionResponse {
	modes, options := s.state(r)
	return acpsdk.NewSessionResponse{SessionId: acpsdk.SessionId(s.id), Modes: modes, ConfigOptions: options}
}

// free reports, as an error, why the id of s cannot be that of a new session. What
// only the store knows it tells later.
func (s *session) free() error {
	if s.h != nil {
		return wishFailure(s.id, harness.ErrTaken)
	}
	if err := harness.CheckID(s.id); err != nil {
		return wishFailure(s.id, err)
	}
	return nil
}

// ourField names a member of our key of _meta.
func ourField(key string) string { return fmt.Sprintf("_meta[%q].%s", v1.Namespace, key) }

// wishFailure explains why a session was not made under a wished id.
func wishFailure(id string, err error) error {
	switch {
	case errors.Is(err, harness.ErrBadID):
		return invalid(ourField("sessionId"), badID, id)
	case errors.Is(err, harness.ErrTaken):
		return invalid(ourField("sessionId"), "is %.100q, which is taken", id)
	}
	return fmt.Errorf("opening session: %w", err)
}
