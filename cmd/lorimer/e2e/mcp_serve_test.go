//go:build unix

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	mcpclient "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// code returns the exit code of a program that was run.
func code(t *testing.T, err error) int {
	t.Helper()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return 0
}

// A step is a run of a client that is a command.
type step struct {
	args []string
	code int
	want []string // in its output
}

// steps runs a client of the packages step by step.
func (p *peer) steps(client string, steps []step) {
	p.t.Helper()
	main := abs(p.t, "node_modules/.bin/"+client)
	for _, s := range steps {
		out, diag, err := p.run(append([]string{main}, s.args...)...)
		if got := code(p.t, err); got != s.code {
			p.t.Errorf("%s %q ends with %d, want %d:\n%s\n%s", client, s.args, got, s.code, out, diag)
		}
		for _, want := range s.want {
			if !strings.Contains(out, want) {
				p.t.Errorf("%s %q prints\n%s\n%s\nwant %q in it", client, s.args, out, diag, want)
			}
		}
	}
}

// TestRow230ClientsOfMCP has clients that others wrote list and use what lorimer
// offers (CLIENTS.md, section 4).
func TestRow230ClientsOfMCP(t *testing.T) {
	served := []string{"lorimer", "mcp", "serve", "--offer", "all", "--model", "offline"}
	t.Run("inspector", func(t *testing.T) {
		t.Parallel()
		p := newHost(t)
		p.file("notes.txt", "first line\n")
		inspect := func(args ...string) []string { return append(append([]string{"--cli"}, served...), args...) }
		p.steps("mcp-inspector", []step{
			{args: inspect("--method", "tools/list", "--strict"), want: []string{`"name": "read"`, `"name": "ask_agent"`, `"readOnlyHint": true`}},
			{args: inspect("--method", "tools/call", "--tool-name", "read", "--tool-arg", "path=notes.txt"), want: []string{`1\tfirst line`}},
			{args: inspect("--method", "tools/call", "--tool-name", "read", "--tool-arg", "path=none.txt"), code: 5, want: []string{"none.txt does not exist", `"isError": true`}},
			{args: inspect("--method", "prompts/list"), want: []string{`"name": "research"`}},
			{args: inspect("--method", "prompts/get", "--prompt-name", "search", "--prompt-args", "message=the weather"), want: []string{"# Look one thing up", "the weather"}},
			{args: inspect("--method", "resources/list"), want: []string{`"resources": []`}},
			{args: inspect("--method", "tools/call", "--tool-name", "ask_agent", "--tool-arg", "prompt=read notes.txt"), want: []string{"first line", `"stopReason": "end_turn"`}},
		})
	})
	t.Run("mcpc", func(t *testing.T) {
		t.Parallel()
		p := newHost(t)
		p.file("notes.txt", "first line\n")
		p.steps("mcpc", []step{
			{args: []string{"connect", p.servers(served) + ":lorimer", "@p"}, want: []string{"Server: lorimer", "Instructions"}},
			{args: []string{"@p", "ping"}, want: []string{"Ping successful"}},
			{args: []string{"@p", "tools-list"}, want: []string{"read (path:str", "[read-only]"}},
			{args: []string{"--json", "@p", "tools-call", "read", "path:=notes.txt"}, want: []string{`1\tfirst line`}},
			{args: []string{"--json", "@p", "tools-call", "ask_agent", "prompt:=read notes.txt"}, want: []string{"first line", `"stopReason": "end_turn"`}},
			{args: []string{"@p", "prompts-get", "search", "message:=the weather"}, want: []string{"the weather"}},
			{args: []string{"close", "@p"}},
		})
	})
	t.Run("mcporter", func(t *testing.T) {
		t.Parallel()
		p := newHost(t)
		p.file("notes.txt", "first line\n")
		config := []string{"--config", p.servers(served)}
		p.steps("mcporter", []step{
			{args: append(config, "list", "lorimer", "--schema"), want: []string{"read(", "ask_agent(", `"path"`}},
			{args: append(config, "call", "lorimer.read", "path="+filepath.Join(p.cwd, "notes.txt")), want: []string{"1\tfirst line"}},
			{args: append(config, "call", "lorimer.ask_agent", "prompt=read notes.txt"), want: []string{"first line", "end_turn"}},
			{args: append(config, "call", "lorimer.nothing"), code: 1},
		})
	})
}

// servers writes the configuration of a client with lorimer as its one server, and
// returns its name. Programs start in the folder of the file.
func (p *peer) servers(command []string) string {
	p.t.Helper()
	data, err := json.Marshal(map[string]any{"mcpServers": map[string]any{
		"lorimer": map[string]any{"command": command[0], "args": command[1:], "env": map[string]string{"HOME": p.home}},
	}})
	if err != nil {
		p.t.Fatal(err)
	}
	p.file("servers.json", string(data))
	return filepath.Join(p.cwd, "servers.json")
}

