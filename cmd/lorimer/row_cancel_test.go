//go:build unix

package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// A phase is a moment in which a prompt is cancelled.
type phase struct {
	name    string
	script  string            // of a script model, or
	replies []modeltest.Reply // of a provider
	caps    object

	// begin sends a prompt and returns its id when the moment has come.
	begin func(e *editor, session string) int
	// after looks at what must have become of it.
	after func(e *editor, session string)
}

// Row 181 (R-ACP-26, R-HARN-27): in whatever phase a prompt is cancelled, and in
// whichever of two ways, it answers so once, its calls have ended, nothing of it
// follows, and the next prompt works. Discovery of servers and compaction are
// phases that the program does not have.
func TestRow181CancelInEachPhase(t *testing.T) {
	t.Parallel()
	for _, p := range phases() {
		for _, way := range []string{"session/cancel", "$/cancel_request"} {
			t.Run(p.name+" by "+way, func(t *testing.T) {
				t.Parallel()
				e, gone := p.start(t)
				s := e.open(p.caps)
				id := p.begin(e, s)
				e.cancel(way, s, id)
				e.cancelled(s, id)
				if gone != nil {
					receive(t, gone, "end of the connection to the provider")
				}
				if p.after != nil {
					p.after(e, s)
				}
				if stop := e.prompt(s, "next"); stop != "end_turn" {
					t.Errorf("stop reason of the next prompt = %s, want end_turn", stop)
				}
				checkCalls(e, s)
				if code := e.leave(); code != 0 {
					t.Errorf("exit code %d, want 0", code)
				}
			})
		}
	}
}

// start starts an agent with the model of the phase. Of a provider, gone tells
// that an answer was hung up on.
func (p phase) start(t *testing.T) (e *editor, gone <-chan struct{}) {
	t.Helper()
	if p.replies == nil {
		return edit(t, p.script+always, "--mode", "auto"), nil
	}
	m := modeltest.New(t, append(slices.Clone(p.replies), modeltest.Reply{Text: []string{"fine"}, Repeat: -1})...)
	return editWith(t, m, "--mode", "auto"), m.Gone()
}

// editWith starts an agent whose model is that of the server.
func editWith(t *testing.T, m *modeltest.Server, flags ...string) *editor {
	t.Helper()
	e := newEditor(t)
	e.env = []string{"OPENAI_API_KEY=sk-test-0123456789", "OPENAI_BASE_URL=" + m.OpenAI()}
	e.acp(append([]string{"--model", "openai/" + modeltest.ModelID}, flags...)...)
	return e
}

