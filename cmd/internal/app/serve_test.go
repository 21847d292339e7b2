package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"

	"github.com/lorimer-dev/lorimer/cmd/internal/config"
	"github.com/lorimer-dev/lorimer/mcpbridge/serve"
	"github.com/lorimer-dev/lorimer/tools"
)

// A served is a desk in a directory, and how often something was opened for it.
type served struct {
	*Desk
	t     *testing.T
	flags map[string]string
	home  string

	mu     sync.Mutex // guards the fields below
	opened []Keep
	err    error // of the next that is opened
}

func newServed(t *testing.T, o Offer, flags map[string]string) *served {
	t.Helper()
	s := &served{t: t, flags: flags, home: t.TempDir()}
	s.write("work/notes.txt", "first line\n")
	s.write(".config/lorimer/config.toml", "model = \"offline\"\nmode = \"auto\"\n")
	s.Desk = NewDesk(DeskOptions{Offer: o, Dir: filepath.Join(s.home, "work"), Log: zerolog.Nop(), Open: s.open})
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if err := s.Close(ctx); err != nil {
			t.Error(err)
		}
		if _, err := s.Prompts(ctx); err == nil {
			t.Error("a closed desk has prompts")
		}
	})
	return s
}

func (s *served) write(name, content string) {
	s.t.Helper()
	path := filepath.Join(s.home, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o600)); err != nil {
		s.t.Fatal(err)
	}
}

func (s *served) open(keep Keep) (*App, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened = append(s.opened, keep)
	if err := s.err; err != nil {
		s.err = nil
		return nil, err
	}
	return Open(Options{
		Sources: config.Sources{Home: s.home, Flags: s.flags}, Keep: keep, Log: zerolog.Nop(),
		Warn: func(w config.Warning) { s.t.Errorf("warning: %v", w) },
	})
}

// names lists the tools.
func (s *served) names() []string {
	s.t.Helper()
	all, err := s.Tools(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	var names []string
	for _, t := range all {
		names = append(names, t.Name)
	}
	return names
}

// call calls a tool and returns what the model reads, and what is told meanwhile.
func (s *served) call(tool, arguments string) (text string, told []string, err error) {
	r, err := s.Call(s.t.Context(), serve.Call{Tool: tool, Arguments: []byte(arguments), Progress: func(p serve.Progress) { told = append(told, p.Message) }, Log: func(serve.Level, string) {}})
	for _, b := range r.Blocks {
		text += b.Text
	}
	return text, told, err
}

// ask asks the agent.
func (s *served) ask(prompt, session string) (serve.Answer, error) {
	return s.Ask(s.t.Context(), serve.Question{Prompt: prompt, Session: session}, serve.Watcher{
		Text: func(string) {}, Does: func(string) {}, Log: func(serve.Level, string) {},
	})
}

func TestDeskOpensNothingBeforeItIsAsked(t *testing.T) {
	s := newServed(t, Offer{Workspace: true, Skills: true, Servers: true, Agent: true}, nil)
	if text := s.Instructions(); !strings.Contains(text, filepath.Join(s.home, "work")) {
		t.Errorf("instructions %q", text)
	}
	s.Watch(func() { t.Error("something has changed") })()
	if len(s.opened) > 0 {
		t.Errorf("opened %v", s.opened)
	}
	s.err = errors.New("broken pipe of the disk")
	if _, err := s.Tools(t.Context()); err == nil || strings.Contains(tools.ErrorText(err), "log") {
		t.Errorf("Tools = %v, want what is wrong", err)
	}
	if got := s.names(); !slices.Equal(got, []string{"glob", "grep", "read"}) {
		t.Errorf("tools %q", got)
	}
	if _, err := s.ask("read notes.txt", ""); err != nil {
		t.Error(err)
	}
	if !slices.Equal(s.opened, []Keep{Apart, Apart, Stored}) {
		t.Errorf("opened %v, want the tools apart, twice, and the agent stored", s.opened)
	}
}

func TestDeskOffersWhatItIsToldTo(t *testing.T) {
	tests := []struct {
		name   string
		offer  Offer
		mode   string
		want   string
		effect tools.Effect // of the agent
	}{
		{"read-only", Offer{Workspace: true}, "", "glob grep read", tools.Reads | tools.Fetches},
		{"all modes that can change something", Offer{Workspace: true}, "ask", "bash edit glob grep read write", tools.Acts},
		{"servers alone", Offer{Servers: true}, "auto", "", tools.Acts},
		{"nothing", Offer{}, "", "", tools.Reads | tools.Fetches},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			flags := map[string]string{}
			if tt.mode != "" {
				flags["mode"] = tt.mode
			}
			s := newServed(t, tt.offer, flags)
			if got := strings.Join(s.names(), " "); got != tt.want {
				t.Errorf("tools %q, want %q", got, tt.want)
			}
			if got, err := s.Effect(t.Context()); err != nil || got != tt.effect {
				t.Errorf("effect %v, %v, want %v", got, err, tt.effect)
			}
			if _, _, err := s.call("ask_user", "{}"); !errors.Is(err, serve.ErrNone) {
				t.Errorf("a tool of conversations gives %v", err)
			}
		})
	}
}

