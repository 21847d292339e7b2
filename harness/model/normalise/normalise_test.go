package normalise_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/anthropic"
	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
	"github.com/lorimer-dev/lorimer/harness/model/normalise"
	"github.com/lorimer-dev/lorimer/harness/model/openai"
)

var (
	plain   = model.Descriptor{Kind: "openai", Provider: "p", ID: "m"}
	claude  = model.Descriptor{Kind: "anthropic", Provider: "anthropic", ID: "claude"}
	sees    = model.Descriptor{Kind: "openai", Provider: "p", ID: "m", Images: true}
	mistral = model.Descriptor{Kind: "openai", Provider: "p", ID: "mistralai/Devstral-Small-2", Images: true}
)

const interrupted = "The call was interrupted before it gave a result. It is not known how far it came."

func human(parts ...any) llms.MessageContent { return message(llms.ChatMessageTypeHuman, parts) }
func ai(parts ...any) llms.MessageContent    { return message(llms.ChatMessageTypeAI, parts) }
func tool(parts ...any) llms.MessageContent  { return message(llms.ChatMessageTypeTool, parts) }

func message(role llms.ChatMessageType, parts []any) llms.MessageContent {
	m := llms.MessageContent{Role: role}
	for _, p := range parts {
		if s, ok := p.(string); ok {
			p = llms.TextContent{Text: s}
		}
		m.Parts = append(m.Parts, p.(llms.ContentPart))
	}
	return m
}

func call(id, name, args string) llms.ToolCall {
	return llms.ToolCall{ID: id, Type: "function", FunctionCall: &llms.FunctionCall{Name: name, Arguments: args}}
}

func result(id, name, content string) model.ToolResult {
	return model.ToolResult{ToolCallResponse: llms.ToolCallResponse{ToolCallID: id, Name: name, Content: content}}
}

func failed(id, name, content string) model.ToolResult {
	r := result(id, name, content)
	r.IsError = true
	return r
}

func thought(provider, text string) model.Reasoning {
	return model.Reasoning{TextContent: llms.TextContent{Text: text}, Provider: provider, Signature: "S"}
}