func phases() []phase {
	return []phase{
		{
			name:    "in the middle of a text",
			replies: []modeltest.Reply{{Think: []string{"hm"}, Text: []string{"begun "}, Hang: true}},
			begin: func(e *editor, s string) int {
				id := e.send("session/prompt", say(s, "stay"))
				e.begun(s)
				return id
			},
			after: func(e *editor, s string) {
				if got := e.text(s); got != "begun " {
					e.t.Errorf("answer so far = %q, want what came before the cancel", got)
				}
			},
		},
		{
			name:    "in the middle of a call",
			replies: []modeltest.Reply{{Tools: []modeltest.Tool{{Name: "bash", Args: `{"command": "touch ran"}`}}, Hang: true}},
			begin: func(e *editor, s string) int {
				id := e.send("session/prompt", say(s, "call"))
				e.status(s, "pending")
				return id
			},
			after: func(e *editor, s string) { e.absent("ran"); e.failed(s, 1) },
		},
		{
			name: "C030 while a tool runs",
			script: `{"tools": [{"name": "bash", "args": {"command": "echo $$ > started; read x < pipe; touch ran-on"}},` +
				`{"name": "bash", "args": {"command": "touch second"}}, {"name": "read", "args": {"path": "a"}}]}` + "\n",
			begin: func(e *editor, s string) int {
				started := e.fifo("started")
				e.fifo("pipe")
				id := e.send("session/prompt", say(s, "run"))
				e.file("pid", started.get())
				return id
			},
			after: func(e *editor, s string) { e.absent("ran-on", "second"); e.dead("pid"); e.failed(s, 3) },
		},
		{
			name:   "while permission is asked",
			script: `{"tools": [{"name": "bash", "args": {"command": "touch x"}}, {"name": "write", "args": {"path": "y", "content": ""}}]}` + "\n",
			begin: func(e *editor, s string) int {
				e.call("session/set_mode", object{"sessionId": s, "modeId": "ask"}, nil)
				e.on("session/request_permission", func(json.RawMessage) (any, *rpcError) { return nil, nil })
				id := e.send("session/prompt", say(s, "ask"))
				e.question()
				return id
			},
			after: func(e *editor, s string) {
				// C022: the answer comes late, and must not count.
				e.write(object{"jsonrpc": "2.0", "id": e.question().ID,
					"result": object{"outcome": object{"outcome": "selected", "optionId": "allow_once"}}})
				e.sync()
				e.absent("x", "y")
				e.failed(s, 2)
			},
		},
		{
			name: "while a form is open",
			script: `{"match": {"contains": "ask"}, "tools": [{"name": "ask_user", "args": {"questions": [{"question": "Which?", "options": ["a", "b"]}]}},` +
				`{"name": "bash", "args": {"command": "touch second"}}]}` + "\n",
			caps: elicits(),
			begin: func(e *editor, s string) int {
				e.on("elicitation/create", func(json.RawMessage) (any, *rpcError) { return nil, nil })
				id := e.send("session/prompt", say(s, "ask"))
				e.form()
				return id
			},
			after: func(e *editor, s string) {
				e.write(object{"jsonrpc": "2.0", "id": e.form().ID, // late, and must not count
					"result": object{"action": "accept", "content": object{"q1": "a"}}})
				e.sync()
				e.absent("second")
				e.failed(s, 2)
				e.prompt(s, "what did I say?")
				if got := answersLines(e, s); got != nil {
					e.t.Errorf("answers told after the cancel = %q, want none", got)
				}
			},
		},
		{
			name:   "while a repeat is waited for",
			script: `{"error": {"status": 503, "retry_after": 55}}` + "\n",
			caps:   object{"session": object{"notices": object{}}},
			begin: func(e *editor, s string) int {
				id := e.send("session/prompt", say(s, "try"))
				e.until("notice of the repeat", func(f frameIn) bool { return strings.Contains(f.Raw, "asking again in 55s") })
				return id
			},
			after: func(e *editor, s string) {
				if n := len(e.requests(s)); n != 1 {
					e.t.Errorf("%d requests of the cancelled turn, want 1", n)
				}
			},
		},
	}
}

// cancel cancels a prompt in one of the two ways of the protocol.
func (e *editor) cancel(way, session string, id int) {
	if way == "$/cancel_request" {
		e.notify(way, object{"requestId": id})
		return
	}
	e.notify(way, object{"sessionId": session})
}

// cancelled waits for the answer to a prompt, which must say that it was
// cancelled and be the last that is heard of it.
func (e *editor) cancelled(session string, id int) {
	e.t.Helper()
	f := e.wait(id)
	var r struct{ StopReason string }
	if f.Error != nil || json.Unmarshal(f.Result, &r) != nil || r.StopReason != "cancelled" {
		e.t.Fatalf("answer to a cancelled prompt: %s, want the stop reason cancelled", f.Raw)
	}
	e.sync()
	for _, g := range e.heard()[f.N+1:] {
		if g.Method != "" && strings.Contains(g.Raw, session) {
			e.t.Errorf("after the answer to the prompt came %s", g.Raw)
		}
	}
}

// begun waits for the first piece of an answer.
func (e *editor) begun(session string) frameIn {
	e.t.Helper()
	return e.until("first piece of the answer", func(f frameIn) bool {
		return f.Method == "session/update" && strings.Contains(f.Raw, `"agent_message_chunk"`) && strings.Contains(f.Raw, session)
	})
}

// sync makes a round trip: what was written before has been read, and what the
// agent had to say to it has come.
func (e *editor) sync() {
	e.t.Helper()
	e.call("authenticate", object{"methodId": "none-needed"}, nil)
}

// question waits for the agent's first permission request.
func (e *editor) question() frameIn {
	e.t.Helper()
	return e.until("permission request", func(f frameIn) bool { return f.Method == "session/request_permission" })
}

