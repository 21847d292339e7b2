package acp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/acp"
	"github.com/lorimer-dev/lorimer/acp/acptest"
	"github.com/lorimer-dev/lorimer/harness/model"
)

const initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`

// newSession is a session/new for a wished id; its request id is that in quotes.
func newSession(id, dir string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%[1]q,"method":"session/new","params":{"cwd":%[2]q,"_meta":{"lorimer.dev":{"sessionId":%[1]q}}}}`, id, dir)
}

func promptLine(id int, session, text string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":%q}]}}`, id, session, text)
}

func cancelLine(session string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%q}}`, session)
}

// stopReason returns how the prompt with an id was answered.
func stopReason(tb testing.TB, ms []acptest.Message, id string) string {
	tb.Helper()
	m := acptest.Answer(tb, ms, id)
	if m.Error != nil {
		return fmt.Sprint(m.Error.Code, " ", m.Error.Data["code"])
	}
	var r struct{ StopReason string }
	if err := json.Unmarshal(m.Result, &r); err != nil {
		tb.Fatal(err)
	}
	return r.StopReason
}

// texts returns the text of the answers of a session, joined.
func texts(ms []acptest.Message, session string) string {
	var b strings.Builder
	for _, m := range ms {
		var p struct {
			SessionID string
			Update    struct {
				SessionUpdate string
				Content       struct{ Text string }
			}
		}
		// Content of a tool call is a list, which does not decode and has no text.
		if json.Unmarshal(m.Params, &p) == nil && p.SessionID == session && p.Update.SessionUpdate == "agent_message_chunk" {
			b.WriteString(p.Update.Content.Text)
		}
	}
	return b.String()
}

// R-ACP-08, C028: whatever a cancel meets of its prompt, each prompt has exactly
// one answer, and it is "cancelled".
func TestPromptAndCancelInOneWrite(t *testing.T) {
	const rounds = 300
	synctest.Test(t, func(t *testing.T) {
		r := rig{model: `{"text":["a","b","c"],"delay_ms":10,"repeat":true}`}
		e := acptest.Open(t, r.serve(t))
		e.Say(initialize, newSession("s", t.TempDir()))
		var ms []acptest.Message
		for i := range rounds {
			e.Say(promptLine(i+1, "s", "go"), cancelLine("s"))
			ms = append(ms, acptest.Messages(t, e.Hear())...)
		}
		for i := range rounds {
			if got := stopReason(t, ms, fmt.Sprint(i+1)); got != "cancelled" {
				t.Errorf("prompt %d: %s, want cancelled", i+1, got)
			}
		}
		e.Say(promptLine(1000, "s", "go"))
		time.Sleep(time.Second)
		if ms := acptest.Messages(t, e.Hear()); stopReason(t, ms, "1000") != "end_turn" || texts(ms, "s") != "abc" {
			t.Errorf("the prompt after them: %s, %q", stopReason(t, ms, "1000"), texts(ms, "s"))
		}
	})
}

// R-ACP-25: a second prompt waits and does not disturb the first; a cancel ends
// both; too many are refused.
func TestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rig{model: `{"text":["one ","two "],"delay_ms":1000,"repeat":true}`, waiting: 2}
		e := acptest.Open(t, r.serve(t))
		e.Say(initialize, newSession("s", t.TempDir()))
		e.Say(promptLine(1, "s", "a"), promptLine(2, "s", "b"))
		time.Sleep(10 * time.Second)
		ms := acptest.Messages(t, e.Hear())
		if a, b := stopReason(t, ms, "1"), stopReason(t, ms, "2"); a != "end_turn" || b != "end_turn" {
			t.Errorf("prompts ended %s and %s, want both end_turn", a, b)
		}
		first := slices.IndexFunc(ms, func(m acptest.Message) bool { return string(m.ID) == "1" })
		if got := texts(ms[:first], "s"); got != "one two " {
			t.Errorf("before the first answer came %q, want the text of the first turn alone", got)
		}

		e.Say(promptLine(3, "s", "a"), promptLine(4, "s", "b"), promptLine(5, "s", "c"), promptLine(6, "s", "d"))
		time.Sleep(1500 * time.Millisecond)
		if got := stopReason(t, acptest.Messages(t, e.Hear()), "6"); got != "-32603 SESSION_BUSY" {
			t.Errorf("the prompt over the limit: %s", got)
		}
		e.Say(cancelLine("s"))
		ms = acptest.Messages(t, e.Hear())
		for _, id := range []string{"3", "4", "5"} {
			if got := stopReason(t, ms, id); got != "cancelled" {
				t.Errorf("prompt %s: %s, want cancelled", id, got)
			}
		}
	})
}

// R-ACP-18: an option holds for the prompts that come after it, and not for one
// that has arrived before.
func TestOptionOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &recorder{}
		r := rig{model: `{"text":"x","delay_ms":1000,"repeat":true}`, seen: rec}
		e := acptest.Open(t, r.serve(t))
		e.Say(initialize, newSession("s", t.TempDir()),
			promptLine(1, "s", "a"), promptLine(2, "s", "b"),
			`{"jsonrpc":"2.0","id":3,"method":"session/set_config_option","params":{"sessionId":"s","configId":"tools","value":"off"}}`,
			promptLine(4, "s", "c"))
		time.Sleep(time.Minute)
		e.Hear()
		var got []int
		for _, req := range rec.requests {
			got = append(got, min(len(req.Tools), 1))
		}
		if want := []int{1, 1, 0}; !slices.Equal(got, want) {
			t.Errorf("requests had tools: %v, want %v", got, want)
		}
	})
}

// R-ACP-17, C024: sessions run at the same time and stay apart.
func TestParallelSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rig{model: `
{"match":{"session":"a"},"text":["a1","a2"],"delay_ms":1000,"repeat":true}
{"match":{"session":"b"},"text":["b1","b2"],"delay_ms":1000,"repeat":true}`}
		e := acptest.Open(t, r.serve(t))
		start := time.Now()
		e.Say(initialize, newSession("a", t.TempDir()), newSession("b", t.TempDir()), promptLine(1, "a", "x"), promptLine(2, "b", "x"))
		time.Sleep(2500 * time.Millisecond)
		ms := acptest.Messages(t, e.Hear())
		for i, id := range []string{"a", "b"} {
			if got := stopReason(t, ms, fmt.Sprint(i+1)); got != "end_turn" {
				t.Errorf("prompt of %s: %s after %v", id, got, time.Since(start))
			}
			if got, want := texts(ms, id), id+"1"+id+"2"; got != want {
				t.Errorf("text of %s = %q, want %q", id, got, want)
			}
		}
		e.Say(promptLine(3, "a", "x"), promptLine(4, "b", "x"), cancelLine("a"))
		time.Sleep(3 * time.Second)
		ms = acptest.Messages(t, e.Hear())
		if a, b := stopReason(t, ms, "3"), stopReason(t, ms, "4"); a != "cancelled" || b != "end_turn" {
			t.Errorf("after a cancel of a: a %s, b %s", a, b)
		}
	})
}

// R-ACP-21: what the model has said can be read before it goes on.
func TestStreaming(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rig{model: `{"text":["one","two"],"delay_ms":60000}`}
		e := acptest.Open(t, r.serve(t))
		e.Say(initialize, newSession("s", t.TempDir()), promptLine(1, "s", "x"))
		time.Sleep(61 * time.Second)
		if got := texts(acptest.Messages(t, e.Hear()), "s"); got != "one" {
			t.Errorf("after the first piece the text is %q", got)
		}
		time.Sleep(60 * time.Second)
		if got := texts(acptest.Messages(t, e.Hear()), "s"); got != "two" {
			t.Errorf("after the second piece the text is %q", got)
		}
	})
}

// A broken configuration is told at session/new, and read again by the next one;
// initialize never waits for it.
func TestStartFailure(t *testing.T) {
	tests := []struct {
		name string
		err  error
		want *acptest.Error
	}{
		{
			"an error with a code", &acp.Error{Code: acp.ModelUnavailable, Message: "No model.", Details: "why", Err: errors.New("secret")},
			&acptest.Error{Code: -32603, Message: "No model.", Data: map[string]any{"code": "MODEL_UNAVAILABLE", "details": "why"}},
		},
		{
			"any other", errors.New("config.toml:3: unknown key"),
			&acptest.Error{Code: -32603, Message: "Config.toml:3: unknown key.", Data: map[string]any{"code": "CONFIG_INVALID", "details": "Config.toml:3: unknown key."}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				calls := 0
				r := rig{start: func(context.Context) error {
					calls++
					if calls == 1 {
						return tt.err
					}
					return nil
				}}
				e := acptest.Open(t, r.serve(t))
				e.Say(initialize, `{"jsonrpc":"2.0","id":1,"method":"authenticate","params":{"methodId":"none-needed"}}`)
				ms := acptest.Messages(t, e.Hear())
				if acptest.Answer(t, ms, "0").Error != nil || acptest.Answer(t, ms, "1").Error != nil || calls != 0 {
					t.Errorf("initialize and authenticate: %+v with %d starts, want none", ms, calls)
				}
				dir := t.TempDir()
				e.Say(newSession("s", dir))
				if diff := cmp.Diff(tt.want, acptest.Answer(t, acptest.Messages(t, e.Hear()), `"s"`).Error); diff != "" {
					t.Errorf("error (-want +got):\n%s", diff)
				}
				e.Say(newSession("s", dir), newSession("s2", dir))
				ms = acptest.Messages(t, e.Hear())
				if acptest.Answer(t, ms, `"s"`).Error != nil || acptest.Answer(t, ms, `"s2"`).Error != nil || calls != 2 {
					t.Errorf("the next sessions: %+v with %d starts, want 2", ms, calls)
				}
			})
		})
	}
}

// A prompt behind a session/new that fails finds no session; one that is wished
// again afterwards can be had.
func TestPipedBehindFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := acptest.Open(t, rig{model: `{"text":"x"}`}.serve(t))
		e.Say(initialize, newSession("s", "/does/not/exist"), promptLine(1, "s", "x"))
		if got := stopReason(t, acptest.Messages(t, e.Hear()), "1"); got != "-32002 SESSION_NOT_FOUND" {
			t.Errorf("prompt behind the failure: %s", got)
		}
		e.Say(newSession("s", t.TempDir()), promptLine(2, "s", "x"))
		if got := stopReason(t, acptest.Messages(t, e.Hear()), "2"); got != "end_turn" {
			t.Errorf("prompt behind the success: %s", got)
		}
	})
}

// namedPrompt is a prompt for the session s to which the client gave a name.
func namedPrompt(id int, name string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"x"}],"_meta":{"lorimer.dev":{"messageId":%q}}}}`, id, name)
}

