package acp_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/acp/acptest"
	"github.com/lorimer-dev/lorimer/harness/model"
)

// eliciting is an initialize of a client that shows forms.
const eliciting = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"elicitation":{"form":{}}}}}`

const elicit = "elicitation/create"

// asking is a model that puts questions, which are JSON, and then says "done", again
// and again.
func asking(questions string) string {
	return fmt.Sprintf(`{"match":{"contains":"poll"},"tools":[{"name":"ask_user","args":{"questions":[%s]}}],"repeat":true}`, questions) +
		"\n" + `{"text":"done","repeat":true}`
}

const choice = `{"question":"Which?","options":["a","b"]}`

// result returns the output of the one tool call that ended in ms, and its state.
func result(tb testing.TB, ms []acptest.Message) (output, status string) {
	tb.Helper()
	for _, m := range ms {
		var p struct {
			Update struct {
				Status    string
				RawOutput json.RawMessage
			}
		}
		if json.Unmarshal(m.Params, &p) == nil && (p.Update.Status == "completed" || p.Update.Status == "failed") {
			if status != "" {
				tb.Fatal("two calls ended")
			}
			output, status = string(p.Update.RawOutput), p.Update.Status
		}
	}
	return output, status
}

// R-ACP-45: only what was offered is an answer, and nothing that a client says or
// does not say keeps the turn.
func TestElicitationAnswers(t *testing.T) {
	const (
		several = `{"question":"Which?","options":["a","b","c"],"multiple":true}`
		free    = `{"question":"Why?"}`
		none    = `[{"question":"Which?"}]`
	)
	accept := func(content string) string { return `{"action":"accept","content":` + content + `}` }
	tests := []struct {
		name, questions, reply string
		want                   string // output of the call
	}{
		{"a choice", choice, accept(`{"q1":"b"}`), `[{"question":"Which?","chosen":["b"]}]`},
		{"a choice in a list", choice, accept(`{"q1":["b"]}`), `[{"question":"Which?","chosen":["b"]}]`},
		{"a choice that was not offered", choice, accept(`{"q1":"c"}`), none},
		{"a number", choice, accept(`{"q1":1}`), none},
		{"several", several, accept(`{"q1":["c","a",7,"x"]}`), `[{"question":"Which?","chosen":["a","c"]}]`},
		{"several as one text", several, accept(`{"q1":"b"}`), `[{"question":"Which?","chosen":["b"]}]`},
		{"a text", free, accept(`{"q1":"be\u200bcause <it>"}`), "[{\"question\":\"Why?\",\"chosen\":[\"be\u200bcause <it>\"]}]"},
		{"one of two", choice + "," + free, accept(`{"q2":"so"}`), `[{"question":"Which?"},{"question":"Why?","chosen":["so"]}]`},
		{"another field", choice, accept(`{"Which?":"b"}`), none},
		{"no content", choice, `{"action":"accept"}`, none},
		{"content that is none", choice, accept(`["b"]`), none},
		{"declined", choice, `{"action":"decline","content":{"q1":"b"}}`, none},
		{"cancelled", choice, `{"action":"cancel"}`, none},
		{"an action of its own", choice, `{"action":"_later"}`, none},
		{"no action", choice, `{"content":{"q1":"b"}}`, none},
		{"no object", choice, `"b"`, none},
		{"null", choice, `null`, none},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := acptest.Open(t, rig{model: asking(tt.questions)}.serve(t))
				e.Say(eliciting, newSession("s", t.TempDir()), promptLine(1, "s", "poll"))
				e.Reply(acptest.Request(t, acptest.Messages(t, e.Hear()), elicit), tt.reply)
				ms := acptest.Messages(t, e.Hear())
				got, status := result(t, ms)
				if diff := cmp.Diff(tt.want, got); diff != "" || status != "completed" {
					t.Errorf("call is %s, output (-want +got):\n%s", status, diff)
				}
				if got := stopReason(t, ms, "1"); got != "end_turn" || texts(ms, "s") != "done" {
					t.Errorf("turn: %s, %q", got, texts(ms, "s"))
				}
			})
		})
	}
}

// M-11: a client that cannot ask is not asked, or turns out to be unable, and then
// the model asks in its answer. Any other error is no response.
func TestElicitationImpossible(t *testing.T) {
	tests := []struct {
		name  string
		first string // initialize
		code  int    // of the client's answer; 0 is not asked
		want  string
	}{
		{"not offered", initialize, 0, "Write your questions into your answer"},
		{"only addresses are offered", strings.Replace(eliciting, `"form"`, `"url"`, 1), 0, "Write your questions into your answer"},
		{"unknown method", eliciting, -32601, "Write your questions into your answer"},
		{"another error", eliciting, -32603, `[{"question":"Which?"}]`},
		{"refused parameters", eliciting, -32602, `[{"question":"Which?"}]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := acptest.Open(t, rig{model: asking(choice)}.serve(t))
				e.Say(tt.first, newSession("s", t.TempDir()), promptLine(1, "s", "poll"))
				ms := acptest.Messages(t, e.Hear())
				if tt.code != 0 {
					e.Refuse(acptest.Request(t, ms, elicit), tt.code)
					ms = acptest.Messages(t, e.Hear())
				}
				if got, status := result(t, ms); status != "completed" || !strings.Contains(got, tt.want) {
					t.Errorf("call is %s with the output %s, want %q", status, got, tt.want)
				}
				if got := stopReason(t, ms, "1"); got != "end_turn" {
					t.Errorf("turn: %s", got)
				}
			})
		})
	}
}

