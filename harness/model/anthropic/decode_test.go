package anthropic_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/anthropic"
	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// canned answers every request with the same stream.
type canned string

func (c canned) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(c)))}, nil
}

func client(events ...string) *anthropic.Client {
	var b strings.Builder
	for _, e := range events {
		b.WriteString("data: " + e + "\n\n")
	}
	return anthropic.New(model.Descriptor{Provider: "anthropic", ID: "claude-opus-4-7"}, anthropic.Options{Client: &http.Client{Transport: canned(b.String())}})
}

const (
	start = `{"type":"message_start","message":{"model":"claude","usage":{"input_tokens":3,"cache_creation_input_tokens":109075,"cache_read_input_tokens":0,"output_tokens":1}}}`
	stop  = `{"type":"message_stop"}`
)

func open(block string) string {
	return `{"type":"content_block_start","index":0,"content_block":` + block + `}`
}
func grow(delta string) string {
	return `{"type":"content_block_delta","index":0,"delta":` + delta + `}`
}
func end(reason string) string {
	return `{"type":"message_delta","delta":{"stop_reason":"` + reason + `"},"usage":{"output_tokens":81,"output_tokens_details":{"thinking_tokens":7}}}`
}

const closed = `{"type":"content_block_stop","index":0}`

var text = []string{open(`{"type":"text","text":""}`), grow(`{"type":"text_delta","text":"pa"}`), grow(`{"type":"text_delta","text":"rt"}`), closed}

func with(events ...any) (out []string) {
	for _, e := range events {
		switch e := e.(type) {
		case string:
			out = append(out, e)
		case []string:
			out = append(out, e...)
		}
	}
	return out
}

