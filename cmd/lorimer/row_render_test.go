//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// profilesFile is what is said of models, below the home of the agent.
const profilesFile = ".config/lorimer/models.toml"

// A sheet is what "lorimer prompt render --json" prints.
type sheet struct {
	Sections  []sheetSection
	Variables map[string]struct {
		Text string
		Set  bool
	}
	Tools []struct{ Name, Description, Guidance string }
}

type sheetSection struct {
	Name    string
	Order   float64
	Text    string
	Literal bool
}

// declares gives the agent a script model that always answers, and a configuration
// of the lines.
func (e *editor) declares(lines ...string) *editor {
	e.t.Helper()
	model := "script:" + e.file("script.jsonl", always)
	e.file(configFile, fmt.Sprintf("model = %q\n", model)+strings.Join(lines, "\n")+"\n")
	return e
}

// toolless has the models of scripts call no tools, and says the lines of them.
func (e *editor) toolless(lines ...string) *editor {
	e.t.Helper()
	e.file(profilesFile, "[models.\"script:*\"]\ntool_usage = 0\n"+strings.Join(lines, "\n")+"\n")
	return e
}

// sheet renders the prompt in the workspace.
func (e *editor) sheet(args ...string) (s sheet) {
	e.t.Helper()
	out := e.prints(append([]string{"prompt", "render", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		e.t.Fatalf("%v: %s", err, out)
	}
	return s
}

// part renders a part of the prompt in the workspace, without the line feed at its
// end.
func (e *editor) part(part string, args ...string) string {
	e.t.Helper()
	return strings.TrimSuffix(e.prints(append([]string{"prompt", "render", "--part", part}, args...)...), "\n")
}

// text returns what a section says, with its variables filled in.
func (s sheet) text(name string) string {
	var pairs []string
	for name, v := range s.Variables {
		if v.Set {
			pairs = append(pairs, "{{"+name+"}}", v.Text)
		}
	}
	for _, e := range s.Sections {
		switch {
		case e.Name != name:
		case e.Literal:
			return strings.Trim(e.Text, "\n")
		default:
			return strings.Trim(strings.NewReplacer(pairs...).Replace(e.Text), "\n")
		}
	}
	return ""
}

// said returns the names of the sections that say something, in order.
func (s sheet) said() (names []string) {
	for _, e := range s.Sections {
		if strings.TrimSpace(e.Text) != "" {
			names = append(names, e.Name)
		}
	}
	return names
}

// stable joins what the sections say.
func (s sheet) stable() string {
	var texts []string
	for _, name := range s.said() {
		texts = append(texts, s.text(name))
	}
	return strings.Join(texts, "\n\n")
}

// lacks checks that none of the words is in a text.
func lacks(t *testing.T, what, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if i := strings.Index(text, w); i >= 0 {
			t.Errorf("%s has %q: …%s…", what, w, text[max(0, i-60):min(len(text), i+60)])
		}
	}
}

// holds checks that all of the words are in a text, one behind the other.
func holds(t *testing.T, what, text string, words ...string) {
	t.Helper()
	at := 0
	for _, w := range words {
		i := strings.Index(text[at:], w)
		if i < 0 {
			t.Errorf("%s lacks %q, or has it in another place:\n%s", what, w, text)
			return
		}
		at += i + len(w)
	}
}

// laden fills the home and the workspace of an agent with all that a prompt can be
// made of: files of two directories, a project, a workspace of documents, 40
// skills, sections, variables, hooks and a profile. It returns the flags that bind
// a session to the workspace of documents. With backwards the same things come in
// the opposite order.
func (e *editor) laden(backwards bool) (flags []string) {
	e.t.Helper()
	e.seed("AGENTS.md", "Write British English.\n@parts/more.md\n")
	e.seed("parts/more.md", "Tabs, never {{blanks}}.\n")
	e.seed("inner/AGENTS.md", "Run `make check`.\n")
	e.seed("inner/contract.md", "Net 30.\n")
	e.cwd = filepath.Join(e.cwd, "inner")
	var numbers []int
	for i := range 40 {
		numbers = append(numbers, i)
	}
	if backwards {
		slices.Reverse(numbers)
	}
	for _, i := range numbers {
		text := fmt.Sprintf("---\nname: kind-%02d\ndescription: Use for work of kind %d.\n---\nBody of kind %d.\n", i, i, i)
		if i%2 == 0 {
			e.file(fmt.Sprintf(".agents/skills/kind-%02d/SKILL.md", i), text)
		} else {
			e.seed(fmt.Sprintf(".agents/skills/kind-%02d/SKILL.md", i), text)
		}
	}
	e.declares(`persona = "You are patient, {{who}}."`, `locale = "de"`,
		`[context]`, `name = "Ada {{x}}"`, `location = "Oslo"`, `latitude = 59.91`, `longitude = 10.75`,
		`units = "metric"`, `time = "24h"`, `currency = "NOK"`,
		`[[section]]`, `name = "house:quote"`, `order = 31`, `text = "Braces {{stay}}."`, `literal = true`,
		`[[section]]`, `name = "house:rules"`, `order = 155`, `text = "The rules are {{rules}}."`,
		`[[variable]]`, `name = "rules"`, `value = "in RULES.md"`,
		`[[variable]]`, `name = "who"`, `value = "mostly"`,
		`[[hook]]`, `action = "append"`, `section = "Principles"`, `text = "Count twice."`,
		`[[hook]]`, `action = "replace"`, `section = "Link previews"`, `text = "Link to {{rules}}."`,
		`[[hook]]`, `action = "reorder"`, `target = "tools"`, `order = ["write", "bash"]`,
	)
	e.file(profilesFile, "[models.\"script:*\"]\ntools_override = \"One call at a time.\"\nlink_previews_override = \"Three links at most.\"\nchat_mode_addendum = \"No jokes.\"\n")
	e.prints("project", "add", "Web shop", "--instructions", "Prices are in {{cents}}.")
	id := strings.TrimSpace(e.prints("workspace", "create", "Supplier contracts"))
	e.prints("workspace", "add", id, "contract.md", "--collection", "2026")
	return []string{"--workspace", id}
}

// Row 1 (R-PROMPT-21): the prompt is its stable part, a blank line and its volatile
// part, and the stable part is what its sections say.
func TestRow001Parts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		prepare func(e *editor) (flags []string)
	}{
		{"nothing", func(e *editor) []string { return nil }},
		{"a model without tools", func(e *editor) []string { e.declares().toolless(); return nil }},
		{"all that there is", func(e *editor) []string { return e.laden(false) }},
		{"the date in the system prompt", func(e *editor) []string {
			e.declares("[prompt_cache]", `volatile_placement = "system"`)
			return nil
		}},
		{"a stored session", func(e *editor) []string {
			e.declares().acp()
			s := e.open(nil)
			e.prompt(s, "hello")
			e.leave()
			return []string{"--session", s}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := newEditor(t)
			e.declares()
			flags := append(tt.prepare(e), "--clock", "2026-03-05T14:07:00Z", "--tz", "UTC")
			stable, volatile, full := e.part("stable", flags...), e.part("volatile", flags...), e.part("full", flags...)
			if want := stable + "\n\n" + volatile; full != want {
				t.Errorf("full part (-want +got):\n%s", cmp.Diff(want, full))
			}
			if stable == "" || volatile == "" || strings.Contains(stable, volatile) || strings.Contains(full, "\n\n\n") {
				t.Errorf("want two parts and single blank lines in:\n%s", full)
			}
			if got := strings.TrimSuffix(e.prints(append([]string{"prompt", "render"}, flags...)...), "\n"); got != full {
				t.Errorf("without --part (-want +got):\n%s", cmp.Diff(full, got))
			}
			if got := e.sheet(flags...).stable(); got != stable {
				t.Errorf("what the sections say (-want +got):\n%s", cmp.Diff(stable, got))
			}
		})
	}
}

