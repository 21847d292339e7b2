//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// Row 231 and C133: a model of each protocol is asked by the program as a whole, with
// tools; its key goes to the server and shows nowhere else, whatever goes wrong.
func TestRow231EachProtocol(t *testing.T) {
	t.Parallel()
	const key, header = "key-0123456789abcdef", "team-0123456789abcdef"
	for _, p := range modeltest.Protocols() {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			m := modeltest.New(t,
				modeltest.Reply{Think: []string{"hm"}, Text: []string{"look"}, Tools: []modeltest.Tool{tool("read", object{"path": "a.txt"})}},
				modeltest.Reply{Text: []string{"fine"}},
				modeltest.Reply{Status: 400, Error: "no " + key + " and no " + header},
			)
			e := newEditor(t)
			e.seed("a.txt", "the walrus\n")
			e.file(".config/lorimer/key", key+"\n")
			e.file(configFile, fmt.Sprintf("model = \"house/%s\"\n[providers.house]\nkind = %q\nbase_url = %q\napi_key_file = \"key\"\nheaders = { X-Team-Secret = %q }\n",
				p.ID, p.Name, p.URL(m), header))
			e.acp("--log-level", "trace")
			s := e.open(nil)
			if stop := e.prompt(s, "what is in a.txt?"); stop != "end_turn" || !strings.HasSuffix(e.text(s), "fine") {
				t.Errorf("prompt: %s with %q, want end_turn with fine", stop, e.text(s))
			}
			if f := e.wait(e.send("session/prompt", say(s, "and now?"))); f.Error == nil {
				t.Errorf("the third request: %s, want an error", f.Raw)
			}
			requests := m.Requests()
			if len(m.Rejected()) > 0 || len(requests) != 3 {
				t.Errorf("%d requests, rejected %q, want 3 and none", len(requests), m.Rejected())
			}
			for _, r := range requests {
				keys := r.Header.Get("Authorization") + r.Header.Get("X-Api-Key") + r.Header.Get("X-Goog-Api-Key")
				if strings.TrimPrefix(keys, "Bearer ") != key || r.Header.Get("X-Team-Secret") != header {
					t.Errorf("a request came with %q and %q", keys, r.Header.Get("X-Team-Secret"))
				}
			}
			e.leave()
			for _, secret := range []string{key, header} {
				if strings.Contains(e.stderr.String(), secret) || e.hasHeard(secret) {
					t.Errorf("%s shows on the wire or in the log", secret)
				}
				e.keptFrom(secret)
			}
		})
	}
}

// hasHeard reports whether a frame of the agent has a text in it.
func (e *editor) hasHeard(text string) bool {
	return slices.ContainsFunc(e.heard(), func(f frameIn) bool { return strings.Contains(string(f.Raw), text) })
}

// keptFrom looks for a secret in what the program has written, apart from the files
// that the test has put it in.
func (e *editor) keptFrom(secret string) {
	e.t.Helper()
	err := filepath.WalkDir(e.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(path, ".config") {
			return err
		}
		p, err := os.ReadFile(path)
		if bytes.Contains(p, []byte(secret)) {
			e.t.Errorf("%s has %s", path, secret)
		}
		return err
	})
	if err != nil {
		e.t.Error(err)
	}
}

