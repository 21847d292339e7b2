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
	"github.com/lorimer-dev/lorimer/harness/model/normalise"
	"github.com/lorimer-dev/lorimer/harness/model/responses"
)

// answers is a server that gives answers in order. One that begins with "{" has the
// status 400, a page 404.
func answers(bodies ...string) *streamtest.Server {
	s := &streamtest.Server{}
	for _, b := range bodies {
		a := streamtest.Answer{Body: b}
		switch b[0] {
		case '{':
			a.Status = 400
		case '<':
			a.Status = 404
		}
		s.Answers = append(s.Answers, a)
	}
	return s
}

// sent returns the body that d is asked with.
func sent(t *testing.T, d model.Descriptor, req *model.Request) string {
	t.Helper()
	s := answers(stream(completed))
	if _, _, err := modeltest.Collect(t.Context(), responses.New(d, responses.Options{Client: s.Client()}), req); err != nil {
		t.Fatal(err)
	}
	return s.Bodies[0]
}

func image(name string) llms.BinaryContent {
	return llms.BinaryContent{MIMEType: "image/png", Data: []byte(name)}
}

func result(id, name, content string) model.ToolResult {
	return model.ToolResult{ToolCallResponse: llms.ToolCallResponse{ToolCallID: id, Name: name, Content: content}}
}

func answer(parts ...llms.ContentPart) llms.MessageContent {
	return llms.MessageContent{Role: llms.ChatMessageTypeAI, Parts: parts}
}

const encrypted = `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA"}`

// history is a conversation with this model, another one and this one again.
func history() []llms.MessageContent {
	failed := result("c", "grep", "no such file")
	failed.IsError = true
	seen := result("a", "read", "a picture")
	seen.Images = []llms.BinaryContent{image("one")}
	bare := result("b", "read", "")
	bare.Images = []llms.BinaryContent{image("two")}
	return []llms.MessageContent{
		llms.TextParts(llms.ChatMessageTypeHuman, "look <here>"),
		answer(model.Reasoning{TextContent: text("hm"), Provider: ref, Signature: encrypted},
			message("\n\nI look.", `{"type":"message","id":"m1","phase":"commentary"}`),
			item("f1", call("a", "read", `{"z":1, "a":12345678901234567890}`)),
			model.Extra{ToolCall: call("b", "read", "{}"), Provider: "x/y", Content: []byte(`{"type":"function_call","id":"f9"}`)}),
		{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{seen, bare}},
		answer(model.Reasoning{TextContent: text("secret"), Provider: "x/y", Signature: encrypted},
			model.Reasoning{TextContent: text("secret"), Provider: ref, Field: "reasoning_details", Signature: `[{"type":"reasoning.text"}]`},
			model.SignedText{TextContent: text("Theirs."), Provider: "x/y", Content: []byte(`{"type":"message","id":"m9","phase":"commentary"}`)},
			model.Extra{ToolCall: call("c", "grep", "{}"), Provider: "x/y", Content: []byte(`{"google":{"thought_signature":"s"}}`)}),
		{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{failed}},
		answer(message("Mine.", `{"type":"message","id":"m2","phase":"final_answer"}`), text("And more."),
			model.Reasoning{TextContent: text("led to nothing"), Provider: ref, Signature: encrypted}),
		{Role: llms.ChatMessageTypeHuman, Parts: []llms.ContentPart{text("and"), image("three"), llms.ImageURLContent{URL: "https://x.example/i.png"}}},
		llms.TextParts(llms.ChatMessageTypeHuman, "one", "two"),
	}
}