// dateLike is what a date or a time looks like in English.
var dateLike = regexp.MustCompile(`\b(?:19|20)\d\d\b|\b\d{1,2}[:.]\d\d\b|\b(?:January|February|March|April|May|June|July|August|September|October|November|December)\b|` +
	`(?:Sun|Mon|Tues|Wednes|Thurs|Fri|Satur)day|\b(?:AM|PM|UTC|GMT|CET|CEST)\b`)

// Row 2 (R-PROMPT-21): the volatile part is the date in long English, whatever the
// locale, and nothing else; nothing in the stable part looks like one, and it does
// not depend on the clock.
func TestRow002Date(t *testing.T) {
	t.Parallel()
	e := newEditor(t).declares(`locale = "ja"`)
	e.seed("AGENTS.md", "Be brief.\n")
	stable := e.part("stable")
	for _, got := range dateLike.FindAllString(stable, -1) {
		t.Errorf("the stable part has %q, which looks like a date:\n%s", got, stable)
	}
	tests := []struct{ clock, zone, want string }{
		{"2026-03-05T14:07:00Z", "UTC", "Thursday, March 5, 2026 at 2:07 PM UTC"},
		{"2026-03-05T14:07:00Z", "Europe/Berlin", "Thursday, March 5, 2026 at 3:07 PM CET"},
		{"2026-12-31T23:30:00Z", "Europe/Berlin", "Friday, January 1, 2027 at 12:30 AM CET"},
		{"2028-02-29T12:00:59Z", "UTC", "Tuesday, February 29, 2028 at 12:00 PM UTC"},
		{"2026-07-01T00:05:00+02:00", "Asia/Kathmandu", "Wednesday, July 1, 2026 at 3:50 AM GMT+05:45"},
	}
	for _, tt := range tests {
		flags := []string{"--clock", tt.clock, "--tz", tt.zone}
		if got, want := e.part("volatile", flags...), "Current date and time: "+tt.want; got != want {
			t.Errorf("%s in %s: volatile part = %q, want %q", tt.clock, tt.zone, got, want)
		}
		if got := e.part("stable", flags...); got != stable {
			t.Errorf("%s in %s: the stable part differs (-want +got):\n%s", tt.clock, tt.zone, cmp.Diff(stable, got))
		}
	}
}

