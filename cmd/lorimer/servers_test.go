//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// statusMethod tells how the MCP servers of a session stand.
const statusMethod = "_lorimer.dev/mcp_status"

// A stub is an MCP server of a test: mcpstub, with a journal of its own. It is declared
// to the agent by the editor, with what [stub.sent] returns, or in its configuration, with
// [stub.table].
type stub struct {
	t       *testing.T
	name    string
	args    []string
	journal string // its file
	kind    string // http or sse; "" is a program that the agent starts
	url     string // of those
	gate    string // file; while it is there a program does not start. "" has none
}

// stub returns a server that the agent starts with the flags. Servers may have equal
// names.
func (e *editor) stub(name string, flags ...string) *stub {
	e.t.Helper()
	dir, err := os.MkdirTemp(e.home, "stub-")
	if err != nil {
		e.t.Fatal(err)
	}
	s := &stub{t: e.t, name: name, journal: filepath.Join(dir, "journal")}
	s.args = append([]string{"-log", s.journal}, flags...)
	return s
}

// having returns the flags of a server that has these tools alone, which return their
// arguments.
func (e *editor) having(names ...string) []string {
	e.t.Helper()
	tools := []any{}
	for _, name := range names {
		tools = append(tools, object{"name": name, "description": "Does " + name + ".", "inputSchema": object{"type": "object"}})
	}
	return e.scenario(tools...)
}