// A served is a running lorimer mcp serve.
type served struct {
	*peer
	cmd  *exec.Cmd
	in   io.WriteCloser
	pipe io.Closer // that out reads
	out  *bufio.Reader
	diag bytes.Buffer
}

// serve starts lorimer mcp serve.
func (p *peer) serve(flags ...string) *served {
	p.t.Helper()
	s := &served{peer: p, cmd: p.command("lorimer", append([]string{"mcp", "serve"}, flags...)...)}
	in, err := s.cmd.StdinPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	s.in, s.pipe, s.out, s.cmd.Stderr = in, out, bufio.NewReader(out), &s.diag
	if err := s.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { s.cmd.Process.Kill() }) // it has ended, unless the test has failed
	return s
}

// hello makes the handshake.
func (s *served) hello() {
	s.t.Helper()
	s.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`)
	if got := s.next(); !strings.Contains(got, `"protocolVersion":"2025-11-25"`) {
		s.t.Fatalf("initialize answers %s", got)
	}
}

func (s *served) send(lines ...string) {
	s.t.Helper()
	if _, err := io.WriteString(s.in, strings.Join(lines, "\n")+"\n"); err != nil {
		s.t.Fatal(err)
	}
}

func (s *served) next() string {
	s.t.Helper()
	line, err := s.out.ReadString('\n')
	if err != nil {
		s.t.Fatalf("reading the next message: %v\n%s", err, &s.diag)
	}
	return strings.TrimSuffix(line, "\n")
}

// finish reads to the end and returns what came, and the exit code.
func (s *served) finish() (rest []string, exit int) {
	s.t.Helper()
	data, err := io.ReadAll(s.out)
	if err != nil {
		s.t.Fatal(err)
	}
	if text := strings.TrimSpace(string(data)); text != "" {
		rest = strings.Split(text, "\n")
	}
	return rest, code(s.t, s.cmd.Wait())
}

// toolCall returns a call of a tool as a line.
func toolCall(id int, tool string, arguments any) string {
	args, err := json.Marshal(arguments)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{"progressToken":%d}}}`, id, tool, args, id)
}

func bash(command string) map[string]string {
	return map[string]string{"command": command, "description": "a test"}
}

// TestRow230AskAgentStreams shows a turn while it runs: its text as it grows and what
// its tools do, all of it before the result; and that a cancel ends it.
func TestRow230AskAgentStreams(t *testing.T) {
	p := newHost(t)
	p.file("notes.txt", "first line\n")
	p.file("script.jsonl", `{"text":["I ","look ","at ","it."],"delay_ms":150,"tools":[{"name":"read","args":{"path":"notes.txt"}}]}
{"match":{"contains":"first line"},"text":["It ","says ","first ","line."],"delay_ms":150}
{"match":{"contains":"hang"},"text":["a","b"],"delay_ms":60000}
`)
	s := p.serve("--offer", "agent", "--model", "script:script.jsonl")
	s.hello()
	s.send(toolCall(1, "ask_agent", map[string]string{"prompt": "what is in notes.txt"}))
	var messages []string
	last := 0.0
	for {
		var m struct {
			ID     int
			Method string
			Params struct {
				ProgressToken int
				Progress      float64
				Message       string
			}
			Result struct {
				StructuredContent struct{ Answer, Session, StopReason string }
			}
		}
		line := s.next()
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		if m.Method == "notifications/message" {
			continue
		}
		if m.Method == "" {
			got := m.Result.StructuredContent
			if m.ID != 1 || got.Answer != "It says first line." || got.StopReason != "end_turn" || got.Session == "" {
				t.Errorf("result %s", line)
			}
			break
		}
		if m.Method != "notifications/progress" || m.Params.ProgressToken != 1 || m.Params.Progress <= last {
			t.Errorf("message %s after progress %v", line, last)
		}
		last = m.Params.Progress
		messages = append(messages, m.Params.Message)
	}
	want := []string{"I ", "I look ", "I look at ", "I look at it.", "read: notes.txt", "It ", "It says ", "It says first ", "It says first line."}
	// The last of a message may be told as one with what follows at once.
	if got := inOrder(messages, want); len(got) < len(want)-2 || !slices.Contains(got, "read: notes.txt") {
		t.Errorf("progress %q, want nearly all of %q", messages, want)
	}
	s.send(toolCall(2, "ask_agent", map[string]string{"prompt": "hang"}), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`, `{"jsonrpc":"2.0","id":3,"method":"ping"}`)
	if got := s.next(); !strings.Contains(got, `"id":3`) {
		t.Errorf("after the cancel comes %s", got)
	}
	begun := time.Now()
	s.in.Close()
	if rest, exit := s.finish(); len(rest) > 0 || exit != 0 || time.Since(begun) > 20*time.Second {
		t.Errorf("at the end: %q, code %d after %v\n%s", rest, exit, time.Since(begun), &s.diag)
	}
}

// inOrder returns those of want that are in got, in their order.
func inOrder(got, want []string) (found []string) {
	for _, w := range want {
		for i, g := range got {
			if g == w {
				found, got = append(found, w), got[i+1:]
				break
			}
		}
	}
	return found
}

// TestRow230HalfClosed pipes calls in and ends the input at once: none of the answers
// is lost, those of calls that take a while included.
func TestRow230HalfClosed(t *testing.T) {
	p := newHost(t)
	s := p.serve("--mode", "auto")
	lines := []string{`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`}
	for i := range 20 {
		lines = append(lines, toolCall(i+1, "bash", bash(fmt.Sprintf("sleep 0.3; echo done-%d", i+1))))
	}
	s.send(lines...)
	s.in.Close()
	rest, exit := s.finish()
	seen := map[string]bool{}
	for _, line := range rest {
		for i := range 20 {
			if strings.Contains(line, fmt.Sprintf(`"id":%d,"result":{"content":[{"type":"text","text":"done-%d`, i+1, i+1)) {
				seen[fmt.Sprint(i)] = true
			}
		}
	}
	if len(seen) != 20 || exit != 0 {
		t.Errorf("%d answers, code %d, want 20 and 0:\n%s\n%s", len(seen), exit, strings.Join(rest, "\n"), &s.diag)
	}
}

// TestRow230Signals ends the server while a command runs that heeds no signal: it is
// gone within five seconds, with code 0, and so is the command.
func TestRow230Signals(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			p := newHost(t)
			pipe := filepath.Join(p.cwd, "lifeline")
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Fatal(err)
			}
			life, err := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer life.Close()
			s := p.serve("--mode", "auto")
			s.hello()
			s.send(toolCall(1, "bash", bash(`trap "" TERM INT HUP; exec 9>lifeline; echo begun; sleep 600; sleep 600`)))
			for !strings.Contains(s.next(), `"message":"begun"`) { // its output is progress
			}
			begun := time.Now()
			if err := s.cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			_, exit := s.finish()
			if took := time.Since(begun); exit != 0 || took > 5*time.Second {
				t.Errorf("code %d after %v, want 0 within 5s\n%s", exit, took, &s.diag)
			}
			life.SetReadDeadline(time.Now().Add(patience))
			if data, err := io.ReadAll(life); err != nil || len(data) > 0 {
				t.Errorf("the command is left (%v, %q)", err, data)
			}
		})
	}
}

