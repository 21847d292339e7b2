//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// signs is a thread whose inputs change one at a time. Its two providers differ in
// nothing but their names, as their models do.
type signs struct {
	*editor
	session string
	servers []*modeltest.Server // the one in use, and another
	base    printed             // before the first change, and after each way back
}

// newSigns opens the thread and has it answer twice, so that its harness is in use.
func newSigns(t *testing.T) *signs {
	t.Helper()
	m := modeltest.New(t)
	e := newEditor(t)
	e.file(".config/lorimer/key", "key-of-the-house-1\n")
	config := "model = \"house/m1\"\n"
	models := ""
	for _, name := range []string{"house", "other"} {
		config += fmt.Sprintf("[providers.%s]\nkind = \"openai-chat\"\nmodel = \"m1\"\nbase_url = %q\napi_key_file = \"key\"\n", name, m.OpenAI())
		for _, id := range []string{"m1", "m2"} {
			models += fmt.Sprintf("[models.\"%s/%s\"]\nname = \"Walrus\"\nwindow = 50000\nefforts = [\"low\", \"high\", \"xhigh\", \"max\"]\n", name, id)
		}
	}
	e.file(configFile, config)
	e.file(profilesFile, models)
	e.acp()
	s := &signs{editor: e, session: e.open(nil), servers: []*modeltest.Server{m, modeltest.New(t)}}
	s.turn("built")
	s.turn("reused")
	s.base = s.printed()
	return s
}

// turn sends a message, of whose harness the trace says this.
func (s *signs) turn(want string) turnLine {
	s.t.Helper()
	for _, m := range s.servers {
		m.Add(modeltest.Reply{Text: []string{fmt.Sprint("answer ", len(s.heard()))}}) // no two alike
	}
	if stop := s.prompt(s.session, "go on"); stop != "end_turn" {
		s.t.Fatalf("stop reason = %s, want end_turn", stop)
	}
	turns := s.turns(s.session)
	last := turns[len(turns)-1]
	if got := strings.TrimSpace(last.Harness + " " + strings.Join(last.Changed, " ")); got != want {
		s.t.Errorf("the harness was %q, want %q", got, want)
	}
	return last
}

// alone makes a change, which is the one reason to rebuild, for the next message
// only, takes it back, which is another, and compares what is printed of it.
func (s *signs) alone(want string, change, back func()) {
	s.t.Helper()
	before := s.base
	change()
	after := s.printed()
	if got := strings.Join(before.differ(after), " "); got != want || before.Digest == after.Digest {
		s.t.Errorf("lorimer prompt signature differs in %q, and in its digest: %v; want %q", got, before.Digest != after.Digest, want)
	}
	changed := s.turn("rebuilt " + want)
	s.turn("reused")
	back()
	if again := s.turn("rebuilt " + want); again.Signature != before.Digest || changed.Signature != after.Digest {
		s.t.Errorf("signatures of the turns = %s, then %s; printed were %s, then %s", changed.Signature, again.Signature, after.Digest, before.Digest)
	}
	for _, m := range s.servers {
		if got := m.Rejected(); len(got) > 0 {
			s.t.Errorf("rejected: %q", got)
		}
	}
}

// printed is what lorimer prompt signature prints of the thread.
func (s *signs) printed() printed { return signature(s.editor, "--session", s.session) }

// edits replaces a text in a file below the home of the agent, and back.
func (s *signs) edits(name, old, new string) (change, back func()) {
	s.t.Helper()
	p, err := os.ReadFile(filepath.Join(s.home, name))
	if err != nil {
		s.t.Fatal(err)
	}
	before := string(p)
	after := strings.Replace(before, old, new, 1)
	if after == before {
		s.t.Fatalf("%s lacks %q:\n%s", name, old, before)
	}
	return func() { s.file(name, after) }, func() { s.file(name, before) }
}

