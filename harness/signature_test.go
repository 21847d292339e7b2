package harness_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/prompt"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/approve"
	"github.com/lorimer-dev/lorimer/tools/toolstest"
)

func TestSignatureInputs(t *testing.T) { // R-HARN-02
	base := harness.Inputs{
		Model: model.Descriptor{
			Kind: "k", Provider: "p", ID: "m", BaseURL: "u", KeyDigest: "d", Window: 1, Images: true, Thinks: true,
		},
		Effort: model.EffortLow, Tools: true, Citations: "registry", Stable: "s",
	}
	tests := []struct {
		name   string
		change func(*harness.Inputs)
		want   []string
	}{
		{"nothing", func(*harness.Inputs) {}, nil},
		{"kind", func(in *harness.Inputs) { in.Model.Kind = "x" }, []string{"kind"}},
		{"provider", func(in *harness.Inputs) { in.Model.Provider = "x" }, []string{"provider"}},
		{"model", func(in *harness.Inputs) { in.Model.ID = "x" }, []string{"model"}},
		{"address", func(in *harness.Inputs) { in.Model.BaseURL = "x" }, []string{"baseUrl"}},
		{"key", func(in *harness.Inputs) { in.Model.KeyDigest = "x" }, []string{"key"}},
		{"headers", func(in *harness.Inputs) { in.Model.Setup = "x" }, []string{"setup"}},
		{"thinking level", func(in *harness.Inputs) { in.Effort = model.EffortHigh }, []string{"thinking"}},
		{"thinking off", func(in *harness.Inputs) { in.Effort = model.EffortOff }, []string{"reasoning", "thinking"}},
		{"window", func(in *harness.Inputs) { in.Model.Window = 2 }, []string{"window"}},
		{"pictures", func(in *harness.Inputs) { in.Model.Images = false }, []string{"images"}},
		{"tools", func(in *harness.Inputs) { in.Tools = false }, []string{"tools"}},
		{"citations", func(in *harness.Inputs) { in.Citations = "linked" }, []string{"citations"}},
		{"stable prompt", func(in *harness.Inputs) { in.Stable = "x" }, []string{"stablePrompt"}},
		{"revision", func(in *harness.Inputs) { in.Revision = 1 }, []string{"revision"}},
		{"display name", func(in *harness.Inputs) { in.Model.Name = "x" }, nil},
		{"a character moves", func(in *harness.Inputs) { in.Model.Kind, in.Model.Provider = "kp", "" }, []string{"kind", "provider"}},
	}
	old := harness.Sign(base)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := base
			tt.change(&in)
			s := harness.Sign(in)
			if diff := cmp.Diff(tt.want, s.Changed(old)); diff != "" {
				t.Errorf("changed (-want +got):\n%s", diff)
			}
			if same := s.Digest() == old.Digest(); same != (tt.want == nil) {
				t.Errorf("digests are equal: %v, want %v", same, tt.want == nil)
			}
			if (s == old) != (tt.want == nil) {
				t.Errorf("signatures are equal: %v, want %v", s == old, tt.want == nil)
			}
		})
	}
}

func TestSignatureIgnoresAnEffortThatIsNotSent(t *testing.T) {
	a := harness.Sign(harness.Inputs{Effort: model.EffortLow})
	b := harness.Sign(harness.Inputs{Effort: model.EffortHigh})
	if a != b {
		t.Errorf("a model without an effort has two signatures: %v", a.Changed(b))
	}
}

func TestSignaturePartsHideSecrets(t *testing.T) { // R-CMD-06
	const base = "https://ada:pass-word@host/v1?api-version=1&key=query-key"
	s := harness.Sign(harness.Inputs{Model: model.Descriptor{ID: "m", KeyDigest: "key-digest", BaseURL: base}, Stable: "You are"})
	for _, p := range s.Parts() {
		for _, secret := range []string{"key-digest", "You are", "pass-word", "query-key"} {
			if strings.Contains(p.Value, secret) {
				t.Errorf("part %s shows %q", p.Name, p.Value)
			}
		}
		if p.Name == "baseUrl" && !strings.HasPrefix(p.Value, "https://host/v1 sha256:") {
			t.Errorf("base_url = %q, want the address and a digest", p.Value)
		}
	}
	if got := len(s.Parts()); got != 14 {
		t.Errorf("%d parts, want 14", got)
	}
}

