package openai_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/internal/streamtest"
	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
	"github.com/lorimer-dev/lorimer/harness/model/normalise"
	"github.com/lorimer-dev/lorimer/harness/model/openai"
)

// sent returns the body that d is asked with, and the headers.
func sent(t *testing.T, d model.Descriptor, o openai.Options, req *model.Request) (string, http.Header) {
	t.Helper()
	s := modeltest.New(t, modeltest.Reply{Text: []string{"ok"}})
	profile := openai.ProfileFor(d)
	if o.Profile == nil {
		o.Profile = &profile
	}
	d.BaseURL = s.OpenAI()
	if _, _, err := modeltest.Collect(t.Context(), openai.New(d, o), req); err != nil {
		t.Fatalf("%v\n%s", err, s.Requests()[0].Body)
	}
	r := s.Requests()[0]
	return string(r.Body), r.Header
}

func image(name string) llms.BinaryContent {
	return llms.BinaryContent{MIMEType: "image/png", Data: []byte(name)}
}

func result(id, name, content string) model.ToolResult {
	return model.ToolResult{ToolCallResponse: llms.ToolCallResponse{ToolCallID: id, Name: name, Content: content}}
}

func toolCall(id, name, args string) llms.ToolCall {
	return llms.ToolCall{ID: id, Type: "function", FunctionCall: &llms.FunctionCall{Name: name, Arguments: args}}
}

func TestBody(t *testing.T) {
	warm := 0.5
	failed := result("b", "grep", "no such file")
	failed.IsError = true
	seen := result("a", "read", "a picture")
	seen.Images = []llms.BinaryContent{image("one")}
	req := modeltest.Ask("look <here>")
	req.Messages = append(req.Messages,
		llms.MessageContent{Role: llms.ChatMessageTypeAI, Parts: []llms.ContentPart{
			model.Reasoning{TextContent: llms.TextContent{Text: "hm"}, Field: "reasoning_content"},
			toolCall("a", "read", `{"z":1, "a":12345678901234567890}`), toolCall("b", "grep", `{}`)}},
		llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{seen}},
		llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{failed}},
		llms.MessageContent{Role: llms.ChatMessageTypeAI, Parts: []llms.ContentPart{llms.TextContent{Text: "I see."}}},
		llms.MessageContent{Role: llms.ChatMessageTypeHuman, Parts: []llms.ContentPart{llms.TextContent{Text: "and"}, image("two")}},
		llms.TextParts(llms.ChatMessageTypeHuman, "one", "two"),
	)
	req.NoTools, req.MaxTokens, req.Temperature, req.Effort, req.JSON = true, 100, &warm, model.EffortHigh, true
	got, _ := sent(t, model.Descriptor{Provider: "ollama", ID: "m"}, openai.Options{}, req)
	want := `{"model":"m","stream":true,"stream_options":{"include_usage":true},"tools":[` +
		`{"type":"function","function":{"name":"grep","description":"Finds text.","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}},` +
		`{"type":"function","function":{"name":"read","description":"Reads a file.","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}}],` +
		`"messages":[{"role":"system","content":"You are under test."},{"role":"user","content":"look <here>"},` +
		`{"role":"assistant","content":null,"tool_calls":[` +
		`{"id":"a","type":"function","function":{"name":"read","arguments":"{\"z\":1, \"a\":12345678901234567890}"}},` +
		`{"id":"b","type":"function","function":{"name":"grep","arguments":"{}"}}]},` +
		`{"role":"tool","tool_call_id":"a","content":"a picture"},{"role":"tool","tool_call_id":"b","content":"ERROR: no such file"},` +
		`{"role":"user","content":[{"type":"text","text":"Images from the result of the tool \"read\":"},{"type":"image_url","image_url":{"url":"data:image/png;base64,b25l"}}]},` +
		`{"role":"assistant","content":"I see."},` +
		`{"role":"user","content":[{"type":"text","text":"and"},{"type":"image_url","image_url":{"url":"data:image/png;base64,dHdv"}}]},` +
		`{"role":"user","content":"one\n\ntwo"}],` +
		`"tool_choice":"none","max_tokens":100,"temperature":0.5,"response_format":{"type":"json_object"}}`
	if diff := cmp.Diff(strings.Split(want, "},{"), strings.Split(got, "},{")); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
}

