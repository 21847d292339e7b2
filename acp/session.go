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
	"github.com/lorimer-dev/lorimer/tools/approve"
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
	workspace Workspace
	opened    opening // what it was opened for

	// Guarded by c.mu.
	chosen  bool    // the user has chosen the model
	claims  int     // requests to open it that are not answered
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

// release ends a request to open s, which is nil if it named none. A session that
// nobody has opened, and nobody else is about to open, is forgotten.
func (c *conn) release(s *session) {
	if s == nil {
		return
	}
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

// end ends what is open of a session, for a request that opens it. It is not
// cancelled either.
func (s *session) end(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.c.o.Grace)
	defer cancel()
	err := s.close(ctx)
	s.c.mu.Lock()
	s.h, s.workspace = nil, Workspace{}
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

type modeUpdate struct {
	Update string `json:"sessionUpdate"`
	Mode   string `json:"currentModeId"`
}

type optionsUpdate struct {
	Update  string                       `json:"sessionUpdate"`
	Options []acpsdk.SessionConfigOption `json:"configOptions"`
}

// setMode is session/set_mode. A client that shows options hears of the change
// there too.
func (s *session) setMode(ctx context.Context, r *wire.Request, _ *turn) (any, error) {
	id, err := members(r.Params).required("modeId")
	if err != nil {
		return nil, err
	}
	before := mode(s.h.OptionSet())
	if err := s.h.SetMode(ctx, approve.Mode(id)); err != nil {
		return nil, optionFailure("modeId", id, err)
	}
	if set := s.h.OptionSet(); mode(set) != before {
		r.After(func() { s.update(optionsUpdate{"config_option_update", configOptions(set)}) })
	}
	return acpsdk.SetSessionModeResponse{}, nil
}

// setOption is session/set_config_option. The answer is always the whole list,
// since clients replace theirs with it (R-ACP-18).
func (s *session) setOption(ctx context.Context, r *wire.Request, _ *turn) (any, error) {
	p := members(r.Params)
	id, err := p.required("configId")
	if err != nil {
		return nil, err
	}
	value, err := p.required("value")
	if err != nil {
		return nil, err
	}
	before := s.h.OptionSet()
	if !slices.ContainsFunc(before, func(o harness.Option) bool { return o.ID == id }) {
		return nil, invalid("configId", "is %.100q; the session has %s", id, optionIDs(before))
	}
	if err := s.h.SetOption(ctx, id, value); err != nil {
		return nil, optionFailure("value", value, err)
	}
	if id == harness.OptionModel {
		s.c.mu.Lock()
		s.chosen = true
		s.c.mu.Unlock()
	}
	set := s.h.OptionSet()
	if m := mode(set); m != mode(before) {
		r.After(func() { s.update(modeUpdate{"current_mode_update", m}) })
	}
	return acpsdk.SetSessionConfigOptionResponse{ConfigOptions: configOptions(set)}, nil
}

func optionFailure(field, value string, err error) error {
	if errors.Is(err, harness.ErrOption) {
		return invalid(field, "is %.100q, which is not one of the values to choose from", value)
	}
	return err
}

func optionIDs(set []harness.Option) string {
	var ids []string
	for _, o := range set {
		ids = append(ids, o.ID)
	}
	return strings.Join(ids, ", ")
}

// mode returns the current mode of a set of options.
func mode(set []harness.Option) string {
	for _, o := range set {
		if o.ID == harness.OptionMode {
			return o.Current
		}
	}
	return ""
}

// modes is the mode for clients that know no options. It says the same as the
// option of the category "mode".
func modes(set []harness.Option) *acpsdk.SessionModeState {
	for _, o := range set {
		if o.ID != harness.OptionMode {
			continue
		}
		st := acpsdk.SessionModeState{CurrentModeId: acpsdk.SessionModeId(o.Current)}
		for _, v := range o.Values {
			st.AvailableModes = append(st.AvailableModes, acpsdk.SessionMode{
				Id: acpsdk.SessionModeId(v.Value), Name: v.Name, Description: optional(v.Description),
			})
		}
		return &st
	}
	return nil
}

func configOptions(set []harness.Option) []acpsdk.SessionConfigOption {
	list := make([]acpsdk.SessionConfigOption, 0, len(set))
	for _, o := range set {
		values := make(acpsdk.SessionConfigSelectOptionsUngrouped, 0, len(o.Values))
		for _, v := range o.Values {
			values = append(values, acpsdk.SessionConfigSelectOption{
				Value: acpsdk.SessionConfigValueId(v.Value), Name: v.Name, Description: optional(v.Description),
			})
		}
		sel := &acpsdk.SessionConfigOptionSelect{
			Id:           acpsdk.SessionConfigId(o.ID),
			Name:         o.Name,
			Description:  optional(o.Description),
			CurrentValue: acpsdk.SessionConfigValueId(o.Current),
			Options:      acpsdk.SessionConfigSelectOptions{Ungrouped: &values},
			Type:         "select",
		}
		if o.Category != "" {
			sel.Category = acpsdk.Ptr(acpsdk.SessionConfigOptionCategory(o.Category))
		}
		list = append(list, acpsdk.SessionConfigOption{Select: sel})
	}
	return list
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