// Row 143 (R-TASK-40, C-33): what another vendor's model did is told as words where
// the configuration wants it, from the next message on; else it stays typed.
func TestRow143Downgrade(t *testing.T) {
	t.Parallel()
	m := modeltest.New(t)
	e := newEditor(t).reaches(m)
	e.seed("a.txt", "the walrus\n")
	e.acp("--model", gpt)
	s := e.open(nil)
	ask := func(text string, replies ...modeltest.Reply) string {
		t.Helper()
		m.Add(replies...)
		if stop := e.prompt(s, text); stop != "end_turn" {
			t.Errorf("%s: %s, want end_turn", text, stop)
		}
		requests := m.Requests()
		return string(requests[len(requests)-1].Body)
	}
	done := modeltest.Reply{Text: []string{"done"}}
	ask("look", modeltest.Reply{Think: []string{"a thought"}, Tools: []modeltest.Tool{tool("read", object{"path": "a.txt"})}}, done)
	e.choose(s, "model", claude)
	tests := []struct {
		config, want string
		typed        bool
	}{
		{"", "tool_use", true},
		{"[history]\ncross_vendor = \"text\"\n", "[已执行 read，输出：", false},
		{"[history]\ncross_vendor = \"text\"\nexecuted = \"<{{tool}} said {{summary}}>\"\n", "<read said ", false},
		{"[history]\ncross_vendor = \"typed\"\n", "tool_use", true},
	}
	for _, tt := range tests {
		e.file(configFile, tt.config)
		body := ask("and "+tt.want, done)
		if !strings.Contains(body, tt.want) || strings.Contains(body, `"type":"tool_use"`) != tt.typed || strings.Contains(body, "a thought") {
			t.Errorf("with %q the model is sent %s, want %s and no thought", tt.config, body, tt.want)
		}
	}
	if len(m.Rejected()) > 0 {
		t.Errorf("rejected: %q", m.Rejected())
	}
}

// What nobody knows of a model is told once in a session, and no longer once the user
// has said it, which holds from the next message on.
func TestUnknownModelIsTold(t *testing.T) {
	t.Parallel()
	m := modeltest.New(t, modeltest.Reply{Text: []string{"fine"}, Repeat: -1})
	e := newEditor(t)
	e.file(configFile, house{Model: "house/new", Usual: "m2", BaseURL: m.OpenAI(), KeyFile: "key"}.toml())
	e.file(".config/lorimer/key", "key-of-the-house-1\n")
	e.acp()
	told := func(session string) (n int) {
		for _, u := range e.updates(session) {
			n += strings.Count(string(u.Update.Content)+u.Update.Title, "Lorimer does not know ")
		}
		return n
	}
	s := e.open(nil)
	for range 2 {
		e.prompt(s, "hello")
	}
	if n := told(s); n != 1 {
		t.Errorf("told %d times, want once", n)
	}
	e.file(".config/lorimer/models.toml", "[models.\"house/new\"]\nwindow = 100000\nname = \"Fresh\"\n")
	other := e.session()
	e.prompt(other, "hello")
	if n := told(other); n != 0 {
		t.Errorf("told %d times of what the user has said, want never", n)
	}
}

// The option of a session has the models of each provider with a key, by their names,
// and those that models.toml names.
func TestModelOption(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	e.file(".config/lorimer/models.toml", "[models.\"openai/gpt-4.1-nano\"]\nname = \"Tiny\"\n")
	e.env = []string{"OPENAI_API_KEY=k", "ANTHROPIC_API_KEY=k"}
	e.acp()
	e.call("initialize", object{"protocolVersion": 1}, nil)
	state := e.newState()
	i := slices.IndexFunc(state.ConfigOptions, func(o configOption) bool { return o.Category == "model" })
	refs := state.ConfigOptions[i].values()
	for _, want := range []string{"anthropic/claude-sonnet-5", "anthropic/claude-haiku-4-5", "openai/gpt-6-sol", "openai/gpt-4.1-nano", "offline"} {
		if !slices.Contains(refs, want) {
			t.Errorf("the models are %q, want %s among them", refs, want)
		}
	}
	if len(refs) > 2*10 || refs[0] != "anthropic/claude-sonnet-5" {
		t.Errorf("%d models, the first %s", len(refs), refs[0])
	}
	for _, name := range []string{"Tiny", "Claude Sonnet 5"} {
		if !e.hasHeard(`"name":"` + name + `"`) {
			t.Errorf("no model is called %s", name)
		}
	}
	s := e.set(state.SessionID, "model", "openai/gpt-4.1-nano")
	if got := s.current()["model"]; got != "openai/gpt-4.1-nano" {
		t.Errorf("model = %s after it was chosen", got)
	}
}
