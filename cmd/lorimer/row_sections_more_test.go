//go:build unix

package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

// Row 15 (R-PROMPT-26): the locale changes the name of a language in the stable
// part, and nothing else; its body is English for all.
func TestRow015Language(t *testing.T) {
	t.Parallel()
	const at = "at the beginning that is "
	e := newEditor(t).declares(`locale = "en"`)
	english := e.part("stable")
	holds(t, "the section Language", e.sheet().text("Language"), "in the language of the conversation", "Logs, code, quotations or results in another language do not change it",
		"summarise them in the language of the reply", "shows no language, stay with the one in use", at+"English.", "a whole message in another language, or asks for it")
	for locale, name := range map[string]string{"ja": "Japanese", "pt-BR": "Brazilian Portuguese", "de_AT": "German"} {
		e.declares(`locale = "` + locale + `"`)
		want := strings.Replace(english, at+"English.", at+name+".", 1)
		if got := e.part("stable"); got != want || got == english {
			t.Errorf("locale %s: stable part (-want +got):\n%s", locale, cmp.Diff(want, got))
		}
	}

	e.declares()
	e.env = append(e.env, "LANG=ja_JP.UTF-8")
	japanese := strings.Replace(english, at+"English.", at+"Japanese.", 1)
	if got := e.part("stable"); got != japanese {
		t.Errorf("LANG of the environment: stable part (-want +got):\n%s", cmp.Diff(japanese, got))
	}
	for _, r := range japanese {
		if unicode.IsLetter(r) && r > unicode.MaxLatin1 {
			t.Errorf("the prompt for Japanese has the letter %q, want English", r)
		}
	}
	e.acp()
	e.call("initialize", object{"protocolVersion": 1}, nil)
	for locale, want := range map[string]string{"en": english, "ja": japanese} {
		var s struct{ SessionID string }
		e.call("session/new", object{"cwd": e.cwd, "mcpServers": []any{}, "_meta": namespaced("locale", locale)}, &s)
		e.prompt(s.SessionID, "hello")
		if got := e.lastRequest(s.SessionID).System; !strings.HasPrefix(got, want+"\n\n") {
			t.Errorf("locale %s of the client: system string (-want +got):\n%s", locale, cmp.Diff(want, got))
		}
	}
}

// Row 16 (M-31): what the profile of a model adds stands at the end of the last
// section, with tools and without, and for that model alone.
func TestRow016Addendum(t *testing.T) {
	t.Parallel()
	for _, usage := range []int{1, 0} {
		e := newEditor(t).declares()
		e.file(profilesFile, fmt.Sprintf("[models.\"script:*\"]\ntool_usage = %d\n", usage))
		plain := e.sheet()
		e.file(profilesFile, fmt.Sprintf("[models.\"script:*\"]\ntool_usage = %d\nchat_mode_addendum = \"\"\"\nNo jokes, {{model}}.\nNever.\n\"\"\"\n", usage))
		sheet, stable := e.sheet(), e.part("stable")
		holds(t, "the section", plain.text(lastSection), "# Conversation style", "Begin with the answer", "Be brief", "Write plainly")
		const addendum = "\n\nNo jokes, Script.\nNever."
		if got, want := sheet.text(lastSection), plain.text(lastSection)+addendum; got != want {
			t.Errorf("tool usage %d: last section (-want +got):\n%s", usage, cmp.Diff(want, got))
		}
		if want := plain.stable() + addendum; stable != want || sheet.said()[len(sheet.said())-1] != lastSection {
			t.Errorf("tool usage %d: stable part (-want +got):\n%s", usage, cmp.Diff(want, stable))
		}
		if other := e.part("stable", "--model", "offline"); strings.Contains(other, "jokes") {
			t.Errorf("another model is told it too:\n%s", other)
		}
	}
}

