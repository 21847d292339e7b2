//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// A use is what the thread keeps of the tokens of a request.
type use struct {
	Input, Output int
	CacheRead     int `json:"cache_read"`
	CacheWrite    int `json:"cache_write"`
	Reasoning     int
	Known         bool
}

// uses returns what the stored thread has of each request.
func (e *editor) uses(session string) (all []use) {
	e.t.Helper()
	var out struct {
		Entries []struct {
			Kind string
			Body struct{ Usage use }
		}
	}
	if err := json.Unmarshal([]byte(e.prints("session", "export", session)), &out); err != nil {
		e.t.Fatal(err)
	}
	for _, entry := range out.Entries {
		if entry.Kind == "assistant" {
			all = append(all, entry.Body.Usage)
		}
	}
	return all
}

// filled returns the tokens of the window that each usage_update says are in use.
func (e *editor) filled(session string) (all []int) {
	e.t.Helper()
	for _, f := range e.heard() {
		var u struct {
			SessionID string
			Update    struct {
				SessionUpdate string
				Used          int
			}
		}
		if f.Method == "session/update" && json.Unmarshal(f.Params, &u) == nil && u.SessionID == session && u.Update.SessionUpdate == "usage_update" {
			all = append(all, u.Update.Used)
		}
	}
	return all
}

// checkReused checks that each of so many requests that were answered repeats all of
// the one before it.
func (e *editor) checkReused(m *modeltest.Server, requests int) {
	e.t.Helper()
	if got := m.Rejected(); len(got) > 0 || len(m.Reuse()) != requests-1 {
		e.t.Fatalf("rejected: %q; %d requests follow another, want %d", got, len(m.Reuse()), requests-1)
	}
	for i, r := range m.Reuse() {
		if r.Common != r.Before || r.After <= r.Before {
			e.t.Errorf("request %d repeats %d of %d bytes of the one before it, want all and more: %+v", i+2, r.Common, r.Before, r)
		}
	}
	if ratio := m.Ratio(); ratio != 1 {
		e.t.Errorf("prefix reuse ratio = %.4f, want 1.000", ratio)
	}
}

// checkReuse is checkReused, and checks that what the provider has said of its cache is
// in the thread: all of the request before, as far as the protocol has a cache, in whole
// steps of it.
func (e *editor) checkReuse(m *modeltest.Server, p provider, session string, requests int) {
	e.t.Helper()
	e.checkReused(m, requests)
	all := e.uses(session)
	for i, u := range all[1:] {
		before := all[i].Input
		switch p.kind {
		case "openai-chat":
			before -= before % 128
		case "ollama":
			before = 0 // it tells of no cache
		}
		if u.CacheRead != before || !u.Known || u.Input <= all[i].Input {
			e.t.Errorf("the thread has %+v of request %d after %+v, want %d tokens from the cache", u, i+2, all[i], before)
		}
	}
}

// Row 227 (R-HARN-14): over 20 turns with calls, some of them at once, with thoughts and
// with words of several scripts, each request begins with all of the one before it, in
// every protocol.
func TestRow227PrefixReuse(t *testing.T) {
	t.Parallel()
	for _, p := range allProviders() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			turns := 20
			if p.kind == "gemini" || p.kind == "ollama" {
				turns = 6 // each way to call once, and again
			}
			m := modeltest.New(t)
			e := newEditor(t).reachesAll(m)
			e.seed("a.txt", strings.Repeat("the walrus <&> 海象 \t\"said\"\n", 30))
			e.acp("--model", p.model, "--mode", "auto", "--clock", "2026-11-30T23:15:00Z", "--clock-step", "7m") // past midnight
			s := e.open(nil)
			for i := range turns {
				look := modeltest.Reply{Think: []string{"Let me ", fmt.Sprint("look ", i)}, Text: []string{fmt.Sprintf("Step <%d> & 步骤: ", i), "I look."},
					Tools: []modeltest.Tool{{Name: "read", Args: fmt.Sprintf(`{ "limit":3,"path": "a.txt","offset":%d}`, i+1)}}}
				switch i % 4 {
				case 1:
					look.Tools = append(look.Tools, tool("bash", object{"command": "echo $((6*7)) <&>2"}), tool("grep", object{"pattern": "海象"}))
				case 2:
					look.Think, look.Text = nil, nil
					look.Tools = append(look.Tools, tool("read", object{"path": "missing.txt"}), tool("nothing", object{}))
				case 3:
					look.Tools = append(look.Tools, tool("write", object{"path": "b.txt", "content": "one\r\n\ttwo "}))
				}
				m.Add(look, modeltest.Reply{Text: []string{"It says ", fmt.Sprintf("<line %d> & more.\n", i)}})
				if stop := e.prompt(s, fmt.Sprintf("What is at %d? 在哪里?", i)); stop != "end_turn" {
					t.Fatalf("stop reason = %s, want end_turn", stop)
				}
			}
			e.checkReuse(m, p, s, 2*turns)
		})
	}
}

