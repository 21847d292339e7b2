//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// A note is a text that the program put into a request for one send.
type note struct{ Kind, Text string }

// noteKind returns the kind of the note that begins with a paragraph.
func noteKind(paragraph string) (kind string, ok bool) {
	if rest, ok := strings.CutPrefix(paragraph, "The user's message names the skill `"); ok {
		name, _, _ := strings.Cut(rest, "`")
		return "skill " + name, true
	}
	for kind, head := range map[string]string{
		"voice":   "Your replies are read aloud",
		"answers": "The user has already dealt with these questions",
		"date":    "Current date and time: ",
		"advice":  "These MCP servers say how their tools are meant to be used.",
		"prompt":  "The user's message asks for a prompt of an MCP server.",
	} {
		if strings.HasPrefix(paragraph, head) {
			return kind, true
		}
	}
	return "", false
}

// notesIn returns the notes in a text in their order, and what stands before the
// first. A note is one or more paragraphs and goes up to the next one.
func notesIn(text string) (before string, notes []note) {
	var parts []string // of one note or what is before
	kind := ""
	end := func() {
		if whole := strings.Join(parts, "\n\n"); kind == "" {
			before = whole
		} else {
			notes = append(notes, note{kind, whole})
		}
		parts = nil
	}
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		if k, ok := noteKind(paragraph); ok {
			end()
			kind = k
		}
		parts = append(parts, paragraph)
	}
	end()
	return before, notes
}

func kinds(notes []note) (all []string) {
	for _, n := range notes {
		all = append(all, n.Kind)
	}
	return all
}

func sortedNotes(notes []note) []note {
	return slices.SortedFunc(slices.Values(notes), func(a, b note) int { return strings.Compare(a.Kind, b.Kind) })
}

// textSkill is the file of a skill.
func textSkill(name, description, instruction string) string {
	return fmt.Sprintf("---\nname: %s\ndescription: %s\n---\n%s\n", name, description, instruction)
}

const (
	askLine = `{"match": {"contains": "ask me"}, "tools": [{"name": "ask_user", "args": ` + askArgs + `}], "repeat": true}` + "\n"
	askArgs = `{"questions": [{"question": "Which database?", "options": ["SQLite", "PostgreSQL"]}]}`

	notedClock = "2031-03-05T14:07:00Z"
	notedDate  = "Current date and time: Wednesday, March 5, 2031 at 2:07 PM UTC"
	notedYear  = "2031"
	notedText  = "/a /b /a what now?"
)

// elicits is a client that has forms.
func elicits() object { return object{"elicitation": object{"form": object{}}} }

// fills has the client answer each form with the content.
func (e *editor) fills(content object) {
	e.on("elicitation/create", func(json.RawMessage) (any, *rpcError) {
		return object{"action": "accept", "content": content}, nil
	})
}

// notedEditor prepares the home for a send with a note of every kind.
func notedEditor(t *testing.T) *editor {
	t.Helper()
	e := newEditor(t)
	for _, name := range []string{"a", "b"} {
		e.file(".agents/skills/"+name+".md", textSkill(name, "Do "+name+".", "First "+name+".\n\nThen {{"+name+"}}."))
	}
	e.fills(object{"q1": "PostgreSQL"})
	return e
}

// noted has the user answer a question in one turn, changes the session, and sends
// a message that names skills, read aloud.
func (e *editor) noted(session string, change func(session string)) {
	e.t.Helper()
	e.notedBy(session, change, notedText)
}

// notedBy is noted with the text of that message.
func (e *editor) notedBy(session string, change func(session string), text string) {
	e.t.Helper()
	e.prompt(session, "ask me")
	change(session)
	e.set(session, "voice", "on")
	e.prompt(session, text)
}

// A toolless is a way to a model without tools.
type toolless struct {
	name string
	// start starts the agent and returns how a session of it comes to such a model.
	start func(e *editor) (change func(session string))
}

func toollesses() []toolless {
	flags := []string{"--clock", notedClock, "--tz", "UTC"}
	script := func(e *editor) {
		e.acp(append(flags, "--model", "script:"+e.file("script.jsonl", askLine+always))...)
	}
	return []toolless{
		{"tools off", func(e *editor) func(string) {
			script(e)
			return func(s string) { e.set(s, "tools", "off") }
		}},
		{"said of the model", func(e *editor) func(string) {
			script(e)
			return func(string) { e.file(".config/lorimer/models.toml", "[models.\"script:*\"]\ntool_usage = 0\n") }
		}},
		{"another model", func(e *editor) func(string) {
			m := modeltest.New(e.t,
				modeltest.Reply{Tools: []modeltest.Tool{{Name: "ask_user", Args: askArgs}}},
				modeltest.Reply{Text: []string{"fine"}, Repeat: -1})
			e.file(configFile, house{Model: "house/m1", Usual: "m2", BaseURL: m.OpenAI(), KeyFile: "key"}.toml())
			e.file(".config/lorimer/key", "sk-test-0123456789")
			e.file(".config/lorimer/models.toml", "[models.\"house/m2\"]\ntool_usage = 0\n")
			e.acp(flags...)
			return func(s string) { e.set(s, "model", "house/m2") }
		}},
	}
}

