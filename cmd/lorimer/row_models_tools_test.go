//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// started is a server of tools, for session/new and for the configuration, that leaves
// a file behind when it is started.
func (e *editor) started(name string) (server object, table string) {
	e.t.Helper()
	script := "touch " + filepath.Join(e.cwd, name)
	server = object{"name": name, "command": "/bin/sh", "args": []string{"-c", script}, "env": []any{}}
	return server, fmt.Sprintf("[mcp.%s]\ncommand = \"/bin/sh\"\nargs = [\"-c\", %q]\n", name, script)
}

// bare holds a turn in a session with servers of tools, and checks that the model was
// given no tool and told of none, and that no server was started for it, not even when it
// calls one all the same.
func (e *editor) bare(ref string, m *modeltest.Server) {
	e.t.Helper()
	m.Add(
		modeltest.Reply{Text: []string{"one"}},
		modeltest.Reply{Text: []string{"Let me."}, Tools: []modeltest.Tool{tool("bash", object{"command": "touch ran"})}},
		modeltest.Reply{Text: []string{"two"}},
	)
	byClient, _ := e.started("client")
	e.acp("--model", ref, "--mode", "auto")
	e.call("initialize", object{"protocolVersion": 1}, nil)
	var s struct{ SessionID string }
	e.call("session/new", object{"cwd": e.cwd, "mcpServers": []any{byClient}}, &s)
	if stop := e.prompt(s.SessionID, "hello"); stop != "end_turn" {
		e.t.Errorf("stop reason = %s, want end_turn", stop)
	}
	e.prompt(s.SessionID, "run it")
	e.leave()
	if got := m.Rejected(); len(got) > 0 {
		e.t.Errorf("rejected: %q", got)
	}
	for i, r := range e.requests(s.SessionID) {
		if len(r.Tools) > 0 {
			e.t.Errorf("tools(%d) = %q, want none", i+1, r.Tools)
		}
		if word := foreign().FindString(r.System); word != "" {
			e.t.Errorf("the system string has %q: %s", word, r.System)
		}
		lacks(e.t, "the request", string(m.Requests()[i].Body), `"tools"`, `"tool_choice"`, "functionDeclarations")
	}
	for _, l := range e.turns("") {
		if slices.Contains(l.Changed, "tools") {
			e.t.Errorf("turns = %+v, want the tools to stay as they are", e.turns(""))
		}
	}
	e.absent("client", "configured", "ran")
}

// Row 50 (R-TOOLS-21): a model of which the user says that it calls no tools gets
// none, over every protocol: no tool, no section about them, and no server of tools is
// started.
func TestRow050ToolUsageZero(t *testing.T) {
	t.Parallel()
	for _, p := range allProviders() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			m := modeltest.New(t)
			e := newEditor(t)
			_, table := e.started("configured")
			e.reachesAll(m)
			e.appends(configFile, table)
			e.file(profilesFile, fmt.Sprintf("[models.%q]\ntool_usage = 0\n", p.model))
			e.bare(p.model, m)
		})
	}
}

// appends adds to a file below the home of the agent.
func (e *editor) appends(name, content string) {
	e.t.Helper()
	p, err := os.ReadFile(filepath.Join(e.home, name))
	if err != nil {
		e.t.Fatal(err)
	}
	e.file(name, string(p)+content)
}

// Row 50: so does one that is known to call none: by the catalog's families, or by its
// server, of whichever product. What the user says of it counts before.
func TestRow050KnownToCallNone(t *testing.T) {
	t.Parallel()
	mute := modeltest.ModelInfo{ID: "house/mute", Window: 32_000, NoTools: true}
	tests := []struct {
		name, provider, kind, model string
		product                     modeltest.Product
		url                         func(*modeltest.Server) string
	}{
		{"an old model of Anthropic", "anthropic", "anthropic", "claude-2.1", "", (*modeltest.Server).Anthropic},
		{"an old model of OpenAI", "openai", "openai-chat", "chatgpt-4o-latest", "", (*modeltest.Server).OpenAI},
		{"a family, under another name", "work", "openai", "codellama-13b", "", (*modeltest.Server).OpenAI},
		{"a server of Ollama", "box", "ollama", mute.ID, modeltest.Ollama, (*modeltest.Server).Ollama},
		{"a reseller", "openrouter", "openai", mute.ID, modeltest.OpenRouter, (*modeltest.Server).OpenAI},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := modeltest.New(t)
			m.Product, m.Listed = tt.product, []modeltest.ModelInfo{mute}
			e := newEditor(t)
			_, table := e.started("configured")
			e.file(".config/lorimer/key", "key-of-the-house-1\n")
			e.file(configFile, fmt.Sprintf("[providers.%s]\nkind = %q\nbase_url = %q\napi_key_file = \"key\"\n%s", tt.provider, tt.kind, tt.url(m), table))
			e.bare(tt.provider+"/"+tt.model, m)

			e.file(profilesFile, fmt.Sprintf("[models.\"%s/%s\"]\ntool_usage = 1\n", tt.provider, tt.model))
			if got := e.sheet("--model", tt.provider+"/"+tt.model).Tools; len(got) < len(allTools())/2 {
				t.Errorf("a model that the user says calls tools has %v", got)
			}
		})
	}
}

// Row 50: the tools come and go with the model of the session, and with the file, from
// one message to the next.
func TestRow050ComesAndGoes(t *testing.T) {
	t.Parallel()
	e := newEditor(t).declares()
	e.acp()
	s := e.open(nil)
	var got []bool
	turn := func() {
		e.prompt(s, "hello")
		r := e.lastRequest(s)
		for _, h := range []string{"Commands", "Changes", "Reading", "New files", "Multi-step work and recovery"} {
			if has := slices.Contains(headings(r.System), h); has != (len(r.Tools) > 0) {
				t.Errorf("%d tools, and the section %s: %v", len(r.Tools), h, has)
			}
		}
		got = append(got, len(r.Tools) > 0)
	}
	turn()
	e.toolless()
	turn()
	e.file(profilesFile, "")
	turn()
	if want := []bool{true, false, true}; !slices.Equal(got, want) {
		t.Errorf("tools in the requests: %v, want %v", got, want)
	}
}
