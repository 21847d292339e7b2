//go:build unix

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

const always = `{"text": "fine", "repeat": true}`

// namespaced is _meta with a value under our key.
func namespaced(key string, value any) object {
	return object{"lorimer.dev": object{key: value}}
}

// Row 33 (R-HARN-01): at most one harness lives per thread.
func TestRow033OneHarnessPerThread(t *testing.T) {
	t.Parallel()
	e := edit(t, always)
	first := e.open(nil)
	second := e.session()
	for range 3 {
		for _, s := range []string{first, second} {
			if stop := e.prompt(s, "go on"); stop != "end_turn" {
				t.Fatalf("stop reason = %s, want end_turn", stop)
			}
		}
	}
	want := []string{"built", "reused", "reused"}
	for _, s := range []string{first, second} {
		if diff := cmp.Diff(want, e.harnesses(s)); diff != "" {
			t.Errorf("harnesses of a session (-want +got):\n%s", diff)
		}
	}
}

// Row 33: the key of a harness is the session id, which is refused before
// anything is made of it when it could name something else.
func TestRow033SessionIDs(t *testing.T) {
	t.Parallel()
	e := edit(t, always)
	e.open(nil)
	for _, id := range []string{".", "..", "../up", "a/b", `a\b`, "a b", "é", "a\x00b", strings.Repeat("x", 201)} {
		f := e.wait(e.send("session/new", object{"cwd": e.cwd, "_meta": namespaced("sessionId", id)}))
		if f.Error == nil || f.Error.Code != -32602 || !strings.Contains(f.Error.Message, "sessionId") {
			t.Errorf("session/new with id %q: %s, want -32602 that names sessionId", id, f.Raw)
		}
	}
	var s struct{ SessionID string }
	e.call("session/new", object{"cwd": e.cwd, "_meta": namespaced("sessionId", "A.b_c-9")}, &s)
	if s.SessionID != "A.b_c-9" {
		t.Errorf("session id = %q, want the wished A.b_c-9", s.SessionID)
	}
	f := e.wait(e.send("session/new", object{"cwd": e.cwd, "_meta": namespaced("sessionId", "A.b_c-9")}))
	if f.Error == nil || f.Error.Code != -32602 || !strings.Contains(f.Error.Message, "taken") {
		t.Errorf("session/new with a taken id: %s, want -32602 that says so", f.Raw)
	}
}

// A house is the configuration of a provider that the test runs itself.
type house struct {
	Model, Usual, BaseURL, KeyFile string
	More                           string // further lines, in front
}

func (h house) toml() string {
	return h.More + "model = \"" + h.Model + "\"\n[providers.house]\nkind = \"openai\"\nmodel = \"" + h.Usual +
		"\"\nbase_url = \"" + h.BaseURL + "\"\napi_key_file = \"" + h.KeyFile + "\"\n"
}

const configFile = ".config/lorimer/config.toml"

