package ollama_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/internal/streamtest"
	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
	"github.com/lorimer-dev/lorimer/harness/model/ollama"
)

func TestAnswer(t *testing.T) {
	c := client(model.Descriptor{Provider: "ollama", ID: "m"},
		says(`"content":"","thinking":"Let me "`), says(`"content":"","thinking":"think."`),
		says(`"content":"I "`), says(`"content":"löok."`),
		says(`"content":"","tool_calls":[{"id":"call_1","function":{"index":0,"name":"read","arguments":{"path":"<ä>", "n":12345678901234567890}}}]`),
		done(`,"done_reason":"stop","total_duration":5,"prompt_eval_count":300,"prompt_eval_cached_count":256,"eval_count":40`))
	events, reply, err := modeltest.Collect(t.Context(), c, modeltest.Ask("go"))
	if err != nil {
		t.Fatal(err)
	}
	const args = `{"path":"<ä>", "n":12345678901234567890}`
	wantEvents := []model.Event{
		model.Think("Let me "), model.Think("think."), model.Text("I "), model.Text("löok."),
		model.ToolStart{Index: 0, ID: "call_1", Name: "read"}, model.ToolArgs{Index: 0, Fragment: args},
	}
	if diff := cmp.Diff(wantEvents, events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	want := &model.Reply{
		Parts: []llms.ContentPart{
			model.Reasoning{TextContent: llms.TextContent{Text: "Let me think."}, Provider: "ollama/m", Field: "thinking"},
			llms.TextContent{Text: "I löok."},
			llms.ToolCall{ID: "call_1", Type: "function", FunctionCall: &llms.FunctionCall{Name: "read", Arguments: args}},
		},
		Stop: model.StopTools, RawStop: "stop", Model: "m",
		Usage: model.Usage{Input: 300, Output: 40, CacheRead: 256, Known: true},
	}
	if diff := cmp.Diff(want, reply); diff != "" {
		t.Errorf("reply (-want +got):\n%s", diff)
	}
}

func TestCalls(t *testing.T) { // C105
	const read = `{"function":{"name":"read","arguments":{"path":"a"}}}`
	tests := []struct {
		name  string
		lines []string // each the calls of one line
		want  []call
	}{
		{"without an id", []string{read}, []call{{"new", "read", `{"path":"a"}`}}},
		{"two in a line", []string{`{"function":{"index":0,"name":"read","arguments":{}}},{"function":{"index":1,"name":"grep","arguments":{}}}`},
			[]call{{"new", "read", "{}"}, {"new", "grep", "{}"}}},
		{"in two lines under one index", []string{`{"function":{"index":0,"name":"read","arguments":{}}}`, `{"function":{"index":0,"name":"grep","arguments":{}}}`},
			[]call{{"new", "read", "{}"}, {"new", "grep", "{}"}}},
		{"told twice", []string{read, read}, []call{{"new", "read", `{"path":"a"}`}}},
		{"told twice with an id", []string{`{"id":"a","function":{"name":"read","arguments":{}}}`, `{"id":"a","function":{"name":"read","arguments":{}}}`},
			[]call{{"a", "read", "{}"}}},
		{"the same under two ids", []string{`{"id":"a","function":{"name":"read","arguments":{}}}`, `{"id":"b","function":{"name":"read","arguments":{}}}`},
			[]call{{"a", "read", "{}"}, {"b", "read", "{}"}}},
		{"two under one id", []string{`{"id":"a","function":{"name":"read","arguments":{}}}`, `{"id":"a","function":{"name":"grep","arguments":{}}}`},
			[]call{{"a", "read", "{}"}, {"new", "grep", "{}"}}},
		{"without arguments", []string{`{"function":{"name":"read"}}`, `{"function":{"name":"grep","arguments":null}}`},
			[]call{{"new", "read", "{}"}, {"new", "grep", "{}"}}},
		{"arguments in a string", []string{`{"function":{"name":"read","arguments":"{\"path\":\"a\"}"}}`}, []call{{"new", "read", `{"path":"a"}`}}},
		{"arguments that are no object", []string{`{"function":{"name":"read","arguments":[1]}}`}, []call{{"new", "read", "[1]"}}},
		{"no name", []string{`{"function":{"arguments":{"a":1}}}`}, []call{{"new", "", `{"a":1}`}}},
		{"nothing", []string{`{"function":{}}`}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var lines []string
			for _, l := range tt.lines {
				lines = append(lines, says(`"content":"","tool_calls":[`+l+`]`))
			}
			_, reply, err := modeltest.Collect(t.Context(), client(model.Descriptor{ID: "m"}, append(lines, done(stopped))...), modeltest.Ask("go"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, callsOf(reply)); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			if want := map[bool]model.Stop{true: model.StopTools, false: model.StopEnd}[len(tt.want) > 0]; reply.Stop != want {
				t.Errorf("Stop = %q, want %q", reply.Stop, want)
			}
		})
	}
}

func TestUsage(t *testing.T) {
	tests := []struct {
		name, members string
		want          model.Usage
	}{
		{"reported", `,"prompt_eval_count":26,"eval_count":9`, model.Usage{Input: 26, Output: 9, Known: true}},
		{"with what was cached", `,"prompt_eval_count":26,"prompt_eval_cached_count":20,"eval_count":9`, model.Usage{Input: 26, Output: 9, CacheRead: 20, Known: true}},
		{"more cached than there is", `,"prompt_eval_count":26,"prompt_eval_cached_count":30`, model.Usage{Input: 26, CacheRead: 26, Known: true}},
		{"an answer of nothing", `,"prompt_eval_count":26`, model.Usage{Input: 26, Known: true}},
		{"the prompt was in the cache", `,"eval_count":9`, model.Usage{}},
		{"some of it was in the cache", `,"prompt_eval_count":2,"eval_count":9`, model.Usage{}},
		{"none", ``, model.Usage{}},
		{"unreadable", `,"prompt_eval_count":"many","eval_count":{"a":1}`, model.Usage{}},
		{"beyond reason", `,"prompt_eval_count":1e30`, model.Usage{}},
		{"with a point", `,"prompt_eval_count":26.0,"eval_count":9.0`, model.Usage{Input: 26, Output: 9, Known: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, reply, err := modeltest.Collect(t.Context(), client(model.Descriptor{ID: "m"}, says(`"content":"ok"`), done(tt.members)), modeltest.Ask("go"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, reply.Usage); diff != "" {
				t.Errorf("usage (-want +got):\n%s", diff)
			}
		})
	}
}

// A call may write a large file.
func TestLargeArgument(t *testing.T) {
	const n = 4 << 20 // in one line, beyond every buffer
	args := `{"content":"` + strings.Repeat("x", n) + `"}`
	c := client(model.Descriptor{ID: "m"}, says(`"tool_calls":[{"function":{"name":"write","arguments":`+args+`}}]`), done(stopped))
	_, reply, err := modeltest.Collect(t.Context(), c, modeltest.Ask("go"))
	if err != nil {
		t.Fatal(err)
	}
	if got := callsOf(reply); len(got) != 1 || got[0].Args != args {
		t.Errorf("%d calls, arguments not as they were sent", len(got))
	}
}

// Whatever a server sends, the events tell exactly the calls of the reply, and
// an answer is an error or complete.
func FuzzStream(f *testing.F) {
	f.Add(stream(says(`"content":"a"`), done(stopped)))
	f.Add(stream(says(`"tool_calls":[{"id":"a","function":{"name":"read","arguments":"{}"}},{"function":{"arguments":1}}]`), done("")))
	f.Add(stream(`{"error":{"message":"x"}}`))
	f.Add(stream(`{"done":true,"done_reason":"length","prompt_eval_count":-1,"eval_count":null}`))
	f.Fuzz(func(t *testing.T, s string) {
		c := ollama.New(model.Descriptor{ID: "m", Window: 64}, ollama.Options{Client: streamtest.Client(s)})
		events, reply, err := modeltest.Collect(t.Context(), c, modeltest.Ask("go"))
		if err != nil {
			if _, ok := errors.AsType[*model.Error](err); !ok {
				t.Errorf("error = %v, want a *model.Error", err)
			}
			return
		}
		starts := 0
		for _, e := range events {
			if _, ok := e.(model.ToolStart); ok {
				starts++
			}
		}
		if n := len(callsOf(reply)); n != starts {
			t.Errorf("%d calls in the reply, %d started", n, starts)
		}
	})
}

func BenchmarkChunk(b *testing.B) {
	const n = 1000
	word := `{"model":"qwen3:8b","created_at":"2026-01-02T03:04:05.678901Z","message":{"role":"assistant","content":" word"},"done":false}`
	s := strings.Repeat(word+"\n", n) + done(stopped)
	c := ollama.New(model.Descriptor{ID: "m"}, ollama.Options{Client: streamtest.Client(s)})
	req := modeltest.Ask("go")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Stream(b.Context(), req, func(model.Event) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/chunk")
}
