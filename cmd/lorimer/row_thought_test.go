//go:build unix

package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// A thinker is a provider that wants its thoughts back.
type thinker struct {
	provider
	sibling string // another model of it
	shows   string // what a request has that brings thoughts of the model back, in front of its text; "" is the text
}

// thinkers are the ways in which thoughts go back. What more of them an agent that
// reachesAll needs to know is in thinking.
func thinkers() []thinker {
	of := map[string]provider{}
	for _, p := range allProviders() {
		of[p.name] = p
	}
	return []thinker{
		{provider{"moonshot", "moonshot/kimi-k3", 503, "openai-chat", "/chat/completions"}, "moonshot/kimi-k2-thinking", `"reasoning_content":"`},
		{provider{"openrouter", "openrouter/anthropic/claude-opus-4-7", 503, "openai-chat", "/chat/completions"}, "openrouter/anthropic/claude-sonnet-5", `"text":"`},
		{of["responses"], "responses/gpt-5.5", `"type":"reasoning"`},
		{of["anthropic"], "anthropic/claude-opus-4-7", `"thinking":"`},
		{of["gemini"], "gemini/gemini-3.1-pro-preview", `"thoughtSignature":"`},
		{of["ollama"], "ollama/other", `"thinking":"`},
	}
}

// thinking configures what thinkers name beside the usual providers.
func thinking(e *editor, m *modeltest.Server) *editor {
	e.t.Helper()
	e.reachesAll(m, fmt.Sprintf("[providers.moonshot]\nkind = \"openai-chat\"\nbase_url = %q\napi_key_env = \"ALL_KEY\"\n[providers.openrouter]\nkind = \"openai-chat\"\nbase_url = %[1]q\napi_key_env = \"ALL_KEY\"\n", m.OpenAI()))
	var models strings.Builder
	for _, p := range thinkers() {
		fmt.Fprintf(&models, "[models.%q]\n[models.%q]\n", p.model, p.sibling)
		if _, id, _ := strings.Cut(p.sibling, "/"); p.name == "ollama" {
			m.Listed = append(m.Listed, modeltest.ModelInfo{ID: id, Window: 128_000, Thinks: true})
		}
	}
	e.file(".config/lorimer/models.toml", models.String())
	return e
}

// thinks is a piece of an answer as its provider would cut it.
func (p thinker) thinks(text string) modeltest.Reply {
	r := modeltest.Reply{Think: []string{text[:2], text[2:]}}
	if p.name == "openrouter" {
		r.Quirk = modeltest.ReasoningDetails
	}
	return r
}

// remembers reports whether a request to the model with this ref has its thought. Of
// Gemini's the server wants no more than the signature, which names the model.
func (p thinker) remembers(body []byte, ref, thought string) bool {
	if p.kind == "gemini" {
		return bytes.Contains(body, []byte(p.shows+sealed(ref)))
	}
	return bytes.Contains(body, []byte(p.shows)) && bytes.Contains(body, []byte(thought))
}

// sealed is how each signature of the model with this ref begins.
func sealed(ref string) string {
	_, id, _ := strings.Cut(ref, "/")
	return base64.StdEncoding.EncodeToString([]byte(id)[:len(id)/3*3])
}

// elsewhere is a model of another vendor.
func (p thinker) elsewhere() string {
	if p.name == "anthropic" || p.name == "openrouter" { // the same vendor
		return responder
	}
	return claude
}

// Row 214 (R-HARN-31): what a model thinks is told to the editor as thoughts and goes
// back to that model. It is in nothing that another one gets, in no title, in nothing
// that is found, shown or exported unless that is asked for, and a session that was
// exported without it goes on.
func TestRow214ReasoningIsKeptApart(t *testing.T) {
	t.Parallel()
	for _, p := range thinkers() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			m := modeltest.New(t)
			e := thinking(newEditor(t), m)
			e.seed("a.txt", "the walrus\n")
			e.acp("--model", p.model)
			s := e.open(nil)
			first, last := p.thinks("zebra at first"), p.thinks("zebra at last")
			first.Text, first.Tools = []string{"I look."}, []modeltest.Tool{tool("read", object{"path": "a.txt"})}
			last.Text = []string{"A walrus."}
			m.Add(first, last, modeltest.Reply{Text: []string{"Fine."}, Repeat: -1})
			e.prompt(s, "what is in a.txt?")
			e.choose(s, "model", p.elsewhere())
			e.prompt(s, "is it?")
			e.checkThoughts("zebra at first", "zebra at last")
			e = e.restart("--model", p.model)
			e.load(s)
			e.prompt(s, "and once more?")
			e.choose(s, "model", p.model)
			e.prompt(s, "and you?")
			e.checkThoughts("zebra at first", "zebra at last")
			for i, own := range []bool{false, true, false, false, true} {
				body := m.Requests()[i].Body
				if got := p.remembers(body, p.model, "zebra at first"); got != own {
					t.Errorf("request %d has the thought: %v, want %v\n%s", i+1, got, own, body)
				}
				if !own && bytes.Contains(body, []byte("zebra")) {
					t.Errorf("request %d has a thought of another model", i+1)
				}
				if n := e.requests(s)[i].count("reasoning"); (n > 0) != own {
					t.Errorf("the trace has %d thoughts in request %d, want them: %v", n, i+1, own)
				}
			}
			if got := m.Rejected(); len(got) > 0 || len(m.Requests()) != 5 {
				t.Errorf("rejected: %q; %d requests, want 5", got, len(m.Requests()))
			}
			e.goesOnElsewhere(s, p.model)
			if p.name == "anthropic" {
				e.keepsThoughts(s, "zebra at first")
			}
		})
	}
}