// scenario returns the flags of a server that has these raw tools alone.
func (e *editor) scenario(tools ...any) []string {
	e.t.Helper()
	f, err := os.CreateTemp(e.home, "scenario-*.json")
	if err != nil {
		e.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(jsonText(e.t, object{"tools": tools})); err != nil {
		e.t.Fatal(err)
	}
	return []string{"-scenario", f.Name()}
}

// webStub starts a server of the kind, http or sse, on a port that is free. It ends with
// the test, or with [stub.stop].
func (e *editor) webStub(kind, name string, flags ...string) *stub {
	e.t.Helper()
	s := e.stub(name, append([]string{"-" + kind, "127.0.0.1:0"}, flags...)...)
	s.kind = kind
	cmd := exec.Command("mcpstub", s.args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		e.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() {
		cmd.Process.Kill() // it may have ended
		cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		e.t.Fatal(err)
	}
	var at struct{ URL string }
	if err := json.Unmarshal(line, &at); err != nil || at.URL == "" {
		e.t.Fatalf("the server tells its address as %q (%v)", line, err)
	}
	s.url = at.URL
	return s
}

// gated returns a server that the agent starts with the flags, and cannot start after
// [stub.shut].
func (e *editor) gated(name string, flags ...string) *stub {
	e.t.Helper()
	s := e.stub(name, flags...)
	s.gate = s.journal + ".shut"
	return s
}

// shut has every start of a program of [editor.gated] fail, until [stub.reopen].
func (s *stub) shut() {
	s.t.Helper()
	if err := os.WriteFile(s.gate, nil, 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stub) reopen() {
	s.t.Helper()
	if err := os.Remove(s.gate); err != nil {
		s.t.Fatal(err)
	}
}

// kill kills the program that was started last.
func (s *stub) kill() {
	s.t.Helper()
	all := s.events("start")
	if len(all) == 0 {
		s.t.Fatalf("server %q was not started", s.name)
	}
	if err := syscall.Kill(all[len(all)-1].PID, syscall.SIGKILL); err != nil {
		s.t.Fatal(err)
	}
}

// program is the command line of a server that the agent starts.
func (s *stub) program() (command string, args []string) {
	s.t.Helper()
	path, err := exec.LookPath("mcpstub")
	if err != nil {
		s.t.Fatal(err)
	}
	if s.gate == "" {
		return path, s.args
	}
	const script = `[ -e "$0" ] && { echo it is shut >&2; exit 1; }; exec "$@"`
	return "/bin/sh", append([]string{"-c", script, s.gate, path}, s.args...)
}

// sent is the server as session/new and its like have it.
func (s *stub) sent() object {
	s.t.Helper()
	if s.kind != "" {
		return object{"type": s.kind, "name": s.name, "url": s.url, "headers": []any{}}
	}
	command, args := s.program()
	return object{"name": s.name, "command": command, "args": args, "env": []any{}}
}

// table is the server as config.toml has it, followed by more lines of its table.
func (s *stub) table(lines ...string) string {
	s.t.Helper()
	head := fmt.Sprintf("[mcp.%q]\n", s.name)
	if s.kind != "" {
		head += fmt.Sprintf("type = %q\nurl = %q\n", s.kind, s.url)
	} else {
		command, args := s.program()
		head += fmt.Sprintf("command = %q\nargs = %s\n", command, jsonText(s.t, args))
	}
	return head + strings.Join(append(lines, ""), "\n")
}

// tables are servers as config.toml has them.
func tables(all ...*stub) string {
	var b strings.Builder
	for _, s := range all {
		b.WriteString(s.table())
	}
	return b.String()
}

// sent are servers as session/new and its like have them.
func sent(all ...*stub) []any {
	list := []any{}
	for _, s := range all {
		list = append(list, s.sent())
	}
	return list
}

// connects makes a session in the workspace with the servers; initialize went before.
func (e *editor) connects(all ...*stub) (session string) {
	e.t.Helper()
	var s struct{ SessionID string }
	e.call("session/new", object{"cwd": e.cwd, "mcpServers": sent(all...)}, &s)
	return s.SessionID
}

// reconnects opens a session once more by the method, session/load or its like, with the
// servers.
func (e *editor) reconnects(method, session string, all ...*stub) {
	e.t.Helper()
	p := e.where(session)
	p["mcpServers"] = sent(all...)
	e.call(method, p, nil)
}

// A stubEvent is a line of the journal of a server.
type stubEvent struct {
	Event   string
	PID     int
	Time    time.Time
	Start   int // number of a start
	Args    []string
	Env     []string
	Dir     string
	Message struct {
		ID     json.RawMessage
		Method string
		Params json.RawMessage
	}
	Text  string // a message that is no JSON
	Code  int    // of an end
	Why   string
	Child int // process of a grandchild
}

// events returns what has happened to a server so far, of the kinds, or all.
func (s *stub) events(kinds ...string) (all []stubEvent) {
	s.t.Helper()
	data, err := os.ReadFile(s.journal)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // nobody has contacted it
		s.t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if !strings.HasSuffix(line, "\n") {
			break // it is being written
		}
		var ev stubEvent
		if err := json.Unmarshal([]byte(line), &ev); err != nil {
			s.t.Fatalf("%s: %v: %s", s.journal, err, line)
		}
		if len(kinds) == 0 || slices.Contains(kinds, ev.Event) {
			all = append(all, ev)
		}
	}
	return all
}

// messages returns the messages of a method that a server has got so far.
func (s *stub) messages(method string) (all []stubEvent) {
	s.t.Helper()
	for _, ev := range s.events("message") {
		if ev.Message.Method == method {
			all = append(all, ev)
		}
	}
	return all
}

// called returns the tools that were called at a server so far, by its own names.
func (s *stub) called() (names []string) {
	s.t.Helper()
	for _, ev := range s.messages("tools/call") {
		var p struct{ Name string }
		if err := json.Unmarshal(ev.Message.Params, &p); err != nil {
			s.t.Fatal(err)
		}
		names = append(names, p.Name)
	}
	return names
}

// A serverStatus is how a server stands, as the client is told of it.
type serverStatus struct {
	Name, Prefix, State, Kind, Address, Source string
	Attempts                                   int
	LastError, Stderr, Program, Revision       string
	Tools                                      []string
	Prompts, Resources                         int
}

// statuses returns how the servers of a session stand.
func (e *editor) statuses(session string) []serverStatus {
	e.t.Helper()
	var all struct{ Servers []serverStatus }
	e.call(statusMethod, object{"sessionId": session}, &all)
	return all.Servers
}

// untilServers waits until ok accepts how the servers of a session stand.
func (e *editor) untilServers(session, what string, ok func([]serverStatus) bool) (all []serverStatus) {
	e.t.Helper()
	e.eventually(what, func() bool { all = e.statuses(session); return ok(all) }, func() any { return all })
	return all
}

// untilServer waits until a server of a session, the first of that name, is in the state.
func (e *editor) untilServer(session, name, state string) (s serverStatus) {
	e.t.Helper()
	e.untilServers(session, fmt.Sprintf("server %q to be %s", name, state), func(all []serverStatus) bool {
		i := slices.IndexFunc(all, func(s serverStatus) bool { return s.Name == name })
		if i >= 0 {
			s = all[i]
		}
		return i >= 0 && s.State == state
	})
	return s
}

// untilConnected waits until all servers of a session are connected.
func (e *editor) untilConnected(session string) []serverStatus {
	e.t.Helper()
	return e.untilServers(session, "all servers to be connected", func(all []serverStatus) bool {
		return !slices.ContainsFunc(all, func(s serverStatus) bool { return s.State != "connected" })
	})
}

// untilEvents waits until ok accepts what has happened to a server.
func (e *editor) untilEvents(s *stub, what string, ok func([]stubEvent) bool) (all []stubEvent) {
	e.t.Helper()
	e.eventually(what, func() bool { all = s.events(); return ok(all) }, func() any { return all })
	return all
}

// eventually waits for what no message tells of. It looks again and again, as long as a
// test is patient.
func (e *editor) eventually(what string, ok func() bool, now func() any) {
	e.t.Helper()
	for late := time.Now().Add(patience); !ok(); {
		if time.Now().After(late) {
			e.t.Fatalf("waited in vain for %s; last: %+v", what, now())
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// addsTo returns the names of tools beside those that every session has.
func addsTo(names []string) []string { return except(names, allTools()...) }
