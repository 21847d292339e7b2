package harness_test

import (
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
	"github.com/lorimer-dev/lorimer/harness/store/memory"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/prompt"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/toolstest"
)

func TestPrefixStability(t *testing.T) { // R-HARN-14, C122
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(toolstest.Echo("look"), toolstest.Answer("draw", tools.Result{
			Text: "a picture", Images: []tools.Image{{MIME: "image/png", Data: []byte{1, 2}}},
		}))
		f.script.steps = nil
		for range 20 {
			f.script.steps = append(f.script.steps,
				wants(want{"same", "look", `{"b": 1, "a": 2}`}, want{"same", "draw", `{}`}),
				wants(want{"", "look", `{"path":"a`}),
				says("Done."))
		}
		s := f.open(t)
		for range 20 {
			ask(t, s, "go on")
			time.Sleep(61 * time.Second)
		}
		reqs := f.script.requests()
		if len(reqs) != 60 {
			t.Fatalf("%d requests, want 60", len(reqs))
		}
		for i := 1; i < len(reqs); i++ {
			if got := reuse(t, reqs[i-1], reqs[i]); got != 1 {
				t.Fatalf("request %d reuses %.4f of request %d, want all", i+1, got, i)
			}
		}
		if err := noRepeat(reqs[59]); err != nil {
			t.Error(err)
		}
	})
}

// All that goes with a single send stays where it was sent.
func TestPrefixStabilityOfNotes(t *testing.T) { // R-HARN-14, R-PROMPT-33
	synctest.Test(t, func(t *testing.T) {
		var rooms []string
		has := make(map[string]string)
		for i := range 20 {
			room := fmt.Sprintf("/space/%d", i)
			rooms = append(rooms, room+"/x")
			has[room+"/AGENTS.md"], has[room+"/x"] = "of "+room, "x"
		}
		f := newFixture(toolstest.Echo("read-context"), asking("Which?", "this"), toolstest.Answer("hide", tools.Result{Text: "a\u200bb"}))
		f.threads = newCoded()
		for i, at := range rooms {
			f.tools = append(f.tools, visits(fmt.Sprint("visit", i), at))
		}
		f.options.Documents, f.options.Idle = memory.NewPlaces(nil), -1
		f.settings.inline, f.settings.nested, f.settings.facts.Skills = 8, true, abc()
		f.script.steps = nil
		for i := range rooms {
			f.script.steps = append(f.script.steps,
				wants(want{"same", "ask", `{}`}, want{"same", fmt.Sprint("visit", i), `{}`}),
				wants(want{"", "hide", `{}`}, want{"", fmt.Sprint("visit", i), `{}`}),
				says("Done."))
		}
		s := f.open(t, func(sp *harness.Spec) { sp.FS = files{has: has} })
		for i := range rooms {
			setOption(t, s, harness.OptionVoice, []string{harness.VoiceOn, harness.VoiceOff}[i%2])
			blocks(t, s, &recorder{},
				event.Block{Text: []string{"/a go", "go /b /c", "/nobody go"}[i%3]},
				event.Block{MIME: "image/png", Data: []byte{byte(i)}},
				event.Block{URI: fmt.Sprint("file:///", i), Text: strings.Repeat("text", i)},
				event.Block{URI: "file:///space/0/x"})
			time.Sleep(61 * time.Minute)
		}
		reqs := f.script.requests()
		if len(reqs) != 60 {
			t.Fatalf("%d requests, want 60", len(reqs))
		}
		for i := 1; i < len(reqs); i++ {
			if got := reuse(t, reqs[i-1], reqs[i]); got != 1 {
				t.Fatalf("request %d reuses %.4f of request %d, want all", i+1, got, i)
			}
		}
		for i, tr := range f.traces {
			if i > 0 && tr.Harness != "reused" {
				t.Errorf("send %d: %s %v", i+1, tr.Harness, tr.Changed)
			}
		}
		all := strings.Join(canonical(t, reqs[59]), "\n")
		for text, n := range map[string]int{"as a says": 7, "read aloud": 10, "# Attached Context": 20, "- Which? Answer": 19, "of /space/7": 1, "do not show: U+200B": 20} {
			if got := strings.Count(all, text); got != n {
				t.Errorf("the last request has %q %d times, want %d", text, got, n)
			}
		}
		g := f.beside(f.tools...)
		g.script.steps = []step{says("x")}
		ask(t, g.load(t, s.ID()), "elsewhere")
		lived := reqs[59].Messages
		if diff := cmp.Diff(lived, g.script.requests()[0].Messages[:len(lived)]); diff != "" {
			t.Errorf("read from the store the conversation is another one (-lived +read):\n%s", diff)
		}
	})
}

// noRepeat reports the first call id that a request has twice (pitfall of
// models that repeat theirs).
func noRepeat(r *model.Request) error {
	seen := map[string]bool{}
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			c, ok := p.(llms.ToolCall)
			if ok && seen[c.ID] {
				return errors.New("two calls have the id " + c.ID)
			}
			if ok {
				seen[c.ID] = true
			}
		}
	}
	return nil
}