// Row 34 (R-HARN-02, R-HARN-04): what the configuration says and no file beside it:
// base URL, key and stable prompt. Each alone makes the next send rebuild, and so does
// its way back. TestRow034FilesOfTheUser and TestRow034SessionAndProject have the rest.
func TestRow034SignatureInputs(t *testing.T) {
	t.Parallel()
	reply := modeltest.Reply{Text: []string{"fine"}, Repeat: -1}
	here, there := modeltest.New(t, reply), modeltest.New(t, reply)
	base := house{Model: "house/m1", Usual: "m2", BaseURL: here.OpenAI(), KeyFile: "key"}
	tests := []struct {
		name   string
		change func(*house)
		want   []string
	}{
		{"base URL", func(h *house) { h.BaseURL = there.OpenAI() }, []string{"baseUrl"}},
		{"key", func(h *house) { h.KeyFile = "other" }, []string{"key"}},
		{"persona", func(h *house) { h.More = "persona = \"You are terse.\"\n" }, []string{"stablePrompt"}},
		{"name of the user", func(h *house) { h.More = "context.name = \"Ada\"\n" }, []string{"stablePrompt"}},
		{"units", func(h *house) { h.More = "context.units = \"metric\"\n" }, []string{"stablePrompt"}},
		{"locale", func(h *house) { h.More = "locale = \"tr\"\n" }, []string{"stablePrompt"}},
		{"section", func(h *house) {
			h.More = "section = [{name = \"house\", order = 120, text = \"Rules of the house.\"}]\n"
		},
			[]string{"stablePrompt"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := newEditor(t)
			e.file(".config/lorimer/key", "key-of-the-house-1\n")
			e.file(".config/lorimer/other", "key-of-the-house-2\n")
			e.file(configFile, base.toml())
			changed := base
			tt.change(&changed)
			e.acp()
			s := e.open(nil)
			before := signature(e)
			e.prompt(s, "one")
			e.prompt(s, "two")
			e.file(configFile, changed.toml())
			after := signature(e)
			e.prompt(s, "three")
			e.prompt(s, "four")
			e.file(configFile, base.toml())
			e.prompt(s, "five")

			turns := e.turns(s)
			wantTurns := []turnLine{
				{Harness: "built"}, {Harness: "reused"},
				{Harness: "rebuilt", Changed: tt.want}, {Harness: "reused"},
				{Harness: "rebuilt", Changed: tt.want},
			}
			for i := range wantTurns {
				wantTurns[i].Session, wantTurns[i].Signature = s, turns[min(i, len(turns)-1)].Signature
			}
			if diff := cmp.Diff(wantTurns, turns); diff != "" {
				t.Errorf("turns (-want +got):\n%s", diff)
			}
			if turns[0].Signature != turns[4].Signature || turns[0].Signature == turns[2].Signature {
				t.Error("the signature must change, and be the old one again after the way back")
			}
			if before.Digest == after.Digest {
				t.Error("the digest of lorimer prompt signature did not change")
			}
			if got := before.differ(after); !slices.Equal(got, tt.want) {
				t.Errorf("parts of lorimer prompt signature that differ = %q, want %q", got, tt.want)
			}
		})
	}
}

// A printed signature is what "lorimer prompt signature --json" prints.
type printed struct {
	Parts  []struct{ Name, Value string }
	Digest string
	raw    string
}

// signature runs "lorimer prompt signature" in the home of the editor.
func signature(e *editor, flags ...string) (p printed) {
	e.t.Helper()
	out, err := e.run(append([]string{"prompt", "signature", "--json"}, flags...)...)
	if err != nil {
		e.t.Fatal(err)
	}
	if err := json.Unmarshal(out, &p); err != nil {
		e.t.Fatalf("%v: %s", err, out)
	}
	p.raw = string(out)
	return p
}

// run runs another lorimer with the home, workspace and environment of e.
func (e *editor) run(args ...string) ([]byte, error) {
	cmd := exec.CommandContext(e.t.Context(), "lorimer", args...)
	cmd.Dir = e.cwd
	cmd.Env = append([]string{"HOME=" + e.home, "PATH=" + os.Getenv("PATH"), raceOptions()}, e.env...)
	return cmd.Output()
}

func (p printed) differ(o printed) []string {
	var names []string
	for i := range p.Parts {
		if p.Parts[i] != o.Parts[i] {
			names = append(names, p.Parts[i].Name)
		}
	}
	return names
}

// Row 34: a new key under the same name is noticed without a word, and neither
// the trace nor the printed signature has it.
func TestRow034NewKeyInTheSameFile(t *testing.T) {
	t.Parallel()
	m := modeltest.New(t, modeltest.Reply{Text: []string{"fine"}, Repeat: -1})
	e := newEditor(t)
	e.file(configFile, house{Model: "house/m1", Usual: "m1", BaseURL: m.OpenAI(), KeyFile: "key"}.toml())
	keys := []string{"sk-first-0123456789", "sk-second-9876543210"}
	var prints []printed
	var s string
	for i, key := range keys {
		e.file(".config/lorimer/key", key+"\n")
		if i == 0 {
			e.acp()
			s = e.open(nil)
		}
		prints = append(prints, signature(e))
		e.prompt(s, "say "+key)
	}
	turns := e.turns(s)
	if len(turns) != 2 || turns[1].Harness != "rebuilt" || !slices.Equal(turns[1].Changed, []string{"key"}) {
		t.Errorf("turns = %+v, want built, then rebuilt for the key", turns)
	}
	if prints[0].Digest == prints[1].Digest {
		t.Error("the digest of lorimer prompt signature did not change with the key")
	}
	for i, r := range m.Requests() {
		if got := r.Header.Get("Authorization"); got != "Bearer "+keys[i] {
			t.Errorf("request %d: Authorization = %q, want the key of that time", i+1, got)
		}
	}
	trace, err := os.ReadFile(filepath.Join(e.home, "trace"))
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		if strings.Contains(string(trace), key) {
			t.Errorf("the trace has the key %s", key)
		}
		for _, p := range prints {
			if strings.Contains(p.raw, key) {
				t.Errorf("lorimer prompt signature prints the key %s", key)
			}
		}
	}
}

