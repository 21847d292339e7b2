//go:build unix

package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// realServers declares the servers of the packages in the configuration of the user.
// Each of their processes holds on to a pipe, whose end tells that none is left.
func (p *peer) realServers() (life *os.File) {
	p.t.Helper()
	pipe := filepath.Join(p.home, "lifeline")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		p.t.Fatal(err)
	}
	life, err := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { life.Close() })
	var config strings.Builder
	fmt.Fprintf(&config, "model = \"script:script.jsonl\"\n")
	declare := func(name, program string, args ...string) {
		script := fmt.Sprintf("exec 9>%s; exec \"$@\"", pipe)
		command, err := json.Marshal(append([]string{"-c", script, "sh", p.node, abs(p.t, "node_modules/.bin/"+program)}, args...))
		if err != nil {
			p.t.Fatal(err)
		}
		fmt.Fprintf(&config, "[mcp.%s]\ncommand = \"sh\"\nargs = %s\n", name, command)
	}
	declare("everything", "mcp-server-everything")
	declare("files", "mcp-server-filesystem", p.cwd)
	declare("context7", "context7-mcp")
	declare("memory", "mcp-server-memory")
	fmt.Fprintf(&config, "env = { MEMORY_FILE_PATH = %q }\n", filepath.Join(p.home, "memory.json"))
	folder := filepath.Join(p.home, ".config", "lorimer")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "config.toml"), []byte(config.String()), 0o600); err != nil {
		p.t.Fatal(err)
	}
	return life
}

// gone fails unless no process holds on to the pipe any more.
func (p *peer) gone(life *os.File) {
	p.t.Helper()
	life.SetReadDeadline(time.Now().Add(patience))
	if data, err := io.ReadAll(life); err != nil || len(data) > 0 {
		p.t.Errorf("a server is left (%v, %q)", err, data)
	}
}

// A used is a call of a tool in a turn, and what its result must say.
type used struct {
	tool   string
	args   any
	status string
	want   string
}

type object = map[string]any

// TestRow230RealServers has a turn use servers that others wrote, of both eras: tools
// that come late, results of each kind, progress, a task, roots, and mistakes.
func TestRow230RealServers(t *testing.T) {
	t.Parallel()
	p := newHost(t)
	life := p.realServers()
	made := filepath.Join(p.cwd, "made.txt")
	calls := []used{
		{"everything_echo", object{"message": "hi"}, "completed", "Echo: hi"},
		{"everything_get-sum", object{"a": 2, "b": 3}, "completed", "The sum of 2 and 3 is 5."},
		{"everything_get-sum", object{"a": "two", "b": 3}, "failed", "a: got string, want number"},
		{"everything_get-tiny-image", object{}, "completed", "The image above is the MCP logo."},
		{"everything_get-structured-content", object{"location": "Chicago"}, "completed", `"temperature":36`},
		{"everything_get-resource-links", object{"count": 2}, "completed", "demo://resource/dynamic/text/2"},
		{"everything_get-resource-reference", object{"resourceType": "Text", "resourceId": 1}, "completed", "This is a plaintext resource"},
		{"everything_get-annotated-message", object{"messageType": "success", "includeImage": true}, "completed", "Operation completed successfully"},
		{"everything_trigger-long-running-operation", object{"duration": 0.5, "steps": 2}, "completed", "Steps: 2."},
		{"everything_simulate-research-query", object{"topic": "bridles"}, "completed", "bridles"}, // a task
		{"everything_get-roots-list", object{}, "completed", "file://" + p.cwd},                    // it is offered after the handshake
		{"files_write_file", object{"path": made, "content": "made"}, "completed", "Successfully wrote"},
		{"files_read_text_file", object{"path": made}, "completed", "made"},
		{"files_read_text_file", object{"path": "/etc/passwd"}, "failed", "Access denied"},
		{"files_list_allowed_directories", object{}, "completed", p.cwd},
		{"memory_create_entities", object{"entities": []object{{"name": "Ada", "entityType": "person", "observations": []string{"counts"}}}}, "completed", `"Ada"`},
		{"memory_read_graph", object{}, "completed", `"counts"`},
	}
	p.file("script.jsonl", scripted(t, calls)+`{"text":["All done."]}`+"\n")
	out, diag, err := p.exec("lorimer", "run", "--mode", "auto", "--format", "stream-json", "--trace", "trace.jsonl", "use them")
	if err != nil {
		t.Fatalf("lorimer run: %v\n%s\n%s", err, out, diag)
	}
	checkCalls(t, out, calls)
	if !strings.Contains(out, `"data":"1/2\n"`) {
		t.Errorf("no progress of the long running operation in\n%s", out)
	}
	var request struct {
		Type  string
		Tools []string
	}
	for dec := json.NewDecoder(strings.NewReader(p.read("trace.jsonl"))); request.Type != "model"; {
		if err := dec.Decode(&request); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"context7_resolve-library-id", "context7_query-docs", "everything_get-roots-list", "files_move_file", "memory_search_nodes"} {
		if !slices.Contains(request.Tools, name) {
			t.Errorf("the model was not told of %s, but of %q", name, request.Tools)
		}
	}
	p.gone(life)
}