func FuzzSignatureBorders(f *testing.F) { // two inputs have one digest only if they are equal
	f.Add("a", "b", "ab", "")
	f.Add("", "\x00", "\x00", "")
	f.Fuzz(func(t *testing.T, kind, provider, kind2, provider2 string) {
		a := harness.Sign(harness.Inputs{Model: model.Descriptor{Kind: kind, Provider: provider}})
		b := harness.Sign(harness.Inputs{Model: model.Descriptor{Kind: kind2, Provider: provider2}})
		if (a.Digest() == b.Digest()) != (kind == kind2 && provider == provider2) {
			t.Errorf("(%q, %q) and (%q, %q) share a digest", kind, provider, kind2, provider2)
		}
	})
}

func TestWhatDoesNotRebuild(t *testing.T) { // R-HARN-03
	synctest.Test(t, func(t *testing.T) {
		write := mutating(toolstest.Echo("write"))
		write.Describe.Guidance = "Write with care."
		f := newFixture(toolstest.Echo("look"), write)
		f.script.steps = []step{says("x")}
		f.options.Idle = -1
		f.settings.facts.Skills = abc()
		set := &toolstest.Servers{}
		s := f.open(t, func(sp *harness.Spec) { sp.Servers = set })
		ask(t, s, "one")

		time.Sleep(30 * time.Hour) // the date
		ask(t, s, "two")
		for _, m := range []approve.Mode{approve.Ask, approve.AcceptEdits, approve.ReadOnly} { // the permission mode
			if err := s.SetMode(t.Context(), m); err != nil {
				t.Fatal(err)
			}
			ask(t, s, "three")
			reqs := f.script.requests()
			if has := strings.Contains(reqs[len(reqs)-1].System, "with care"); has == (m == approve.ReadOnly) {
				t.Errorf("mode %s: guidance of the tool that writes: %v", m, has) // R-PROMPT-24
			}
		}
		f.tools[0] = toolstest.Answer("look", tools.Result{Text: "x"}) // the closures of the tools
		set.ToolList = []tools.Tool{toolstest.Echo("more")}            // a server without guidance
		ask(t, s, "four")
		setOption(t, s, harness.OptionVoice, harness.VoiceOn) // notes
		ask(t, s, "/a five")
		f.settings.facts.Skills[1].Instruction = "Anew." // what a skill says
		if _, err := f.engine.SetTitle(t.Context(), s.ID(), "another"); err != nil {
			t.Fatal(err)
		}
		ask(t, s, "/a six")
		if got := lastText(f.script.requests()[7]); !strings.Contains(got, "Anew.") {
			t.Errorf("the message carries %q, want what the skill says now", got)
		}

		for i, tr := range f.traces {
			if want := map[bool]string{true: "built", false: "reused"}[i == 0]; tr.Harness != want {
				t.Errorf("send %d: %s %v, want %s", i+1, tr.Harness, tr.Changed, want)
			}
		}
	})
}

func TestWhoAndWhereIsNotInTheSignature(t *testing.T) { // R-HARN-03
	var systems, signatures []string
	for _, name := range []string{"zed", "emacs"} { // of the client, and of the shell in the environment block
		run := toolstest.Echo("run")
		run.Describe.Effect = tools.Executes
		f := newFixture(run)
		f.script.steps = []step{says("x")}
		f.options.Shell.Shell = "/bin/" + name
		ask(t, f.open(t, func(sp *harness.Spec) { sp.Client = prompt.Client{Name: name, Version: "1"} }), "go")
		systems, signatures = append(systems, f.script.requests()[0].System), append(signatures, f.traces[0].Signature)
	}
	if signatures[0] != signatures[1] {
		t.Errorf("two clients and shells, two signatures: %v", signatures)
	}
	if got := strings.ReplaceAll(systems[0], "zed", "emacs"); got != systems[1] || strings.Count(systems[0], "zed") != 2 {
		t.Errorf("the system string does not name client and shell:\n%s", systems[0])
	}
}

