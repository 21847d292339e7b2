package script_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/script"
)

func parse(t *testing.T, lines ...string) *script.Script {
	t.Helper()
	s, err := script.Parse(strings.NewReader(strings.Join(lines, "\n")), "s.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func open(t *testing.T, lines ...string) model.Streamer {
	t.Helper()
	m, err := parse(t, lines...).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// say is a request of a kind and a session whose last message is text.
func say(kind, session, text string) *model.Request {
	return &model.Request{Kind: kind, Session: session, Messages: []llms.MessageContent{
		llms.TextParts(llms.ChatMessageTypeHuman, "an earlier message"),
		llms.TextParts(llms.ChatMessageTypeHuman, text),
	}}
}

// ask returns the text of the answer, or the error's text in angle brackets.
func ask(t *testing.T, m model.Streamer, req *model.Request) string {
	t.Helper()
	var text strings.Builder
	_, err := m.Stream(t.Context(), req, func(e model.Event) error {
		if s, ok := e.(model.Text); ok {
			text.WriteString(string(s))
		}
		return nil
	})
	if err != nil {
		return text.String() + "<" + err.Error() + ">"
	}
	return text.String()
}

func TestFirstLineThatFitsAndIsNotUsed(t *testing.T) {
	m := open(t,
		`{"match": {"contains": "weather"}, "text": ["rain"]}`,
		``,
		`{"match": {"kind": "title"}, "text": ["A title"], "repeat": true}`,
		`{"match": {"session": "s2"}, "text": ["for s2"]}`,
		`{"text": ["twice"], "repeat": 2}`,
		`{"match": {"kind": "*"}, "text": ["any kind"]}`,
	)
	for i, tt := range []struct {
		req  *model.Request
		want string
	}{
		{say("title", "s1", "the weather"), "A title"},
		{say("main", "s2", "the weather"), "rain"},
		{say("", "s2", "the weather"), "for s2"},
		{say("main", "s1", "x"), "twice"},
		{say("main", "s1", "x"), "twice"},
		{say("route", "s1", "x"), "any kind"},
		{say("title", "s1", "x"), "A title"},
		{
			say("main", "s1", strings.Repeat("é", 100)),
			`<script: invalid request: no unused line of s.jsonl fits the request (kind "main", session "s1", last message "` + strings.Repeat("é", 80) + `…")>`,
		},
	} {
		if got := ask(t, m, tt.req); got != tt.want {
			t.Errorf("request %d: %q, want %q", i, got, tt.want)
		}
	}
}

func TestContainsLooksAtToolResults(t *testing.T) {
	m := open(t, `{"match": {"contains": "42 lines"}, "text": ["read"]}`)
	req := say("main", "s", "x")
	req.Messages = append(req.Messages, llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{
		model.ToolResult{ToolCallResponse: llms.ToolCallResponse{ToolCallID: "1", Name: "read", Content: "it has 42 lines"}},
	}})
	if got := ask(t, m, req); got != "read" {
		t.Errorf("answer = %q, want %q", got, "read")
	}
}

func TestWholeAnswer(t *testing.T) {
	m := open(t, `{"think":["h","m"],"text":"Hello","tools":[{"name":"read","args":{"n":12345678901234567890, "a":"<"}},`+
		`{"name":"bad","args":"{\"x\":"},{"id":"mine","name":"none"}],"usage":{"input":9,"output":4,"cache_read":3,"cache_write":2,"reasoning":1}}`)
	var events []model.Event
	got, err := m.Stream(t.Context(), say("main", "s", "x"), func(e model.Event) error {
		events = append(events, e)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	wantEvents := []model.Event{
		model.Think("h"), model.Think("m"), model.Text("Hello"),
		model.ToolStart{Index: 0, ID: "call_1", Name: "read"}, model.ToolArgs{Index: 0, Fragment: `{"n":12345678901234567890, "a":"<"}`},
		model.ToolStart{Index: 1, ID: "call_2", Name: "bad"}, model.ToolArgs{Index: 1, Fragment: `{"x":`},
		model.ToolStart{Index: 2, ID: "mine", Name: "none"}, model.ToolArgs{Index: 2, Fragment: `{}`},
	}
	if diff := cmp.Diff(wantEvents, events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	call := func(id, name, args string) llms.ToolCall {
		return llms.ToolCall{ID: id, Type: "function", FunctionCall: &llms.FunctionCall{Name: name, Arguments: args}}
	}
	want := &model.Reply{
		Parts: []llms.ContentPart{
			model.Reasoning{TextContent: llms.TextContent{Text: "hm"}, Provider: "script:s.jsonl"},
			llms.TextContent{Text: "Hello"},
			call("call_1", "read", `{"n":12345678901234567890, "a":"<"}`), call("call_2", "bad", `{"x":`), call("mine", "none", `{}`),
		},
		Stop: model.StopTools, Model: "script",
		Usage: model.Usage{Input: 9, Output: 4, CacheRead: 3, CacheWrite: 2, Reasoning: 1, Known: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("reply (-want +got):\n%s", diff)
	}
}

func TestStopAndUnknownUsage(t *testing.T) {
	for _, tt := range []struct {
		line string
		want model.Stop
	}{
		{`{"text":["a"]}`, model.StopEnd},
		{`{"text":["a"],"stop":"length"}`, model.StopLength},
		{`{"stop":"refusal"}`, model.StopRefusal},
	} {
		r, err := open(t, tt.line).Stream(t.Context(), say("main", "s", "x"), func(model.Event) error { return nil })
		if err != nil || r.Stop != tt.want || r.Usage.Known {
			t.Errorf("%s: %+v (%v), want stop %q and no usage", tt.line, r, err, tt.want)
		}
	}
}

func TestErrors(t *testing.T) {
	tests := []struct {
		line      string
		kind      model.Kind
		temporary bool
		partial   bool
	}{
		{`{"error":{"status":503}}`, model.Overloaded, true, false},
		{`{"error":{"status":529,"retryable":true}}`, model.Overloaded, true, false},
		{`{"error":{"status":500,"retryable":false}}`, model.Overloaded, false, false},
		{`{"error":{"status":429,"retry_after":7}}`, model.RateLimit, true, false},
		{`{"error":{"status":0}}`, model.Connection, true, false},
		{`{"error":{"status":400}}`, model.Invalid, false, false},
		{`{"error":{"status":400,"retryable":true}}`, model.Overloaded, true, false},
		{`{"error":{"status":400,"kind":"context overflow"}}`, model.TokenLimit, false, false},
		{`{"error":{"status":401}}`, model.Auth, false, false},
		{`{"error":{"status":402}}`, model.Quota, false, false},
		{`{"text":["a"],"error":{"status":503}}`, model.Overloaded, true, true},
	}
	for _, tt := range tests {
		t.Run(tt.line, func(t *testing.T) {
			_, err := open(t, tt.line).Stream(t.Context(), say("main", "s", "x"), func(model.Event) error { return nil })
			e, ok := errors.AsType[*model.Error](err)
			if !ok || e.Kind != tt.kind || e.Temporary() != tt.temporary || e.Partial != tt.partial {
				t.Errorf("error = %+v, want kind %q, temporary %v, partial %v", err, tt.kind, tt.temporary, tt.partial)
			}
		})
	}
}

func TestFailBuild(t *testing.T) {
	s := parse(t,
		`{"match":{"kind":"title"},"text":["a title"]}`,
		`{"fail_build":2}`,
		`{"text":["one"]}`,
		`{"fail_build":true,"text":["two"]}`,
	)
	fails := func() {
		t.Helper()
		_, err := s.Open(t.Context())
		if e, ok := errors.AsType[*model.Error](err); !ok || e.Kind != model.Unavailable {
			t.Errorf("Open = %v, want a model that is not available", err)
		}
	}
	opens := func(want string) {
		t.Helper()
		m, err := s.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := ask(t, m, say("main", "s", "x")); got != want {
			t.Errorf("answer = %q, want %q", got, want)
		}
	}
	fails()
	fails()
	opens("one") // the state of the script outlives the models
	fails()
	opens("two")
}

func TestDelayPassesBeforeEachPiece(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := open(t, `{"think":["a"],"text":["b","c"],"tools":[{"name":"d"}],"delay_ms":50}`)
		start := time.Now()
		var at []time.Duration
		if _, err := m.Stream(t.Context(), say("main", "s", "x"), func(model.Event) error {
			at = append(at, time.Since(start))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		ms := time.Millisecond
		if want := []time.Duration{50 * ms, 100 * ms, 150 * ms, 200 * ms, 200 * ms}; !cmp.Equal(want, at) {
			t.Errorf("events at %v, want %v", at, want)
		}
	})
}

func TestCancelDuringDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 70*time.Millisecond)
		defer cancel()
		m := open(t, `{"text":["a","b"],"delay_ms":50}`)
		start := time.Now()
		r, err := m.Stream(ctx, say("main", "s", "x"), func(model.Event) error { return nil })
		want := []llms.ContentPart{llms.TextContent{Text: "a"}}
		if !errors.Is(err, context.Canceled) || time.Since(start) != 70*time.Millisecond || !cmp.Equal(want, r.Parts) {
			t.Errorf("after %v: %v, %+v; want cancelled at 70ms with the first piece", time.Since(start), err, r)
		}
	})
}

func TestSinkEndsTheAnswer(t *testing.T) {
	gone := errors.New("nobody watches")
	_, err := open(t, `{"text":["a","b"]}`).Stream(t.Context(), say("main", "s", "x"), func(model.Event) error { return gone })
	if err != gone {
		t.Errorf("error = %v, want that of the sink", err)
	}
}

func TestConcurrentRequestsUseEachLineOnce(t *testing.T) {
	m := open(t, `{"text":["a"],"repeat":50}`)
	var wg sync.WaitGroup
	got := make([]string, 60)
	for i := range got {
		wg.Go(func() { got[i] = ask(t, m, say("main", "s", "x")) })
	}
	wg.Wait()
	n := 0
	for _, text := range got {
		if text == "a" {
			n++
		}
	}
	if n != 50 {
		t.Errorf("%d answers, want 50", n)
	}
}

func TestMistakesNameTheirLine(t *testing.T) {
	tests := []struct{ lines, want string }{
		{"{}\n\n{\"txet\":[]}", `s.jsonl:3: json: unknown field "txet"`},
		{`{"match":{"kinds":"main"}}`, `s.jsonl:1: json: unknown field "kinds"`},
		{`{"tools":[{"name":"a","argz":{}}]}`, `unknown field "argz"`},
		{`{"error":{"statuz":1}}`, `unknown field "statuz"`},
		{`{"text":["a"]`, "s.jsonl:1: unexpected EOF"},
		{`{} {}`, "s.jsonl:1: a line is one object"},
		{`[]`, "s.jsonl:1: json:"},
		{`{"stop":"end"}`, `s.jsonl:1: stop "end" is not one of`},
		{`{"delay_ms":-1}`, "must not be negative"},
		{`{"repeat":-1}`, "a count is a number"},
		{`{"tools":[{}]}`, "tool 1 has no name"},
		{`{"error":{"kind":"rate_limit"}}`, `error kind "rate_limit" is not one of`},
	}
	for _, tt := range tests {
		t.Run(tt.lines, func(t *testing.T) {
			_, err := script.Parse(strings.NewReader(tt.lines), "s.jsonl")
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want one with %q", err, tt.want)
			}
		})
	}
}

func TestLoadNamesAMissingFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.jsonl")
	if _, err := script.Load(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("Load = %v, want an error with the path", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"text":["a"],"repeat":true}`)
	f.Add(`{"tools":[{"name":"a","args":"{"}],"fail_build":3}`)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := script.Parse(strings.NewReader(text), "s.jsonl")
		if err != nil {
			if !strings.Contains(err.Error(), "s.jsonl") {
				t.Errorf("error %q does not name the script", err)
			}
			return
		}
		if m, err := s.Open(t.Context()); err == nil {
			ctx, cancel := context.WithCancel(t.Context())
			cancel() // a delay may be long
			_, err = m.Stream(ctx, &model.Request{}, func(model.Event) error { return errors.New("enough") })
			if _, ok := errors.AsType[*model.Error](err); err != nil && !ok && err.Error() != "enough" {
				t.Errorf("error = %v, want one of the model", err)
			}
		}
	})
}