// R-ACP-06: a turn that panics fails alone: its tool call is over, those who
// repeat its prompt are answered, and the session goes on.
func TestPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		panicked := false
		st := streamFunc(func(_ context.Context, sink func(model.Event) error) error {
			if panicked {
				return sink(model.Text("well"))
			}
			panicked = true
			if err := sink(model.ToolStart{ID: "c", Name: "read"}); err != nil {
				return err
			}
			time.Sleep(time.Second)
			panic("a bug")
		})
		e := acptest.Open(t, rig{streams: st, log: &log}.serve(t))
		e.Say(initialize, newSession("s", t.TempDir()), namedPrompt(1, "m"), namedPrompt(2, "m"))
		time.Sleep(time.Minute)
		ms := acptest.Messages(t, e.Hear())
		for _, id := range []string{"1", "2"} {
			if m := acptest.Answer(t, ms, id); m.Error == nil || m.Error.Code != -32603 {
				t.Errorf("prompt %s: %+v, want an internal error", id, m)
			}
		}
		var states []string
		for _, m := range ms {
			var p struct {
				Update struct{ ToolCallID, Status string }
			}
			if json.Unmarshal(m.Params, &p) == nil && p.Update.ToolCallID != "" {
				states = append(states, p.Update.Status)
			}
		}
		if want := []string{"pending", "failed"}; !slices.Equal(states, want) {
			t.Errorf("states of the call = %q, want %q", states, want)
		}
		e.Say(namedPrompt(3, "m"))
		ms = acptest.Messages(t, e.Hear())
		if got := stopReason(t, ms, "3"); got != "end_turn" || texts(ms, "s") != "well" {
			t.Errorf("the prompt after the panic: %s, %q", got, texts(ms, "s"))
		}
		if !strings.Contains(log.String(), "a bug") {
			t.Errorf("log = %s, want the panic", log.String())
		}
	})
}

