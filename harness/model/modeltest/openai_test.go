package modeltest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// chat is a request for chat completions.
func chat(id, extra, messages string) string {
	if extra != "" {
		extra += ","
	}
	return `{"model":"` + id + `","stream":true,` + extra + `"messages":[` + messages + `]}`
}

const (
	chatUser  = `{"role":"user","content":"hi"}`
	chatCalls = `{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"ls","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"ls","arguments":"{}"}}]}`
	chatA     = `{"role":"tool","tool_call_id":"a","content":"x"}`
	chatB     = `{"role":"tool","tool_call_id":"b","content":""}`
	chatTool  = `"tools":[{"type":"function","function":{"name":"ls","description":"","parameters":{"type":"object","properties":{}}}}]`
	picture   = "iVBORw0KGgo="
)

func chatURL(s *modeltest.Server) string { return s.OpenAI() + "/chat/completions" }

func TestStrictOpenAI(t *testing.T) {
	step := chat("m", chatTool, strings.Join([]string{chatUser, chatCalls, chatA, chatB}, ","))
	plain := chat("m", "", chatUser)
	with := func(content string) string { return chat("m", "", `{"role":"user","content":[`+content+`]}`) }
	checkRefusals(t, chatURL, []refusal{
		{"a call without a result", step, chatB, chatUser, "calls without a result: b"},
		{"nor at the end", step, "," + chatA + "," + chatB, "", "messages: calls without a result: a, b"},
		{"results in another order", step, chatA + "," + chatB, chatB + "," + chatA, "where that of"},
		{"a result without a call", step, chatCalls + ",", "", "messages.1.tool_call_id: result of \"a\" does not follow its call"},
		{"an id twice", step, `"id":"b"`, `"id":"a"`, "messages.1.tool_calls.1.id: id \"a\" of a call is not unique"},
		{"a bad id", step, `"id":"b"`, `"id":"b c"`, "tool_calls.1.id"},
		{"a bad name", step, `"name":"ls","arguments"`, `"name":"l.s","arguments"`, "tool_calls.0.name"},
		{"arguments that are no object", step, `"arguments":"{}"`, `"arguments":"[]"`, "function.arguments: not an object"},
		{"arguments that are not JSON", step, `"arguments":"{}"`, `"arguments":"{\"a"`, "function.arguments: not an object"},
		{"a list of calls without one", step, `[{"id":"a","type":"function","function":{"name":"ls","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"ls","arguments":"{}"}}]`, "[]", "tool_calls: an empty list"},
		{"a result that is no string", step, `"content":"x"`, `"content":null`, "messages.2.content"},
		{"an empty message", plain, `"hi"`, `""`, "messages.0.content: it is empty"},
		{"an empty answer", chat("m", "", chatUser+`,{"role":"assistant","content":"ok"},`+chatUser), `"ok"`, `""`, "an answer is empty"},
		{"an answer without content", step, `"content":null,`, "", "content: it is missing"},
		{"an empty part", with(`{"type":"text","text":"x"}`), `"x"`, `""`, "messages.0.content.0.text: the text is empty"},
		{"a part of another kind", with(`{"type":"text","text":"x"}`), `"type":"text"`, `"type":"input_text"`, "content.0.type"},
		{"a picture of a type that is not taken", with(`{"type":"image_url","image_url":{"url":"data:image/png;base64,` + picture + `"}}`), "image/png", "image/tiff", "image_url.url: a picture of type"},
		{"a picture of another type than it says", with(`{"type":"image_url","image_url":{"url":"data:image/png;base64,` + picture + `"}}`), "image/png", "image/jpeg", "whose bytes are image/png"},
		{"a picture that is not base64", with(`{"type":"image_url","image_url":{"url":"data:image/png;base64,` + picture + `"}}`), picture, "%%", "not base64"},
		{"a picture nowhere", with(`{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}`), "https://example.com/", "", "neither a data URL nor an address"},
		{"a system message that is late", chat("m", "", `{"role":"system","content":"x"},`+chatUser), `{"role":"system","content":"x"},` + chatUser, chatUser + `,{"role":"system","content":"x"}`, "not the first"},
		{"a system message without a word", chat("m", "", `{"role":"system","content":"x"},`+chatUser), `"x"`, `""`, "messages.0.content"},
		{"a developer for a model that knows none", chat("gpt-5.2", "", `{"role":"developer","content":"x"},`+chatUser), "gpt-5.2", "m", "messages.0.role"},
		{"the model has the last word", chat("m", "", chatUser+`,{"role":"assistant","content":"x"},`+chatUser), `},` + chatUser + "]", "}]", "the last message"},
		{"a role that nobody has", plain, `"role":"user"`, `"role":"function"`, "messages.0.role"},
		{"a message with a field of its own", plain, `"role":"user"`, `"role":"user","x":1`, "messages.0.x: unknown field"},
		{"no messages", plain, chatUser, "", "messages: the list is empty"},
		{"no model", plain, `"m"`, `""`, "model: the model is missing"},
		{"no stream", plain, "true", "false", "stream"},
		{"an unknown field", chat("m", `"top_p":1`, chatUser), "top_p", "top_k", "top_k: unknown field"},
		{"a key twice", plain, `"stream":true`, `"stream":true,"stream":true`, "stream: the key stands there twice"},
		{"a choice without tools", chat("m", chatTool+`,"tool_choice":"none"`, chatUser), chatTool + ",", "", "tool_choice: only allowed with tools"},
		{"parallel calls without tools", chat("m", chatTool+`,"parallel_tool_calls":true`, chatUser), chatTool + ",", "", "parallel_tool_calls"},
		{"a choice of another tool", chat("m", chatTool+`,"tool_choice":{"type":"function","function":{"name":"ls"}}`, chatUser), `{"name":"ls"}}`, `{"name":"rm"}}`, "tool_choice"},
		{"no tools in the list", chat("m", chatTool, chatUser), chatTool, `"tools":[]`, "tools: an empty list"},
		{"a tool of another type", chat("m", chatTool, chatUser), `"type":"function"`, `"type":"custom"`, "tools.0.type"},
		{"a tool twice", chat("m", chatTool, chatUser), `[{`, `[{"type":"function","function":{"name":"ls","parameters":{"type":"object"}}},{`, "tools.1.name: name \"ls\" is not unique"},
		{"a tool with a bad name", chat("m", chatTool, chatUser), `"ls"`, `"l s"`, "tools.0.name"},
		{"a schema of something else", chat("m", chatTool, chatUser), `"object"`, `"string"`, "tools.0.function.parameters.type"},
		{"an object without properties", chat("gpt-4.1", chatTool, chatUser), `,"properties":{}`, "", "tools.0.function.parameters.properties"},
		{"an array without items", chat("gpt-4.1", strings.Replace(chatTool, "{}", `{"a":{"type":"array","items":{}}}`, 1), chatUser), `,"items":{}`, "", "parameters.properties.a.items"},
		{"both limits", chat("m", `"max_tokens":9`, chatUser), `"max_tokens":9`, `"max_tokens":9,"max_completion_tokens":9`, "exclude each other"},
		{"a limit of nothing", chat("m", `"max_tokens":9`, chatUser), "9", "0", "max_tokens"},
		{"a format that nobody knows", chat("m", `"response_format":{"type":"text"}`, chatUser), `"type":"text"`, `"type":"xml"`, "response_format.type"},
		{"an option of the stream that there is none of", chat("m", `"stream_options":{"include_usage":true}`, chatUser), "include_usage", "usage", "stream_options.usage: unknown field"},
		{"a switch of thinking that there is none of", chat("m", `"thinking":{"type":"enabled"}`, chatUser), "enabled", "on", "thinking.type"},
		{"an effort of a reseller in a field that it has not", chat("a/m", `"reasoning":{"effort":"low"}`, chatUser), "effort", "level", "reasoning.level: unknown field"},
		{"an effort that there is none of", chat("m", `"reasoning_effort":"low"`, chatUser), `"low"`, `"some"`, "reasoning_effort"},
		{"a list that is cut off", chat("m", "", chatUser), "]}", "", "not valid JSON"},
		{"JSON that is not spoken of", chat("gpt-4.1", `"response_format":{"type":"json_object"}`, `{"role":"user","content":"JSON, please"}`), "JSON, please", "please", "the word json"},
		{"a cache key that is too long", chat("m", `"prompt_cache_key":"k"`, chatUser), `"k"`, `"` + strings.Repeat("k", 65) + `"`, "prompt_cache_key"},
	})
}

