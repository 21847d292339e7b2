//go:build unix

package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// said returns the messages of the model in a session so far, in order, each
// with its kind. One that did not hold is marked.
func (e *editor) said(session string) []string {
	e.t.Helper()
	texts, left := map[string]string{}, map[string]bool{}
	var order []string
	for _, u := range e.updates(session) {
		c := u.Update
		kind, ok := map[string]string{"agent_message_chunk": "text", "agent_thought_chunk": "thought"}[c.Kind]
		if !ok || strings.HasPrefix(c.MessageID, "notice-") {
			continue
		}
		var block struct{ Text string }
		if err := json.Unmarshal(c.Content, &block); err != nil {
			e.t.Fatal(err)
		}
		if _, ok := texts[c.MessageID]; !ok {
			order = append(order, c.MessageID)
			texts[c.MessageID] = kind + " "
		}
		texts[c.MessageID] += block.Text
		left[c.MessageID] = left[c.MessageID] || strings.Contains(string(c.Meta), `"replaced":true`)
	}
	var all []string
	for _, id := range order {
		if left[id] {
			texts[id] = "replaced " + texts[id]
		}
		all = append(all, texts[id])
	}
	return all
}

// Row 213 (R-HARN-24, R-HARN-25, R-HARN-28, C110, C117, C118): what fails in
// passing is asked again and shown once, what would fail again is not. The trace
// has a line for each request.
func TestRow213Repeats(t *testing.T) {
	t.Parallel()
	const answer = `{"text": ["Hello ", "world."]}`
	tests := []struct {
		name, script string
		requests     int
		said         []string
		fails        string // what the user reads
	}{
		{"overloaded", `{"error": {"status": 529}, "repeat": 2}` + "\n" + answer, 3, []string{"text Hello world."}, ""},
		{"a broken connection", `{"error": {"status": 0}}` + "\n" + answer, 2, []string{"text Hello world."}, ""},
		{"a rate limit with a time", `{"error": {"status": 429, "retry_after": 0.1}, "repeat": 3}` + "\n" + answer, 4, []string{"text Hello world."}, ""},
		{"a rate limit without", `{"error": {"status": 429}, "repeat": true}`, 3, nil, "takes no more requests for now"},
		{"a rate limit for days", `{"error": {"status": 429, "retry_after": 1382400}}` + "\n" + answer, 1, nil, "takes no more requests for now"},
		{"a spent quota", `{"error": {"status": 402}}` + "\n" + answer, 1, nil, "quota"},
		{"a refused key", `{"error": {"status": 401}}` + "\n" + answer, 1, nil, "API key"},
		{"a full window", `{"error": {"kind": "context overflow", "status": 400}}` + "\n" + answer, 1, nil, "larger than the model can read"},
		{"refused content", `{"error": {"kind": "content refused", "status": 400}}` + "\n" + answer, 1, nil, "refuses this content"},
		{"final", `{"error": {"status": 503, "retryable": false}}` + "\n" + answer, 1, nil, "overloaded"},
		{"broken off", `{"text": "Hello wo", "error": {"status": 0}}` + "\n" + answer, 2, []string{"text Hello world."}, ""},
		{
			"broken off, and then otherwise", `{"think": "hm", "text": "Hello you", "error": {"status": 503}}` + "\n" + answer, 2,
			[]string{"replaced thought hm", "replaced text Hello you", "text Hello world."}, "",
		},
		{
			"broken off after a call", `{"text": "Hello ", "tools": [{"name": "bash", "args": {"command": "touch ran"}}], "error": {"status": 0}}` + "\n" + answer,
			2, []string{"text Hello world."}, "",
		},
		{"broken off and refused", `{"text": "Hello", "error": {"kind": "content refused"}}` + "\n" + answer, 1, []string{"text Hello"}, "refuses this content"},
		{"an empty answer", `{"stop": "stop"}` + "\n" + answer, 2, []string{"text Hello world."}, ""},
		{"a thought alone", `{"think": "hm"}` + "\n" + answer, 2, []string{"replaced thought hm", "text Hello world."}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := edit(t, `{"match": {"contains": "follow-up"}, "text": "fine"}`+"\n"+tt.script, "--mode", "auto")
			s := e.open(nil)
			f := e.wait(e.send("session/prompt", say(s, "begin")))
			if failed := f.Error != nil; failed != (tt.fails != "") || failed && !strings.Contains(f.Error.Message, tt.fails) {
				t.Errorf("answer = %s, want it to say %q", f.Raw, tt.fails)
			}
			requests := e.requests(s)
			if len(requests) != tt.requests {
				t.Errorf("%d requests, want %d", len(requests), tt.requests)
			}
			for _, r := range requests[1:] {
				if diff := cmp.Diff(requests[0], r); diff != "" {
					t.Errorf("a repeat is another request (-first +repeat):\n%s", diff)
				}
			}
			if got := e.said(s); !slices.Equal(got, tt.said) {
				t.Errorf("messages = %q, want %q", got, tt.said)
			}
			waits := 0
			for _, u := range e.updates(s) {
				if strings.Contains(string(u.Update.Content), "asking again in") {
					waits++
				}
			}
			if waits != tt.requests-1 {
				t.Errorf("%d waits were shown, want %d", waits, tt.requests-1)
			}
			e.absent("ran")
			checkCalls(e, s)
			if got := e.prompt(s, "follow-up"); got != "end_turn" {
				t.Errorf("the next prompt ends with %s", got)
			}
		})
	}
}

