package acp_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/acp/acptest"
	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/prompt"
)

// opens is a request that opens a session with members under our key of _meta; it
// names the session s, or wishes for it.
func opens(id int, method, dir, ours string) string {
	named := `"sessionId":"s",`
	if method == "session/new" {
		named, ours = "", strings.TrimSuffix(`"sessionId":"s",`+ours, ",")
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s"cwd":%q,"_meta":{"lorimer.dev":{%s}}}}`, id, method, named, dir, ours)
}

const (
	german = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"_meta":{"lorimer.dev":{"locale":"de"}}}}`
	skill  = `"skills":[{"name":"No Name"},{"name":"tone","description":"About tone","instruction":"Be kind."}]`
)

// M-18, M-21, R-ACP-11: what a client says of a session is what its sends are made
// with, whichever request opens it; what it says next time takes its place.
func TestPlaceOfASession(t *testing.T) {
	persona := "You are kind."
	tone := []prompt.Skill{{Name: "tone", Description: "About tone", Instruction: "Be kind."}}
	tests := []struct {
		name   string
		first  string // initialize
		before string // members of the session/new of a session that is open already; "" has none
		method string
		ours   string
		want   harness.Place
	}{
		{"nothing", initialize, "", "session/new", ``, harness.Place{}},
		{"all", initialize, "", "session/new", `"project":"there","locale":"fr","persona":"You are kind.",` + skill,
			harness.Place{Project: "there", Locale: "fr", Persona: &persona, Skills: tone}},
		{"the locale of the client", german, "", "session/new", ``, harness.Place{Locale: "de"}},
		{"the locale of the session", german, "", "session/new", `"locale":"fr"`, harness.Place{Locale: "fr"}},
		{"a load", german, `"locale":"fr"`, "session/load", `"persona":"You are kind."`, harness.Place{Locale: "de", Persona: &persona}},
		{"a load that says no more", initialize, `"persona":"You are kind."`, "session/load", ``, harness.Place{}},
		{"a resume", initialize, `"locale":"fr"`, "session/resume", skill, harness.Place{Skills: tone}},
		{"a resume that says the same", initialize, skill, "session/resume", skill, harness.Place{Skills: tone}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ps := &places{}
				e := acptest.Open(t, rig{model: `{"text":"x"}`, places: ps}.serve(t))
				dir := t.TempDir()
				e.Say(tt.first)
				if tt.before != "" {
					e.Say(opens(1, "session/new", dir, tt.before))
				}
				e.Say(opens(2, tt.method, dir, tt.ours), promptLine(3, "s", "x"))
				if got := stopReason(t, acptest.Messages(t, e.Hear()), "3"); got != "end_turn" {
					t.Fatalf("prompt: %s", got)
				}
				tt.want.Session, tt.want.Dir = "s", dir
				if diff := cmp.Diff(tt.want, ps.last()); diff != "" {
					t.Errorf("place of the send (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// R-ACP-15: a load or a resume opens an open session anew only if it wants another
// place for it.
func TestPlaceOpensAnew(t *testing.T) {
	tests := []struct {
		name, ours string
		want       int64 // workspaces
	}{
		{"the same", `"locale":"fr",` + skill, 1},
		{"another locale", `"locale":"de",` + skill, 2},
		{"no locale", skill, 2},
		{"no skills", `"locale":"fr"`, 2},
		{"another member", `"messageId":"m","locale":"fr",` + skill, 1},
	}
	for _, tt := range tests {
		for _, method := range []string{"session/load", "session/resume"} {
			t.Run(tt.name+" by "+method, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := rig{model: `{"text":"x"}`, spaces: &spaces{}}
					e := acptest.Open(t, r.serve(t))
					dir := t.TempDir()
					e.Say(initialize, opens(1, "session/new", dir, `"locale":"fr",`+skill), opens(2, method, dir, tt.ours))
					if m := acptest.Answer(t, acptest.Messages(t, e.Hear()), "2"); m.Error != nil {
						t.Errorf("%s: %+v", method, m.Error)
					}
					if n, left := r.spaces.opened.Load(), r.spaces.left.Load(); n != tt.want || left != 1 {
						t.Errorf("%d workspaces were opened and %d are left, want %d and 1", n, left, tt.want)
					}
				})
			})
		}
	}
}

// M-18, R-PROMPT-55: what is not there is a mistake of the request, which names the
// member and what helps, and costs nothing that there is.
func TestPlaceThatIsMissing(t *testing.T) {
	tests := []struct{ member, value string }{{"project", "nowhere"}, {"workspace", "nothing"}}
	for _, tt := range tests {
		for _, method := range []string{"session/new", "session/load", "session/resume", "session/fork"} {
			t.Run(tt.member+" by "+method, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					e := acptest.Open(t, rig{model: `{"text":"x","repeat":true}`}.serve(t))
					dir := t.TempDir()
					e.Say(initialize)
					if method != "session/new" {
						e.Say(newSession("s", dir), promptLine(1, "s", "x"))
					}
					e.Say(opens(2, method, dir, fmt.Sprintf("%q:%q", tt.member, tt.value)))
					m := acptest.Answer(t, acptest.Messages(t, e.Hear()), "2")
					field := fmt.Sprintf("_meta[%q].%s", "lorimer.dev", tt.member)
					if m.Error == nil || m.Error.Code != -32602 || m.Error.Data["field"] != field ||
						!strings.Contains(m.Error.Message, tt.value) || !strings.Contains(m.Error.Message, "lorimer "+tt.member+" list") {
						t.Errorf("answer = %+v, want -32602 for %s", m.Error, field)
					}
					want := "end_turn"
					if method == "session/new" {
						want = "-32002 SESSION_NOT_FOUND"
					}
					e.Say(promptLine(3, "s", "x"))
					if got := stopReason(t, acptest.Messages(t, e.Hear()), "3"); got != want {
						t.Errorf("a prompt of s afterwards: %s, want %s", got, want)
					}
				})
			})
		}
	}
}