// What is refused depends on who made the model.
func TestStrictOpenAIFamilies(t *testing.T) {
	step := func(id, extra string) string {
		return chat(id, chatTool, strings.Join([]string{chatUser, strings.Replace(chatCalls, `"role":"assistant"`, `"role":"assistant"`+extra, 1), chatA, chatB}, ","))
	}
	nine := strings.NewReplacer(`"a"`, `"aaaaaaaaa"`, `"b"`, `"bbbbbbbbb"`).Replace(step("mistral-large", ""))
	said := `,{"role":"assistant","content":"ok"},`
	five6 := chat("gpt-5.6", `"prompt_cache_options":{"mode":"explicit","ttl":"30m"}`, `{"role":"user","content":[{"type":"text","text":"x","prompt_cache_breakpoint":{"mode":"explicit"}}]}`)
	checkRefusals(t, chatURL, []refusal{
		{"temperature for a model that takes none", chat("gpt-4.1", `"temperature":0`, chatUser), "gpt-4.1", "gpt-5.2", "temperature: not supported"},
		{"temperature for o3", chat("m", `"temperature":0`, chatUser), `"m"`, `"o3"`, "temperature: not supported"},
		{"the old limit for a model that reasons", chat("gpt-5.2", `"max_completion_tokens":9`, chatUser), "max_completion_tokens", "max_tokens", "use max_completion_tokens"},
		{"functions beside reasoning", chat("gpt-5.4", `"reasoning_effort":"none",`+chatTool, chatUser), `"none"`, `"low"`, "reasoning_effort: function tools"},
		{"functions beside reasoning that nobody asked for", chat("gpt-5.5", `"reasoning_effort":"none",`+chatTool, chatUser), `"reasoning_effort":"none",`, "", "reasoning_effort: function tools"},
		{"an effort that a model lacks", chat("gpt-5.2", `"reasoning_effort":"xhigh"`, chatUser), "gpt-5.2", "gpt-5.1", "reasoning_effort: \"xhigh\""},
		{"no effort for one that always thinks", chat("gpt-5.1", `"reasoning_effort":"none"`, chatUser), "gpt-5.1", "gpt-5", "reasoning_effort"},
		{"an effort for a model without one", chat("gpt-5.1", `"reasoning_effort":"low"`, chatUser), "gpt-5.1", "gpt-4.1", "reasoning_effort: not supported"},
		{"reasoning of a reseller", chat("m", `"reasoning":{"effort":"low"}`, chatUser), `"m"`, `"gpt-5.2"`, "reasoning: unknown field"},
		{"C107 reasoning that is missing", step("deepseek-v4", `,"reasoning_content":""`), `,"reasoning_content":""`, "", "messages.1.reasoning_content"},
		{"C107 reasoning that is missing with Kimi", step("moonshotai/kimi-k2", `,"reasoning_content":"hm"`), `,"reasoning_content":"hm"`, "", "messages.1.reasoning_content"},
		{"C107 reasoning for who does not want it", step("deepseek-v4", `,"reasoning_content":""`), "deepseek-v4", "m", "reasoning_content: it is not accepted"},
		{"reasoning details for who does not know them", step("a/m", `,"reasoning_details":[]`), "a/m", "m", "reasoning_details"},
		{"a signature of reasoning that was made up", step("a/m", `,"reasoning_details":[{"type":"reasoning.text","text":"hm"}]`), `"text":"hm"`, `"text":"hm","signature":"eA=="`, "reasoning_details.0.signature"},
		{"reasoning for who does not know it", step("a/m", `,"reasoning":"hm"`), "a/m", "m", "messages.1.reasoning: it is not accepted"},
		{"a call of another type", step("m", ""), `"id":"a","type":"function"`, `"id":"a","type":"custom"`, "tool_calls.0.type"},
		{"a call with what only Google sends", step("gemini-2.5-flash", ""), `"arguments":"{}"}}`, `"arguments":"{}"},"extra_content":{"google":{"thought_signature":"eA=="}}}`, "thought_signature: invalid signature"},
		{"and for who does not know it", step("m", ""), `"arguments":"{}"}}`, `"arguments":"{}"},"extra_content":{}}`, "extra_content: it is not accepted"},
		{"ids that Mistral does not take", nine, `"bbbbbbbbb"`, `"bbbb_bbbb"`, "nine letters and digits"},
		{"Mistral and a user behind a result", strings.Replace(nine, `"content":""}]`, `"content":""}`+said+chatUser+`]`, 1), `"content":""}` + said, `"content":""},`, "unexpected role 'user' after role 'tool'"},
		{"options that Mistral does not know", chat("m", `"stream_options":{"include_usage":true}`, chatUser), `"m"`, `"mistral-small"`, "stream_options: extra inputs"},
		{"a cache that matches elsewhere", five6, "gpt-5.6", "gpt-5.5", "prompt_cache_options: not supported"},
		{"a breakpoint of another mode", five6, `{"mode":"explicit"}`, `{"mode":"implicit"}`, "prompt_cache_breakpoint.mode"},
		{"a breakpoint for a model without", strings.Replace(five6, `"prompt_cache_options":{"mode":"explicit","ttl":"30m"},`, "", 1), "gpt-5.6", "gpt-5.5", "prompt_cache_breakpoint: not supported"},
		{"a life that no cache has", five6, `"30m"`, `"1h"`, "prompt_cache_options.ttl"},
	})
}