// Nothing hides in a form, and the model reads the same of it (R-PROMPT-16).
func TestElicitationReveals(t *testing.T) {
	const hidden = `{"question":"Wh\u200bich\u202e?","options":["a\u2060","b"]}`
	for name, questions := range map[string]string{"one question": hidden, "two": hidden + `,{"question":"Two\nlines\ufeff?"}`} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rec := &recorder{}
				e := acptest.Open(t, rig{model: asking(questions), seen: rec}.serve(t))
				e.Say(eliciting, newSession("s", t.TempDir()), promptLine(1, "s", "poll"))
				form := acptest.Request(t, acptest.Messages(t, e.Hear()), elicit)
				var p any
				if err := json.Unmarshal(form.Params, &p); err != nil {
					t.Fatal(err)
				}
				shown := fmt.Sprint(p)
				if strings.ContainsAny(shown, "\u200b\u202e\u2060\ufeff\\") || !strings.Contains(shown, "Wh<U+200B>ich<U+202E>?") {
					t.Errorf("the user is shown %q", shown)
				}
				e.Reply(form, `{"action":"accept","content":{"q1":"a<U+2060>"}}`)
				e.Hear()
				var read string
				for _, m := range rec.requests[len(rec.requests)-1].Messages {
					for _, part := range m.Parts {
						if r, ok := part.(model.ToolResult); ok {
							read += r.Content
						}
					}
				}
				if !strings.HasPrefix(read, "Wh<U+200B>ich<U+202E>?\n- a<U+2060>") || strings.ContainsAny(read, "\u200b\ufeff\\") {
					t.Errorf("the model reads %q", read)
				}
			})
		})
	}
}

