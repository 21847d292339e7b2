package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	mcpclient "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// serve serves the program of flags, and returns the URL of its server.
func serve(t *testing.T, flags ...string) string {
	t.Helper()
	w := newProgram(t, flags...).newSite()
	s := httptest.NewServer(w.handler())
	t.Cleanup(s.Close)
	return s.URL + w.path()
}

// dial connects the client of mcp-go to a server, and returns its error.
func dial(t *testing.T, url string, header map[string]string) (*mcpclient.Client, *mcp.InitializeResult, error) {
	t.Helper()
	var carrier transport.Interface
	carrier, err := transport.NewStreamableHTTP(url, transport.WithHTTPHeaders(header))
	if strings.HasSuffix(url, "/sse") {
		carrier, err = transport.NewSSE(url, transport.WithHeaders(header))
	}
	if err != nil {
		t.Fatal(err)
	}
	c := mcpclient.NewClient(carrier,
		mcpclient.WithElicitationHandler(person{}), mcpclient.WithSamplingHandler(person{}), mcpclient.WithRootsHandler(person{}))
	t.Cleanup(func() { c.Close() }) // the server may be gone
	if err := c.Start(t.Context()); err != nil {
		return nil, nil, err
	}
	r, err := c.Initialize(t.Context(), mcp.InitializeRequest{})
	return c, r, err
}

// echo calls the tool of that name.
func echo(ctx context.Context, c *mcpclient.Client) (string, error) {
	r, err := c.CallTool(ctx, mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"text": "hello"}}})
	if err != nil {
		return "", err
	}
	text, _ := mcp.AsTextContent(r.Content[0])
	return text.Text, nil
}

// A client that others wrote works with the stub over each of the ways.
func TestPeersOverHTTP(t *testing.T) {
	tests := []struct {
		name  string
		flags []string
		want  string // revision
	}{
		{"sessions", []string{"-http", "x"}, "2025-11-25"},
		{"sessions and streams", []string{"-http", "x", "-mode", "http-stream"}, "2025-11-25"},
		{"no sessions", []string{"-http", "x", "-revision", "2026-07-28"}, "2026-07-28"},
		{"both", []string{"-http", "x", "-revision", "2026-07-28", "-mode", "dual"}, "2026-07-28"},
		{"events", []string{"-sse", "x"}, "2025-11-25"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, r, err := dial(t, serve(t, tt.flags...), nil)
			if err != nil {
				t.Fatal(err)
			}
			if r.ProtocolVersion != tt.want {
				t.Errorf("revision = %s, want %s", r.ProtocolVersion, tt.want)
			}
			if got, err := echo(t.Context(), c); got != "hello" || err != nil {
				t.Errorf("echo = %q, %v", got, err)
			}
			if tt.name == "events" { // over which this client answers nobody
				return
			}
			answer, err := c.CallTool(t.Context(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "ask", Arguments: map[string]any{"message": "who?"}}})
			if err != nil {
				t.Fatal(err)
			}
			if text, _ := mcp.AsTextContent(answer.Content[0]); !strings.Contains(text.Text, `"name":"who?"`) {
				t.Errorf("ask = %+v", answer.Content)
			}
		})
	}
}

