package harness

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/internal/served"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/prompt"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/server"
)

// Begin starts the contact with the MCP servers of the session in the background
// (R-ACP-13), if it is known that a message would have tools (R-TOOLS-21). A message
// begins it where nobody has.
func (s *Session) Begin() {
	if s.spec.Servers != nil && s.equipped() {
		s.spec.Servers.Begin()
	}
}

// equipped reports whether it is known that a message would have tools.
func (s *Session) equipped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.models, s.choice.chose)
	return s.choice.Tools != ToolsOff && i >= 0 && !s.models[i].NoTools && !s.models[i].Unsure
}

// Servers tells how the MCP servers of the session stand (R-MCP-20).
func (s *Session) Servers() []server.Status {
	if s.spec.Servers == nil {
		return nil
	}
	return s.spec.Servers.Status()
}

// unserve ends the contact with the servers within ctx.
func (s *Session) unserve(ctx context.Context) error {
	if s.spec.Servers == nil {
		return nil
	}
	return s.spec.Servers.Close(ctx)
}

// lacking are the tools that may come back, or come yet: their names, and what the names
// of those begin with that nobody has seen (R-MCP-16).
type lacking struct{ names, prefixes []string }

// lacking returns the tools of servers that may come back.
func (s *Session) lacking() lacking {
	if s.spec.Servers == nil {
		return lacking{}
	}
	names, prefixes := s.spec.Servers.Known()
	return lacking{names, prefixes}
}

// foreign returns the tools of the session's servers. One whose name a tool of own has
// is left out, which the user is told (R-MCP-05).
func (t *turn) foreign(ctx context.Context, own []tools.Tool) ([]tools.Tool, error) {
	set := t.s.spec.Servers
	if set == nil {
		return nil, nil
	}
	var tell func(string)
	if !t.quiet {
		tell = func(text string) { t.tell(event.Notice{Severity: event.Warning, Text: text}) }
	}
	all, err := set.Tools(ctx, tell)
	if err != nil {
		return nil, err
	}
	ours := make(map[string]bool, len(own))
	for _, tool := range own {
		ours[tool.Info().Name] = true
	}
	kept := make([]tools.Tool, 0, len(all))
	for _, tool := range all {
		if i := tool.Info(); ours[i.Name] {
			t.taken(i)
			continue
		}
		kept = append(kept, tool)
	}
	return kept, nil
}

// taken tells once that a tool of this program has the name of a server's.
func (t *turn) taken(i tools.Info) {
	text := fmt.Sprintf("A tool of the MCP server %s is left out: its name here would be %s, and lorimer has a tool of that name.",
		tools.Line(owner(i), maxNamed), i.Name)
	t.log.Warn().Str("tool", i.Name).Str("server", owner(i)).Msg("a tool of a server is left out, since lorimer has one of that name")
	if !t.quiet {
		_ = t.notice(text) // the watcher ends the turn
	}
}

// owner is the name of the server that has a tool; "" is this program.
func owner(i tools.Info) string {
	if i.Origin == nil {
		return ""
	}
	return i.Origin.Server
}

// origins returns the servers that infos are of, for the prompt (R-MCP-15).
func origins(infos []tools.Info) []prompt.Server {
	counts := make(map[string]int)
	for _, i := range infos {
		if i.Origin != nil {
			counts[i.Origin.Prefix]++
		}
	}
	var out []prompt.Server
	for prefix, n := range counts {
		out = append(out, prompt.Server{Prefix: prefix, Tools: n})
	}
	slices.SortFunc(out, func(a, b prompt.Server) int { return strings.Compare(a.Prefix, b.Prefix) })
	return out
}

// mcpTool is what the watcher of a call is told of the server that has its tool, nil for
// a tool of this program (R-MCP-08).
func mcpTool(o *tools.Origin) json.RawMessage {
	if o == nil {
		return nil
	}
	meta, err := json.Marshal(struct {
		Tool *tools.Origin `json:"mcpTool"`
	}{o})
	if err != nil {
		return nil // texts always encode
	}
	return meta
}

// mcpTools are the servers' tools that an answer has called, by their names (R-MCP-08).
func (a *answer) mcpTools() map[string]*tools.Origin {
	var called map[string]*tools.Origin
	for _, c := range a.calls {
		if c.info.Origin == nil {
			continue
		}
		if called == nil {
			called = make(map[string]*tools.Origin)
		}
		called[c.Name] = c.info.Origin
	}
	return called
}

// calledTool returns what the metadata of an answer say of a tool that it has called, as
// [mcpTool] does, by its exact name.
func calledTool(a *thread.Assistant, name string) json.RawMessage {
	var meta struct {
		Tools map[string]*tools.Origin `json:"mcpTools"`
	}
	if a == nil || json.Unmarshal(a.Meta, &meta) != nil {
		return nil
	}
	return mcpTool(meta.Tools[name])
}

// advice is what servers say on how to use them that the model was not told before the
// next message of conv, or that they say differently now.
func (t *turn) advice(conv *thread.Conversation) (all []prompt.Advice, told []string) {
	if t.s.spec.Servers == nil || t.shape == prompt.Stateless {
		return nil, nil
	}
	for _, a := range t.s.spec.Servers.Advice() {
		if strings.TrimSpace(a.Text) == "" {
			continue
		}
		of := "advice:" + a.Prefix + ":" // a prefix is one server's alone, and has no colon
		sum := sha256.Sum256([]byte(a.Server + "\x00" + a.Text))
		key := of + hex.EncodeToString(sum[:8])
		if conv.LastTold(of, t.in.Retry) == key {
			continue
		}
		all = append(all, prompt.Advice{Server: a.Server, Prefix: a.Prefix, Text: a.Text})
		told = append(told, key)
	}
	return all, told
}

// serversCommand is /mcp.
func serversCommand(_ context.Context, t *turn, _ string) (Stop, error) {
	return t.reply(served.States(t.s.Servers()))
}

// resourcesCommand is /resources.
func resourcesCommand(_ context.Context, t *turn, _ string) (Stop, error) {
	prefixes := make(map[string]string)
	for _, s := range t.s.Servers() {
		prefixes[s.Name] = s.Prefix
	}
	return t.reply(served.Resources(t.s.spec.Servers.Resources(), prefixes))
}
