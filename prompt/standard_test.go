package prompt_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/prompt"
)

// always are the sections that say something in every context.
var always = []string{prompt.IdentityName, "Principles", "Context", "Tools", "Link previews", "Output format",
	"Trust boundary", "Language", "Conversation style"}

// said returns the names of the sections that say something.
func said(a prompt.Assembly) []string {
	var names []string
	for _, e := range a.Sections {
		if strings.TrimSpace(e.Text) != "" {
			names = append(names, e.Name)
		}
	}
	return names
}

// rendered returns what one section says, alone.
func rendered(t *testing.T, c prompt.Context, section string) string {
	t.Helper()
	r := standard(t)
	must(t)(r.Hook(func(c prompt.Context, a prompt.Assembly, next func(prompt.Assembly) (prompt.Assembly, error)) (prompt.Assembly, error) {
		a, err := only(section)(c, a, next)
		a.Sections = append(a.Sections, prompt.Entry{Name: "end", Text: "END"})
		return a, err
	}))
	return strings.TrimSuffix(strings.TrimSuffix(parts(t, r, c, noon).Stable, "END"), "\n\n")
}

// TestStandardOrder is R-PROMPT-12 and R-PROMPT-23: the orders of the table, and
// the style last.
func TestStandardOrder(t *testing.T) {
	tools := named("bash")
	tools[0].Guidance = "Guidance."
	a := assemble(t, standard(t), prompt.Context{Tools: tools})
	got := map[string]float64{}
	for _, e := range a.Sections {
		got[e.Name] = e.Order
	}
	want := map[string]float64{
		prompt.IdentityName: -100, prompt.PersonaName: 0, "Principles": 10, "Context": 20, "Project": 30, "Workspace": 40,
		"Tools": 100, "Web tools": 110, "Tools override": 120, "Connected MCP servers": 130, "Skills": 140, "tool:bash": 150,
		"Link previews": 160, "Link previews override": 165, "Multi-step and recovery": 190, "Output format": 200,
		"Trust boundary": 205, "Language": 210, "Conversation style": 220,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("orders (-want +got):\n%s", diff)
	}
	if !slices.IsSortedFunc(a.Sections, func(a, b prompt.Entry) int { return int(a.Order - b.Order) }) {
		t.Errorf("sections = %q are not in ascending order", sectionNames(a))
	}
	// Every request carries it, so it stays short.
	if n := len(parts(t, standard(t), prompt.Context{Model: "m1", Tools: named("bash")}, noon).Stable); n > 6<<10 {
		t.Errorf("stable part has %d bytes, want at most 6 KiB", n)
	}
}

