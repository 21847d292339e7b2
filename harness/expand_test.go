package harness_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/prompt"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/server"
	"github.com/lorimer-dev/lorimer/tools/toolstest"
)

// greeting is servers with the prompt greet, which says what it was given.
func greeting() *toolstest.Servers {
	return &toolstest.Servers{
		StatusList: []server.Status{{Name: "My server", Prefix: "my_server", State: server.Connected}},
		PromptList: []server.Prompt{{
			Command: "my_server_greet", Server: "My server", Name: "greet", Description: "Greets",
			Arguments: []server.Argument{{Name: "name", Required: true}, {Name: "style"}},
		}},
		OnPrompt: func(_ context.Context, command string, arguments map[string]string) ([]server.Part, error) {
			return []server.Part{{Role: "user", Text: fmt.Sprint(command, " ", arguments)}}, nil
		},
	}
}

func TestPromptsAreCommands(t *testing.T) { // R-ACP-14
	f := newFixture()
	f.settings.facts.Skills = abc()[1:2]
	set := greeting()
	list := set.PromptList
	set.PromptList = nil
	changes := 0
	s := f.open(t, serving(set), func(sp *harness.Spec) { sp.Changed = func() { changes++ } })
	names := func() (out []string) {
		for _, c := range s.Commands() {
			out = append(out, c.Name)
		}
		return out
	}
	set.PromptList = append(list, server.Prompt{Command: "retry", Server: "x", Name: "y"}, server.Prompt{Command: "x_y", Server: "x", Name: "y"})
	set.Change()
	set.Change() // nothing is different
	if want := []string{"retry", "usage", "mcp", "resources", "help", "a", "my_server_greet", "x_y"}; !cmp.Equal(want, names()) || changes != 1 {
		t.Errorf("commands = %q after %d changes, want %q after one", names(), changes, want)
	}
	all := s.Commands()
	if diff := cmp.Diff([]harness.Command{
		{Name: "my_server_greet", Description: "Greets", Hint: "name=… [style=…]"}, {Name: "x_y", Description: "The prompt y of x"},
	}, all[len(all)-2:]); diff != "" {
		t.Errorf("prompts (-want +got):\n%s", diff)
	}
	set.PromptList = nil
	set.Change()
	if changes != 2 || len(s.Commands()) != 6 {
		t.Errorf("after the prompts are gone: %q after %d changes", names(), changes)
	}
}

func TestPromptIsSentAndStored(t *testing.T) { // C-27, R-HARN-14
	f := newFixture()
	f.script.steps = []step{says("x")}
	set := greeting()
	s := f.open(t, serving(set))
	const text = "/my_server_greet \"Ada L.\" style=formal"
	ask(t, s, text)
	set.OnPrompt = func(context.Context, string, map[string]string) ([]server.Part, error) {
		return []server.Part{{Role: "user", Text: "changed"}}, nil
	}
	ask(t, s, "next")
	note := prompt.PromptNote("My server", "greet", []prompt.Message{{Role: "user", Text: "my_server_greet map[name:Ada L. style:formal]"}}).Text
	reqs := f.script.requests()
	if got := lastText(reqs[0]); !strings.HasPrefix(got, note+"\n\n"+text+"\n\n") {
		t.Errorf("the model gets %q, want %q before the text", got, note)
	}
	if reuse(t, reqs[0], reqs[1]) != 1 {
		t.Error("the prompt is not repeated byte for byte")
	}
	u := f.entries(t, s)[0].(thread.User)
	if diff := cmp.Diff([]event.Block{{Text: text}}, u.Blocks); diff != "" || !strings.HasPrefix(u.Sent[0].Text, note) {
		t.Errorf("stored as %+v (-want +got):\n%s", u.Sent, diff)
	}
}

