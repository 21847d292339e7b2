package acp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/acp/acptest"
	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/store/memory"
	"github.com/lorimer-dev/lorimer/harness/thread"
)

// loadLine is a session/load of the session s. More are further members of the
// parameters.
func loadLine(id int, dir string, more ...string) string {
	members := append([]string{`"sessionId":"s"`, fmt.Sprintf(`"cwd":%q`, dir)}, more...)
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/load","params":{%s}}`, id, strings.Join(members, ","))
}

func closeLine(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/close","params":{"sessionId":"s"}}`, id)
}

// gist says in a word or two what each message is: "user", "agent" and "tool"
// for pieces of the conversation, "1 ok" or "1 -32800" for an answer. Pieces of
// one kind in a row are one; what else is told is left out.
func gist(ms []acptest.Message) []string {
	var list []string
	for _, m := range ms {
		word := ""
		switch {
		case m.Error != nil:
			word = fmt.Sprintf("%s %d", m.ID, m.Error.Code)
		case m.Method == "":
			word = string(m.ID) + " ok"
			var r struct{ StopReason string }
			if json.Unmarshal(m.Result, &r) == nil && r.StopReason != "" {
				word = string(m.ID) + " " + r.StopReason
			}
		default:
			word = part(m.Params)
		}
		if word != "" && (len(list) == 0 || list[len(list)-1] != word) {
			list = append(list, word)
		}
	}
	return list
}

func part(params json.RawMessage) string {
	var p struct {
		Update struct{ SessionUpdate string }
	}
	if json.Unmarshal(params, &p) != nil {
		return "" // a tool call's content is a list, which nothing here looks at
	}
	switch p.Update.SessionUpdate {
	case "user_message_chunk":
		return "user"
	case "agent_message_chunk":
		return "agent"
	case "tool_call":
		return "tool"
	case "available_commands_update":
		return "commands"
	}
	return ""
}

// R-ACP-15, C008: a load of a session that is open waits for what runs and what
// waits there, tells all of it, and is followed by what came after it. There is
// one session of the harness at a time.
func TestLoadOfOpenSession(t *testing.T) {
	one := []string{promptLine(1, "s", "x")}
	two := append(slices.Clip(one), promptLine(2, "s", "x"))
	tests := []struct {
		name    string
		prompts []string
		behind  func(dir string) []string
		want    []string
		opened  int64 // workspaces
	}{
		{
			"lets the turns end", two,
			func(dir string) []string { return []string{loadLine(3, dir), promptLine(4, "s", "x")} },
			[]string{"agent", "1 end_turn", "agent", "2 end_turn", "user", "agent", "user", "agent", "3 ok", "commands", "agent", "4 end_turn"}, 1,
		},
		{
			"a cancel before it", one,
			func(dir string) []string { return []string{cancelLine("s"), loadLine(3, dir), promptLine(4, "s", "x")} },
			[]string{"1 cancelled", "3 ok", "commands", "agent", "4 end_turn"}, 1,
		},
		{
			"a cancel behind it", one,
			func(dir string) []string { return []string{loadLine(3, dir), promptLine(4, "s", "x"), cancelLine("s")} },
			[]string{"1 cancelled", "3 ok", "commands", "4 cancelled"}, 1,
		},
		{
			"is cancelled itself", two,
			func(dir string) []string {
				return []string{loadLine(3, filepath.Dir(dir)), `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":3}}`, promptLine(4, "s", "x")}
			},
			[]string{"3 -32800", "agent", "1 end_turn", "agent", "2 end_turn", "agent", "4 end_turn"}, 1,
		},
		{
			"elsewhere", two,
			func(dir string) []string { return []string{loadLine(3, filepath.Dir(dir)), promptLine(4, "s", "x")} },
			[]string{"agent", "1 end_turn", "agent", "2 end_turn", "user", "agent", "user", "agent", "3 ok", "commands", "agent", "4 end_turn"}, 2,
		},
		{
			"twice", two,
			func(dir string) []string { return []string{loadLine(3, filepath.Dir(dir)), loadLine(4, dir)} },
			[]string{"agent", "1 end_turn", "agent", "2 end_turn", "user", "agent", "user", "agent", "3 ok", "commands", "user", "agent", "user", "agent", "4 ok", "commands"}, 3,
		},
		{
			"a close behind it", one,
			func(dir string) []string { return []string{loadLine(3, dir), closeLine(4), promptLine(5, "s", "x")} },
			[]string{"1 cancelled", "3 ok", "commands", "4 ok", "5 -32002"}, 1,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := rig{model: `{"text":["a","b"],"delay_ms":10,"repeat":true}`, spaces: &spaces{}}
				e := acptest.Open(t, r.serve(t))
				dir := t.TempDir()
				e.Say(initialize, newSession("s", dir))
				e.Hear()
				e.Say(slices.Concat(tt.prompts, tt.behind(dir))...)
				time.Sleep(time.Minute)
				got := gist(acptest.Messages(t, e.Hear()))
				if strings.Contains(tt.name, "cancel") || strings.Contains(tt.name, "close") {
					// What a cancelled turn had stored is a matter of who was faster.
					got = slices.DeleteFunc(got, func(s string) bool { return s == "user" })
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("messages (-want +got):\n%s", diff)
				}
				if n := r.spaces.opened.Load(); n != tt.opened {
					t.Errorf("%d workspaces were opened, want %d", n, tt.opened)
				}
			})
		})
	}
}

