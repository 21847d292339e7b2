//go:build unix

package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// C107 (R-HARN-31): what a family wants back of its thoughts goes back to it, an empty
// one too, in the same turn, after others have had a turn, and in the next process.
// Nobody else gets it.
func TestC107ThoughtsGoBack(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, kind, provider, id string
		field                    string // as it is written
		empty                    bool   // it is there without a thought
	}{
		{"DeepSeek", "openai-chat", "deepseek", "deepseek-v4", `"reasoning_content":"`, true},
		{"Kimi", "openai-chat", "moonshot", "kimi-k2-thinking", `"reasoning_content":"`, true},
		{"Gemini by OpenAI's protocol", "openai-chat", "google", "gemini-3.5-flash", `"thought_signature":"`, false},
		{"Gemini", "gemini", "gemini", "gemini-3.5-flash", `"thoughtSignature":"`, false},
		{"Claude", "anthropic", "anthropic", "claude-sonnet-5", `"signature":"`, false},
		{"GPT by Responses", "openai-responses", "responses", "gpt-5.6", `"encrypted_content":"`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := modeltest.New(t)
			e := newEditor(t)
			settings := fmt.Sprintf("[providers.%s]\nkind = %q\nbase_url = %q\nmodel = %q\napi_key_env = \"ALL_KEY\"\n", tt.provider, tt.kind, m.OpenAI(), tt.id)
			if slices.ContainsFunc(allProviders(), func(p provider) bool { return p.name == tt.provider }) {
				settings = ""
			}
			e.reachesAll(m, settings)
			first := tt.provider + "/" + tt.id
			e.acp("--model", first, "--mode", "auto")
			s := e.open(nil)
			secret := "so thinks " + first
			turn := func() {
				t.Helper()
				m.Add(
					modeltest.Reply{Think: []string{secret}, Text: []string{"I look."}, Tools: []modeltest.Tool{mark("log", "one")}},
					modeltest.Reply{Think: []string{""}, Tools: []modeltest.Tool{mark("log", "two"), mark("log", "three")}},
					modeltest.Reply{Tools: []modeltest.Tool{mark("log", "four")}},
					modeltest.Reply{Text: []string{fmt.Sprintf("Done after %d.", len(m.Requests()))}})
				if stop := e.prompt(s, "go"); stop != "end_turn" {
					t.Errorf("stop reason = %s, want end_turn", stop)
				}
			}
			turn()
			own := m.Requests()
			for i, r := range own {
				if n := bytes.Count(r.Body, []byte(tt.field)); i > 0 && n == 0 || tt.empty && n != i {
					t.Errorf("request %d has %s %d times", i+1, tt.field, n)
				}
				if bytes.Contains(r.Body, []byte("skip_thought_signature_validator")) {
					t.Errorf("request %d has a stand-in for a signature of its own reader", i+1)
				}
			}
			if last := own[len(own)-1].Body; tt.empty && !bytes.Contains(last, []byte(tt.field+`"`)) {
				t.Errorf("the last request has no empty thought: %s", last)
			}
			e = e.goesRound(m, s, first)
			for _, r := range m.Requests()[len(own):] {
				theirs := bytes.Contains(r.Body, []byte(fmt.Sprintf("%q", tt.id))) || strings.Contains(r.Path, tt.id)
				if !theirs && bytes.Contains(r.Body, []byte(secret)) {
					t.Errorf("a request to %s has a thought of %s", r.Path, first)
				}
			}
			turn()
			if got := m.Rejected(); len(got) > 0 {
				t.Errorf("rejected: %q", got)
			}
			if got, want := e.disk("log"), strings.Repeat("one\ntwo\nthree\nfour\n", 2); got != want {
				t.Errorf("log = %q, want %q", got, want)
			}
		})
	}
}