func TestWhatRebuilds(t *testing.T) { // R-HARN-04, R-HARN-07
	guided := toolstest.Echo("guided")
	guided.Describe.Guidance = "Use it well."
	persona := "You are a pirate."
	tests := []struct {
		name         string
		change, back func(*fixture, *toolstest.Servers)
		want         []string
	}{
		{
			"a new key", func(f *fixture, _ *toolstest.Servers) { f.settings.model.KeyDigest = "other" },
			func(f *fixture, _ *toolstest.Servers) { f.settings.model.KeyDigest = "k" }, []string{"key"},
		},
		{
			"a server with guidance appears", func(_ *fixture, s *toolstest.Servers) { s.ToolList = []tools.Tool{guided} },
			func(_ *fixture, s *toolstest.Servers) { s.ToolList = nil }, []string{"stablePrompt"},
		},
		{
			"a persona", func(f *fixture, _ *toolstest.Servers) { f.settings.facts.Persona = &persona },
			func(f *fixture, _ *toolstest.Servers) { f.settings.facts.Persona = nil }, []string{"stablePrompt"},
		},
		{
			"a skill is enabled", func(f *fixture, _ *toolstest.Servers) { f.settings.facts.Skills = abc() },
			func(f *fixture, _ *toolstest.Servers) { f.settings.facts.Skills = nil }, []string{"stablePrompt"},
		},
		{
			"instructions of a project", func(f *fixture, _ *toolstest.Servers) {
				f.settings.facts.Project = &prompt.Project{Name: "P", Instructions: "Be brief."}
			},
			func(f *fixture, _ *toolstest.Servers) { f.settings.facts.Project = nil }, []string{"stablePrompt"},
		},
		{
			"a file of instructions", func(f *fixture, _ *toolstest.Servers) {
				f.settings.facts.Instructions = []prompt.Instruction{{Path: "AGENTS.md", Text: "Be brief."}}
			},
			func(f *fixture, _ *toolstest.Servers) { f.settings.facts.Instructions = nil }, []string{"stablePrompt"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(toolstest.Echo("look"))
			f.script.steps = []step{says("x")}
			set := &toolstest.Servers{}
			s := f.open(t, func(sp *harness.Spec) { sp.Servers = set })
			ask(t, s, "one")
			tt.change(f, set)
			ask(t, s, "two")
			tt.back(f, set)
			ask(t, s, "three")
			ask(t, s, "four")
			var got []string
			for _, tr := range f.traces {
				got = append(got, strings.TrimSpace(tr.Harness+" "+strings.Join(tr.Changed, ",")))
			}
			changed := "rebuilt " + strings.Join(tt.want, ",")
			if diff := cmp.Diff([]string{"built", changed, changed, "reused"}, got); diff != "" {
				t.Errorf("harness (-want +got):\n%s", diff)
			}
		})
	}
}

