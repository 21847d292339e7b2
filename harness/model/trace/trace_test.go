package trace_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/trace"
)

// silent is a model that answers nothing.
var silent = model.Func(func(context.Context, *model.Request, func(model.Event) error) (*model.Reply, error) {
	return &model.Reply{Stop: model.StopEnd}, nil
})

// lines decodes the lines of a trace.
func lines(t *testing.T, path string) []map[string]any {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all []map[string]any
	sc := bufio.NewScanner(bytes.NewReader(data))
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		var m map[string]any
		if err := json.Unmarshal(sc.Bytes(), &m); err != nil {
			t.Fatalf("line %q: %v", sc.Text(), err)
		}
		all = append(all, m)
	}
	return all
}

func openTrace(t *testing.T, secrets ...string) (*trace.File, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	f, err := trace.Open(path, secrets...)
	if err != nil {
		t.Fatal(err)
	}
	return f, path
}

func TestRequestLine(t *testing.T) {
	f, path := openTrace(t)
	zero := 0.0
	req := &model.Request{
		Kind: "main", Session: "s1", Signature: "abc", System: "You are <b>&\nmore", MaxTokens: 100, Temperature: &zero,
		Effort: model.EffortLow, NoTools: true, Callable: []string{"read"},
		Tools: []model.Tool{
			{Name: "read", Description: "reads", Schema: json.RawMessage(`{"z":1,"a":12345678901234567890}`)},
			{Name: "bash", Description: "runs"},
		},
		Messages: []llms.MessageContent{
			{Role: llms.ChatMessageTypeHuman, Parts: []llms.ContentPart{llms.TextContent{Text: "hi"}, llms.BinaryPart("image/png", make([]byte, 9))}},
			{Role: llms.ChatMessageTypeAI, Parts: []llms.ContentPart{
				model.Reasoning{TextContent: llms.TextContent{Text: "hm"}, Provider: "p/m"},
				llms.ToolCall{ID: "c1", FunctionCall: &llms.FunctionCall{Name: "read", Arguments: `{"a":`}},
				model.Extra{ToolCall: llms.ToolCall{ID: "c2", FunctionCall: &llms.FunctionCall{Name: "read", Arguments: `{}`}}, Provider: "p/m"},
			}},
			{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{
				model.ToolResult{ToolCallResponse: llms.ToolCallResponse{ToolCallID: "c1", Name: "read", Content: "bad"}, IsError: true, Images: []llms.BinaryContent{{MIMEType: "image/gif", Data: []byte("x")}}},
				llms.ToolCallResponse{ToolCallID: "c2", Name: "read", Content: "fine"},
			}},
		},
	}
	if _, err := trace.Wrap(silent, f).Stream(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	got := lines(t, path)
	if len(got) != 1 {
		t.Fatalf("%d lines, want 1", len(got))
	}
	if at, err := time.Parse(time.RFC3339Nano, got[0]["time"].(string)); err != nil || time.Since(at) > time.Hour {
		t.Errorf("time = %v (%v)", got[0]["time"], err)
	}
	if got[0]["pid"] != float64(os.Getpid()) {
		t.Errorf("pid = %v, want %d", got[0]["pid"], os.Getpid())
	}
	delete(got[0], "time")
	delete(got[0], "pid")
	var want map[string]any
	if err := json.Unmarshal([]byte(`{"type":"model","seq":1,"session":"s1","kind":"main","signature":"abc","system":"You are <b>&\nmore",
		"messages":[
			{"role":"user","parts":[{"type":"text","text":"hi"},{"type":"image","mime":"image/png","bytes":9}]},
			{"role":"assistant","parts":[{"type":"reasoning","text":"hm","provider":"p/m"},
				{"type":"tool_call","id":"c1","name":"read","args":"{\"a\":"},{"type":"tool_call","id":"c2","name":"read","args":"{}","provider":"p/m"}]},
			{"role":"tool","parts":[{"type":"tool_result","id":"c1","name":"read","text":"bad","is_error":true,"images":[{"type":"image","mime":"image/gif","bytes":1}]},
				{"type":"tool_result","id":"c2","name":"read","text":"fine"}]}],
		"tools":["read","bash"],
		"tool_schemas":[{"name":"read","description":"reads","schema":{"z":1,"a":12345678901234567890}},{"name":"bash","description":"runs"}],
		"callable":["read"],"no_tools":true,"effort":"low","limits":{"max_tokens":100,"temperature":0}}`), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got[0]); diff != "" {
		t.Errorf("line (-want +got):\n%s", diff)
	}
}

func TestSchemaKeepsItsBytes(t *testing.T) {
	f, path := openTrace(t)
	schema := `{"z":1,"a":"<&>"}`
	req := &model.Request{Tools: []model.Tool{{Name: "t", Schema: json.RawMessage(schema)}}}
	if _, err := trace.Wrap(silent, f).Stream(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil || !bytes.Contains(data, []byte(schema)) {
		t.Errorf("trace %s (%v) does not hold %s", data, err, schema)
	}
}

func TestTaskRequest(t *testing.T) {
	f, path := openTrace(t)
	if _, err := trace.Wrap(silent, f).Stream(t.Context(), &model.Request{Kind: "title"}, nil); err != nil {
		t.Fatal(err)
	}
	got := lines(t, path)[0]
	if got["kind"] != "task" || got["task_kind"] != "title" {
		t.Errorf("kind %v, task_kind %v; want task, title", got["kind"], got["task_kind"])
	}
}

func TestTurnAndOtherLines(t *testing.T) {
	f, path := openTrace(t)
	f.Turn(trace.Turn{Session: "s", Harness: "rebuilt", Changed: []string{"model"}, Signature: "x", Intent: "auto", RouteRule: "off"})
	f.Write("billing", struct {
		Key string `json:"key"`
	}{"k"})
	f.Write("settings", struct{}{})
	got := lines(t, path)
	for _, m := range got {
		delete(m, "time")
		delete(m, "pid")
	}
	want := []map[string]any{
		{"type": "turn", "seq": 1.0, "session": "s", "harness": "rebuilt", "changed": []any{"model"}, "signature": "x", "intent": "auto", "route_rule": "off"},
		{"type": "billing", "seq": 2.0, "key": "k"},
		{"type": "settings", "seq": 3.0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func TestSecretsNeverAppear(t *testing.T) {
	f, path := openTrace(t, "sk-secret-1", `with"quote\and<more`, "", "none")
	f.Redact("sk-secret-1-longer")
	req := &model.Request{System: `key sk-secret-1-longer, sk-secret-1, with"quote\and<more, none`}
	if _, err := trace.Wrap(silent, f).Stream(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	want := "key [REDACTED], [REDACTED], [REDACTED], none"
	if got := lines(t, path)[0]["system"]; got != want {
		t.Errorf("system = %q, want %q", got, want)
	}
}

func TestNilFileIsOff(t *testing.T) {
	var f *trace.File
	f.Turn(trace.Turn{})
	f.Redact("x")
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if _, err := trace.Wrap(silent, f).Stream(t.Context(), &model.Request{}, nil); err != nil {
		t.Error(err)
	}
}

func TestFileIsPrivateAndAppended(t *testing.T) {
	f, path := openTrace(t)
	f.Turn(trace.Turn{Session: "one"})
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	g, err := trace.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	g.Turn(trace.Turn{Session: "two"})
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode = %v (%v), want 0600", info.Mode(), err)
	}
	if got := lines(t, path); len(got) != 2 || got[0]["session"] != "one" || got[1]["session"] != "two" {
		t.Errorf("lines = %v, want both", got)
	}
}

func TestCloseTellsOfLostLines(t *testing.T) {
	f, err := trace.Open("/dev/full")
	if err != nil {
		t.Skip(err)
	}
	f.Turn(trace.Turn{})
	if err := f.Close(); err == nil || !strings.Contains(err.Error(), "writing trace") {
		t.Errorf("Close = %v, want an error about the trace", err)
	}
}

func TestOpenNamesThePath(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "trace.jsonl")
	if _, err := trace.Open(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("Open = %v, want an error with the path", err)
	}
}

// TestProcesses has several processes and goroutines append at once; a line
// must never be torn.
func TestProcesses(t *testing.T) {
	const variable, perProcess = "TRACE_TEST_FILE", 100
	if path := os.Getenv(variable); path != "" {
		f, err := trace.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				for j := range perProcess / 4 {
					f.Turn(trace.Turn{Session: strings.Repeat("x", 5000), Signature: strconv.Itoa(i*1000 + j)})
				}
			})
		}
		wg.Wait()
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		return
	}
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	var wg sync.WaitGroup
	for range 3 {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProcesses$")
		cmd.Env = append(os.Environ(), variable+"="+path)
		wg.Go(func() {
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	wg.Wait()
	last := map[any]float64{}
	got := lines(t, path)
	for _, m := range got {
		if m["seq"] != last[m["pid"]]+1 {
			t.Errorf("process %v: seq %v follows %v", m["pid"], m["seq"], last[m["pid"]])
		}
		last[m["pid"]] = m["seq"].(float64)
	}
	if len(got) != 3*perProcess {
		t.Errorf("%d lines, want %d", len(got), 3*perProcess)
	}
}