// Row 34: the options of the session that are inputs.
func TestRow034SessionOptions(t *testing.T) {
	t.Parallel()
	tests := []struct {
		option, value, back string
		want                []string
	}{
		{"thinking", "high", "default", []string{"thinking"}},
		{"thinking", "off", "default", []string{"reasoning", "thinking"}},
		{"model", "offline", "", []string{"kind", "model"}},
		{"tools", "off", "on", []string{"tools"}},
	}
	for _, tt := range tests {
		t.Run(tt.option+" "+tt.value, func(t *testing.T) {
			t.Parallel()
			e := edit(t, always)
			if tt.back == "" {
				tt.back = "script:" + filepath.Join(e.home, "script.jsonl")
			}
			s := e.open(nil)
			e.prompt(s, "one")
			e.choose(s, tt.option, tt.value)
			e.prompt(s, "two")
			e.choose(s, tt.option, tt.back)
			e.prompt(s, "three")
			turns := e.turns(s)
			if diff := cmp.Diff([]string{"built", "rebuilt", "rebuilt"}, e.harnesses(s)); diff != "" {
				t.Fatalf("harnesses (-want +got):\n%s", diff)
			}
			for _, l := range turns[1:] {
				for _, name := range tt.want {
					if !slices.Contains(l.Changed, name) {
						t.Errorf("changed = %q, want %q among them", l.Changed, name)
					}
				}
			}
			if turns[0].Signature != turns[2].Signature || turns[0].Signature == turns[1].Signature {
				t.Error("the signature must change, and be the old one again after the way back")
			}
		})
	}
}

// choose sets an option of a session.
func (e *editor) choose(session, option, value string) {
	e.t.Helper()
	e.call("session/set_config_option", object{"sessionId": session, "configId": option, "value": value}, nil)
}

