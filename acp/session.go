package acp

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/lorimer-dev/lorimer/acp/v1"
	"github.com/lorimer-dev/lorimer/acp/wire"
	"github.com/lorimer-dev/lorimer/harness"
)

// A session is a session as the client knows it. Its id is reserved when a
// request that opens it is admitted; it is open from the answer on.
type session struct {
	id string
	c  *conn

	// Set by the requests that open the session, under c.mu. Other requests of
	// the session are served before or after one of those, never beside it, which
	// the queue of the connection sees to, and so need no lock to read.
	h         *harness.Session // nil while it is not open
	enc       *v1.Encoder
	commands  *announcer
	workspace Workspace
	opened    opening // what it was opened for

	// Guarded by c.mu.
	chosen  bool    // the user has chosen the model
	claims  int     // requests that keep its id, and are not answered
	turns   []*turn // prompts that are not answered, in order of arrival
	repeats repeats // prompts that the client has named
}

// A turn is a prompt between its arrival and the moment when its response has
// been written.
type turn struct {
	r    *wire.Request
	prev <-chan struct{} // closed when the prompt before it has been answered; nil if there is none
	done chan struct{}   // closed when it has been answered
}

// reserve returns the session with an id, or a new one with an id of ours, for a
// request to open it that has arrived. The caller holds c.mu.
func (c *conn) reserve(id string) *session {
	if id == "" {
		id = strings.ToLower(rand.Text())
	}
	s := c.sessions[id]
	if s == nil {
		s = &session{id: id, c: c}
		c.sessions[id] = s
	}
	s.claims++
	return s
}

// release ends a request that kept the id of s. A session that is not open, and that
// nobody else is about to open, is forgotten.
func (c *conn) release(s *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s.claims--
	if s.claims == 0 && s.h == nil && c.sessions[s.id] == s {
		delete(c.sessions, s.id)
	}
}

// admit notes a prompt. The caller holds c.mu.
func (s *session) admit(r *wire.Request) *turn {
	t := &turn{r: r, done: make(chan struct{})}
	if n := len(s.turns); n > 0 {
		t.prev = s.turns[n-1].done
	}
	s.turns = append(s.turns, t)
	return t
}

// serveClose is session/close. The stored session stays.
func (s *session) serveClose(ctx context.Context, _ *wire.Request, _ *turn) (any, error) {
	if err := s.shut(ctx); err != nil {
		return nil, err
	}
	return acpsdk.CloseSessionResponse{}, nil
}

// shut ends a session that no further request can find, nil being none. It
// returns when everything of it has ended and every prompt has been answered.
// Once begun it is not cancelled, but takes no longer than the time of grace.
// Where no answer can be written any more, it waits for none.
func (s *session) shut(ctx context.Context) error {
	if s == nil {
		return nil
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.c.o.Grace)
	defer cancel()
	if err := s.close(grace); err != nil {
		return err
	}
	s.c.mu.Lock()
	turns := slices.Clone(s.turns)
	s.c.mu.Unlock()
	for _, t := range turns {
		select {
		case <-t.done:
		case <-ctx.Done():
			return nil
		case <-grace.Done():
			return grace.Err()
		}
	}
	return nil
}

// end ends what is open of a session, for a request that opens or deletes it. It is
// not cancelled either.
func (s *session) end(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.c.o.Grace)
	defer cancel()
	err := s.close(ctx)
	s.c.mu.Lock()
	s.h, s.workspace = nil, Workspace{}
	s.c.mu.Unlock()
	return err
}

// lose ends a session whose thread is gone, nil being none. What is opened under its id
// is another one.
func (s *session) lose(ctx context.Context) error {
	if s == nil {
		return nil
	}
	err := s.end(ctx)
	s.c.mu.Lock()
	s.chosen, s.repeats = false, repeats{}
	s.c.mu.Unlock()
	return err
}

// close ends the session of the harness and the workspace. One that never opened
// has nothing to end.
func (s *session) close(ctx context.Context) error {
	s.c.mu.Lock()
	h, ws := s.h, s.workspace
	s.c.mu.Unlock()
	if h == nil {
		return nil
	}
	return errors.Join(h.Close(ctx), ws.close())
}

func (w Workspace) close() error {
	if w.Close == nil {
		return nil
	}
	return w.Close()
}

// update tells the client something outside of a turn. It fails only when the
// connection has ended, which its owner notices.
func (s *session) update(u any) {
	if err := s.c.wire.Notify(acpsdk.ClientMethodSessionUpdate, v1.Update{Session: s.id, Update: u}); err != nil {
		s.c.o.Log.Debug().Str("session", s.id).Err(err).Msg("update was not sent")
	}
}
