package normalise_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
	"github.com/lorimer-dev/lorimer/harness/model/normalise"
)

var (
	plain   = model.Descriptor{Kind: "openai-chat", Provider: "p", ID: "m"}
	claude  = model.Descriptor{Kind: "anthropic", Provider: "anthropic", ID: "claude"}
	sees    = model.Descriptor{Kind: "openai-chat", Provider: "p", ID: "m", Images: true}
	mistral = model.Descriptor{Kind: "openai-chat", Provider: "p", ID: "mistralai/Devstral-Small-2", Images: true}
	google  = model.Descriptor{Kind: "gemini", Provider: "gemini", ID: "g", Images: true}
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

func by(ref string) model.Author { return model.Author{Ref: ref} }

func signed(provider, text string) model.SignedText {
	return model.SignedText{TextContent: llms.TextContent{Text: text}, Provider: provider, Content: json.RawMessage(`{"s":1}`)}
}

func TestMessages(t *testing.T) {
	png := llms.BinaryContent{MIMEType: "image/png", Data: make([]byte, 1500)}
	line := "[An image was attached here (image/png, 2 KiB). This model cannot see it; say so if the answer depends on it.]"
	label := "Images from the result of the tool \"read\":"
	withImage := result("a", "read", "a picture")
	withImage.Images = []llms.BinaryContent{png}
	jpeg := []byte("\xff\xd8\xff\xe0 and more")
	mislabelled, labelled := result("a", "read", "x"), result("a", "read", "x")
	mislabelled.Images = []llms.BinaryContent{{MIMEType: "image/png", Data: jpeg}}
	labelled.Images = []llms.BinaryContent{{MIMEType: "image/jpeg", Data: jpeg}}
	labelledFirst := withImage
	labelledFirst.Name = "_1st_"
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
			[]llms.MessageContent{human("hi"), ai(call("a", "read", "{}")), tool(result("a", "read", "a picture")), ai("(I have the results of the calls.)"), human(label, png, "stop"),
				ai(call("b", "ls", "{}")), tool(result("b", "ls", "x")), ai("ok"), human("so")}},
		{"Google's begin with the user and alternate too, and names begin with a letter", google,
			[]llms.MessageContent{ai("before"), human("hi"), human("there"), ai(call("a", "1st", "{}")), tool(withImage), human("so")},
			[]llms.MessageContent{human("(The conversation goes on from an earlier answer.)"), ai("before"), human("hi", "there"),
				ai(call("a", "_1st_", "{}")), tool(labelledFirst), human("so")}},
		{"a chat template that alternates gets the pictures of results with what the user says", model.Descriptor{Kind: "openai-chat", Provider: "llamacpp", ID: "m", Images: true},
			[]llms.MessageContent{human("hi"), ai(call("a", "read", "{}")), tool(withImage), human("so")},
			[]llms.MessageContent{human("hi"), ai(call("a", "read", "{}")), tool(result("a", "read", "a picture")), human(label, png, "so")}},
		{"answers in a row are one", plain,
			[]llms.MessageContent{human("hi"), ai("a"), human(" "), ai("b"), human("so")}, []llms.MessageContent{human("hi"), ai("a", "b"), human("so")}},
		{"who wrote it is not told", plain,
			[]llms.MessageContent{human("hi"), ai(by("q/m"), "a", by("p/m"), "b", by("q/m")), human("on"), ai(by("p/m")), human("so")},
			[]llms.MessageContent{human("hi"), ai("a", "b"), human("on"), human("so")}},
		{"C106 what is signed goes to its author alone", plain,
			[]llms.MessageContent{human("hi"), ai(signed("p/m", "a"), signed("q/m", "b"), signed("q/m", " "), signed("p/m", "")), human("on"), ai(signed("q/m", "")), human("on"), ai(signed("p/m", "")), human("so")},
			[]llms.MessageContent{human("hi"), ai(signed("p/m", "a"), "b", signed("p/m", "")), human("on"), human("on"), human("so")}},
		{"C106 thoughts that nothing follows are dropped", plain,
			[]llms.MessageContent{human("hi"), ai(by("p/m"), thought("p/m", "x"), "a", thought("p/m", "cut"), by("q/m"), "b"), human("so")},
			[]llms.MessageContent{human("hi"), ai(thought("p/m", "x"), "a", "b"), human("so")}},
		{"a model gets its own ids back, others in the alphabet", plain,
			[]llms.MessageContent{human("hi"), ai(by("p/m"), call("functions.ls:0", "ls", "{}"), by("q/m"), call("functions.ls:1", "ls", "{}")), tool(result("functions.ls:1", "ls", "y"), result("functions.ls:0", "ls", "x"))},
			[]llms.MessageContent{human("hi"), ai(call("functions.ls:0", "ls", "{}"), call("call_", "ls", "{}")), tool(result("functions.ls:0", "ls", "x"), result("call_", "ls", "y"))}},
		{"nobody checks ids like the vendors", model.Descriptor{Kind: "openai-chat", Provider: "p", ID: "m", BaseURL: "https://api.openai.com/v1"},
			[]llms.MessageContent{human("hi"), ai(by("p/m"), call("functions.ls:0", "ls", "{}"))},
			[]llms.MessageContent{human("hi"), ai(call("call_", "ls", "{}")), tool(failed("call_", "ls", interrupted))}},
		{"Responses takes longer ids than chats", model.Descriptor{Kind: "openai-responses", Provider: "p", ID: "m"},
			[]llms.MessageContent{human("hi"), ai(call(strings.Repeat("x", 64), "ls", "{}"), call(strings.Repeat("x", 65), "ls", "{}"))},
			[]llms.MessageContent{human("hi"), ai(call(strings.Repeat("x", 64), "ls", "{}"), call("call_", "ls", "{}")), tool(failed(strings.Repeat("x", 64), "ls", interrupted), failed("call_", "ls", interrupted))}},
		{"half a character in arguments is none", plain,
			[]llms.MessageContent{human("hi"), ai(call("a", "ls", `{"a":"\ud83d\ude00 \ud83d \\ud83d \uDE00","b":"`+"\xff"+`"}`))},
			[]llms.MessageContent{human("hi"), ai(call("a", "ls", `{"a":"\ud83d\ude00 \ufffd \\ud83d \ufffd","b":"`+"\ufffd"+`"}`)), tool(failed("a", "ls", interrupted))}},
		{"nothing stands between calls and their results, for Responses", model.Descriptor{Kind: "openai-responses", Provider: "p", ID: "m"},
			[]llms.MessageContent{human("hi"), ai("a", call("a", "ls", "{}"), "b", call("b", "ls", "{}"), "c")},
			[]llms.MessageContent{human("hi"), ai("a", "b", "c", call("a", "ls", "{}"), call("b", "ls", "{}")), tool(failed("a", "ls", interrupted), failed("b", "ls", interrupted))}},
		{"a model is always asked", plain, nil, []llms.MessageContent{human("(Go on.)")}},
		{"also where the question was empty", plain,
			[]llms.MessageContent{human("hi"), ai("ok"), human(" ")}, []llms.MessageContent{human("hi"), ai("ok"), human("(Go on.)")}},
		{"and where the model has the last word", plain, []llms.MessageContent{human("hi"), ai("so")}, []llms.MessageContent{human("hi"), ai("so"), human("(Go on.)")}},
		{"of a model that paused too", claude, []llms.MessageContent{human("hi"), ai(by("anthropic/claude"), "so")}, []llms.MessageContent{human("hi"), ai("so"), human("(Go on.)")}},
		{"R-HARN-32 a picture has its name", plain,
			[]llms.MessageContent{human(model.Picture{BinaryContent: png, Name: "a\nb.png"})},
			[]llms.MessageContent{human(`[An image was attached here (a\nb.png, image/png, 2 KiB). This model cannot see it; say so if the answer depends on it.]`)}},
		{"which a model that sees it is not told", sees,
			[]llms.MessageContent{human(model.Picture{BinaryContent: png, Name: "a.png"})}, []llms.MessageContent{human(png)}},
		{"others may speak twice", plain,
			[]llms.MessageContent{human("hi"), human("there")}, []llms.MessageContent{human("hi"), human("there")}},
		{"a chat template may not", model.Descriptor{Kind: "openai-chat", Provider: "llamacpp", ID: "m"},
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
		for _, lead := range []string{"call_", "mcp_tool_", "_1st_"} {
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

func TestMistralWantsNineLetters(t *testing.T) {
	req := modeltest.Ask("")
	req.Messages = []llms.MessageContent{human("hi"), ai(call("call_1", "ls", "{}"), call("abcDEF123", "ls", "{}"))}
	got := normalise.Request(req, model.Descriptor{Kind: "openai-chat", Provider: "mistral", ID: "m"}, normalise.Options{}).Messages[1].Parts
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

// C114: what is signed with a call goes back with the name that the model wrote. If
// no provider takes that name, the call goes back unsigned.
func TestUnknownNamesGoUnsigned(t *testing.T) {
	long := strings.Repeat("x", 70)
	extra := model.Extra{Provider: google.Ref(), Content: json.RawMessage(`{}`)}
	var made model.Reply
	names := []string{"read", "unknown", normalise.Request(&model.Request{Tools: []model.Tool{{Name: long}}}, google, normalise.Options{}).Tools[0].Name, "", "default_api.read", "1st"}
	for _, n := range names {
		extra.ToolCall = call("a", n, "{}")
		made.Parts = append(made.Parts, extra)
	}
	s := model.Func(func(context.Context, *model.Request, func(model.Event) error) (*model.Reply, error) {
		return &made, nil
	})
	for _, tools := range [][]model.Tool{nil, {{Name: long}}} {
		_, reply, err := modeltest.Collect(t.Context(), normalise.Wrap(s, google, normalise.Options{}), &model.Request{Tools: tools})
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range reply.Parts {
			if _, got := p.(model.Extra); got != (i < 3) {
				t.Errorf("with %d tools the call of %q is signed: %v", len(tools), names[i], got)
			}
		}
	}
}

func TestStreamerContract(t *testing.T) {
	modeltest.TestStreamer(t, func(t *testing.T, replies ...modeltest.Reply) model.Streamer {
		return normalise.Wrap(modeltest.NewStreamer(replies...), plain, normalise.Options{})
	})
}
