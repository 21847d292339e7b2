package acp

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/lorimer-dev/lorimer/acp/wire"
	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/server"
)

// A host answers what the MCP servers of a session ask, of one opening of it.
type host struct {
	s    *session
	dirs Dirs
	h    *harness.Session // set before a server is contacted
}

var _ server.Host = (*host)(nil)

// Roots are the directories of the session.
func (h *host) Roots() []string { return slices.Concat([]string{h.dirs.Cwd}, h.dirs.More) }

// Offers are what the editor can do, and a model that the user is asked about.
func (h *host) Offers() server.Offers {
	cl := h.s.c.client
	return server.Offers{Form: cl.elicits, URL: cl.visits, Sampling: true}
}

// A question is the parameters of elicitation/create for a server: with the form that it
// has sent, or with an address.
type question struct {
	Mode     string          `json:"mode"` // form or url
	Session  string          `json:"sessionId"`
	ToolCall string          `json:"toolCallId,omitempty"`
	Message  string          `json:"message"`
	Schema   json.RawMessage `json:"requestedSchema,omitempty"`
	ID       string          `json:"elicitationId,omitempty"`
	URL      string          `json:"url,omitempty"`
}

// maxQuestion is how many bytes a question of a server has: some clients read no line of
// more than 10 MiB, and no person reads a form of this length.
const maxQuestion = 256 << 10

// Elicit asks in the editor, for as long as the call of the server runs (R-ACP-45). What
// the editor does not know after all is declined, as is what is too long, and anything but
// the three actions is a cancel.
func (h *host) Elicit(ctx context.Context, name string, e server.Elicitation) (server.Reply, error) {
	if n := len(e.Message) + len(e.Schema) + len(e.URL) + len(e.ID); n > maxQuestion {
		h.s.c.o.Log.Warn().Str("session", h.s.id).Str("server", name).Int("bytes", n).Msg("a question of a server is too long")
		return server.Reply{Action: "decline"}, nil
	}
	during, id, stop := h.h.Calling(ctx, name)
	defer stop()
	q := question{
		Mode: "form", Session: h.s.id, ToolCall: id, Schema: e.Schema,
		Message: "The MCP server " + tools.Line(name, maxLabel) + " asks: " + e.Message,
	}
	if e.URL != "" {
		q.Mode, q.Schema, q.URL, q.ID = "url", nil, e.URL, cmp.Or(e.ID, "e-"+strings.ToLower(rand.Text()))
	}
	var answer json.RawMessage
	err := h.s.c.wire.Call(during, acpsdk.ClientMethodElicitationCreate, q, &answer)
	switch {
	case ctx.Err() != nil:
		return server.Reply{}, ctx.Err()
	case during.Err() != nil: // the call has ended, and nobody waits for the answer
		return server.Reply{Action: "cancel"}, nil
	case err != nil:
		h.s.c.o.Log.Info().Str("session", h.s.id).Str("server", name).Err(err).Msg("a question of a server was not answered")
		if e, ok := errors.AsType[*wire.Error](err); ok && e.Code == wire.CodeMethodNotFound {
			return server.Reply{Action: "decline"}, nil
		}
		return server.Reply{Action: "cancel"}, nil
	}
	a := members(answer)
	switch action := a.text("action"); action {
	case "accept":
		r := server.Reply{Action: action}
		if a.object("content") != nil {
			r.Content = a["content"]
		}
		return r, nil
	case "decline":
		return server.Reply{Action: action}, nil
	}
	return server.Reply{Action: "cancel"}, nil
}

// Sample has the model of the session answer, if the user allows it.
func (h *host) Sample(ctx context.Context, name string, s server.Sampling) (server.Sampled, error) {
	return h.h.Sample(ctx, name, s)
}
