//go:build unix

package main

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// lints runs "lorimer skills lint" and returns its lines and its exit code.
func (e *editor) lints(args ...string) (lines []string, code int) {
	e.t.Helper()
	out, err := e.run(append([]string{"skills", "lint"}, args...)...)
	if exit, ok := err.(*exec.ExitError); ok {
		code = exit.ExitCode()
	} else if err != nil {
		e.t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines, code
}

// Row 220 (R-PROMPT-40): the linter names each skill with a bad name, in one line
// with its file and a way out, and ends with 1; the others load.
func TestRow220LintNames(t *testing.T) {
	t.Parallel()
	bad := []string{
		"Bad_Name", "UPPER", "-lead", "trail-", "dou--ble", "with space", "ümlaut", "a.b", "a/b", "x" + strings.Repeat("y", 64), "日本", "-",
		"a\u200bb", "{{model}}", "usage", "help", "retry", "compact",
	}
	good := []string{"a", "0", "a-b-c", strings.Repeat("z", 64), "2fast"}
	e := newEditor(t)
	for i, name := range append(slices.Clone(bad), good...) {
		folder := "skill-" + string(rune('a'+i))
		e.seed(".agents/skills/"+folder+"/SKILL.md", textSkill(`"`+name+`"`, "Use it.", "Do it."))
	}
	lines, code := e.lints()
	for i, name := range bad {
		file := filepath.Join(".agents", "skills", "skill-"+string(rune('a'+i)), "SKILL.md: ")
		var about []string
		for _, line := range lines {
			if strings.Contains(line, file) && strings.Contains(line, "the name ") {
				about = append(about, line)
			}
		}
		if len(about) != 1 || !strings.Contains(about[0], "; ") {
			t.Errorf("name %q: lines %q, want one with a way out", name, about)
		}
	}
	if code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	var listed []struct {
		Name, Scope string
		Enabled     bool
	}
	if err := json.Unmarshal([]byte(e.prints("skills", "list", "--json")), &listed); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range listed {
		names = append(names, s.Name)
	}
	if want := slices.Sorted(slices.Values(append(good, "research", "search"))); !slices.Equal(names, want) {
		t.Errorf("skills = %q, want %q", names, want)
	}
	var problems []struct {
		Path, Problem string
		Fatal         bool
	}
	out, _ := e.run("skills", "lint", "--json", ".agents/skills")
	if err := json.Unmarshal(out, &problems); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	fatal := 0
	for _, p := range problems {
		if p.Fatal {
			fatal++
		}
	}
	if fatal != len(bad) {
		t.Errorf("%d skills of the folder cannot be used, want %d: %+v", fatal, len(bad), problems)
	}
	e.acp("--model", "script:"+e.file("script.jsonl", always))
	s := e.open(nil)
	e.prompt(s, "hello")
	for _, name := range good {
		if got := e.discloses(s, name); got != "- "+name+": Use it." {
			t.Errorf("the prompt says %q of %s", got, name)
		}
	}
}

// brought is what a client brings along as skills: some of use, among them others
// that are not.
func brought() []any {
	skill := func(name, description, instruction any) object {
		return object{"name": name, "description": description, "instruction": instruction}
	}
	disabled := skill("wire-off", "Off.", "Off.")
	disabled["enabled"] = false
	wrong := skill("wire-wrong", "Wrong.", "Wrong.")
	wrong["enabled"] = "yes"
	contract := skill("wire-form", "A form.", "Write it as a form.")
	contract["outputContract"] = true
	return []any{
		skill("wire-one", "The {{first}}\n one.", "Do {{one}}."),
		skill("Bad_Name", "Bad.", "Bad."),
		"no object", object{"name": "wire-bare"}, nil, []any{}, 5,
		skill("wire-number", 5, "Do it."),
		skill("wire-empty", "Empty.", " \n"),
		skill("usage", "A command.", "Do it."),
		skill("wire-one", "Once more.", "Do it twice."),
		disabled, wrong, contract,
		skill("search", "Search as the editor does.", "Ask the editor."),
	}
}

// Row 220 (R-PROMPT-45): what a client brings along for a session is disclosed, loaded
// and named by tokens as other skills are, however the session is opened. A malformed
// one is left out, which the log says, and keeps none of the others away.
func TestRow220WireSkills(t *testing.T) {
	t.Parallel()
	e := edit(t, step("skill", object{"name": "wire-one"})+"\n"+always)
	e.call("initialize", object{"protocolVersion": 1}, nil)
	model := "script:" + filepath.Join(e.home, "script.jsonl")
	meta := namespaced("skills", brought())
	s := ""
	check := func(how string) {
		t.Helper()
		e.prompt(s, "/wire-one /wire-off go")
		got := make(map[string]string)
		for _, name := range []string{
			"wire-one", "wire-bare", "wire-number", "Bad_Name", "wire-empty", "usage", "wire-off", "wire-wrong", "wire-form", "search", "research",
		} {
			if line := e.discloses(s, name); line != "" {
				got[name], _, _ = strings.Cut(strings.TrimPrefix(line, "- "+name+": "), ",")
			}
		}
		want := map[string]string{
			"wire-one": "The {{first}} one.", "wire-form": "A form.", "search": "Search as the editor does.",
			"research": "Investigate a question in depth from many sources",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: skills in the prompt (-want +got):\n%s", how, diff)
		}
		notes, _ := e.lastNotes(s)
		if len(notes) != 1 || !strings.Contains(notes[0].Text, "Do {{one}}.") {
			t.Errorf("%s: notes = %+v, want that of wire-one", how, notes)
		}
		list, _ := e.commands(s, -1, func(list map[string]string) bool { return list["wire-one"] != "" })
		if list["wire-off"] != "" || list["Bad_Name"] != "" || list["search"] != "Search as the editor does." {
			t.Errorf("%s: commands = %v", how, list)
		}
	}
	open := func(method string, params object) {
		t.Helper()
		params["_meta"] = meta
		opened := struct{ SessionID string }{s}
		e.call(method, params, &opened)
		s = opened.SessionID
	}
	open("session/new", object{"cwd": e.cwd, "mcpServers": []any{}})
	e.prompt(s, "load it")
	if got := e.results(s); len(got) != 1 || got[0].IsError || got[0].Text != "Do {{one}}." {
		t.Errorf("the tool gives %+v, want the instruction", got)
	}
	check("session/new")
	for _, method := range []string{"session/load", "session/resume", "session/fork"} {
		e = e.restart("--model", model)
		e.call("session/load", e.where(s), nil)
		e.prompt(s, "without them")
		if got := e.discloses(s, "wire-one") + e.discloses(s, "search"); strings.Contains(got, "first") || strings.Contains(got, "editor") {
			t.Errorf("skills of another opening are disclosed: %q", got)
		}
		open(method, e.where(s))
		check(method)
		var log []string
		e.leave()
		for line := range strings.Lines(e.stderr.String()) {
			if strings.Contains(line, "skills of the client are left out") {
				log = append(log, line)
			}
		}
		if len(log) != 1 {
			t.Fatalf("%s: the log tells %d times of what is left out, want once: %q", method, len(log), log)
		}
		for _, want := range []string{"count=11", "skills[1]", "Bad_Name", "skills[2]", "no object", "skills[3]", "description"} {
			if !strings.Contains(log[0], want) {
				t.Errorf("%s: the log has no %q: %s", method, want, log[0])
			}
		}
		e = e.again()
		e.acp("--model", model)
		e.call("initialize", object{"protocolVersion": 1}, nil)
	}
}

// Row 220: a model without tools is given the whole text of those alone that settle the
// form of an output; what is no list of skills is refused by its name.
func TestRow220WireShapes(t *testing.T) {
	t.Parallel()
	e := edit(t, always)
	e.call("initialize", object{"protocolVersion": 1}, nil)
	var s struct{ SessionID string }
	e.call("session/new", object{"cwd": e.cwd, "_meta": namespaced("skills", brought())}, &s)
	e.set(s.SessionID, "tools", "off")
	e.prompt(s.SessionID, "hello")
	system := e.lastRequest(s.SessionID).System
	if !strings.Contains(system, "Write it as a form.") || strings.Contains(system, "Do {{one}}.") || !strings.Contains(system, "- wire-one: ") {
		t.Errorf("the prompt must have the text of wire-form and of no other:\n%s", system)
	}
	for _, wrong := range []any{object{}, "skills", 5, true} {
		f := e.wait(e.send("session/new", object{"cwd": e.cwd, "_meta": namespaced("skills", wrong)}))
		if f.Error == nil || f.Error.Code != -32602 || !strings.Contains(f.Error.Message, "skills") {
			t.Errorf("skills = %v: %s, want -32602 that names them", wrong, f.Raw)
		}
	}
	for _, none := range []any{nil, []any{}} {
		e.call("session/new", object{"cwd": e.cwd, "_meta": namespaced("skills", none)}, nil)
	}
}