// absent checks that files are not in the workspace.
func (e *editor) absent(names ...string) {
	e.t.Helper()
	for _, name := range names {
		if _, err := os.Lstat(filepath.Join(e.cwd, name)); !os.IsNotExist(err) {
			e.t.Errorf("%s is there (%v); its call must not have run", name, err)
		}
	}
}

// dead checks that the process whose number is in a file below the home of the
// agent has ended.
func (e *editor) dead(name string) {
	e.t.Helper()
	text, err := os.ReadFile(filepath.Join(e.home, name))
	if err != nil {
		e.t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(text))
	if err != nil {
		e.t.Fatal(err)
	}
	if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
		e.t.Errorf("the command still runs as process %d (%v)", pid, err)
	}
}

// failed checks that the session has n tool calls and that all of them failed.
func (e *editor) failed(session string, n int) {
	e.t.Helper()
	last := make(map[string]string)
	for _, u := range e.updates(session) {
		if u.Update.Status != "" {
			last[u.Update.ToolCallID] = u.Update.Status
		}
	}
	for id, status := range last {
		if status != "failed" {
			e.t.Errorf("call %s ended as %s, want failed", id, status)
		}
	}
	if len(last) != n {
		e.t.Errorf("%d tool calls, want %d", len(last), n)
	}
}

// Row 181: a prompt that waits for another one. session/cancel ends both;
// $/cancel_request ends the one that it names and leaves the other alone.
func TestRow181CancelInTheQueue(t *testing.T) {
	t.Parallel()
	start := func(t *testing.T) (e *editor, s string, running, waiting int) {
		e = edit(t, `{"match": {"contains": "run"}, "tools": [{"name": "bash", "args": {"command": "echo > started; read x < pipe"}}]}`+"\n"+always,
			"--mode", "auto")
		s = e.open(nil)
		started := e.fifo("started")
		e.fifo("pipe")
		running = e.send("session/prompt", say(s, "run"))
		started.get()
		return e, s, running, e.send("session/prompt", say(s, "wait"))
	}
	t.Run("session/cancel", func(t *testing.T) {
		t.Parallel()
		e, s, running, waiting := start(t)
		e.notify("session/cancel", object{"sessionId": s})
		e.cancelled(s, waiting)
		e.cancelled(s, running)
		if stop := e.prompt(s, "next"); stop != "end_turn" {
			t.Errorf("stop reason of the next prompt = %s, want end_turn", stop)
		}
	})
	t.Run("$/cancel_request", func(t *testing.T) {
		t.Parallel()
		e, s, running, waiting := start(t)
		e.notify("$/cancel_request", object{"requestId": waiting})
		e.cancelled(s, waiting)
		for _, f := range e.heard() {
			if f.Method == "" && string(f.ID) == strconv.Itoa(running) {
				t.Errorf("the running prompt was answered: %s", f.Raw)
			}
		}
		e.notify("$/cancel_request", object{"requestId": running})
		e.cancelled(s, running)
		for _, r := range e.requests(s) {
			if strings.Contains(r.Messages[len(r.Messages)-1].text(), "wait") {
				t.Error("the model was asked for the prompt that was cancelled while it waited")
			}
		}
	})
}

// Row 181: while a model is set up, which may run a command for the key. Opening
// the session does not run it.
func TestRow181CancelWhileBuilding(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	started := e.fifo("started")
	e.file(configFile, "[providers.house]\nkind = \"openai\"\nmodel = \"m\"\nbase_url = \"https://house.invalid\"\n"+
		"api_key_command = \"echo $$ > "+started.path+"; exec sleep 3600\"\n")
	e.acp("--model", "house/m")
	s := e.open(nil)
	id := e.send("session/prompt", say(s, "hello"))
	e.file("pid", started.get())
	e.notify("session/cancel", object{"sessionId": s})
	e.cancelled(s, id)
	e.dead("pid")
	e.choose(s, "model", "offline")
	if stop := e.prompt(s, "think"); stop != "end_turn" {
		t.Errorf("stop reason of the next prompt = %s, want end_turn", stop)
	}
}