func TestProfile(t *testing.T) {
	warm := 0.5
	host := func(h string) model.Descriptor {
		return model.Descriptor{Provider: "mine", BaseURL: "https://" + h + "/v1"}
	}
	openAI := model.Descriptor{Provider: "openai"}
	all := []model.Effort{model.EffortMinimal, model.EffortLow, model.EffortMedium, model.EffortHigh, model.EffortXHigh, model.EffortMax}
	tests := []struct {
		name   string
		d      model.Descriptor
		id     string
		effort model.Effort
		tools  bool
		want   []string // in the body
		not    []string
	}{
		{"OpenAI before reasoning", openAI, "gpt-4.1", model.EffortHigh, true, []string{`"max_completion_tokens":9`, `"temperature":0.5`, `"role":"system"`, `"prompt_cache_key":"s1"`}, []string{"effort"}},
		{"OpenAI with reasoning", openAI, "gpt-5.2", model.EffortHigh, true, []string{`"reasoning_effort":"high"`, `"role":"developer"`}, []string{"temperature"}},
		{"OpenAI takes functions without effort only", openAI, "gpt-5.5", model.EffortHigh, true, []string{`"reasoning_effort":"none"`}, nil},
		{"OpenAI, effort without functions", openAI, "gpt-5.5", model.EffortHigh, false, []string{`"reasoning_effort":"high"`}, nil},
		{"OpenAI cannot be kept from thinking", openAI, "o3-mini", model.EffortOff, true, []string{`"reasoning_effort":"low"`}, []string{"temperature"}},
		{"OpenAI off", openAI, "gpt-5.2", model.EffortOff, true, []string{`"reasoning_effort":"none"`}, []string{"breakpoint"}},
		{"OpenAI for chatting", openAI, "gpt-5.2-chat-latest", model.EffortHigh, true, []string{`"role":"system"`, `"max_completion_tokens":9`}, []string{"effort", "temperature"}},
		{"Azure", model.Descriptor{Provider: "mine", BaseURL: "https://x.openai.azure.com/openai/v1"}, "gpt-5.6", model.EffortHigh, false,
			[]string{`"reasoning_effort":"high"`, `"max_completion_tokens":9`}, []string{"prompt_cache", "temperature"}},
		{"OpenAI by its address", host("api.openai.com"), "gpt-4.1", "", true, []string{"prompt_cache_key"}, nil},
		{"a proxy that is called openai", model.Descriptor{Provider: "openai", BaseURL: "http://127.0.0.1:9/v1"}, "gpt-4.1", "", true, []string{`"max_tokens":9`}, []string{"prompt_cache_key"}},
		{"a reasoning model of OpenAI elsewhere", host("proxy.example"), "openai/gpt-5.2", "", true, []string{"max_completion_tokens"}, []string{"temperature", "developer"}},
		{"a newer one elsewhere, with functions", host("proxy.example"), "gpt-5.5", "", true, []string{`"reasoning_effort":"none"`}, []string{"developer", "prompt_cache"}},
		{"a newer one elsewhere, without functions", host("proxy.example"), "gpt-5.5", model.EffortHigh, false, []string{`"reasoning_effort":"high"`}, nil},
		{"an open model of OpenAI", host("proxy.example"), "gpt-oss-120b", "", true, []string{`"max_tokens":9`, "temperature"}, nil},
		{"OpenRouter", host("openrouter.ai"), "x/y", model.EffortLow, true, []string{`"reasoning":{"effort":"low"}`}, []string{"reasoning_effort"}},
		{"OpenRouter with all efforts", model.Descriptor{Provider: "openrouter", Thinks: true, Efforts: all}, "x/y", model.EffortMinimal, true, []string{`"reasoning":{"effort":"minimal"}`}, nil},
		{"DeepSeek off", host("api.deepseek.com"), "deepseek-v4-pro", model.EffortOff, true, []string{`"thinking":{"type":"disabled"}`}, []string{"reasoning_effort"}},
		{"DeepSeek on", model.Descriptor{Provider: "deepseek", Thinks: true, Efforts: all}, "deepseek-v4-pro", model.EffortMax, true, []string{`"thinking":{"type":"enabled"},"reasoning_effort":"max"`}, nil},
		{"DeepSeek as it likes", model.Descriptor{Provider: "deepseek"}, "deepseek-v4-pro", "", true, nil, []string{`"thinking"`, "effort"}},
		{"Moonshot", host("api.moonshot.ai"), "kimi-k2.6", model.EffortLow, true, []string{`"thinking":{"type":"enabled"}`, `"max_completion_tokens":9`, `"prompt_cache_key":"s1"`}, []string{"temperature", "effort"}},
		{"Z.ai", host("api.z.ai"), "glm-5", model.EffortOff, true, []string{`"thinking":{"type":"disabled"}`, `"max_tokens":9`}, []string{"effort", "stream_options", "tool_choice"}},
		{"Groq, of a model without known efforts", host("api.groq.com"), "qwen/qwen3-32b", model.EffortHigh, true, []string{`"max_completion_tokens":9`}, []string{"effort"}},
		{"Groq, of a model with", model.Descriptor{Provider: "groq", Thinks: true, Efforts: []model.Effort{model.EffortLow}}, "moonshotai/kimi-k2-instruct", model.EffortHigh, true, []string{`"reasoning_effort":"low"`}, nil},
		{"Cerebras", model.Descriptor{Provider: "cerebras", Thinks: true, Efforts: all}, "zai-glm-4.7", model.EffortXHigh, true, []string{`"reasoning_effort":"xhigh"`, `"max_completion_tokens":9`}, nil},
		{"xAI", host("api.x.ai"), "grok-4", model.EffortHigh, true, []string{`"max_completion_tokens":9`}, []string{"effort"}},
		{"a stronger effort than the model knows", model.Descriptor{Provider: "openai", Thinks: true}, "gpt-5.2", model.EffortMax, true, []string{`"reasoning_effort":"high"`}, nil},
		{"LM Studio", model.Descriptor{Provider: "lmstudio", BaseURL: "http://127.0.0.1:1234/v1"}, "m", "", true, []string{`"max_tokens":9`, "stream_options"}, []string{"response_format"}},
		{"the gateway of a company", host("llm.corp.example"), "m", model.EffortHigh, true, []string{`"max_tokens":9`, `"role":"system"`, "response_format"}, []string{"effort", "prompt_cache", "thinking", "strict", "store", "parallel"}},
		{"Gemini", host("generativelanguage.googleapis.com"), "gemini-3-pro", model.EffortMedium, true, []string{`"reasoning_effort":"medium"`}, nil},
		{"Mistral asks for no usage", host("api.mistral.ai"), "m", "", true, []string{`"prompt_cache_key":"s1"`}, []string{"stream_options"}},
		{"Mistral off", model.Descriptor{Provider: "mistral", Thinks: true, Efforts: []model.Effort{model.EffortHigh}}, "mistral-medium-3.5", model.EffortLow, true, []string{`"reasoning_effort":"high"`}, nil},
		{"a local server", model.Descriptor{Provider: "llamacpp", BaseURL: "http://127.0.0.1:8080/v1"}, "m", model.EffortHigh, true,
			[]string{`"max_tokens":9`, `"role":"system"`, "stream_options"}, []string{"effort", "prompt_cache_key", "thinking"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := modeltest.Ask("go, in JSON")
			req.MaxTokens, req.Temperature, req.Effort, req.JSON, req.NoTools = 9, &warm, tt.effort, true, true
			if !tt.tools {
				req.Tools = nil
			}
			tt.d.ID = tt.id
			got, _ := sent(t, tt.d, openai.Options{}, req)
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

// What a model of this protocol finds in a history: what it said itself as it said
// it, what others said without what they kept beside it.
func TestHistory(t *testing.T) {
	const google = `{"google":{"thought_signature":"s"}}`
	answer := func(parts ...llms.ContentPart) llms.MessageContent {
		return llms.MessageContent{Role: llms.ChatMessageTypeAI, Parts: parts}
	}
	signed := func(ref, s string) model.SignedText {
		return model.SignedText{TextContent: llms.TextContent{Text: s}, Provider: ref, Content: []byte(`{"type":"message","phase":"commentary"}`)}
	}
	extra := func(ref, id, content string) model.Extra {
		return model.Extra{ToolCall: toolCall(id, "read", "{}"), Provider: ref, Content: []byte(content)}
	}
	thought := func(ref, field, text, signature string) model.Reasoning {
		return model.Reasoning{TextContent: llms.TextContent{Text: text}, Provider: ref, Field: field, Signature: signature}
	}
	history := func(ref string) []llms.MessageContent {
		return []llms.MessageContent{
			llms.TextParts(llms.ChatMessageTypeHuman, "go"),
			answer(thought(ref, "reasoning_content", "own", ""), thought(ref, "reasoning_details", "own", `[{"d":1}]`), thought("x/y", "reasoning_content", "secret", ""),
				thought("x/y", "reasoning_details", "secret", `[{"secret":1}]`), signed("x/y", "One."), signed(ref, "Two."),
				extra(ref, "a", google), extra("x/y", "b", google), extra(ref, "c", `{"type":"function_call","id":"fc_1"}`)),
			{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{result("a", "read", ""), result("b", "read", ""), result("c", "read", "")}},
			answer(signed("x/y", "Three.")),
			{Role: llms.ChatMessageTypeHuman, Parts: []llms.ContentPart{signed("x/y", "quoted"), image("p")}},
		}
	}
	const calls = `"content":"One.\n\nTwo.","tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{}"},"extra_content":` + google + `},` +
		`{"id":"b","type":"function","function":{"name":"read","arguments":"{}"}},{"id":"c","type":"function","function":{"name":"read","arguments":"{}"}}]}`
	tests := []struct {
		provider string
		want     []string
	}{
		{"vllm", []string{`{"role":"assistant",` + calls, `{"role":"assistant","content":"Three."}`, `[{"type":"text","text":"quoted"},{"type":"image_url"`}},
		{"openrouter", []string{`{"role":"assistant","reasoning_details":[{"d":1}],` + calls, `{"role":"assistant","content":"Three."}`}},
		{"deepseek", []string{`{"role":"assistant","reasoning_content":"own",` + calls, `{"role":"assistant","reasoning_content":"","content":"Three."}`}},
	}
	for _, tt := range tests {
		t.Run(tt.provider, func(t *testing.T) {
			s := &streamtest.Server{Answers: []streamtest.Answer{{Body: stream(finish("stop"))}}}
			c := openai.New(model.Descriptor{Provider: tt.provider, ID: "m"}, openai.Options{Client: s.Client()})
			req := modeltest.Ask("")
			req.Messages = history(tt.provider + "/m")
			if _, _, err := modeltest.Collect(t.Context(), c, req); err != nil {
				t.Fatal(err)
			}
			got := s.Bodies[0]
			for _, s := range tt.want {
				if !strings.Contains(got, s) {
					t.Errorf("%s is missing in %s", s, got)
				}
			}
			if strings.Contains(got, "secret") || strings.Contains(got, "fc_1") || strings.Contains(got, "phase") {
				t.Errorf("something of another model or protocol is in %s", got)
			}
		})
	}
}

// gpt-5.6 and later match the cache at breakpoints alone. One at the newest message
// is theirs, the one at the end of the system prompt is ours.
func TestBreakpoint(t *testing.T) {
	const mark = `{"role":"developer","content":[{"type":"text","text":"You are under test.","prompt_cache_breakpoint":{"mode":"explicit"}}]}`
	for id, want := range map[string]bool{"gpt-5.5": false, "gpt-5.6-sol": true, "gpt-6-astra": true, "gpt-4.1": false} {
		s := &streamtest.Server{Answers: []streamtest.Answer{{Body: stream(finish("stop"))}}}
		c := openai.New(model.Descriptor{Provider: "openai", ID: id}, openai.Options{Client: s.Client()})
		if _, _, err := modeltest.Collect(t.Context(), c, modeltest.Ask("go")); err != nil {
			t.Fatal(err)
		}
		got := s.Bodies[0]
		if strings.Contains(got, mark) != want || strings.Contains(got, "breakpoint") != want {
			t.Errorf("%s is asked with %s, want a breakpoint: %v", id, got, want)
		}
	}
}

func TestAddress(t *testing.T) {
	for _, base := range []string{"/v1", "/v1/", "/v1/chat/completions", "/v1?api-version=1"} {
		s := modeltest.New(t, modeltest.Reply{Text: []string{"ok"}})
		c := openai.New(model.Descriptor{ID: "m", BaseURL: s.URL + base}, openai.Options{})
		if _, _, err := modeltest.Collect(t.Context(), c, modeltest.Ask("go")); err != nil {
			t.Errorf("%s: %v", base, err)
		} else if got := s.Requests()[0].Path; got != "/v1/chat/completions" {
			t.Errorf("%s: path = %q", base, got)
		}
	}
}

func TestHeaders(t *testing.T) {
	_, h := sent(t, model.Descriptor{ID: "m"}, openai.Options{Key: "sk-123", Headers: map[string]string{"X-Title": "t"}}, modeltest.Ask("go"))
	if got := h.Get("Authorization") + " " + h.Get("X-Title"); got != "Bearer sk-123 t" {
		t.Errorf("headers = %q", got)
	}
	_, h = sent(t, model.Descriptor{ID: "m"}, openai.Options{}, modeltest.Ask("go"))
	if h["Authorization"] != nil {
		t.Errorf("Authorization without a key = %q", h["Authorization"])
	}
}

// C107: what a family wants back goes back to it, also for calls that another
// model made.
func TestReasoningGoesBack(t *testing.T) {
	for _, id := range []string{"deepseek-v4-pro", "gemini-3-pro", "other"} {
		t.Run(id, func(t *testing.T) {
			step := modeltest.Reply{Think: []string{""}, Tools: []modeltest.Tool{{Name: "read", Args: "{}"}, {Name: "grep", Args: "{}"}}}
			s := modeltest.New(t, step, step, modeltest.Reply{Text: []string{"done"}})
			provider, _, _ := strings.Cut(id, "-")
			d := model.Descriptor{Kind: "openai-chat", Provider: provider, ID: id, BaseURL: s.OpenAI()}
			c := normalise.Wrap(openai.New(d, openai.Options{}), d, normalise.Options{})
			req := modeltest.Ask("go")
			req.Messages = append(req.Messages, // made by another model
				llms.MessageContent{Role: llms.ChatMessageTypeAI, Parts: []llms.ContentPart{
					model.Reasoning{TextContent: llms.TextContent{Text: "secret"}, Provider: "x/y", Field: "reasoning_content"}, toolCall("old", "read", "{}")}},
				llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{result("old", "read", "x")}})
			for range 3 {
				_, reply, err := modeltest.Collect(t.Context(), c, req)
				if err != nil {
					t.Fatalf("%v in %q", err, s.Rejected())
				}
				if reply.Stop == model.StopTools {
					req.Messages = append(req.Messages, modeltest.Results(reply, "1", "2")...)
				}
			}
			for _, r := range s.Requests() {
				if strings.Contains(string(r.Body), "secret") {
					t.Errorf("reasoning of another model is in %s", r.Body)
				}
			}
			if got := s.Ratio(); got != 1 {
				t.Errorf("prefix reuse = %v, want 1", got)
			}
		})
	}
}

// R-HARN-14: over 20 turns with calls every request begins with the one before.
func TestPrefixOfASession(t *testing.T) {
	s := modeltest.New(t)
	d := model.Descriptor{Kind: "openai-chat", Provider: "test", ID: modeltest.ModelID, BaseURL: s.OpenAI(), Images: true}
	c := normalise.Wrap(openai.New(d, openai.Options{}), d, normalise.Options{})
	req := modeltest.Ask("turn 0 " + strings.Repeat("long ", 2000))
	cached := modeltest.Converse(t, s, c, req, 20)
	if got := s.Ratio(); got != 1 || len(s.Reuse()) != 39 {
		t.Errorf("prefix reuse = %v over %d comparisons, want 1 over 39", got, len(s.Reuse()))
	}
	if cached < 39*2000 {
		t.Errorf("%d tokens came from the cache", cached)
	}
	modeltest.Prefixes(t, s.Requests(), `],"tool_choice"`)
}
