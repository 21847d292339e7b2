//go:build unix

package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// answers returns the messages of the model in a request, each as its texts and, for
// what else it has, the type.
func (r requestLine) answers() (all []string) {
	for _, m := range r.Messages {
		if m.Role != "assistant" {
			continue
		}
		var parts []string
		for _, p := range m.Parts {
			if p.Type == "text" {
				parts = append(parts, p.Text)
			} else {
				parts = append(parts, p.Type)
			}
		}
		all = append(all, strings.Join(parts, "|"))
	}
	return all
}

// lookTwice is a turn in which a model thinks, reads a file and one that is missing,
// and ends with line feeds.
func lookTwice(by string) []modeltest.Reply {
	return []modeltest.Reply{
		{Think: []string{"so thinks " + by}, Text: []string{"I am " + by, "\nand look."}, Tools: []modeltest.Tool{
			tool("read", object{"path": "a.txt"}), tool("read", object{"path": "missing.txt"})}},
		{Text: []string{"Seen by " + by + ".\n\n"}},
	}
}

// What becomes of lookTwice: for another vendor's model, with a template of the
// user's, and where it stays as it is.
func bracketed(by string) string {
	return "I am " + by + "\nand look.\n[已执行 read，输出：1 the walrus 2 and the carpenter]\n" +
		"[已执行 read，输出：ERROR: missing.txt does not exist; look for it with glob]|Seen by " + by + "."
}

func templated(by string) string {
	return "I am " + by + "\nand look.\n<read said 1 the walrus 2 and the carpenter>\n" +
		"<read said ERROR: missing.txt does not exist; look for it with glob>|Seen by " + by + "."
}

func typed(by string) []string {
	return []string{"I am " + by + "\nand look.|tool_call|tool_call", "Seen by " + by + ".\n\n"}
}

const (
	asText     = "[history]\ncross_vendor = \"text\""
	asTemplate = asText + "\nexecuted = \"<{{tool}} said {{summary}}>\""
)

// Row 143 (R-TASK-40, R-TASK-41, C-33): what another vendor's model did is text where
// the configuration says so, by the literal form or the user's own, without what it
// thought; what the model itself did stays typed, and so does all without the setting.
func TestRow143TextForAnotherVendor(t *testing.T) {
	t.Parallel()
	all := allProviders()
	for i, p := range all {
		from := all[(i+1)%len(all)]
		t.Run("from "+from.name+" to "+p.name, func(t *testing.T) {
			t.Parallel()
			m := modeltest.New(t)
			e := newEditor(t).reachesAll(m, asText)
			e.seed("a.txt", "the walrus\nand the carpenter\n")
			e.acp("--model", from.model)
			s := e.open(nil)
			turn := func(by string, settings ...string) requestLine {
				t.Helper()
				e.file(configFile, configAll(m, settings...))
				m.Add(lookTwice(by)...)
				if stop := e.prompt(s, "look, "+by); stop != "end_turn" {
					t.Errorf("stop reason = %s, want end_turn", stop)
				}
				return e.lastRequest(s)
			}
			check := func(what string, r requestLine, want ...string) {
				t.Helper()
				got := r.answers()
				for i, text := range got {
					got[i] = strings.TrimPrefix(text, "reasoning|") // of its own, where that goes back
				}
				if diff := cmp.Diff(want, got[:len(got)-1]); diff != "" { // less the calls of this turn
					t.Errorf("%s, answers of the request (-want +got):\n%s", what, diff)
				}
			}
			turn("one", asText)
			e.choose(s, "model", p.model)
			check("as text", turn("two", asText), bracketed("one"))
			own := typed("two")
			check("as text again", turn("three", asText), append([]string{bracketed("one")}, own...)...)
			requests := m.Requests()
			for i, r := range requests[2:] {
				if bytes.Contains(r.Body, []byte("so thinks one")) || !bytes.Contains(r.Body, []byte("[已执行 read，输出：")) {
					t.Errorf("request %d has a thought of the other vendor, or not the literal form:\n%s", i+3, r.Body)
				}
			}
			for _, r := range m.Reuse() {
				if r.Ratio() != 1 && r.Common > 0 { // but for the switch
					t.Errorf("a request repeats %.4f of the one before it, want all: %+v", r.Ratio(), r)
				}
			}
			own = append(own, typed("three")...)
			check("by a template", turn("four", asTemplate), append([]string{templated("one")}, own...)...)
			own = append(own, typed("four")...)
			check("typed", turn("five"), append(typed("one"), own...)...)
			checkResults(t, e.lastRequest(s))
			if got := m.Rejected(); len(got) > 0 {
				t.Errorf("rejected: %q", got)
			}
		})
	}
}

