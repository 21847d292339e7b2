//go:build unix

package main

import (
	"strings"
	"testing"
)

// begins makes a session of which the client says what ours says, in the
// directory dir or, where that is "", in the workspace.
func (e *editor) begins(dir string, ours object) string {
	e.t.Helper()
	if dir == "" {
		dir = e.cwd
	}
	var s struct{ SessionID string }
	e.call("session/new", object{"cwd": dir, "mcpServers": []any{}, "_meta": object{"lorimer.dev": ours}}, &s)
	return s.SessionID
}

// Row 96 (R-PROMPT-07, R-PROMPT-08): a persona that the client gives to a session
// replaces that of the configuration there and nowhere else, and is gone with the
// session.
func TestRow096PersonaOfASession(t *testing.T) {
	t.Parallel()
	const house, own = "Persona of the house.", "Persona of one session."
	e := speaks(t, "persona = \""+house+"\"\n[[variable]]\nname = \"team\"\nvalue = \"blue\"\n")
	told := func(when, session, want string) {
		t.Helper()
		got := e.system(session)
		for _, p := range []string{house, own, "{{"} {
			if there := strings.Contains(got, p); there != (p == want) {
				t.Errorf("%s: %q is in the prompt: %v, want %q alone", when, p, there, want)
			}
		}
	}
	a := e.begins("", object{"sessionId": "a", "persona": own})
	b := e.begins("", object{"sessionId": "b"})
	for range 2 {
		told("with a persona", a, own)
		told("without", b, house)
	}
	told("an empty persona", e.begins("", object{"persona": ""}), "")
	told("a template", e.begins("", object{"persona": "{{team}} " + own}), own)

	var fork struct{ SessionID string }
	e.call("session/fork", e.where(a), &fork)
	told("a fork", fork.SessionID, house)

	e.call("session/close", object{"sessionId": a}, nil)
	told("beside a closed one", b, house)
	e.load(a)
	told("loaded again", a, house)
	e.call("session/close", object{"sessionId": a}, nil)
	e.call("session/delete", object{"sessionId": a}, nil)
	told("a new one of the same id", e.begins("", object{"sessionId": "a"}), house)
}

// Row 96: a persona that is no text, or that cannot be filled in, concerns its
// session alone.
func TestRow096WrongPersona(t *testing.T) {
	t.Parallel()
	e := speaks(t, "persona = \"Persona of the house.\"\n")
	for _, wrong := range []any{5, true, object{"text": "x"}, []string{"x"}} {
		f := e.wait(e.send("session/new", object{"cwd": e.cwd, "_meta": namespaced("persona", wrong)}))
		if f.Error == nil || f.Error.Code != -32602 || !strings.Contains(f.Error.Message, "persona") {
			t.Errorf("persona %v: %s, want -32602 that names it", wrong, f.Raw)
		}
	}
	broken, sound := e.begins("", object{"persona": "You are {{ model }}."}), e.session()
	for range 2 {
		f := e.wait(e.send("session/prompt", say(broken, "hello")))
		checkFailure(t, f, -32603, "PROMPT_ASSEMBLY", false)
		hasWords(t, f.Error.Message, []string{`"deployment:persona"`, "{{ model }}"})
		if got := e.system(sound); !strings.Contains(got, "\n\nPersona of the house.\n\n") {
			t.Errorf("the other session has %s", got)
		}
	}
	if n := len(e.requests(broken)); n != 0 {
		t.Errorf("%d requests of the session with the broken persona, want none", n)
	}
}

// Row 96: what the configuration declares for a session replaces the section of that
// name in its place, which is not even looked at there.
func TestRow096SectionOfASession(t *testing.T) {
	t.Parallel()
	e := speaks(t, `
[[section]]
name = "house"
order = 5
text = "Not to be filled in: {{nope}}."
[[section]]
name = "house"
scope = "a"
order = 150
text = "Fine here."
[[section]]
name = "only here"
scope = "a"
order = 150
text = "Nowhere else."
[[section]]
name = "Language"
scope = "a"
order = 210
text = "Answer in Latin."
`)
	a, b := e.begins("", object{"sessionId": "a"}), e.begins("", object{"sessionId": "b"})
	got := e.system(a)
	hasWords(t, got, []string{"\n\nFine here.\n\nNowhere else.\n\n", "\n\nAnswer in Latin.\n\n"})
	if strings.Contains(got, "# Language") {
		t.Errorf("the section Language is there beside what replaces it: %s", got)
	}
	f := e.wait(e.send("session/prompt", say(b, "hello")))
	checkFailure(t, f, -32603, "PROMPT_ASSEMBLY", false)
	hasWords(t, f.Error.Message, []string{`"house"`, `"nope"`})
}

// Row 97 (R-PROMPT-07, R-PROMPT-15): each session has its own directory in {{cwd}},
// and what is declared for one is a value there alone.
func TestRow097VariablesOfASession(t *testing.T) {
	t.Parallel()
	e := speaks(t, `
persona = "In {{cwd}} with {{model}}, for {{team}}."
[[variable]]
name = "team"
value = "blue"
[[variable]]
name = "team"
scope = "a"
value = "red"
[[variable]]
name = "alone"
scope = "a"
value = "x"
`)
	here, there := t.TempDir(), t.TempDir()
	a, b := e.begins(here, object{"sessionId": "a"}), e.begins(there, object{"sessionId": "b"})
	for range 2 {
		for session, want := range map[string]string{a: "In " + here + " with Script, for red.", b: "In " + there + " with Script, for blue."} {
			if got := e.system(session); !strings.Contains(got, "\n\n"+want+"\n\n") {
				t.Errorf("session %s: %q is not in %s", session, want, got)
			}
		}
	}
	if v, there := e.offlineSheet().Variables["alone"]; there {
		t.Errorf("the variable of another session is there: %+v", v)
	}
}
