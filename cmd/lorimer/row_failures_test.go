//go:build unix

package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// C117 (R-HARN-24, R-HARN-25): what will not clear fails at once, says when it
// will, and is asked once.
func TestC117LimitForDays(t *testing.T) {
	t.Parallel()
	const span = 1382400 // seconds
	clears := func() string { return time.Now().UTC().Add(span * time.Second).Format("2 January 2006") }
	day := clears()
	wait := map[string]string{"Retry-After": fmt.Sprint(span)}
	tests := []struct {
		name  string
		reply modeltest.Reply
		want  string // in what the user reads
	}{
		{"a limit of the month", modeltest.Reply{Status: 429, Error: "monthly limit, resets in 16 days", Header: wait}, day},
		{"a wait alone", modeltest.Reply{Status: 429, Error: "slow down", Header: wait}, day},
		{"a spent quota", modeltest.Reply{Status: 429, Code: "insufficient_quota", Error: "You exceeded your current quota"}, "quota"},
	}
	for _, p := range bothProviders() {
		for _, tt := range tests {
			t.Run(p.name+" "+tt.name, func(t *testing.T) {
				t.Parallel()
				m := modeltest.New(t, tt.reply, modeltest.Reply{Text: []string{"fine"}})
				e := newEditor(t).reaches(m)
				e.env = append(e.env, "TZ=UTC")
				e.acp("--model", p.model)
				s := e.open(nil)
				f := e.wait(e.send("session/prompt", say(s, "go")))
				want := tt.want
				if want == day && !strings.Contains(f.Error.Message, day) {
					want = clears() // midnight has passed
				}
				if code(f) != "PROVIDER_ERROR" || !strings.Contains(f.Error.Message, want) {
					t.Errorf("answer = %s, want PROVIDER_ERROR with %q", f.Raw, want)
				}
				if got := len(m.Requests()); got != 1 {
					t.Errorf("%d requests, want 1", got)
				}
				if stop := e.prompt(s, "again"); stop != "end_turn" {
					t.Errorf("stop reason of the next prompt = %s, want end_turn", stop)
				}
			})
		}
	}
}

// C118 (R-HARN-24): a provider that is overloaded at the first request of a
// session is asked until it answers. One that says so in the middle of a stream is
// asked again as well, and nothing is told or run twice.
func TestC118Overloaded(t *testing.T) {
	t.Parallel()
	call := []modeltest.Tool{tool("bash", object{"command": "echo ran >> log"})}
	fine := modeltest.Reply{Text: []string{"All is fine."}}
	for _, p := range bothProviders() {
		busy := modeltest.Reply{Status: p.busy, Error: "Overloaded", Header: map[string]string{"Retry-After-Ms": "20"}, Repeat: 8}
		inside := modeltest.Reply{Error: "Overloaded", Code: "overloaded_error"}
		begun, ran := inside, modeltest.Reply{Tools: call}
		begun.Text = []string{"All is"}
		unsure := inside
		unsure.Tools = call
		for name, tt := range map[string]struct {
			replies  []modeltest.Reply
			requests int
			log      string
		}{
			"nine times":                     {[]modeltest.Reply{busy, fine}, 10, "-"},
			"at the beginning of the stream": {[]modeltest.Reply{inside, fine}, 2, "-"},
			"after a call":                   {[]modeltest.Reply{unsure, ran, fine}, 3, "ran\n"},
			"after a tool has run":           {[]modeltest.Reply{ran, begun, fine}, 3, "ran\n"},
		} {
			t.Run(p.name+" "+name, func(t *testing.T) {
				t.Parallel()
				m := modeltest.New(t, tt.replies...)
				e := newEditor(t).reaches(m)
				e.acp("--model", p.model, "--mode", "auto")
				s := e.open(nil)
				if stop := e.prompt(s, "go"); stop != "end_turn" {
					t.Errorf("stop reason = %s, want end_turn", stop)
				}
				if got := e.said(s); !slices.Equal(got, []string{"text All is fine."}) {
					t.Errorf("messages = %q, want the answer once", got)
				}
				if got := e.disk("log"); got != tt.log || len(m.Requests()) != tt.requests {
					t.Errorf("%d requests and the log %q, want %d and %q", len(m.Requests()), got, tt.requests, tt.log)
				}
				checkCalls(e, s)
			})
		}
	}
}

// C018 (R-PROMPT-17, R-ACP-27): failures of a provider, one after the other, are
// told with what to do about each, and do not disturb what comes after them, in
// this process and in the next.
func TestC018FailuresThenWorks(t *testing.T) {
	t.Parallel()
	failures := []struct {
		status     int
		code, text string
		number     int
		want       string // of the code, for programs
	}{
		{400, "content_filter", "The response was filtered", -32603, "PROVIDER_ERROR"},
		{401, "invalid_api_key", "Incorrect API key", -32000, "AUTH_REQUIRED"},
		{402, "", "Insufficient Balance", -32603, "PROVIDER_ERROR"},
		{404, "model_not_found", "The model does not exist", -32603, "MODEL_UNAVAILABLE"},
	}
	for _, p := range bothProviders() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			m := modeltest.New(t)
			e := newEditor(t).reaches(m)
			e.acp("--model", p.model)
			s := e.open(nil)
			for _, fail := range failures {
				m.Add(modeltest.Reply{Status: fail.status, Code: fail.code, Error: fail.text})
				f := e.wait(e.send("session/prompt", say(s, "go")))
				checkFailure(t, f, fail.number, fail.want, false)
			}
			m.Add(modeltest.Reply{Text: []string{"I will "}, Stop: model.StopRefusal}, modeltest.Reply{Text: []string{"fine"}, Repeat: 1})
			if stop := e.prompt(s, "go"); stop != "refusal" {
				t.Errorf("stop reason of a refusal = %s, want refusal", stop)
			}
			if stop := e.prompt(s, "now"); stop != "end_turn" || !strings.HasSuffix(e.text(s), "fine") {
				t.Errorf("stop reason after the failures = %s with %q, want end_turn with fine", stop, e.text(s))
			}
			next := e.restart("--model", p.model)
			next.load(s)
			if stop := next.prompt(s, "and now"); stop != "end_turn" {
				t.Errorf("stop reason in the next process = %s, want end_turn", stop)
			}
			if got := m.Rejected(); len(got) > 0 {
				t.Errorf("rejected: %q", got)
			}
		})
	}
}
