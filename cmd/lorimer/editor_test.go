//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lorimer-dev/lorimer/cmd/lorimer/e2e/wirecheck"
)

// patience is how long a test waits for something that must come. It only
// bounds a failure; no test asserts it.
const patience = 60 * time.Second

// An editor is the other end of a running lorimer: it sends requests, answers
// the agent's, and keeps all that passed.
type editor struct {
	t       *testing.T
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     io.Closer      // closing it is an editor that has gone away
	home    string         // HOME of the agent; the trace is home/trace
	cwd     string         // a fresh workspace
	env     []string       // of the agent, beside HOME and PATH
	within  []string       // a command that runs the agent, which its last words are
	readers sync.WaitGroup // of what the agent writes
	over    sync.Once      // the agent has been waited for
	code    int            // its exit code, when over is done

	mu      sync.Mutex // guards the fields below
	changed *sync.Cond // a frame has come, or the output has ended
	frames  []frameIn
	wire    []wirecheck.Line // all that passed, in both directions
	lawless bool             // the test itself is no conversation of the protocol
	answers map[string]func(params json.RawMessage) (any, *rpcError)
	next    int
	ended   bool
	stderr  strings.Builder
}

// A frameIn is a message of the agent with its place in the stream.
type frameIn struct {
	N      int             `json:"-"` // its place, from 0
	Raw    string          `json:"-"`
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *rpcError       `json:"error"`
}

type rpcError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// An update is the part of session/update that tests look at.
type update struct {
	SessionID string `json:"sessionId"`
	Update    struct {
		Kind       string `json:"sessionUpdate"`
		MessageID  string `json:"messageId"`
		ToolCallID string `json:"toolCallId"`
		Name       string `json:"name"`
		Title      string `json:"title"`
		Status     string `json:"status"`
		ToolKind   string `json:"kind"`
		Locations  []struct{ Path string }
		Content    json.RawMessage `json:"content"`
		RawInput   json.RawMessage `json:"rawInput"`
		RawOutput  json.RawMessage `json:"rawOutput"`
		Meta       json.RawMessage `json:"_meta"`
	} `json:"update"`
}

// edit starts "lorimer acp" with a script model of the given lines and the
// flags. The agent ends with the test.
func edit(t *testing.T, script string, flags ...string) *editor {
	t.Helper()
	e := newEditor(t)
	if script != "" {
		flags = append([]string{"--model", "script:" + e.file("script.jsonl", script)}, flags...)
	}
	e.acp(flags...)
	return e
}

// newEditor returns an editor whose agent has not been started, for a test that
// prepares its home or its environment.
func newEditor(t *testing.T) *editor {
	return &editor{t: t, home: t.TempDir(), cwd: t.TempDir(), answers: map[string]func(json.RawMessage) (any, *rpcError){}}
}

// file writes a file below the home of the agent and returns its path.
func (e *editor) file(name, content string) string {
	e.t.Helper()
	path := filepath.Join(e.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		e.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		e.t.Fatal(err)
	}
	return path
}

// acp starts "lorimer acp" with a trace and the flags.
func (e *editor) acp(flags ...string) {
	e.t.Helper()
	e.start(append([]string{"acp", "--trace", filepath.Join(e.home, "trace")}, flags...))
}

func (e *editor) start(args []string) {
	e.t.Helper()
	e.changed = sync.NewCond(&e.mu)
	words := slices.Concat(e.within, []string{"lorimer"}, args)
	e.cmd = exec.Command(words[0], words[1:]...)
	e.cmd.Dir = e.cwd
	e.cmd.Env = append([]string{"HOME=" + e.home, "PATH=" + os.Getenv("PATH"), raceOptions()}, e.env...)
	e.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := e.cmd.StdinPipe()
	if err != nil {
		e.t.Fatal(err)
	}
	out, err := e.cmd.StdoutPipe()
	if err != nil {
		e.t.Fatal(err)
	}
	diag, err := e.cmd.StderrPipe()
	if err != nil {
		e.t.Fatal(err)
	}
	if err := e.cmd.Start(); err != nil {
		e.t.Fatal(err)
	}
	e.in, e.out = in, out
	e.readers.Go(func() { e.read(out) })
	e.readers.Go(func() {
		p, _ := io.ReadAll(diag) // an error is the end of the process
		e.mu.Lock()
		defer e.mu.Unlock()
		e.stderr.Write(p)
	})
	e.t.Cleanup(func() {
		e.leave()
		e.judge()
		if e.t.Failed() {
			e.t.Logf("the agent's standard error:\n%s", e.stderr.String())
		}
	})
}

// leave ends the input, waits for the agent to end and returns its exit code.
// Its standard error is complete then.
func (e *editor) leave() (code int) {
	e.over.Do(func() {
		e.in.Close()
		late := time.AfterFunc(patience, func() { e.cmd.Process.Kill() })
		defer late.Stop()
		e.readers.Wait()
		e.cmd.Wait() // how it ended is in its state
		e.code = e.cmd.ProcessState.ExitCode()
	})
	return e.code
}

