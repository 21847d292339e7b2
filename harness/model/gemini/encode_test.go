package gemini_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/gemini"
	"github.com/lorimer-dev/lorimer/harness/model/internal/streamtest"
	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// A request is one as it was sent.
type request struct {
	url    string
	header http.Header
	body   string
}

// sent returns the request that the model d is asked with.
func sent(t *testing.T, d model.Descriptor, o gemini.Options, req *model.Request) request {
	t.Helper()
	s := &streamtest.Server{Answers: []streamtest.Answer{{Body: events(parts(`{"text":"ok"}`), end("STOP"))}}}
	o.Client = s.Client()
	if _, _, err := modeltest.Collect(t.Context(), gemini.New(d, o), req); err != nil {
		t.Fatal(err)
	}
	if !json.Valid([]byte(s.Bodies[0])) {
		t.Fatalf("not JSON: %s", s.Bodies[0])
	}
	return request{s.Asked[0].URL.String(), s.Asked[0].Header, s.Bodies[0]}
}

const (
	second = "gemini-2.5-flash"
	third  = "gemini-3.5-flash"
)

func toolCall(id, name, args string) llms.ToolCall {
	return llms.ToolCall{ID: id, Type: "function", FunctionCall: &llms.FunctionCall{Name: name, Arguments: args}}
}

func result(id, content string) model.ToolResult {
	return model.ToolResult{ToolCallResponse: llms.ToolCallResponse{ToolCallID: id, Content: content}}
}

func said(role llms.ChatMessageType, parts ...llms.ContentPart) llms.MessageContent {
	return llms.MessageContent{Role: role, Parts: parts}
}

// contents is what stands under that key in the body.
func contents(t *testing.T, id string, history ...llms.MessageContent) []string {
	t.Helper()
	req := &model.Request{Messages: history}
	r := sent(t, model.Descriptor{Provider: "google", ID: id}, gemini.Options{}, req)
	var b struct{ Contents []json.RawMessage }
	if err := json.Unmarshal([]byte(r.body), &b); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, c := range b.Contents {
		out = append(out, string(c))
	}
	return out
}

func TestBody(t *testing.T) {
	warm := 0.5
	req := modeltest.Ask("look <here>")
	req.Tools[1].Schema = json.RawMessage(`{"type":"object","properties":{}}`)
	req.Messages = append(req.Messages,
		said(llms.ChatMessageTypeAI, llms.TextContent{Text: "I look."}, llms.TextContent{Text: " \n"}, toolCall("a", "grep", `{"z":1, "a":12345678901234567890,"h":"<&>"}`)),
		said(llms.ChatMessageTypeTool, result("a", "ä \"found\"")),
		llms.TextParts(llms.ChatMessageTypeHuman, "and now?"),
	)
	req.NoTools, req.MaxTokens, req.Temperature, req.JSON = true, 100, &warm, true
	r := sent(t, model.Descriptor{ID: second, Output: 65_536}, gemini.Options{Key: "AIza-1", Headers: map[string]string{"X-Title": "t"}}, req)
	want := `{"tools":[{"functionDeclarations":[` +
		`{"name":"grep","description":"Finds text.","parameters":{"type":"object","properties":{"path":{"type":"string"}}}},` +
		`{"name":"read","description":"Reads a file."}]}],` +
		`"systemInstruction":{"parts":[{"text":"You are under test."}]},` +
		`"contents":[{"role":"user","parts":[{"text":"look <here>"}]},` +
		`{"role":"model","parts":[{"text":"I look."},{"functionCall":{"name":"grep","args":{"z":1, "a":12345678901234567890,"h":"<&>"}}}]},` +
		`{"role":"user","parts":[{"functionResponse":{"name":"grep","response":{"output":"ä \"found\""}}}]},` +
		`{"role":"model","parts":[{"text":"(I have the results of the calls.)"}]},` +
		`{"role":"user","parts":[{"text":"and now?"}]}],` +
		`"toolConfig":{"functionCallingConfig":{"mode":"NONE"}},` +
		`"generationConfig":{"maxOutputTokens":100,"temperature":0.5,"thinkingConfig":{"includeThoughts":true}}}`
	if diff := cmp.Diff(strings.Split(want, "},{"), strings.Split(r.body, "},{")); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
	if want := "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse"; r.url != want {
		t.Errorf("url = %s, want %s", r.url, want)
	}
	got := []string{r.header.Get("X-Goog-Api-Key"), r.header.Get("X-Title"), r.header.Get("Authorization")}
	if diff := cmp.Diff([]string{"AIza-1", "t", ""}, got); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}