// Row 34 (R-HARN-02, R-HARN-04): each input that the files decide, changed alone,
// has the next send build anew, and so has its way back. The name is that of the input
// and no other; nobody says a word.
func TestRow034FilesOfTheUser(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, file, old, new, want string }{
		{"kind", configFile, `kind = "openai-chat"`, `kind = "openai-responses"`, "kind"},
		{"base URL", configFile, "", "", "baseUrl"},
		{"key", ".config/lorimer/key", "house-1", "house-2", "key"},
		{"headers", configFile, "model = \"m1\"", "headers = { X-Team = \"blue\" }\nmodel = \"m1\"", "setup"},
		{"form of calls", configFile, "model", "history.cross_vendor = \"text\"\nmodel", "setup"},
		{"window", profilesFile, "window = 50000", "window = 60000", "window"},
		{"output", profilesFile, "window = 50000", "window = 50000\noutput = 4000", "setup"},
		{"images", profilesFile, "window = 50000", "window = 50000\nimages = true", "images"},
		{"tools", profilesFile, "window = 50000", "window = 50000\ntool_usage = 0", "tools stablePrompt"},
		{"reasoning", profilesFile, `efforts = ["low", "high", "xhigh", "max"]`, "thinks = false", "reasoning"},
		{"name", profilesFile, "Walrus", "Seal", "stablePrompt"},
		{"style", profilesFile, "window = 50000", "window = 50000\nchat_mode_addendum = \"Rhyme.\"", "stablePrompt"},
	}
	for part := range slices.Chunk(tests, 4) {
		t.Run(part[0].name+" and more", func(t *testing.T) {
			t.Parallel()
			s := newSigns(t)
			for _, tt := range part {
				if tt.name == "base URL" {
					tt.old, tt.new = s.servers[0].OpenAI(), s.servers[1].OpenAI()
				}
				change, back := s.edits(tt.file, tt.old, tt.new)
				s.alone(tt.want, change, back)
			}
		})
	}
}

// Row 34: the same of what the session is asked for, and of what stands beside it: the
// project and the skills.
func TestRow034SessionAndProject(t *testing.T) {
	t.Parallel()
	options := func(s *signs, option, value, back string) (func(), func()) {
		return func() { s.choose(s.session, option, value) }, func() { s.choose(s.session, option, back) }
	}
	t.Run("options", func(t *testing.T) {
		t.Parallel()
		s := newSigns(t)
		for _, tt := range []struct{ option, value, back, want string }{
			{"model", "other/m1", "house/m1", "provider"},
			{"model", "house/m2", "house/m1", "model"},
			{"thinking", "xhigh", "default", "thinking"},
			{"thinking", "off", "default", "reasoning thinking"},
			{"citations", "linked", "registry", "citations stablePrompt"},
			{"tools", "off", "on", "tools stablePrompt"},
		} {
			change, back := options(s, tt.option, tt.value, tt.back)
			s.alone(tt.want, change, back)
		}
	})
	t.Run("project and skills", func(t *testing.T) {
		t.Parallel()
		s := newSigns(t)
		id := ""
		s.alone("stablePrompt", func() {
			id = strings.TrimSpace(s.prints("project", "add", "Web shop", "--instructions", "Prices are in cents."))
		}, func() { s.prints("project", "delete", id) })
		disabled, enabled := s.edits(configFile, "model", "skills.disabled = [\"search\"]\nmodel")
		s.alone("stablePrompt", disabled, enabled)
	})
	t.Run("a repeat", func(t *testing.T) {
		t.Parallel()
		s := newSigns(t)
		before := s.base
		s.servers[0].Add(modeltest.Reply{Text: []string{"another"}})
		s.prompt(s.session, "/retry")
		if got := s.changes(s.session); !slices.Equal(got, []string{"built", "reused", "rebuilt revision"}) {
			t.Errorf("harnesses = %q, want one built anew for the revision", got)
		}
		if got := before.differ(s.printed()); !slices.Equal(got, []string{"revision"}) {
			t.Errorf("lorimer prompt signature differs in %q, want revision", got)
		}
		s.turn("reused")
	})
}