func (e *editor) read(out io.Reader) {
	r := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := r.ReadString('\n')
		if line = strings.TrimSuffix(line, "\n"); line != "" {
			e.take(line)
		}
		if err != nil {
			e.mu.Lock()
			e.ended = true
			e.mu.Unlock()
			e.changed.Broadcast()
			return
		}
	}
}

func (e *editor) take(line string) {
	f := frameIn{Raw: line}
	if err := json.Unmarshal([]byte(line), &f); err != nil {
		e.t.Errorf("the agent wrote a line that is not JSON: %q", line)
		return
	}
	e.mu.Lock()
	f.N = len(e.frames)
	e.frames = append(e.frames, f)
	e.wire = append(e.wire, wirecheck.Line{Dir: wirecheck.ToClient, Text: line})
	answer := e.answers[f.Method]
	e.mu.Unlock()
	e.changed.Broadcast()
	if f.Method == "" || f.ID == nil {
		return
	}
	reply := map[string]any{"jsonrpc": "2.0", "id": f.ID}
	if answer == nil {
		reply["error"] = rpcError{Code: -32601, Message: "no such method"}
	} else {
		result, fail := answer(f.Params)
		if result == nil && fail == nil {
			return // the editor stays silent
		}
		if fail != nil {
			reply["error"] = fail
		} else {
			reply["result"] = result
		}
	}
	e.write(reply)
}

// on sets how the editor answers requests of the agent. A nil result without
// an error leaves the request open.
func (e *editor) on(method string, f func(params json.RawMessage) (any, *rpcError)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.answers[method] = f
}

// allow answers every permission question with the option.
func (e *editor) allow(option string) {
	e.on("session/request_permission", func(json.RawMessage) (any, *rpcError) {
		return map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": option}}, nil
	})
}

func (e *editor) write(v any) {
	p, err := json.Marshal(v)
	if err != nil {
		e.t.Error(err)
		return
	}
	e.raw(string(p) + "\n")
}

// raw writes bytes as they are, in one write. An agent that has gone is seen by
// who waits for it.
func (e *editor) raw(text string) {
	e.mu.Lock()
	for line := range strings.Lines(text) {
		e.wire = append(e.wire, wirecheck.Line{Dir: wirecheck.ToAgent, Text: strings.TrimSuffix(line, "\n")})
	}
	e.mu.Unlock()
	io.WriteString(e.in, text)
}

// schemas are those of the protocol, or nil where the package that has them is
// not installed. There the tests hold the wire against the rules of state alone.
var schemas = sync.OnceValues(func() (*wirecheck.Schemas, error) {
	const dir = "e2e/node_modules/@agentclientprotocol/sdk/schema"
	if _, err := os.Stat(dir); err != nil {
		return nil, nil
	}
	return wirecheck.Load(dir)
})

// breaks says that the test ends the agent in the middle of a turn, or sends what
// is no frame, so that what follows cannot be judged by the protocol.
func (e *editor) breaks() *editor {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lawless = true
	return e
}

// judge reports every breach of the protocol by the agent.
func (e *editor) judge() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.lawless {
		judge(e.t, e.wire)
	}
}

// judge reports every breach of the protocol by the agent in a recorded wire
// (R-ACP-36).
func judge(t *testing.T, wire []wirecheck.Line) {
	t.Helper()
	rules, err := schemas()
	if err != nil {
		t.Error(err)
	}
	for _, f := range wirecheck.Check(wire, rules) {
		t.Error(f)
	}
}

// send writes a request and returns its id.
func (e *editor) send(method string, params any) int {
	e.t.Helper()
	text, id := e.line(method, params)
	e.raw(text)
	return id
}

// line returns a request as it is written, and its id.
func (e *editor) line(method string, params any) (text string, id int) {
	e.t.Helper()
	e.mu.Lock()
	e.next++
	id = e.next
	e.mu.Unlock()
	p, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	if err != nil {
		e.t.Fatal(err)
	}
	return string(p) + "\n", id
}