// TestSections is R-PROMPT-23 and R-PROMPT-24: a section says something when what
// it is about is there, whatever was configured.
func TestSections(t *testing.T) {
	skills := []prompt.Skill{{Name: "a"}}
	project := &prompt.Project{Name: "P", Instructions: "Do."}
	servers := []prompt.Server{{Prefix: "p", Tools: 1}}
	profile := prompt.Profile{Tools: "T", LinkPreviews: "L"}
	bound := &prompt.Workspace{Bound: &prompt.Summary{ID: "w"}}
	catalog := &prompt.Workspace{Catalog: []prompt.Listing{{ID: "w"}}, Creation: &prompt.Creation{}}
	persona := "P"
	tests := []struct {
		name string
		c    prompt.Context
		more []string // beside those that are always there
	}{
		{"nothing", prompt.Context{}, nil},
		{"a model of blanks", prompt.Context{Model: " \n"}, nil},
		{"a tool", prompt.Context{Tools: named("x")}, []string{"Multi-step and recovery"}},
		{"only search", prompt.Context{Tools: named("search")}, []string{"Multi-step and recovery"}},
		{"only fetching", prompt.Context{Tools: named("fetch_content")}, []string{"Multi-step and recovery"}},
		{"both", prompt.Context{Tools: named("search", "fetch_content")}, []string{"Multi-step and recovery", "Web tools"}},
		{"persona", prompt.Context{Facts: prompt.Facts{Persona: &persona}}, []string{prompt.PersonaName}},
		{"skills", prompt.Context{Facts: prompt.Facts{Skills: skills}}, []string{"Skills"}},
		{"servers", prompt.Context{Tools: named("p_x"), Servers: servers}, []string{"Connected MCP servers", "Multi-step and recovery"}},
		{"servers whose tools are withheld", prompt.Context{Servers: servers}, nil},
		{"a server without tools", prompt.Context{Tools: named("x"), Servers: []prompt.Server{{Prefix: "p"}}}, []string{"Multi-step and recovery"}},
		{"profile", prompt.Context{Tools: named("x"), Facts: prompt.Facts{Profile: profile}},
			[]string{"Link previews override", "Multi-step and recovery", "Tools override"}},
		{"profile without tools", prompt.Context{Facts: prompt.Facts{Profile: profile}}, []string{"Link previews override"}},
		{"project", prompt.Context{Facts: prompt.Facts{Project: project}}, []string{"Project"}},
		{"silent project", prompt.Context{Facts: prompt.Facts{Project: &prompt.Project{Name: "P", Instructions: " \n"}}}, nil},
		{"silent project to search", prompt.Context{Tools: named("search_project_chats"), Facts: prompt.Facts{Project: &prompt.Project{Name: "P"}}},
			[]string{"Multi-step and recovery", "Project"}},
		{"nothing to search", prompt.Context{Tools: named("search_project_chats")}, []string{"Multi-step and recovery"}},
		{"files", prompt.Context{Facts: prompt.Facts{Instructions: []prompt.Instruction{{Path: "AGENTS.md", Text: "Do."}}}}, []string{"Project"}},
		{"empty files", prompt.Context{Facts: prompt.Facts{Instructions: []prompt.Instruction{{Path: "AGENTS.md", Text: "\n"}}}}, nil},
		{"workspace", prompt.Context{Tools: named("x"), Facts: prompt.Facts{Workspace: bound}}, []string{"Multi-step and recovery", "Workspace"}},
		{"workspace without tools", prompt.Context{Facts: prompt.Facts{Workspace: bound}}, nil},
		{"catalog", prompt.Context{Tools: named("edit_document"), Facts: prompt.Facts{Workspace: catalog}}, []string{"Multi-step and recovery", "Workspace"}},
		{"catalog without its tools", prompt.Context{Tools: named("x"), Facts: prompt.Facts{Workspace: catalog}}, []string{"Multi-step and recovery"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := standard(t)
			got := said(assemble(t, r, tt.c))
			got = slices.DeleteFunc(got, func(s string) bool { return slices.Contains(always, s) })
			slices.Sort(got)
			if !slices.Equal(got, tt.more) {
				t.Errorf("sections = %q, want %q", got, tt.more)
			}
			if stable := parts(t, r, tt.c, noon).Stable; strings.Contains(stable, "\n\n\n") || !strings.HasSuffix(stable, "that it works.") {
				t.Errorf("want single blank lines and the style at the end of:\n%s", stable)
			}
		})
	}
}

// TestStyleIsLast is R-PROMPT-12: whatever of the user's there is and is not, the
// prompt ends with none of it.
func TestStyleIsLast(t *testing.T) {
	full := everything()
	for mask := range 16 {
		has := func(bit int) bool { return mask&(1<<bit) != 0 }
		c := full
		if !has(0) {
			c.Facts.Project, c.Facts.Instructions = nil, nil
		}
		if !has(1) {
			c.Facts.Skills = nil
		}
		if !has(2) {
			c.Servers = nil
		}
		if !has(3) {
			c.Facts.Profile = prompt.Profile{}
		}
		names := said(assemble(t, standard(t), c))
		for bit, sections := range [][]string{{"Project"}, {"Skills"}, {"Connected MCP servers"}, {"Tools override", "Link previews override"}} {
			for _, s := range sections {
				if slices.Contains(names, s) != has(bit) {
					t.Errorf("combination %04b: sections = %q, want %s there: %v", mask, names, s, has(bit))
				}
			}
		}
		if names[len(names)-1] != "Conversation style" {
			t.Errorf("combination %04b ends with %s, want Conversation style", mask, names[len(names)-1])
		}
		parts(t, standard(t), c, noon) // fails when a user's text is last
	}
}

