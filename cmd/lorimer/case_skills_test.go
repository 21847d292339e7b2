//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// A listedSkill is what "lorimer skills list" says of a skill.
type listedSkill struct {
	Name, Scope, Path, Description string
	Enabled                        bool
}

// outputs runs another lorimer, as the agent of e is run, and returns what it wrote.
// Its exit code does not matter.
func (e *editor) outputs(args ...string) (stdout, stderr string) {
	e.t.Helper()
	words := slices.Concat(e.within, []string{"lorimer"}, args)
	cmd := exec.CommandContext(e.t.Context(), words[0], words[1:]...)
	cmd.Dir = e.cwd
	cmd.Env = append([]string{"HOME=" + e.home, "PATH=" + os.Getenv("PATH"), raceOptions()}, e.env...)
	var out, diag bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &diag
	if err := cmd.Run(); cmd.ProcessState == nil {
		e.t.Fatal(err)
	}
	return out.String(), diag.String()
}

// skills returns what "lorimer skills list" lists, by name, and what it writes on
// standard error.
func (e *editor) skills() (all map[string]listedSkill, diag string) {
	e.t.Helper()
	out, diag := e.outputs("skills", "list", "--json")
	var list []listedSkill
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		e.t.Fatalf("%v: %s%s", err, out, diag)
	}
	if !slices.IsSortedFunc(list, func(a, b listedSkill) int { return strings.Compare(a.Name, b.Name) }) {
		e.t.Errorf("skills are not sorted: %+v", list)
	}
	all = make(map[string]listedSkill)
	for _, s := range list {
		if _, twice := all[s.Name]; twice {
			e.t.Errorf("skill %s is listed twice", s.Name)
		}
		all[s.Name] = s
	}
	return all, diag
}

