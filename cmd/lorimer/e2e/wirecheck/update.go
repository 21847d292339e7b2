package wirecheck

import (
	"encoding/json"
	"strings"
	"time"
)

// A toolUpdate is what the rules look at of a tool call.
type toolUpdate struct {
	ID        string  `json:"toolCallId"`
	Title     *string `json:"title"`
	Status    string  `json:"status"`
	Locations []struct {
		Path string `json:"path"`
		Line *int   `json:"line"`
	} `json:"locations"`
	Content []struct {
		Type     string  `json:"type"`
		Path     string  `json:"path"`
		Old      *string `json:"oldText"`
		New      string  `json:"newText"`
		Terminal string  `json:"terminalId"`
	} `json:"content"`
}

// update judges a session/update by the state of its session.
func (c *checker) update(raw json.RawMessage) {
	p := read[struct {
		target
		Update json.RawMessage `json:"update"`
	}](raw)
	kind := read[struct {
		Kind string `json:"sessionUpdate"`
	}](p.Update).Kind
	method := "session/update " + kind
	s := c.session(p.SessionID)
	if !s.known && !s.loading {
		c.report(method, "session %q is not known to the client", p.SessionID)
	}
	switch kind {
	case "agent_message_chunk", "agent_thought_chunk", "user_message_chunk", "plan":
		c.inTurn(method, s)
	case "tool_call":
		c.inTurn(method, s)
		c.toolCall(method, s, read[toolUpdate](p.Update))
	case "tool_call_update":
		c.inTurn(method, s)
		c.toolCallUpdate(method, s, read[toolUpdate](p.Update))
	case "current_mode_update":
		c.mode(method, s, read[struct {
			ID string `json:"currentModeId"`
		}](p.Update).ID)
	case "config_option_update":
		c.options(method, s, read[optionList](p.Update).Options)
	default:
		c.aside(method, kind, p.Update)
	}
}

// aside judges the updates that may come at any time.
func (c *checker) aside(method, kind string, raw json.RawMessage) {
	switch kind {
	case "available_commands_update":
		commands := read[struct {
			List []struct {
				Name string `json:"name"`
			} `json:"availableCommands"`
		}](raw).List
		for _, x := range commands {
			if strings.HasPrefix(x.Name, "/") {
				c.report(method, "command %q carries its slash", x.Name)
			}
		}
	case "session_info_update":
		i := read[struct {
			Title   *string `json:"title"`
			Updated *string `json:"updatedAt"`
		}](raw)
		if i.Title != nil && strings.TrimSpace(*i.Title) == "" {
			c.report(method, "the title is empty")
		}
		if i.Updated != nil {
			if _, err := time.Parse(time.RFC3339, *i.Updated); err != nil {
				c.report(method, "updatedAt %q is no time of RFC 3339", *i.Updated)
			}
		}
	case "usage_update":
		u := read[struct {
			Used int64 `json:"used"`
			Size int64 `json:"size"`
		}](raw)
		if u.Size > 0 && u.Used > u.Size {
			c.report(method, "%d tokens are used of %d", u.Used, u.Size)
		}
	case "notice":
		if !offered(c.client.Session.Notices) {
			c.report(method, "the client has not offered notices")
		}
	}
}

func (c *checker) inTurn(method string, s *session) {
	if s.prompts == 0 && !s.loading {
		c.report(method, "sent outside a turn")
	}
}

func (c *checker) toolCall(method string, s *session, u toolUpdate) {
	if s.tools[u.ID] != nil && !s.loading {
		c.report(method, "id %s is used already", u.ID)
	}
	if u.Title == nil || strings.TrimSpace(*u.Title) == "" {
		c.report(method, "tool call %s has no title", u.ID)
	}
	if u.Status == "" {
		u.Status = "pending"
	}
	s.tools[u.ID] = &toolCall{u.Status, c.at}
	c.places(method, u)
}

func (c *checker) toolCallUpdate(method string, s *session, u toolUpdate) {
	c.places(method, u)
	t := s.tools[u.ID]
	switch {
	case t == nil:
		c.report(method, "tool call %s has not been announced", u.ID)
	case u.Status == "":
	case t.final():
		c.report(method, "tool call %s was %s already", u.ID, t.status)
	default:
		t.status = u.Status
	}
}

// places judges the paths and contents of a tool call.
func (c *checker) places(method string, u toolUpdate) {
	for _, l := range u.Locations {
		c.absolute(method, l.Path)
		if l.Line != nil && *l.Line == 0 {
			c.report(method, "lines count from 1")
		}
	}
	for _, x := range u.Content {
		switch x.Type {
		case "diff":
			c.absolute(method, x.Path)
			if x.Old != nil && *x.Old == x.New {
				c.report(method, "the diff of %s changes nothing", x.Path)
			}
		case "terminal":
			if c.terminals[x.Terminal] == nil && !c.client.Meta.TerminalOutput {
				c.report(method, "terminal %q was never created", x.Terminal)
			}
		}
	}
}