// R-ACP-33: a prompt that the client sends again is not run again, neither while
// nor after it runs; one that failed is.
func TestRepeatedPrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &recorder{}
		r := rig{model: `
{"text":"once","delay_ms":1000}
{"error":{"status":400,"message":"no"}}
{"text":"twice"}`, seen: rec}
		e := acptest.Open(t, r.serve(t))
		e.Say(initialize, newSession("s", t.TempDir()), namedPrompt(1, "m1"), namedPrompt(2, "m1"))
		time.Sleep(2 * time.Second)
		e.Say(namedPrompt(3, "m1"))
		ms := acptest.Messages(t, e.Hear())
		for _, id := range []string{"1", "2", "3"} {
			if got := stopReason(t, ms, id); got != "end_turn" {
				t.Errorf("prompt %s: %s, want end_turn", id, got)
			}
		}
		if got := texts(ms, "s"); got != "once" || len(rec.requests) != 1 {
			t.Errorf("the model was asked %d times and said %q, want once", len(rec.requests), got)
		}
		e.Say(namedPrompt(4, "m2"))
		time.Sleep(time.Minute)
		e.Say(namedPrompt(5, "m2"))
		ms = acptest.Messages(t, e.Hear())
		if a, b := stopReason(t, ms, "4"), stopReason(t, ms, "5"); a != "-32603 PROVIDER_ERROR" || b != "end_turn" {
			t.Errorf("a failed prompt and its repetition: %s, %s", a, b)
		}
	})
}

