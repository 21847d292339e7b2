package acp

import (
	"encoding/json"
	"errors"
	"slices"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/lorimer-dev/lorimer/acp/wire"
	"github.com/lorimer-dev/lorimer/harness"
)

// errCancelled is the cause of a prompt's context after session/cancel, or after
// a request that ends the session.
var errCancelled = errors.New("cancelled by the client")

// An admission is what a request is about, as of the moment when it arrived.
type admission struct {
	s      *session // nil if it names none that exists, or is about to
	claims bool     // the request opens or deletes s, whose id is kept until it has been served
	turn   *turn    // of a prompt
	before []*turn  // prompts of s that came before and are not answered; of a load, a resume or a delete
	err    error    // the answer, if it was clear at once
}

// Admit implements [wire.Handler]. It notes which session a request is about,
// since that may have changed by the time it is served.
func (c *conn) Admit(r *wire.Request) string {
	id := sessionID(r)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case r.Method == acpsdk.AgentMethodInitialize:
		c.admitted[r] = admission{err: c.initialize(r)}
		return ""
	case c.client == nil:
		c.admitted[r] = admission{err: wire.InvalidRequest("%.100s came before initialize; send initialize first", r.Method)}
		return ""
	}
	a := c.admission(r, id)
	c.admitted[r] = a
	if a.s != nil {
		return a.s.id
	}
	return id
}

// sessionID returns the id of the session that a request names, or wishes for, or
// "". It is called on the reader's goroutine, where a prompt of many megabytes
// must not be read to its end: clients write the id before it.
func sessionID(r *wire.Request) string {
	switch r.Method {
	case acpsdk.AgentMethodInitialize, acpsdk.AgentMethodSessionNew:
		return ""
	}
	return targetID(r.Params)
}

// admission notes what r is about. It names session id. The caller holds c.mu.
func (c *conn) admission(r *wire.Request, id string) admission {
	switch r.Method {
	case acpsdk.AgentMethodSessionNew:
		return admission{s: c.reserve(wishedID(r.Params)), claims: true}
	case acpsdk.AgentMethodSessionFork:
		r.Follow(id)
		return admission{s: c.reserve(wishedID(r.Params)), claims: true}
	case acpsdk.AgentMethodSessionLoad, acpsdk.AgentMethodSessionResume:
		if harness.CheckID(id) != nil {
			return admission{} // it is refused
		}
		s := c.reserve(id)
		return admission{s: s, claims: true, before: slices.Clone(s.turns)}
	case acpsdk.AgentMethodSessionDelete:
		s := c.sessions[id]
		if s == nil {
			return admission{}
		}
		s.claims++
		cancelTurns(s.turns)
		return admission{s: s, claims: true, before: slices.Clone(s.turns)}
	case acpsdk.AgentMethodSessionClose, methodArchive:
		s := c.sessions[id]
		delete(c.sessions, id) // what arrives later finds no session
		if s != nil {
			cancelTurns(s.turns)
		}
		return admission{s: s}
	}
	s := c.sessions[id]
	if s == nil || r.Method != acpsdk.AgentMethodSessionPrompt {
		return admission{s: s}
	}
	return admission{s: s, turn: s.admit(r)}
}

// Notify implements [wire.Handler]. Unknown notifications are ignored
// (R-ACP-03).
func (c *conn) Notify(method string, params json.RawMessage) {
	if method != acpsdk.AgentMethodSessionCancel {
		return
	}
	id := targetID(params)
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.sessions[id]; s != nil {
		cancelTurns(s.turns)
	}
}

func cancelTurns(turns []*turn) {
	for _, t := range turns {
		t.r.Cancel(errCancelled)
	}
}
