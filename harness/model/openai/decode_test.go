package openai_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/internal/streamtest"
	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
	"github.com/lorimer-dev/lorimer/harness/model/openai"
)

// client returns a client whose server sends the chunks and then [DONE].
func client(d model.Descriptor, chunks ...string) *openai.Client {
	return openai.New(d, openai.Options{Client: streamtest.Client(stream(chunks...) + "data: [DONE]\n\n")})
}

func stream(chunks ...string) string {
	var b strings.Builder
	for _, c := range chunks {
		b.WriteString("data: " + c + "\n\n")
	}
	return b.String()
}

// delta is a chunk with a delta and no end.
func delta(d string) string {
	return `{"id":"c","model":"m","choices":[{"index":0,"delta":` + d + `,"finish_reason":null}]}`
}

// finish is a chunk that ends the answer.
func finish(reason string) string {
	return `{"id":"c","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`
}

// calls is a chunk with pieces of tool calls.
func calls(pieces ...string) string {
	return delta(`{"tool_calls":[` + strings.Join(pieces, ",") + `]}`)
}

type call struct{ ID, Name, Args string }

// callsOf returns the calls of r, with "new" for an id that was made up.
func callsOf(r *model.Reply) (out []call) {
	for _, p := range r.Parts {
		if x, ok := p.(model.Extra); ok {
			p = x.ToolCall
		}
		if t, ok := p.(llms.ToolCall); ok {
			id := t.ID
			if strings.HasPrefix(id, "call_") && len(id) == 21 {
				id = "new"
			}
			out = append(out, call{id, t.FunctionCall.Name, t.FunctionCall.Arguments})
		}
	}
	return out
}