func TestMessages(t *testing.T) {
	png := llms.BinaryContent{MIMEType: "image/png", Data: make([]byte, 1500)}
	line := "[An image was attached here (image/png, 2 KiB). This model cannot see it; say so if the answer depends on it.]"
	withImage := result("a", "read", "a picture")
	withImage.Images = []llms.BinaryContent{png}
	jpeg := []byte("\xff\xd8\xff\xe0 and more")
	mislabelled, labelled := result("a", "read", "x"), result("a", "read", "x")
	mislabelled.Images = []llms.BinaryContent{{MIMEType: "image/png", Data: jpeg}}
	labelled.Images = []llms.BinaryContent{{MIMEType: "image/jpeg", Data: jpeg}}
	extra := model.Extra{ToolCall: call("a", "ls", "{}"), Provider: "p/m", Content: json.RawMessage(`{"s":1}`)}
	foreign := extra
	foreign.Provider = "q/m"
	tests := []struct {
		name     string
		d        model.Descriptor
		in, want []llms.MessageContent
	}{
		{"what is in order stays", plain,
			[]llms.MessageContent{human("hi"), ai("I look.", call("a", "ls", "{}")), tool(result("a", "ls", "x")), ai("ok"), human("more")},
			[]llms.MessageContent{human("hi"), ai("I look.", call("a", "ls", "{}")), tool(result("a", "ls", "x")), ai("ok"), human("more")}},
		{"results come in the order of their calls, in one message", plain,
			[]llms.MessageContent{human("hi"), ai(call("a", "ls", "{}"), call("b", "cat", "{}")), tool(result("b", "cat", "y")), tool(result("a", "ls", "x"))},
			[]llms.MessageContent{human("hi"), ai(call("a", "ls", "{}"), call("b", "cat", "{}")), tool(result("a", "ls", "x"), result("b", "cat", "y"))}},
		{"a missing result is made up", plain,
			[]llms.MessageContent{human("hi"), ai(call("a", "ls", "{}"), call("b", "cat", "{}")), tool(result("a", "ls", "x")), human("stop")},
			[]llms.MessageContent{human("hi"), ai(call("a", "ls", "{}"), call("b", "cat", "{}")), tool(result("a", "ls", "x"), failed("b", "cat", interrupted)), human("stop")}},
		{"what the user says meanwhile comes after the results", plain,
			[]llms.MessageContent{human("hi"), ai(call("a", "ls", "{}")), human("quick!"), tool(result("a", "ls", "x"))},
			[]llms.MessageContent{human("hi"), ai(call("a", "ls", "{}")), tool(result("a", "ls", "x")), human("quick!")}},
		{"results without a call and second results are dropped", plain,
			[]llms.MessageContent{tool(result("z", "ls", "?")), human("hi"), ai(call("a", "ls", "{}")), tool(result("a", "ls", "x"), result("a", "ls", "y"), result("z", "ls", "?")), ai("ok"), tool(result("a", "ls", "late")), human("so")},
			[]llms.MessageContent{human("hi"), ai(call("a", "ls", "{}")), tool(result("a", "ls", "x")), ai("ok"), human("so")}},
		{"empty blocks are dropped, empty results are said", plain,
			[]llms.MessageContent{human(" ", "hi"), ai("\n", call("a", "ls", "{}")), tool(result("a", "ls", "")), ai(""), human("")},
			[]llms.MessageContent{human("hi"), ai(call("a", "ls", "{}")), tool(result("a", "ls", "(The tool gave no output.)"))}},
		{"C106 thoughts of another model are dropped", plain,
			[]llms.MessageContent{human("hi"), ai(thought("q/m", "secret"), thought("p/m", "own"), "ok"), human("on"), ai(thought("p/other", "x")), human("so")},
			[]llms.MessageContent{human("hi"), ai(thought("p/m", "own"), "ok"), human("on"), human("so")}},
		{"C107 opaque data goes to its author alone", plain,
			[]llms.MessageContent{human("hi"), ai(extra), tool(result("a", "ls", "x")), ai(model.Extra{ToolCall: call("b", "ls", "{}"), Provider: "q/m"}), tool(result("b", "ls", "x"))},
			[]llms.MessageContent{human("hi"), ai(extra), tool(result("a", "ls", "x")), ai(call("b", "ls", "{}")), tool(result("b", "ls", "x"))}},
		{"C101 C102 arguments become an object", plain,
			[]llms.MessageContent{human("hi"), ai(call("a", "ls", `{"p":"a`), call("b", "ls", "null"), call("c", "ls", "[]"), call("d", "ls", `{"a":1}{"a":1}`), call("e", "ls", ""))},
			[]llms.MessageContent{human("hi"), ai(call("a", "ls", "{}"), call("b", "ls", "{}"), call("c", "ls", "{}"), call("d", "ls", "{}"), call("e", "ls", "{}")),
				tool(failed("a", "ls", interrupted), failed("b", "ls", interrupted), failed("c", "ls", interrupted), failed("d", "ls", interrupted), failed("e", "ls", interrupted))}},
		{"C105 ids that repeat are told apart", plain,
			[]llms.MessageContent{human("hi"), ai(call("a", "ls", "{}"), call("a", "cat", "{}")), tool(result("a", "ls", "1"), result("a", "cat", "2")), ai(call("a", "ls", "{}")), tool(result("a", "ls", "3"))},
			[]llms.MessageContent{human("hi"), ai(call("a", "ls", "{}"), call("call_", "cat", "{}")), tool(result("a", "ls", "1"), result("call_", "cat", "2")),
				ai(call("call_", "ls", "{}")), tool(result("call_", "ls", "3"))}},
		{"C114 names are spelt in the alphabet", plain,
			[]llms.MessageContent{human("hi"), ai(call("a", "", "{}"), call("b/1", "mcp.tool", "{}"))},
			[]llms.MessageContent{human("hi"), ai(call("a", "unnamed_e3b0c442", "{}"), call("call_", "mcp_tool_", "{}")), tool(failed("a", "unnamed_e3b0c442", interrupted), failed("call_", "mcp_tool_", interrupted))}},
		{"R-HARN-32 a line stands for an image that cannot be seen", plain,
			[]llms.MessageContent{human("look", png, llms.ImageURLContent{URL: "http://x/y.png"}), ai(call("a", "read", "{}")), tool(withImage)},
			[]llms.MessageContent{human("look", line, "[An image was attached here: http://x/y.png. This model cannot see it; say so if the answer depends on it.]"),
				ai(call("a", "read", "{}")), tool(result("a", "read", "a picture\n"+line))}},
		{"images stay for a model that sees", sees,
			[]llms.MessageContent{human("look", png), ai(call("a", "read", "{}")), tool(withImage)},
			[]llms.MessageContent{human("look", png), ai(call("a", "read", "{}")), tool(withImage)}},
		{"a picture is of the type that its bytes show", sees,
			[]llms.MessageContent{human("look", llms.BinaryContent{MIMEType: "image/png", Data: jpeg}), ai(call("a", "read", "{}")), tool(mislabelled)},
			[]llms.MessageContent{human("look", llms.BinaryContent{MIMEType: "image/jpeg", Data: jpeg}), ai(call("a", "read", "{}")), tool(labelled)}},
		{"pictures that no model takes, and files", sees,
			[]llms.MessageContent{human("look", llms.BinaryContent{MIMEType: "image/tiff"}, llms.BinaryContent{MIMEType: "application/pdf"})},
			[]llms.MessageContent{human("look", "[An image was attached here (image/tiff, 0 KiB). This model cannot see it; say so if the answer depends on it.]",
				"[A file was attached here (application/pdf, 0 KiB). This model cannot read files of this type; say so if the answer depends on it.]")}},
		{"Anthropic begins with the user and alternates", claude,
			[]llms.MessageContent{ai("before"), ai("and"), human("hi"), human("there")},
			[]llms.MessageContent{human("(The conversation goes on from an earlier answer.)"), ai("before", "and"), human("hi", "there")}},
		{"Mistral's models speak between results and the user", mistral,
			[]llms.MessageContent{human("hi"), ai(call("a", "read", "{}")), tool(withImage), human("stop"), ai(call("b", "ls", "{}")), tool(result("b", "ls", "x")), ai("ok"), human("so")},
			[]llms.MessageContent{human("hi"), ai(call("a", "read", "{}")), tool(result("a", "read", "a picture")), ai("(I have the results of the calls.)"), human(png), human("stop"),
				ai(call("b", "ls", "{}")), tool(result("b", "ls", "x")), ai("ok"), human("so")}},
		{"others may speak twice", plain,
			[]llms.MessageContent{human("hi"), human("there")}, []llms.MessageContent{human("hi"), human("there")}},
		{"a chat template may not", model.Descriptor{Kind: "openai", Provider: "llamacpp", ID: "m"},
			[]llms.MessageContent{human("hi"), human("there")}, []llms.MessageContent{human("hi", "there")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := modeltest.Ask("")
			req.Messages = tt.in
			before := fmt.Sprintf("%#v", tt.in)
			got := normalise.Request(req, tt.d, normalise.Options{}).Messages
			if diff := cmp.Diff(short(tt.want), short(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if after := fmt.Sprintf("%#v", tt.in); after != before {
				t.Errorf("the request was changed:\n%s\n%s", before, after)
			}
		})
	}
}

// short cuts digests that stand for what cannot be spelt, so that rows need not
// know them.
func short(msgs []llms.MessageContent) []llms.MessageContent {
	cut := func(s string) string {
		for _, lead := range []string{"call_", "mcp_tool_"} {
			if len(s) == len(lead)+24 || len(s) == len(lead)+8 {
				if strings.HasPrefix(s, lead) {
					return lead
				}
			}
		}
		return s
	}
	var out []llms.MessageContent
	for _, m := range msgs {
		c := llms.MessageContent{Role: m.Role}
		for _, p := range m.Parts {
			switch v := p.(type) {
			case llms.ToolCall:
				p = call(cut(v.ID), cut(v.FunctionCall.Name), v.FunctionCall.Arguments)
			case model.ToolResult:
				v.ToolCallID, v.Name = cut(v.ToolCallID), cut(v.Name)
				p = v
			}
			c.Parts = append(c.Parts, p)
		}
		out = append(out, c)
	}
	return out
}

func TestWithoutToolsCallsAreTold(t *testing.T) {
	req := &model.Request{Messages: []llms.MessageContent{human("hi"), ai("I look.", call("a", "ls", `{"p":1}`)), tool(result("a", "ls", "x")), human("so")}}
	want := []llms.MessageContent{human("hi"), ai("I look."), human("Earlier in this conversation the tool \"ls\" ran with {\"p\":1} and gave:\nx"), human("so")}
	if diff := cmp.Diff(want, normalise.Request(req, plain, normalise.Options{}).Messages); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestImagesOfResultsThatAreToldStay(t *testing.T) { // R-HARN-32
	png := llms.BinaryContent{MIMEType: "image/png", Data: []byte{1}}
	shown := result("a", "read", "a picture")
	shown.Images = []llms.BinaryContent{png}
	req := &model.Request{Messages: []llms.MessageContent{human("hi"), ai(call("a", "read", "{}")), tool(shown), human("so")}}
	want := []llms.MessageContent{human("hi"), human("Earlier in this conversation the tool \"read\" ran with {} and gave:\na picture"), human(png), human("so")}
	if diff := cmp.Diff(want, normalise.Request(req, sees, normalise.Options{}).Messages); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMistralWantsNineLetters(t *testing.T) {
	req := modeltest.Ask("")
	req.Messages = []llms.MessageContent{human("hi"), ai(call("call_1", "ls", "{}"), call("abcDEF123", "ls", "{}"))}
	got := normalise.Request(req, model.Descriptor{Kind: "openai", Provider: "mistral", ID: "m"}, normalise.Options{}).Messages[1].Parts
	if a, b := got[0].(llms.ToolCall).ID, got[1].(llms.ToolCall).ID; len(a) != 9 || strings.Contains(a, "_") || b != "abcDEF123" {
		t.Errorf("ids = %q, %q", a, b)
	}
}

// Names that a provider does not take are changed on the wire and nowhere else.
func TestNamesComeBack(t *testing.T) {
	long := strings.Repeat("x", 70)
	s := modeltest.NewStreamer()
	wrapped := normalise.Wrap(s, plain, normalise.Options{})
	req := modeltest.Ask("go")
	req.Tools = append(req.Tools, model.Tool{Name: "a.b"}, model.Tool{Name: long}, model.Tool{Name: long + "y"})
	req.Callable = []string{"read", "a.b"}
	wire := normalise.Request(req, plain, normalise.Options{})
	var replies modeltest.Reply
	for _, w := range wire.Tools[2:] {
		replies.Tools = append(replies.Tools, modeltest.Tool{Name: w.Name, Args: "{}"})
		if len(w.Name) > 64 || strings.Contains(w.Name, ".") {
			t.Errorf("name on the wire = %q", w.Name)
		}
	}
	s.Add(replies)
	events, reply, err := modeltest.Collect(t.Context(), wrapped, req)
	if err != nil {
		t.Fatal(err)
	}
	var told, called []string
	for _, e := range events {
		if e, ok := e.(model.ToolStart); ok {
			told = append(told, e.Name)
		}
	}
	for _, p := range reply.Parts {
		called = append(called, p.(llms.ToolCall).FunctionCall.Name)
	}
	want := []string{"a.b", long, long + "y"}
	if diff := cmp.Diff([][]string{want, want}, [][]string{told, called}); diff != "" {
		t.Errorf("(-want +told, called):\n%s", diff)
	}
	if got := s.Requests()[0].Callable; got[1] != wire.Tools[2].Name {
		t.Errorf("Callable = %q, want the names of the wire", got)
	}
}

func TestStreamerContract(t *testing.T) {
	modeltest.TestStreamer(t, func(t *testing.T, replies ...modeltest.Reply) model.Streamer {
		return normalise.Wrap(modeltest.NewStreamer(replies...), plain, normalise.Options{})
	})
}

func TestGeminiSchema(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"C099 keywords that it does not know", `{"$schema":"x","type":"object","additionalProperties":false,"required":["n","gone"],"properties":{
			"n":{"type":"integer","exclusiveMinimum":0,"exclusiveMaximum":10},"c":{"const":"x"},"u":{"type":["string","null"],"format":"uri"},
			"a":{"anyOf":[{"type":"object","additionalProperties":false,"properties":{"k":{"const":"v"}}},{"type":"null"}]}}}`,
			`{"properties":{"a":{"anyOf":[{"properties":{"k":{"enum":["v"],"type":"string"}},"type":"object"}],"nullable":true},"c":{"enum":["x"],"type":"string"},` +
				`"n":{"maximum":9,"minimum":1,"type":"integer"},"u":{"nullable":true,"type":"string"}},"required":["n"],"type":"object"}`},
		{"C100 references", `{"type":"object","$defs":{"I":{"type":"string","description":"d"}},"properties":{"i":{"$ref":"#/$defs/I"},"x":{"$ref":"#/$defs/no"}}}`,
			`{"properties":{"i":{"description":"d","type":"string"},"x":{"type":"object"}},"type":"object"}`},
		{"C100 recursion", `{"$defs":{"T":{"type":"object","properties":{"c":{"$ref":"#/$defs/T"}}}},"$ref":"#/$defs/T"}`,
			`{"properties":{"c":{"properties":{"c":{"properties":{"c":{"type":"object"}},"type":"object"}},"type":"object"}},"type":"object"}`},
		{"no JSON", `{`, `{"type":"object"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := &model.Request{Tools: []model.Tool{{Name: "t", Schema: json.RawMessage(tt.in)}}}
			got := normalise.Request(req, model.Descriptor{Kind: "openai", Provider: "gemini", ID: "g"}, normalise.Options{})
			if diff := cmp.Diff(tt.want, string(got.Tools[0].Schema)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if same := normalise.Request(req, claude, normalise.Options{}); string(same.Tools[0].Schema) != tt.in {
				t.Errorf("schema for Anthropic = %s, want it unchanged", same.Tools[0].Schema)
			}
		})
	}
}

// Any history, however broken, becomes a request that both strict servers take.
func FuzzHistory(f *testing.F) {
	f.Add([]byte("hacr"), []byte("aab"))
	f.Add([]byte("rrachcrara"), []byte{0, 1, 2, 0, 0, 1})
	f.Fuzz(func(t *testing.T, steps, ids []byte) {
		if len(steps) > 40 {
			return
		}
		msgs := random(steps, ids)
		for _, d := range []model.Descriptor{plain, claude} {
			s := modeltest.New(t, modeltest.Reply{Text: []string{"ok"}})
			var c model.Streamer
			if d.Kind == "openai" {
				d.BaseURL = s.OpenAI()
				c = openai.New(d, openai.Options{})
			} else {
				d.BaseURL = s.Anthropic()
				c = anthropic.New(d, anthropic.Options{})
			}
			req := modeltest.Ask("")
			req.Messages = append(msgs, human("go"))
			if _, err := normalise.Wrap(c, d, normalise.Options{}).Stream(t.Context(), req, func(model.Event) error { return nil }); err != nil {
				t.Errorf("%s: %v for %q %q", d.Kind, err, steps, ids)
			}
		}
	})
}

// random makes a history: h is the user, a an answer, c a call in it, r a result.
func random(steps, ids []byte) (msgs []llms.MessageContent) {
	next := func() string {
		if len(ids) == 0 {
			return ""
		}
		id := ids[0]
		ids = ids[1:]
		return strings.Repeat(string(rune(id)), int(id)%50)
	}
	for _, s := range steps {
		switch s {
		case 'h':
			msgs = append(msgs, human(next()))
		case 'a':
			msgs = append(msgs, ai(thought(next(), "x"), next()))
		case 'c':
			msgs = append(msgs, ai(call(next(), next(), next()), call(next(), "ls", "{}")))
		case 'r':
			msgs = append(msgs, tool(result(next(), "ls", next())))
		}
	}
	return msgs
}