// TestWithoutTools is R-HARN-20 and R-HARN-21: a prompt without tools is silent
// about them, and what is said in both shapes is said in the same bytes.
func TestWithoutTools(t *testing.T) {
	c := everything()
	c.Facts.Persona, c.Facts.Instructions, c.Facts.Project, c.Citations = nil, nil, nil, ""
	for i := range c.Facts.Skills {
		c.Facts.Skills[i].Description, c.Facts.Skills[i].Contract = "For letters.", i == 1
	}
	r := standard(t)
	with := assemble(t, r, c)
	c.Tools = nil
	without := assemble(t, r, c)
	stable := strings.ToLower(parts(t, r, c, noon).Stable)
	for _, word := range []string{"tool", "workspace", "shell", "command", "bash", "fetch_content", "mcp"} {
		if i := strings.Index(stable, word); i >= 0 {
			t.Errorf("a prompt without tools says %q: …%s…", word, stable[max(0, i-40):min(len(stable), i+40)])
		}
	}
	common := 0
	for _, name := range said(without) {
		if name == "Skills" || !slices.Contains(said(with), name) {
			continue
		}
		common++
		if sectionText(with, name) != sectionText(without, name) {
			t.Errorf("section %s differs:\n%s\n---\n%s", name, sectionText(with, name), sectionText(without, name))
		}
	}
	if common != len(always)+1 { // and the override of the link previews
		t.Errorf("%d sections in common, want %d", common, len(always)+1)
	}
	for name, v := range with.Variables {
		if w := without.Variables[name]; w != v && !slices.Contains([]string{"mcp_servers", "skill_contracts"}, name) {
			t.Errorf("variable %s = %+v with tools and %+v without", name, v, w)
		}
	}
}

