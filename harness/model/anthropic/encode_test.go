package anthropic_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/anthropic"
	"github.com/lorimer-dev/lorimer/harness/model/internal/streamtest"
	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
	"github.com/lorimer-dev/lorimer/harness/model/normalise"
)

// sent returns the body that the model id is asked with, and the headers.
func sent(t *testing.T, id string, o anthropic.Options, req *model.Request) (string, http.Header) {
	t.Helper()
	s := modeltest.New(t, modeltest.Reply{Text: []string{"ok"}})
	c := anthropic.New(model.Descriptor{Provider: "test", ID: id, BaseURL: s.URL + "/v1/"}, o)
	if _, _, err := modeltest.Collect(t.Context(), c, req); err != nil {
		t.Fatalf("%v\n%s", err, s.Requests()[0].Body)
	}
	return string(s.Requests()[0].Body), s.Requests()[0].Header
}

func toolCall(id, name, args string) llms.ToolCall {
	return llms.ToolCall{ID: id, Type: "function", FunctionCall: &llms.FunctionCall{Name: name, Arguments: args}}
}

func result(id, content string) model.ToolResult {
	return model.ToolResult{ToolCallResponse: llms.ToolCallResponse{ToolCallID: id, Content: content}}
}

func TestBody(t *testing.T) {
	seen, failed := result("a", "a picture"), result("b", "no such file")
	seen.Images = []llms.BinaryContent{{MIMEType: "image/png", Data: []byte("one")}}
	failed.IsError = true
	req := modeltest.Ask("look <here>")
	req.Messages = append(req.Messages,
		llms.MessageContent{Role: llms.ChatMessageTypeAI, Parts: []llms.ContentPart{
			llms.TextContent{Text: "I look."}, llms.TextContent{Text: " \n"},
			model.Reasoning{TextContent: llms.TextContent{Text: "unsigned"}},
			toolCall("a", "read", `{"z":1, "a":12345678901234567890,"h":"<&>"}`), toolCall("b", "grep", `{"p":"cut`)}},
		llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{seen}},
		llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{failed}},
		llms.TextParts(llms.ChatMessageTypeHuman, "and now?"),
	)
	req.NoTools, req.MaxTokens = true, 100
	got, _ := sent(t, "claude-opus-4-7", anthropic.Options{}, req)
	want := `{"model":"claude-opus-4-7","max_tokens":100,"stream":true,"tools":[` +
		`{"name":"grep","description":"Finds text.","input_schema":{"type":"object","properties":{"path":{"type":"string"}}}},` +
		`{"name":"read","description":"Reads a file.","input_schema":{"type":"object","properties":{"path":{"type":"string"}}}}],` +
		`"system":[{"type":"text","text":"You are under test.","cache_control":{"type":"ephemeral"}}],` +
		`"messages":[{"role":"user","content":[{"type":"text","text":"look <here>"}]},` +
		`{"role":"assistant","content":[{"type":"text","text":"I look."},` +
		`{"type":"tool_use","id":"a","name":"read","input":{"z":1, "a":12345678901234567890,"h":"<&>"}},` +
		`{"type":"tool_use","id":"b","name":"grep","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"a picture"},` +
		`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"b25l"}}]},` +
		`{"type":"tool_result","tool_use_id":"b","content":"no such file","is_error":true},` +
		`{"type":"text","text":"and now?","cache_control":{"type":"ephemeral"}}]}],` +
		`"tool_choice":{"type":"none"}}`
	if diff := cmp.Diff(strings.Split(want, "},{"), strings.Split(got, "},{")); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
}

