//go:build unix

package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// Row 196 (R-ACP-27): what each protocol says of the end of an answer is told as a
// stop reason. A call of an answer that did not come to its end does not run, and
// the session goes on.
func TestRow196EveryProvider(t *testing.T) {
	t.Parallel()
	call := []modeltest.Tool{mark("log", "ran")}
	reply := func(r modeltest.Reply) []modeltest.Reply { return []modeltest.Reply{r} }
	tests := []struct {
		name    string
		kinds   string // that have it, "" for all
		replies []modeltest.Reply
		stop    string
		said    string
	}{
		{"normally", "", reply(modeltest.Reply{Text: []string{"so"}}), "end_turn", "text so"},
		{"at the limit of tokens", "", reply(modeltest.Reply{Text: []string{"so"}, Stop: model.StopLength}), "max_tokens", "text so"},
		{"at the limit of tokens with a call", "", reply(modeltest.Reply{Text: []string{"so"}, Tools: call, Stop: model.StopLength}), "max_tokens", "text so"},
		{"at the limit of tokens without a word", "", reply(modeltest.Reply{Stop: model.StopLength}), "max_tokens", ""},
		{"at the limit of the window", "", reply(modeltest.Reply{Text: []string{"so"}, Stop: model.StopContext}), "max_tokens", "text so"},
		{"in the middle of an item", "openai-responses", reply(modeltest.Reply{Text: []string{"so"}, Quirk: modeltest.IncompleteItem}), "max_tokens", "text so"},
		{"with a refusal", "openai-chat openai-responses anthropic gemini", reply(modeltest.Reply{Text: []string{"no"}, Stop: model.StopRefusal}), "refusal", "text no"},
		{"with a refusal and a call", "openai-chat openai-responses anthropic gemini", reply(modeltest.Reply{Text: []string{"no"}, Tools: call, Stop: model.StopRefusal}), "refusal", "text no"},
		{"with a refusal without a word", "openai-chat openai-responses anthropic gemini", reply(modeltest.Reply{Stop: model.StopRefusal}), "refusal", ""},
		{"with a text that is a refusal", "openai-chat openai-responses", reply(modeltest.Reply{Text: []string{"n", "o"}, Quirk: modeltest.Refusal}), "refusal", "text no"},
		{"after a pause", "anthropic", []modeltest.Reply{{Text: []string{"Let me "}, Stop: model.StopPause}, {Text: []string{"see."}}}, "end_turn", "text Let me  text see."},
	}
	for _, p := range allProviders() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			m := modeltest.New(t)
			e := newEditor(t).reachesAll(m)
			e.acp("--model", p.model, "--mode", "auto")
			e.open(nil)
			for _, tt := range tests {
				if tt.kinds != "" && !slices.Contains(strings.Fields(tt.kinds), p.kind) {
					continue
				}
				m.Add(tt.replies...)
				s := e.session()
				if stop := e.prompt(s, "go"); stop != tt.stop {
					t.Errorf("%s: stop reason = %s, want %s", tt.name, stop, tt.stop)
				}
				if got := strings.Join(e.said(s), " "); got != tt.said || len(e.requests(s)) != len(tt.replies) {
					t.Errorf("%s: messages = %q of %d requests, want %q of %d", tt.name, got, len(e.requests(s)), tt.said, len(tt.replies))
				}
				for _, l := range lives(e, s) {
					if diff := cmp.Diff([]string{"pending", "failed"}, l.states); diff != "" {
						t.Errorf("%s: states of the call (-want +got):\n%s", tt.name, diff)
					}
				}
				m.Add(modeltest.Reply{Text: []string{"fine after " + tt.name}})
				if stop := e.prompt(s, "and on"); stop != "end_turn" {
					t.Errorf("%s: stop reason of the next prompt = %s, want end_turn", tt.name, stop)
				}
			}
			e.absent("log")
			if got := m.Rejected(); len(got) > 0 {
				t.Errorf("rejected: %q", got)
			}
		})
	}
}

// Row 180 (R-ACP-23, R-ACP-27): a call is announced as soon as its name has come, while
// the rest of the answer is still to come. A cancel then ends it, and nothing runs.
func TestRow180AnnouncedByName(t *testing.T) {
	t.Parallel()
	begun := modeltest.Tool{Name: "bash", Args: `{"command":"echo ran >> lo`}
	for _, p := range allProviders() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			call := begun
			if p.kind == "gemini" || p.kind == "ollama" { // whose servers send whole calls
				call = mark("log", "ran")
			}
			m := modeltest.New(t, modeltest.Reply{Text: []string{"I run it."}, Tools: []modeltest.Tool{call}, Hang: true})
			e := newEditor(t).reachesAll(m)
			e.acp("--model", p.model, "--mode", "auto")
			s := e.open(nil)
			id := e.send("session/prompt", say(s, "go"))
			e.status(s, "pending")
			e.cancel("session/cancel", s, id)
			if f := e.wait(id); !strings.Contains(f.Raw, `"stopReason":"cancelled"`) {
				t.Errorf("answer = %s, want cancelled", f.Raw)
			}
			comes(t, "the end of the connection", m.Gone())
			got := lives(e, s)
			if len(got) != 1 || got[0].name != "bash" || !slices.Equal(got[0].states, []string{"pending", "failed"}) {
				t.Errorf("calls = %+v, want one that has failed", got)
			}
			m.Add(modeltest.Reply{Text: []string{"fine"}})
			if stop := e.prompt(s, "and on"); stop != "end_turn" || len(m.Rejected()) > 0 {
				t.Errorf("the next prompt: %s, rejected: %q", stop, m.Rejected())
			}
			if got := e.said(s); !slices.Equal(got, []string{"text I run it.", "text fine"}) {
				t.Errorf("messages = %q", got)
			}
			e.absent("log", "lo")
		})
	}
}
