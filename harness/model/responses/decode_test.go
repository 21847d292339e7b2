package responses_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/internal/streamtest"
	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
	"github.com/lorimer-dev/lorimer/harness/model/responses"
)

const ref = "openai/gpt-5.6"

// client returns a client whose server sends s.
func client(s string) *responses.Client {
	return responses.New(model.Descriptor{Provider: "openai", ID: "gpt-5.6"}, responses.Options{Client: streamtest.Client(s)})
}

// stream is events on the wire. Each is the type, after "response.", a space and
// the other members.
func stream(events ...string) string {
	var b strings.Builder
	for _, e := range events {
		kind, more, _ := strings.Cut(e, " ")
		b.WriteString("event: response." + kind + "\ndata: {\"type\":\"response." + kind + "\",\"sequence_number\":1")
		if more != "" {
			b.WriteString("," + more)
		}
		b.WriteString("}\n\n")
	}
	return b.String()
}

// What begins and ends most streams.
const (
	created   = `created "response":{"id":"resp_1","model":"gpt-x","status":"in_progress","usage":null,"error":null,"incomplete_details":null,"output":[]}`
	completed = `completed "response":{"id":"resp_1","model":"gpt-x","status":"completed","usage":null,"error":null,"incomplete_details":null,"output":[]}`
)

func incomplete(reason string) string {
	return `incomplete "response":{"id":"resp_1","status":"incomplete","incomplete_details":{"reason":"` + reason + `"},"output":[]}`
}

func added(index, item string) string {
	return `output_item.added "output_index":` + index + `,"item":` + item
}
func done(index, item string) string {
	return `output_item.done "output_index":` + index + `,"item":` + item
}

func text(s string) llms.TextContent { return llms.TextContent{Text: s} }

func message(s, data string) model.SignedText {
	return model.SignedText{TextContent: text(s), Provider: ref, Content: []byte(data)}
}

func call(id, name, args string) llms.ToolCall {
	return llms.ToolCall{ID: id, Type: "function", FunctionCall: &llms.FunctionCall{Name: name, Arguments: args}}
}

func item(id string, c llms.ToolCall) model.Extra {
	return model.Extra{ToolCall: c, Provider: ref, Content: []byte(`{"type":"function_call","id":"` + id + `"}`)}
}