// What a prompt holds beside text: resources by their addresses, pictures as such where
// the model sees them, and a line for what it cannot read.
func TestPromptOfManyParts(t *testing.T) { // R-MCP-17
	png := []byte("\x89PNG\r\n\x1a\n")
	for _, sees := range []bool{true, false} {
		f := newFixture()
		f.settings.model.Images = sees
		f.script.steps = []step{says("x")}
		set := greeting()
		set.OnPrompt = func(context.Context, string, map[string]string) ([]server.Part, error) {
			return []server.Part{
				{Role: "user", Text: "Look."}, {Role: "user", MIME: "image/png", Data: png}, {Role: "assistant", Text: "I do\xff."},
				{Role: "user", URI: "memo://1", Text: "memo"}, {Role: "user", MIME: "application/pdf", Data: []byte("%PDF")}, {Role: "user"},
			}, nil
		}
		s := f.open(t, serving(set))
		ask(t, s, "/my_server_greet x")
		m := f.script.requests()[0].Messages[0]
		want := prompt.PromptNote("My server", "greet", []prompt.Message{
			{Role: "user", Text: "Look."}, {Role: "user", Text: "[No text: image/png, 8 bytes]"}, {Role: "assistant", Text: "I do\uFFFD."},
			{Role: "user", URI: "memo://1", Text: "memo"}, {Role: "user", Text: "[No text: application/pdf, 4 bytes]"},
		}).Text
		if got := m.Parts[len(m.Parts)-1].(llms.TextContent).Text; !strings.HasPrefix(got, want+"\n\n") {
			t.Errorf("the model reads %q, want %q first", got, want)
		}
		_, picture := m.Parts[0].(model.Picture)
		if picture != sees || len(m.Parts) != map[bool]int{true: 2, false: 1}[sees] {
			t.Errorf("a model that sees: %v gets %d parts, the first a picture: %v", sees, len(m.Parts), picture)
		}
	}
}

func TestPromptThatIsNotToBeHad(t *testing.T) { // R-ACP-29
	tests := []struct {
		name   string
		text   string
		change func(*toolstest.Servers)
		says   string // "x" is the model
	}{
		{"a missing argument", "/my_server_greet", nil, "/my_server_greet needs the argument name. Write /my_server_greet name=… [style=…]."},
		{"the server says no", "/my_server_greet x", func(s *toolstest.Servers) {
			s.OnPrompt = func(context.Context, string, map[string]string) ([]server.Part, error) {
				return nil, tools.Publicf("the MCP server My server: no such name")
			}
		}, "the MCP server My server: no such name"},
		{"a fault", "/my_server_greet x", func(s *toolstest.Servers) {
			s.OnPrompt = func(context.Context, string, map[string]string) ([]server.Part, error) {
				return nil, errors.New("secret")
			}
		}, tools.ErrorText(errors.New("secret"))},
		{"nothing in it", "/my_server_greet x", func(s *toolstest.Servers) {
			s.OnPrompt = func(context.Context, string, map[string]string) ([]server.Part, error) { return nil, nil }
		}, "The prompt /my_server_greet of the MCP server My server is empty."},
		{"a server that is away", "/my_server_greet x", func(s *toolstest.Servers) {
			s.PromptList = nil
			s.StatusList[0].State, s.StatusList[0].LastError = server.Failed, "no route"
		}, "/my_server_greet would be a prompt of the MCP server My server, which is not connected (failed: no route). /mcp tells how the servers stand."},
		{"a name that no server has", "/my_server_other x", nil, "x"},
		{"a name of nobody", "/etc/passwd", nil, "x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture()
			f.script.steps = []step{says("x")}
			set := greeting()
			if tt.change != nil {
				tt.change(set)
			}
			s := f.open(t, serving(set))
			out, rec := ask(t, s, tt.text)
			if rec.text() != tt.says || out.Stop != harness.EndTurn {
				t.Errorf("the answer is %q (%s), want %q", rec.text(), out.Stop, tt.says)
			}
			if asked := len(f.script.requests()) > 0; asked != (tt.says == "x") || len(f.entries(t, s)) > 0 != asked {
				t.Errorf("the model was asked: %v; %d entries are stored", asked, len(f.entries(t, s)))
			}
		})
	}
}

// The prompts of a server that has just connected may come a moment after the message.
func TestPromptThatComesLate(t *testing.T) { // R-ACP-07
	tests := []struct {
		name  string
		after time.Duration
		waits time.Duration
		says  string // in the message for the model; "" is no prompt
	}{
		{"in time", 100 * time.Millisecond, 100 * time.Millisecond, "map[name:Ada]"},
		{"too late", time.Minute, time.Second, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture()
				f.script.steps = []step{says("x")}
				set := &lateServers{Servers: greeting(), from: time.Now().Add(tt.after)}
				s := f.open(t, serving(set))
				timer := time.AfterFunc(tt.after, set.Change)
				defer timer.Stop()
				start := time.Now()
				ask(t, s, "/my_server_greet Ada")
				if got := time.Since(start); got != tt.waits {
					t.Errorf("the message has waited %v, want %v", got, tt.waits)
				}
				if got := lastText(f.script.requests()[0]); strings.Contains(got, "<prompt") != (tt.says != "") || !strings.Contains(got, tt.says) {
					t.Errorf("the model gets %q, want %q in it", got, tt.says)
				}
			})
		})
	}
}