// R-ACP-15: only another directory, another root or another server is a reason to
// open a session anew.
func TestLoadOpensAnew(t *testing.T) {
	const server = `"mcpServers":[{"name":"m","command":"c","args":[%q]}]`
	more := t.TempDir()
	tests := []struct {
		name string
		dir  string // from that of the session
		more []string
		want int64 // workspaces
	}{
		{"nothing else", "", []string{fmt.Sprintf(server, "a")}, 1},
		{"spaces between", "/", []string{strings.ReplaceAll(fmt.Sprintf(server, "a"), ",", " , ")}, 1},
		{"a directory", "/..", []string{fmt.Sprintf(server, "a")}, 2},
		{"a root", "", []string{fmt.Sprintf(server, "a"), fmt.Sprintf(`"additionalDirectories":[%q]`, more)}, 2},
		{"no server", "", nil, 2},
		{"an argument", "", []string{fmt.Sprintf(server, "b")}, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := rig{model: `{"text":"x"}`, spaces: &spaces{}}
				e := acptest.Open(t, r.serve(t))
				dir := t.TempDir()
				e.Say(initialize,
					fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":%q,%s,"_meta":{"lorimer.dev":{"sessionId":"s"}}}}`, dir, fmt.Sprintf(server, "a")),
					loadLine(2, dir+tt.dir, tt.more...))
				if m := acptest.Answer(t, acptest.Messages(t, e.Hear()), "2"); m.Error != nil {
					t.Errorf("load: %+v", m.Error)
				}
				if n, left := r.spaces.opened.Load(), r.spaces.left.Load(); n != tt.want || left != 1 {
					t.Errorf("%d workspaces were opened and %d are left, want %d and 1", n, left, tt.want)
				}
			})
		})
	}
}

// C009: the directory of the load is where tools work, and the model is told.
func TestLoadElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &recorder{}
		r := rig{model: `
{"text":"x"}
{"tools":[{"name":"write","args":{"path":"f.txt","content":"made"}}]}
{"text":"done"}`, seen: rec}
		e := acptest.Open(t, r.serve(t))
		before, after := t.TempDir(), t.TempDir()
		e.Say(initialize, newSession("s", before),
			`{"jsonrpc":"2.0","id":9,"method":"session/set_mode","params":{"sessionId":"s","modeId":"auto"}}`,
			promptLine(1, "s", "x"), loadLine(2, after), promptLine(3, "s", "y"))
		if got := stopReason(t, acptest.Messages(t, e.Hear()), "3"); got != "end_turn" {
			t.Fatalf("prompt: %s", got)
		}
		if data, err := os.ReadFile(filepath.Join(after, "f.txt")); err != nil || string(data) != "made" {
			t.Errorf("file = %q, %v", data, err)
		}
		last := rec.requests[len(rec.requests)-1]
		if all := fmt.Sprintf("%+v", last.Messages); !strings.Contains(all, after) {
			t.Errorf("the model was sent %s, want a word of %s", all, after)
		}
	})
}