// A refusal has the shape of the maker.
func TestFaultsOfChat(t *testing.T) {
	tests := []struct {
		name, body string
		status     int
		want       string
	}{
		{"OpenAI", chat("gpt-5.2", `"temperature":0`, chatUser), http.StatusBadRequest, `{"error":{"code":"unsupported_parameter","message":"Invalid 'temperature': not supported with this model","param":"temperature","type":"invalid_request_error"}}`},
		{"OpenAI, deep inside", chat("m", "", `{"role":"user","content":[{"type":"text","text":""}]}`), http.StatusBadRequest, `{"error":{"code":null,"message":"Invalid 'messages[0].content[0].text': the text is empty","param":"messages[0].content[0].text","type":"invalid_request_error"}}`},
		{"Mistral", chat("mistral-small", `"reasoning":{}`, chatUser), http.StatusUnprocessableEntity, `{"detail":[{"loc":["body","reasoning"],"msg":"extra inputs are not permitted","type":"extra_forbidden"}]}`},
		{"Mistral's order", chat("mistral-small", chatTool, strings.NewReplacer(`"a"`, `"aaaaaaaaa"`, `"b"`, `"bbbbbbbbb"`).Replace(strings.Join([]string{chatUser, chatCalls, chatA, chatB, chatUser}, ","))), http.StatusBadRequest,
			`{"code":"3230","message":"messages.4.role: unexpected role 'user' after role 'tool'","object":"error","param":null,"type":"invalid_request_message_order"}`},
	}
	for _, tt := range tests {
		s := modeltest.New(t)
		if status, got := post(t, chatURL(s), tt.body); status != tt.status || strings.TrimSpace(got) != tt.want {
			t.Errorf("%s: status %d: %s\nwant %d: %s", tt.name, status, got, tt.status, tt.want)
		}
	}
	s := modeltest.New(t)
	if status, got := post(t, chatURL(s), chat("m", "", chatUser), "Authorization", "Bearer "); status != http.StatusUnauthorized {
		t.Errorf("an empty key: status %d: %s", status, got)
	}
}

