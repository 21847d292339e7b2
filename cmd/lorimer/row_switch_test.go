//go:build unix

package main

import (
	"bytes"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// Row 228 (R-HARN-15): after a turn with parallel calls and pictures, of the user
// and of a tool, the provider is switched, the process ends, the next one switches
// back, and goes on with other providers, so that each follows upon each. They accept
// every request, the first after a switch too, and every one has all of it, typed.
func TestRow228SwitchAndResume(t *testing.T) {
	t.Parallel()
	all := allProviders()
	for i, p := range all[:len(all)-1] {
		t.Run("with "+p.name, func(t *testing.T) {
			t.Parallel()
			file, encoded := picture(t)
			m := modeltest.New(t)
			e := newEditor(t).reachesAll(m)
			e.seed("a.txt", "the walrus\n")
			e.seed("img.png", file)
			e.acp("--model", p.model)
			s := e.open(nil)
			var by []provider // of each request
			turn := func(p provider) {
				t.Helper()
				by = append(by, p, p)
				m.Add(lookAtBoth("so thinks "+p.model, p.name)...)
				e.call("session/prompt", object{"sessionId": s, "prompt": []any{
					object{"type": "text", "text": "look"}, object{"type": "image", "mimeType": "image/png", "data": encoded},
				}}, nil)
			}
			turn(p)
			for n, other := range all[i+1:] {
				e.choose(s, "model", other.model)
				turn(other)
				if n == 0 {
					e = e.restart("--model", p.model)
					e.load(s)
					turn(other) // by the other still: that is stored
				}
				e.choose(s, "model", p.model)
				turn(p)
			}
			requests := m.Requests()
			if got := m.Rejected(); len(got) > 0 || len(requests) != len(by) {
				t.Fatalf("rejected: %q; %d requests, want %d", got, len(requests), len(by))
			}
			for i, r := range requests {
				if !strings.Contains(r.Path, by[i].route) {
					t.Errorf("request %d went to %s, want %s", i+1, r.Path, by[i].route)
				}
				for _, other := range all {
					if other != by[i] && bytes.Contains(r.Body, []byte("so thinks "+other.model)) {
						t.Errorf("request %d has a thought of %s (R-HARN-31)", i+1, other.model)
					}
				}
				// Each turn has a picture of the user from its first request on, and one of a tool from its second.
				if got := bytes.Count(r.Body, []byte(encoded)); got != i+1 {
					t.Errorf("request %d has %d pictures, want %d", i+1, got, i+1)
				}
				if got, want := bytes.Count(r.Body, []byte("the walrus")), (i+1)/2; got != want {
					t.Errorf("request %d has %d texts of the file, want %d", i+1, got, want)
				}
			}
			for i, r := range e.requests(s) {
				if calls, want := r.count("tool_call"), (i+1)/2*2; calls != want || r.count("tool_result") != want {
					t.Errorf("request %d has %d calls and %d results, want %d of each", i+1, calls, r.count("tool_result"), want)
				}
			}
			checkResults(t, e.lastRequest(s))
		})
	}
}

// C049 (R-HARN-08, R-ACP-52): the process is killed while a tool runs, so that the
// log ends with a call. The next process tells of it as failed, and each provider
// accepts what it is sent, now and later.
func TestC049ResumeAfterACutCall(t *testing.T) {
	t.Parallel()
	for _, way := range [][]string{{claude, claude}, {gpt, gpt}, {gpt, claude}} {
		t.Run(way[0]+" then "+way[1], func(t *testing.T) {
			t.Parallel()
			m := modeltest.New(t, modeltest.Reply{Think: []string{"hm"}, Tools: []modeltest.Tool{
				tool("read", object{"path": "a.txt"}), tool("bash", object{"command": "echo up > up; read x < pipe"})}})
			e := newEditor(t).reaches(m).breaks()
			e.seed("a.txt", "the walrus\n")
			e.acp("--model", way[0], "--mode", "auto")
			s := e.open(nil)
			up := e.fifo("up")
			e.fifo("pipe")
			e.send("session/prompt", say(s, "work"))
			up.get()
			e.cmd.Process.Kill() // it runs
			e.leave()

			m.Add(modeltest.Reply{Text: []string{"fine"}, Repeat: 1})
			next := e.again()
			next.acp("--model", way[0], "--mode", "auto")
			next.call("initialize", object{"protocolVersion": 1}, nil)
			r := next.load(s)
			var ends []string
			for _, id := range r.order {
				if l := r.calls[id]; l != nil {
					ends = append(ends, l.name+" "+l.states[len(l.states)-1])
				}
			}
			if diff := cmp.Diff([]string{"read completed", "bash failed"}, ends); diff != "" {
				t.Errorf("calls in the replay (-want +got):\n%s", diff)
			}
			next.choose(s, "model", way[1])
			for _, text := range []string{"what happened?", "and now?"} {
				if stop := next.prompt(s, text); stop != "end_turn" {
					t.Errorf("stop reason = %s, want end_turn", stop)
				}
			}
			checkResults(t, next.lastRequest(s))
			checkOnce(t, next.lastRequest(s), []string{"work", "the walrus", "what happened?", "fine", "and now?"})
			if got := m.Rejected(); len(got) > 0 {
				t.Errorf("rejected: %q", got)
			}
		})
	}
}

// C050 (R-ACP-41, R-CMD-11): a call that is refused where nobody can be asked is
// stored with its result, so that the session goes on from the shell, in an
// editor, and with another provider.
func TestC050DeniedCallIsAPair(t *testing.T) {
	t.Parallel()
	for _, way := range [][]string{{claude, gpt}, {gpt, claude}} {
		t.Run("from "+way[0], func(t *testing.T) {
			t.Parallel()
			m := modeltest.New(t,
				modeltest.Reply{Text: []string{"I try."}, Tools: []modeltest.Tool{tool("bash", object{"command": "touch ran"})}},
				modeltest.Reply{Text: []string{"It was refused."}, Repeat: 2})
			e := newEditor(t).reaches(m)
			_, err := e.run("run", "--model", way[0], "do it")
			if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 3 {
				t.Fatalf("lorimer run: %v, want exit code 3 for a call that nobody could allow", err)
			}
			e.prints("run", "--continue", "and now?")
			e.acp("--model", way[0])
			e.call("initialize", object{"protocolVersion": 1}, nil)
			sessions := e.list(object{"cwd": e.cwd})
			if len(sessions) != 1 {
				t.Fatalf("sessions = %q, want one", sessions)
			}
			e.load(sessions[0])
			e.choose(sessions[0], "model", way[1])
			if stop := e.prompt(sessions[0], "in the editor"); stop != "end_turn" {
				t.Errorf("stop reason = %s, want end_turn", stop)
			}
			results := e.results(sessions[0])
			if len(results) != 1 || !results[0].IsError || !strings.HasPrefix(results[0].Text, "This call was not run") {
				t.Errorf("results = %+v, want the refusal", results)
			}
			checkResults(t, e.lastRequest(sessions[0]))
			if got := m.Rejected(); len(got) > 0 || len(m.Requests()) != 4 {
				t.Errorf("rejected: %q of %d requests, want none of 4", got, len(m.Requests()))
			}
			e.absent("ran")
		})
	}
}