// R-ACP-26, R-ACP-45, C022: a form stays open without a time limit, whatever ends it
// does so at once and by one answer to the prompt, and what the user fills in
// afterwards changes nothing. What follows works.
func TestOpenForm(t *testing.T) {
	tests := []struct {
		name string
		end  func(e *acptest.Editor)
		want string // of the prompt
		last bool   // the connection has ended
	}{
		{"session/cancel", func(e *acptest.Editor) { e.Say(cancelLine("s")) }, "cancelled", false},
		{"$/cancel_request", func(e *acptest.Editor) {
			e.Say(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}`)
		}, "cancelled", false},
		{"session/close", func(e *acptest.Editor) { e.Say(closeLine(2)) }, "cancelled", false},
		{"session/delete", func(e *acptest.Editor) {
			e.Say(`{"jsonrpc":"2.0","id":2,"method":"session/delete","params":{"sessionId":"s"}}`)
		}, "cancelled", false},
		{"end of input", (*acptest.Editor).End, "end_turn", true}, // it is answered without a response of the user
		{"signal", (*acptest.Editor).Stop, "cancelled", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := acptest.Open(t, rig{model: asking(choice)}.serve(t))
				dir := t.TempDir()
				e.Say(eliciting, newSession("s", dir), promptLine(1, "s", "poll"))
				time.Sleep(24 * time.Hour)
				form := acptest.Request(t, acptest.Messages(t, e.Hear()), elicit)

				start := time.Now()
				tt.end(e)
				ms := acptest.Messages(t, e.Hear())
				if got := stopReason(t, ms, "1"); got != tt.want {
					t.Errorf("prompt: %s, want %s", got, tt.want)
				}
				if _, status := result(t, ms); status == "" {
					t.Error("the call has not ended")
				}
				if waited := time.Since(start); waited > 0 {
					t.Errorf("it took %v", waited)
				}
				if tt.last {
					if err := e.Wait(); err != nil {
						t.Errorf("Serve: %v", err)
					}
					return
				}
				told := false
				for _, m := range ms {
					told = told || m.Method == "$/cancel_request" && strings.Contains(string(m.Params), string(form.ID))
				}
				if !told {
					t.Error("the client was not told that the form is of no use any more")
				}
				e.Reply(form, `{"action":"accept","content":{"q1":"a"}}`)
				e.Say(newSession("t", dir), promptLine(3, "t", "next"))
				ms = acptest.Messages(t, e.Hear())
				if got := stopReason(t, ms, "3"); got != "end_turn" || len(texts(ms, "s")) > 0 {
					t.Errorf("the next prompt: %s; the session that ended says %q", got, texts(ms, "s"))
				}
			})
		})
	}
}

// A cancelled form leaves the session as it is: the next prompt can ask again.
func TestFormAfterCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := acptest.Open(t, rig{model: asking(choice)}.serve(t))
		e.Say(eliciting, newSession("s", t.TempDir()), promptLine(1, "s", "poll"))
		first := acptest.Request(t, acptest.Messages(t, e.Hear()), elicit)
		e.Say(cancelLine("s"), promptLine(2, "s", "poll"))
		ms := acptest.Messages(t, e.Hear())
		second := acptest.Request(t, ms, elicit)
		if got := stopReason(t, ms, "1"); got != "cancelled" {
			t.Errorf("the cancelled prompt: %s", got)
		}
		e.Reply(first, `{"action":"accept","content":{"q1":"a"}}`)
		e.Reply(second, `{"action":"accept","content":{"q1":"b"}}`)
		ms = acptest.Messages(t, e.Hear())
		if got, _ := result(t, ms); got != `[{"question":"Which?","chosen":["b"]}]` || stopReason(t, ms, "2") != "end_turn" {
			t.Errorf("output %s, %s", got, stopReason(t, ms, "2"))
		}
	})
}

// sent returns all texts of a request to the model, one after another.
func sent(req *model.Request) string {
	var b strings.Builder
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			if text, ok := p.(llms.TextContent); ok {
				b.WriteString(text.Text + "\n")
			}
		}
	}
	return b.String()
}

// R-ACP-45, R-PROMPT-35: what the user has answered goes with the next
// message too, and what had no response is said to have none. What nobody was asked is
// not told of.
func TestAnswersAreKept(t *testing.T) {
	tests := []struct {
		name  string
		reply func(e *acptest.Editor, form acptest.Message)
		want  string // in the next message; "" is not told
	}{
		{"a choice", func(e *acptest.Editor, form acptest.Message) {
			e.Reply(form, `{"action":"accept","content":{"q1":"blue"}}`)
		}, "blue"},
		{"no response", func(e *acptest.Editor, form acptest.Message) {
			e.Reply(form, `{"action":"decline"}`)
		}, "No response"},
		{"not asked", func(e *acptest.Editor, form acptest.Message) { e.Refuse(form, -32601) }, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rec := &recorder{}
				e := acptest.Open(t, rig{model: asking(`{"question":"Which colour?","options":["red","blue"]}`), seen: rec}.serve(t))
				e.Say(eliciting, newSession("s", t.TempDir()), promptLine(1, "s", "poll"))
				tt.reply(e, acptest.Request(t, acptest.Messages(t, e.Hear()), elicit))
				e.Hear()
				e.Say(promptLine(2, "s", "next"))
				if got := stopReason(t, acptest.Messages(t, e.Hear()), "2"); got != "end_turn" {
					t.Fatalf("the next prompt: %s", got)
				}
				last := rec.requests[len(rec.requests)-1]
				_, told, _ := strings.Cut(sent(last), "done\n") // the answer of the turn before
				if got := strings.Contains(told, "Which colour?"); got != (tt.want != "") || !strings.Contains(told, tt.want) {
					t.Errorf("the next message is %q, want the question and %q", told, tt.want)
				}
			})
		})
	}
}