// C016: every way to open a session answers with the options that were chosen.
func TestStoredOptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := acptest.Open(t, rig{model: `{"text":"x"}`}.serve(t))
		dir := t.TempDir()
		e.Say(initialize, newSession("s", dir),
			`{"jsonrpc":"2.0","id":1,"method":"session/set_config_option","params":{"sessionId":"s","configId":"model","value":"script/two"}}`,
			`{"jsonrpc":"2.0","id":2,"method":"session/set_mode","params":{"sessionId":"s","modeId":"read-only"}}`,
			loadLine(3, dir), closeLine(4), loadLine(5, dir), closeLine(6),
			fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"session/resume","params":{"sessionId":"s","cwd":%q}}`, dir),
			fmt.Sprintf(`{"jsonrpc":"2.0","id":8,"method":"session/fork","params":{"sessionId":"s","cwd":%q}}`, dir))
		ms := acptest.Messages(t, e.Hear())
		type state struct {
			Modes         json.RawMessage
			ConfigOptions []struct {
				ID      string
				Current string `json:"currentValue"`
			}
		}
		var want state
		if err := json.Unmarshal(acptest.Answer(t, ms, "3").Result, &want); err != nil {
			t.Fatal(err)
		}
		values := make(map[string]string)
		for _, o := range want.ConfigOptions {
			values[o.ID] = o.Current
		}
		if values["model"] != "script/two" || values["mode"] != "read-only" || !bytes.Contains(want.Modes, []byte(`"currentModeId":"read-only"`)) {
			t.Errorf("load of the open session: %+v", want)
		}
		for _, id := range []string{"5", "7", "8"} {
			var got state
			if err := json.Unmarshal(acptest.Answer(t, ms, id).Result, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("answer %s (-load +got):\n%s", id, diff)
			}
		}
	})
}

// slow is a store that takes its time to read, once it is told to.
type slow struct {
	harness.Threads
	pause atomic.Int64 // nanoseconds before each entry
	read  atomic.Int64 // entries
}

func (s *slow) Read(ctx context.Context, id string, after int64, f func(thread.Entry) error) error {
	return s.Threads.Read(ctx, id, after, func(e thread.Entry) error {
		time.Sleep(time.Duration(s.pause.Load()))
		s.read.Add(1)
		return f(e)
	})
}

// stored returns a store that has session s with n messages of size bytes.
func stored(t *testing.T, dir string, n, size int) *slow {
	t.Helper()
	s := &slow{Threads: memory.New(nil)}
	var bodies []thread.Body
	for i := range n {
		bodies = append(bodies, thread.User{
			MessageID: fmt.Sprint("u", i), Blocks: []event.Block{{Text: strings.Repeat("x", size)}},
			Sent: []thread.Part{{Text: "x"}},
		})
	}
	if err := s.Create(t.Context(), "s", thread.Created{Cwd: dir}, bodies...); err != nil {
		t.Fatal(err)
	}
	return s
}

// A load that is cancelled while it tells what was ends there, and what was not
// open is not open. One that was open stays so.
func TestCancelledLoad(t *testing.T) {
	const cancel = `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}`
	dir := t.TempDir()
	tests := []struct {
		name   string
		before []string
		stop   func(*acptest.Editor)
		want   []string
		left   int64 // workspaces
	}{
		{"stored", nil, func(e *acptest.Editor) { e.Say(cancel, promptLine(2, "s", "x")) }, []string{"user", "1 -32800", "2 -32002"}, 0},
		{"open", []string{loadLine(8, dir)}, func(e *acptest.Editor) { e.Say(cancel, promptLine(2, "s", "x")) }, []string{"user", "1 -32800", "agent", "2 end_turn"}, 1},
		{"a signal", nil, (*acptest.Editor).Stop, []string{"user", "1 -32800"}, 0},
		{"no reader", nil, (*acptest.Editor).HangUp, []string{"user"}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := stored(t, dir, 1000, 10)
				r := rig{model: `{"text":"x"}`, threads: store, spaces: &spaces{}}
				e := acptest.Open(t, r.serve(t))
				e.Say(initialize)
				e.Say(tt.before...)
				e.Hear()
				store.pause.Store(int64(time.Second))
				store.read.Store(0)
				e.Say(loadLine(1, dir))
				time.Sleep(100*time.Second + time.Millisecond)
				tt.stop(e)
				store.pause.Store(0)
				time.Sleep(2 * time.Second)
				if diff := cmp.Diff(tt.want, gist(acptest.Messages(t, e.Hear()))); diff != "" {
					t.Errorf("messages (-want +got):\n%s", diff)
				}
				if left := r.spaces.left.Load(); left != tt.left {
					t.Errorf("%d workspaces are left open, want %d", left, tt.left)
				}
			})
		})
	}
}

// stuck is a store whose answer nothing can hurry.
type stuck struct{ harness.Threads }

func (s stuck) Info(ctx context.Context, id string) (thread.Info, error) {
	time.Sleep(time.Minute)
	return s.Threads.Info(context.WithoutCancel(ctx), id)
}

// A request that outlasts the connection opens nothing that nobody would close.
func TestResumeAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		r := rig{threads: stuck{stored(t, dir, 1, 1)}, spaces: &spaces{}}
		e := acptest.Open(t, r.serve(t))
		e.Say(initialize, strings.Replace(loadLine(1, dir), "load", "resume", 1))
		e.Hear()
		e.Stop()
		if err := e.Wait(); err != nil {
			t.Errorf("Serve = %v", err)
		}
		time.Sleep(time.Hour)
		if opened, left := r.spaces.opened.Load(), r.spaces.left.Load(); opened != 1 || left != 0 {
			t.Errorf("%d workspaces were opened and %d are left, want 1 and 0", opened, left)
		}
	})
}

// sticky is a store that makes threads, but takes its time.
type sticky struct{ harness.Threads }

func (s sticky) Create(ctx context.Context, id string, c thread.Created, more ...thread.Body) error {
	time.Sleep(time.Minute)
	return s.Threads.Create(context.WithoutCancel(ctx), id, c, more...)
}

func (s sticky) Copy(ctx context.Context, from string, last int64, id string, c thread.Created, more ...thread.Body) error {
	time.Sleep(time.Minute)
	return s.Threads.Copy(context.WithoutCancel(ctx), from, last, id, c, more...)
}

// A request that outlasts the connection leaves no session that nobody has heard of.
func TestNewSessionAfterTheEnd(t *testing.T) {
	dir := t.TempDir()
	tests := []struct{ name, request string }{
		{"new", newSession("n", dir)},
		{"fork", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"session/fork","params":{"sessionId":"s","cwd":%q}}`, dir)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := rig{threads: sticky{stored(t, dir, 1, 1)}, spaces: &spaces{}}
				e := acptest.Open(t, r.serve(t))
				e.Say(initialize, tt.request)
				e.Hear()
				e.Stop()
				if err := e.Wait(); err != nil {
					t.Errorf("Serve = %v", err)
				}
				time.Sleep(time.Hour)
				page, err := r.threads.List(t.Context(), thread.Query{})
				if err != nil {
					t.Fatal(err)
				}
				if opened := r.spaces.opened.Load(); opened != 1 || len(page.Threads) != 1 {
					t.Errorf("%d workspaces were opened and the store has %d threads, want 1 of each", opened, len(page.Threads))
				}
			})
		})
	}
}