func TestBody(t *testing.T) {
	warm := 0.5
	req := modeltest.Ask("")
	req.Messages = history()
	req.NoTools, req.MaxTokens, req.Temperature, req.Effort, req.JSON = true, 9, &warm, model.EffortHigh, true
	got := sent(t, model.Descriptor{Provider: "openai", ID: "gpt-5.6", Thinks: true}, req)
	want := `{"model":"gpt-5.6","store":false,"stream":true,"include":["reasoning.encrypted_content"],"prompt_cache_key":"s1","tools":[` +
		`{"type":"function","name":"grep","description":"Finds text.","parameters":{"type":"object","properties":{"path":{"type":"string"}}},"strict":false},` +
		`{"type":"function","name":"read","description":"Reads a file.","parameters":{"type":"object","properties":{"path":{"type":"string"}}},"strict":false}],` +
		`"input":[{"role":"developer","content":[{"type":"input_text","text":"You are under test.","prompt_cache_breakpoint":{"mode":"explicit"}}]},` +
		`{"role":"user","content":"look <here>"},` +
		`{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA"},` +
		`{"type":"message","id":"m1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"I look.","annotations":[]}],"phase":"commentary"},` +
		`{"type":"function_call","id":"f1","call_id":"a","name":"read","arguments":"{\"z\":1, \"a\":12345678901234567890}"},` +
		`{"type":"function_call","call_id":"b","name":"read","arguments":"{}"},` +
		`{"type":"function_call_output","call_id":"a","output":[{"type":"input_text","text":"a picture"},{"type":"input_image","image_url":"data:image/png;base64,b25l","detail":"auto"}]},` +
		`{"type":"function_call_output","call_id":"b","output":[{"type":"input_image","image_url":"data:image/png;base64,dHdv","detail":"auto"}]},` +
		`{"role":"assistant","content":"Theirs."},` +
		`{"type":"function_call","call_id":"c","name":"grep","arguments":"{}"},` +
		`{"type":"function_call_output","call_id":"c","output":"ERROR: no such file"},` +
		`{"role":"assistant","content":"Mine.","phase":"final_answer"},{"role":"assistant","content":"And more."},` +
		`{"role":"user","content":[{"type":"input_text","text":"and"},{"type":"input_image","image_url":"data:image/png;base64,dGhyZWU=","detail":"auto"},` +
		`{"type":"input_image","image_url":"https://x.example/i.png","detail":"auto"}]},` +
		`{"role":"user","content":"one\n\ntwo"}],` +
		`"tool_choice":"none","max_output_tokens":16,"reasoning":{"effort":"high","summary":"auto"},"text":{"format":{"type":"json_object"}}}`
	if diff := cmp.Diff(strings.Split(want, "},{"), strings.Split(got, "},{")); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
}