// C104, C105: the very bytes of the cases, in the stream of chat completions. What
// follows is asked of the strict server.
func TestC104OneIndex(t *testing.T) {
	t.Parallel()
	delta := func(calls ...string) string {
		return `{"choices":[{"index":0,"delta":{"tool_calls":[` + strings.Join(calls, ",") + `]}}]}`
	}
	call := func(head, args string) string { return `{` + head + `"function":{` + args + `}}` }
	arguments := func(s string) string { return fmt.Sprintf(`"arguments":%q`, s) }
	one, two := mark("log", "one").Args, mark("log", "two").Args
	begin := `"name":"bash",`
	tests := []struct {
		name   string
		chunks []string
		want   string
	}{
		{"one index, then the tail under the next", []string{
			delta(call(`"index":0,"id":"a","type":"function",`, begin+arguments(one)), call(`"index":0,"id":"b","type":"function",`, begin+arguments(two[:9]))),
			delta(call(`"index":1,`, arguments(two[9:])))}, "one\ntwo\n"},
		{"the same in chunks of their own", []string{
			delta(call(`"index":0,"id":"a","type":"function",`, begin+arguments(one))), delta(call(`"index":0,"id":"b","type":"function",`, begin+arguments(two[:9]))),
			delta(call(`"index":1,`, arguments(two[9:])))}, "one\ntwo\n"},
		{"a known id under another index", []string{
			delta(call(`"index":0,"id":"a",`, begin+arguments(one[:5]))), delta(call(`"index":1,"id":"b",`, begin+arguments(two[:9]))),
			delta(call(`"index":1,"id":"a",`, arguments(one[5:]))), delta(call(`"index":0,"id":"b",`, arguments(two[9:])))}, "one\ntwo\n"},
		{"neither index nor id", []string{
			delta(call("", begin+arguments(one[:5]))), delta(call("", arguments(one[5:]))), delta(call("", begin+arguments(two[:9]))), delta(call("", arguments(two[9:])))}, "one\ntwo\n"},
		{"the id in the second chunk", []string{
			delta(call(`"index":0,`, begin+arguments(""))), delta(call(`"index":0,"id":"a",`, arguments(one)))}, "one\n"},
		{"an empty id", []string{delta(call(`"index":0,"id":"",`, begin+arguments(one))), delta(call(`"index":1,"id":"",`, begin+arguments(two)))}, "one\ntwo\n"},
		{"a whole call under two indexes", []string{
			delta(call(`"index":0,"id":"a",`, begin+arguments(one))), delta(call(`"index":1,"id":"a",`, begin+arguments(one)))}, "one\n"},
		{"a whole call under two indexes in one chunk", []string{
			delta(call(`"index":0,"id":"a",`, begin+arguments(one)), call(`"index":1,"id":"a",`, begin+arguments(one)))}, "one\n"},
		{"two calls that are alike", []string{
			delta(call(`"index":0,"id":"a",`, begin+arguments(one)), call(`"index":1,"id":"b",`, begin+arguments(one)))}, "one\none\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := modeltest.New(t, modeltest.Reply{Text: []string{"Done."}})
			m.URL = rawFirst(t, m, append(tt.chunks, `{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`, "[DONE]"))
			e := newEditor(t).reachesAll(m)
			e.acp("--model", gpt, "--mode", "auto")
			s := e.open(nil)
			if stop := e.prompt(s, "go"); stop != "end_turn" || e.text(s) != "Done." {
				t.Errorf("stop reason = %s with %q, want end_turn with the answer", stop, e.text(s))
			}
			if diff := cmp.Diff(tt.want, e.disk("log")); diff != "" {
				t.Errorf("what the calls have left (-want +got):\n%s", diff)
			}
			if got, want := len(lives(e, s)), strings.Count(tt.want, "\n"); got != want {
				t.Errorf("%d calls are told, want %d", got, want)
			}
			checkToldOnce(e, s)
			checkPaired(t, e.lastRequest(s))
			if got := m.Rejected(); len(got) > 0 {
				t.Errorf("rejected: %q", got)
			}
		})
	}
}

// rawFirst puts something in front of a server that answers the first request for an
// answer with these events, and returns its address.
func rawFirst(t *testing.T, m *modeltest.Server, events []string) string {
	first := make(chan struct{}, 1)
	first <- struct{}{}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
			m.ServeHTTP(w, r)
			return
		}
		select {
		case <-first:
			w.Header().Set("Content-Type", "text/event-stream")
			for _, data := range events {
				fmt.Fprintf(w, "data: %s\n\n", data)
			}
		default:
			m.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(front.Close)
	return front.URL
}