// Row 25 (R-PROMPT-32): a model without tools is told its notes at the end of the
// system string: the date, voice, the skills as they are first named, the answers.
func TestRow025StatelessOrder(t *testing.T) {
	t.Parallel()
	for _, way := range toollesses() {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			e := notedEditor(t)
			change := way.start(e)
			s := e.open(elicits())
			e.noted(s, change)
			got := e.lastRequest(s)
			before, notes := notesIn(got.System)
			if diff := cmp.Diff([]string{"date", "voice", "skill a", "skill b", "answers"}, kinds(notes)); diff != "" {
				t.Errorf("notes at the end of the system string (-want +got):\n%s", diff)
			}
			if len(got.Tools) > 0 {
				t.Errorf("tools = %q, want none", got.Tools)
			}
			if last := got.Messages[len(got.Messages)-1].text(); last != notedText {
				t.Errorf("message = %q, want what the user wrote, %q", last, notedText)
			}
			plain := e.session()
			change(plain)
			e.prompt(plain, "hello")
			stable, date := notesIn(e.lastRequest(plain).System)
			if diff := cmp.Diff([]note{{"date", notedDate}}, date); diff != "" || stable == "" {
				t.Errorf("notes of a message without any (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(stable, before); diff != "" {
				t.Errorf("what is before the notes is another text than without them (-without +with):\n%s", diff)
			}
		})
	}
}

// Row 26 (R-PROMPT-33): a model with tools has the notes around the text of the
// user, and the date there or at the end of the system string. What it was sent
// once it is sent again byte for byte (R-HARN-14).
func TestRow026HarnessPlacement(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, config string }{
		{"by default", ""},
		{"turn", "prompt_cache.volatile_placement = \"turn\"\n"},
		{"system", "prompt_cache.volatile_placement = \"system\"\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := notedEditor(t)
			e.file(configFile, tt.config)
			change := toollesses()[0].start(e)
			s := e.open(elicits())
			e.noted(s, func(string) {})
			r := e.lastRequest(s)
			message := r.Messages[len(r.Messages)-1].text()
			before, notes := notesIn(message)
			if diff := cmp.Diff([]string{"skill a", "skill b", "voice", "answers"}, kinds(notes)[:4]); diff != "" || before != "" {
				t.Errorf("the message begins with %q, and then (-want +got):\n%s", before, diff)
			}
			front, rest, _ := strings.Cut(message, "\n\n"+notedText)
			if _, atFront := notesIn(front); len(atFront) != 4 {
				t.Errorf("notes before the text of the user = %q, want 4", kinds(atFront))
			}
			if tt.name == "system" {
				if rest != "" || strings.Contains(message, notedYear) {
					t.Errorf("after the text of the user comes %q, want nothing and no date in the message", rest)
				}
				if !strings.HasSuffix(r.System, "\n\n"+notedDate) || strings.Count(r.System, notedYear) != 1 {
					t.Errorf("the system string must end with the date, and have no other:\n%s", r.System)
				}
			} else {
				if rest != "\n\n"+notedDate {
					t.Errorf("after the text of the user comes %q, want the date", rest)
				}
				if strings.Contains(r.System, notedYear) {
					t.Errorf("a date in the system string:\n%s", r.System)
				}
			}
			if system, _ := notesIn(r.System); system != strings.TrimSuffix(r.System, "\n\n"+notedDate) {
				t.Errorf("a note in the system string:\n%s", r.System)
			}
			e.set(s, "voice", "off")
			e.prompt(s, "and now?")
			next := e.lastRequest(s).Messages
			if diff := cmp.Diff(r.Messages, next[:len(r.Messages)]); diff != "" {
				t.Errorf("what was sent before is another text in the next request (-before +after):\n%s", diff)
			}
			want := "and now?\n\n" + notedDate
			if tt.name == "system" {
				want = "and now?"
			}
			if got := next[len(next)-1].text(); got != want {
				t.Errorf("next message = %q, want %q", got, want)
			}
			change(s) // the same thread told to a model without tools: the answers are of all of it
			e.prompt(s, "without tools?")
			if _, notes := notesIn(e.lastRequest(s).System); !slices.Equal(kinds(notes), []string{"date", "answers"}) {
				t.Errorf("notes in the system string = %q, want the date and the answers", kinds(notes))
			}
		})
	}
}

