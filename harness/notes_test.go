package harness_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	"github.com/lorimer-dev/lorimer/tools/budget"
	"github.com/lorimer-dev/lorimer/tools/server"
	"github.com/lorimer-dev/lorimer/tools/toolstest"
)

// abc are the skills a, b and c.
func abc() []prompt.Skill {
	var out []prompt.Skill
	for _, name := range []string{"c", "a", "b"} {
		out = append(out, prompt.Skill{Name: name, Description: "When to " + name, Instruction: "Do it as " + name + " says."})
	}
	return out
}

func skillNote(name string) string {
	return prompt.SkillNote(prompt.Skill{Name: name, Instruction: "Do it as " + name + " says."}).Text
}

// asking is a tool that the user answers.
func asking(question string, chosen ...string) tools.Tool {
	return toolstest.Answer("ask", tools.Result{Text: "answered", Answers: []tools.Answer{{Question: question, Chosen: chosen}}})
}

func answersNote(question string, chosen ...string) string {
	return prompt.AnswersNote([]prompt.Answer{{Question: question, Chosen: chosen}}).Text
}

// texts returns the text parts of a message.
func texts(m llms.MessageContent) []string {
	var out []string
	for _, p := range m.Parts {
		if p, ok := p.(llms.TextContent); ok {
			out = append(out, p.Text)
		}
	}
	return out
}

// lastText returns the last text of the user in a request.
func lastText(r *model.Request) string {
	for _, m := range slices.Backward(r.Messages) {
		if ts := texts(m); m.Role == llms.ChatMessageTypeHuman && len(ts) > 0 {
			return ts[len(ts)-1]
		}
	}
	return ""
}

func setOption(t *testing.T, s *harness.Session, id, value string) {
	t.Helper()
	if err := s.SetOption(t.Context(), id, value); err != nil {
		t.Fatal(err)
	}
}

func TestNotesOfAModelWithTools(t *testing.T) { // R-PROMPT-33, R-HARN-03, R-HARN-14
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(asking("Which one?", "this", "that"))
		f.settings.facts.Skills = abc()
		f.script.steps = []step{wants(want{"w", "ask", "{}"}), says("asked"), says("x")}
		s := f.open(t)
		ask(t, s, "one")
		setOption(t, s, harness.OptionVoice, harness.VoiceOn)
		const text = "/a /b /a /nothing /c. docs/c do it"
		ask(t, s, text)
		setOption(t, s, harness.OptionVoice, harness.VoiceOff)
		ask(t, s, "three")

		reqs := f.script.requests()
		want := strings.Join([]string{
			skillNote("a"), skillNote("b"), prompt.VoiceNote().Text, answersNote("Which one?", "this", "that"), text,
			prompt.DateNote(time.Now().UTC()),
		}, "\n\n")
		if diff := cmp.Diff(want, lastText(reqs[2])); diff != "" {
			t.Errorf("user turn (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(reqs[2].Messages, reqs[3].Messages[:len(reqs[2].Messages)]); diff != "" {
			t.Errorf("the next request does not repeat it (-then +now):\n%s", diff)
		}
		if got := lastText(reqs[3]); got != "three\n\n"+prompt.DateNote(time.Now().UTC()) {
			t.Errorf("the send after it carries %q", got)
		}
		if strings.Contains(reqs[2].System, "Do it as") || strings.Contains(reqs[2].System, "read aloud") {
			t.Error("a note is part of the system string")
		}
		var sent []thread.User
		for _, b := range f.entries(t, s) {
			if u, ok := b.(thread.User); ok {
				sent = append(sent, u)
			}
		}
		if diff := cmp.Diff([]event.Block{{Text: text}}, sent[1].Blocks); diff != "" {
			t.Errorf("displayed message (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]thread.Part{{Text: want}}, sent[1].Sent); diff != "" {
			t.Errorf("stored as sent (-want +got):\n%s", diff)
		}
		for i, tr := range f.traces {
			if want := map[bool]string{true: "built", false: "reused"}[i == 0]; tr.Harness != want {
				t.Errorf("send %d: %s %v, want %s", i+1, tr.Harness, tr.Changed, want)
			}
		}
	})
}

func TestNotesOfAModelWithoutTools(t *testing.T) { // R-PROMPT-32
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(asking("Which one?"))
		f.settings.facts.Skills = abc()
		f.script.steps = []step{wants(want{"w", "ask", "{}"}), says("asked"), says("x")}
		s := f.open(t)
		ask(t, s, "one")
		f.settings.model.NoTools = true
		setOption(t, s, harness.OptionVoice, harness.VoiceOn)
		for range 2 { // all that was answered in the thread is told with each send
			ask(t, s, "/a /b /a go")
			preview, err := s.Preview(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			reqs := f.script.requests()
			r := reqs[len(reqs)-1]
			tail := []string{prompt.DateNote(time.Now().UTC()), prompt.VoiceNote().Text, skillNote("a"), skillNote("b"), answersNote("Which one?")}
			if !strings.HasSuffix(r.System, "\n\n"+strings.Join(tail, "\n\n")) {
				t.Errorf("system:\n%s\nwant it to end with:\n%s", r.System, strings.Join(tail, "\n\n"))
			}
			if got := lastText(r); got != "/a /b /a go" {
				t.Errorf("user turn = %q, want the text alone", got)
			}
			if want := strings.Join(slices.Concat(tail[:2], tail[4:]), "\n\n"); !strings.HasSuffix(preview.System, want) {
				t.Error("a preview is not the next send, of a message that names no skill")
			}
		}
	})
}