// Row 143, for a model without tools: whoever made the calls, they are text, and no
// tool is declared. A model with tools has them typed before and after.
func TestRow143TextForAToollessModel(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, setting string
		form          func(by string) string
	}{{"the literal form", "", bracketed}, {"a template", "[history]\nexecuted = \"<{{tool}} said {{summary}}>\"", templated}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := modeltest.New(t)
			e := newEditor(t).reachesAll(m, tt.setting)
			e.seed("a.txt", "the walrus\nand the carpenter\n")
			var profiles strings.Builder
			refs := map[string]string{"openai": "openai/gpt-5.1", "anthropic": "anthropic/claude-opus-4-7", "responses": "responses/gpt-5.5", "gemini": "gemini/gemini-3.1-pro-preview", "ollama": "ollama/" + modeltest.ModelID}
			for _, ref := range refs {
				fmt.Fprintf(&profiles, "[models.%q]\ntool_usage = 0\n", ref)
			}
			e.file(profilesFile, profiles.String())
			e.acp("--model", gpt)
			s := e.open(nil)
			m.Add(lookTwice("one")...)
			e.prompt(s, "look")
			for _, p := range allProviders() {
				e.choose(s, "model", refs[p.name])
				m.Add(modeltest.Reply{Text: []string{"Fine."}})
				e.prompt(s, "and "+p.name)
				r := e.lastRequest(s)
				if got := r.answers(); strings.TrimRight(got[0], "\n") != tt.form("one") || len(r.Tools) > 0 || r.count("tool_result")+r.count("reasoning") > 0 {
					t.Errorf("%s, without tools: answers = %q with the tools %q, want first %q\nmessages: %+v", p.name, got, r.Tools, tt.form("one"), r.Messages)
				}
				last := m.Requests()[len(m.Requests())-1]
				if bytes.Contains(last.Body, []byte("so thinks")) || bytes.Contains(last.Body, []byte(`"tools"`)) || !strings.Contains(last.Path, p.route) {
					t.Errorf("%s is sent a thought or tools on %s:\n%s", p.name, last.Path, last.Body)
				}
			}
			e.choose(s, "model", claude)
			m.Add(modeltest.Reply{Text: []string{"Fine."}})
			e.prompt(s, "with tools again")
			if diff := cmp.Diff(typed("one"), e.lastRequest(s).answers()[:2]); diff != "" {
				t.Errorf("answers for a model with tools (-want +got):\n%s", diff)
			}
			if got := m.Rejected(); len(got) > 0 {
				t.Errorf("rejected: %q", got)
			}
		})
	}
}

// Row 143, by a script and the trace: a script reads what a provider's model did, and
// that model what a script did, as text; a script without tools reads its own calls
// so.
func TestRow143TextForAScript(t *testing.T) {
	t.Parallel()
	script := strings.Replace(step("read", object{"path": "a.txt"}), "{", `{"think": ["so thinks the script"], "match": {"contains": "look"}, `, 1) + "\n" + always
	for _, tt := range []struct {
		name, setting string
		toolless      bool
		want          string
	}{
		{"as text", asText, false, "[已执行 read，输出：1 the walrus]|fine"},
		{"by a template", asTemplate, false, "<read said 1 the walrus>|fine"},
		{"typed", "", false, "tool_call"},
		{"without tools", "", true, "[已执行 read，输出：1 the walrus]|fine"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := modeltest.New(t, modeltest.Reply{Think: []string{"so thinks a model"}, Tools: []modeltest.Tool{tool("read", object{"path": "a.txt"})}}, modeltest.Reply{Text: []string{"fine"}, Repeat: -1})
			e := newEditor(t).reachesAll(m, tt.setting)
			e.seed("a.txt", "the walrus\n")
			ref := "script:" + e.file("script.jsonl", script)
			e.acp("--model", ref)
			s := e.open(nil)
			e.prompt(s, "look")
			if tt.toolless {
				e.toolless()
			} else {
				e.choose(s, "model", claude)
			}
			e.prompt(s, "and now?")
			r := e.lastRequest(s)
			if r.answers()[0] != tt.want || tt.toolless && r.count("tool_call") > 0 {
				t.Errorf("messages = %+v, want the answer %s", r.Messages, tt.want)
			}
			if tt.toolless {
				return
			}
			e.choose(s, "model", ref)
			e.prompt(s, "and you?")
			r = e.lastRequest(s)
			if got := r.answers(); got[0] != "reasoning|tool_call" || got[2] != tt.want {
				t.Errorf("messages of the script = %+v, want its own call typed and then %s", r.Messages, tt.want)
			}
		})
	}
}