func TestWithoutTools(t *testing.T) {
	req := &model.Request{JSON: true, NoTools: true, MaxTokens: 99_000, Messages: []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "a title")}}
	r := sent(t, model.Descriptor{ID: "gemma-3-27b-it", Output: 8_192}, gemini.Options{}, req)
	want := `{"contents":[{"role":"user","parts":[{"text":"a title"}]}],"generationConfig":{"maxOutputTokens":8192,"responseMimeType":"application/json"}}`
	if r.body != want {
		t.Errorf("body = %s, want %s", r.body, want)
	}
	if r.header["X-Goog-Api-Key"] != nil {
		t.Error("a key without a key")
	}
}

func TestAddress(t *testing.T) {
	for _, tt := range []struct{ base, id, want string }{
		{"http://h/v1beta/", "m", "http://h/v1beta/models/m:streamGenerateContent?alt=sse"},
		{"http://h/p?team=1", "models/m", "http://h/p/models/m:streamGenerateContent?alt=sse&team=1"},
		{"http://h/v1", "google/gemini-3", "http://h/v1/models/google/gemini-3:streamGenerateContent?alt=sse"},
		{"http://h", "tunedModels/my one?", "http://h/v1beta/tunedModels/my%20one%3F:streamGenerateContent?alt=sse"},
	} {
		r := sent(t, model.Descriptor{ID: tt.id, BaseURL: tt.base}, gemini.Options{Key: "k"}, modeltest.Ask("go"))
		if r.url != tt.want {
			t.Errorf("%s, %s: url = %s, want %s", tt.base, tt.id, r.url, tt.want)
		}
	}
}