// checkThoughts checks that all that came with a word of the thoughts are pieces of
// them, as chunks of thoughts.
func (e *editor) checkThoughts(want ...string) {
	e.t.Helper()
	var told []string
	last := ""
	for _, f := range e.heard() {
		var u update
		if f.Method != "session/update" || json.Unmarshal(f.Params, &u) != nil || u.Update.Kind != "agent_thought_chunk" || strings.HasPrefix(u.Update.MessageID, "notice-") {
			if strings.Contains(f.Raw, "zebra") || strings.Contains(f.Raw, "at first") {
				e.t.Errorf("a thought is in %s", f.Raw)
			}
			continue
		}
		var block struct{ Text string }
		if err := json.Unmarshal(u.Update.Content, &block); err != nil {
			e.t.Fatal(err)
		}
		if u.Update.MessageID != last {
			told, last = append(told, ""), u.Update.MessageID
		}
		told[len(told)-1] += block.Text
	}
	if diff := cmp.Diff(want, told); diff != "" {
		e.t.Errorf("thoughts (-want +got):\n%s", diff)
	}
}

// keepsThoughts checks that what the commands print of a session has its thought only
// where it is asked for.
func (e *editor) keepsThoughts(session, thought string) {
	e.t.Helper()
	for _, words := range [][]string{
		{"session", "show", session}, {"session", "show", "--json", session},
		{"session", "export", session}, {"session", "export", "--format", "markdown", session},
	} {
		plain, asked := e.prints(words...), e.prints(append(words, "--reasoning")...)
		if strings.Contains(plain, "zebra") || !strings.Contains(plain, "A walrus.") || !strings.Contains(asked, thought) {
			e.t.Errorf("lorimer %q prints without and with --reasoning:\n%s\n%s", words, plain, asked)
		}
	}
	if out := e.prints("session", "list", "--json") + e.prints("session", "search", "--json", "zebra"); strings.Contains(out, "zebra") {
		e.t.Errorf("the list or what is found has a thought:\n%s", out)
	}
}

// goesOnElsewhere continues a session of a model from its export without thoughts,
// sealed ones included, where nobody knows of it.
func (e *editor) goesOnElsewhere(session, ref string) {
	e.t.Helper()
	out := e.prints("session", "export", session)
	if strings.Contains(out, "zebra") || strings.Contains(out, sealed(ref)) {
		e.t.Errorf("the export has a thought:\n%s", out)
	}
	m := modeltest.New(e.t, modeltest.Reply{Text: []string{"Fine."}})
	other := thinking(newEditor(e.t), m)
	other.prints("session", "import", other.file("export.json", out))
	if out, diag := other.outputs("run", "--session", session, "go on"); !strings.Contains(out, "Fine.") || len(m.Rejected()) > 0 {
		e.t.Errorf("the session goes on elsewhere with %q and %s; rejected: %q", out, diag, m.Rejected())
	}
}