// What a client does not read is not read from the store either.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const entries, size = 1000, 64 << 10
		dir := t.TempDir()
		store := stored(t, dir, entries, size)
		in, said := io.Pipe()
		heard, out := io.Pipe()
		done := make(chan error, 1)
		go func() {
			done <- rig{threads: store}.serve(t)(t.Context(), in, out)
			out.Close()
		}()
		if _, err := io.WriteString(said, initialize+"\n"+loadLine(1, dir)+"\n"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // nobody reads
		if n := store.read.Load(); n*size > 2<<20 {
			t.Errorf("%d messages were read from the store for nobody", n)
		}
		go func() { io.Copy(io.Discard, heard) }()
		said.Close()
		if err := <-done; err != nil {
			t.Errorf("Serve = %v", err)
		}
		if n := store.read.Load(); n <= entries {
			t.Errorf("%d entries were read, want all", n)
		}
	})
}

// taken is a store in which another process has the turn of every thread.
type taken struct{ harness.Threads }

var elsewhere = &harness.LockedError{Holder: thread.Holder{Token: "t", Host: "far", Process: 7}}

func (taken) Lock(context.Context, string, thread.Holder, time.Duration) error { return elsewhere }
func (taken) Delete(context.Context, string) error                             { return elsewhere }

// R-ACP-53: a session that another process answers in can be loaded, but neither
// prompted nor deleted.
func TestSessionOfAnotherProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		e := acptest.Open(t, rig{threads: taken{stored(t, dir, 1, 1)}}.serve(t))
		e.Say(initialize, loadLine(1, dir), promptLine(2, "s", "x"))
		time.Sleep(time.Minute)
		heard := e.Hear()
		e.Say(`{"jsonrpc":"2.0","id":3,"method":"session/delete","params":{"sessionId":"s"}}`)
		e.Say(`{"jsonrpc":"2.0","id":4,"method":"session/status","params":{"sessionId":"s"}}`, promptLine(5, "s", "y"))
		ms := acptest.Messages(t, append(heard, e.Hear()...))
		if m := acptest.Answer(t, ms, "1"); m.Error != nil {
			t.Errorf("load: %+v", m.Error)
		}
		if m := acptest.Answer(t, ms, "4"); string(m.Result) != `{"status":"open"}` {
			t.Errorf("status after the delete: %s (%+v), want it open still", m.Result, m.Error)
		}
		for _, id := range []string{"2", "3", "5"} {
			m := acptest.Answer(t, ms, id)
			if m.Error == nil || m.Error.Data["code"] != "SESSION_BUSY" || !strings.Contains(m.Error.Message, "process 7 on far") {
				t.Errorf("request %s: %+v, want SESSION_BUSY that names the process", id, m.Error)
			}
		}
	})
}