// The signature of a call goes back with it, to the model that gave it.
func TestSignaturesOfGeminiInChat(t *testing.T) {
	tests := []struct{ name, signature, want string }{
		{"as it came", "", ""},
		{"the stand-in", "skip_thought_signature_validator", ""},
		{"none", "-", "missing a thought_signature"},
		{"altered", "c2lnbmVk", "invalid signature"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := modeltest.New(t, modeltest.Reply{Tools: []modeltest.Tool{{ID: "a", Name: "ls", Args: "{}"}, {ID: "b", Name: "ls", Args: "{}"}}}, modeltest.Reply{})
			_, answer := post(t, chatURL(s), chat("gemini-3-pro", chatTool, chatUser))
			_, rest, _ := strings.Cut(answer, `"thought_signature":"`)
			given, _, _ := strings.Cut(rest, `"`)
			if tt.signature != "" {
				given = tt.signature
			}
			extra := `,"extra_content":{"google":{"thought_signature":"` + given + `"}}`
			if given == "-" {
				extra = ""
			}
			calls := strings.Replace(chatCalls, `"arguments":"{}"}`, `"arguments":"{}"}`+extra, 1)
			checkLast(t, s, chatURL(s), chat("gemini-3-pro", chatTool, strings.Join([]string{chatUser, calls, chatA, chatB}, ",")), tt.want)
		})
	}
}

// checkLast posts body and wants it refused for want, or accepted if that is "".
func checkLast(t *testing.T, s *modeltest.Server, url, body, want string) {
	t.Helper()
	status, answer := post(t, url, body)
	rejected := strings.Join(s.Rejected(), "; ")
	if want == "" && (status != http.StatusOK || rejected != "") || want != "" && (status < 400 || !strings.Contains(rejected, want)) {
		t.Errorf("%s\nstatus %d: %s\nrejected: %q, want %q", body, status, answer, rejected, want)
	}
}