// C106 (R-HARN-31, R-HARN-15): a turn with a signed thought and a call, then a model
// of the same family, one of another, and the first again. Each request that follows
// a switch is taken as it is, has all texts, calls and results, and of the thoughts
// those of its own model alone.
func TestC106SignaturesOfOtherModels(t *testing.T) {
	t.Parallel()
	for _, p := range thinkers() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			m := modeltest.New(t)
			e := thinking(newEditor(t), m)
			e.seed("a.txt", "the walrus\n")
			e.acp("--model", p.model)
			s := e.open(nil)
			by := []string{p.model, p.sibling, p.elsewhere(), p.model, p.sibling}
			for i, ref := range by {
				if i > 0 {
					e.choose(s, "model", ref)
				}
				look := modeltest.Reply{Think: []string{"so thinks " + ref}}
				if strings.HasPrefix(ref, p.name) {
					look = p.thinks("so thinks " + ref)
				}
				look.Text, look.Tools = []string{fmt.Sprint("I look, ", i)}, []modeltest.Tool{tool("read", object{"path": "a.txt"}), tool("glob", object{"pattern": "*"})}
				m.Add(look, modeltest.Reply{Text: []string{fmt.Sprint("Seen, ", i)}})
				if stop := e.prompt(s, fmt.Sprint("turn ", i)); stop != "end_turn" {
					t.Fatalf("stop reason = %s, want end_turn", stop)
				}
			}
			requests := m.Requests()
			if got := m.Rejected(); len(got) > 0 || len(requests) != 2*len(by) {
				t.Fatalf("rejected: %q; %d requests, want %d", got, len(requests), 2*len(by))
			}
			for i, r := range requests {
				for _, ref := range []string{p.model, p.sibling} {
					own := ref == by[i/2]
					want := own && (i%2 == 1 || i > 5) // it has thought before
					if got := p.remembers(r.Body, ref, "so thinks "+ref); got != want {
						t.Errorf("request %d, to %s, has the thought of %s: %v, want %v\n%s", i+1, by[i/2], ref, got, want, r.Body)
					}
					if !own && bytes.Contains(r.Body, []byte("so thinks "+ref)) {
						t.Errorf("request %d, to %s, has a thought of %s", i+1, by[i/2], ref)
					}
				}
			}
			for i, r := range e.requests(s) {
				for _, m := range r.Messages {
					for _, part := range m.Parts {
						if part.Provider != "" && part.Provider != by[i/2] {
							t.Errorf("request %d, to %s, has a %s that %s has signed", i+1, by[i/2], part.Type, part.Provider)
						}
					}
				}
				var want []string
				for turn := range i/2 + 1 {
					want = append(want, fmt.Sprint("turn ", turn))
					if 2*turn < i {
						want = append(want, fmt.Sprint("I look, ", turn))
					}
					if 2*turn+1 < i {
						want = append(want, fmt.Sprint("Seen, ", turn))
					}
				}
				checkOnce(t, r, want)
				if n := (i + 1) / 2 * 2; r.count("tool_call") != n || r.count("tool_result") != n {
					t.Errorf("request %d has %d calls and %d results, want %d of each", i+1, r.count("tool_call"), r.count("tool_result"), n)
				}
			}
		})
	}
}

// C106, another way to it: the user configures another protocol for a provider, so that
// the same model gets what it said in the other one. What belongs to that protocol is
// left out, and each request is taken.
func TestC106OtherProtocolForTheSameModel(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		model string
		kinds []string
	}{
		{"azure/gpt-5.6", []string{"openai-responses", "openai-chat", "openai-responses", "openai-chat"}},
		{gemini, []string{"gemini", "openai-chat", "gemini"}},
		{"ollama/" + modeltest.ModelID, []string{"ollama", "openai-chat", "openai-responses", "ollama"}},
	} {
		t.Run(tt.model, func(t *testing.T) {
			t.Parallel()
			m := modeltest.New(t)
			e := newEditor(t)
			e.seed("a.txt", "the walrus\n")
			name, _, _ := strings.Cut(tt.model, "/")
			e.env = []string{"ALL_KEY=sk-test-0123456789"}
			configure := func(kind string) {
				for _, p := range modeltest.Protocols() {
					if p.Name == kind {
						e.file(configFile, fmt.Sprintf("[providers.%s]\nkind = %q\nbase_url = %q\napi_key_env = \"ALL_KEY\"\n", name, kind, p.URL(m)))
					}
				}
			}
			configure(tt.kinds[0])
			e.acp("--model", tt.model)
			s := e.open(nil)
			for i, kind := range tt.kinds {
				configure(kind)
				m.Add(
					modeltest.Reply{Think: []string{"hm"}, Text: []string{fmt.Sprint("I look, ", i)}, Tools: []modeltest.Tool{tool("read", object{"path": "a.txt"}), tool("glob", object{"pattern": "*"})}},
					modeltest.Reply{Text: []string{fmt.Sprint("Seen, ", i)}})
				if stop := e.prompt(s, "go on"); stop != "end_turn" {
					t.Errorf("stop reason = %s, want end_turn", stop)
				}
			}
			paths := map[string]bool{}
			for _, r := range m.Requests() {
				paths[r.Path] = true
			}
			if len(m.Rejected()) > 0 || len(paths) < 2 {
				t.Errorf("rejected: %q; routes: %v, want one of each protocol", m.Rejected(), paths)
			}
			last := e.lastRequest(s)
			checkResults(t, last)
			if n := 2 * len(tt.kinds); last.count("tool_call") != n {
				t.Errorf("the last request has %d calls, want %d", last.count("tool_call"), n)
			}
		})
	}
}