func (e *editor) notify(method string, params any) {
	e.write(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
}

// until waits for a frame that ok accepts and returns it.
func (e *editor) until(what string, ok func(frameIn) bool) frameIn {
	e.t.Helper()
	late := time.AfterFunc(patience, func() {
		e.mu.Lock()
		e.ended = true
		e.mu.Unlock()
		e.changed.Broadcast()
	})
	defer late.Stop()
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := 0; ; i++ {
		for i >= len(e.frames) {
			if e.ended {
				e.t.Fatalf("no %s; the agent wrote:\n%s", what, e.transcript())
			}
			e.changed.Wait()
		}
		if ok(e.frames[i]) {
			return e.frames[i]
		}
	}
}

func (e *editor) transcript() string {
	var b strings.Builder
	for _, f := range e.frames {
		fmt.Fprintf(&b, "%.400s\n", f.Raw)
	}
	return b.String()
}

// wait returns the answer to the request with this id.
func (e *editor) wait(id int) frameIn {
	e.t.Helper()
	return e.until(fmt.Sprintf("answer to request %d", id), func(f frameIn) bool {
		return f.Method == "" && string(f.ID) == fmt.Sprint(id)
	})
}

// call sends a request, waits for its answer and decodes the result, unless
// result is nil. An error answer ends the test.
func (e *editor) call(method string, params, result any) {
	e.t.Helper()
	f := e.wait(e.send(method, params))
	if f.Error != nil {
		e.t.Fatalf("%s: error %d: %s %s", method, f.Error.Code, f.Error.Message, f.Error.Data)
	}
	if result != nil {
		if err := json.Unmarshal(f.Result, result); err != nil {
			e.t.Fatal(err)
		}
	}
}

type object = map[string]any

// open initializes with the capabilities and makes a session in the workspace.
func (e *editor) open(capabilities object) (session string) {
	e.t.Helper()
	e.call("initialize", object{"protocolVersion": 1, "clientCapabilities": capabilities}, nil)
	return e.session()
}

// session makes one more session in the workspace.
func (e *editor) session() string {
	e.t.Helper()
	var s struct{ SessionID string }
	e.call("session/new", object{"cwd": e.cwd, "mcpServers": []any{}}, &s)
	return s.SessionID
}

func say(session, text string) object {
	return object{"sessionId": session, "prompt": []any{object{"type": "text", "text": text}}}
}

// prompt sends the text, waits and returns the stop reason.
func (e *editor) prompt(session, text string) string {
	e.t.Helper()
	var r struct{ StopReason string }
	e.call("session/prompt", say(session, text), &r)
	return r.StopReason
}

// updates returns the updates of a session so far.
func (e *editor) updates(session string) []update {
	e.t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	var all []update
	for _, f := range e.frames {
		if f.Method != "session/update" || !strings.Contains(f.Raw, session) {
			continue // a test may have many sessions
		}
		var u update
		if err := json.Unmarshal(f.Params, &u); err != nil {
			e.t.Fatalf("%s: %v", f.Raw, err)
		}
		if u.SessionID == session {
			all = append(all, u)
		}
	}
	return all
}

// heard returns all frames so far.
func (e *editor) heard() []frameIn {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.frames)
}

// text joins the answer of a session so far.
func (e *editor) text(session string) string {
	e.t.Helper()
	var b strings.Builder
	for _, u := range e.updates(session) {
		if u.Update.Kind == "agent_message_chunk" {
			var c struct{ Text string }
			if err := json.Unmarshal(u.Update.Content, &c); err != nil {
				e.t.Fatal(err)
			}
			b.WriteString(c.Text)
		}
	}
	return b.String()
}

// A fifo is a named pipe between a test and a command. Both ends of it stay open
// here, so nobody waits for the other to open it.
type fifo struct {
	t    *testing.T
	f    *os.File
	path string
}

// fifo makes a named pipe in the workspace.
func (e *editor) fifo(name string) *fifo {
	e.t.Helper()
	path := filepath.Join(e.cwd, name)
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		e.t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { f.Close() })
	return &fifo{e.t, f, path}
}

// put writes a line for a command that reads the pipe.
func (p *fifo) put(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.f, line+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

// get waits for the line that a command writes to the pipe.
func (p *fifo) get() string {
	p.t.Helper()
	p.f.SetReadDeadline(time.Now().Add(patience))
	var line []byte
	for c := make([]byte, 1); ; line = append(line, c[0]) {
		if _, err := p.f.Read(c); err != nil {
			p.t.Fatalf("no line came through %s: %v", p.path, err)
		}
		if c[0] == '\n' {
			return string(line)
		}
	}
}

// status waits until a tool call of the session has the status and returns its
// id.
func (e *editor) status(session, status string) string {
	e.t.Helper()
	var u update
	e.until("tool call that is "+status, func(f frameIn) bool {
		u = update{}
		return f.Method == "session/update" && json.Unmarshal(f.Params, &u) == nil &&
			u.SessionID == session && u.Update.Status == status
	})
	return u.Update.ToolCallID
}

// trace returns the lines of the trace whose type is kind.
func (e *editor) trace(kind string) []json.RawMessage {
	e.t.Helper()
	p, err := os.ReadFile(filepath.Join(e.home, "trace"))
	if err != nil {
		e.t.Fatal(err)
	}
	var lines []json.RawMessage
	for line := range strings.Lines(string(p)) {
		var head struct{ Type string }
		if err := json.Unmarshal([]byte(line), &head); err != nil {
			e.t.Fatalf("trace: %v", err)
		}
		if head.Type == kind {
			lines = append(lines, json.RawMessage(line))
		}
	}
	return lines
}