// R-ACP-14, R-ACP-29, C013: the commands are told and run, those that need no
// model without one.
func TestC013Commands(t *testing.T) {
	t.Parallel()
	e := edit(t, `{"text": "one", "usage": {"input": 30, "output": 4, "cache_read": 20}}`+"\n"+`{"text": "two", "usage": {"input": 30, "output": 5}}`)
	s := e.open(nil)
	f := e.until("the commands", func(f frameIn) bool { return strings.Contains(f.Raw, "available_commands_update") })
	for _, name := range []string{"retry", "usage", "help"} {
		if !strings.Contains(f.Raw, `"name":"`+name+`"`) {
			t.Errorf("commands = %s, want %s among them", f.Raw, name)
		}
	}
	e.prompt(s, "question")
	context := object{"type": "resource", "resource": object{"uri": "file:///a.txt", "text": "/help", "mimeType": "text/plain"}}
	for _, tt := range []struct{ command, want string }{
		{"/help", "`/usage`"}, {" /usage\n", "Tokens in: 30, of which 20 came"}, {"/retry", "two"}, {"/usage", "Tokens out: 9"},
	} {
		before := len(e.said(s))
		var r struct{ StopReason string }
		e.call("session/prompt", object{"sessionId": s, "prompt": []any{context, object{"type": "text", "text": tt.command}}}, &r)
		said := e.said(s)[before:]
		if r.StopReason != "end_turn" || len(said) != 1 || !strings.Contains(said[0], tt.want) {
			t.Errorf("%q ends with %s and says %q, want one message with %q", tt.command, r.StopReason, said, tt.want)
		}
	}
	if got := len(e.requests(s)); got != 2 {
		t.Errorf("%d requests, want one for the question and one for its repeat", got)
	}
	if diff := cmp.Diff([]string{"built", "rebuilt"}, e.harnesses(s)); diff != "" {
		t.Errorf("harnesses (-want +got):\n%s", diff)
	}
}

// The same from the command line, where a wait is told to standard error.
func TestC013CommandsOfRun(t *testing.T) {
	t.Parallel()
	r := oneShot(t, always, "/help")
	if code := r.code(); code != 0 || !strings.Contains(r.out.String(), "`/retry`") {
		t.Errorf("exit code %d with %q, want the commands", code, r.out.String())
	}
	r = oneShot(t, `{"error": {"status": 503}}`+"\n"+`{"text": "fine"}`, "hello")
	if code := r.code(); code != 0 || r.out.String() != "fine\n" || !strings.Contains(r.err.String(), "trying again in") {
		t.Errorf("exit code %d with %q and %q, want the answer and the wait", code, r.out.String(), r.err.String())
	}
}

// What did not hold is no answer of "lorimer run" (R-HARN-28).
func TestRow213Run(t *testing.T) {
	t.Parallel()
	const script = `{"text": ["Hello ", "you"], "error": {"status": 0}}` + "\n" + `{"text": "Good day."}`
	for _, tt := range []struct{ format, want, stderr string }{
		{"text", "Hello you\n\nGood day.\n", "it begins anew"},
		{"json", `"answer": "Good day."`, "it begins anew"},
		{"stream-json", `{"messageId":"m3-1","type":"replaced"}` + "\n" + `{"messageId":"m3-2","text":"Good day.","type":"text"}`, ""},
	} {
		t.Run(tt.format, func(t *testing.T) {
			t.Parallel()
			r := oneShot(t, script, "--format", tt.format, "hello")
			if code := r.code(); code != 0 || !strings.Contains(r.out.String(), tt.want) || !strings.Contains(r.err.String(), tt.stderr) {
				t.Errorf("exit code %d with %q and %q, want %q and %q", code, r.out.String(), r.err.String(), tt.want, tt.stderr)
			}
		})
	}
}

// C110, C118: the same with the streams of providers, however they break.
func TestRow213Providers(t *testing.T) {
	t.Parallel()
	begun := func(r modeltest.Reply) modeltest.Reply {
		r.Think, r.Text = []string{"Hm."}, []string{"Hello ", "wo"}
		r.Tools = []modeltest.Tool{{Name: "bash", Args: `{"command": "touch ran"}`}}
		return r
	}
	for name, broken := range map[string]modeltest.Reply{
		"connection lost":          begun(modeltest.Reply{Cut: true}),
		"stream without an end":    begun(modeltest.Reply{EOF: true}),
		"overloaded in the stream": begun(modeltest.Reply{Code: "overloaded_error", Error: "Overloaded"}),
		"nothing in the stream":    {},
	} {
		for _, provider := range []string{"openai", "anthropic"} {
			t.Run(name+" at "+provider, func(t *testing.T) {
				t.Parallel()
				m := modeltest.New(t, broken, modeltest.Reply{Think: []string{"Hm."}, Text: []string{"Hello world."}}, modeltest.Reply{Text: []string{"fine"}})
				e := newEditor(t).reaches(m)
				e.acp("--mode", "auto", "--model", provider+"/"+modeltest.ModelID)
				s := e.open(nil)
				e.prompt(s, "go")
				if diff := cmp.Diff([]string{"thought Hm.", "text Hello world."}, e.said(s)); diff != "" {
					t.Errorf("messages (-want +got):\n%s", diff)
				}
				e.prompt(s, "and now")
				if got, rejected := len(e.requests(s)), m.Rejected(); got != 3 || len(rejected) > 0 {
					t.Errorf("%d requests, rejected: %q, want 3 and none", got, rejected)
				}
				e.absent("ran")
				checkCalls(e, s)
			})
		}
	}
}