func TestToolCallPieces(t *testing.T) {
	a, b := call{"a", "read", `{"p":1}`}, call{"b", "grep", `{"q":2}`}
	tests := []struct {
		name   string
		chunks []string
		want   []call
	}{
		{"one after the other", []string{
			calls(`{"index":0,"id":"a","type":"function","function":{"name":"read","arguments":""}}`),
			calls(`{"index":0,"function":{"arguments":"{\"p\":"}}`), calls(`{"index":0,"function":{"arguments":"1}"}}`),
			calls(`{"index":1,"id":"b","type":"function","function":{"name":"grep","arguments":""}}`),
			calls(`{"index":1,"function":{"arguments":"{\"q\":2}"}}`),
		}, []call{a, b}},
		{"interleaved", []string{
			calls(`{"index":0,"id":"a","function":{"name":"read","arguments":""}}`), calls(`{"index":1,"id":"b","function":{"name":"grep","arguments":""}}`),
			calls(`{"index":0,"function":{"arguments":"{\"p\":"}}`), calls(`{"index":1,"function":{"arguments":"{\"q\":"}}`),
			calls(`{"index":0,"function":{"arguments":"1}"}}`, `{"index":1,"function":{"arguments":"2}"}}`),
		}, []call{a, b}},
		{"id and type with every piece", []string{
			calls(`{"index":0,"id":"a","type":"function","function":{"name":"read","arguments":"{\"p\":"}}`),
			calls(`{"index":0,"id":"a","type":"function","function":{"arguments":"1}"}}`),
		}, []call{a}},
		{"id and name with every piece", []string{
			calls(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\":"}}`), calls(`{"index":0,"id":"a","function":{"name":"read","arguments":"1}"}}`),
		}, []call{a}},
		{"a new id with every piece", []string{
			calls(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\""}}`), calls(`{"index":0,"id":"x","function":{"arguments":":1"}}`),
			calls(`{"index":0,"id":"y","function":{"arguments":"}"}}`),
		}, []call{a}},
		{"whole calls without a type", []string{
			calls(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\":1}"}}`, `{"index":1,"id":"b","function":{"name":"grep","arguments":"{\"q\":2}"}}`),
		}, []call{a, b}},
		{"trailing empty arguments", []string{
			calls(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\":1}"}}`), calls(`{"index":0,"function":{"arguments":""}}`),
			calls(`{"index":1,"id":"","function":{"arguments":""}}`),
		}, []call{a}},
		{"C104 one index for two calls", []string{
			calls(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\":1}"}}`), calls(`{"index":0,"id":"b","function":{"name":"grep","arguments":"{\"q\":"}}`),
			calls(`{"index":1,"function":{"arguments":"2}"}}`),
		}, []call{a, b}},
		{"C104 a known id wins over the index", []string{
			calls(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\":"}}`), calls(`{"index":1,"id":"b","function":{"name":"grep","arguments":"{\"q\":2}"}}`),
			calls(`{"index":1,"id":"a","function":{"arguments":"1}"}}`),
		}, []call{a, b}},
		{"C104 one index, no ids", []string{
			calls(`{"index":0,"function":{"name":"read","arguments":"{\"p\":1}"}}`), calls(`{"index":0,"function":{"name":"grep","arguments":"{\"q\":2}"}}`),
		}, []call{{"new", "read", a.Args}, {"new", "grep", b.Args}}},
		{"C105 no index", []string{
			calls(`{"id":"a","function":{"name":"read","arguments":"{\"p\":"}}`), calls(`{"function":{"arguments":"1}"}}`),
			calls(`{"id":"b","function":{"name":"grep","arguments":"{\"q\":2}"}}`),
		}, []call{a, b}},
		{"C105 neither index nor id", []string{
			calls(`{"function":{"name":"read","arguments":"{\"p\":1}"}}`), calls(`{"function":{"name":"read","arguments":"{\"p\":3}"}}`),
		}, []call{{"new", "read", a.Args}, {"new", "read", `{"p":3}`}}},
		{"C105 the id comes second", []string{
			calls(`{"index":0,"function":{"name":"read","arguments":"{\"p\":"}}`), calls(`{"index":0,"id":"a","function":{"arguments":"1"}}`),
			calls(`{"id":"a","function":{"arguments":"}"}}`),
		}, []call{{"new", "read", a.Args}}},
		{"C105 the id is empty", []string{
			calls(`{"index":0,"id":"","function":{"name":"read","arguments":"{\"p\":"}}`), calls(`{"index":0,"id":"","function":{"arguments":"1}"}}`),
		}, []call{{"new", "read", a.Args}}},
		{"C105 a whole call twice", []string{
			calls(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\":1}"}}`), calls(`{"index":1,"id":"a","function":{"name":"read","arguments":"{\"p\":1}"}}`),
		}, []call{a}},
		{"C105 a whole call twice, without an id", []string{
			calls(`{"index":0,"id":"","function":{"name":"read","arguments":"{\"p\":1}"}}`), calls(`{"index":1,"id":"","function":{"name":"read","arguments":"{\"p\":1}"}}`),
		}, []call{{"new", "read", a.Args}}},
		{"two calls under one id", []string{
			calls(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\":1}"}}`), calls(`{"index":1,"id":"a","function":{"name":"grep","arguments":"{\"q\":2}"}}`),
		}, []call{a, {"new", "grep", b.Args}}},
		{"two calls of one tool under one id, each twice", []string{
			calls(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\":1}"}}`), calls(`{"index":1,"id":"a","function":{"name":"read","arguments":"{\"p\":2}"}}`),
			calls(`{"index":2,"id":"a","function":{"name":"read","arguments":"{\"p\":1}"}}`), calls(`{"index":3,"id":"a","function":{"name":"read","arguments":"{\"p\":2}"}}`),
		}, []call{a, {"new", "read", `{"p":2}`}}},
		{"the name comes after the arguments", []string{
			calls(`{"index":0,"id":"a","function":{"arguments":"{\"p\":"}}`), calls(`{"index":0,"function":{"name":"read","arguments":"1}"}}`),
		}, []call{a}},
		{"C104 a new id on a used index, both in pieces", []string{
			calls(`{"index":0,"id":"a","function":{"name":"read","arguments":""}}`), calls(`{"index":0,"function":{"arguments":"{\"p\":1}"}}`),
			calls(`{"index":0,"id":"b","function":{"name":"grep","arguments":""}}`), calls(`{"index":0,"function":{"arguments":"{\"q\":"}}`), calls(`{"index":0,"id":"b","function":{"arguments":"2}"}}`),
		}, []call{a, b}},
		{"C104 a tail without anything", []string{
			calls(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\":1}"}}`), calls(`{"index":1,"id":"b","function":{"name":"grep","arguments":"{\"q\":"}}`),
			calls(`{"function":{"arguments":"2}"}}`),
		}, []call{a, b}},
		{"C105 a whole call twice, in pieces", []string{
			calls(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\":"}}`), calls(`{"index":0,"function":{"arguments":"1}"}}`),
			calls(`{"index":0,"id":"a","type":"function","function":{"name":"read","arguments":"{\"p\":1}"}}`),
		}, []call{a}},
		{"C105 the id is null", []string{
			calls(`{"index":0,"id":null,"type":null,"function":{"name":"read","arguments":null}}`), calls(`{"index":0,"id":null,"function":{"name":null,"arguments":"{\"p\":1}"}}`),
		}, []call{{"new", "read", a.Args}}},
		{"C105 no id and a call that ends before the next", []string{
			calls(`{"index":0,"function":{"name":"read","arguments":"{\"p\":1}"}}`), calls(`{"index":1,"function":{"name":"read","arguments":"{\"p\":3}"}}`),
		}, []call{{"new", "read", a.Args}, {"new", "read", `{"p":3}`}}},
		{"a type with every piece and no id after the first", []string{
			calls(`{"index":0,"id":"a","type":"function","function":{"name":"read","arguments":"{\"p\":"}}`), calls(`{"index":0,"type":"function","function":{"name":"","arguments":"1}"}}`),
			calls(`{"index":1,"id":"b","type":"function","function":{"name":"grep","arguments":"{\"q\":2}"}}`),
		}, []call{a, b}},
		{"arguments that are an object", []string{calls(`{"index":0,"id":"a","function":{"name":"read","arguments":{"p":1}}}`)}, []call{a}},
		{"calls in the chunk that ends the answer", []string{
			`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\":1}"}}]},"finish_reason":"tool_calls"}]}`,
			calls(`{"index":0,"function":{"arguments":""}}`),
		}, []call{a}},
		{"text and a call in one chunk", []string{
			delta(`{"content":"I look.","tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\":"}}]}`),
			delta(`{"content":"","tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}`),
		}, []call{a}},
		{"C114 no name at all", []string{calls(`{"index":0,"id":"a","function":{"name":"","arguments":"{\"p\":1}"}}`)}, []call{{"a", "", a.Args}}},
		{"C102 no arguments", []string{calls(`{"index":0,"id":"a","function":{"name":"read","arguments":""}}`)}, []call{{"a", "read", "{}"}}},
		{"C101 arguments that are cut", []string{calls(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\":"}}`)}, []call{{"a", "read", `{"p":`}}},
		{"numbers and letters stay as they are", []string{
			calls(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"z\":12345678901234567890, \"a\":\"<&>\"}"}}`),
		}, []call{{"a", "read", `{"z":12345678901234567890, "a":"<&>"}`}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := client(model.Descriptor{ID: "m"}, append(tt.chunks, finish("tool_calls"))...)
			events, reply, err := modeltest.Collect(t.Context(), c, modeltest.Ask("go"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, callsOf(reply)); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			if reply.Stop != model.StopTools {
				t.Errorf("Stop = %q, want %q", reply.Stop, model.StopTools)
			}
			checkEvents(t, events, reply)
		})
	}
}