// Row 17 (R-PROMPT-24), as far as the program has web tools, which is not at all:
// settings bring no word about having them. That the words come with both tools and
// not with one of them is shown by the tests of the prompt.
func TestRow017WebTools(t *testing.T) {
	t.Parallel()
	for _, config := range []string{"", "[web]\nbackend = \"searxng\"\nurl = \"http://127.0.0.1:9/\"\n", "[web]\nbackend = \"searxng\"\n[web.caps]\nsearch = 3\n"} {
		e := newEditor(t).declares(config)
		e.acp()
		s := e.open(nil)
		e.prompt(s, "/search the weather")
		r := e.lastRequest(s)
		if slices.Contains(r.Tools, "search") || slices.Contains(r.Tools, "fetch_content") {
			t.Errorf("with %q the tools are %q", config, r.Tools)
		}
		if said := e.sheet().said(); slices.Contains(said, "Web tools") {
			t.Errorf("with %q the sections are %q, want no Web tools", config, said)
		}
		lacks(t, "the system string", r.System, "\n# Web\n", "`search` finds", "fetch_content")
	}
}

// Row 18 (R-PROMPT-23): of two profiles, the prompts differ in exactly their texts,
// each behind the section that it says more of.
func TestRow018Overrides(t *testing.T) {
	t.Parallel()
	e := newEditor(t).declares()
	e.file(profilesFile, `[models."script:*"]
name = "Same"
[models."script:b"]
tools_override = "# Calls\n\nOne at a time, {{model}}."
[models."script:c"]
link_previews_override = "Never to a shop."
[models."script:d"]
tools_override = "Two at a time."
link_previews_override = "Only to shops."
`)
	render := func(model string) (sheet, string) {
		return e.sheet("--model", "script:"+model), e.part("stable", "--model", "script:"+model)
	}
	bare, stable := render("a")
	behind := func(section, text string) func(string) string {
		return func(s string) string {
			return strings.Replace(s, bare.text(section), bare.text(section)+"\n\n"+text, 1)
		}
	}
	tests := []struct {
		model   string
		changes []func(string) string
	}{
		{"b", []func(string) string{behind("Tools", "# Calls\n\nOne at a time, Same.")}},
		{"c", []func(string) string{behind("Link previews", "Never to a shop.")}},
		{"d", []func(string) string{behind("Tools", "Two at a time."), behind("Link previews", "Only to shops.")}},
	}
	for _, tt := range tests {
		want := stable
		for _, change := range tt.changes {
			want = change(want)
		}
		if _, got := render(tt.model); got != want || got == stable {
			t.Errorf("model %s: stable part (-want +got):\n%s", tt.model, cmp.Diff(want, got))
		}
	}

	e.file(profilesFile, "[models.\"script:*\"]\nlink_previews_override = \"To {{shops}}.\"\n")
	if got := e.fails("prompt", "render"); !strings.Contains(got, `models.toml:2: prompt section "Link previews override": no variable "shops"`) {
		t.Errorf("a profile with an unknown variable: %q, want a line that names the place and the section", got)
	}
}

// skilled gives an agent skills of each kind: of the user, of the workspace, one that
// is switched off. The result is the metadata that brings one of the client.
func (e *editor) skilled() (meta object) {
	e.t.Helper()
	e.file(".agents/skills/letters/SKILL.md", "---\nname: letters\ndescription: |\n  Use for letters\n\n    and   {{cards}}.\noutput-contract: true\n---\nBODY OF LETTERS, {{all}} of it.\n\nIts second paragraph.\n")
	e.file(".agents/skills/poems/SKILL.md", "---\nname: poems\ndescription: Use for poems.\n---\nBODY OF POEMS\n")
	e.file(".agents/skills/off/SKILL.md", "---\nname: off\ndescription: Use never.\nenabled: false\noutput-contract: true\n---\nBODY OF OFF\n")
	e.seed(".agents/skills/release/SKILL.md", "---\nname: release\ndescription: Use for releases.\n---\nBODY OF RELEASE\n")
	return namespaced("skills", []any{
		object{"name": "house", "description": "Use for every text.", "instruction": "BODY OF HOUSE"},
		object{"name": "table", "description": "Use for tables.", "instruction": "BODY OF TABLE", "outputContract": true},
		object{"name": "hidden", "description": "Use never.", "instruction": "BODY OF HIDDEN", "enabled": false},
	})
}

// firstRequest opens a session with the metadata and returns its first request.
func (e *editor) firstRequest(meta object) requestLine {
	e.t.Helper()
	e.acp()
	e.call("initialize", object{"protocolVersion": 1}, nil)
	var s struct{ SessionID string }
	e.call("session/new", object{"cwd": e.cwd, "mcpServers": []any{}, "_meta": meta}, &s)
	e.prompt(s.SessionID, "hello")
	return e.lastRequest(s.SessionID)
}