func TestDateEndsTheUserTurnAndStays(t *testing.T) { // R-PROMPT-30, R-PROMPT-33
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		f.script.steps = []step{says("x")}
		s := f.open(t)
		first := prompt.DateNote(time.Now().UTC())
		ask(t, s, "one")
		time.Sleep(48 * time.Hour)
		second := prompt.DateNote(time.Now().UTC())
		ask(t, s, "two")
		r := f.script.requests()[1]
		var got []string
		for _, m := range r.Messages {
			got = append(got, texts(m)...)
		}
		want := []string{"one\n\n" + first, "x", "two\n\n" + second}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("messages (-want +got):\n%s", diff)
		}
		if strings.Contains(r.System, first) || strings.Contains(r.System, second) {
			t.Error("the system string has the date")
		}
		u := f.entries(t, s)[0].(thread.User)
		if diff := cmp.Diff([]event.Block{{Text: "one"}}, u.Blocks); diff != "" {
			t.Errorf("displayed message (-want +got):\n%s", diff)
		}
	})
}

func TestDateInSystem(t *testing.T) { // R-PROMPT-30, volatile placement
	f := newFixture()
	f.settings.facts.Volatile = prompt.InSystem
	f.script.steps = []step{says("x")}
	ask(t, f.open(t), "one")
	r := f.script.requests()[0]
	if got := r.Messages[0].Parts[0].(llms.TextContent).Text; got != "one" {
		t.Errorf("user turn = %q, want the text alone", got)
	}
	lines := strings.Split(r.System, "\n")
	if last := lines[len(lines)-1]; !strings.Contains(last, time.Now().UTC().Format("2006")) {
		t.Errorf("system ends with %q, want the date", last)
	}
}

func TestToolsAreReadAnewForEachSend(t *testing.T) { // R-HARN-09, C123
	f := newFixture(toolstest.Echo("m"))
	f.script.steps = []step{says("x")}
	set := &toolstest.Servers{ToolList: []tools.Tool{toolstest.Echo("z"), toolstest.Echo("a")}}
	s := f.open(t, func(sp *harness.Spec) { sp.Servers = set })
	ask(t, s, "one")
	set.ToolList = []tools.Tool{toolstest.Echo("a"), toolstest.Echo("z")}
	ask(t, s, "two")
	set.ToolList = nil
	ask(t, s, "three")
	var got []string
	for _, r := range f.script.requests() {
		var names []string
		for _, w := range r.Tools {
			names = append(names, w.Name)
		}
		got = append(got, strings.Join(names, " "))
	}
	if diff := cmp.Diff([]string{"a m z", "a m z", "m"}, got); diff != "" {
		t.Errorf("tools by request (-want +got):\n%s", diff)
	}
}

func TestSettingsAreReadOncePerSend(t *testing.T) { // R-TOOLS-03, R-HARN-06
	f := newFixture(toolstest.Echo("look"))
	f.script.steps = []step{wants(want{"w", "look", "{}"}), wants(want{"v", "look", "{}"}), says("x")}
	ask(t, f.open(t), "go")
	if got := f.settings.reads.Load(); got != 1 {
		t.Errorf("settings were read %d times, want once", got)
	}
}

func TestPictures(t *testing.T) { // R-HARN-32
	for _, tt := range []struct {
		mime         string
		images, sees bool
	}{{"image/png", true, true}, {"image/png", false, false}, {"image/tiff", true, false}} {
		f := newFixture()
		f.settings.model.Images = tt.images
		f.script.steps = []step{says("x")}
		s := f.open(t)
		slot, err := s.Enter()
		if err != nil {
			t.Fatal(err)
		}
		rec := &recorder{}
		in := harness.Input{Blocks: []event.Block{{Text: "what is"}, {MIME: tt.mime, Data: []byte{1}, Name: "a.png"}}}
		if _, err := slot.Prompt(t.Context(), in, rec); err != nil {
			t.Fatal(err)
		}
		warned := false
		for _, e := range rec.all() {
			n, ok := e.(event.Notice)
			warned = warned || ok && n.Severity == event.Warning && strings.Contains(n.Text, "a.png")
		}
		if warned == tt.sees {
			t.Errorf("%s, model sees it: %v, user was warned: %v", tt.mime, tt.sees, warned)
		}
		parts := f.script.requests()[0].Messages[0].Parts
		want := model.Picture{BinaryContent: llms.BinaryContent{MIMEType: tt.mime, Data: []byte{1}}, Name: "a.png"}
		if diff := cmp.Diff(want, parts[1]); diff != "" {
			t.Errorf("second part is not the picture (-want +got):\n%s", diff)
		}
		if _, ok := parts[2].(llms.TextContent); !ok || len(parts) != 3 {
			t.Errorf("parts = %v, want text, picture and date", parts)
		}
	}
}