func TestFamilies(t *testing.T) {
	warm := 0.5
	tests := []struct {
		id     string
		effort model.Effort
		want   []string
		not    []string
	}{
		{"claude-opus-4-7", model.EffortHigh, []string{`"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"high"}`, `"max_tokens":64000`}, []string{"temperature"}},
		{"claude-opus-4-7", model.EffortXHigh, []string{`"effort":"xhigh"`}, nil},
		{"claude-opus-4-7", model.EffortMax, []string{`"effort":"max"`}, nil},
		{"claude-opus-4-7", model.EffortMinimal, []string{`"effort":"low"`}, []string{"minimal"}},
		{"claude-opus-4-6", model.EffortXHigh, []string{`"effort":"high"`}, []string{"xhigh"}},
		{"claude-opus-4-6", model.EffortMax, []string{`"effort":"max"`}, nil},
		{"claude-opus-4-5", model.EffortMinimal, []string{`"budget_tokens":1024`}, nil},
		{"claude-opus-4-5", model.EffortXHigh, []string{`"budget_tokens":32000`}, []string{"output_config"}},
		{"claude-opus-4-1", model.EffortMax, []string{`"max_tokens":32000`, `"budget_tokens":16000`}, nil},
		{"claude-opus-4-7", model.EffortOff, nil, []string{"thinking", "output_config", "temperature"}},
		{"claude-opus-4-7", model.EffortDefault, nil, []string{"thinking", "output_config", "temperature"}},
		{"claude-fable-5", model.EffortOff, []string{`"output_config":{"effort":"low"}`}, []string{"thinking", "temperature"}},
		{"claude-sonnet-4-6", model.EffortLow, []string{`"adaptive"`, `"effort":"low"`}, []string{"temperature"}},
		{"claude-sonnet-4-6", model.EffortOff, []string{`"temperature":0.5`}, []string{"thinking"}},
		{"claude-sonnet-4-5-20250929", model.EffortMedium, []string{`"thinking":{"type":"enabled","budget_tokens":10000}`}, []string{"temperature", "output_config"}},
		{"claude-opus-4-20250514", model.EffortHigh, []string{`"max_tokens":32000`, `"budget_tokens":16000`}, nil},
		{"claude-3-7-sonnet-20250219", model.EffortLow, []string{`"budget_tokens":4000`}, nil},
		{"claude-3-5-haiku-latest", model.EffortHigh, []string{`"max_tokens":8192`, `"temperature":0.5`}, []string{"thinking"}},
		{"claude-3-haiku-20240307", model.EffortHigh, []string{`"max_tokens":4096`}, []string{"thinking"}},
		{"kimi-k2", model.EffortHigh, []string{`"max_tokens":16000`, `"temperature":0.5`}, []string{"thinking"}},
	}
	for _, tt := range tests {
		t.Run(tt.id+" "+string(tt.effort), func(t *testing.T) {
			req := modeltest.Ask("go")
			req.Effort, req.Temperature = tt.effort, &warm
			got, _ := sent(t, tt.id, anthropic.Options{}, req)
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

func TestBudgetLeavesRoomForTheAnswer(t *testing.T) {
	for limit, want := range map[int]string{4000: `"budget_tokens":2000`, 2000: ""} {
		req := modeltest.Ask("go")
		req.Effort, req.MaxTokens = model.EffortHigh, limit
		got, _ := sent(t, "claude-sonnet-4-5", anthropic.Options{}, req)
		if has := strings.Contains(got, "budget_tokens"); has != (want != "") || !strings.Contains(got, want) {
			t.Errorf("with %d tokens: %s, want %q", limit, got, want)
		}
	}
}

func TestAddress(t *testing.T) {
	for base, want := range map[string]string{"": "/v1/messages", "/": "/v1/messages", "/v1": "/v1/messages", "/proxy/v1/": "/proxy/v1/messages",
		"/p/v1?api-version=1": "/p/v1/messages"} {
		s := modeltest.New(t, modeltest.Reply{Text: []string{"ok"}})
		c := anthropic.New(model.Descriptor{ID: "claude-opus-4-7", BaseURL: s.URL + base}, anthropic.Options{})
		if _, _, err := modeltest.Collect(t.Context(), c, modeltest.Ask("go")); err != nil {
			t.Errorf("%s: %v", base, err)
		} else if got := s.Requests()[0].Path; got != want {
			t.Errorf("%s: path = %q, want %q", base, got, want)
		}
	}
}

func TestHeaders(t *testing.T) {
	_, h := sent(t, "claude-opus-4-5", anthropic.Options{Key: "sk-1", Headers: map[string]string{"X-Title": "t"}}, modeltest.Ask("go"))
	got := []string{h.Get("X-Api-Key"), h.Get("Anthropic-Version"), h.Get("Anthropic-Beta"), h.Get("X-Title")}
	if diff := cmp.Diff([]string{"sk-1", "2023-06-01", "interleaved-thinking-2025-05-14", "t"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, h = sent(t, "claude-opus-4-7", anthropic.Options{}, modeltest.Ask("go")); h["X-Api-Key"] != nil || h["Authorization"] != nil {
		t.Errorf("a key without a key: %v", h)
	}
}

// session talks to the server as the model id; its history is the request's.
type session struct {
	t   *testing.T
	s   *modeltest.Server
	req *model.Request
}

func (s session) turn(id string, replies ...modeltest.Reply) (usage model.Usage) {
	s.t.Helper()
	d := model.Descriptor{Kind: "anthropic", Provider: "test", ID: id, BaseURL: s.s.URL}
	c := normalise.Wrap(anthropic.New(d, anthropic.Options{}), d, normalise.Options{})
	s.s.Add(replies...)
	for range replies {
		_, reply, err := modeltest.Collect(s.t.Context(), c, s.req)
		if err != nil {
			s.t.Fatalf("%s: %v in %q", id, err, s.s.Rejected())
		}
		contents := make([]string, len(reply.Parts))
		s.req.Messages = append(s.req.Messages, modeltest.Results(reply, contents...)...)
		usage = reply.Usage
	}
	s.req.Messages = append(s.req.Messages, llms.TextParts(llms.ChatMessageTypeHuman, fmt.Sprintf("message %d", len(s.req.Messages))))
	return usage
}

// C106: signed thoughts go back to their author alone, and a switch of models in
// between costs nothing but them. The server checks the signatures.
func TestSwitchOfModels(t *testing.T) {
	s := session{t, modeltest.New(t), modeltest.Ask("go")}
	step := modeltest.Reply{Think: []string{"hm"}, Tools: []modeltest.Tool{{Name: "read", Args: "{}"}}}
	done := modeltest.Reply{Think: []string{"ah"}, Text: []string{"Done."}}
	for _, id := range []string{"claude-opus-4-7", "claude-fable-5", "claude-opus-4-7"} {
		s.turn(id, step, done)
	}
	reqs := s.s.Requests()
	last := string(reqs[len(reqs)-1].Body)
	if n := strings.Count(last, `"signature"`); n != 3 {
		t.Errorf("%d signatures in the last request, want the 3 of its own model: %s", n, last)
	}
}

// A switch in the middle of a turn does not ask for a thought that is not there.
func TestBudgetInTheMiddleOfATurn(t *testing.T) {
	s := session{t, modeltest.New(t), modeltest.Ask("go")}
	s.turn("claude-opus-4-7", modeltest.Reply{Think: []string{"hm"}, Tools: []modeltest.Tool{{Name: "read", Args: "{}"}}})
	s.req.Messages = s.req.Messages[:len(s.req.Messages)-1] // the turn goes on
	s.req.Effort = model.EffortHigh
	s.turn("claude-sonnet-4-5", modeltest.Reply{Text: []string{"Done."}})
}

// R-HARN-14: over 20 turns with calls every request begins with the one before,
// and the cache finds it, also after a step that adds more blocks than it looks
// back.
func TestPrefixOfASession(t *testing.T) {
	s := session{t, modeltest.New(t), modeltest.Ask("start " + strings.Repeat("long ", 2000))}
	many := modeltest.Reply{Think: []string{"hm"}}
	for range 15 {
		many.Tools = append(many.Tools, modeltest.Tool{Name: "read", Args: `{"b":1, "a":2}`})
	}
	var usage model.Usage
	for range 20 {
		usage = s.turn("claude-opus-4-7", many, modeltest.Reply{Think: []string{"ah"}, Text: []string{"Done."}})
	}
	if got := s.s.Ratio(); got != 1 || len(s.s.Reuse()) != 39 {
		t.Errorf("prefix reuse = %v over %d comparisons, want 1 over 39", got, len(s.s.Reuse()))
	}
	if fresh := usage.Input - usage.CacheRead; fresh > 2000 {
		t.Errorf("%d of %d tokens of the last request are not from the cache", fresh, usage.Input)
	}
	for _, r := range s.s.Requests() {
		if n := strings.Count(string(r.Body), "cache_control"); n < 2 || n > 4 {
			t.Errorf("%d cache marks, want 2 to 4", n)
		}
	}
}

func TestEffortsOfTheCatalog(t *testing.T) {
	d := model.Descriptor{ID: "claude-opus-4-7", Thinks: true, Efforts: []model.Effort{model.EffortLow, model.EffortMedium}}
	req := modeltest.Ask("go")
	req.Effort = model.EffortMax
	if got := recorded(t, d, req); !strings.Contains(got, `"effort":"medium"`) {
		t.Errorf("the strongest effort that is known is missing in %s", got)
	}
}

func TestLimitOfTheAnswer(t *testing.T) {
	tests := []struct {
		name string
		d    model.Descriptor
		ask  int
		want int
	}{
		{"what the family takes", model.Descriptor{ID: "claude-opus-4-1"}, 0, 32_000},
		{"what the catalog says", model.Descriptor{ID: "kimi-k2", Output: 32_768, Window: 262_144}, 0, 32_768},
		{"no more than is reasonable", model.Descriptor{ID: "claude-opus-5", Output: 128_000, Window: 1_000_000}, 0, 64_000},
		{"half of a small window", model.Descriptor{ID: "local", Window: 8_192}, 0, 4_096},
		{"what is asked for", model.Descriptor{ID: "claude-opus-5", Output: 128_000}, 100_000, 100_000},
		{"what is asked for, as far as there is any", model.Descriptor{ID: "claude-opus-4-1", Output: 32_000}, 100_000, 32_000},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := modeltest.Ask("go")
			req.MaxTokens = tt.ask
			if got := recorded(t, tt.d, req); !strings.Contains(got, fmt.Sprintf(`"max_tokens":%d,`, tt.want)) {
				t.Errorf("max_tokens is not %d in %.80s", tt.want, got)
			}
		})
	}
}

// recorded returns the body that the model d is asked with.
func recorded(t *testing.T, d model.Descriptor, req *model.Request) string {
	t.Helper()
	s := &streamtest.Server{Answers: []streamtest.Answer{{Body: stream(with(text, stop)...)}}}
	if _, _, err := modeltest.Collect(t.Context(), anthropic.New(d, anthropic.Options{Client: s.Client()}), req); err != nil {
		t.Fatal(err)
	}
	return s.Bodies[0]
}

func TestPartsOfOtherProtocols(t *testing.T) {
	req := modeltest.Ask("look")
	req.Messages = append(req.Messages,
		llms.MessageContent{Role: llms.ChatMessageTypeAI, Parts: []llms.ContentPart{
			model.Author{Ref: "openai/gpt-6"},
			model.SignedText{TextContent: llms.TextContent{Text: "I looked."}, Provider: "openai/gpt-6", Content: json.RawMessage(`{"phase":"final"}`)},
			model.SignedText{TextContent: llms.TextContent{Text: " "}},
		}},
		llms.MessageContent{Role: llms.ChatMessageTypeHuman, Parts: []llms.ContentPart{
			llms.ImageURLContent{URL: "data:image/webp;base64,b25l"}, llms.ImageURLContent{URL: "https://h/two.png"}}},
	)
	got := recorded(t, model.Descriptor{ID: "claude-opus-4-7"}, req)
	want := `{"role":"assistant","content":[{"type":"text","text":"I looked."}]},` +
		`{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/webp","data":"b25l"}},` +
		`{"type":"image","source":{"type":"url","url":"https://h/two.png"},"cache_control":{"type":"ephemeral"}}]}]`
	if !strings.Contains(got, want) {
		t.Errorf("body = %s, want %s in it", got, want)
	}
}

// A layout is where blocks and marks of a request stand in its messages.
type layout struct {
	blocks int
	marks  []int
	all    int // marks, with those of tools and system
}

func layoutOf(t *testing.T, body string) (l layout) {
	t.Helper()
	type marked struct {
		Type string
		Mark json.RawMessage `json:"cache_control"`
	}
	var b struct {
		Tools, System []marked
		Messages      []struct{ Content []marked }
	}
	if err := json.Unmarshal([]byte(body), &b); err != nil {
		t.Fatal(err)
	}
	for _, m := range b.Messages {
		for _, c := range m.Content {
			if c.Mark != nil {
				l.marks = append(l.marks, l.blocks)
				if strings.HasSuffix(c.Type, "thinking") {
					t.Error("a mark on a thought")
				}
			}
			l.blocks++
		}
	}
	l.all = len(l.marks)
	for _, m := range append(b.Tools, b.System...) {
		if m.Mark != nil {
			l.all++
		}
	}
	return l
}

// finds reports whether a server that looks 20 blocks back from each mark of l
// finds the end of the request before.
func (l layout) finds(before layout) bool {
	return slices.ContainsFunc(l.marks, func(m int) bool { return m >= before.blocks-1 && m-(before.blocks-1) < 20 })
}

// However many calls a step makes, the server finds in each request all of the one
// before, and all of the one before that if it never came to know that one.
func TestMarksFindTheRequestBefore(t *testing.T) {
	const ref = "test/claude-opus-4-7"
	for calls := range 61 {
		t.Run(fmt.Sprint(calls), func(t *testing.T) {
			req := modeltest.Ask("go")
			if calls%2 == 0 {
				req.System = "" // the last tool bears the mark
			}
			var before []layout
			for step := range 6 {
				l := layoutOf(t, recorded(t, model.Descriptor{Provider: "test", ID: "claude-opus-4-7"}, req))
				if l.all < 2 || l.all > 4 {
					t.Fatalf("step %d: %d marks, want 2 to 4", step, l.all)
				}
				if last := l.marks[len(l.marks)-1]; last != l.blocks-1 {
					t.Errorf("step %d: the last mark is on block %d of %d", step, last, l.blocks)
				}
				for back := 1; back <= 2 && back <= len(before); back++ {
					if !l.finds(before[len(before)-back]) {
						t.Errorf("step %d: marks at %v of %d do not find the request %d before, of %d blocks", step, l.marks, l.blocks, back, before[len(before)-back].blocks)
					}
				}
				before = append(before, l)
				req.Messages = append(req.Messages, answerWith(ref, step, calls)...)
			}
		})
	}
}

// answerWith is an answer that thinks, speaks and calls, with its results, or with
// the next message of the user.
func answerWith(ref string, step, calls int) []llms.MessageContent {
	answer := llms.MessageContent{Role: llms.ChatMessageTypeAI, Parts: []llms.ContentPart{
		model.Reasoning{TextContent: llms.TextContent{Text: "hm"}, Provider: ref, Signature: "S=="}, llms.TextContent{Text: "I look."}}}
	results := llms.MessageContent{Role: llms.ChatMessageTypeTool}
	if step%3 == 2 || calls == 0 {
		return []llms.MessageContent{answer, llms.TextParts(llms.ChatMessageTypeHuman, "and now?")}
	}
	for i := range calls {
		id := fmt.Sprintf("c%d_%d", step, i)
		answer.Parts = append(answer.Parts, toolCall(id, "read", "{}"))
		results.Parts = append(results.Parts, result(id, "text"))
	}
	return []llms.MessageContent{answer, results}
}

// Thoughts go back to the model that signed them, as they came and unmarked; to no
// other (R-HARN-31).
func TestThoughtsGoBack(t *testing.T) {
	const ref = "test/claude-opus-4-7"
	thought := func(ref, text, signature, redacted string) model.Reasoning {
		return model.Reasoning{TextContent: llms.TextContent{Text: text}, Provider: ref, Signature: signature, Redacted: redacted}
	}
	req := modeltest.Ask("go")
	req.Messages = append(req.Messages, llms.MessageContent{Role: llms.ChatMessageTypeAI, Parts: []llms.ContentPart{
		thought(ref, "hm <&>", "S==", ""), thought(ref, "", "H==", ""), thought(ref, "", "", "E=="), thought(ref, "unsigned", "", ""),
		thought("test/claude-fable-5", "no", "T==", ""), thought("test/claude-fable-5", "", "", "F=="), llms.TextContent{Text: "Hello."}}})
	got := recorded(t, model.Descriptor{Provider: "test", ID: "claude-opus-4-7"}, req)
	want := `{"role":"assistant","content":[{"type":"thinking","thinking":"hm <&>","signature":"S=="},{"type":"thinking","thinking":"","signature":"H=="},` +
		`{"type":"redacted_thinking","data":"E=="},{"type":"text","text":"Hello.","cache_control":{"type":"ephemeral"}}]}]`
	if !strings.Contains(got, want) {
		t.Errorf("body = %s, want %s in it", got, want)
	}
}
