package modeltest_test

import (
	"strings"
	"testing"

	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// talk is a request for Ollama's chat.
func talk(extra, messages string) string {
	if extra != "" {
		extra += ","
	}
	return `{"model":"m",` + extra + `"messages":[` + messages + `]}`
}

const (
	talkCalls = `{"role":"assistant","content":"","tool_calls":[{"id":"a","function":{"index":0,"name":"ls","arguments":{}}},{"id":"b","function":{"index":1,"name":"cat","arguments":{}}}]}`
	talkA     = `{"role":"tool","content":"x","tool_name":"ls","tool_call_id":"a"}`
	talkB     = `{"role":"tool","content":"","tool_name":"cat"}`
)

func ollamaURL(s *modeltest.Server) string { return s.Ollama() + "/api/chat" }

func TestStrictOllama(t *testing.T) {
	step := talk(chatTool, strings.Join([]string{chatUser, talkCalls, talkA, talkB}, ","))
	plain := talk("", chatUser)
	turn := talk("", chatUser+`,{"role":"assistant","content":"ok","thinking":"hm"},`+chatUser)
	shown := talk("", `{"role":"user","content":"","images":["`+picture+`"]}`)
	options := func(o string) string { return talk(`"options":`+o, chatUser) }
	checkRefusals(t, ollamaURL, []refusal{
		{"a call without a result", step, "," + talkB, "," + chatUser, "messages.3: 1 calls without a result, the first cat (b)"},
		{"nor at the end", step, "," + talkB, "", "messages: 1 calls without a result"},
		{"results in another order", step, talkA + "," + talkB, talkB + "," + talkA, "result of cat () where that of ls (a) is due"},
		{"a result under another id", step, `"tool_call_id":"a"`, `"tool_call_id":"b"`, "result of ls (b) where that of ls (a) is due"},
		{"a result of nobody", step, `,"tool_name":"cat"`, "", "messages.3.tool_name"},
		{"a result without a call", step, talkCalls + ",", "", "messages.1: result of \"lsa\" does not follow its call"},
		{"arguments that are a string", step, `"arguments":{}`, `"arguments":"{}"`, "messages.1.tool_calls.0.function.arguments: cannot unmarshal"},
		{"a bad name", step, `"name":"ls","arguments"`, `"name":"l s","arguments"`, "tool_calls.0.function.name"},
		{"content in parts", plain, `"hi"`, `[{"type":"text","text":"hi"}]`, "messages.0.content: cannot unmarshal"},
		{"an empty message", plain, `"hi"`, `""`, "messages.0.content: the message is empty"},
		{"thoughts of the user", turn, `"role":"user"`, `"role":"user","thinking":"hm"`, "messages.0.tool_calls"},
		{"a role that nobody has", plain, `"role":"user"`, `"role":"developer"`, "messages.0.role"},
		{"no role", plain, `"role":"user",`, "", "messages.0.role"},
		{"a system message that is late", talk("", `{"role":"system","content":"x"},`+chatUser), `{"role":"system","content":"x"},` + chatUser, chatUser + `,{"role":"system","content":"x"}`, "not the first"},
		{"the model has the last word", turn, "," + chatUser + "]", "]", "the last message"},
		{"a message with a field of its own", plain, `"role":"user"`, `"role":"user","name":"x"`, "messages.0.name: unknown field"},
		{"a picture that is none", shown, picture, "eA==", "messages.0.images.0"},
		{"a picture in a data URL", shown, picture, "data:image/png;base64," + picture, "messages.0.images.0"},
		{"no messages", plain, chatUser, "", "messages: the list is empty"},
		{"no model", plain, `"m"`, `""`, "model: model is required"},
		{"no stream", talk(`"stream":true`, chatUser), "true", "false", "stream"},
		{"an unknown field", talk(`"keep_alive":"5m"`, chatUser), "keep_alive", "max_tokens", "max_tokens: unknown field"},
		{"an option that there is none of", options(`{"num_ctx":8192}`), "num_ctx", "ctx", "options.ctx: unknown field"},
		{"an option of another type", options(`{"num_ctx":8192}`), "8192", "8192.5", "must be of type integer"},
		{"a temperature in words", options(`{"temperature":0.5}`), "0.5", `"low"`, "must be of type float32"},
		{"a switch that is none", options(`{"use_mmap":true}`), "true", "1", "must be of type boolean"},
		{"one word to stop at", options(`{"stop":["x"]}`), `["x"]`, `"x"`, "must be of type array"},
		{"an effort that there is none of", talk(`"think":"high"`, chatUser), "high", "minimal", "think: invalid think value"},
		{"a format that there is none of", talk(`"format":"json"`, chatUser), `"json"`, `"xml"`, "format: invalid format"},
		{"a tool twice", talk(chatTool, chatUser), `[{`, `[{"type":"function","function":{"name":"ls","parameters":{"type":"object"}}},{`, "tools.1.name"},
		{"a schema of something else", talk(chatTool, chatUser), `"object"`, `"string"`, "tools.0.function.parameters.type"},
		{"a property that is no object", talk(strings.Replace(chatTool, `{}`, `{"a":{}}`, 1), chatUser), `{"a":{}}`, `{"a":true}`, "parameters.properties.a: cannot unmarshal"},
		{"what is required in one word", talk(strings.Replace(chatTool, `{}`, `{},"required":["a"]`, 1), chatUser), `["a"]`, `"a"`, "parameters.required: cannot unmarshal"},
	})
}

// A model that is listed without a capability refuses what takes it.
func TestOllamaCapabilities(t *testing.T) {
	for _, tt := range []struct {
		extra, want string
		info        modeltest.ModelInfo
	}{
		{chatTool, "", modeltest.ModelInfo{ID: "m"}},
		{chatTool, "does not support tools", modeltest.ModelInfo{ID: "m", NoTools: true}},
		{`"think":true`, "", modeltest.ModelInfo{ID: "m", Thinks: true}},
		{`"think":true`, "does not support thinking", modeltest.ModelInfo{ID: "m"}},
		{`"think":false`, "", modeltest.ModelInfo{ID: "m"}},
	} {
		s := modeltest.New(t, modeltest.Reply{})
		s.Listed = []modeltest.ModelInfo{tt.info}
		checkLast(t, s, ollamaURL(s), talk(tt.extra, chatUser), tt.want)
	}
}

// A prompt that does not fit is cut, and only the count shows it.
func TestOllamaCutsThePrompt(t *testing.T) {
	long := `{"role":"user","content":"` + strings.Repeat("long ", 8000) + `"}`
	for options, want := range map[string]string{"": `"prompt_eval_count":4096,`, `"options":{"num_ctx":32768}`: `"prompt_eval_count":10010,`} {
		s := modeltest.New(t, modeltest.Reply{Text: []string{"ok"}})
		if _, stream := post(t, ollamaURL(s), talk(options, long)); !strings.Contains(stream, want) {
			t.Errorf("options %q: %s, want %s", options, stream, want)
		}
	}
}

// What is no call is text, as the server cannot tell it for one.
func TestOllamaCannotSendWhatIsNoCall(t *testing.T) {
	s := modeltest.New(t, modeltest.Reply{Tools: []modeltest.Tool{{Name: "ls", Args: `{"path":"a`}}})
	if _, stream := post(t, ollamaURL(s), talk("", chatUser)); strings.Contains(stream, "tool_calls") || !strings.Contains(stream, `ls{\"path\":\"a`) {
		t.Errorf("stream = %s", stream)
	}
}