// collect asks c and checks that the events say what the reply says.
func collect(t *testing.T, c model.Streamer) *model.Reply {
	t.Helper()
	events, reply, err := modeltest.Collect(t.Context(), c, modeltest.Ask("go"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(inReply(reply), inEvents(t, events)); diff != "" {
		t.Errorf("events (-reply +events):\n%s", diff)
	}
	return reply
}

type told struct {
	Text, Think string
	Calls       []call3
}

type call3 struct{ ID, Name, Args string }

func inEvents(t *testing.T, events []model.Event) (out told) {
	t.Helper()
	for _, e := range events {
		switch e := e.(type) {
		case model.Text:
			out.Text += string(e)
		case model.Think:
			out.Think += string(e)
		case model.ToolStart:
			if e.Index != len(out.Calls) || e.ID == "" {
				t.Errorf("event %+v after %d calls", e, len(out.Calls))
			}
			out.Calls = append(out.Calls, call3{ID: e.ID, Name: e.Name})
		case model.ToolArgs:
			if e.Fragment == "" {
				t.Errorf("event %+v says nothing", e)
			}
			out.Calls[e.Index].Args += e.Fragment
		}
	}
	for i := range out.Calls {
		if strings.TrimSpace(out.Calls[i].Args) == "" {
			out.Calls[i].Args = "{}"
		}
	}
	return out
}

func inReply(r *model.Reply) (out told) {
	for _, p := range r.Parts {
		switch p := p.(type) {
		case llms.TextContent:
			out.Text += p.Text
		case model.SignedText:
			out.Text += p.Text
		case model.Reasoning:
			out.Think += p.Text
		case llms.ToolCall:
			out.Calls = append(out.Calls, call3{p.ID, p.FunctionCall.Name, p.FunctionCall.Arguments})
		case model.Extra:
			out.Calls = append(out.Calls, call3{p.ID, p.FunctionCall.Name, p.FunctionCall.Arguments})
		}
	}
	return out
}

func TestAnswer(t *testing.T) {
	msg := func(id, text string) string {
		return `{"type":"message","id":"` + id + `","status":"completed","role":"assistant","content":[{"type":"output_text","annotations":[],"text":"` + text + `"}]}`
	}
	fn := func(id, callID, args string) string {
		return `{"type":"function_call","id":"` + id + `","call_id":"` + callID + `","name":"read","arguments":"` + args + `","status":"completed"}`
	}
	const rs = `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"one"},{"type":"summary_text","text":"two"}],"encrypted_content":"gAAA"}`
	thought := model.Reasoning{TextContent: text("one\n\ntwo"), Provider: ref, Signature: rs}
	a, b := call("a", "read", `{"p":1}`), call("b", "read", `{"p":2}`)
	tests := []struct {
		name   string
		events []string
		want   []llms.ContentPart
	}{
		{"text in pieces", []string{
			added("0", `{"type":"message","id":"m1","status":"in_progress","phase":"final_answer","content":[]}`),
			`content_part.added "item_id":"m1","output_index":0,"content_index":0,"part":{"type":"output_text","text":""}`,
			`output_text.delta "item_id":"m1","output_index":0,"content_index":0,"delta":"I ","logprobs":[],"obfuscation":"xx"`,
			`output_text.delta "item_id":"m1","output_index":0,"content_index":0,"delta":"l\u00f6ok."`,
			`output_text.done "item_id":"m1","output_index":0,"content_index":0,"text":"I löok."`,
			done("0", msg("m1", "I löok.")), completed,
		}, []llms.ContentPart{message("I löok.", `{"type":"message","phase":"final_answer"}`)}},
		{"a whole item without deltas", []string{done("0", msg("m1", "I look.")), completed},
			[]llms.ContentPart{text("I look.")}},
		{"the end of a text in its item alone", []string{
			added("0", `{"type":"message","id":"m1"}`), `output_text.delta "item_id":"m1","output_index":0,"content_index":0,"delta":"I "`,
			done("0", msg("m1", "I look.")), completed,
		}, []llms.ContentPart{text("I look.")}},
		{"all of it in the last event", []string{
			`completed "response":{"status":"completed","output":[` + rs + `,` + msg("m1", "I look.") + `,` + fn("f1", "a", `{\"p\":1}`) + `]}`,
		}, []llms.ContentPart{
			thought,
			message("I look.", `{"type":"message","id":"m1"}`), item("f1", a),
		}},
		{"all of it again in the last event", []string{
			added("0", `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"half"}`), done("0", rs),
			done("1", fn("f1", "a", `{\"p\":1}`)), done("2", fn("f2", "b", `{\"p\":2}`)),
			`completed "response":{"status":"completed","output":[` + rs + `,` + fn("f1", "a", `{\"p\":1}`) + `,` + fn("f2", "b", `{\"p\":2}`) + `]}`,
		}, []llms.ContentPart{thought, item("f1", a), item("f2", b)}},
		{"parts of a summary stand apart", []string{
			added("0", `{"type":"reasoning","id":"rs_1","summary":[]}`),
			`reasoning_summary_part.added "item_id":"rs_1","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":""}`,
			`reasoning_summary_text.delta "item_id":"rs_1","output_index":0,"summary_index":0,"delta":"o"`,
			`reasoning_summary_text.delta "item_id":"rs_1","output_index":0,"summary_index":0,"delta":"ne"`,
			`reasoning_summary_text.done "item_id":"rs_1","output_index":0,"summary_index":0,"text":"one"`,
			`reasoning_summary_text.delta "item_id":"rs_1","output_index":0,"summary_index":1,"delta":"two"`,
			`reasoning_summary_part.done "item_id":"rs_1","output_index":0,"summary_index":1,"part":{"type":"summary_text","text":"two"}`,
			done("0", rs), done("1", fn("f1", "a", `{\"p\":1}`)), completed,
		}, []llms.ContentPart{thought, item("f1", a)}},
		{"an encrypted thought without a summary", []string{
			done("0", `{"id":"rs_2","type":"reasoning","summary":[],"encrypted_content":"gBBB"}`), done("1", msg("m1", "x")), completed,
		}, []llms.ContentPart{
			model.Reasoning{Provider: ref, Signature: `{"id":"rs_2","type":"reasoning","summary":[],"encrypted_content":"gBBB"}`},
			message("x", `{"type":"message","id":"m1"}`),
		}},
		{"an open model thinks aloud", []string{
			added("0", `{"type":"reasoning","id":"rs_3","summary":[],"content":[]}`),
			`reasoning_text.delta "item_id":"rs_3","output_index":0,"content_index":0,"delta":"hm"`,
			`reasoning_text.done "item_id":"rs_3","output_index":0,"content_index":0,"text":"hm"`,
			done("0", `{"type":"reasoning","id":"rs_3","summary":[],"content":[{"type":"reasoning_text","text":"hm"}]}`),
			done("1", msg("m1", "x")), completed,
		}, []llms.ContentPart{
			model.Reasoning{TextContent: text("hm"), Provider: ref, Signature: `{"type":"reasoning","id":"rs_3","summary":[],"content":[{"type":"reasoning_text","text":"hm"}]}`},
			message("x", `{"type":"message","id":"m1"}`),
		}},
		{"a thought that is kept at the server does not go back", []string{
			done("0", `{"type":"reasoning","id":"rs_4","summary":[{"type":"summary_text","text":"hm"}]}`), done("1", msg("m1", "x")), completed,
		}, []llms.ContentPart{model.Reasoning{TextContent: text("hm"), Provider: ref}, text("x")}},
		{"a thought that led to nothing does not go back", []string{done("0", rs), completed},
			[]llms.ContentPart{model.Reasoning{TextContent: text("one\n\ntwo"), Provider: ref}}},
		{"a thought that led to an item of an unknown type does not go back", []string{
			done("0", rs), `web_search_call.searching "item_id":"ws_1","output_index":1`,
			done("1", `{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search"},"content":7}`), done("2", msg("m1", "x")), completed,
		}, []llms.ContentPart{model.Reasoning{TextContent: text("one\n\ntwo"), Provider: ref}, text("x")}},
		{"two messages stand apart", []string{
			added("0", `{"type":"message","phase":"commentary"}`), `output_text.delta "item_id":"m1","output_index":0,"content_index":0,"delta":"I look."`,
			done("0", `{"type":"message","id":"m1","status":"completed","phase":"commentary","content":[{"type":"output_text","text":"I look."}]}`),
			added("1", `{"type":"message","phase":"final_answer"}`), `output_text.delta "item_id":"m2","output_index":1,"content_index":0,"delta":"Done"`,
			`output_text.delta "item_id":"m2","output_index":1,"content_index":0,"delta":"."`, completed,
		}, []llms.ContentPart{message("I look.", `{"type":"message","phase":"commentary"}`), message("\n\nDone.", `{"type":"message","phase":"final_answer"}`)}},
		{"messages with a call between them need no gap", []string{
			done("0", msg("m1", "I look.")), done("1", fn("f1", "a", `{\"p\":1}`)), done("2", msg("m2", "Done.")), completed,
		}, []llms.ContentPart{text("I look."), a, text("Done.")}},
		{"a message of parts", []string{
			`output_text.delta "item_id":"m1","output_index":0,"content_index":0,"delta":"a"`, `output_text.delta "item_id":"m1","output_index":0,"content_index":1,"delta":"b"`,
			done("0", `{"type":"message","id":"m1","status":"completed","content":[{"type":"output_text","text":"a"},{"type":"output_text","text":"b"}]}`), completed,
		}, []llms.ContentPart{text("ab")}},
		{"a refusal is text and goes back as such", []string{
			added("0", `{"type":"message","id":"m1"}`), `refusal.delta "item_id":"m1","output_index":0,"content_index":0,"delta":"I ca"`,
			`refusal.done "item_id":"m1","output_index":0,"content_index":0,"refusal":"I can't."`,
			done("0", `{"type":"message","id":"m1","status":"completed","content":[{"type":"refusal","refusal":"I can't."}]}`), completed,
		}, []llms.ContentPart{text("I can't.")}},
		{"calls one after the other", []string{
			added("0", `{"type":"function_call","id":"f1","call_id":"a","name":"read","arguments":""}`),
			`function_call_arguments.delta "item_id":"f1","output_index":0,"delta":"{\"p\":"`, `function_call_arguments.delta "item_id":"f1","output_index":0,"delta":"1}"`,
			`function_call_arguments.done "item_id":"f1","output_index":0,"arguments":"{\"p\":1}"`, done("0", fn("f1", "a", `{\"p\":1}`)),
			added("1", `{"type":"function_call","id":"f2","call_id":"b","name":"read","arguments":""}`),
			`function_call_arguments.delta "item_id":"f2","output_index":1,"delta":"{\"p\":2}"`, done("1", fn("f2", "b", `{\"p\":2}`)), completed,
		}, []llms.ContentPart{a, b}},
		{"calls interleaved", []string{
			added("0", `{"type":"function_call","id":"f1","call_id":"a","name":"read"}`), added("1", `{"type":"function_call","id":"f2","call_id":"b","name":"read"}`),
			`function_call_arguments.delta "item_id":"f2","output_index":1,"delta":"{\"p\":"`, `function_call_arguments.delta "item_id":"f1","output_index":0,"delta":"{\"p\":"`,
			`function_call_arguments.delta "item_id":"f2","output_index":1,"delta":"2}"`, `function_call_arguments.delta "item_id":"f1","output_index":0,"delta":"1}"`,
			done("1", fn("f2", "b", `{\"p\":2}`)), done("0", fn("f1", "a", `{\"p\":1}`)), completed,
		}, []llms.ContentPart{a, b}},
		{"the id counts, not the index", []string{
			added("0", `{"type":"function_call","id":"f1","call_id":"a","name":"read"}`), added("0", `{"type":"function_call","id":"f2","call_id":"b","name":"read"}`),
			`function_call_arguments.delta "item_id":"f1","output_index":0,"delta":"{\"p\":1}"`, `function_call_arguments.delta "item_id":"f2","output_index":0,"delta":"{\"p\":2}"`, completed,
		}, []llms.ContentPart{a, b}},
		{"another id in each event, so that the index counts", []string{
			added("0", `{"type":"function_call","id":"x1","call_id":"a","name":"read"}`), added("1", `{"type":"function_call","id":"x2","call_id":"b","name":"read"}`),
			`function_call_arguments.delta "item_id":"x3","output_index":0,"delta":"{\"p\":1}"`, `function_call_arguments.delta "item_id":"x4","output_index":1,"delta":"{\"p\":2}"`,
			`function_call_arguments.done "item_id":"x5","output_index":0,"arguments":"{\"p\":1}"`, done("0", fn("x6", "a", `{\"p\":1}`)), done("1", fn("x7", "b", `{\"p\":2}`)),
			`completed "response":{"status":"completed","output":[` + fn("x8", "a", `{\"p\":1}`) + `,` + fn("x9", "b", `{\"p\":2}`) + `]}`,
		}, []llms.ContentPart{a, b}},
		{"messages under another id in the last event", []string{
			added("0", `{"type":"message","id":"y1"}`), `output_text.delta "item_id":"y2","output_index":0,"content_index":0,"delta":"x"`, done("0", msg("y3", "x")),
			`completed "response":{"status":"completed","output":[` + msg("y4", "x") + `]}`,
		}, []llms.ContentPart{text("x")}},
		{"neither ids nor indexes", []string{
			`output_item.added "item":{"type":"function_call","name":"read"}`, `function_call_arguments.delta "delta":"{\"p\":1}"`,
			`output_item.added "item":{"type":"function_call","name":"read"}`, `function_call_arguments.delta "delta":"{\"p\":2}"`,
			`completed "response":{"status":"completed","output":[{"type":"function_call","name":"read","arguments":"{\"p\":1}"},{"type":"function_call","name":"read","arguments":"{\"p\":2}"}]}`,
		}, []llms.ContentPart{call("new", "read", `{"p":1}`), call("new", "read", `{"p":2}`)}},
		{"one index for all, whole items with ids", []string{
			done("0", fn("f1", "a", `{\"p\":1}`)), done("0", fn("f2", "b", `{\"p\":2}`)), completed,
		}, []llms.ContentPart{a, b}},
		{"deltas before their item", []string{
			`function_call_arguments.delta "item_id":"f1","output_index":0,"delta":"{\"p\":1}"`, done("0", fn("f1", "a", `{\"p\":1}`)), completed,
		}, []llms.ContentPart{a}},
		{"deltas of another item under the index of one that is whole", []string{
			done("0", fn("f1", "a", `{\"p\":1}`)), `function_call_arguments.delta "item_id":"f2","output_index":0,"delta":"{\"p\":"`, done("0", fn("f2", "b", `{\"p\":2}`)), completed,
		}, []llms.ContentPart{a, b}},
		{"a refusal after a thought has no id", []string{
			done("0", rs), done("1", `{"type":"message","id":"m1","status":"completed","content":[{"type":"refusal","refusal":"I can't."}]}`), completed,
		}, []llms.ContentPart{thought, text("I can't.")}},
		{"a thought that is not whole does not go back", []string{
			added("0", rs), done("1", msg("m1", "x")), completed,
		}, []llms.ContentPart{model.Reasoning{TextContent: text("one\n\ntwo"), Provider: ref}, text("x")}},
		{"arguments in done alone", []string{
			added("0", `{"type":"function_call","id":"f1","call_id":"a","name":"read","arguments":""}`),
			`function_call_arguments.done "item_id":"f1","output_index":0,"arguments":"{\"p\":1}"`, completed,
		}, []llms.ContentPart{a}},
		{"arguments that are an object", []string{
			done("0", `{"type":"function_call","id":"f1","call_id":"a","name":"read","arguments":{"p":1}}`), completed,
		}, []llms.ContentPart{a}},
		{"numbers and letters stay as they are", []string{
			done("0", fn("f1", "a", `{\"z\":12345678901234567890, \"a\":\"<&>\"}`)), completed,
		}, []llms.ContentPart{call("a", "read", `{"z":12345678901234567890, "a":"<&>"}`)}},
		{"C102 no arguments", []string{done("0", fn("f1", "a", "")), completed}, []llms.ContentPart{call("a", "read", "{}")}},
		{"C114 no name at all", []string{`function_call_arguments.delta "item_id":"f1","output_index":0,"delta":"{\"p\":1}"`, completed},
			[]llms.ContentPart{call("f1", "", `{"p":1}`)}},
		{"a call of nothing", []string{added("0", `{"type":"function_call","id":"f1"}`), completed}, nil},
		{"two calls under one id", []string{
			done("0", fn("f1", "a", `{\"p\":1}`)), added("1", `{"type":"function_call","id":"f2","name":"read"}`),
			`function_call_arguments.delta "item_id":"f2","output_index":1,"delta":"{\"p\":2}"`, done("1", `{"type":"function_call","id":"f2","name":"read","status":"completed"}`), completed,
		}, []llms.ContentPart{a, call("f2", "read", `{"p":2}`)}},
		{"two calls under one id of a call, whole", []string{
			done("0", fn("f1", "a", `{\"p\":1}`)), done("1", fn("f2", "a", `{\"p\":2}`)),
			`completed "response":{"status":"completed","output":[` + fn("f1", "a", `{\"p\":1}`) + `,` + fn("f2", "a", `{\"p\":2}`) + `]}`,
		}, []llms.ContentPart{a, call("new", "read", `{"p":2}`)}},
		{"two calls under one id of a call, in pieces", []string{
			added("0", `{"type":"function_call","id":"f1","call_id":"a","name":"read"}`), `function_call_arguments.delta "item_id":"f1","output_index":0,"delta":"{\"p\":1}"`,
			done("0", fn("f1", "a", `{\"p\":1}`)), added("1", `{"type":"function_call","id":"f2","call_id":"a","name":"read"}`),
			`function_call_arguments.delta "item_id":"f2","output_index":1,"delta":"{\"p\":2}"`, done("1", fn("f2", "a", `{\"p\":2}`)), completed,
		}, []llms.ContentPart{a, call("new", "read", `{"p":2}`)}},
		{"an id that is too long to go back", []string{done("0", rs), done("1", fn(strings.Repeat("f", 65), "a", `{\"p\":1}`)), completed},
			[]llms.ContentPart{thought, a}},
		{"ids stay behind with a thought that does not go back", []string{
			done("0", rs), done("1", fn("f1", "a", `{\"p\":1}`)), done("2", `{"type":"reasoning","id":"rs_5","summary":[]}`), done("3", fn("f2", "b", `{\"p\":2}`)), completed,
		}, []llms.ContentPart{thought, item("f1", a), b}},
		{"an item that is not whole", []string{
			done("0", rs), added("1", `{"type":"message","id":"m1","phase":"final_answer"}`), `output_text.delta "item_id":"m1","output_index":1,"content_index":0,"delta":"pa"`,
			done("1", `{"type":"message","id":"m1","status":"incomplete","content":[{"type":"output_text","text":"pa"}]}`), incomplete("max_output_tokens"),
		}, []llms.ContentPart{thought, message("pa", `{"type":"message","phase":"final_answer"}`)}},
		{"another id in each event, after a thought", []string{
			done("0", rs), added("1", `{"type":"message","id":"y1"}`), `output_text.delta "item_id":"y2","output_index":1,"content_index":0,"delta":"x"`, done("1", msg("y3", "x")), completed,
		}, []llms.ContentPart{thought, message("x", `{"type":"message","id":"y1"}`)}},
		{"an item of an unknown type with a text", []string{
			added("0", `{"type":"brand_new","id":"x","content":[{"type":"output_text","text":"not ours"}]}`), done("0", `{"type":"brand_new","id":"x","content":[{"text":"not ours"}],"summary":[{"text":"nor this"}]}`),
			done("1", msg("m1", "x")), completed,
		}, []llms.ContentPart{text("x")}},
		{"a thought is that of its own event, not of the last one", []string{
			done("0", rs), done("1", msg("m1", "x")),
			`completed "response":{"status":"completed","output":[{"type":"reasoning","id":"other","summary":[],"encrypted_content":"other"},` + msg("m1", "x") + `]}`,
		}, []llms.ContentPart{thought, message("x", `{"type":"message","id":"m1"}`)}},
		{"events and members of other types", []string{
			`brand.new "delta":{"a":[1]},"text":[1],"part":7`, `in_progress "response":{"id":"r"}`, `output_text.annotation.added "item_id":"m1","annotation":{}`,
			`custom_tool_call_input.delta "item_id":"c1","delta":"x"`, done("0", msg("m1", "x")), completed,
		}, []llms.ContentPart{text("x")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			reply := collect(t, client(stream(append([]string{created}, tt.events...)...)))
			for i, p := range reply.Parts {
				if c, ok := p.(llms.ToolCall); ok && strings.HasPrefix(c.ID, "call_") {
					c.ID = "new"
					reply.Parts[i] = c
				}
			}
			if diff := cmp.Diff(tt.want, reply.Parts); diff != "" {
				t.Errorf("parts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestArgumentsThatEndOtherwise(t *testing.T) {
	s := stream(added("0", `{"type":"function_call","id":"f1","call_id":"a","name":"read"}`), `function_call_arguments.delta "item_id":"f1","delta":"{\"p\""`,
		`function_call_arguments.delta "item_id":"f1","delta":"1}"`, `function_call_arguments.done "item_id":"f1","arguments":"{\"p\":1}"`, completed)
	_, reply, err := modeltest.Collect(t.Context(), client(s), modeltest.Ask("go"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]llms.ContentPart{call("a", "read", `{"p":1}`)}, reply.Parts); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
}

func TestEnds(t *testing.T) {
	say := `output_text.delta "item_id":"m1","output_index":0,"content_index":0,"delta":"part"`
	whole := done("1", `{"type":"function_call","id":"f1","call_id":"a","name":"ls","arguments":"{}","status":"completed"}`)
	failed := func(e string) string {
		return stream(say, `failed "response":{"id":"resp_1","status":"failed","error":`+e+`}`)
	}
	tests := []struct {
		name   string
		stream string
		stop   model.Stop
		raw    string
	}{
		{"completed", stream(created, say, completed), model.StopEnd, "completed"},
		{"with a call", stream(created, say, whole, completed), model.StopTools, "completed"},
		{"a name for it that gateways use", stream(created, say, `done "response":{"status":"completed"}`), model.StopEnd, "completed"},
		{"[DONE] behind it", stream(created, say, completed) + "data: [DONE]\n\n", model.StopEnd, "completed"},
		{"[DONE] before it", "data: [DONE]\n\n" + stream(say, completed), model.StopEnd, "completed"},
		{"length", stream(created, say, incomplete("max_output_tokens")), model.StopLength, "max_output_tokens"},
		{"length after a call", stream(created, say, whole, incomplete("max_output_tokens")), model.StopLength, "max_output_tokens"},
		{"length under another event", stream(created, say, `completed "response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}`), model.StopLength, "max_output_tokens"},
		{"incomplete for a reason that nobody knows", stream(created, say, incomplete("steered")), model.StopLength, "steered"},
		{"content filter", stream(created, say, incomplete("content_filter")), model.StopRefusal, "content_filter"},
		{"C018 refusal", stream(created, `refusal.delta "item_id":"m1","output_index":0,"content_index":0,"delta":"part"`, completed), model.StopRefusal, "completed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			reply := collect(t, client(tt.stream))
			if reply.Stop != tt.stop || reply.RawStop != tt.raw || inReply(reply).Text != "part" {
				t.Errorf("Stop = %q (%q), text %q; want %q (%q)", reply.Stop, reply.RawStop, inReply(reply).Text, tt.stop, tt.raw)
			}
		})
	}
	faults := []struct {
		name   string
		stream string
		want   model.Error // Kind, Code
		again  bool
	}{
		{"C110 end without a word", stream(created, say), model.Error{Kind: model.Connection}, true},
		{"[DONE] is no end", stream(created, say) + "data: [DONE]\n\n", model.Error{Kind: model.Connection}, true},
		{"whole items are no end", stream(created, say, whole), model.Error{Kind: model.Connection}, true},
		{"cut in an event", stream(created, say) + `data: {"type":"respon`, model.Error{Kind: model.Malformed}, true},
		{"an item that is none", stream(created, say, done("0", `{"type":"message","content":7}`)), model.Error{Kind: model.Malformed}, true},
		{"failed", failed(`{"code":"server_error","message":"boom"}`), model.Error{Kind: model.Overloaded, Code: "server_error"}, true},
		{"failed without a word", failed("null"), model.Error{Kind: model.Overloaded}, true},
		{"failed for the rate", failed(`{"code":"rate_limit_exceeded","message":"Please try again in 2s."}`), model.Error{Kind: model.RateLimit, Code: "rate_limit_exceeded"}, true},
		{"failed for the window", failed(`{"code":"context_length_exceeded","message":"Your input exceeds the context window of this model."}`),
			model.Error{Kind: model.TokenLimit, Code: "context_length_exceeded"}, false},
		{"failed for good", failed(`{"code":"insufficient_quota","message":"You exceeded your current quota"}`), model.Error{Kind: model.Quota, Code: "insufficient_quota"}, false},
		{"failed for a policy", failed(`{"code":"invalid_prompt","message":"flagged"}`), model.Error{Kind: model.Refused, Code: "invalid_prompt"}, false},
		{"failed under another event", stream(say, `completed "response":{"status":"failed","error":{"code":"server_error","message":"boom"}}`),
			model.Error{Kind: model.Overloaded, Code: "server_error"}, true},
		{"cancelled", stream(say, `cancelled "response":{"status":"cancelled"}`), model.Error{Kind: model.Overloaded}, true},
		{"an error event", stream(say) + `data: {"type":"error","code":"server_error","message":"boom","param":null,"sequence_number":3}` + "\n\n",
			model.Error{Kind: model.Overloaded, Code: "server_error"}, true},
		{"an error event with an error inside", stream(say) + `data: {"type":"error","error":{"type":"server_error","code":null,"message":"boom"}}` + "\n\n",
			model.Error{Kind: model.Overloaded, Code: "server_error"}, true},
		{"an error of a gateway", stream(say) + `data: {"error":{"message":"Provider overloaded","code":529}}` + "\n\n", model.Error{Kind: model.Overloaded}, true},
	}
	for _, tt := range faults {
		t.Run(tt.name, func(t *testing.T) {
			_, reply, err := modeltest.Collect(t.Context(), client(tt.stream), modeltest.Ask("go"))
			e, ok := errors.AsType[*model.Error](err)
			if !ok || e.Kind != tt.want.Kind || e.Code != tt.want.Code || !e.Partial || e.Temporary() != tt.again || e.Provider != "openai" {
				t.Fatalf("error = %+v, want a partial one of kind %q, code %q, again %v", err, tt.want.Kind, tt.want.Code, tt.again)
			}
			if got := inReply(reply); got.Text != "part" || len(got.Calls) > 0 {
				t.Errorf("reply = %+v, want the text and no calls", got)
			}
		})
	}
}

func TestRateLimitNamesTheWait(t *testing.T) {
	s := stream(`failed "response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"Rate limit reached. Please try again in 1.898s."}}`)
	_, _, err := modeltest.Collect(t.Context(), client(s), modeltest.Ask("go"))
	if e, ok := errors.AsType[*model.Error](err); !ok || e.RetryAfter.Milliseconds() != 1898 || e.Partial {
		t.Errorf("error = %+v, want one with a wait of 1.898s", err)
	}
}

func TestReplyOfAnAnswerThatIsCutHoldsNoThoughtToGoBack(t *testing.T) {
	s := stream(created, done("0", `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"g"}`),
		`output_text.delta "item_id":"m1","output_index":1,"content_index":0,"delta":"part"`)
	_, reply, _ := modeltest.Collect(t.Context(), client(s), modeltest.Ask("go"))
	want := []llms.ContentPart{model.Reasoning{TextContent: text("hm"), Provider: ref}, text("part")}
	if diff := cmp.Diff(want, reply.Parts); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
	if reply.RequestID != "resp_1" || reply.Model != "gpt-x" {
		t.Errorf("reply = %+v, want the id and the model of the response", reply)
	}
}

func TestUsage(t *testing.T) {
	tests := []struct {
		name, usage string
		want        model.Usage
	}{
		{"C127 cached and written are part of the prompt", `{"input_tokens":10000,"input_tokens_details":{"cached_tokens":9000,"cache_write_tokens":64},` +
			`"output_tokens":500,"output_tokens_details":{"reasoning_tokens":448},"total_tokens":10500}`,
			model.Usage{Input: 10000, Output: 500, CacheRead: 9000, CacheWrite: 64, Reasoning: 448, Known: true}},
		{"without details", `{"input_tokens":10,"output_tokens":5}`, model.Usage{Input: 10, Output: 5, Known: true}},
		{"C127 missing", `null`, model.Usage{}},
		{"of another shape", `[1]`, model.Usage{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, end := range []string{"completed", "incomplete"} {
				reply := collect(t, client(stream(created, end+` "response":{"status":"`+end+`","usage":`+tt.usage+`}`)))
				if diff := cmp.Diff(tt.want, reply.Usage); diff != "" {
					t.Errorf("%s (-want +got):\n%s", end, diff)
				}
			}
		})
	}
}

func TestLongArguments(t *testing.T) {
	const n = 4 << 20 // in one event, beyond every buffer
	args := `{"c":"` + strings.Repeat("x", n) + `"}`
	wire := strings.ReplaceAll(args, `"`, `\"`)
	s := stream(added("0", `{"type":"function_call","id":"f1","call_id":"a","name":"write"}`),
		done("0", `{"type":"function_call","id":"f1","call_id":"a","name":"write","status":"completed","arguments":"`+wire+`"}`), completed)
	_, reply, err := modeltest.Collect(t.Context(), client(s), modeltest.Ask("go"))
	if err != nil {
		t.Fatal(err)
	}
	if got := inReply(reply).Calls; len(got) != 1 || got[0].Args != args {
		t.Errorf("%d calls, arguments not as they were sent", len(got))
	}
}