// R-ACP-24: what a client puts under a foreign key of _meta reaches no model.
func TestForeignMeta(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const marker = "foreign-marker"
		var log bytes.Buffer
		rec := &recorder{}
		r := rig{model: `{"text":"x"}`, seen: rec, log: &log}
		e := acptest.Open(t, r.serve(t))
		e.Say(
			`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"_meta":{"other":"foreign-marker"}}}`,
			fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":%q,"_meta":{"other":{"text":"foreign-marker"},"lorimer.dev":{"sessionId":"s"}}}}`, t.TempDir()),
			`{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","_meta":{"x":"foreign-marker"},"prompt":[{"type":"text","text":"hi","_meta":{"x":"foreign-marker"},"annotations":{"x":"foreign-marker"}}]}}`)
		if got := stopReason(t, acptest.Messages(t, e.Hear()), "2"); got != "end_turn" || len(rec.requests) != 1 {
			t.Fatalf("prompt: %s with %d requests", got, len(rec.requests))
		}
		if all := fmt.Sprintf("%+v", *rec.requests[0]); strings.Contains(all, marker) || strings.Contains(log.String(), marker) {
			t.Errorf("the marker got into the request or the log:\n%s\n%s", all, log.String())
		}
	})
}

// R-ACP-12: a missing key asks for a sign-in only if the user chose the model.
func TestAuthRequired(t *testing.T) {
	tests := []struct {
		name   string
		chosen bool
		before []string
		want   string
	}{
		{"found by ourselves", false, nil, "-32603 PROVIDER_ERROR"},
		{"named in the configuration", true, nil, "-32000 AUTH_REQUIRED"},
		{
			"chosen in the editor before a load elsewhere", false,
			[]string{
				`{"jsonrpc":"2.0","id":9,"method":"session/set_config_option","params":{"sessionId":"s","configId":"model","value":"script/two"}}`,
				`{"jsonrpc":"2.0","id":10,"method":"session/load","params":{"sessionId":"s","cwd":"/"}}`,
			},
			"-32000 AUTH_REQUIRED",
		},
		{
			"chosen in the editor", false,
			[]string{`{"jsonrpc":"2.0","id":9,"method":"session/set_config_option","params":{"sessionId":"s","configId":"model","value":"script/two"}}`},
			"-32000 AUTH_REQUIRED",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := rig{model: `{"error":{"status":401,"message":"no key"}}`, chosen: tt.chosen}
				e := acptest.Open(t, r.serve(t))
				e.Say(initialize, newSession("s", t.TempDir()))
				e.Say(tt.before...)
				e.Say(promptLine(1, "s", "x"))
				time.Sleep(time.Minute)
				if got := stopReason(t, acptest.Messages(t, e.Hear()), "1"); got != tt.want {
					t.Errorf("got %s, want %s", got, tt.want)
				}
			})
		})
	}
}

// R-ACP-42: a question has no time limit, and a close ends it.
func TestCloseEndsQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rig{model: `{"tools":[{"name":"write","args":{"path":"f","content":"x"}}]}`}
		e := acptest.Open(t, r.serve(t))
		e.Say(initialize, newSession("s", t.TempDir()), promptLine(1, "s", "x"))
		time.Sleep(24 * time.Hour)
		ms := acptest.Messages(t, e.Hear())
		if last := ms[len(ms)-1]; last.Method != "session/request_permission" {
			t.Fatalf("the last message is %+v, want the question", last)
		}
		e.Say(`{"jsonrpc":"2.0","id":2,"method":"session/close","params":{"sessionId":"s"}}`)
		ms = acptest.Messages(t, e.Hear())
		if got := stopReason(t, ms, "1"); got != "cancelled" {
			t.Errorf("prompt: %s, want cancelled", got)
		}
		if m := acptest.Answer(t, ms, "2"); m.Error != nil {
			t.Errorf("close: %+v", m.Error)
		}
	})
}