// How sources are cited is told in the stable prompt, and is an input of its own.
func TestCitationsRebuild(t *testing.T) { // R-HARN-02, R-HARN-04
	f := newFixture(toolstest.Echo("look"))
	f.script.steps = []step{says("x")}
	s := f.open(t)
	ask(t, s, "one")
	setOption(t, s, harness.OptionCitations, string(prompt.CiteLinked))
	ask(t, s, "two")
	if diff := cmp.Diff([]string{"citations", "stablePrompt"}, f.traces[1].Changed); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
	p, err := s.Preview(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range p.Signature.Parts() {
		if part.Name == "citations" && part.Value != "linked" {
			t.Errorf("citations are signed as %q", part.Value)
		}
	}
}

func TestRebuildKeepsTheConversation(t *testing.T) { // R-HARN-07, R-HARN-15, C106
	f := newFixture(toolstest.Answer("draw", tools.Result{Text: "seen", Images: []tools.Image{{MIME: "image/png", Data: []byte{1}}}}))
	f.settings.more = []model.Descriptor{{Provider: "q", ID: "n"}}
	f.script.steps = []step{
		func(context.Context, *model.Request, func(model.Event) error) (*model.Reply, error) {
			r := reply(model.StopTools)
			r.Parts = []llms.ContentPart{
				model.Reasoning{TextContent: llms.TextContent{Text: "hm"}, Provider: "p/m", Signature: "sig"},
				model.Extra{
					ToolCall: llms.ToolCall{ID: "w", Type: "function", FunctionCall: &llms.FunctionCall{Name: "draw", Arguments: `{ }`}},
					Provider: "p/m", Content: []byte(`{"thought":"x"}`),
				},
			}
			return r, nil
		},
		says("Drawn."),
	}
	s := f.open(t)
	ask(t, s, "one")
	ask(t, s, "two")
	if err := s.SetOption(t.Context(), harness.OptionModel, "q/n"); err != nil {
		t.Fatal(err)
	}
	ask(t, s, "three")
	reqs := f.script.requests()
	live, seeded := reqs[2].Messages, reqs[3].Messages
	if diff := cmp.Diff(live, seeded[:len(live)]); diff != "" {
		t.Errorf("the seeded history differs from the live one (-live +seeded):\n%s", diff)
	}
	if got := f.traces[2]; got.Harness != "rebuilt" {
		t.Errorf("trace = %+v, want rebuilt", got)
	}
	think := seeded[1].Parts[1].(model.Reasoning)
	if think.Provider != "p/m" || think.Signature != "sig" {
		t.Errorf("reasoning = %+v, want it tagged with its model", think)
	}
}

func TestFailedBuildIsTriedAgain(t *testing.T) { // R-HARN-05
	f := newFixture()
	f.script.steps = []step{says("x")}
	fails := true
	open := f.settings.open
	f.settings.open = func(ctx context.Context) (model.Streamer, error) {
		if fails {
			return nil, &model.Error{Kind: model.Unavailable, Provider: "p", Message: "starting"}
		}
		return open(ctx)
	}
	s := f.open(t)
	if _, err := prompted(t, s, t.Context(), "go", &recorder{}); err == nil {
		t.Fatal("no error of the failed build")
	}
	fails = false
	if out, _ := ask(t, s, "go"); out.Stop != harness.EndTurn || f.traces[0].Harness != "built" {
		t.Errorf("next send: %q, %v", out.Stop, f.traces)
	}
	if got := len(f.script.requests()[0].Messages); got != 1 {
		t.Errorf("the model is sent %d messages, want the one it was there for", got)
	}
}

func TestIdleHarnessIsBuiltAgain(t *testing.T) { // R-HARN-13
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		f.options.Idle = time.Minute
		f.script.steps = []step{says("one"), after(time.Hour, says("two")), says("three"), says("four")}
		s := f.open(t)
		ask(t, s, "a")
		ask(t, s, "b")
		time.Sleep(time.Minute)
		synctest.Wait()
		ask(t, s, "c")
		ask(t, s, "d")
		var got []string
		for _, tr := range f.traces {
			got = append(got, fmt.Sprint(tr.Harness, tr.Changed))
		}
		if diff := cmp.Diff([]string{"built[]", "reused[]", "rebuilt[idle]", "reused[]"}, got); diff != "" {
			t.Errorf("harnesses (-want +got):\n%s", diff)
		}
		reqs := f.script.requests()
		for i := 1; i < len(reqs); i++ {
			if got := reuse(t, reqs[i-1], reqs[i]); got != 1 {
				t.Errorf("request %d repeats %v of the last, want all", i+1, got)
			}
		}
	})
}
