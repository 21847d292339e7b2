package anthropic_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/anthropic"
	"github.com/lorimer-dev/lorimer/harness/model/internal/streamtest"
	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// roundTrip is a server that is a function.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func client(events ...string) *anthropic.Client {
	return answered(streamtest.Client(stream(events...)))
}

func answered(c *http.Client) *anthropic.Client {
	return anthropic.New(model.Descriptor{Provider: "anthropic", ID: "claude-opus-4-7"}, anthropic.Options{Client: c})
}

func stream(events ...string) string {
	var b strings.Builder
	for _, e := range events {
		b.WriteString("data: " + e + "\n\n")
	}
	return b.String()
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

// at is an event of another block.
func at(index int, event string) string {
	return strings.Replace(event, `"index":0`, fmt.Sprintf(`"index":%d`, index), 1)
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
		{"C102 call whose arguments are empty", with(start, open(`{"type":"tool_use","id":"t","name":"read","input":""}`), closed, end("tool_use"), stop), []llms.ContentPart{call("{}")}, model.StopTools},
		{"call without an input", with(start, open(`{"type":"tool_use","id":"t","name":"read"}`), closed, end("tool_use"), stop), []llms.ContentPart{call("{}")}, model.StopTools},
		{"call that nobody ends", with(start, open(`{"type":"tool_use","id":"t","name":"read","input":{"p": 1}}`), end("tool_use"), stop), []llms.ContentPart{call(`{"p": 1}`)}, model.StopTools},
		{"call whose deltas go before its input", with(start, open(`{"type":"tool_use","id":"t","name":"read","input":{"p":0}}`), grow(`{"type":"input_json_delta","partial_json":"{\"p\":1}"}`), closed, end("tool_use"), stop), []llms.ContentPart{call(`{"p":1}`)}, model.StopTools},
		{"calls whose pieces take turns", with(start,
			at(1, open(`{"type":"tool_use","id":"t","name":"read","input":{}}`)), at(2, open(`{"type":"tool_use","id":"u","name":"grep","input":{}}`)), text[0],
			at(2, grow(`{"type":"input_json_delta","partial_json":"{\"q\":"}`)), at(1, grow(`{"type":"input_json_delta","partial_json":"{\"p\":"}`)), text[1:3],
			at(1, grow(`{"type":"input_json_delta","partial_json":"1}"}`)), at(2, grow(`{"type":"input_json_delta","partial_json":"2}"}`)),
			at(2, closed), closed, at(1, closed), end("tool_use"), stop),
			[]llms.ContentPart{call(`{"p":1}`), llms.ToolCall{ID: "u", Type: "function", FunctionCall: &llms.FunctionCall{Name: "grep", Arguments: `{"q":2}`}}, said}, model.StopTools},
		{"one index for all blocks", with(start, text, use, grow(`{"type":"input_json_delta","partial_json":"{\"p\":1}"}`), closed, end("tool_use"), stop), []llms.ContentPart{said, call(`{"p":1}`)}, model.StopTools},
		{"blocks that do not begin", with(start, at(1, grow(`{"type":"thinking_delta","thinking":"hm"}`)), text[1:], at(2, grow(`{"type":"input_json_delta","partial_json":"{}"}`)), end("end_turn"), stop),
			[]llms.ContentPart{model.Reasoning{TextContent: llms.TextContent{Text: "hm"}, Provider: ref}, said}, model.StopEnd},
		{"tools of the server between texts", with(start,
			at(1, open(`{"type":"server_tool_use","id":"s","name":"web_search","input":{}}`)), at(1, grow(`{"type":"input_json_delta","partial_json":"{\"query\":1}"}`)), at(1, closed),
			at(2, open(`{"type":"web_search_tool_result","tool_use_id":"s","content":[{"type":"web_search_result","url":"http://h"}]}`)), at(2, closed),
			at(3, open(`{"type":"of_tomorrow","text":"no"}`)), at(3, grow(`{"type":"text_delta","text":"no"}`)), at(3, grow(`{"type":"thinking_delta","thinking":"no"}`)), at(3, closed),
			text, end("end_turn"), stop), []llms.ContentPart{said}, model.StopEnd},
		{"signature in pieces", with(start, open(`{"type":"thinking","thinking":"h","signature":""}`), grow(`{"type":"thinking_delta","thinking":"m"}`), grow(`{"type":"signature_delta","signature":"S="}`), grow(`{"type":"signature_delta","signature":"="}`), closed, end("end_turn"), stop),
			[]llms.ContentPart{model.Reasoning{TextContent: llms.TextContent{Text: "hm"}, Provider: ref, Signature: "S=="}}, model.StopEnd},
		{"the end of another protocol", with(start, text, end("end_turn"), "[DONE]"), []llms.ContentPart{said}, model.StopEnd},
		{"C101 call that the limit cuts", with(start, use, grow(`{"type":"input_json_delta","partial_json":"{\"p\":\"a"}`), closed, end("max_tokens"), stop), []llms.ContentPart{call(`{"p":"a`)}, model.StopLength},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			told, reply, err := modeltest.Collect(t.Context(), client(tt.events...), modeltest.Ask("go"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, reply.Parts); diff != "" {
				t.Errorf("parts (-want +got):\n%s", diff)
			}
			checkEvents(t, told, reply)
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

// checkEvents checks that events say what r says, as far as they can.
func checkEvents(t *testing.T, told []model.Event, r *model.Reply) {
	t.Helper()
	type call struct{ ID, Name, Args string }
	type all struct {
		Text, Think string
		Calls       []call
	}
	var got, want all
	for _, e := range told {
		switch e := e.(type) {
		case model.Text:
			got.Text += string(e)
		case model.Think:
			got.Think += string(e)
		case model.ToolStart:
			if e.Index != len(got.Calls) {
				t.Errorf("event %+v after %d calls", e, len(got.Calls))
			}
			got.Calls = append(got.Calls, call{ID: e.ID, Name: e.Name})
		case model.ToolArgs:
			got.Calls[e.Index].Args += e.Fragment
		}
	}
	for i := range got.Calls {
		if got.Calls[i].Args == "" {
			got.Calls[i].Args = "{}"
		}
	}
	for _, p := range r.Parts {
		switch p := p.(type) {
		case llms.TextContent:
			want.Text += p.Text
		case model.Reasoning:
			want.Think += p.Text
		case llms.ToolCall:
			want.Calls = append(want.Calls, call{p.ID, p.FunctionCall.Name, p.FunctionCall.Arguments})
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-reply +events):\n%s", diff)
	}
}

func TestBreaks(t *testing.T) {
	thought := []string{open(`{"type":"thinking","thinking":"","signature":""}`), grow(`{"type":"thinking_delta","thinking":"hm"}`)}
	call := []string{at(1, open(`{"type":"tool_use","id":"t","name":"read","input":{}}`)), at(1, grow(`{"type":"input_json_delta","partial_json":"{\"p\":"}`))}
	said := []llms.ContentPart{llms.TextContent{Text: "part"}}
	tests := []struct {
		name   string
		events []string
		kind   model.Kind
		want   []llms.ContentPart
	}{
		{"C110 end in the middle", with(start, text[:3]), model.Connection, said},
		{"C110 end in the middle of a call", with(start, text, call), model.Connection, said},
		{"C110 end after a call", with(start, text, call, at(1, closed)), model.Connection, said},
		{"C118 an error in the stream", with(start, text, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), model.Overloaded, said},
		{"an error of a gateway", with(start, text, `{"error":{"code":502,"message":"upstream is gone"}}`), model.Overloaded, said},
		{"a limit in the stream", with(start, text, `{"type":"error","error":{"type":"rate_limit_error","message":"slow"}}`), model.RateLimit, said},
		{"an event that is cut", with(start, text, `{"type":"content_bl`), model.Malformed, said},
		{"a thought without its signature does not count", with(start, thought), model.Connection, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, reply, err := modeltest.Collect(t.Context(), client(tt.events...), modeltest.Ask("go"))
			e, ok := errors.AsType[*model.Error](err)
			if !ok || e.Kind != tt.kind || !e.Partial || !e.Temporary() {
				t.Errorf("error = %v, want a partial, temporary one of kind %q", err, tt.kind)
			}
			if diff := cmp.Diff(tt.want, reply.Parts); diff != "" {
				t.Errorf("parts (-want +got):\n%s", diff)
			}
			if !reply.Usage.Known || reply.Usage.Input != 109078 {
				t.Errorf("usage = %+v, want that of the start", reply.Usage)
			}
		})
	}
}

// Pings alone are no answer, and nothing that was told.
func TestPingsOnly(t *testing.T) {
	_, reply, err := modeltest.Collect(t.Context(), client(`{"type":"ping"}`, `{"type":"ping"}`), modeltest.Ask("go"))
	e, ok := errors.AsType[*model.Error](err)
	if !ok || e.Kind != model.Connection || e.Partial || !e.Temporary() || len(reply.Parts) > 0 {
		t.Errorf("error = %v, reply = %+v, want a temporary error that is not partial", err, reply)
	}
}

func TestSilence(t *testing.T) { // C031, C110
	for name, tt := range map[string]struct {
		more string // comes every ten seconds after the first events
		want time.Duration
	}{"nothing": {"", 2 * time.Minute}, "pings": {"data: {\"type\":\"ping\"}\n\n", 5 * time.Minute}} {
		synctest.Test(t, func(t *testing.T) {
			r, w := io.Pipe()
			stalled := roundTrip(func(req *http.Request) (*http.Response, error) {
				ctx := req.Context()
				go func() {
					io.WriteString(w, stream(with(start, text[:2])...))
					for ctx.Err() == nil {
						select {
						case <-ctx.Done():
						case <-time.After(10 * time.Second):
							io.WriteString(w, tt.more)
						}
					}
					w.CloseWithError(ctx.Err())
				}()
				return &http.Response{StatusCode: 200, Header: http.Header{}, Body: r}, nil
			})
			began := time.Now()
			_, reply, err := modeltest.Collect(t.Context(), answered(&http.Client{Transport: stalled}), modeltest.Ask("go"))
			e, ok := errors.AsType[*model.Error](err)
			if !ok || e.Kind != model.Idle || !e.Partial || time.Since(began) != tt.want || len(reply.Parts) != 1 {
				t.Errorf("%s: error = %v after %v, want a partial one of kind %q after %v", name, err, time.Since(began), model.Idle, tt.want)
			}
		})
	}
}

func TestUsage(t *testing.T) { // C127
	tests := []struct {
		name         string
		first, later string // of message_start and message_delta
		want         model.Usage
	}{
		{"the last counts", `{"input_tokens":3,"cache_creation_input_tokens":20,"cache_read_input_tokens":100,"output_tokens":1}`,
			`{"input_tokens":5,"cache_creation_input_tokens":30,"cache_read_input_tokens":200,"output_tokens":81,"output_tokens_details":{"thinking_tokens":7}}`,
			model.Usage{Input: 235, Output: 81, CacheRead: 200, CacheWrite: 30, Reasoning: 7, Known: true}},
		{"fields that are left out or null stay", `{"input_tokens":3,"cache_creation_input_tokens":20,"cache_read_input_tokens":100,"output_tokens":1}`,
			`{"input_tokens":null,"output_tokens":81,"output_tokens_details":null}`,
			model.Usage{Input: 123, Output: 81, CacheRead: 100, CacheWrite: 20, Known: true}},
		{"a zero at the end takes nothing back", `{"input_tokens":3,"output_tokens":1}`, `{"input_tokens":0,"output_tokens":81}`, model.Usage{Input: 3, Output: 81, Known: true}},
		{"only at the end", `null`, `{"input_tokens":3,"output_tokens":81}`, model.Usage{Input: 3, Output: 81, Known: true}},
		{"nowhere", `null`, `null`, model.Usage{}},
		{"nothing in it", `{"input_tokens":null,"output_tokens":0}`, `{}`, model.Usage{}},
		{"what cannot be read is skipped", `{"input_tokens":3.5,"cache_read_input_tokens":7,"output_tokens":"1"}`,
			`{"input_tokens":99999999999999999999,"output_tokens":81,"output_tokens_details":[]}`, model.Usage{Input: 7, Output: 81, CacheRead: 7, Known: true}},
		{"no object", `true`, `[]`, model.Usage{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := client(with(`{"type":"message_start","message":{"usage":`+tt.first+`}}`, text,
				`{"type":"message_delta","delta":{"stop_reason":null}}`,
				`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":`+tt.later+`}`, stop)...)
			_, reply, err := modeltest.Collect(t.Context(), c, modeltest.Ask("go"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, reply.Usage); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// made is id, "new" for one that was made up.
func made(id string) string {
	if strings.HasPrefix(id, "call_") && len(id) == 21 {
		return "new"
	}
	return id
}

// A call without an id, and a second one of the same, get one of ours.
func TestIDsOfCalls(t *testing.T) { // C105
	use := func(index int, id string) []string {
		return []string{at(index, open(`{"type":"tool_use","id":"`+id+`","name":"read","input":{}}`)), at(index, closed)}
	}
	told, reply, err := modeltest.Collect(t.Context(), client(with(start, use(0, "a"), use(1, ""), use(2, "a"), use(3, ""), end("tool_use"), stop)...), modeltest.Ask("go"))
	if err != nil {
		t.Fatal(err)
	}
	checkEvents(t, told, reply)
	var got []string
	seen := map[string]bool{}
	for _, p := range reply.Parts {
		id := p.(llms.ToolCall).ID
		if got = append(got, made(id)); seen[id] {
			t.Errorf("id %q twice", id)
		}
		seen[id] = true
	}
	if diff := cmp.Diff([]string{"a", "new", "new", "new"}, got); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
}

// outcome is what a stream comes to, without what is made up.
func outcome(t *testing.T, c *anthropic.Client) string {
	t.Helper()
	told, reply, err := modeltest.Collect(t.Context(), c, modeltest.Ask("go"))
	if e, ok := errors.AsType[*model.Error](err); err != nil && !ok {
		t.Errorf("error = %v, want a *model.Error", err)
	} else if ok {
		return fmt.Sprint(e.Kind, e.Partial, reply.Parts)
	}
	checkEvents(t, told, reply)
	s := fmt.Sprint(reply.Stop, reply.Usage)
	for _, p := range reply.Parts {
		if c, ok := p.(llms.ToolCall); ok {
			p = llms.TextContent{Text: fmt.Sprint(made(c.ID), *c.FunctionCall)}
		}
		s += fmt.Sprintf("\n%T %v", p, p)
	}
	return s
}

// Whatever a server sends, an answer is a typed error, or its events say what it
// says; how the stream is cut into packets does not change it.
func FuzzStream(f *testing.F) {
	f.Add(stream(with(start, text, end("end_turn"), stop)...))
	f.Add(stream(open(`{"type":"tool_use","id":"t","name":"n","input":[1]}`), closed, closed, stop))
	f.Add(stream(start, grow(`{"type":"thinking_delta","thinking":"hm"}`), at(-1, text[1])) + `{"error":{"message":"x"}}`)
	f.Fuzz(func(t *testing.T, s string) {
		whole, bytewise := outcome(t, answered(streamtest.Client(s))), outcome(t, answered(streamtest.Packets(s, 1)))
		if whole != bytewise {
			t.Errorf("%q: whole %s, byte by byte %s", s, whole, bytewise)
		}
	})
}

// How a text and the arguments of a call are cut into deltas, and how the two take
// turns, does not change the reply.
func FuzzPieces(f *testing.F) {
	f.Add("Grüße, 世界 \U0001F600", `{"a":1}`, uint8(2))
	f.Add("\" \\ <&>\n", "{", uint8(0))
	f.Fuzz(func(t *testing.T, said, args string, size uint8) {
		said, args = strings.ToValidUTF8(said, "?"), strings.ToValidUTF8(args, "?")
		deltas := func(index int, kind, field, s string, n int) (out []string) {
			for rest := []rune(s); len(rest) > 0; {
				n := min(n, len(rest))
				quoted, err := json.Marshal(string(rest[:n]))
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, at(index, grow(fmt.Sprintf(`{"type":%q,%q:%s}`, kind, field, quoted))))
				rest = rest[n:]
			}
			return out
		}
		reply := func(n int) string {
			a, b := deltas(0, "text_delta", "text", said, n), deltas(1, "input_json_delta", "partial_json", args, n)
			all := with(start, text[0], at(1, open(`{"type":"tool_use","id":"t","name":"read","input":{}}`)))
			for i := range max(len(a), len(b)) {
				all = append(all, a[min(i, len(a)):min(i+1, len(a))]...)
				all = append(all, b[min(i, len(b)):min(i+1, len(b))]...)
			}
			return outcome(t, client(with(all, closed, at(1, closed), end("tool_use"), stop)...))
		}
		if whole, got := reply(1<<30), reply(int(size)+1); got != whole {
			t.Errorf("in pieces %s, whole %s", got, whole)
		}
	})
}

func BenchmarkChunk(b *testing.B) {
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
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/chunk")
}