func TestModels(t *testing.T) {
	warm := 0.5
	all := []model.Effort{model.EffortMinimal, model.EffortLow, model.EffortMedium, model.EffortHigh, model.EffortXHigh, model.EffortMax}
	openAI := func(id string, efforts ...model.Effort) model.Descriptor {
		return model.Descriptor{Provider: "openai", ID: id, Thinks: true, Efforts: efforts}
	}
	const encrypted, summary = `"include":["reasoning.encrypted_content"]`, `"summary":"auto"`
	tests := []struct {
		name   string
		d      model.Descriptor
		effort model.Effort
		want   []string // in the body
		not    []string
	}{
		{"gpt-5.5", openAI("gpt-5.5"), model.EffortDefault, []string{encrypted, `"reasoning":{"summary":"auto"}`, `"role":"developer"`}, []string{"temperature", "effort", "breakpoint"}},
		{"an effort that the model knows", openAI("gpt-6-sol", all...), model.EffortMax, []string{`"effort":"max"`, "prompt_cache_breakpoint"}, nil},
		{"a stronger effort than it knows", openAI("gpt-5.2"), model.EffortXHigh, []string{`"effort":"high"`}, nil},
		{"a weaker effort than it knows", openAI("gpt-5.2"), model.EffortMinimal, []string{`"effort":"low"`}, nil},
		{"off", openAI("gpt-5.5"), model.EffortOff, []string{`"reasoning":{"effort":"none"}`, encrypted}, nil},
		{"off for one that always thinks", openAI("o4-mini"), model.EffortOff, []string{`"reasoning":{"effort":"low"}`}, nil},
		{"off for one that thinks much", openAI("gpt-5-pro", model.EffortHigh), model.EffortOff, nil, []string{`"reasoning":`}},
		{"one that the catalog does not know", model.Descriptor{Provider: "openai", ID: "gpt-7"}, model.EffortHigh, []string{`"effort":"high"`, encrypted}, []string{"temperature"}},
		{"one for chatting", openAI("gpt-5-chat-latest"), model.EffortHigh, []string{`"role":"system"`}, []string{`"reasoning"`, "include", "temperature"}},
		{"one that does not think", model.Descriptor{Provider: "openai", ID: "gpt-4.1"}, model.EffortHigh,
			[]string{`"temperature":0.5`, `"role":"system"`, `"prompt_cache_key":"s1"`}, []string{`"reasoning"`, "include"}},
		{"OpenAI in Europe", model.Descriptor{Provider: "eu", ID: "gpt-5.6", BaseURL: "https://eu.api.openai.com/v1"}, model.EffortLow, []string{"prompt_cache_key", "prompt_cache_breakpoint"}, nil},
		{"Azure", model.Descriptor{Provider: "azure", ID: "gpt-5.6", BaseURL: "https://x.openai.azure.com/openai/v1"}, model.EffortLow,
			[]string{`"role":"system","content":"You`, encrypted, summary}, []string{"prompt_cache"}},
		{"an open model", model.Descriptor{Provider: "vllm", ID: "openai/gpt-oss-120b", BaseURL: "http://127.0.0.1:8000/v1", Thinks: true}, model.EffortOff,
			[]string{`"effort":"low"`, encrypted, `"role":"system"`}, []string{"temperature"}},
		{"a model of others", model.Descriptor{Provider: "vllm", ID: "qwen", BaseURL: "http://127.0.0.1:8000/v1"}, model.EffortHigh, []string{"temperature"}, []string{`"reasoning"`, "include"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := modeltest.Ask("go")
			req.Temperature, req.Effort = &warm, tt.effort
			got := sent(t, tt.d, req)
			for _, s := range tt.want {
				if !strings.Contains(got, s) {
					t.Errorf("%s is missing in %s", s, got)
				}
			}
			for _, s := range tt.not {
				if strings.Contains(got, s) {
					t.Errorf("%s is in %s", s, got)
				}
			}
		})
	}
}

func TestAddressAndHeaders(t *testing.T) {
	for base, want := range map[string]string{
		"":                     "https://api.openai.com/v1/responses",
		"http://h/v1/":         "http://h/v1/responses",
		"http://h/v1?version=": "http://h/v1/responses?version=",
	} {
		s := answers(stream(completed))
		c := responses.New(model.Descriptor{ID: "m", BaseURL: base}, responses.Options{Key: "sk-1", Headers: map[string]string{"X-Team": "t"}, Client: s.Client()})
		if _, _, err := modeltest.Collect(t.Context(), c, modeltest.Ask("go")); err != nil {
			t.Fatal(err)
		}
		if got := s.Asked[0].URL.String(); got != want {
			t.Errorf("%q: address = %q, want %q", base, got, want)
		}
		if got := s.Asked[0].Header.Get("Authorization") + " " + s.Asked[0].Header.Get("X-Team"); got != "Bearer sk-1 t" {
			t.Errorf("headers = %q", got)
		}
	}
}