// scripted is a model's answer that makes the calls.
func scripted(t *testing.T, calls []used) string {
	t.Helper()
	var all []object
	for _, c := range calls {
		all = append(all, object{"name": c.tool, "args": c.args})
	}
	line, err := json.Marshal(object{"text": []string{"I use them."}, "tools": all})
	if err != nil {
		t.Fatal(err)
	}
	return string(line) + "\n"
}

// checkCalls looks for the result of each call in a stream of events.
func checkCalls(t *testing.T, out string, calls []used) {
	t.Helper()
	type shown struct{ name, status, text string }
	byID := map[string]*shown{}
	var order []*shown
	for _, line := range strings.Split(strings.TrimSpace(out), "\n") {
		var e struct {
			ToolCall struct{ ID, Name, Status string }
			Text     string
		}
		if json.Unmarshal([]byte(line), &e) != nil || e.ToolCall.ID == "" {
			continue
		}
		s := byID[e.ToolCall.ID]
		if s == nil {
			s = &shown{name: e.ToolCall.Name}
			byID[e.ToolCall.ID], order = s, append(order, s)
		}
		s.status, s.text = e.ToolCall.Status, s.text+e.Text
	}
	if len(order) != len(calls) {
		t.Fatalf("%d calls, want %d:\n%s", len(order), len(calls), out)
	}
	for i, c := range calls {
		if got := order[i]; got.name != c.tool || got.status != c.status || !strings.Contains(got.text, c.want) {
			t.Errorf("call %d: %s %s %q, want %s %s with %q", i, got.name, got.status, got.text, c.tool, c.status, c.want)
		}
	}
}

// TestRow230ServersPassedOn has another agent use the same servers through lorimer:
// tools, prompts and resources under prefixed names, with progress.
func TestRow230ServersPassedOn(t *testing.T) {
	t.Parallel()
	p := newHost(t)
	life := p.realServers()
	s := p.serve("--offer", "servers", "--mode", "auto")
	s.hello()
	request := func(id int, method string, params any) string {
		data, err := json.Marshal(object{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	wants := []struct{ line, want string }{
		{request(1, "tools/list", object{}), `"name":"everything_get-roots-list"`},
		{toolCall(2, "everything_get-tiny-image", object{}), `"type":"image","data":"iVBOR`},
		{toolCall(3, "everything_get-sum", object{"a": 2, "b": 3}), "The sum of 2 and 3 is 5."},
		{toolCall(4, "everything_get-sum", object{"a": 2}), `"isError":true`},
		{request(5, "prompts/list", object{}), `"name":"everything_args-prompt"`},
		{request(6, "prompts/get", object{"name": "everything_args-prompt", "arguments": object{"city": "Rome"}}), "Rome"},
		{request(7, "resources/list", object{}), `"uri":"demo://resource/static/document/features.md"`},
		{request(8, "resources/templates/list", object{}), `"uriTemplate":"demo://resource/dynamic/text/{resourceId}"`},
		{request(9, "resources/read", object{"uri": "demo://resource/dynamic/text/3"}), `"text":"Resource 3: This is a plaintext resource`},
		{toolCall(10, "memory_read_graph", object{}), `entities`},
		{toolCall(11, "everything_trigger-long-running-operation", object{"duration": 0.6, "steps": 3}), "Steps: 3."},
		{toolCall(12, "read", object{"path": "x"}), "-32602"}, // is not on offer
	}
	for _, w := range wants {
		s.send(w.line)
	}
	s.in.Close()
	rest, exit := s.finish()
	answers := map[int]string{}
	told := 0
	for _, line := range rest {
		var m struct {
			ID     *int
			Params struct{ ProgressToken int }
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		switch {
		case m.ID != nil:
			answers[*m.ID] = line
		case m.Params.ProgressToken == 11 && answers[11] == "":
			told++
		case m.Params.ProgressToken == 11:
			t.Errorf("after its result comes %s", line)
		}
	}
	for i, w := range wants {
		if got := answers[i+1]; !strings.Contains(got, w.want) {
			t.Errorf("%s answers %.2000s, want %q in it", w.line, got, w.want)
		}
	}
	if exit != 0 || told < 3 {
		t.Errorf("code %d, %d messages of progress\n%s", exit, told, &s.diag)
	}
	p.gone(life)
}