// about returns the lines of a text that name a file or a folder.
func about(text, path string) (lines []string) {
	for line := range strings.Lines(text) {
		at := strings.Index(line, path)
		if at >= 0 && !strings.HasPrefix(line[at+len(path):], "-") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// A wreck is a skill with something wrong, and what must become of it.
type wreck struct {
	name   string
	make   func(t *testing.T, folder, outside string)
	loads  bool
	says   string // what the one line about it has, "" for no line
	inHome *wreck // in the user's own folder, if that is something else
}

func written(name, content string) func(*testing.T, string, string) {
	return func(t *testing.T, folder, _ string) { replaceFile(t, filepath.Join(folder, name, "SKILL.md"), content) }
}

func linked(links ...string) func(*testing.T, string, string) {
	return func(t *testing.T, folder, outside string) {
		for i := 0; i < len(links); i += 2 {
			if err := os.Symlink(strings.ReplaceAll(links[i+1], "OUTSIDE", outside), filepath.Join(folder, links[i])); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func wrecks() []wreck {
	crlf := "\ufeff" + strings.ReplaceAll(textSkill("marked", "With marks.", "One.\nTwo."), "\n", "\r\n")
	return []wreck{
		{name: "colon", make: written("colon", textSkill("colon", "Use this: always, and # so.", "Do it.")), loads: true, says: "no YAML"},
		{name: "bare", make: written("bare", "Just do it.\n"), says: "has no front matter"},
		{name: "long", make: written("long", textSkill("long", strings.Repeat("word ", 220)+"end.", "Do it.")), loads: true, says: "is cut at 1024"},
		{name: "empty", make: written("empty", ""), says: "is empty"},
		{name: "marked", make: written("marked", crlf), loads: true},
		{name: "chain", make: linked("chain", ".chain-1", ".chain-1", ".chain-2", ".chain-2", "../../real/chain"), loads: true},
		{name: "out", make: linked("out", "OUTSIDE/out"), says: "leads out of the workspace", inHome: &wreck{loads: true}},
		{name: "loop", make: linked("loop", ".loop-1", ".loop-1", "loop"), says: "leads back to itself"},
		{name: "above", make: linked("above", ".."), says: "is missing"},
		{name: "lost", make: linked("lost", "nowhere"), says: "not there"},
		{name: "huge", make: written("huge", textSkill("huge", "A huge one.", strings.Repeat("A line of text.\n", 2<<20/16))), loads: true, says: "is cut at 65536"},
		{name: "binary", make: written("binary", "---\nname: binary\ndescription: \x00\xff\n---\nDo it.\n"), says: "no text in UTF-8"},
		{name: "open", make: written("open", "---\nname: open\ndescription: Never ends.\n"), says: "has no end"},
		{name: "list", make: written("list", "---\nname: list\ndescription: [a, b]\n---\nDo it.\n"), says: "a list or a mapping"},
		{name: "broken", make: written("broken", "---\nname: broken\ndescription: \"Half a quote\n\t- [x\n---\nDo it.\n"), loads: true, says: "no YAML"},
		{name: "folder", make: func(t *testing.T, folder, _ string) {
			if err := os.MkdirAll(filepath.Join(folder, "folder", "SKILL.md"), 0o700); err != nil {
				t.Fatal(err)
			}
		}, says: "no regular file"},
		{name: "good", make: written("good", textSkill("good", "A good one.", "Do it well.")), loads: true},
	}
}

// C150: one bad skill neither kills nor hides the others. Each is told in one line, by
// "skills list", by the doctor, and by the log once, however many sessions and messages
// there are; what makes sense in spite of it is loaded, and the session works.
func TestC150OneBadSkill(t *testing.T) {
	t.Parallel()
	for _, scope := range []string{"workspace", "user"} {
		t.Run(scope, func(t *testing.T) {
			t.Parallel()
			e := newEditor(t)
			base := map[string]string{"workspace": e.cwd, "user": e.home}[scope]
			folder, outside := filepath.Join(base, ".agents/skills"), t.TempDir()
			replaceFile(t, filepath.Join(base, "real/chain/SKILL.md"), textSkill("chain", "At the end of a chain.", "Do it."))
			replaceFile(t, filepath.Join(outside, "out/SKILL.md"), textSkill("out", "From outside.", "Do it."))
			replaceFile(t, filepath.Join(folder, "README.md"), "No skill.\n")
			all := wrecks()
			for i, w := range all {
				w.make(t, folder, outside)
				if scope == "user" && w.inHome != nil {
					all[i].loads, all[i].says = w.inHome.loads, w.inHome.says
				}
			}
			listed, diag := e.skills()
			lint, _ := e.outputs("skills", "lint")
			doctor, _ := e.outputs("doctor")

			var calls []string
			for _, w := range all {
				calls = append(calls, step("skill", object{"name": w.name}))
			}
			e.acp("--model", "script:"+e.file("script.jsonl", `{"text": "fine"}`+"\n"+strings.Join(calls, "\n")+"\n"+always))
			s := e.open(nil)
			e.prompt(s, "hello")
			disclosed := make(map[string]string)
			for _, w := range all {
				disclosed[w.name] = e.discloses(s, w.name)
			}
			e.prompt(s, "load them")
			results := e.results(s)
			other := e.session()
			e.prompt(other, "/good hello")
			replaceFile(t, filepath.Join(folder, "later.md"), textSkill("later", "Comes later.", "Do it."))
			e.commands(s, -1, func(list map[string]string) bool { return list["later"] != "" })
			e.prompt(s, "hello again")
			e.leave()

			for i, w := range all {
				if got := listed[w.name]; (got.Name != "") != w.loads || w.loads && got.Scope != scope {
					t.Errorf("%s: listed as %+v, want it there: %v", w.name, got, w.loads)
				}
				if got := disclosed[w.name] != ""; got != w.loads || results[i].IsError == w.loads {
					t.Errorf("%s: disclosed: %v, the tool fails: %v; want it there: %v", w.name, got, results[i].IsError, w.loads)
				}
				for where, text := range map[string]string{"list": diag, "lint": lint, "doctor": doctor, "log": e.stderr.String()} {
					lines := about(text, filepath.Join(".agents/skills", w.name))
					if w.says == "" && len(lines) > 0 || w.says != "" && (len(lines) != 1 || !strings.Contains(lines[0], w.says)) {
						t.Errorf("%s: %s says %q, want one line with %q", w.name, where, lines, w.says)
					}
				}
			}
			if got := e.discloses(s, "later"); got != "- later: Comes later." {
				t.Errorf("the prompt says %q of the one that came later", got)
			}
			byName := func(name string) string {
				return results[slices.IndexFunc(all, func(w wreck) bool { return w.name == name })].Text
			}
			if got := disclosed["colon"]; got != "- colon: Use this: always, and # so." {
				t.Errorf("the description with a colon is told as %q", got)
			}
			if n := utf8.RuneCountInString(listed["long"].Description); n < 1000 || n > 1024 {
				t.Errorf("the long description has %d characters, want it cut at 1024", n)
			}
			if got := byName("marked"); !strings.Contains(got, "One.\nTwo.") || strings.Contains(got, "\r") {
				t.Errorf("the text with marks is %q", got)
			}
			if got := byName("huge"); len(got) < 60<<10 || len(got) > 68<<10 || !strings.Contains(got, "left out") {
				t.Errorf("the huge text has %d bytes, want it cut at 64 KiB with a mark", len(got))
			}
		})
	}
}

// C150: a folder that may not be read is told in one line, and the others are there.
func TestC150UnreadableFolder(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	if os.Geteuid() == 0 { // the administrator may read everything, unless that is taken away
		e.within = []string{"setpriv", "--bounding-set=-dac_override,-dac_read_search"}
		if out, err := exec.Command(e.within[0], append(e.within[1:], "true")...).CombinedOutput(); err != nil {
			t.Skipf("NOT RUN: the rights of the administrator cannot be given up: %v: %s", err, out)
		}
	}
	shut := func(path string) {
		if err := os.Chmod(path, 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(path, 0o700) })
	}
	e.seed(".agents/skills/good/SKILL.md", textSkill("good", "A good one.", "Do it."))
	shut(filepath.Dir(e.seed(".agents/skills/shut/SKILL.md", textSkill("shut", "Shut.", "Do it."))))
	shut(e.seed(".agents/skills/sealed/SKILL.md", textSkill("sealed", "Sealed.", "Do it.")))
	shut(filepath.Dir(e.file(".agents/skills/any.md", textSkill("any", "In a folder that is shut.", "Do it."))))
	listed, diag := e.skills()
	doctor, _ := e.outputs("doctor")
	e.acp("--model", "script:"+e.file("script.jsonl", always))
	s := e.open(nil)
	e.prompt(s, "hello")
	e.prompt(s, "hello again")
	if got := e.discloses(s, "good"); got != "- good: A good one." || listed["good"].Name == "" {
		t.Errorf("the prompt says %q of the good one, the list %+v", got, listed)
	}
	e.leave()
	for _, path := range []string{
		filepath.Join(e.cwd, ".agents/skills/shut"), filepath.Join(e.cwd, ".agents/skills/sealed"), filepath.Join(e.home, ".agents/skills"),
	} {
		for where, text := range map[string]string{"list": diag, "doctor": doctor, "log": e.stderr.String()} {
			if lines := about(text, path); len(lines) != 1 || !strings.Contains(lines[0], "lack of permission") {
				t.Errorf("%s: %s says %q, want one line about the permission", path, where, lines)
			}
		}
	}
	if len(listed) != 3 {
		t.Errorf("skills = %+v, want the good one and the two that are built in", listed)
	}
}

// C151: of several skills with one name the strongest scope counts, that of a
// workspace over the user's and the program's own only where it is trusted; that of the
// client over all.
func TestC151Scopes(t *testing.T) {
	t.Parallel()
	const workspace, user, client = "Of the workspace.", "Of the user.", "Of the client."
	builtin := "Look one thing up"
	tests := []struct {
		name            string
		workspace, user []string // the skills that they have
		wire            []any
		trusted         bool
		want            map[string]string // the beginning of the descriptions
		told            int               // skills of the workspace that are not loaded
	}{
		{"untrusted", []string{"deploy", "search"}, []string{"deploy"}, nil, false, map[string]string{"deploy": user, "search": builtin}, 2},
		{"trusted", []string{"deploy", "search"}, []string{"deploy"}, nil, true, map[string]string{"deploy": workspace, "search": workspace}, 0},
		{"all three, untrusted", []string{"search"}, []string{"search"}, nil, false, map[string]string{"search": user}, 1},
		{"all three, trusted", []string{"search"}, []string{"search"}, nil, true, map[string]string{"search": workspace}, 0},
		{"user over built-in", nil, []string{"search"}, nil, false, map[string]string{"search": user}, 0},
		{"a name of its own, untrusted", []string{"own"}, nil, nil, false, map[string]string{"own": workspace, "search": builtin}, 0},
		{"client", []string{"search", "deploy"}, []string{"search"}, []any{object{"name": "search", "description": client, "instruction": client}}, true,
			map[string]string{"search": client, "deploy": workspace}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := newEditor(t)
			for _, name := range tt.workspace {
				e.seed(".agents/skills/"+name+"/SKILL.md", textSkill(name, workspace, workspace))
			}
			for _, name := range tt.user {
				e.file(".agents/skills/"+name+"/SKILL.md", textSkill(name, user, user))
			}
			if tt.trusted {
				e.file(configFile, fmt.Sprintf("skills.trusted = [%q]\n", filepath.Dir(e.cwd)))
			}
			listed, diag := e.skills()
			e.acp("--model", "script:"+e.file("script.jsonl", step("skill", object{"name": "search"})+"\n"+always))
			e.call("initialize", object{"protocolVersion": 1}, nil)
			var s struct{ SessionID string }
			e.call("session/new", object{"cwd": e.cwd, "_meta": namespaced("skills", tt.wire)}, &s)
			e.prompt(s.SessionID, "load it")
			e.prompt(s.SessionID, "/search /deploy /own go")
			notes, _ := e.lastNotes(s.SessionID)
			told := make(map[string]string)
			for _, n := range notes {
				told[strings.TrimPrefix(n.Kind, "skill ")] = n.Text
			}
			if len(told) != len(tt.want) {
				t.Errorf("notes for %q, want for %v", slices.Sorted(maps.Keys(told)), tt.want)
			}
			for name, want := range tt.want {
				if got := e.discloses(s.SessionID, name); !strings.HasPrefix(got, "- "+name+": "+want) {
					t.Errorf("the prompt says %q, want %q", got, want)
				}
				text := want
				if want == builtin {
					text = "# Look one thing up"
				}
				if !strings.Contains(told[name], text) {
					t.Errorf("note of %s = %q, want %q in it", name, told[name], text)
				}
				if got := e.results(s.SessionID)[0].Text; name == "search" && !strings.Contains(got, text) {
					t.Errorf("the tool gives %q, want %q in it", got, text)
				}
				if got := listed[name].Description; want != client && !strings.HasPrefix(got, want) {
					t.Errorf("the list says %q of %s, want %q", got, name, want)
				}
			}
			e.leave()
			for where, text := range map[string]string{"list": diag, "log": e.stderr.String()} {
				if n := strings.Count(text, "trusted under [skills]"); n != tt.told {
					t.Errorf("%s tells of %d skills that are not loaded and how to trust them, want %d:\n%s", where, n, tt.told, text)
				}
			}
		})
	}
}

// toldSkills returns the lines about skills of a prompt, in their order: names, and
// descriptions by them.
func toldSkills(system string) (names []string, descriptions map[string]string) {
	_, section, _ := strings.Cut(system, "\n# Skills\n")
	section, _, _ = strings.Cut(section, "\n# ")
	descriptions = make(map[string]string)
	for line := range strings.Lines(section) {
		if item, ok := strings.CutPrefix(strings.TrimSpace(line), "- "); ok {
			name, description, _ := strings.Cut(item, ": ")
			names = append(names, name)
			descriptions[name] = description
		}
	}
	return names, descriptions
}

// C151: above the size that the list of skills may have, descriptions are shortened
// evenly and none is left out; the list is sorted, and the prompt the same in each
// process, whatever the order in which the files were made.
func TestC151ManySkills(t *testing.T) {
	t.Parallel()
	for _, n := range []int{60, 300} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(1, uint64(n)))
			var systems []string
			script := filepath.Join(t.TempDir(), "script.jsonl")
			replaceFile(t, script, always)
			for range 2 {
				e := newEditor(t)
				for _, i := range random.Perm(n) {
					name := fmt.Sprintf("skill-%03d", i)
					// Texts of other lengths, each of them much longer than its share.
					e.file(".agents/skills/"+name+".md", textSkill(name, name+strings.Repeat(" does it", 90+i%30)+".", "Do it."))
				}
				e.file(".agents/skills/short.md", textSkill("short", "A short one.", "Do it."))
				for range 2 {
					e.acp("--model", "script:"+script)
					s := e.open(nil)
					e.prompt(s, "hello")
					system := e.lastRequest(s).System
					system = strings.ReplaceAll(strings.ReplaceAll(system, e.home, "HOME"), e.cwd, "CWD")
					systems = append(systems, system)
					e.leave()
					e = e.again()
				}
			}
			for i, system := range systems {
				if system != systems[0] {
					t.Errorf("prompt %d differs from the first:\n%s", i, cmp.Diff(systems[0], system))
				}
			}
			names, descriptions := toldSkills(systems[0])
			if len(names) != n+3 || !slices.IsSorted(names) {
				t.Errorf("%d skills are listed, sorted: %v; want %d, sorted:\n%q", len(names), slices.IsSorted(names), n+3, names)
			}
			least, most, size := 1<<20, 0, 0
			for name, description := range descriptions {
				size += len(name) + len(description) + len("- : \n")
				if name == "short" {
					if description != "A short one." {
						t.Errorf("the short description is told as %q", description)
					}
					continue
				}
				least, most = min(least, len(description)), max(most, len(description))
				if strings.HasPrefix(name, "skill-") && !strings.HasPrefix(description, name) {
					t.Errorf("%s is told as %q", name, description)
				}
			}
			if least < 40-8 || most-least > 8 { // a word is not cut in two
				t.Errorf("descriptions have %d to %d bytes, want all alike", least, most)
			}
			if n == 60 && (size > 8<<10 || size < 7<<10) {
				t.Errorf("the list has %d bytes, want it to fill 8 KiB", size)
			}
		})
	}
}