// Row 35 (R-HARN-03): the permission mode, the date, the title of the client, the
// environment and the tools themselves are no reason to rebuild. Of MCP servers
// TestRow035Reconnected tells, of what goes with a single send
// TestRow035NotesAreNoInput.
func TestRow035SignatureExclusions(t *testing.T) {
	t.Parallel()
	t.Run("permission mode", func(t *testing.T) {
		t.Parallel()
		e := edit(t, always)
		s := e.open(nil)
		e.prompt(s, "one")
		for _, mode := range []string{"accept-edits", "auto", "read-only", "ask"} {
			e.call("session/set_mode", object{"sessionId": s, "modeId": mode}, nil)
			e.prompt(s, "in "+mode)
		}
		if diff := cmp.Diff([]string{"built", "reused", "reused", "reused", "reused"}, e.harnesses(s)); diff != "" {
			t.Errorf("harnesses (-want +got):\n%s", diff)
		}
	})
	t.Run("the date", func(t *testing.T) {
		t.Parallel()
		e := edit(t, always, "--clock", "2026-12-31T23:30:00Z", "--clock-step", "1h", "--tz", "UTC")
		s := e.open(nil)
		for range 3 {
			e.prompt(s, "what day is it?")
		}
		if diff := cmp.Diff([]string{"built", "reused", "reused"}, e.harnesses(s)); diff != "" {
			t.Errorf("harnesses (-want +got):\n%s", diff)
		}
		last := e.lastRequest(s)
		var told []bool
		for _, m := range last.Messages {
			if m.Role == "user" {
				told = append(told, strings.Contains(m.text(), "2026"), strings.Contains(m.text(), "2027"))
			}
		}
		if !slices.Equal(told, []bool{true, false, false, true, false, true}) {
			t.Errorf("years in the messages of the user = %v, want 2026, 2027, 2027: %+v", told, last.Messages)
		}
	})
	t.Run("tools", func(t *testing.T) {
		t.Parallel()
		e := edit(t, `{"tools": [{"name": "read", "args": {"path": "a.txt"}}], "match": {"contains": "look"}, "repeat": 2}
{"text": "seen", "repeat": true}`)
		s := e.open(nil)
		for _, content := range []string{"first content", "second content"} {
			if err := os.WriteFile(filepath.Join(e.cwd, "a.txt"), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			e.prompt(s, "look")
			msgs := e.lastRequest(s).Messages
			if got := msgs[len(msgs)-1].text(); !strings.Contains(got, content) {
				t.Errorf("the tool gave %q, want %q in it", got, content)
			}
		}
		if diff := cmp.Diff([]string{"built", "reused"}, e.harnesses(s)); diff != "" {
			t.Errorf("harnesses (-want +got):\n%s", diff)
		}
	})
	t.Run("client and directory", func(t *testing.T) {
		t.Parallel()
		script := filepath.Join(t.TempDir(), "script.jsonl")
		if err := os.WriteFile(script, []byte(always), 0o600); err != nil {
			t.Fatal(err)
		}
		var signatures, systems []string
		for _, client := range []string{"zed", "toad"} {
			e := edit(t, "", "--model", "script:"+script)
			e.call("initialize", object{"protocolVersion": 1, "clientInfo": object{"name": client, "version": "1." + client}}, nil)
			s := e.session()
			e.prompt(s, "hello")
			signatures = append(signatures, e.turns(s)[0].Signature)
			systems = append(systems, e.lastRequest(s).System)
			if !strings.Contains(systems[len(systems)-1], client) || !strings.Contains(systems[len(systems)-1], e.cwd) {
				t.Errorf("the prompt names neither %s nor %s: %s", client, e.cwd, systems[len(systems)-1])
			}
		}
		if signatures[0] != signatures[1] {
			t.Errorf("signatures of two clients = %q, want them equal", signatures)
		}
	})
}

// Row 36 (R-HARN-05): prompts that come together build once.
func TestRow036SharedBuild(t *testing.T) {
	t.Parallel()
	e := edit(t, always)
	s := e.open(nil)
	a, b := e.send("session/prompt", say(s, "one")), e.send("session/prompt", say(s, "two"))
	for _, id := range []int{a, b} {
		if f := e.wait(id); f.Error != nil {
			t.Errorf("prompt: %s", f.Raw)
		}
	}
	if diff := cmp.Diff([]string{"built", "reused"}, e.harnesses(s)); diff != "" {
		t.Errorf("harnesses (-want +got):\n%s", diff)
	}
}

// Row 36: a build that fails is forgotten. The next send builds again, and the
// thread is as good as before.
func TestRow036FailedBuild(t *testing.T) {
	t.Parallel()
	t.Run("at first", func(t *testing.T) {
		t.Parallel()
		e := edit(t, `{"fail_build": 2}`+"\n"+always)
		s := e.open(nil)
		for range 2 {
			f := e.wait(e.send("session/prompt", say(s, "one")))
			if f.Error == nil || code(f) != "MODEL_UNAVAILABLE" {
				t.Errorf("prompt without a model: %s, want MODEL_UNAVAILABLE", f.Raw)
			}
		}
		if stop := e.prompt(s, "three"); stop != "end_turn" {
			t.Errorf("stop reason = %s, want end_turn", stop)
		}
		if diff := cmp.Diff([]string{"built"}, e.harnesses(s)); diff != "" {
			t.Errorf("harnesses (-want +got):\n%s", diff)
		}
	})
	t.Run("of a rebuild", func(t *testing.T) {
		t.Parallel()
		e := edit(t, `{"text": "fine"}
{"fail_build": 1}
`+always)
		s := e.open(nil)
		e.prompt(s, "one")
		e.choose(s, "thinking", "high")
		if f := e.wait(e.send("session/prompt", say(s, "two"))); code(f) != "MODEL_UNAVAILABLE" {
			t.Errorf("prompt whose build fails: %s, want MODEL_UNAVAILABLE", f.Raw)
		}
		if stop := e.prompt(s, "three"); stop != "end_turn" {
			t.Errorf("stop reason = %s, want end_turn", stop)
		}
		if got := e.lastRequest(s).Messages; len(got) != 3 || !strings.Contains(got[0].text(), "one") || got[1].text() != "fine" {
			t.Errorf("messages after a failed build = %+v, want the first turn and the new message", got)
		}
	})
}

// code returns the stable name of the failure in an answer, "" without one.
func code(f frameIn) string {
	if f.Error == nil {
		return ""
	}
	var d struct{ Code string }
	if json.Unmarshal(f.Error.Data, &d) != nil {
		return ""
	}
	return d.Code
}