// R-ACP-05: a session that is being closed does not wait for answers that nobody
// reads any more.
func TestCloseWithoutReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := streamFunc(func(ctx context.Context, _ func(model.Event) error) error {
			<-ctx.Done()
			time.Sleep(100 * time.Millisecond)
			return ctx.Err()
		})
		e := acptest.Open(t, rig{streams: st}.serve(t))
		e.Say(initialize, newSession("s", t.TempDir()), promptLine(1, "s", "x"))
		e.Hear()
		start := time.Now()
		e.Say(`{"jsonrpc":"2.0","id":2,"method":"session/close","params":{"sessionId":"s"}}`)
		e.HangUp()
		if err := e.Wait(); err != nil {
			t.Errorf("Serve = %v, want nil", err)
		}
		if got := time.Since(start); got > time.Second {
			t.Errorf("ended after %v, want at once", got)
		}
	})
}

// R-ACP-37: a request that the editor never answers costs its time limit once,
// and then the disk is used.
func TestSilentEditor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "f"), []byte("on disk"), 0o666); err != nil {
			t.Fatal(err)
		}
		r := rig{model: `
{"tools":[{"name":"read","args":{"path":"f"}},{"name":"read","args":{"path":"./f"}}]}
{"tools":[{"name":"read","args":{"path":"f"}}]}
{"match":{"contains":"on disk"},"text":"done"}`}
		e := acptest.Open(t, r.serve(t))
		e.Say(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true}}}}`,
			newSession("s", dir), promptLine(1, "s", "x"))
		time.Sleep(21 * time.Second)
		if ms := acptest.Messages(t, e.Hear()); stopReason(t, ms, "1") != "end_turn" || texts(ms, "s") != "done" {
			t.Errorf("prompt: %s, %q", stopReason(t, ms, "1"), texts(ms, "s"))
		}
	})
}

// R-ACP-24, R-ACP-46: the prompt can be looked at, which changes nothing.
func TestPromptRender(t *testing.T) {
	const line = `{"jsonrpc":"2.0","id":%d,"method":"_lorimer.dev/prompt_render","params":{"sessionId":"s"}}`
	synctest.Test(t, func(t *testing.T) {
		rec := &recorder{}
		dir := t.TempDir()
		e := acptest.Open(t, rig{model: `{"text":"x"}`, seen: rec}.serve(t))
		e.Say(initialize, newSession("s", dir), fmt.Sprintf(line, 1), promptLine(2, "s", "x"), fmt.Sprintf(line, 3))
		ms := acptest.Messages(t, e.Hear())
		var got [2]struct{ System, Stable, Volatile, Signature string }
		for i, id := range []string{"1", "3"} {
			if err := json.Unmarshal(acptest.Answer(t, ms, id).Result, &got[i]); err != nil {
				t.Fatal(err)
			}
		}
		if got[0] != got[1] || len(got[0].Signature) != 64 || !strings.Contains(got[0].Volatile, "2026") {
			t.Errorf("renderings = %+v, want two that are equal and whole", got)
		}
		if len(rec.requests) != 1 || rec.requests[0].System != got[0].System || !strings.Contains(got[0].System, dir) {
			t.Errorf("the model was told %+v, want what was rendered", rec.requests)
		}
	})
}

// R-ACP-05: every way in which a connection ends ends the turn, in bounded time
// and without an error.
func TestEnds(t *testing.T) {
	tests := []struct {
		name  string
		end   func(*acptest.Editor)
		limit time.Duration
	}{
		{"the editor is killed", func(e *acptest.Editor) { e.HangUp(); e.End() }, 6 * time.Second},
		{"its output closes", (*acptest.Editor).HangUp, 6 * time.Second},
		{"a signal", (*acptest.Editor).Stop, 6 * time.Second},
		{"end of input", (*acptest.Editor).End, 11 * time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ended := false
				st := streamFunc(func(ctx context.Context, sink func(model.Event) error) error {
					defer func() { ended = true }()
					for {
						select {
						case <-ctx.Done():
							return &model.Error{Kind: model.Canceled, Err: ctx.Err()}
						case <-time.After(time.Second):
						}
						if err := sink(model.Text("x")); err != nil {
							return err
						}
					}
				})
				e := acptest.Open(t, rig{streams: st}.serve(t))
				e.Say(initialize, newSession("s", t.TempDir()), promptLine(1, "s", "x"))
				time.Sleep(1500 * time.Millisecond)
				start := time.Now()
				tt.end(e)
				if err := e.Wait(); err != nil {
					t.Errorf("Serve = %v, want nil", err)
				}
				if got := time.Since(start); got > tt.limit || !ended {
					t.Errorf("ended after %v, model stopped: %t; want at most %v", got, ended, tt.limit)
				}
			})
		})
	}
}
