package acp_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/acp/acptest"
	"github.com/lorimer-dev/lorimer/harness/store/memory"
)

// A screen is what a client shows after a number of updates: messages, thoughts
// and tool calls by their ids, each as a JSON object that later updates change.
type screen map[string]map[string]any

// show adds what messages tell. What is no part of the conversation is left out:
// notices, and what the client has sent itself.
func (s screen) show(tb testing.TB, ms []acptest.Message) {
	tb.Helper()
	for _, m := range ms {
		if m.Method != "session/update" {
			continue
		}
		var p struct{ Update map[string]any }
		if err := json.Unmarshal(m.Params, &p); err != nil {
			tb.Fatal(err)
		}
		kind, _ := p.Update["sessionUpdate"].(string)
		message, _ := p.Update["messageId"].(string)
		call, _ := p.Update["toolCallId"].(string)
		delete(p.Update, "sessionUpdate")
		switch {
		case call != "":
			s.change(call, p.Update)
		case message != "" && kind != "user_message_chunk" && !strings.HasPrefix(message, "notice-"):
			c, _ := p.Update["content"].(map[string]any)
			text, _ := c["text"].(string)
			before, _ := s[message]["text"].(string)
			p.Update["kind"], p.Update["text"] = kind, before+text
			delete(p.Update, "content")
			s.change(message, p.Update)
		case kind == "usage_update":
			s.change(kind, p.Update)
		}
	}
}

func (s screen) change(id string, members map[string]any) {
	if s[id] == nil {
		s[id] = make(map[string]any)
	}
	maps.Copy(s[id], members)
}

// R-ACP-15: after a load in another process the client shows what it showed after
// the turns: each message and each call under its id, in its final state.
func TestReplayShowsWhatWasTold(t *testing.T) {
	tests := []struct {
		name, model string
		says        []string // of the client, in session s
	}{
		{"thoughts, calls and text", `
{"think":["h","m"],"text":"I look.","tools":[{"name":"read","args":{"path":"none"}},{"name":"bash","args":{"command":"a b"}}],"usage":{"input":5,"output":2}}
{"text":["It is"," not there."],"usage":{"input":50,"output":20}}`, []string{promptLine(1, "s", "x")}},
		{"changes of files", `
{"tools":[{"name":"write","args":{"path":"g","content":"one\n"}}]}
{"tools":[{"name":"edit","args":{"path":"g","old":"one","new":"two"}}]}
{"text":"done"}`, []string{promptLine(1, "s", "x")}},
		{"calls that are none", `
{"tools":[{"name":"nothing","args":{"a":1}},{"name":"read","args":{}},{"name":"read","args":"{broken"}]}
{"text":"well"}`, []string{promptLine(1, "s", "x")}},
		{"a cancel during a call", `
{"text":"I run it.","tools":[{"name":"bash","args":{"command":"a b c d e f g"}}]}
{"text":"again"}`, []string{promptLine(1, "s", "x"), "", cancelLine("s"), promptLine(2, "s", "y")}},
		{"a cancel during the answer", `
{"text":["one","two","three"],"delay_ms":1000}
{"text":"again"}`, []string{promptLine(1, "s", "x"), "", cancelLine("s"), promptLine(2, "s", "y")}},
		{"a failure during the answer", `
{"text":"half","error":{"status":400,"message":"no"}}
{"text":"whole"}`, []string{promptLine(1, "s", "x"), promptLine(2, "s", "y")}},
		{"an answer that was cut and goes on otherwise", `
{"think":"hm","text":"half of","error":{"status":529,"message":"overloaded"}}
{"think":"so","text":"something else"}`, []string{promptLine(1, "s", "x")}},
		{"no answer", `
{"error":{"status":400,"message":"no"}}
{"text":"well"}`, []string{promptLine(1, "s", "x"), promptLine(2, "s", "y")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := t.TempDir()
				r := rig{model: tt.model, runner: talkative, threads: memory.New(nil)}
				e := acptest.Open(t, r.serve(t))
				e.Say(initialize, newSession("s", dir),
					`{"jsonrpc":"2.0","id":9,"method":"session/set_mode","params":{"sessionId":"s","modeId":"auto"}}`)
				want := make(screen)
				for _, line := range tt.says {
					if line == "" {
						time.Sleep(1500 * time.Millisecond)
						continue
					}
					e.Say(line)
				}
				time.Sleep(10 * time.Minute)
				want.show(t, acptest.Messages(t, e.Hear()))
				e.End()
				if err := e.Wait(); err != nil {
					t.Fatal(err)
				}

				e = acptest.Open(t, r.serve(t))
				e.Say(initialize, loadLine(1, dir))
				got := make(screen)
				got.show(t, acptest.Messages(t, e.Hear()))
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("the screen (-live +loaded):\n%s", diff)
				}
			})
		})
	}
}