// lateServers have their prompts from a time on.
type lateServers struct {
	*toolstest.Servers
	from time.Time
}

func (s *lateServers) Prompts() []server.Prompt {
	if time.Now().Before(s.from) {
		return nil
	}
	return s.Servers.Prompts()
}

// A message that is answered anew has its prompt filled in anew, or keeps what it was
// sent as.
func TestPromptOfARetry(t *testing.T) { // R-HARN-26
	for _, gone := range []string{"no", "prompt", "server"} {
		f := newFixture()
		f.script.steps = []step{says("x")}
		set := greeting()
		s := f.open(t, serving(set))
		ask(t, s, "/my_server_greet x")
		want := "anew"
		if gone == "no" {
			set.OnPrompt = func(context.Context, string, map[string]string) ([]server.Part, error) {
				return []server.Part{{Role: "user", Text: "anew"}}, nil
			}
		} else {
			want = "map[name:x]"
			set.OnPrompt = nil
			if gone == "server" {
				set.PromptList, set.StatusList[0].State = nil, server.Failed
			}
		}
		if out, err := retry(t, s, &recorder{}); err != nil || out.Stop != harness.EndTurn {
			t.Fatal(out, err)
		}
		if got := lastText(f.script.requests()[1]); !strings.Contains(got, want) {
			t.Errorf("%s is gone: the model gets %q, want %q in it", gone, got, want)
		}
	}
}

// The pictures of a prompt and those of the user are kept apart when the message is
// answered anew, however many the server has then.
func TestPicturesOfAPromptOfARetry(t *testing.T) { // R-HARN-26
	png := func(mark byte) server.Part {
		return server.Part{Role: "user", MIME: "image/png", Data: []byte("\x89PNG\r\n\x1a\n" + string(mark))}
	}
	users := png('u').Data
	for _, tt := range []struct{ first, again string }{{"a", ""}, {"", "b"}, {"a", "b"}, {"a", "bc"}, {"ab", "c"}} {
		t.Run(tt.first+" then "+tt.again, func(t *testing.T) {
			f := newFixture()
			f.settings.model.Images = true
			f.script.steps = []step{says("x")}
			set := greeting()
			marks := tt.first
			set.OnPrompt = func(context.Context, string, map[string]string) (parts []server.Part, _ error) {
				for _, m := range []byte(marks) {
					parts = append(parts, png(m))
				}
				return append(parts, server.Part{Role: "user", Text: "Look."}), nil
			}
			s := f.open(t, serving(set))
			blocks(t, s, &recorder{}, event.Block{MIME: "image/png", Data: users}, event.Block{Text: "/my_server_greet x"})
			marks = tt.again
			for range 2 { // the second time of what the first has stored
				if _, err := retry(t, s, &recorder{}); err != nil {
					t.Fatal(err)
				}
			}
			for i, want := range []string{tt.first + "u", tt.again + "u", tt.again + "u"} {
				var got []byte
				for _, p := range f.script.requests()[i].Messages[0].Parts {
					switch p := p.(type) {
					case model.Picture:
						got = append(got, p.Data[len(p.Data)-1])
					case llms.BinaryContent:
						got = append(got, p.Data[len(p.Data)-1])
					}
				}
				if string(got) != want {
					t.Errorf("request %d has the pictures %q, want %q", i, got, want)
				}
			}
		})
	}
}

// A server cannot fill a conversation with pictures.
func TestPromptOfManyPictures(t *testing.T) {
	f := newFixture()
	f.settings.model.Images = true
	f.script.steps = []step{says("x")}
	set := greeting()
	set.OnPrompt = func(context.Context, string, map[string]string) ([]server.Part, error) {
		large := append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, 3<<20)...)
		return []server.Part{{MIME: "image/png", Data: large}, {MIME: "image/png", Data: large}}, nil
	}
	s := f.open(t, serving(set))
	ask(t, s, "/my_server_greet x")
	if got := len(f.script.requests()[0].Messages[0].Parts); got != 2 {
		t.Errorf("the message has %d parts, want one picture and the text", got)
	}
}