// TestRow230ClientGone has the client vanish while a call runs: nobody is left to read
// the answer, so it is not waited for.
func TestRow230ClientGone(t *testing.T) {
	p := newHost(t)
	s := p.serve("--mode", "auto")
	s.hello()
	s.send(toolCall(1, "bash", bash("echo begun; sleep 600")))
	for !strings.Contains(s.next(), `"message":"begun"`) {
	}
	begun := time.Now()
	if err := errors.Join(s.in.Close(), s.pipe.Close()); err != nil {
		t.Fatal(err)
	}
	if exit, took := code(t, s.cmd.Wait()), time.Since(begun); exit != 0 || took > 5*time.Second {
		t.Errorf("code %d after %v, want 0 within 5s\n%s", exit, took, &s.diag)
	}
}

// TestRow230ClientOfMCPGo uses lorimer with the client of mcp-go, in both eras.
func TestRow230ClientOfMCPGo(t *testing.T) {
	for name, more := range map[string][]mcpclient.ClientOption{
		"2026-07-28": nil, "2025-11-25": {mcpclient.WithProtocolVersion("2025-11-25")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newHost(t)
			p.file("notes.txt", "first line\n")
			s := p.serve("--offer", "all", "--model", "offline")
			c := mcpclient.NewClient(transport.NewIO(s.out, s.in, io.NopCloser(strings.NewReader(""))), more...)
			if err := c.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			hello, err := c.Initialize(t.Context(), mcp.InitializeRequest{})
			if err != nil || hello.ProtocolVersion != name {
				t.Fatalf("initialize = %+v, %v", hello, err)
			}
			list, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
			if err != nil {
				t.Fatal(err)
			}
			var tools []string
			for _, tool := range list.Tools {
				tools = append(tools, tool.Name)
			}
			if diff := cmp.Diff([]string{"glob", "grep", "read", "ask_agent"}, tools); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
			result, err := c.CallTool(t.Context(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "read", Arguments: map[string]any{"path": "notes.txt"}}})
			if err != nil || result.IsError || !strings.Contains(fmt.Sprint(result.Content), "first line") {
				t.Errorf("read = %+v, %v", result, err)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			if exit := code(t, s.cmd.Wait()); exit != 0 {
				t.Errorf("code %d\n%s", exit, &s.diag)
			}
		})
	}
}