// C053: a message that the client has not named can be forked at, by the id that
// the answer to its prompt has. A replay tells it under the same.
func TestForkAtAnsweredMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := acptest.Open(t, rig{model: `{"text":"x","repeat":true}`}.serve(t))
		dir := t.TempDir()
		e.Say(initialize, newSession("s", dir), promptLine(1, "s", "first"), promptLine(2, "s", "second"))
		var r struct {
			Meta map[string]struct{ MessageID string } `json:"_meta"`
		}
		if err := json.Unmarshal(acptest.Answer(t, acptest.Messages(t, e.Hear()), "2").Result, &r); err != nil {
			t.Fatal(err)
		}
		id := r.Meta["lorimer.dev"].MessageID
		e.Say(fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":"session/fork","params":{"sessionId":"s","cwd":%q,"_meta":{"lorimer.dev":{"sessionId":"f","messageId":%q}}}}`, dir, id))
		if m := acptest.Answer(t, acptest.Messages(t, e.Hear()), "3"); id == "" || m.Error != nil {
			t.Fatalf("fork at %q: %+v", id, m.Error)
		}
		replayed := func(session string) string {
			e.Say(strings.Replace(loadLine(4, dir), `"s"`, fmt.Sprintf("%q", session), 1))
			return strings.Join(e.Hear(), "\n")
		}
		if told := replayed("s"); !strings.Contains(told, fmt.Sprintf(`"user_message_chunk","messageId":%q,"content":{"type":"text","text":"second"}`, id)) {
			t.Errorf("the replay has no message %q: %s", id, told)
		}
		if told := replayed("f"); !strings.Contains(told, `"first"`) || strings.Contains(told, `"second"`) {
			t.Errorf("the fork tells %s, want the first message alone", told)
		}
	})
}