// Row 3 (R-PROMPT-22, C122): what one process and the next one, an hour later, send
// of a session begins with the same bytes: the system string, and each message that
// was sent before.
func TestRow003TwoProcesses(t *testing.T) {
	t.Parallel()
	for _, full := range []bool{false, true} {
		t.Run(fmt.Sprint("with all that there is: ", full), func(t *testing.T) {
			t.Parallel()
			e := newEditor(t)
			e.declares()
			meta := object{}
			if full {
				meta = namespaced("workspace", e.laden(false)[1])
			}
			e.acp("--clock", "2026-03-05T14:07:00Z", "--tz", "UTC")
			e.call("initialize", object{"protocolVersion": 1}, nil)
			var s struct{ SessionID string }
			e.call("session/new", object{"cwd": e.cwd, "mcpServers": []any{}, "_meta": meta}, &s)
			e.prompt(s.SessionID, "one")
			next := e.restart("--clock", "2026-03-05T15:07:00Z", "--tz", "UTC")
			next.load(s.SessionID)
			next.prompt(s.SessionID, "two")

			requests := next.requests(s.SessionID)
			if len(requests) != 2 {
				t.Fatalf("%d requests, want 2", len(requests))
			}
			first, second := requests[0], requests[1]
			if first.System != second.System {
				t.Errorf("system strings (-first +second):\n%s", cmp.Diff(first.System, second.System))
			}
			if first.Signature != second.Signature || !slices.Equal(first.Tools, second.Tools) {
				t.Errorf("signatures %s and %s, tools %q and %q, want them equal", first.Signature, second.Signature, first.Tools, second.Tools)
			}
			if diff := cmp.Diff(first.Messages, second.Messages[:len(first.Messages)]); diff != "" {
				t.Errorf("messages of the first request in the second (-first +second):\n%s", diff)
			}
			dates := []string{first.Messages[0].text(), second.Messages[len(second.Messages)-1].text()}
			if !strings.HasSuffix(dates[0], " at 2:07 PM UTC") || !strings.HasSuffix(dates[1], " at 3:07 PM UTC") {
				t.Errorf("newest messages = %q, want each to end with its own time", dates)
			}
			if full {
				holds(t, "the system string", first.System, "mostly", "Count twice.", "Web shop", "{{cents}}", "British English", "{{blanks}}",
					"make check", "{{stay}}", "Supplier contracts", "One call", "kind-00", "kind-39", "RULES.md", "Link to", "Three links", "German", "No jokes.")
			}
		})
	}
}

// Row 3: of a hundred sends in one process, from ten sessions and an hour apart, all
// have the same system string, the same tools and the same signature, and each
// session is built once.
func TestRow003HundredSends(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	meta := namespaced("workspace", e.laden(false)[1])
	e.acp("--clock", "2026-12-31T14:07:00Z", "--clock-step", "61m", "--tz", "UTC")
	e.call("initialize", object{"protocolVersion": 1}, nil)
	var want requestLine
	for range 10 {
		var s struct{ SessionID string }
		e.call("session/new", object{"cwd": e.cwd, "mcpServers": []any{}, "_meta": meta}, &s)
		for range 10 {
			e.prompt(s.SessionID, "go on")
		}
		if want.System == "" {
			want = e.requests(s.SessionID)[0]
		}
		built := append([]string{"built"}, slices.Repeat([]string{"reused"}, 9)...)
		if got := e.harnesses(s.SessionID); !slices.Equal(got, built) {
			t.Errorf("harnesses = %q, want %q", got, built)
		}
	}
	all := e.requests("")
	if len(all) != 100 {
		t.Fatalf("%d requests, want 100", len(all))
	}
	for i, r := range all {
		if r.System != want.System || r.Signature != want.Signature || !slices.Equal(r.Tools, want.Tools) {
			t.Fatalf("request %d differs in its tools %q, its signature or its system string (-first +got):\n%s", i+1, r.Tools, cmp.Diff(want.System, r.System))
		}
	}
}

// Row 3: the order in which files, skills, a project and a workspace came to be does
// not show, nor do the directories that they are in.
func TestRow003Order(t *testing.T) {
	t.Parallel()
	var stable []string
	for _, backwards := range []bool{false, true} {
		e := newEditor(t)
		stable = append(stable, e.part("stable", e.laden(backwards)...))
	}
	if stable[0] != stable[1] {
		t.Errorf("stable parts (-forwards +backwards):\n%s", cmp.Diff(stable[0], stable[1]))
	}
}