// Each kind of note of the registry comes with a send, in the place that it has in
// either shape.
func TestAllNotesAreSent(t *testing.T) { // R-PROMPT-31
	synctest.Test(t, func(t *testing.T) {
		standard, err := prompt.Standard(prompt.Options{})
		if err != nil {
			t.Fatal(err)
		}
		marks := map[string]string{
			"answers": "Which one?", "date": prompt.DateNote(time.Now().UTC()), "skill": "as a says", "voice": "read aloud",
			"advice": "Call me often.", "prompt": "Greet Ada.",
		}
		ofServers := []string{"advice", "prompt"} // which are not asked for a model without tools (R-TOOLS-21)
		for _, shape := range []prompt.Shape{prompt.Harness, prompt.Stateless} {
			f := newFixture(asking("Which one?"))
			f.settings.facts.Skills = abc()
			f.script.steps = []step{wants(want{"w", "ask", "{}"}), says("asked"), says("x")}
			set := &toolstest.Servers{PromptList: []server.Prompt{{Command: "s_greet", Server: "s", Name: "greet"}}}
			set.OnPrompt = func(context.Context, string, map[string]string) ([]server.Part, error) {
				return []server.Part{{Role: "user", Text: "Greet Ada."}}, nil
			}
			s := f.open(t, serving(set))
			ask(t, s, "one")
			set.AdviceList = []server.Advice{{Server: "s", Prefix: "s", Text: "Call me often."}}
			f.settings.model.NoTools = shape == prompt.Stateless
			setOption(t, s, harness.OptionVoice, harness.VoiceOn)
			ask(t, s, "/s_greet /a go")
			r := f.script.requests()[2]
			for _, k := range standard.NoteKinds() {
				mark, ok := marks[k.Name()]
				if !ok {
					t.Errorf("no send of this test brings a note of the kind %s", k.Name())
				}
				if shape == prompt.Stateless && slices.Contains(ofServers, k.Name()) {
					if strings.Contains(r.System+lastText(r), mark) {
						t.Errorf("%s: the note %s was sent", shape, k.Name())
					}
					continue
				}
				system := k.Spot(shape).Place == prompt.PlaceSystem
				if strings.Contains(r.System, mark) != system || strings.Contains(lastText(r), mark) == system {
					t.Errorf("%s: the note %s is not in its place, or is twice", shape, k.Name())
				}
			}
		}
	})
}

func TestAnswersAreToldOnce(t *testing.T) { // R-PROMPT-35
	f := newFixture(asking("Which one?", "this"))
	f.script.steps = []step{says("no question"), wants(want{"w", "ask", "{}"}), says("asked"), says("x")}
	s := f.open(t)
	for _, text := range []string{"one", "two", "three", "four"} {
		ask(t, s, text)
	}
	if _, err := retry(t, s, &recorder{}); err != nil { // of what was asked nothing was answered anew
		t.Fatal(err)
	}
	note := answersNote("Which one?", "this")
	var got []bool
	for _, r := range f.script.requests() {
		got = append(got, strings.HasPrefix(lastText(r), note))
	}
	if want := []bool{false, false, false, true, false, false}; !slices.Equal(got, want) {
		t.Errorf("the note begins the last message of the requests: %v, want %v", got, want)
	}
	if got := f.entries(t, s)[4].(thread.Result).Answers; len(got) != 1 || got[0].Question != "Which one?" {
		t.Errorf("stored answers = %+v", got)
	}
}

// An answer that is asked for anew comes before the answers that its first attempt
// had.
func TestAnswersOfARetry(t *testing.T) { // R-PROMPT-35, R-HARN-26
	f := newFixture(asking("Which one?", "this"))
	f.script.steps = []step{wants(want{"w", "ask", "{}"}), says("asked"), wants(want{"w", "ask", "{}"}), says("asked"), says("x")}
	s := f.open(t)
	ask(t, s, "one")
	ask(t, s, "two")
	if _, err := retry(t, s, &recorder{}); err != nil {
		t.Fatal(err)
	}
	reqs := f.script.requests()
	if got := strings.Count(lastText(reqs[4]), "Which one?"); got != 1 {
		t.Errorf("the message that is sent anew tells %d answers, want that of the turn before:\n%s", got, lastText(reqs[4]))
	}
}

