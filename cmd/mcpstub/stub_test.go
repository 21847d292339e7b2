package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	mcpclient "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// newProgram returns the program of flags.
func newProgram(t *testing.T, flags ...string) *program {
	t.Helper()
	o, err := parse(flags, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	p, err := start(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A person answers what the server asks.
type person struct{}

func (person) Elicit(_ context.Context, r mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	if r.Params.URL != "" {
		return &mcp.ElicitationResult{ElicitationResponse: mcp.ElicitationResponse{Action: mcp.ElicitationResponseActionDecline}}, nil
	}
	return &mcp.ElicitationResult{ElicitationResponse: mcp.ElicitationResponse{
		Action: mcp.ElicitationResponseActionAccept, Content: map[string]any{"name": r.Params.Message},
	}}, nil
}

func (person) CreateMessage(_ context.Context, r mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	return &mcp.CreateMessageResult{
		SamplingMessage: mcp.SamplingMessage{Role: mcp.RoleAssistant, Content: mcp.NewTextContent("sampled")}, Model: "m",
	}, nil
}

func (person) ListRoots(context.Context, mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	return &mcp.ListRootsResult{Roots: []mcp.Root{{URI: "file:///work", Name: "work"}}}, nil
}

// connect connects the client of mcp-go to the program of flags.
func connect(t *testing.T, flags ...string) (*mcpclient.Client, *mcp.InitializeResult) {
	t.Helper()
	p := newProgram(t, flags...)
	in, write := io.Pipe()
	read, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- p.pipe(in, out) }()
	c := mcpclient.NewClient(transport.NewIO(read, write, io.NopCloser(strings.NewReader(""))),
		mcpclient.WithElicitationHandler(person{}), mcpclient.WithSamplingHandler(person{}), mcpclient.WithRootsHandler(person{}))
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		out.Close() // what its reader hears is the end, and no error
		c.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	r, err := c.Initialize(t.Context(), mcp.InitializeRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return c, r
}

func toolNames(t *testing.T, c *mcpclient.Client) []string {
	t.Helper()
	list, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return names
}

// call returns the result of a tool as JSON.
func call(t *testing.T, c *mcpclient.Client, name string, arguments map[string]any) string {
	t.Helper()
	var r mcp.CallToolRequest
	r.Params.Name = name
	r.Params.Arguments = arguments
	if arguments == nil {
		r.Params.Arguments = map[string]any{}
	}
	result, err := c.CallTool(t.Context(), r)
	if err != nil {
		return err.Error()
	}
	text := ""
	for _, block := range result.Content {
		switch b := block.(type) {
		case mcp.TextContent:
			text += b.Text
		case mcp.ImageContent:
			text += b.MIMEType
		default:
			text += fmt.Sprintf("%T", b)
		}
	}
	if result.IsError {
		text = "error: " + text
	}
	return text
}

// Both eras have the same tools, which do the same.
func TestGoodServer(t *testing.T) {
	t.Setenv("MARKER", "of the environment")
	for _, revision := range []string{"2024-11-05", lastHandshake, stateless} {
		t.Run(revision, func(t *testing.T) {
			c, about := connect(t, "-revision", revision, "-name", "good", "-instructions", "Use echo.", "-tools", "2", "-tool", "x.y")
			if about.ProtocolVersion != revision || about.ServerInfo.Name != "good" || about.Instructions != "Use echo." {
				t.Errorf("it says of itself: %+v", about)
			}
			want := []string{"echo", "add", "env", "sleep", "image", "big", "die", "ask", "sample", "roots", "fail", "kinds", "structured", "tool_1", "tool_2", "x.y"}
			if diff := cmp.Diff(want, toolNames(t, c)); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
			calls := []struct {
				name string
				args map[string]any
				want string
			}{
				{"echo", map[string]any{"text": "a\n<b>"}, "a\n<b>"},
				{"add", map[string]any{"a": 1, "b": 2.5}, "3.5"},
				{"image", nil, "image/png"},
				{"big", map[string]any{"bytes": 30}, "line 1 of a long text\nline 2 o"},
				{"fail", map[string]any{"text": "badly"}, "error: it went wrong: badly"},
				{"structured", nil, `{"city":"Bern","degrees":21}`},
				{"sleep", map[string]any{"ms": 10}, "slept 10 ms"},
				{"tool_2", map[string]any{"a": 1}, `tool_2 {"a":1}`},
				{"x.y", nil, `x.y {}`},
				{"ask", map[string]any{"message": "Who?"}, `{"action":"accept","content":{"name":"Who?"}}`},
				{"ask", map[string]any{"url": "https://example.org/"}, `{"action":"decline"}`},
				{"roots", nil, `{"roots":[{"uri":"file:///work","name":"work"}]}`},
			}
			for _, tt := range calls {
				if got := call(t, c, tt.name, tt.args); got != tt.want {
					t.Errorf("%s %v = %s, want %s", tt.name, tt.args, got, tt.want)
				}
			}
			if got := call(t, c, "env", nil); !strings.Contains(got, "\nMARKER=of the environment\n") {
				t.Errorf("env = %.100s…", got)
			}
			if got := call(t, c, "sample", map[string]any{"prompt": "Hi"}); !strings.Contains(got, "sampled") {
				t.Errorf("sample = %s", got)
			}
			if got := call(t, c, "none", nil); !strings.Contains(got, "unknown tool") {
				t.Errorf("an unknown tool: %s", got)
			}
		})
	}
}

func TestPromptsAndResources(t *testing.T) {
	c, _ := connect(t)
	prompts, err := c.ListPrompts(t.Context(), mcp.ListPromptsRequest{})
	if err != nil || len(prompts.Prompts) != 1 || prompts.Prompts[0].Name != "greet" {
		t.Errorf("prompts = %+v, %v", prompts, err)
	}
	var get mcp.GetPromptRequest
	get.Params.Name, get.Params.Arguments = "greet", map[string]string{"name": "Ada", "tone": "brief"}
	p, err := c.GetPrompt(t.Context(), get)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Messages[0].Content.(mcp.TextContent).Text; got != "Greet Ada. Be brief." {
		t.Errorf("prompt = %q", got)
	}
	if p, err := c.GetPrompt(t.Context(), mcp.GetPromptRequest{}); err == nil {
		t.Errorf("a prompt without a name = %+v", p)
	}
	list, err := c.ListResources(t.Context(), mcp.ListResourcesRequest{})
	if err != nil || len(list.Resources) != 2 {
		t.Errorf("resources = %+v, %v", list, err)
	}
	templates, err := c.ListResourceTemplates(t.Context(), mcp.ListResourceTemplatesRequest{})
	if err != nil || len(templates.ResourceTemplates) != 1 {
		t.Errorf("templates = %+v, %v", templates, err)
	}
	for uri, want := range map[string]string{"memo://1": "This is memo 1.", "memo://42": "This is memo 42.", "memo://picture": picture, "memo://x": "resource not found"} {
		var r mcp.ReadResourceRequest
		r.Params.URI = uri
		got := ""
		switch result, err := c.ReadResource(t.Context(), r); {
		case err != nil:
			got = err.Error()
		default:
			switch content := result.Contents[0].(type) {
			case mcp.TextResourceContents:
				got = content.Text
			case mcp.BlobResourceContents:
				got = content.Blob
			}
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s = %q, want %q", uri, got, want)
		}
	}
}

func TestListChanges(t *testing.T) {
	for _, revision := range []string{lastHandshake, stateless} {
		t.Run(revision, func(t *testing.T) {
			c, _ := connect(t, "-mode", "listchange", "-revision", revision)
			heard := make(chan string, 10)
			c.OnNotification(func(n mcp.JSONRPCNotification) { heard <- n.Method })
			if revision == stateless {
				stop, err := c.ListenAsync(t.Context(), mcp.SubscriptionFilter{ToolsListChanged: true}, nil)
				if err != nil {
					t.Fatal(err)
				}
				defer stop()
				if got := <-heard; got != "notifications/subscriptions/acknowledged" {
					t.Errorf("heard %s first", got)
				}
			}
			call(t, c, "change", map[string]any{"tools": []string{"a", "b"}})
			if got := <-heard; got != "notifications/tools/list_changed" {
				t.Errorf("heard %s", got)
			}
			if got, want := toolNames(t, c), []string{"change", "a", "b"}; !slices.Equal(got, want) {
				t.Errorf("tools = %q, want %q", got, want)
			}
			call(t, c, "change", map[string]any{"fail": true})
			if _, err := c.ListTools(t.Context(), mcp.ListToolsRequest{}); err == nil {
				t.Error("the list has no error")
			}
		})
	}
}

func TestTasks(t *testing.T) {
	c, _ := connect(t, "-mode", "tasks")
	if got := call(t, c, "task", nil); !strings.Contains(got, "only be called as a task") {
		t.Errorf("a plain call = %s", got)
	}
	var r mcp.CallToolRequest
	r.Params.Name, r.Params.Arguments, r.Params.Task = "task", map[string]any{"ms": 30, "text": "well"}, &mcp.TaskParams{}
	started, err := c.GetTransport().SendRequest(t.Context(), transport.JSONRPCRequest{
		JSONRPC: "2.0", ID: mcp.NewRequestId(int64(1000)), Method: "tools/call", Params: r.Params,
	})
	if err != nil {
		t.Fatal(err)
	}
	var made struct {
		Task struct{ TaskID, Status string }
	}
	if err := json.Unmarshal(started.Result, &made); err != nil || made.Task.Status != "working" {
		t.Fatalf("result = %s, %v", started.Result, err)
	}
	var get mcp.GetTaskRequest
	get.Params.TaskId = made.Task.TaskID
	state, err := c.WaitForTask(t.Context(), get, time.Second)
	if err != nil || state.Status != mcp.TaskStatusCompleted {
		t.Errorf("state = %+v, %v", state, err)
	}
	var want mcp.TaskResultRequest
	want.Params.TaskId = made.Task.TaskID
	result, err := c.TaskResult(t.Context(), want)
	if err != nil || result.Content[0].(mcp.TextContent).Text != "done: well" {
		t.Errorf("result = %+v, %v", result, err)
	}
}

// converse returns the messages that the program of flags writes when it reads in.
func converse(t *testing.T, flags []string, in ...string) []string {
	t.Helper()
	var out bytes.Buffer
	if err := newProgram(t, flags...).pipe(strings.NewReader(strings.Join(in, "\n")), &out); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

// What the stateless revision wants of requests, and gives.
func TestStateless(t *testing.T) {
	request := func(method, params, meta string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params + `"_meta":{` + meta + `}}}`
	}
	const (
		version = `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`
		good    = version + `,"io.modelcontextprotocol/clientCapabilities":{}`
		tasks   = version + `,"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	)
	tests := []struct {
		name, mode, in string
		want           []string // in what it answers
	}{
		{"no version", "", request("tools/list", "", ""), []string{"-32602", "protocolVersion"}},
		{"another version", "", request("tools/list", "", `"io.modelcontextprotocol/protocolVersion":"2027-01-01"`), []string{"-32022", `"supported":["2026-07-28"]`, `"requested":"2027-01-01"`}},
		{"no capabilities", "", request("tools/list", "", version), []string{"-32602", "clientCapabilities"}},
		{"a list", "", request("tools/list", "", good), []string{`"resultType":"complete"`, `"ttlMs":0`, `"io.modelcontextprotocol/serverInfo":{"name":"mcpstub"`}},
		{"a list without what all have", "no-meta", request("tools/list", "", good), []string{`"tools":[`}},
		{"a handshake", "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`, []string{"-32022"}},
		{"a handshake, with both eras", "dual", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`, []string{`"protocolVersion":"2025-06-18"`}},
		{"discover, with both eras", "dual", request("server/discover", "", good), []string{`"supportedVersions":["2026-07-28","2025-11-25"`}},
		{"a question", "", request("tools/call", `"name":"ask",`, good), []string{`"resultType":"input_required"`, `"requestState":"first"`, `"method":"elicitation/create"`}},
		{"an answer", "", request("tools/call", `"name":"ask","inputResponses":{"answer":{"action":"accept"}},"requestState":"first",`, good), []string{`{\"action\":\"accept\"}`}},
		{"an answer of two", "ask-twice", request("tools/call", `"name":"ask","inputResponses":{"answer":{}},"requestState":"first",`, good), []string{`"requestState":"second"`}},
		{"a task", "tasks", request("tools/call", `"name":"task",`, tasks), []string{`"resultType":"task"`, `"taskId":"task-1"`, `"pollIntervalMs"`}},
		{"a task for who knows none", "tasks", request("tools/call", `"name":"task",`, good), []string{`done: `}},
		{"discover, empty", "discover-empty", request("server/discover", "", good), []string{`"result":{}`}},
		{"discover, an error", "discover-zero", request("server/discover", "", good), []string{`"code":0`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := converse(t, []string{"-revision", stateless, "-mode", tt.mode}, tt.in)
			if len(got) != 1 {
				t.Fatalf("%d messages: %q", len(got), got)
			}
			for _, want := range tt.want {
				if tt.mode == "discover-empty" || tt.mode == "no-meta" {
					got[0] = regexp.MustCompile(`"_meta":\{.*?\}\},?|"resultType":"complete",?`).ReplaceAllString(got[0], "")
				}
				if !strings.Contains(got[0], want) {
					t.Errorf("%s has no %s", got[0], want)
				}
			}
		})
	}
}

// How messages are wrong that are wrong.
func TestModesOfMessages(t *testing.T) {
	const (
		initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`
		list       = `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`
		add        = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2}}}`
		sum        = `{"jsonrpc":"2.0","id":7,"result":{"content":[{"text":"3","type":"text"}]}}`
	)
	tests := []struct {
		mode, in string
		want     []string // lines, patterns
	}{
		{"good", add, []string{regexp.QuoteMeta(sum)}},
		{"string-id", add, []string{`"id":"7"`}},
		{"float-id", add, []string{`"id":7.0,`}},
		{"null-id", initialize, []string{`^{"jsonrpc":"2.0","id":null,"error"`}},
		{"null-id-call", add, []string{`^{"jsonrpc":"2.0","id":null,"error"`}},
		{"wrong-id", add, []string{`"id":987654321`, regexp.QuoteMeta(sum)}},
		{"dup", add, []string{regexp.QuoteMeta(sum), regexp.QuoteMeta(sum), regexp.QuoteMeta(sum)}},
		{"no-jsonrpc", add, []string{`^{"id":7,"result"`}},
		{"error-string", add, []string{`"error":"plain string"`}},
		{"error-null", add, []string{`"result":.*"error":null}$`}},
		{"glued", add, []string{`^Listening on port 3000\.\.\. {.*}$`}},
		{"batch", add, []string{`^\[{"jsonrpc":"2.0","method":"notifications/message",.*},{.*}\]$`}},
		{"crlf", add, []string{"}\r$"}},
		{"bom", add, []string{"^\ufeff{"}},
		{"split", add, []string{regexp.QuoteMeta(sum)}},
		{"elicit", add, []string{`elicitation/create`, `roots/list`, `bogus/method`, `asked`}},
		{"future-version", initialize, []string{`"protocolVersion":"2027-01-01"`}},
		{"odd-version", initialize, []string{`"protocolVersion":"2025-01-01"`}},
		{"ping-first", initialize, []string{`"method":"ping"`, `"protocolVersion":"2025-06-18"`}},
		{"no-tools", list, []string{`-32601`}},
		{"list-error", list, []string{`the list is lost`}},
		{"cursor-same", list, []string{`"nextCursor":"again"`}},
		{"cursor-loop", list, []string{`"nextCursor":"1"`}},
		{"tools:schema-true", list, []string{`"name":"t","inputSchema":true`}},
		{"tools:tools-null", list, []string{`"tools":null`}},
		{"result:content-string", add, []string{`"result":{"content": "hello"}`}},
		{"result:invalid-utf8", add, []string{"a\xff\xfeb"}},
		{"result:result-null", add, []string{`"result":null}`}},
		{"never", add, []string{`^$`}},
		{"never-init", initialize, []string{`^$`}},
		{"list-hang", list, []string{`^$`}},
	}
	for _, tt := range tests {
		t.Run(tt.mode, func(t *testing.T) {
			got := converse(t, []string{"-mode", tt.mode}, tt.in)
			if len(got) != len(tt.want) {
				t.Fatalf("%d lines, want %d: %.500q", len(got), len(tt.want), got)
			}
			for i, want := range tt.want {
				if !strings.Contains(got[i], want) && !regexp.MustCompile(want).MatchString(got[i]) {
					t.Errorf("line %d is %q, want %s", i+1, got[i], want)
				}
			}
		})
	}
}

func TestPages(t *testing.T) {
	c, _ := connect(t, "-mode", "pages", "-tools", "10")
	if got := len(toolNames(t, c)); got != 23 {
		t.Errorf("%d tools on all pages, want 23", got)
	}
}

// A call that was cancelled ends, and has no answer but where a mode wants one.
func TestCancel(t *testing.T) {
	t.Run("good", func(t *testing.T) { cancelCall(t, "good", "") })
	t.Run("answered", func(t *testing.T) {
		cancelCall(t, "answer-cancelled", `"id":1,"result":{"content":[{"text":"cancelled"`)
	})
}

func cancelCall(t *testing.T, mode, answer string) {
	in, write := io.Pipe()
	read, out := io.Pipe()
	ended := make(chan error, 1)
	p := newProgram(t, "-mode", mode)
	go func() {
		err := p.pipe(in, out)
		out.Close()
		ended <- err
	}()
	fmt.Fprintln(write, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sleep","arguments":{"ms":600000},"_meta":{"progressToken":"p"}}}`)
	fmt.Fprintln(write, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"sleep","arguments":{"ms":1},"_meta":{"progressToken":"q"}}}`)
	lines := bufio.NewScanner(read)
	for i := range 11 {
		want := fmt.Sprintf(`"progress":%d,"progressToken":"q"`, i+1)
		if i == 10 {
			want = "slept 1 ms"
		}
		if !lines.Scan() || !strings.Contains(lines.Text(), want) {
			t.Errorf("line %q has no %s", lines.Text(), want)
		}
	}
	fmt.Fprintln(write, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	if answer != "" && (!lines.Scan() || !strings.Contains(lines.Text(), answer)) {
		t.Errorf("line %q has no %s", lines.Text(), answer)
	}
	write.Close()
	for lines.Scan() {
		t.Errorf("it writes %s", lines.Text())
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestScenario(t *testing.T) {
	file := filepath.Join(t.TempDir(), "scenario")
	if err := os.WriteFile(file, []byte(`{"tools":[{"name":"files.read"}],"results":{"files.read":{"content":[],"isError":true}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	got := converse(t, []string{"-scenario", file}, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"files.read"}}`)
	slices.Sort(got)
	want := []string{
		`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"files.read"}]}}`,
		`{"jsonrpc":"2.0","id":2,"result":{"content":[],"isError":true}}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Only the first starts are bad.
func TestStarts(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	for i, want := range []bool{true, true, false} {
		p := newProgram(t, "-state", state, "-bad-starts", "2", "-mode", "never")
		if got := p.o.modes.has("never"); got != want {
			t.Errorf("start %d is bad: %t, want %t", i+1, got, want)
		}
	}
	if got, err := countStart(state); err != nil || got != 4 {
		t.Errorf("the next start is %d, %v, want 4", got, err)
	}
}

func TestFlags(t *testing.T) {
	tests := []struct {
		flags []string
		want  string
	}{
		{[]string{"-mode", "good,junk", "-mode", "tools:schema-true"}, ""},
		{[]string{"-mode", "jnuk"}, `invalid value "jnuk" for flag -mode: unknown mode "jnuk"; go doc lists them`},
		{[]string{"-revision", "2025"}, "-revision is one of 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28"},
		{[]string{"-fail-starts", "1"}, "-bad-starts and -fail-starts need -state FILE"},
		{[]string{"junk"}, `unknown argument "junk"; try -help`},
	}
	for _, tt := range tests {
		got := ""
		if _, err := parse(tt.flags, io.Discard); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%q: error = %q, want %q", tt.flags, got, tt.want)
		}
	}
	o, err := parse([]string{"-mode", "result:none"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := start(o); err == nil || !strings.Contains(err.Error(), "variants.json") {
		t.Errorf("an unknown variant: %v", err)
	}
}

// The comment of the package lists the modes that there are.
func TestModesAreDocumented(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(f.Doc.Text(), "# Modes of the process")
	var documented []string
	for _, m := range regexp.MustCompile(`(?m)^\t([a-z][a-z0-9, -]*?)  +\S`).FindAllStringSubmatch(text, -1) {
		documented = append(documented, strings.Split(m[1], ", ")...)
	}
	slices.Sort(documented)
	want := slices.Sorted(slices.Values(modeNames()))
	if diff := cmp.Diff(want, documented); diff != "" {
		t.Errorf("modes (-there are +documented):\n%s", diff)
	}
}