// Row 34: each effort that a model has is an input, to the strongest, over every
// protocol; one that the next model lacks is the nearest that it has, and no other
// change. Chosen again, nothing is built.
func TestRow034EachEffort(t *testing.T) {
	t.Parallel()
	levels := map[string][]string{
		"openai":    {"default", "off", "low", "medium", "high", "xhigh"},
		"anthropic": {"default", "off", "low", "medium", "high", "xhigh", "max"},
		"responses": {"default", "off", "low", "medium", "high", "xhigh", "max"},
		"gemini":    {"default", "off", "minimal", "low", "medium", "high"},
		"ollama":    {"default", "off", "low", "medium", "high"},
	}
	for _, p := range allProviders() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			m := modeltest.New(t, modeltest.Reply{Text: []string{"fine"}, Repeat: -1})
			e := newEditor(t).reachesAll(m)
			e.acp("--model", p.model)
			e.call("initialize", object{"protocolVersion": 1}, nil)
			state := e.newState()
			s := state.SessionID
			if p.name == "ollama" { // its server is asked when it is first needed
				if state.thinking() != nil {
					t.Errorf("efforts = %q before anybody knows", state.thinking())
				}
				e.prompt(s, "hello")
				f := e.until("options that are known", func(f frameIn) bool { return strings.Contains(f.Raw, `"config_option_update"`) })
				var told struct{ Update sessionState }
				if err := json.Unmarshal(f.Params, &told); err != nil {
					t.Fatal(err)
				}
				state = told.Update
			}
			efforts := state.thinking()
			if !slices.Equal(efforts, levels[p.name]) {
				t.Errorf("efforts = %q, want %q", efforts, levels[p.name])
			}
			seen := map[string]string{}
			for _, effort := range efforts {
				e.choose(s, "thinking", effort)
				e.prompt(s, "go on")
				e.choose(s, "thinking", effort)
				e.prompt(s, "go on")
				turns := e.turns(s)
				last := turns[len(turns)-2:]
				if last[1].Harness != "reused" || effort != "default" && !slices.Contains(last[0].Changed, "thinking") {
					t.Errorf("%s: %+v, want a harness that is rebuilt for it, then reused", effort, last)
				}
				if other, ok := seen[last[0].Signature]; ok {
					t.Errorf("%s and %s have one signature", effort, other)
				}
				seen[last[0].Signature] = effort
				if got := e.lastRequest(s).Effort; effort != "default" && got != effort {
					t.Errorf("the request has the effort %q, want %s", got, effort)
				}
			}
			if got := m.Rejected(); len(got) > 0 {
				t.Errorf("rejected: %q", got)
			}
		})
	}
}

// thinking returns the efforts to choose from, nil for a model that has none.
func (s sessionState) thinking() []string {
	for _, o := range s.ConfigOptions {
		if o.ID == "thinking" {
			return o.values()
		}
	}
	return nil
}

// Row 34: an effort that the model lacks is lowered, which shows in the signature;
// two that come to the same are one.
func TestRow034LoweredEffort(t *testing.T) {
	t.Parallel()
	s := newSigns(t)
	s.choose(s.session, "thinking", "max")
	s.turn("rebuilt thinking")
	s.base = s.printed()
	change, back := s.edits(profilesFile, `"xhigh", "max"`, `"xhigh"`)
	s.alone("thinking", change, back)
	s.choose(s.session, "thinking", "xhigh")
	s.turn("rebuilt thinking")
	change, _ = s.edits(profilesFile, `"xhigh", "max"`, `"xhigh"`)
	change()
	s.turn("reused")
	want := []string{"", "", "max", "xhigh", "xhigh", "max", "xhigh", "xhigh"}
	var got []string
	for _, r := range s.requests(s.session) {
		got = append(got, r.Effort)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("efforts of the requests (-want +got):\n%s", diff)
	}
}