func TestDeskCalls(t *testing.T) {
	s := newServed(t, Offer{Workspace: true}, map[string]string{"mode": "auto"})
	if text, told, err := s.call("read", `{"path":"notes.txt"}`); err != nil || text != "1\tfirst line\n" || !slices.Equal(told, []string{"read: notes.txt"}) {
		t.Errorf("read = %q, %v, told %q", text, err, told)
	}
	if _, told, err := s.call("bash", `{"command":"echo one; echo two","description":"x"}`); err != nil || len(told) < 2 || told[len(told)-1] != "two" {
		t.Errorf("bash tells %q, %v", told, err)
	}
	if _, _, err := s.call("read", `{"path":1}`); !strings.Contains(tools.ErrorText(err), "does not fit its schema") {
		t.Errorf("read of a number = %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Call(ctx, serve.Call{Tool: "read", Arguments: []byte(`{"path":"notes.txt"}`)}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled call = %v", err)
	}
}

// Sessions stay open while there are few, and go on when they were closed for others.
func TestDeskKeepsFewSessions(t *testing.T) {
	s := newServed(t, Offer{Agent: true}, nil)
	var ids []string
	for range maxTalks + 3 {
		a, err := s.ask("read notes.txt", "")
		if err != nil || !strings.Contains(a.Text, "first line") || a.Stop != "end_turn" {
			t.Fatalf("answer %+v, %v", a, err)
		}
		ids = append(ids, a.Session)
	}
	for _, id := range []string{ids[0], ids[len(ids)-1], ids[0]} {
		if a, err := s.ask("stream 2 words", id); err != nil || a.Session != id {
			t.Errorf("session %s goes on as %+v, %v", id, a, err)
		}
	}
	c := s.chat.value
	if len(c.talks) != maxTalks {
		t.Errorf("%d sessions are open, want %d", len(c.talks), maxTalks)
	}
	if got := c.talks[len(c.talks)-1].session.ID(); got != ids[0] {
		t.Errorf("used last is %s, want %s", got, ids[0])
	}
}

// Questions of one session are answered one after the other, those of others at once,
// and a session is not opened twice.
func TestDeskIsAskedByMany(t *testing.T) {
	s := newServed(t, Offer{Agent: true}, nil)
	first, err := s.ask("read notes.txt", "")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			session := ""
			if i%2 == 0 {
				session = first.Session
			}
			a, err := s.ask(fmt.Sprintf("stream %d words", i+1), session)
			if err != nil || strings.Count(a.Text, "word") != i+1 || session != "" && a.Session != session {
				t.Errorf("answer %d: %+v, %v", i, a, err)
			}
		})
	}
	wg.Wait()
	count := 0
	for _, talk := range s.chat.value.talks {
		if talk.session.ID() == first.Session {
			count++
		}
		if talk.users != 0 {
			t.Errorf("session %s has %d users", talk.session.ID(), talk.users)
		}
	}
	if count > 1 {
		t.Errorf("session %s is open %d times", first.Session, count)
	}
}

// The mode that is served holds in a session that had another, and what fails is told.
func TestDeskMode(t *testing.T) {
	s := newServed(t, Offer{Agent: true}, map[string]string{"mode": "accept-edits"})
	a, err := s.ask("write made.txt: by the agent", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(s.home, "work", "made.txt")); err != nil {
		t.Errorf("%v: %s", err, a.Text)
	}
	s.flags = nil
	other := NewDesk(s.o)
	defer other.Close(t.Context())
	again := &served{Desk: other, t: t}
	b, err := again.ask("write more.txt: by the agent", a.Session)
	if err != nil || b.Session != a.Session {
		t.Fatalf("%+v, %v", b, err)
	}
	if _, err := os.Stat(filepath.Join(s.home, "work", "more.txt")); err == nil {
		t.Errorf("read-only wrote a file: %s", b.Text)
	}
	for _, id := range []string{"none", "../x", strings.Repeat("x", 300)} {
		if _, err := again.ask("x", id); !strings.Contains(tools.ErrorText(err), "there is no session") {
			t.Errorf("session %.20s = %v", id, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = other.Ask(ctx, serve.Question{Prompt: "stream 100000 words"}, serve.Watcher{
		Text: func(string) { cancel() }, Does: func(string) {}, Log: func(serve.Level, string) {},
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled turn = %v", err)
	}
}

// Skills are prompts, the user's own among them, and what is not on offer is not there.
func TestDeskPrompts(t *testing.T) {
	s := newServed(t, Offer{Skills: true}, nil)
	s.write(".config/lorimer/skills/mine/SKILL.md", "---\nname: mine\ndescription: For my things\n---\nDo it slowly.\n")
	all, err := s.Prompts(t.Context())
	if err != nil || len(all) != 3 || all[0].Name != "mine" || all[0].Arguments[0].Name != "message" {
		t.Errorf("prompts %+v, %v", all, err)
	}
	parts, err := s.Prompt(t.Context(), "mine", map[string]string{"message": "the garden"})
	if err != nil || len(parts) != 1 || !strings.HasPrefix(parts[0].Text, "Do it slowly.") || !strings.HasSuffix(parts[0].Text, "\n\nthe garden") {
		t.Errorf("mine = %+v, %v", parts, err)
	}
	if _, err := s.Prompt(t.Context(), "none", nil); !errors.Is(err, serve.ErrNone) {
		t.Errorf("none = %v", err)
	}
	if _, err := s.Read(t.Context(), "memo://1"); !errors.Is(err, serve.ErrNone) {
		t.Errorf("a resource = %v", err)
	}
	if len(s.names()) > 0 {
		t.Error("there are tools")
	}
}