func TestModesOfHTTP(t *testing.T) {
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	tests := []struct {
		name   string
		flags  []string
		header map[string]string
		status []int // of four requests to begin a session
	}{
		{"no credential", []string{"-mode", "http-401"}, nil, []int{401, 401, 401, 401}},
		{"a credential", []string{"-mode", "http-401", "-token", "T"}, map[string]string{"Authorization": "Bearer T"}, []int{200, 200, 200, 200}},
		{"forbidden", []string{"-mode", "http-403"}, nil, []int{403, 403, 403, 403}},
		{"busy", []string{"-mode", "http-429", "-count", "2"}, nil, []int{429, 429, 200, 200}},
		{"down", []string{"-mode", "http-503"}, nil, []int{503, 200, 200, 200}},
		{"elsewhere", []string{"-mode", "http-redirect", "-redirect", other.URL}, nil, []int{307, 307, 307, 307}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			url := serve(t, append(tt.flags, "-http", "x")...)
			var got []int
			for range tt.status {
				res := exchange(t, http.MethodPost, url, tt.header, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`)
				got = append(got, res.StatusCode)
			}
			if diff := cmp.Diff(tt.status, got); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
		})
	}
}

// exchange sends one request that is not redirected.
func exchange(t *testing.T, method, url string, header map[string]string, body string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range header {
		r.Header.Set(name, value)
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	return res
}

func TestDroppedSession(t *testing.T) {
	c, _, err := dial(t, serve(t, "-http", "x", "-mode", "http-drop-session", "-count", "2"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		_, err := echo(t.Context(), c)
		if lost := errors.Is(err, transport.ErrSessionTerminated); lost != (n == 2) {
			t.Errorf("call %d: %v", n, err)
		}
	}
}

func TestCutStream(t *testing.T) {
	c, _, err := dial(t, serve(t, "-http", "x", "-mode", "http-cut"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := echo(t.Context(), c); err == nil {
		t.Errorf("echo = %q, want an error", got)
	}
	if got, err := echo(t.Context(), c); got != "hello" || err != nil {
		t.Errorf("the second echo = %q, %v", got, err)
	}
}

// What has no session gets no stream, and what has one does where the mode lets it.
func TestStream(t *testing.T) {
	for _, tt := range []struct {
		flags []string
		want  []int // of a stream without a session, and with one that is not
	}{
		{[]string{"-http", "x"}, []int{400, 404}},
		{[]string{"-http", "x", "-mode", "http-no-get"}, []int{405, 405}},
		{[]string{"-http", "x", "-revision", "2026-07-28"}, []int{405, 405}},
	} {
		url := serve(t, tt.flags...)
		none := exchange(t, http.MethodGet, url, nil, "")
		lost := exchange(t, http.MethodGet, url, map[string]string{"Mcp-Session-Id": "gone"}, "")
		if diff := cmp.Diff(tt.want, []int{none.StatusCode, lost.StatusCode}); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.flags, diff)
		}
	}
}

// A request of the stateless revision says in its headers what it is.
func TestHeadersOfRequests(t *testing.T) {
	url := serve(t, "-http", "x", "-revision", "2026-07-28")
	const body = `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"memo://1","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	for _, tt := range []struct{ revision, method, name, want string }{
		{"2026-07-28", "resources/read", "memo://1", "This is memo 1."},
		{"2026-07-28", "resources/read", "=?base64?bWVtbzovLzE=?=", "This is memo 1."},
		{"", "resources/read", "memo://1", "MCP-Protocol-Version"},
		{"2026-07-28", "tools/call", "memo://1", "Mcp-Method"},
		{"2026-07-28", "resources/read", "memo://2", "Mcp-Name"},
	} {
		res := exchange(t, http.MethodPost, url, map[string]string{
			"MCP-Protocol-Version": tt.revision, "Mcp-Method": tt.method, "Mcp-Name": tt.name,
		}, body)
		text, err := io.ReadAll(res.Body)
		if err != nil || !strings.Contains(string(text), tt.want) {
			t.Errorf("%+v: %s (%v)", tt, text, err)
		}
	}
}

// The program tells where it is, and writes down what it was sent.
func TestAddress(t *testing.T) {
	dir := t.TempDir()
	bin := filepath.Join(dir, "mcpstub")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	log := filepath.Join(dir, "log")
	cmd := exec.CommandContext(t.Context(), bin, "-http", "127.0.0.1:0", "-log", log)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var at struct{ URL string }
	if err := json.Unmarshal(line, &at); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	if _, _, err := dial(t, at.URL, map[string]string{"X-Key": "k"}); err != nil {
		t.Error(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), `"event":"http"`) || !strings.Contains(string(text), `"X-Key":["k"]`) {
		t.Errorf("log:\n%s", text)
	}
}