// R-PROMPT-45: a skill of the client that cannot be used is logged and left
// out, the others are commands and are disclosed.
func TestSkillsOfTheClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		rec := &recorder{}
		e := acptest.Open(t, rig{model: `{"text":"x"}`, seen: rec, log: &log}.serve(t))
		e.Say(initialize, opens(1, "session/new", t.TempDir(), skill), promptLine(2, "s", "x"))
		ms := acptest.Messages(t, e.Hear())
		if got := told(t, ms); !slices.Equal(got, []string{builtin + " tone"}) {
			t.Errorf("commands = %q, want those of the program and tone", got)
		}
		if got := stopReason(t, ms, "2"); got != "end_turn" || !strings.Contains(rec.requests[0].System, "About tone") {
			t.Errorf("prompt: %s; the skill is not disclosed", got)
		}
		if !strings.Contains(log.String(), "skills[0]") || strings.Contains(log.String(), "skills[1]") {
			t.Errorf("log = %s, want what is wrong with the first skill alone", log.String())
		}
	})
}

// R-PROMPT-07, R-PROMPT-08, R-ACP-17: a persona is that of its session, and
// ends with it.
func TestPersonaOfASession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &recorder{}
		e := acptest.Open(t, rig{model: `{"text":"x","repeat":true}`, seen: rec}.serve(t))
		dir := t.TempDir()
		e.Say(initialize, opens(1, "session/new", dir, `"persona":"You are {{model}}, the kind one."`), newSession("t", dir))
		e.Say(promptLine(2, "s", "x"), promptLine(3, "t", "x"))
		e.Hear()
		e.Say(closeLine(4), `{"jsonrpc":"2.0","id":5,"method":"session/delete","params":{"sessionId":"s"}}`, newSession("s", dir), promptLine(6, "s", "x"))
		e.Hear()
		var got []string
		for _, r := range rec.requests {
			got = append(got, fmt.Sprint(r.Session, " ", strings.Contains(r.System, "the kind one.")))
		}
		slices.Sort(got[:2]) // of two sessions at once
		if want := []string{"s true", "t false", "s false"}; !slices.Equal(got, want) {
			t.Errorf("requests with the persona: %q, want %q", got, want)
		}
	})
}