func TestRetryFindsNotesAnew(t *testing.T) { // R-PROMPT-44, R-HARN-26
	f := newFixture(toolstest.Echo("look"))
	f.threads = newCoded()
	f.settings.facts.Skills = []prompt.Skill{{Name: "a", Description: "d", Instruction: "the old way"}}
	f.script.steps = []step{says("old")}
	s := f.open(t)
	picture := event.Block{MIME: "image/png", Data: []byte{1, 2, 3}}
	blocks(t, s, &recorder{}, event.Block{Text: "/a go"}, picture)
	old := f.script.requests()[0].Messages

	f.settings.facts.Skills[0].Instruction = "the new way"
	refused := &model.Error{Kind: model.Invalid, Provider: "p", Message: "no"}
	f.script.steps = append(f.script.steps, fails(refused), says("between"), says("new"), says("x"))
	if _, err := retry(t, s, &recorder{}); !errors.Is(err, refused) {
		t.Fatal(err)
	}
	ask(t, s, "between")
	reqs := f.script.requests()
	if got := texts(reqs[1].Messages[0]); !strings.Contains(got[0], "the new way") || strings.Contains(got[0], "the old way") {
		t.Errorf("the retry sends %q", got)
	}
	if diff := cmp.Diff(old, reqs[2].Messages[:1]); diff != "" {
		t.Errorf("after a retry without an answer the message is another one (-then +now):\n%s", diff)
	}

	blocks(t, s, &recorder{}, event.Block{Text: "/a again"}, picture)
	f.settings.facts.Skills = nil
	if _, err := retry(t, s, &recorder{}); err != nil {
		t.Fatal(err)
	}
	ask(t, s, "after")
	reqs = f.script.requests()
	lived := reqs[len(reqs)-1].Messages
	if got := fmt.Sprint(lived[4].Parts); strings.Contains(got, "way") || !strings.Contains(got, "/a again") || !strings.Contains(got, "image/png") {
		t.Errorf("the message is %s, want it as it was sent anew, with its picture", got)
	}
	g := f.beside(toolstest.Echo("look"))
	g.script.steps = []step{says("y")}
	ask(t, g.load(t, s.ID()), "and now")
	if diff := cmp.Diff(lived, g.script.requests()[0].Messages[:len(lived)]); diff != "" {
		t.Errorf("read from the store the conversation is another one (-lived +read):\n%s", diff)
	}
	for _, b := range f.entries(t, s) {
		if r, ok := b.(thread.Retried); ok && len(r.Sent[1].Image.Data) > 0 {
			t.Error("a picture is stored a second time")
		}
	}
}

func TestIntent(t *testing.T) { // R-WEB-03
	f := newFixture()
	f.settings.facts.Skills = []prompt.Skill{{Name: "search"}, {Name: "research"}}
	f.script.steps = []step{says("x")}
	s := f.open(t)
	file := event.Block{Text: "/research", URI: "file:///a", Name: "a"}
	for _, bs := range [][]event.Block{
		{{Text: "/search x"}}, {{Text: "docs/search"}}, {{Text: "/search."}}, {{Text: "/search"}, {Text: "and /research it"}}, {file, {Text: "go"}},
	} {
		blocks(t, s, &recorder{}, bs...)
	}
	f.settings.facts.Skills = nil
	ask(t, s, "/search x")
	var got []budget.Intent
	for _, tr := range f.traces {
		got = append(got, tr.Intent)
	}
	want := []budget.Intent{budget.Search, budget.Auto, budget.Auto, budget.Research, budget.Auto, budget.Auto}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("intents (-want +got):\n%s", diff)
	}
}

// Settings and skills that change in the middle of a turn show with the next send.
func TestSendIsFrozen(t *testing.T) { // R-HARN-06, C-05
	f := newFixture(toolstest.Echo("look"))
	f.settings.facts.Skills = abc()
	persona, other := "Be kind.", "Be terse."
	f.settings.facts.Persona = &persona
	var scope harness.Scope
	f.scopes = func(sc harness.Scope) { scope = sc }
	first := wants(want{"w", "look", "{}"})
	f.script.steps = []step{
		func(ctx context.Context, r *model.Request, sink func(model.Event) error) (*model.Reply, error) {
			f.settings.facts.Persona = &other
			f.settings.facts.Skills = []prompt.Skill{{Name: "d", Description: "new", Instruction: "Anew."}}
			return first(ctx, r, sink)
		},
		wants(want{"v", "look", "{}"}), says("x"),
	}
	s := f.open(t)
	ask(t, s, "/a go")
	if got := scope.Skills.Names(); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("the tools of the turn know the skills %q", got)
	}
	ask(t, s, "/a /d go")
	reqs := f.script.requests()
	if reqs[0].System != reqs[1].System || reqs[1].System != reqs[2].System || !strings.Contains(reqs[2].System, persona) {
		t.Error("the system string changes within a turn")
	}
	if !strings.Contains(reqs[3].System, other) || strings.Contains(lastText(reqs[3]), "as a says") || !strings.Contains(lastText(reqs[3]), "Anew.") {
		t.Errorf("the next send is not told of what has changed:\n%s", lastText(reqs[3]))
	}
}
