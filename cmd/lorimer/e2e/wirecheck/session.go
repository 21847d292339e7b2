package wirecheck

import (
	"encoding/json"
	"slices"
	"strings"
)

// session is the state of a session as both sides must see it.
type session struct {
	known     bool // the client has been told of it
	loading   bool // its past is being replayed
	prompts   int  // unanswered
	cancelled bool // the running turn
	tools     map[string]*toolCall
	modes     []string
	options   []string
}

type toolCall struct {
	status string
	at     int
}

func (t *toolCall) final() bool { return t.status == "completed" || t.status == "failed" }

// session returns the state of a session, which may be unknown as yet.
func (c *checker) session(id string) *session {
	s := c.sessions[id]
	if s == nil {
		s = &session{tools: map[string]*toolCall{}}
		c.sessions[id] = s
	}
	return s
}

type modeList struct {
	Modes *struct {
		Current   string `json:"currentModeId"`
		Available []struct {
			ID string `json:"id"`
		} `json:"availableModes"`
	} `json:"modes"`
}

type optionList struct {
	Options []option `json:"configOptions"`
}

type option struct {
	ID       string          `json:"id"`
	Category string          `json:"category"`
	Type     string          `json:"type"`
	Current  json.RawMessage `json:"currentValue"`
	Options  []choice        `json:"options"`
}

// ofModel reports whether the option may come and go with the model.
func (o option) ofModel() bool { return o.Category == "thought_level" || o.Category == "model_config" }

// A choice is a value, or a group of values.
type choice struct {
	Value   string   `json:"value"`
	Options []choice `json:"options"`
}

func values(list []choice) (all []string) {
	for _, v := range list {
		if v.Options != nil {
			all = append(all, values(v.Options)...)
			continue
		}
		all = append(all, v.Value)
	}
	return all
}

// opened judges the answer that makes a session usable.
func (c *checker) opened(method, id string, raw json.RawMessage, fresh bool) {
	s := c.session(id)
	if fresh && s.known {
		c.report(method, "session %s exists already", id)
	}
	s.known = true
	if m := read[modeList](raw).Modes; m != nil {
		s.modes = nil
		for _, mode := range m.Available {
			s.modes = append(s.modes, mode.ID)
		}
		c.mode(method, s, m.Current)
	}
	s.options = nil
	c.options(method, s, read[optionList](raw).Options)
}

func (c *checker) mode(method string, s *session, id string) {
	if s.modes != nil && !slices.Contains(s.modes, id) {
		c.report(method, "mode %q is not one of %s", id, strings.Join(s.modes, ", "))
	}
}

// options judges a list of config options, which always is the whole list.
func (c *checker) options(method string, s *session, list []option) {
	if list == nil {
		return
	}
	var ids []string
	for _, o := range list {
		if slices.Contains(ids, o.ID) {
			c.report(method, "option %s occurs twice", o.ID)
		}
		ids = append(ids, o.ID)
		if o.Type == "boolean" && !offered(c.client.Session.ConfigOptions.Boolean) {
			c.report(method, "option %s is a boolean, which the client has not offered", o.ID)
		}
		current := read[string](o.Current)
		if all := values(o.Options); o.Type == "select" && !slices.Contains(all, current) {
			c.report(method, "value %q of option %s is not one of %s", current, o.ID, strings.Join(all, ", "))
		}
	}
	for _, id := range s.options {
		if !slices.Contains(ids, id) {
			c.report(method, "the list lacks option %s", id)
		}
	}
	s.options = nil
	for _, o := range list {
		if !o.ofModel() {
			s.options = append(s.options, o.ID)
		}
	}
}

// turnEnds judges what a turn leaves behind.
func (c *checker) turnEnds(s *session) {
	s.cancelled = false
	for id, t := range s.tools {
		if !t.final() {
			c.report("session/prompt", "tool call %s of line %d is still %s at the end of the turn", id, t.at, t.status)
			t.status = "failed"
		}
	}
}

// permission judges a question to the user.
func (c *checker) permission(raw json.RawMessage) {
	const method = "session/request_permission"
	p := read[struct {
		target
		Tool    toolUpdate `json:"toolCall"`
		Options []struct {
			ID   string `json:"optionId"`
			Kind string `json:"kind"`
		} `json:"options"`
	}](raw)
	var ids, kinds []string
	for _, o := range p.Options {
		if slices.Contains(ids, o.ID) {
			c.report(method, "option %s occurs twice", o.ID)
		}
		ids = append(ids, o.ID)
		kinds = append(kinds, o.Kind)
	}
	for _, want := range []string{"allow", "reject"} {
		if !slices.ContainsFunc(kinds, func(k string) bool { return strings.HasPrefix(k, want+"_") }) {
			c.report(method, "no option is to %s", want)
		}
	}
	c.places(method, p.Tool)
	s := c.sessions[p.SessionID]
	if s == nil {
		return
	}
	switch {
	case s.prompts == 0:
		c.report(method, "asked outside a turn")
	case s.cancelled:
		c.report(method, "asked after the cancel")
	}
	if s.tools[p.Tool.ID] == nil {
		c.report(method, "tool call %q has not been announced", p.Tool.ID)
	}
}