// TestShuffled is R-PROMPT-22: the order in which anything comes does not show.
func TestShuffled(t *testing.T) {
	c := everything()
	for i := range c.Tools {
		c.Tools[i].Guidance = "# Of " + c.Tools[i].Name
	}
	assembled := func(rnd *rand.Rand) string {
		r := standard(t)
		var steps []func()
		for i := range 12 {
			steps = append(steps,
				func() {
					must(t)(r.Section(prompt.Section{Name: fmt.Sprint("s", i), Order: float64(i*19) + 0.5, Text: fmt.Sprintf("S{{v%d}}", i)}))
				},
				func() { must(t)(r.Variable(prompt.Variable{Name: fmt.Sprint("v", i), Text: fmt.Sprint(i)})) },
				func() {
					must(t)(r.Tools(func(prompt.Context) (prompt.ToolSet, error) {
						return prompt.ToolSet{Tools: []prompt.ToolSchema{{Name: fmt.Sprint("more", i), Guidance: "G"}}}, nil
					}))
				})
		}
		shuffle(rnd, steps)
		for _, step := range steps {
			step()
		}
		shuffle(rnd, c.Tools)
		shuffle(rnd, c.Facts.Skills)
		shuffle(rnd, c.Servers)
		p, a, err := r.Parts(c, noon.Add(time.Duration(rnd.IntN(1e9))*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		tools, err := json.Marshal(a.Tools)
		if err != nil {
			t.Fatal(err)
		}
		return p.Stable + string(tools)
	}
	want := assembled(rand.New(rand.NewPCG(0, 0)))
	for i := range 100 {
		if got := assembled(rand.New(rand.NewPCG(1, uint64(i)))); got != want {
			t.Fatalf("assembly %d differs:\n%s", i, cmp.Diff(want, got))
		}
	}
}

func shuffle[T any](r *rand.Rand, s []T) {
	r.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
}

// TestCitations is R-CITE-01, R-CITE-20 and the identity of R-PROMPT-23.
func TestCitations(t *testing.T) {
	registry := prompt.Context{Model: "Example 1"}
	linked := prompt.Context{Model: "Example 1", Citations: prompt.CiteLinked}
	for _, tt := range []struct {
		c        prompt.Context
		identity []string
		format   []string
		not      string
	}{
		{registry, []string{"Example 1", "[1]."}, []string{"[Source N]", "after its period", "【1】", "table column", "footnote", "Sources keep"}, "## Sources"},
		{linked, []string{"Example 1", "[1](address)"}, []string{"[2](https://example.com/news)", "the number that the source was given", "## Sources", "【1】"}, "[Source N]"},
	} {
		identity, format := rendered(t, tt.c, prompt.IdentityName), rendered(t, tt.c, "Output format")
		for _, w := range tt.identity {
			if !strings.Contains(identity, w) {
				t.Errorf("%s: identity lacks %q: %s", tt.c.Citations, w, identity)
			}
		}
		for _, w := range append(tt.format, "`$`", "`$$`") {
			if !strings.Contains(format, w) {
				t.Errorf("%s: format lacks %q: %s", tt.c.Citations, w, format)
			}
		}
		if strings.Contains(format, tt.not) {
			t.Errorf("%s: format has %q: %s", tt.c.Citations, tt.not, format)
		}
	}
	registry.Citations = prompt.CiteRegistry
	if got, want := rendered(t, registry, "Output format"), rendered(t, prompt.Context{}, "Output format"); got != want {
		t.Errorf("the default is not the registry:\n%s", cmp.Diff(want, got))
	}
	_, err := standard(t).Assemble(prompt.Context{Citations: "inline"})
	checkFault(t, err, prompt.Invalid, prompt.IdentityName, "inline", "registry", "linked")
}

// TestLadder is R-PROMPT-25 and R-WEB-14: the steps in their order, with the very
// words in which the budget is told.
func TestLadder(t *testing.T) {
	text := rendered(t, prompt.Context{}, "Tools")
	at := 0
	for _, step := range []string{"within a text that the user has given", "premise", "asks you to look something up", "does not change",
		"the year", "`research` skill", `"` + webNotice + `N"`, "fresh budget", "`research` skill again, once"} {
		i := strings.Index(text[at:], step)
		if i < 0 {
			t.Fatalf("no %q behind the steps before it:\n%s", step, text)
		}
		at += i + len(step)
	}
	r, err := prompt.Standard(prompt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if p := parts(t, r, prompt.Context{}, noon).Stable; strings.Contains(p, "budget") || strings.Contains(p, "{{") {
		t.Errorf("without a notice the prompt speaks of a budget:\n%s", p)
	}
}

// TestAbout is the section Context of R-PROMPT-23 and R-PROMPT-27.
func TestAbout(t *testing.T) {
	const inexact = " Where exactly is unknown; when an answer depends on it, ask first."
	lat, long := 59.91, -10.75
	zero, tiny := math.Copysign(0, -1), 1e-300
	tests := []struct {
		name string
		f    prompt.Facts
		want []string // its lines
	}{
		{"nothing", prompt.Facts{}, []string{
			"- Where the user is, is unknown. When an answer depends on it, ask first.", "- Integrations: READY"}},
		{"all", prompt.Facts{Name: "Ada\n\n# B", Location: "Oslo", Latitude: &lat, Longitude: &long, Units: "metric", Time: "24 h", Currency: "NOK"}, []string{
			"- The user is called Ada # B.", "- The user is in Oslo (59.91, -10.75).", "- Preferred units: metric.",
			"- Preferred format of times: 24 h.", "- Preferred currency: NOK.", "- Integrations: READY"}},
		{"half the coordinates", prompt.Facts{Location: "Oslo", Latitude: &lat}, []string{"- The user is in Oslo." + inexact, "- Integrations: READY"}},
		{"only coordinates", prompt.Facts{Latitude: &lat, Longitude: &long}, []string{
			"- The user is at 59.91, -10.75 (latitude, longitude in degrees).", "- Integrations: READY"}},
		{"where the equator begins", prompt.Facts{Latitude: &zero, Longitude: &tiny}, []string{
			"- The user is at 0, 0 (latitude, longitude in degrees).", "- Integrations: READY"}},
		{"blank", prompt.Facts{Name: " \n", Location: "\t", Units: " "}, []string{
			"- Where the user is, is unknown. When an answer depends on it, ask first.", "- Integrations: READY"}},
		{"braces", prompt.Facts{Name: "{{x}}", Location: "{{ y", Units: "}} {{model}}"}, []string{
			"- The user is called {{x}}.", "- The user is in {{ y." + inexact, "- Preferred units: }} {{model}}.", "- Integrations: READY"}},
		{"hidden", prompt.Facts{Name: "A\u202eda", Location: "Oslo"}, []string{
			"- The user is called A<U+202E>da.", "- The user is in Oslo." + inexact, "- Integrations: READY"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := rendered(t, prompt.Context{Model: "m1", Facts: tt.f}, "Context")
			if want := "# Context\n\n" + strings.Join(tt.want, "\n"); got != want {
				t.Errorf("context (-want +got):\n%s", cmp.Diff(want, got))
			}
		})
	}
	for _, tt := range []struct {
		i    prompt.Integrations
		want string
	}{
		{prompt.Integrations{GoogleOff: true}, "GOOGLE_DISABLED"},
		{prompt.Integrations{MicrosoftOff: true, PromptsOff: true}, "MICROSOFT_DISABLED, PROMPTS_DISABLED"},
		{prompt.Integrations{GoogleOff: true, MicrosoftOff: true, PromptsOff: true}, "GOOGLE_DISABLED, MICROSOFT_DISABLED, PROMPTS_DISABLED"},
	} {
		got := rendered(t, prompt.Context{Facts: prompt.Facts{Integrations: tt.i}}, "Context")
		if !strings.Contains(got, "\n- Integrations: "+tt.want+"\n") {
			t.Errorf("want the status %s in:\n%s", tt.want, got)
		}
	}
}

// TestProfile is M-31: the texts of a model's profile are templates, and the
// style's stands at the very end, where no user's text may.
func TestProfile(t *testing.T) {
	profile := prompt.Profile{Tools: "Call {{model}}.", LinkPreviews: "Three links.", Style: "\nNo jokes, {{model}}.\n"}
	c := prompt.Context{Model: "m1", Tools: named("x"), Facts: prompt.Facts{Name: "Ada", Profile: profile}}
	stable := parts(t, standard(t), c, noon).Stable
	for _, want := range []string{"\n\nCall m1.\n\n", "\n\nThree links.\n\n"} {
		if !strings.Contains(stable, want) {
			t.Errorf("want %q in:\n%s", want, stable)
		}
	}
	if !strings.HasSuffix(stable, "that it works.\n\nNo jokes, m1.") {
		t.Errorf("want the style's addendum at the end of:\n%s", stable)
	}
	c.Facts.Profile.Style = "Be kind to {{user_name}}."
	_, _, err := standard(t).Parts(c, noon)
	checkFault(t, err, prompt.UserLast, "Conversation style")
	c.Facts.Profile = prompt.Profile{LinkPreviews: "{{nope}}"}
	_, _, err = standard(t).Parts(c, noon)
	checkFault(t, err, prompt.Unknown, "Link previews override", "nope")
}

// TestGuidance is R-PROMPT-24: guidance is there with its tool and not without.
func TestGuidance(t *testing.T) {
	r := standard(t)
	tool := prompt.ToolSchema{Name: "bash", Description: "Runs it.", Guidance: "Quote paths for {{model}}."}
	with := parts(t, r, prompt.Context{Model: "m1", Tools: []prompt.ToolSchema{tool}}, noon).Stable
	if !strings.Contains(with, "\n\nQuote paths for m1.\n\n") || strings.Contains(with, tool.Description) {
		t.Errorf("want the guidance and not the description in:\n%s", with)
	}
	if without := parts(t, r, prompt.Context{Model: "m1"}, noon).Stable; strings.Contains(without, "Quote paths") {
		t.Errorf("want no guidance without its tool in:\n%s", without)
	}
	must(t)(r.Section(prompt.Section{Name: "tool:bash", Order: 151, Text: "Own words."}))
	own := parts(t, r, prompt.Context{Tools: []prompt.ToolSchema{tool}}, noon).Stable
	if !strings.Contains(own, "Own words.") || strings.Contains(own, "Quote") {
		t.Errorf("want the registered section in place of the guidance in:\n%s", own)
	}
}

func TestLanguage(t *testing.T) {
	for locale, want := range map[string]string{
		"": "English", "en": "English", "en_GB.UTF-8": "English", "de": "German", "de_AT@euro": "German",
		"pt": "Portuguese", "pt-br": "Brazilian Portuguese", "zh_TW": "Traditional Chinese",
		"zh-Hant-HK": "Traditional Chinese", "zh-Hans-CN": "Simplified Chinese", "ja_JP": "Japanese",
		"C": "English", "POSIX": "English", "qq": "English", "-": "English",
		strings.Repeat("de-", 1<<20): "English",
	} {
		p := parts(t, standard(t), prompt.Context{Facts: prompt.Facts{Locale: locale}}, noon)
		if !strings.Contains(p.Stable, "at the beginning that is "+want+".") {
			t.Errorf("locale %.40q: want %s", locale, want)
		}
	}
}