// skillLines are the lines of the skills that skilled brings, and the beginnings of
// those of the built-in ones.
func skillLines() []string {
	return []string{"\n- house: Use for every text.\n", "\n- letters: Use for letters and {{cards}}.\n", "\n- poems: Use for poems.\n",
		"\n- release: Use for releases.\n", "\n- research: Investigate", "\n- search: Look", "\n- table: Use for tables.\n"}
}

// Row 20 (R-PROMPT-41): a model that can call tools is told the name and the
// description of each skill on a line, how to load one, and no instruction.
func TestRow020SkillsWithTools(t *testing.T) {
	t.Parallel()
	e := newEditor(t).declares()
	r := e.firstRequest(e.skilled())
	_, section, _ := strings.Cut(r.System, "\n# Skills\n")
	section, _, _ = strings.Cut(section, "\n# ")
	holds(t, "the section Skills", section, "load its full text with the `skill` tool", "A `/name` of one of them", "loaded already")
	for _, line := range skillLines() {
		holds(t, "the section Skills", section, line)
	}
	if n := strings.Count(section, "\n- "); n != len(skillLines()) {
		t.Errorf("%d skills are listed, want %d:\n%s", n, len(skillLines()), section)
	}
	lacks(t, "the system string", r.System, "BODY OF", "second paragraph", "Use never", "Read the pages that")
	if !slices.Contains(r.Tools, "skill") {
		t.Errorf("tools = %q, want skill among them", r.Tools)
	}
	for _, name := range []string{"search", "research"} { // not a line of a built-in one either
		body := e.prints("tools", "call", "skill", `{"name": "`+name+`"}`)
		for line := range strings.Lines(body) {
			if line = strings.TrimSpace(line); len(line) > 30 {
				lacks(t, "the system string", r.System, line)
			}
		}
	}
}

// Row 21 (R-PROMPT-42): a model that cannot call tools is told the same lines, and
// all of the skills that settle an output, and of no others.
func TestRow021SkillsWithoutTools(t *testing.T) {
	t.Parallel()
	e := newEditor(t).declares().toolless()
	r := e.firstRequest(e.skilled())
	_, section, _ := strings.Cut(r.System, "\n# Skills\n")
	section, _, _ = strings.Cut(section, "\n# ")
	for _, line := range skillLines() {
		holds(t, "the section Skills", section, line)
	}
	holds(t, "the section Skills", section, "\n- table: ", "BODY OF LETTERS, {{all}} of it.\n\nIts second paragraph.\n", "BODY OF TABLE\n")
	lacks(t, "the system string", r.System, "BODY OF POEMS", "BODY OF RELEASE", "BODY OF HOUSE", "BODY OF OFF", "BODY OF HIDDEN", "Use never", "`skill` tool")
	if len(r.Tools) > 0 {
		t.Errorf("tools = %q, want none", r.Tools)
	}

	e = newEditor(t).declares().toolless()
	e.file(".agents/skills/poems/SKILL.md", "---\nname: poems\ndescription: Use for poems.\n---\nBODY OF POEMS\n")
	stable := e.part("stable")
	holds(t, "the prompt without contracts", stable, "# Skills", "- poems: Use for poems.\n", "- research: ")
	lacks(t, "the prompt without contracts", stable, "BODY OF", "<skill name")
}