// What a server refuses and an answer can do without is left out, in this request
// and in later ones.
func TestSpared(t *testing.T) {
	const ok = `data: {"type":"response.completed","response":{"status":"completed"}}` + "\n\n"
	refuse := func(param, code, message string) string {
		return `{"error":{"message":"` + message + `","type":"invalid_request_error","param":"` + param + `","code":` + code + `}}`
	}
	tests := []struct {
		name    string
		answers []string
		gone    string // from the second request on
		kept    string // in all of them
	}{
		{"a summary, without verification", []string{refuse("reasoning.summary", `"unsupported_value"`, "Your organization must be verified to generate reasoning summaries."), ok},
			`"summary":"auto"`, "gAAA"},
		{"thoughts of another account", []string{refuse("input", `"invalid_encrypted_content"`, "The encrypted content gAAA... could not be verified."), ok}, "gAAA", `"summary":"auto"`},
		{"thoughts that are not found", []string{refuse("input", "null", "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false."), ok}, `"id":`, `"summary":"auto"`},
		{"a model that encrypts none", []string{refuse("include", "null", "Encrypted content is not supported with this model."), ok}, "include", `"summary":"auto"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := answers(tt.answers...)
			c := responses.New(model.Descriptor{Provider: "openai", ID: "gpt-5.6"}, responses.Options{Client: s.Client()})
			req := modeltest.Ask("go")
			req.Messages = history()
			for range 2 {
				if _, _, err := modeltest.Collect(t.Context(), c, req); err != nil {
					t.Fatal(err)
				}
			}
			if len(s.Bodies) != 3 {
				t.Fatalf("%d requests, want 3", len(s.Bodies))
			}
			for i, b := range s.Bodies {
				if strings.Contains(b, tt.gone) != (i == 0) || !strings.Contains(b, tt.kept) {
					t.Errorf("request %d: %s", i, b)
				}
			}
		})
	}
	t.Run("but not the thoughts to come", func(t *testing.T) {
		const fresh = `{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"gNEW"}`
		s := answers(refuse("input", "null", "The encrypted content gAAA... could not be verified."), ok)
		c := responses.New(model.Descriptor{Provider: "openai", ID: "gpt-5.6"}, responses.Options{Client: s.Client()})
		req := modeltest.Ask("go")
		req.Messages = history()
		for range 2 {
			if _, _, err := modeltest.Collect(t.Context(), c, req); err != nil {
				t.Fatal(err)
			}
			req.Messages = append(req.Messages, answer(model.Reasoning{Provider: ref, Signature: fresh}, item("f2", call("d", "read", "{}"))))
		}
		last := s.Bodies[len(s.Bodies)-1]
		if len(s.Bodies) != 3 || !strings.Contains(last, fresh+`,{"type":"function_call","id":"f2"`) || strings.Contains(last, "gAAA") || strings.Contains(last, `"id":"f1"`) {
			t.Errorf("%d requests, the last: %s", len(s.Bodies), last)
		}
		if !strings.Contains(last, `"include":["reasoning.encrypted_content"]`) {
			t.Errorf("no thoughts are asked for: %s", last)
		}
	})
	t.Run("nor what is nobody's fault but the caller's", func(t *testing.T) {
		s := answers(stream(`output_text.delta "item_id":"m1","output_index":0,"content_index":0,"delta":"x"`, completed))
		c := responses.New(model.Descriptor{Provider: "openai", ID: "gpt-5.6"}, responses.Options{Client: s.Client()})
		own := &model.Error{Kind: model.Invalid, Message: "encrypted content"}
		if _, err := c.Stream(t.Context(), modeltest.Ask("go"), func(model.Event) error { return own }); err != error(own) || len(s.Bodies) != 1 {
			t.Errorf("error = %v after %d requests, want the caller's after 1", err, len(s.Bodies))
		}
	})
	t.Run("but once", func(t *testing.T) {
		s := answers(refuse("input", `"invalid_encrypted_content"`, "no"))
		c := responses.New(model.Descriptor{Provider: "openai", ID: "gpt-5.6"}, responses.Options{Client: s.Client()})
		_, _, err := modeltest.Collect(t.Context(), c, modeltest.Ask("go"))
		if e, ok := errors.AsType[*model.Error](err); !ok || e.Kind != model.Invalid || len(s.Bodies) != 2 {
			t.Errorf("error = %v after %d requests, want the refusal after 2", err, len(s.Bodies))
		}
	})
	t.Run("and nothing else", func(t *testing.T) {
		s := answers(refuse("tools", "null", "Invalid schema for function 'read'."))
		c := responses.New(model.Descriptor{Provider: "openai", ID: "gpt-5.6"}, responses.Options{Client: s.Client()})
		if _, _, err := modeltest.Collect(t.Context(), c, modeltest.Ask("go")); err == nil || len(s.Bodies) != 1 {
			t.Errorf("error = %v after %d requests, want one after 1", err, len(s.Bodies))
		}
	})
}

// One message may hold answers of which only the first has its thought: what follows
// a thought that is left out stands without an id.
func TestIDsFollowTheirThought(t *testing.T) {
	const lost = `{"type":"reasoning","id":"rs_0","summary":[],"encrypted_content":"gOLD"}`
	s := answers(`{"error":{"message":"The encrypted content gOLD could not be verified.","type":"invalid_request_error"}}`,
		stream(completed))
	c := responses.New(model.Descriptor{Provider: "openai", ID: "gpt-5.6"}, responses.Options{Client: s.Client()})
	req := modeltest.Ask("go")
	old := []llms.ContentPart{model.Reasoning{Provider: ref, Signature: lost}, message("old", `{"type":"message","id":"m0"}`)}
	kept := []llms.ContentPart{model.Reasoning{Provider: ref, Signature: encrypted}, message("new", `{"type":"message","id":"m1"}`)}
	for _, parts := range [][]llms.ContentPart{old, append(kept, old...)} {
		req.Messages = []llms.MessageContent{answer(parts...), llms.TextParts(llms.ChatMessageTypeHuman, "next")}
		if _, _, err := modeltest.Collect(t.Context(), c, req); err != nil {
			t.Fatal(err)
		}
	}
	last := s.Bodies[len(s.Bodies)-1]
	if !strings.Contains(last, "gAAA") || !strings.Contains(last, `"id":"m1"`) || strings.Contains(last, "gOLD") || strings.Contains(last, `"id":"m0"`) {
		t.Errorf("body = %s, want the thought and the id of the first answer, and neither of the second", last)
	}
}

func TestAServerWithoutTheProtocol(t *testing.T) {
	s := answers("<html>")
	c := responses.New(model.Descriptor{Provider: "p", ID: "m", BaseURL: "http://127.0.0.1:9/v1"}, responses.Options{Client: s.Client()})
	_, _, err := modeltest.Collect(t.Context(), c, modeltest.Ask("go"))
	if want := `HTTP 404 Not Found; a server without the Responses protocol wants kind = "openai-chat"`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error = %v, want %s", err, want)
	}
}

// C106: a thought goes back to the model that had it, and to no other.
func TestThoughtsAfterAChangeOfModel(t *testing.T) {
	s := answers(stream(done("0", encrypted), done("1", `{"type":"message","id":"m1","status":"completed","content":[{"type":"output_text","text":"x"}]}`), completed))
	req := modeltest.Ask("go")
	ask := func(id string) {
		c := responses.New(model.Descriptor{Provider: "openai", ID: id}, responses.Options{Client: s.Client()})
		_, reply, err := modeltest.Collect(t.Context(), c, req)
		if err != nil {
			t.Fatal(err)
		}
		req.Messages = append(req.Messages, answer(reply.Parts...), llms.TextParts(llms.ChatMessageTypeHuman, "next"))
	}
	for _, id := range []string{"gpt-5.6", "gpt-6-sol", "gpt-6-sol", "gpt-5.6"} {
		ask(id)
	}
	for i, want := range []int{0, 0, 1, 1} {
		if got := strings.Count(s.Bodies[i], "gAAA"); got != want {
			t.Errorf("request %d has %d thoughts, want %d: %s", i, got, want, s.Bodies[i])
		}
	}
}

// R-HARN-14: over 20 turns with calls every request begins with the one before.
func TestPrefixOfASession(t *testing.T) {
	s := modeltest.New(t)
	d := model.Descriptor{Kind: "openai-responses", Provider: "test", ID: "gpt-5.6", BaseURL: s.OpenAI(), Images: true, Thinks: true}
	c := normalise.Wrap(responses.New(d, responses.Options{}), d, normalise.Options{})
	req := modeltest.Ask("turn 0 " + strings.Repeat("long ", 2000))
	cached := modeltest.Converse(t, s, c, req, 20)
	if got := s.Ratio(); got != 1 || len(s.Reuse()) != 39 {
		t.Errorf("prefix reuse = %v over %d comparisons, want 1 over 39", got, len(s.Reuse()))
	}
	if cached < 39*2000 {
		t.Errorf("%d tokens came from the cache", cached)
	}
	reqs := s.Requests()
	modeltest.Prefixes(t, reqs, `],"reasoning"`)
	if got := strings.Count(string(reqs[39].Body), `"encrypted_content"`); got != 20 {
		t.Errorf("the last request carries %d thoughts, want 20", got)
	}
}