func TestThinking(t *testing.T) {
	all := []model.Effort{"", "off", "minimal", "low", "medium", "high", "xhigh", "max"}
	const (
		none   = ``
		shown  = `{"includeThoughts":true}`
		off    = `{"thinkingBudget":0}`
		budget = `{"thinkingBudget":%,"includeThoughts":true}`
		quiet  = `{"thinkingLevel":"%"}`
		level  = `{"thinkingLevel":"%","includeThoughts":true}`
	)
	with := func(pattern, value string) string { return strings.Replace(pattern, "%", value, 1) }
	tests := []struct {
		d    model.Descriptor
		want []string // for all, in order
	}{
		{model.Descriptor{ID: "gemini-2.5-flash"}, []string{shown, off, with(budget, "512"), with(budget, "2048"), with(budget, "8192"), with(budget, "24576"), with(budget, "24576"), with(budget, "24576")}},
		{model.Descriptor{ID: "gemini-2.5-flash-lite-preview-09-2025"}, []string{none, off, with(budget, "512"), with(budget, "2048"), with(budget, "8192"), with(budget, "24576"), with(budget, "24576"), with(budget, "24576")}},
		{model.Descriptor{ID: "models/gemini-2.5-pro"}, []string{shown, `{"thinkingBudget":128}`, with(budget, "512"), with(budget, "2048"), with(budget, "8192"), with(budget, "24576"), with(budget, "32768"), with(budget, "32768")}},
		{model.Descriptor{ID: "gemini-3-pro-preview"}, []string{shown, with(quiet, "LOW"), with(level, "LOW"), with(level, "LOW"), with(level, "LOW"), with(level, "HIGH"), with(level, "HIGH"), with(level, "HIGH")}},
		{model.Descriptor{ID: "gemini-3.1-pro-preview"}, []string{shown, with(quiet, "LOW"), with(level, "LOW"), with(level, "LOW"), with(level, "MEDIUM"), with(level, "HIGH"), with(level, "HIGH"), with(level, "HIGH")}},
		{model.Descriptor{ID: "gemini-3.6-flash"}, []string{shown, with(quiet, "MINIMAL"), with(level, "MINIMAL"), with(level, "LOW"), with(level, "MEDIUM"), with(level, "HIGH"), with(level, "HIGH"), with(level, "HIGH")}},
		{model.Descriptor{ID: "gemini-3.8-flash"}, []string{shown, with(quiet, "LOW"), with(level, "LOW"), with(level, "LOW"), with(level, "MEDIUM"), with(level, "HIGH"), with(level, "HIGH"), with(level, "HIGH")}},
		{model.Descriptor{ID: "gemini-4-argon"}, []string{shown, with(quiet, "LOW"), with(level, "LOW"), with(level, "LOW"), with(level, "MEDIUM"), with(level, "HIGH"), with(level, "HIGH"), with(level, "HIGH")}},
		{model.Descriptor{ID: "gemini-flash-latest"}, []string{shown, with(quiet, "LOW"), with(level, "LOW"), with(level, "LOW"), with(level, "MEDIUM"), with(level, "HIGH"), with(level, "HIGH"), with(level, "HIGH")}},
		{model.Descriptor{ID: "gemini-2.0-flash"}, []string{none, none, none, none, none, none, none, none}},
		{model.Descriptor{ID: "of-somebody"}, []string{none, none, none, none, none, none, none, none}},
		// What the catalog knows goes before what the name says.
		{model.Descriptor{ID: "gemini-3.9-flash-lite", Thinks: true, Efforts: []model.Effort{"minimal", "high", "max"}}, []string{shown, with(quiet, "MINIMAL"), with(level, "MINIMAL"), with(level, "MINIMAL"), with(level, "MINIMAL"), with(level, "HIGH"), with(level, "HIGH"), with(level, "HIGH")}},
		{model.Descriptor{ID: "of-somebody", Thinks: true}, []string{shown, with(quiet, "LOW"), with(level, "LOW"), with(level, "LOW"), with(level, "MEDIUM"), with(level, "HIGH"), with(level, "HIGH"), with(level, "HIGH")}},
	}
	for _, tt := range tests {
		for i, e := range all {
			req := &model.Request{Effort: e, Messages: []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "go")}}
			r := sent(t, tt.d, gemini.Options{}, req)
			var b struct {
				GenerationConfig struct{ ThinkingConfig json.RawMessage }
			}
			if err := json.Unmarshal([]byte(r.body), &b); err != nil {
				t.Fatal(err)
			}
			if got := string(b.GenerationConfig.ThinkingConfig); got != tt.want[i] {
				t.Errorf("%s, effort %q: %s, want %s", tt.d.ID, e, got, tt.want[i])
			}
		}
	}
}

func TestBudgetLeavesRoomForTheAnswer(t *testing.T) {
	for id, want := range map[string]string{"gemini-2.5-flash": `"thinkingBudget":50`, "gemini-2.5-pro": `"thinkingBudget":128`} {
		req := modeltest.Ask("go")
		req.Effort, req.MaxTokens = model.EffortHigh, 100
		if r := sent(t, model.Descriptor{ID: id}, gemini.Options{}, req); !strings.Contains(r.body, want) {
			t.Errorf("%s: %s is missing in %s", id, want, r.body)
		}
	}
}

func TestTemperature(t *testing.T) {
	warm := 0.5
	for id, want := range map[string]bool{second: true, third: true, "gemini-4-argon": false, "gemma-3": true} {
		req := modeltest.Ask("go")
		req.Temperature = &warm
		if r := sent(t, model.Descriptor{ID: id}, gemini.Options{}, req); strings.Contains(r.body, "temperature") != want {
			t.Errorf("%s: temperature sent = %v, want %v", id, !want, want)
		}
	}
}