func TestParts(t *testing.T) {
	const ref = "anthropic/claude-opus-4-7"
	said := llms.TextContent{Text: "part"}
	call := func(args string) llms.ToolCall {
		return llms.ToolCall{ID: "t", Type: "function", FunctionCall: &llms.FunctionCall{Name: "read", Arguments: args}}
	}
	use := open(`{"type":"tool_use","id":"t","name":"read","input":{}}`)
	tests := []struct {
		name   string
		events []string
		want   []llms.ContentPart
		stop   model.Stop
	}{
		{"text", with(start, `{"type":"ping"}`, text, end("end_turn"), stop), []llms.ContentPart{said}, model.StopEnd},
		{"stop sequence", with(start, text, end("stop_sequence"), stop), []llms.ContentPart{said}, model.StopEnd},
		{"limit", with(start, text, end("max_tokens"), stop), []llms.ContentPart{said}, model.StopLength},
		{"window", with(start, text, end("model_context_window_exceeded"), stop), []llms.ContentPart{said}, model.StopContext},
		{"C018 refusal", with(start, text, end("refusal"), stop), []llms.ContentPart{said}, model.StopRefusal},
		{"pause", with(start, text, end("pause_turn"), stop), []llms.ContentPart{said}, model.StopPause},
		{"without message_stop", with(start, text, end("end_turn")), []llms.ContentPart{said}, model.StopEnd},
		{"nothing", with(start, end("end_turn"), stop), nil, model.StopEnd},
		{"unknown events and deltas", with(start, `{"type":"news"}`, text[:3], grow(`{"type":"citations_delta","citation":{}}`), closed, end("end_turn"), stop), []llms.ContentPart{said}, model.StopEnd},
		{"tool of the server", with(start, open(`{"type":"server_tool_use","id":"s","name":"web","input":{}}`), closed, end("end_turn"), stop), nil, model.StopEnd},
		{"thought", with(start, open(`{"type":"thinking","thinking":"","signature":""}`), grow(`{"type":"thinking_delta","thinking":"hm"}`), grow(`{"type":"signature_delta","signature":"S=="}`), closed, end("end_turn"), stop),
			[]llms.ContentPart{model.Reasoning{TextContent: llms.TextContent{Text: "hm"}, Provider: ref, Signature: "S=="}}, model.StopEnd},
		{"thought that is not shown", with(start, open(`{"type":"thinking","thinking":"","signature":"S=="}`), closed, end("end_turn"), stop),
			[]llms.ContentPart{model.Reasoning{Provider: ref, Signature: "S=="}}, model.StopEnd},
		{"redacted thought", with(start, open(`{"type":"redacted_thinking","data":"E=="}`), closed, end("end_turn"), stop),
			[]llms.ContentPart{model.Reasoning{Provider: ref, Redacted: "E=="}}, model.StopEnd},
		{"call", with(start, use, grow(`{"type":"input_json_delta","partial_json":""}`), grow(`{"type":"input_json_delta","partial_json":"{\"z\":1, \"a\":12345678901234567890,"}`), grow(`{"type":"input_json_delta","partial_json":"\"h\":\"<&>\"}"}`), closed, end("tool_use"), stop),
			[]llms.ContentPart{call(`{"z":1, "a":12345678901234567890,"h":"<&>"}`)}, model.StopTools},
		{"call without arguments", with(start, use, closed, end("tool_use"), stop), []llms.ContentPart{call("{}")}, model.StopTools},
		{"call whose arguments come with its start", with(start, open(`{"type":"tool_use","id":"t","name":"read","input":{"p": 1}}`), closed, end("tool_use"), stop), []llms.ContentPart{call(`{"p": 1}`)}, model.StopTools},
		{"C101 call that the limit cuts", with(start, use, grow(`{"type":"input_json_delta","partial_json":"{\"p\":\"a"}`), closed, end("max_tokens"), stop), []llms.ContentPart{call(`{"p":"a`)}, model.StopLength},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, reply, err := modeltest.Collect(t.Context(), client(tt.events...), modeltest.Ask("go"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, reply.Parts); diff != "" {
				t.Errorf("parts (-want +got):\n%s", diff)
			}
			if reply.Stop != tt.stop {
				t.Errorf("Stop = %q, want %q", reply.Stop, tt.stop)
			}
			// C127: the cache is part of the prompt, and totals are not added up.
			want := model.Usage{Input: 109078, CacheWrite: 109075, Output: 81, Reasoning: 7, Known: true}
			if diff := cmp.Diff(want, reply.Usage); diff != "" {
				t.Errorf("usage (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBreaks(t *testing.T) {
	thought := []string{open(`{"type":"thinking","thinking":"","signature":""}`), grow(`{"type":"thinking_delta","thinking":"hm"}`)}
	tests := []struct {
		name   string
		events []string
		kind   model.Kind
		want   []llms.ContentPart
	}{
		{"C110 end in the middle", with(start, text[:3]), model.Connection, []llms.ContentPart{llms.TextContent{Text: "part"}}},
		{"C118 an error in the stream", with(start, text, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), model.Overloaded, []llms.ContentPart{llms.TextContent{Text: "part"}}},
		{"an event that is cut", with(start, text, `{"type":"content_bl`), model.Malformed, []llms.ContentPart{llms.TextContent{Text: "part"}}},
		{"a thought without its signature does not count", with(start, thought), model.Connection, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, reply, err := modeltest.Collect(t.Context(), client(tt.events...), modeltest.Ask("go"))
			e, ok := errors.AsType[*model.Error](err)
			if !ok || e.Kind != tt.kind || !e.Partial {
				t.Errorf("error = %v, want a partial one of kind %q", err, tt.kind)
			}
			if diff := cmp.Diff(tt.want, reply.Parts); diff != "" {
				t.Errorf("parts (-want +got):\n%s", diff)
			}
		})
	}
}

// Whatever a server sends, an answer is a typed error, or its calls are those
// that the events told of.
func FuzzStream(f *testing.F) {
	f.Add(strings.Join(with(start, text, end("end_turn"), stop), "\n"))
	f.Add(open(`{"type":"tool_use","id":"t","name":"n","input":[1]}`) + "\n" + closed + "\n" + closed + "\n" + stop)
	f.Fuzz(func(t *testing.T, s string) {
		events, reply, err := modeltest.Collect(t.Context(), client(strings.Split(s, "\n")...), modeltest.Ask("go"))
		if err != nil {
			if _, ok := errors.AsType[*model.Error](err); !ok {
				t.Errorf("error = %v, want a *model.Error", err)
			}
			return
		}
		starts, calls := 0, 0
		for _, e := range events {
			if _, ok := e.(model.ToolStart); ok {
				starts++
			}
		}
		for _, p := range reply.Parts {
			if _, ok := p.(llms.ToolCall); ok {
				calls++
			}
		}
		if calls != starts {
			t.Errorf("%d calls in the reply, %d started", calls, starts)
		}
	})
}

func BenchmarkEvent(b *testing.B) {
	const n = 1000
	events := with(start, text[0])
	for range n {
		events = append(events, grow(`{"type":"text_delta","text":" word"}`))
	}
	c := client(with(events, closed, end("end_turn"), stop)...)
	req := modeltest.Ask("go")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Stream(b.Context(), req, func(model.Event) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/event")
}