// checkEvents checks that events tell of the calls of r, each once.
func checkEvents(t *testing.T, events []model.Event, r *model.Reply) {
	t.Helper()
	var got []call
	for _, e := range events {
		switch e := e.(type) {
		case model.ToolStart:
			if e.Index != len(got) || e.ID == "" {
				t.Errorf("event %+v after %d calls", e, len(got))
			}
			got = append(got, call{ID: e.ID, Name: e.Name})
		case model.ToolArgs:
			got[e.Index].Args += e.Fragment
		}
	}
	var want []call
	seen := map[string]bool{}
	for _, p := range r.Parts {
		if c, ok := p.(llms.ToolCall); ok {
			want = append(want, call{c.ID, c.FunctionCall.Name, strings.TrimPrefix(c.FunctionCall.Arguments, "{}")})
			if seen[c.ID] {
				t.Errorf("id %q twice", c.ID)
			}
			seen[c.ID] = true
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-reply +events):\n%s", diff)
	}
}

func TestEnds(t *testing.T) {
	text := delta(`{"content":"part"}`)
	tests := []struct {
		name   string
		stream string
		stop   model.Stop
		kind   model.Kind
	}{
		{"stop", stream(text, finish("stop"), "[DONE]"), model.StopEnd, ""},
		{"the end of the stream is as good as [DONE]", stream(text, finish("stop")), model.StopEnd, ""},
		{"[DONE] is as good as a reason", stream(text, "[DONE]"), model.StopEnd, ""},
		{"length", stream(text, finish("length"), "[DONE]"), model.StopLength, ""},
		{"a later null does not undo the reason", stream(text, finish("length"), delta(`{}`), "[DONE]"), model.StopLength, ""},
		{"content filter", stream(text, finish("content_filter"), "[DONE]"), model.StopRefusal, ""},
		{"C018 refusal", stream(delta(`{"refusal":"pa"}`), delta(`{"refusal":"rt"}`), finish("stop"), "[DONE]"), model.StopRefusal, ""},
		{"stop although a tool is called", stream(text, calls(`{"index":0,"id":"a","function":{"name":"ls","arguments":"{}"}}`), finish("stop"), "[DONE]"), model.StopTools, ""},
		{"tool_calls although none is", stream(text, finish("tool_calls"), "[DONE]"), model.StopEnd, ""},
		{"a comment first", ": PROCESSING\n\n" + stream(text, finish("stop"), "[DONE]"), model.StopEnd, ""},
		{"parts of text and thought", stream(delta(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"part"}]}`), finish("stop")), model.StopEnd, ""},
		{"chunks without choices", stream(`{"choices":[],"prompt_filter_results":[]}`, `{"choices":null}`, text, `{"choices":[]}`, finish("stop"), `{"choices":[]}`, "[DONE]"), model.StopEnd, ""},
		{"text of a chunk that calls as well", stream(delta(`{"content":"part","tool_calls":[{"index":0,"id":"a","function":{"name":"ls","arguments":"{}"}}]}`), finish("tool_calls")), model.StopTools, ""},
		{"another choice is not ours", stream(`{"choices":[{"index":1,"delta":{"content":"no"},"finish_reason":null}]}`, text, finish("stop")), model.StopEnd, ""},
		{"C110 end without a reason", stream(text), "", model.Connection},
		{"C118 an error in the stream", stream(text, `{"error":{"message":"Overloaded","type":"overloaded_error"}}`), "", model.Overloaded},
		{"an error after the end", stream(text, finish("stop"), `{"error":{"message":"boom","code":500}}`), "", model.Overloaded},
		{"the provider breaks off", stream(text, finish("error")), "", model.Overloaded},
		{"an error of vLLM", stream(text, `{"object":"error","message":"EngineDeadError","type":"InternalServerError","param":null,"code":500}`), "", model.Overloaded},
		{"an error beside the end", stream(text, `{"error":{"code":502,"message":"Provider returned error"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`), "", model.Overloaded},
		{"a chunk that is cut", stream(text, `{"choices":[{"index":0,"delta":{"cont`), "", model.Malformed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := openai.New(model.Descriptor{ID: "m"}, openai.Options{Client: streamtest.Client(tt.stream)})
			_, reply, err := modeltest.Collect(t.Context(), c, modeltest.Ask("go"))
			e, _ := errors.AsType[*model.Error](err)
			switch {
			case tt.kind == "" && (err != nil || reply.Stop != tt.stop):
				t.Errorf("Stop = %q (%v), want %q", reply.Stop, err, tt.stop)
			case tt.kind != "" && (e == nil || e.Kind != tt.kind || !e.Partial || !e.Temporary()):
				t.Errorf("error = %v, want a partial, temporary one of kind %q", err, tt.kind)
			}
			if got := textOf(reply); got != "part" {
				t.Errorf("text = %q, want %q", got, "part")
			}
		})
	}
}

func textOf(r *model.Reply) (s string) {
	for _, p := range r.Parts {
		if t, ok := p.(llms.TextContent); ok {
			s += t.Text
		}
	}
	return s
}

func TestUsage(t *testing.T) {
	tests := []struct {
		name, usage string
		want        model.Usage
	}{
		{"C127 cached is part of the prompt", `{"prompt_tokens":10000,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":9000,"cache_write_tokens":64},"completion_tokens_details":{"reasoning_tokens":3}}`,
			model.Usage{Input: 10000, Output: 5, CacheRead: 9000, CacheWrite: 64, Reasoning: 3, Known: true}},
		{"DeepSeek", `{"prompt_tokens":100,"completion_tokens":5,"prompt_cache_hit_tokens":64,"prompt_cache_miss_tokens":36}`,
			model.Usage{Input: 100, Output: 5, CacheRead: 64, Known: true}},
		{"Moonshot", `{"prompt_tokens":100,"completion_tokens":5,"total_tokens":105,"cached_tokens":64}`, model.Usage{Input: 100, Output: 5, CacheRead: 64, Known: true}},
		{"thoughts in the total alone", `{"prompt_tokens":100,"completion_tokens":5,"total_tokens":145,"completion_tokens_details":{"reasoning_tokens":40}}`,
			model.Usage{Input: 100, Output: 45, Reasoning: 40, Known: true}},
		{"C127 missing", `null`, model.Usage{}},
		{"of another shape", `[1]`, model.Usage{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			u := `{"choices":[],"usage":` + tt.usage + `}`
			c := client(model.Descriptor{ID: "m"}, delta(`{"content":"x"}`), finish("stop"), u, u) // twice is not double
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

func TestWhereUsageStands(t *testing.T) {
	const u = `{"prompt_tokens":100,"completion_tokens":5}`
	chunk := func(reason, more string) string {
		return `{"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":` + reason + more
	}
	for name, chunks := range map[string][]string{
		"in the chunk that ends":      {chunk(`"stop"`, `}],"usage":`+u+`}`)},
		"in a chunk of its own":       {chunk(`"stop"`, `}]}`), `{"choices":[],"usage":` + u + `}`},
		"in the choice":               {chunk(`"stop"`, `,"usage":`+u+`}]}`)},
		"in every chunk, growing":     {chunk("null", `}],"usage":{"prompt_tokens":100,"completion_tokens":1}}`), chunk(`"stop"`, `}],"usage":`+u+`}`)},
		"before the end, then zeros":  {chunk("null", `}],"usage":`+u+`}`), chunk(`"stop"`, `}],"usage":{"prompt_tokens":0,"completion_tokens":0}}`)},
		"before the end, then a null": {chunk("null", `}],"usage":`+u+`}`), chunk(`"stop"`, `}],"usage":null}`)},
	} {
		_, reply, err := modeltest.Collect(t.Context(), client(model.Descriptor{ID: "m"}, chunks...), modeltest.Ask("go"))
		if want := (model.Usage{Input: 100, Output: 5, Known: true}); err != nil || reply.Usage != want {
			t.Errorf("%s: %+v (%v), want %+v", name, reply.Usage, err, want)
		}
	}
}

func TestReasoning(t *testing.T) {
	ref := "openrouter/m"
	tests := []struct {
		name   string
		d      model.Descriptor
		chunks []string
		want   []llms.ContentPart
	}{
		{"reasoning_content", model.Descriptor{Provider: "openrouter", ID: "m"}, []string{delta(`{"reasoning_content":"a"}`), delta(`{"reasoning_content":"b","content":null}`)},
			[]llms.ContentPart{model.Reasoning{TextContent: llms.TextContent{Text: "ab"}, Provider: ref, Field: "reasoning_content"}}},
		{"both fields are one thought", model.Descriptor{Provider: "openrouter", ID: "m"}, []string{delta(`{"reasoning_content":"a","reasoning":"a"}`)},
			[]llms.ContentPart{model.Reasoning{TextContent: llms.TextContent{Text: "a"}, Provider: ref, Field: "reasoning_content"}}},
		{"details are joined", model.Descriptor{Provider: "openrouter", ID: "m"}, []string{
			delta(`{"reasoning":"a","reasoning_details":[{"type":"reasoning.text","text":"a","index":0,"format":"x","signature":null}]}`),
			delta(`{"reasoning":"b","reasoning_details":[{"type":"reasoning.text","text":"b","index":0,"signature":"S"}]}`),
			delta(`{"reasoning_details":[{"type":"reasoning.encrypted","data":"E","index":1}]}`),
		}, []llms.ContentPart{model.Reasoning{TextContent: llms.TextContent{Text: "ab"}, Provider: ref, Field: "reasoning_details",
			Signature: `[{"type":"reasoning.text","index":0,"format":"x","signature":"S","text":"ab"},{"type":"reasoning.encrypted","index":1,"data":"E"}]`}}},
		{"C107 an empty thought is kept for those who want it", model.Descriptor{Provider: "deepseek", ID: "v"}, []string{delta(`{"reasoning_content":""}`)},
			[]llms.ContentPart{model.Reasoning{Provider: "deepseek/v", Field: "reasoning_content"}}},
		{"an empty thought is nothing to others", model.Descriptor{Provider: "vllm", ID: "v"}, []string{delta(`{"reasoning_content":""}`)}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := client(tt.d, append(tt.chunks, finish("stop"))...)
			_, reply, err := modeltest.Collect(t.Context(), c, modeltest.Ask("go"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, reply.Parts); diff != "" {
				t.Errorf("parts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDetailsOfACutAnswerDoNotGoBack(t *testing.T) {
	half := delta(`{"reasoning":"a","reasoning_details":[{"type":"reasoning.text","text":"a","index":0}]}`)
	for name, end := range map[string]string{"cut": `{"error":"x"}`, "length": finish("length")} {
		c := client(model.Descriptor{Provider: "openrouter", ID: "m"}, half, end)
		_, reply, err := modeltest.Collect(t.Context(), c, modeltest.Ask("go"))
		if (err != nil) != (name == "cut") {
			t.Fatalf("%s: error = %v", name, err)
		}
		want := []llms.ContentPart{model.Reasoning{TextContent: llms.TextContent{Text: "a"}, Provider: "openrouter/m", Field: "reasoning"}}
		if diff := cmp.Diff(want, reply.Parts); diff != "" {
			t.Errorf("%s: parts (-want +got):\n%s", name, diff)
		}
	}
}

func TestLongLine(t *testing.T) {
	args := `{"c":"` + strings.Repeat("x", 2<<20) + `"}`
	c := client(model.Descriptor{ID: "m"}, calls(fmt.Sprintf(`{"index":0,"id":"a","function":{"name":"write","arguments":%q}}`, args)), finish("tool_calls"))
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
	f.Add(stream(calls(`{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}}`), finish("stop")))
	f.Add(stream(calls(`{"id":"a","function":{"arguments":"{"}}`, `{"index":1,"function":{"name":"x"}}`), "[DONE]"))
	f.Add(stream(delta(`{"content":[{"text":"a"}],"reasoning_details":[{"type":1,"text":2},null]}`), `{"error":"x"}`))
	f.Fuzz(func(t *testing.T, s string) {
		c := openai.New(model.Descriptor{ID: "m"}, openai.Options{Client: streamtest.Client(s)})
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

// deltas are chunks that bring s in pieces of n characters, each in the shape of
// form, where it stands for %s.
func deltas(t *testing.T, form, s string, n int) (out []string) {
	for r := []rune(s); len(r) > 0; {
		k := min(max(n, 1), len(r))
		b, err := json.Marshal(string(r[:k]))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, delta(fmt.Sprintf(form, b)))
		r = r[k:]
	}
	return out
}

// However a stream is cut into packets and a text into deltas, the reply is the
// same.
func FuzzCuts(f *testing.F) {
	f.Add("hm", "I look.", `{"p":1}`, 1, 1)
	f.Add("", "ä\u2028\U0001F600\"\\\n", `{"a":"<&>"}`, 3, 7)
	f.Add("a\n\nb", "", "{}", 100, 2)
	f.Fuzz(func(t *testing.T, think, say, args string, piece, packet int) {
		answer := func(piece, packet int) *model.Reply {
			chunks := deltas(t, `{"reasoning_content":%s}`, think, piece)
			chunks = append(chunks, deltas(t, `{"content":%s}`, say, piece)...)
			chunks = append(chunks, calls(`{"index":0,"id":"a","function":{"name":"read","arguments":""}}`, `{"index":1,"id":"b","function":{"name":"grep","arguments":""}}`))
			for _, index := range []string{"0", "1"} {
				chunks = append(chunks, deltas(t, `{"tool_calls":[{"index":`+index+`,"function":{"arguments":%s}}]}`, args, piece)...)
			}
			s := stream(append(chunks, finish("tool_calls"), "[DONE]")...)
			c := openai.New(model.Descriptor{Provider: "deepseek", ID: "m"}, openai.Options{Client: streamtest.Packets(s, packet)})
			_, reply, err := modeltest.Collect(t.Context(), c, modeltest.Ask("go"))
			if err != nil {
				t.Fatal(err)
			}
			return reply
		}
		if diff := cmp.Diff(answer(1<<20, 1<<20), answer(piece, packet)); diff != "" {
			t.Errorf("whole and in pieces of %d, packets of %d (-whole +pieces):\n%s", piece, packet, diff)
		}
	})
}

func BenchmarkChunk(b *testing.B) {
	const n = 1000
	s := strings.Repeat(stream(`{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"gpt-x","system_fingerprint":"fp_1","choices":[{"index":0,"delta":{"content":" word"},"logprobs":null,"finish_reason":null}],"usage":null}`), n) +
		stream(finish("stop"), "[DONE]")
	c := openai.New(model.Descriptor{ID: "m"}, openai.Options{Client: streamtest.Client(s)})
	req := modeltest.Ask("go")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Stream(b.Context(), req, func(model.Event) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/chunk")
}