// Row 227, where turns do not end as they should: an answer that is cut at the limit, a
// cancel in the middle of one, and a message that the provider refuses, which is taken
// back, change nothing of what was sent before.
func TestRow227PrefixReuseOverRoughTurns(t *testing.T) {
	t.Parallel()
	for _, p := range allProviders() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			look := modeltest.Reply{Think: []string{"hm"}, Text: []string{"I look."}, Tools: []modeltest.Tool{tool("read", object{"path": "a.txt"}), tool("nothing", object{})}}
			done := modeltest.Reply{Text: []string{"Done."}}
			m := modeltest.New(t, look, modeltest.Reply{Text: []string{"Too lon"}, Stop: model.StopLength},
				modeltest.Reply{Think: []string{"hm"}, Text: []string{"I hang"}, Hang: true},
				modeltest.Reply{Status: 400, Error: "not today"}, look, done)
			e := newEditor(t).reachesAll(m)
			e.seed("a.txt", "the walrus\n")
			e.acp("--model", p.model)
			s := e.open(nil)
			if stop := e.prompt(s, "one"); stop != "max_tokens" {
				t.Errorf("stop reason = %s, want max_tokens", stop)
			}
			id := e.send("session/prompt", say(s, "two"))
			e.until("piece of the answer", func(f frameIn) bool { return strings.Contains(f.Raw, "I hang") })
			e.notify("session/cancel", object{"sessionId": s})
			if stop := stopReason(t, e.wait(id)); stop != "cancelled" {
				t.Errorf("stop reason = %s, want cancelled", stop)
			}
			if f := e.wait(e.send("session/prompt", say(s, "three"))); f.Error == nil {
				t.Errorf("%s, want the error of the provider", f.Raw)
			}
			if stop := e.prompt(s, "four"); stop != "end_turn" {
				t.Errorf("stop reason = %s, want end_turn", stop)
			}
			e.checkReused(m, 5)
			checkOnce(t, e.lastRequest(s), []string{"one", "Too lon", "two", "I hang", "four"})
		})
	}
}

// What a provider counts reaches the thread, the updates and /usage in every protocol:
// tokens that came from a cache and that were written to it are part of the prompt, as
// thoughts are of the answer.
func TestRow227CachedTokensAreTold(t *testing.T) {
	t.Parallel()
	for _, p := range allProviders() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			first := use{5000, 70, 3000, 1500, 20, true}
			second := use{6000, 9, 4500, 0, 0, true}
			m := modeltest.New(t)
			for i, u := range []use{first, second} {
				r := modeltest.Reply{Text: []string{"Fine."}, Usage: &model.Usage{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Reasoning: u.Reasoning, Known: true}}
				if i == 0 {
					r.Tools = []modeltest.Tool{tool("glob", object{"pattern": "*"})}
				}
				m.Add(r)
			}
			e := newEditor(t).reachesAll(m)
			e.acp("--model", p.model)
			s := e.open(nil)
			e.prompt(s, "go")
			read := 7500
			switch p.kind {
			case "gemini":
				first.CacheWrite = 0 // it has no word for it
			case "ollama":
				first, second, read = use{5000, 70, 0, 0, 0, true}, use{6000, 9, 0, 0, 0, true}, 0
			}
			if diff := cmp.Diff([]use{first, second}, e.uses(s)); diff != "" {
				t.Errorf("the thread has (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]int{5070, 6009}, e.filled(s)); diff != "" {
				t.Errorf("the updates say (-want +got):\n%s", diff)
			}
			e.prompt(s, "/usage")
			if got, want := e.text(s), fmt.Sprintf("Tokens in: 11000, of which %d came from a cache", read); !strings.Contains(got, want) {
				t.Errorf("/usage says %q, want %q", got, want)
			}
		})
	}
}

// The cache of Anthropic is found again over a step of any number of blocks, of which a
// mark sees twenty: the request before is marked too. No request has more than four
// marks, and the process may end between two.
func TestRow227AnthropicAnchor(t *testing.T) {
	t.Parallel()
	m := modeltest.New(t)
	e := newEditor(t).reachesAll(m)
	e.seed("a.txt", strings.Repeat("the walrus\n", 40))
	e.acp("--model", claude)
	s := e.open(nil)
	many := func(n int) (r modeltest.Reply) {
		for i := range n {
			r.Tools = append(r.Tools, tool("read", object{"path": "a.txt", "offset": i + 1, "limit": 1}))
		}
		return r
	}
	done := modeltest.Reply{Text: []string{"Done."}}
	turns := [][]modeltest.Reply{{many(25), done}, {many(1), many(25), done}, {many(25), done}}
	requests := 0
	for i, turn := range turns {
		m.Add(turn...)
		if stop := e.prompt(s, "go on"); stop != "end_turn" {
			t.Fatalf("stop reason = %s, want end_turn", stop)
		}
		requests += len(turn)
		if i == 0 {
			e = e.restart("--model", claude)
			e.load(s)
		}
	}
	e.checkReuse(m, allProviders()[1], s, requests)
	most := 0
	for i, r := range m.Requests() {
		n := bytes.Count(r.Body, []byte(`"cache_control":`))
		most = max(most, n)
		if n < 2 || n > 4 {
			t.Errorf("request %d has %d marks, want 2 to 4", i+1, n)
		}
	}
	if most < 3 {
		t.Errorf("no request has more than %d marks, want an anchor", most)
	}
}