// Row 27 (R-PROMPT-31): each kind of note says where it goes for both engines; both
// are given the same notes with the same texts, in the places and the order that
// the list of kinds tells. Two kinds are of servers, which one of the engines has none of.
func TestRow027EveryNoteForBoth(t *testing.T) {
	t.Parallel()
	type spot struct {
		Place string
		Rank  int
	}
	e := notedEditor(t)
	var listed []struct {
		Name               string
		Harness, Stateless spot
	}
	if err := json.Unmarshal([]byte(e.prints("prompt", "render", "--notes", "--json")), &listed); err != nil {
		t.Fatal(err)
	}
	places := make(map[string][2]spot)
	for _, k := range listed {
		places[k.Name] = [2]spot{k.Harness, k.Stateless}
		if k.Harness.Place == "" || k.Stateless.Place == "" {
			t.Errorf("note %s has no place in a shape: %+v", k.Name, k)
		}
	}
	withoutTools := toollesses()[0].start(e)
	const text = "/memo_greet name=Ada " + notedText
	memo := []*stub{e.stub("memo", "-instructions", "Read memos first."), e.stub("memo", "-instructions", "Read memos first.")}
	changes := []func(string){
		func(s string) {
			e.reconnects("session/load", s, memo[0])
			e.untilServers(s, "the prompt of a server", func(all []serverStatus) bool { return len(all) == 1 && all[0].Prompts > 0 })
		},
		func(s string) {
			withoutTools(s)
			e.reconnects("session/load", s, memo[1])
		},
	}
	var sets [2][]note
	for i, s := range []string{e.open(elicits()), e.session()} {
		e.notedBy(s, changes[i], text)
		r := e.lastRequest(s)
		message := r.Messages[len(r.Messages)-1].text()
		front, end, _ := strings.Cut(message, text)
		for _, part := range []struct{ place, text string }{{"system", r.System}, {"turn-front", front}, {"turn-end", end}} {
			_, notes := notesIn(strings.TrimSpace(part.text))
			rank := -1
			for _, n := range notes {
				name, _, _ := strings.Cut(n.Kind, " ")
				want, ok := places[name]
				if !ok || want[i].Place != part.place || want[i].Rank < rank {
					t.Errorf("shape %d: note %s stands in %s after rank %d, but is listed as %+v", i, n.Kind, part.place, rank, want[i])
				}
				rank = want[i].Rank
			}
			sets[i] = append(sets[i], notes...)
		}
	}
	// A model without tools has no server contacted, so that none can say anything: what
	// the harness has of servers, and nothing else, is missing there (R-TOOLS-21, R-HARN-21).
	ofServers := func(n note) bool { return n.Kind == "advice" || n.Kind == "prompt" }
	if all := memo[1].events(); len(all) > 0 {
		t.Errorf("the server of the session without tools was contacted: %+v", all)
	}
	if diff := cmp.Diff(sortedNotes(slices.DeleteFunc(slices.Clone(sets[0]), ofServers)), sortedNotes(sets[1])); diff != "" {
		t.Errorf("notes of the two shapes, without those of servers (-harness +stateless):\n%s", diff)
	}
	seen := make(map[string]bool)
	for _, n := range sets[0] {
		name, _, _ := strings.Cut(n.Kind, " ")
		seen[name] = true
	}
	if len(seen) != len(listed) {
		t.Errorf("kinds of notes seen = %v, want each that is listed: %+v", seen, listed)
	}
	for kind, want := range map[string][]string{
		"skill a": {"First a.\n\nThen {{a}}."},
		"skill b": {"First b.\n\nThen {{b}}."},
		"answers": {"Which database?", "PostgreSQL"},
		"date":    {notedDate},
		"advice":  {"<server-advice server=\"memo\" prefix=\"memo\">\nRead memos first.\n</server-advice>"},
		"prompt":  {"<prompt server=\"memo\" name=\"greet\" role=\"user\">", "Ada"},
	} {
		i := slices.IndexFunc(sets[0], func(n note) bool { return n.Kind == kind })
		for _, text := range want {
			if i < 0 || !strings.Contains(sets[0][i].Text, text) {
				t.Errorf("note %s = %+v, want %q in it", kind, sets[0], text)
			}
		}
	}
}