// Row 22 (R-PROMPT-43): without a skill there is no heading, for either kind of
// model, and the session notices.
func TestRow022NoSkills(t *testing.T) {
	t.Parallel()
	for _, disabled := range []string{`"*"`, `"search", "research", "letters", "poems", "release"`} {
		for _, prepare := range []func(*editor) *editor{func(e *editor) *editor { return e }, func(e *editor) *editor { return e.toolless() }} {
			e := prepare(newEditor(t).declares())
			e.skilled()
			e.acp()
			s := e.open(nil)
			e.prompt(s, "one")
			e.declares("[skills]", "disabled = ["+disabled+"]")
			e.prompt(s, "two")
			if said := e.sheet().said(); slices.Contains(said, "Skills") {
				t.Errorf("sections = %q, want no Skills", said)
			}
			for i, r := range e.requests(s) {
				if got := strings.Contains(r.System, "\n# Skills\n"); got != (i == 0) {
					t.Errorf("system string %d has a heading for skills: %v, want it in the first alone", i+1, got)
				}
			}
			turns := e.turns(s)
			if got := turns[1]; got.Harness != "rebuilt" || !slices.Contains(got.Changed, "stablePrompt") {
				t.Errorf("second turn = %+v, want it rebuilt for the stable prompt", got)
			}
			lacks(t, "the prompt without skills", e.lastRequest(s).System, "BODY OF", "letters")
		}
	}
}

// Row 145 (R-PROMPT-57): the five parts of a prompt about documents are five
// sections of this one.
func TestRow145CanonicalParts(t *testing.T) {
	t.Parallel()
	e := newEditor(t).declares(`locale = "fr"`)
	e.seed("contract.md", "Net 30, BODY OF THE CONTRACT.\n")
	e.seed("other.md", "Another.\n")
	id := strings.TrimSpace(e.prints("workspace", "create", "Supplier {{contracts}}", "--description", "Signed ones."))
	added := e.prints("workspace", "add", id, "contract.md", "other.md", "--collection", "2026")
	key := regexp.MustCompile(`document:[0-9a-f]{16}`).FindString(added)
	e.prints("workspace", "pin", id, key)
	sheet, stable := e.sheet("--workspace", id), e.part("stable", "--workspace", id)
	parts := []struct {
		section string
		order   float64
		words   []string
	}{
		{"Workspace", 40, []string{"Supplier {{contracts}}", id, "Documents: 2", "2026", "contract.md", key}},
		{"Principles", 10, []string{"reasoning to yourself", "Never invent", "Do what was asked"}},
		{"Multi-step and recovery", 190, []string{"Do not give the full answer before the tools have run", "Do not repeat a failed call"}},
		{"Output format", 200, []string{"Markdown", "Cite"}},
		{"Language", 210, []string{"French"}},
	}
	for _, p := range parts {
		i := slices.IndexFunc(sheet.Sections, func(s sheetSection) bool { return s.Name == p.section })
		if i < 0 || sheet.Sections[i].Order != p.order {
			t.Errorf("no section %s with the order %v: %+v", p.section, p.order, sheet.Sections)
			continue
		}
		holds(t, "the section "+p.section, sheet.text(p.section), p.words...)
		if !strings.Contains(stable, "\n\n"+sheet.text(p.section)+"\n\n") {
			t.Errorf("the stable part lacks the section %s:\n%s", p.section, stable)
		}
	}
	lacks(t, "the stable part", stable, "BODY OF THE CONTRACT", "Net 30")
	if said := e.sheet().said(); slices.Contains(said, "Workspace") {
		t.Errorf("without a workspace the sections are %q", said)
	}
}

// Row 147 (R-PROMPT-23): work in many steps and recovery from errors are spoken of
// where there is a tool, be it one, and nowhere else.
func TestRow147MultiStep(t *testing.T) {
	t.Parallel()
	const name = "Multi-step and recovery"
	e := newEditor(t).declares()
	with := e.sheet()
	holds(t, "the section", with.text(name), "Do not give the full answer before the tools have run", "give it once, at the end",
		"Do not repeat a failed call with the same input", "When something cannot be done, say what, why")
	reading := e.sheet("--mode", "read-only")
	if reading.text(name) != with.text(name) {
		t.Errorf("the section differs with fewer tools:\n%s", cmp.Diff(with.text(name), reading.text(name)))
	}
	without := e.toolless().sheet()
	if without.text(name) != "" || strings.Contains(without.stable(), "failed call") {
		t.Errorf("without tools the section says %q", without.text(name))
	}
	e.acp()
	s := e.open(nil)
	e.prompt(s, "without")
	e.file(profilesFile, "")
	e.prompt(s, "with")
	for i, r := range e.requests(s) {
		if got := strings.Contains(r.System, with.text(name)); got != (i == 1) {
			t.Errorf("system string %d has the section: %v, want it in the second alone", i+1, got)
		}
	}
}
