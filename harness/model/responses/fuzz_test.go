package responses_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/internal/streamtest"
	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
	"github.com/lorimer-dev/lorimer/harness/model/responses"
)

func quoted(t *testing.T, s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// deltas are events of one kind that bring s in pieces of n characters.
func deltas(t *testing.T, kind, place, s string, n int) (out []string) {
	for r := []rune(s); len(r) > 0; {
		k := min(max(n, 1), len(r))
		out = append(out, kind+" "+place+`,"delta":`+quoted(t, string(r[:k])))
		r = r[k:]
	}
	return out
}

// However a stream is cut into packets and a text into deltas, the reply is the
// same.
func FuzzCuts(f *testing.F) {
	f.Add("hm", "I look.", `{"p":1}`, 1, 1)
	f.Add("", "ä\u2028\U0001F600\"\\\n", `{"a":"<&>"}`, 3, 7)
	f.Add("a\n\nb", "", "", 100, 2)
	f.Fuzz(func(t *testing.T, think, say, args string, piece, packet int) {
		answer := func(piece, packet int) *model.Reply {
			events := []string{created, added("0", `{"type":"reasoning","id":"r","summary":[]}`)}
			events = append(events, deltas(t, "reasoning_summary_text.delta", `"item_id":"r","output_index":0,"summary_index":0`, think, piece)...)
			events = append(events, done("0", `{"type":"reasoning","id":"r","summary":[{"type":"summary_text","text":`+quoted(t, think)+`}],"encrypted_content":"g"}`),
				added("1", `{"type":"message","id":"m"}`))
			events = append(events, deltas(t, "output_text.delta", `"item_id":"m","output_index":1,"content_index":0`, say, piece)...)
			events = append(events, done("1", `{"type":"message","id":"m","status":"completed","content":[{"type":"output_text","text":`+quoted(t, say)+`}]}`),
				added("2", `{"type":"function_call","id":"f","call_id":"c","name":"read"}`))
			events = append(events, deltas(t, "function_call_arguments.delta", `"item_id":"f","output_index":2`, args, piece)...)
			events = append(events, done("2", `{"type":"function_call","id":"f","call_id":"c","name":"read","status":"completed","arguments":`+quoted(t, args)+`}`), completed)
			return collect(t, responses.New(model.Descriptor{Provider: "openai", ID: "gpt-5.6"},
				responses.Options{Client: streamtest.Packets(stream(events...), packet)}))
		}
		if diff := cmp.Diff(answer(1<<20, 1<<20), answer(piece, packet)); diff != "" {
			t.Errorf("whole and in pieces of %d, packets of %d (-whole +pieces):\n%s", piece, packet, diff)
		}
	})
}

// Whatever a server sends, the events tell exactly the calls of the reply, and an
// answer is an error or complete.
func FuzzStream(f *testing.F) {
	f.Add(stream(created, added("0", `{"type":"function_call","id":"f","call_id":"c","name":"read"}`), `function_call_arguments.delta "item_id":"f","delta":"{}"`, completed))
	f.Add(stream(done("0", `{"type":"reasoning","id":"r","summary":[{"text":"a"}],"content":[{"text":"b"}]}`), done("0", `{"type":"message","id":"m","content":[{"text":"b"}]}`),
		`completed "response":{"output":[null,{"type":"message"},{"type":"function_call","name":"x","arguments":{}}]}`))
	f.Add(stream(`output_text.delta "delta":"a"`, `refusal.done "refusal":"ab"`, `function_call_arguments.done "output_index":-1,"arguments":"{"`, incomplete("x")))
	f.Add(stream(`failed "response":{"error":[]}`) + `data: {"type":"error"}` + "\n\n")
	f.Fuzz(func(t *testing.T, s string) {
		events, reply, err := modeltest.Collect(t.Context(), client(s), modeltest.Ask("go"))
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
		if n := len(inReply(reply).Calls); n != starts {
			t.Errorf("%d calls in the reply, %d started", n, starts)
		}
	})
}

func BenchmarkChunk(b *testing.B) {
	const n = 1000
	s := stream(created) + strings.Repeat(stream(`output_text.delta "item_id":"msg_0b7d1f0a2c8e4f6a90","output_index":1,"content_index":0,"delta":" word","logprobs":[],"obfuscation":"Zk3d9Qw1xY"`), n) +
		stream(completed)
	c := client(s)
	req := modeltest.Ask("go")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Stream(b.Context(), req, func(model.Event) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/chunk")
}