// Row 181 and C031: the provider takes the request and then says nothing, or its
// headers and nothing more. Cancel hangs up.
func TestRow181CancelSilentProvider(t *testing.T) {
	t.Parallel()
	for name, greet := range map[string]func(http.ResponseWriter){
		"C031 nothing": func(http.ResponseWriter) {},
		"C031 headers": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.WriteHeader(http.StatusOK)
			http.NewResponseController(w).Flush()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			came, went := make(chan struct{}, 1), make(chan struct{}, 1)
			provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body) // the end of the connection is seen once the body has been read
				greet(w)
				came <- struct{}{}
				<-r.Context().Done()
				went <- struct{}{}
			}))
			t.Cleanup(provider.Close)
			e := newEditor(t)
			e.env = []string{"OPENAI_API_KEY=sk-test-0123456789", "OPENAI_BASE_URL=" + provider.URL}
			e.acp("--model", "openai/m")
			s := e.open(nil)
			id := e.send("session/prompt", say(s, "hello"))
			receive(t, came, "request")
			e.notify("session/cancel", object{"sessionId": s})
			e.cancelled(s, id)
			receive(t, went, "end of the connection")
			e.choose(s, "model", "offline")
			if stop := e.prompt(s, "think"); stop != "end_turn" {
				t.Errorf("stop reason of the next prompt = %s, want end_turn", stop)
			}
		})
	}
}

// Row 183 (R-ACP-05, R-ACP-07): what outlasts the drain time after the end of the
// input is cancelled, answers so, and has ended before the program does.
func TestRow183DrainTime(t *testing.T) {
	t.Parallel()
	e := edit(t, `{"tools": [{"name": "bash", "args": {"command": "echo $$ > started; exec sleep 3600"}}]}`+"\n"+always,
		"--mode", "auto", "--drain", "10ms").breaks()
	s := e.open(nil)
	started := e.fifo("started")
	ids := []int{e.send("session/prompt", say(s, "run")), e.send("session/prompt", say(s, "wait"))}
	e.file("pid", started.get())
	if code := e.leave(); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	for _, id := range ids {
		if f := e.wait(id); !strings.Contains(string(f.Result), `"cancelled"`) {
			t.Errorf("prompt: %s, want the stop reason cancelled", f.Raw)
		}
	}
	e.dead("pid")
	checkCalls(e, s)
}

func receive(t *testing.T, from <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-from:
	case <-time.After(patience):
		t.Fatalf("no %s", what)
	}
}

// Row 181 and C028: the cancel comes in the same write as its prompt, before the
// model has said a word, many times. With nothing running it is ignored.
func TestRow181CancelAtOnce(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"session/cancel", "$/cancel_request"} {
		t.Run("C028 "+way, func(t *testing.T) {
			t.Parallel()
			// A prompt that was stored before its cancel came is sent along with the next.
			e := edit(t, `{"match": {"contains": "next"}, "text": "fine"}`+"\n"+
				`{"match": {"contains": "hang"}, "text": "never comes", "delay_ms": 3600000, "repeat": true}`)
			s := e.open(nil)
			e.notify("session/cancel", object{"sessionId": s})
			var ids []int
			for range 50 {
				text, id := e.line("session/prompt", say(s, "hang"))
				params := object{"sessionId": s}
				if way == "$/cancel_request" {
					params = object{"requestId": id}
				}
				cancel, err := json.Marshal(object{"jsonrpc": "2.0", "method": way, "params": params})
				if err != nil {
					t.Fatal(err)
				}
				e.raw(text + string(cancel) + "\n")
				ids = append(ids, id)
			}
			for _, id := range ids {
				e.wait(id)
			}
			answers := make(map[string]int)
			for _, f := range e.heard() {
				if f.Method == "" {
					answers[string(f.ID)]++
				}
			}
			for _, id := range ids {
				e.cancelled(s, id)
				if n := answers[strconv.Itoa(id)]; n != 1 {
					t.Errorf("prompt %d has %d answers, want 1", id, n)
				}
			}
			e.notify("session/cancel", object{"sessionId": s})
			if stop := e.prompt(s, "next"); stop != "end_turn" {
				t.Errorf("stop reason of the next prompt = %s, want end_turn", stop)
			}
		})
	}
}