// Row 28 (R-PROMPT-34): the note about voice goes with the next message while the
// option is on, and with none after that.
func TestRow028VoiceNote(t *testing.T) {
	t.Parallel()
	for _, tools := range []string{"on", "off"} {
		t.Run("tools "+tools, func(t *testing.T) {
			t.Parallel()
			e := edit(t, always)
			s := e.open(nil)
			e.set(s, "tools", tools)
			// told returns the notes of voice that go with a message.
			told := func(e *editor, text string) (all []string) {
				e.prompt(s, text)
				r := e.lastRequest(s)
				_, notes := notesIn(r.Messages[len(r.Messages)-1].text() + "\n\n" + r.System)
				for _, n := range notes {
					if n.Kind == "voice" {
						all = append(all, n.Text)
					}
				}
				return all
			}
			if got := told(e, "before"); got != nil {
				t.Errorf("before voice is on: %q", got)
			}
			if got := e.set(s, "voice", "on").current()["voice"]; got != "on" {
				t.Errorf("voice = %q, want on", got)
			}
			got := told(e, "one")
			if len(got) != 1 {
				t.Fatalf("notes of voice = %q, want one", got)
			}
			for _, rule := range []string{
				"read aloud", "sentence or two", "no Markdown", "no lists", "no code", "no URLs",
				"not search the web", "about yourself", "cannot be changed", "may interrupt",
			} {
				if !strings.Contains(got[0], rule) {
					t.Errorf("the note lacks %q: %s", rule, got[0])
				}
			}
			if got := told(e, "two"); len(got) != 1 {
				t.Errorf("with the second message: %q, want one note", got)
			}
			e = e.restart("--model", "script:"+filepath.Join(e.home, "script.jsonl"))
			e.load(s)
			if got := told(e, "three"); len(got) != 1 {
				t.Errorf("in the next process: %q, want one note", got)
			}
			e.set(s, "voice", "off")
			if got := told(e, "four"); got != nil {
				t.Errorf("after voice is off: %q", got)
			}
			e.set(s, "voice", "on")
			told(e, "five")
			e.set(s, "voice", "off")
			if got := told(e, "/retry"); got != nil {
				t.Errorf("when the message is answered anew without voice: %q", got)
			}
		})
	}
}

// Row 35 (R-HARN-03): what goes with a single send is no reason to rebuild, in
// neither shape: slash tokens, the text of a skill, voice, answers, the date.
func TestRow035NotesAreNoInput(t *testing.T) {
	t.Parallel()
	for _, tools := range []string{"on", "off"} {
		t.Run("tools "+tools, func(t *testing.T) {
			t.Parallel()
			e := notedEditor(t)
			e.acp("--model", "script:"+e.file("script.jsonl", askLine+always), "--clock", notedClock, "--clock-step", "1h")
			s := e.open(elicits())
			if tools == "off" {
				e.prompt(s, "ask me")
				e.set(s, "tools", "off")
			}
			skill := ".agents/skills/a.md"
			sends := []func(){
				func() { e.prompt(s, "plain") },
				func() { e.prompt(s, "/a go") },
				func() { e.prompt(s, "/b /a /search go") },
				func() { e.set(s, "voice", "on"); e.prompt(s, "/a spoken") },
				func() { e.set(s, "mode", "auto"); e.prompt(s, "in another mode") },
				func() { e.set(s, "mode", "read-only"); e.prompt(s, "in a third") },
				func() { e.prompt(s, "ask me") },
				func() { e.prompt(s, "now that you know") },
				func() {
					e.file(skill, textSkill("a", "Do a.", "Something else."))
					e.prompt(s, "/a again")
				},
				func() { e.set(s, "voice", "off"); e.prompt(s, "plain again") },
			}
			for _, send := range sends {
				send()
			}
			turns := e.turns(s)
			turns = turns[len(turns)-len(sends):]
			for i, l := range turns {
				if first := i == 0; l.Harness == "reused" == first || l.Signature != turns[0].Signature {
					t.Errorf("send %d: harness %s %q with signature %s, want the first reused: %s", i, l.Harness, l.Changed, l.Signature, turns[0].Signature)
				}
			}
			// The name and the description of a skill are part of the prompt.
			e.file(skill, textSkill("a", "Do another thing.", "Something else."))
			e.prompt(s, "plain")
			if all := e.turns(s); !slices.Equal(all[len(all)-1].Changed, []string{"stablePrompt"}) {
				t.Errorf("turn after a new description = %+v, want it rebuilt for the stable prompt", all[len(all)-1])
			}
		})
	}
}