func TestSignaturesGoBackWhereTheyCame(t *testing.T) {
	ref := "google/" + third
	signed := func(ref, text, content string) model.SignedText {
		return model.SignedText{TextContent: llms.TextContent{Text: text}, Provider: ref, Content: json.RawMessage(content)}
	}
	thought := func(ref, text, signature string) model.Reasoning {
		return model.Reasoning{TextContent: llms.TextContent{Text: text}, Provider: ref, Signature: signature}
	}
	call := func(ref, id, content string) model.Extra {
		return model.Extra{ToolCall: toolCall(id, "read", "{}"), Provider: ref, Content: json.RawMessage(content)}
	}
	tests := []struct {
		name  string
		parts []llms.ContentPart
		want  string // the parts of the model
	}{
		{"on the end of a text", []llms.ContentPart{signed(ref, "Hello.", `[{"len":6},{"len":0,"thoughtSignature":"S=="}]`)},
			`{"text":"Hello."},{"text":"","thoughtSignature":"S=="}`},
		{"inside a text", []llms.ContentPart{signed(ref, "Hello.", `[{"len":2,"thoughtSignature":"S=="},{"len":0},{"len":4}]`)},
			`{"text":"He","thoughtSignature":"S=="},{"text":"llo."}`},
		{"of another model", []llms.ContentPart{signed("google/"+second, "Hello.", `[{"len":6,"thoughtSignature":"S=="}]`)}, `{"text":"Hello."}`},
		{"of another protocol", []llms.ContentPart{signed(ref, "Hello.", `{"phase":"answer"}`)}, `{"text":"Hello."}`},
		{"of a text that was changed", []llms.ContentPart{signed(ref, "Hello!!", `[{"len":6,"thoughtSignature":"S=="}]`)}, `{"text":"Hello!!"}`},
		{"of a length that cannot be", []llms.ContentPart{signed(ref, "Hello.", `[{"len":-1},{"len":7,"thoughtSignature":"S=="}]`)}, `{"text":"Hello."}`},
		{"on a thought", []llms.ContentPart{thought(ref, "hm", ""), thought(ref, "ah", "S=="), thought("x/y", "oh", "T=="), llms.TextContent{Text: "Hello."}},
			`{"text":"ah","thought":true,"thoughtSignature":"S=="},{"text":"Hello."}`},
		{"on the first of parallel calls", []llms.ContentPart{call(ref, "a", `{"id":"x1","thoughtSignature":"S=="}`), call(ref, "b", `{"id":"x2"}`)},
			`{"functionCall":{"id":"x1","name":"read","args":{}},"thoughtSignature":"S=="},{"functionCall":{"id":"x2","name":"read","args":{}}}`},
		{"through the other protocol of Google", []llms.ContentPart{call(ref, "a", `{"google":{"thought_signature":"S=="}}`)},
			`{"functionCall":{"name":"read","args":{}},"thoughtSignature":"S=="}`},
		{"on none of its calls", []llms.ContentPart{call(ref, "a", `{}`)},
			`{"functionCall":{"name":"read","args":{}},"thoughtSignature":"skip_thought_signature_validator"}`},
		{"calls of others", []llms.ContentPart{toolCall("a", "read", "{}"), call("x/y", "b", `{"id":"x2","thoughtSignature":"T=="}`)},
			`{"functionCall":{"id":"a","name":"read","args":{}},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"id":"b","name":"read","args":{}}}`},
		{"two calls under one id", []llms.ContentPart{call(ref, "a", `{"id":"x1","thoughtSignature":"S=="}`), call(ref, "b", `{"id":"x1"}`)},
			`{"functionCall":{"id":"x1","name":"read","args":{}},"thoughtSignature":"S=="},{"functionCall":{"id":"b","name":"read","args":{}}}`},
		{"data that cannot be read", []llms.ContentPart{call(ref, "a", `[1]`)},
			`{"functionCall":{"id":"a","name":"read","args":{}},"thoughtSignature":"skip_thought_signature_validator"}`},
		{"the author of a part is nobody's business", []llms.ContentPart{model.Author{Ref: ref}, llms.TextContent{Text: "Hello."}}, `{"text":"Hello."}`},
		{"C101 arguments that are no object", []llms.ContentPart{model.Extra{ToolCall: toolCall("a", "read", `{"p":"cut`), Provider: ref, Content: json.RawMessage(`{"thoughtSignature":"S=="}`)}},
			`{"functionCall":{"name":"read","args":{}},"thoughtSignature":"S=="}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := contents(t, third, llms.TextParts(llms.ChatMessageTypeHuman, "go"), said(llms.ChatMessageTypeAI, tt.parts...))
			want := []string{`{"role":"user","parts":[{"text":"go"}]}`, `{"role":"model","parts":[` + tt.want + `]}`}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("contents (-want +got):\n%s", diff)
			}
		})
	}
}

// Each step bears a stand-in, and none is needed before Gemini 3.
func TestStandInForEachStep(t *testing.T) {
	history := []llms.MessageContent{
		said(llms.ChatMessageTypeAI, toolCall("a", "read", "{}"), toolCall("b", "read", "{}")),
		said(llms.ChatMessageTypeTool, result("a", "1"), result("b", "2")),
		said(llms.ChatMessageTypeAI, toolCall("c", "read", "{}")),
		said(llms.ChatMessageTypeTool, result("c", "3")),
	}
	for id, want := range map[string]int{third: 2, second: 0, "gemini-4-neon": 2, "test-model": 2} {
		if got := strings.Count(strings.Join(contents(t, id, history...), ""), "skip_thought_signature_validator"); got != want {
			t.Errorf("%s: %d stand-ins, want %d", id, got, want)
		}
	}
}

func TestResults(t *testing.T) {
	ref := "google/" + third
	seen, failed := result("a", "a picture"), result("b", "no such file")
	seen.Images = []llms.BinaryContent{{MIMEType: "image/png", Data: []byte("one")}}
	failed.IsError = true
	history := []llms.MessageContent{
		said(llms.ChatMessageTypeAI,
			model.Extra{ToolCall: toolCall("a", "read", "{}"), Provider: ref, Content: json.RawMessage(`{"id":"x1","thoughtSignature":"S"}`)},
			model.Extra{ToolCall: toolCall("b", "grep", "{}"), Provider: ref, Content: json.RawMessage(`{}`)}),
		said(llms.ChatMessageTypeTool, seen),
		said(llms.ChatMessageTypeTool, failed),
		said(llms.ChatMessageTypeHuman, llms.TextContent{Text: "and now?"}, llms.BinaryContent{MIMEType: "image/gif", Data: []byte("two")},
			llms.ImageURLContent{URL: "data:image/webp;base64,dGhyZWU="}, llms.ImageURLContent{URL: "https://h/four.png"}),
		said(llms.ChatMessageTypeHuman, llms.TextContent{Text: "well?"}),
	}
	const between = `{"role":"model","parts":[{"text":"(I have the results of the calls.)"}]}`
	const asked = `{"text":"and now?"},{"inlineData":{"mimeType":"image/gif","data":"dHdv"}},{"inlineData":{"mimeType":"image/webp","data":"dGhyZWU="}},{"fileData":{"fileUri":"https://h/four.png"}},{"text":"well?"}]}`
	t.Run("pictures are part of a result", func(t *testing.T) {
		want := []string{
			`{"role":"user","parts":[{"functionResponse":{"id":"x1","name":"read","response":{"output":"a picture"},"parts":[{"inlineData":{"mimeType":"image/png","data":"b25l"}}]}},` +
				`{"functionResponse":{"name":"grep","response":{"error":"no such file"}}}]}`,
			between, `{"role":"user","parts":[` + asked,
		}
		if diff := cmp.Diff(want, contents(t, third, history...)[1:]); diff != "" {
			t.Errorf("contents (-want +got):\n%s", diff)
		}
	})
	t.Run("pictures follow all results", func(t *testing.T) {
		want := []string{
			`{"role":"user","parts":[{"functionResponse":{"name":"read","response":{"output":"a picture"}}},{"functionResponse":{"name":"grep","response":{"error":"no such file"}}}]}`,
			between, `{"role":"user","parts":[{"text":"Images from the result of the tool \"read\":"},{"inlineData":{"mimeType":"image/png","data":"b25l"}},` + asked,
		}
		if diff := cmp.Diff(want, contents(t, second, history...)[1:]); diff != "" {
			t.Errorf("contents (-want +got):\n%s", diff)
		}
	})
	t.Run("pictures at the end", func(t *testing.T) {
		if got := contents(t, second, history[:3]...); len(got) != 4 || !strings.Contains(got[3], "b25l") {
			t.Errorf("contents = %q, want the picture last", got)
		}
	})
}
