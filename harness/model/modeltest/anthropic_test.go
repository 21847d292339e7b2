package modeltest_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// message is a request for messages.
func message(id, extra, messages string) string {
	if extra != "" {
		extra += ","
	}
	return `{"model":"` + id + `","max_tokens":2000,"stream":true,` + extra + `"messages":[` + messages + `]}`
}

// blocks is a message of a role.
func blocks(role string, content ...string) string {
	return `{"role":"` + role + `","content":[` + strings.Join(content, ",") + `]}`
}

const (
	blockHi   = `{"type":"text","text":"hi"}`
	blockMark = `{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}`
	useA      = `{"type":"tool_use","id":"a","name":"ls","input":{}}`
	useB      = `{"type":"tool_use","id":"b","name":"ls","input":{}}`
	resultA   = `{"type":"tool_result","tool_use_id":"a","content":"x"}`
	resultB   = `{"type":"tool_result","tool_use_id":"b"}`
	useTool   = `"tools":[{"name":"ls","description":"","input_schema":{"type":"object"}}]`
)

func anthropicURL(s *modeltest.Server) string { return s.Anthropic() + "/v1/messages" }

func TestStrictAnthropic(t *testing.T) {
	const id = "claude-opus-4-7"
	step := message(id, useTool, strings.Join([]string{blocks("user", blockHi), blocks("assistant", useA, useB), blocks("user", resultA, resultB, blockHi)}, ","))
	plain := message(id, "", blocks("user", blockHi))
	shown := message(id, "", blocks("user", `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"`+picture+`"}}`))
	turn := message(id, "", blocks("user", blockHi)+","+blocks("assistant", `{"type":"text","text":"ok"}`)+","+blocks("user", blockHi))
	failed := strings.Replace(step, `"content":"x"`, `"content":"x","is_error":true`, 1)
	checkRefusals(t, anthropicURL, []refusal{
		{"a call without a result", step, "," + resultB, "", "messages.2.content.1: calls without a result: b"},
		{"nor at the end", step, "," + blocks("user", resultA, resultB, blockHi), "", "assistant message prefill"},
		{"results in another order", step, resultA + "," + resultB, resultB + "," + resultA, "where that of"},
		{"text before results", step, resultA + "," + resultB + "," + blockHi, blockHi + "," + resultA + "," + resultB, "calls without a result"},
		{"a result without a call", step, useA + "," + useB, `{"type":"text","text":"ok"}`, "messages.2.content.0.tool_use_id: result of \"a\" does not follow"},
		{"an id twice", step, `"id":"b"`, `"id":"a"`, "messages.1.content.1.id"},
		{"a bad id", step, `"id":"b"`, `"id":"b:1"`, "messages.1.content.1.id"},
		{"a bad name", step, `"id":"b","name":"ls"`, `"id":"b","name":"l s"`, "messages.1.content.1.name"},
		{"input that is no object", step, `"input":{}`, `"input":"{}"`, "messages.1.content.0.input"},
		{"roles in a row", turn, `"assistant"`, `"user"`, "messages.1.role: roles must alternate"},
		{"the model first", turn, blocks("user", blockHi) + "," + blocks("assistant", `{"type":"text","text":"ok"}`), blocks("assistant", `{"type":"text","text":"ok"}`), "messages.0.role"},
		{"the model last", turn, `]},` + blocks("user", blockHi) + "]}", "]}]}", "assistant message prefill"},
		{"a system message among the others", plain, `"role":"user"`, `"role":"system"`, "messages.0.role"},
		{"an empty text", plain, `"hi"`, `" "`, "non-whitespace"},
		{"an empty message", plain, blockHi, "", "messages.0.content: it is empty"},
		{"no messages", plain, blocks("user", blockHi), "", "messages: at least one"},
		{"a block of another kind", plain, `"type":"text"`, `"type":"input_text"`, "messages.0.content.0.type"},
		{"a block with a field of its own", plain, `"type":"text"`, `"type":"text","x":1`, "messages.0.content.0.x: unknown field"},
		{"a failure without a word", failed, `"content":"x",`, "", "messages.2.content.0.content: content cannot be empty"},
		{"an empty text in a result", strings.Replace(step, `"content":"x"`, `"content":[{"type":"text","text":"x"}]`, 1), `"text":"x"`, `"text":""`, "messages.2.content.0.content.0.text"},
		{"a picture of a type that is not taken", shown, "image/png", "image/tiff", "source: a picture of type"},
		{"a picture of another type than it says", shown, "image/png", "image/webp", "whose bytes are image/png"},
		{"a picture of the model", shown, `"role":"user"`, `"role":"assistant"`, "messages.0.role"},
		{"no limit", plain, `"max_tokens":2000,`, "", "max_tokens: field required"},
		{"a limit above what the model writes", strings.Replace(plain, "2000", "128000", 1), "128000", "128001", "max_tokens: 128001 > 128000"},
		{"no model", plain, id, "", "model: field required"},
		{"no stream", plain, "true", "false", "stream"},
		{"an unknown field", message(id, `"stop_sequences":[]`, blocks("user", blockHi)), "stop_sequences", "stop", "stop: unknown field"},
		{"a system prompt without a word", message(id, `"system":"x"`, blocks("user", blockHi)), `"x"`, `" "`, "system: text content"},
		{"a block of it without", message(id, `"system":[`+blockHi+`]`, blocks("user", blockHi)), `"hi"`, `""`, "system.0: text content"},
		{"five marks", message(id, "", blocks("user", blockMark, blockMark, blockMark, blockMark)), blockMark, blockMark + "," + blockMark, "a maximum of 4 blocks"},
		{"four and that of the request", message(id, `"cache_control":{"type":"ephemeral"}`, blocks("user", blockMark, blockMark, blockMark)), blockMark, blockMark + "," + blockMark, "a maximum of 4 blocks"},
		{"a mark of another type", message(id, "", blocks("user", blockMark)), `"ephemeral"`, `"persistent"`, "cache_control.type"},
		{"a longer life behind a shorter one", message(id, `"system":[{"type":"text","text":"x","cache_control":{"type":"ephemeral","ttl":"1h"}}]`, blocks("user", strings.Replace(blockMark, `l"}`, `l","ttl":"1h"}`, 1))),
			`"ttl":"1h"`, `"ttl":"5m"`, "messages.0.content.0.cache_control.ttl"},
		{"a note that there is none of", message(id, `"metadata":{"user_id":"u"}`, blocks("user", blockHi)), "user_id", "session", "metadata.session: unknown field"},
		{"a display that there is none of", message(id, `"thinking":{"type":"adaptive","display":"omitted"}`, blocks("user", blockHi)), "omitted", "full", "thinking.display"},
		{"a document in a result", strings.Replace(step, `"content":"x"`, `"content":[{"type":"text","text":"x"}]`, 1), `{"type":"text","text":"x"}`, `{"type":"document","text":"x"}`, "content.0.content.0.type"},
		{"a choice without tools", message(id, useTool+`,"tool_choice":{"type":"none"}`, blocks("user", blockHi)), useTool + ",", "", "tool_choice"},
		{"a choice of another tool", message(id, useTool+`,"tool_choice":{"type":"tool","name":"ls"}`, blocks("user", blockHi)), `"name":"ls"}`, `"name":"rm"}`, "tool_choice.name"},
		{"a choice in the shape of OpenAI", message(id, useTool+`,"tool_choice":{"type":"none"}`, blocks("user", blockHi)), `{"type":"none"}`, `"none"`, "tool_choice: not an object"},
		{"a tool twice", message(id, useTool, blocks("user", blockHi)), `[{"name"`, `[{"name":"ls","input_schema":{"type":"object"}},{"name"`, "tools.1.name"},
		{"a schema of something else", message(id, useTool, blocks("user", blockHi)), `"object"`, `"string"`, "tools.0.input_schema.type"},
		{"a choice at the top of a schema", message(id, useTool, blocks("user", blockHi)), `{"type":"object"}`, `{"type":"object","anyOf":[{"required":["a"]}]}`, "tools.0.input_schema.anyOf"},
		{"a property with a bad name", message(id, strings.Replace(useTool, `"object"`, `"object","properties":{"a":{}}`, 1), blocks("user", blockHi)), `{"a":{}}`, `{"a b":{}}`, "tools.0.input_schema.properties: key"},
	})
	t.Run("headers", func(t *testing.T) {
		for _, tt := range []struct {
			header, value, body, want string
		}{
			{"Anthropic-Version", "", plain, "anthropic-version: header is required"},
			{"Anthropic-Version", "2099-01-01", plain, "not a valid version"},
			{"Anthropic-Version", "2026-10-21", plain, ""},
			{"Anthropic-Version", "2026-10-21", message("m", `"temperature":1`, blocks("user", blockHi)), "temperature"},
			{"Anthropic-Version", "2023-06-01", message("m", `"temperature":1`, blocks("user", blockHi)), ""},
			{"X-Api-Key", "", plain, "x-api-key header is empty"},
		} {
			s := modeltest.New(t, modeltest.Reply{})
			status, answer := post(t, anthropicURL(s), tt.body, tt.header, tt.value)
			if got := strings.Join(s.Rejected(), ""); !strings.Contains(got, tt.want) || (status == http.StatusOK) != (tt.want == "") {
				t.Errorf("%s %q: status %d: %s, want %q", tt.header, tt.value, status, answer, tt.want)
			}
		}
	})
}

// How a Claude is told to think depends on its version.
func TestStrictAnthropicThinking(t *testing.T) {
	hi := blocks("user", blockHi)
	budget := `"thinking":{"type":"enabled","budget_tokens":1024}`
	turn := blocks("user", blockHi) + "," + blocks("assistant", useA, useB) + "," + blocks("user", resultA, resultB)
	checkRefusals(t, anthropicURL, []refusal{
		{"temperature", message("claude-opus-4-6", `"temperature":0`, hi), "4-6", "4-7", "temperature is deprecated"},
		{"temperature beside a thought", message("claude-opus-4-5", `"temperature":1,`+budget, hi), `"temperature":1`, `"temperature":0.5`, "temperature: may only be set to 1"},
		{"top_k", message("claude-opus-4-6", `"top_k":5`, hi), "4-6", "4-8", "top_k"},
		{"a budget", message("claude-opus-4-6", budget, hi), "4-6", "4-7", "thinking.type: \"enabled\" is not supported"},
		{"an effort of its own", message("claude-opus-4-6", `"thinking":{"type":"adaptive"}`, hi), "4-6", "4-5", "thinking.type: \"adaptive\" is not supported"},
		{"a budget that is too small", message("claude-sonnet-4-5", budget, hi), "1024", "1023", "thinking.budget_tokens"},
		{"a budget as large as the answer", message("claude-sonnet-4-5", budget, hi), "1024", "2000", "less than max_tokens"},
		{"no budget", message("claude-sonnet-4-5", budget, hi), `,"budget_tokens":1024`, "", "budget_tokens: field required"},
		{"a budget that is not asked for", message("claude-opus-4-7", `"thinking":{"type":"disabled"}`, hi), `"disabled"`, `"disabled","budget_tokens":1024`, "budget_tokens"},
		{"an effort for one that knows none", message("claude-opus-4-5", `"output_config":{"effort":"low"}`, hi), "opus", "sonnet", "output_config.effort"},
		{"an effort that came later", message("claude-opus-4-7", `"output_config":{"effort":"xhigh"}`, hi), "4-7", "4-6", "output_config.effort"},
		{"an effort that there is none of", message("claude-opus-4-7", `"output_config":{"effort":"low"}`, hi), `"low"`, `"minimal"`, "output_config.effort"},
		{"a tool that must be called beside a thought", message("claude-opus-4-7", `"thinking":{"type":"adaptive"},`+useTool+`,"tool_choice":{"type":"auto"}`, hi), `"auto"`, `"any"`, "tool_choice.type"},
		{"a limit above what the model writes", strings.Replace(message("claude-opus-4-5", "", hi), "2000", "64000", 1), "opus-4-5", "opus-4-1", "max_tokens: 64000 > 32000"},
	})
	s := modeltest.New(t, modeltest.Reply{})
	checkLast(t, s, anthropicURL(s), message("claude-sonnet-4-5", budget+","+useTool, turn), "messages.1.content.0.type: expected thinking")
	s = modeltest.New(t, modeltest.Reply{})
	checkLast(t, s, anthropicURL(s), message("claude-sonnet-4-5", useTool, turn), "")
}

// A thought goes back to its author as it came.
func TestThoughtsThatGoBack(t *testing.T) {
	const id = "claude-opus-4-7"
	const thought, redacted = "{thought}", "{redacted}"
	said := `{"type":"text","text":"ok"}`
	tests := []struct {
		name, model string
		answer      []string
		want        string
	}{
		{"as they came", id, []string{thought, redacted, said}, ""},
		{"to another model", "claude-opus-4-8", []string{thought, said}, "messages.1.content.0.signature: invalid signature: model claude-opus-4-7"},
		{"the redacted one to another model", "claude-opus-4-8", []string{redacted, said}, "messages.1.content.0.data: invalid signature"},
		{"altered", id, []string{`{"type":"thinking","thinking":"I never thought so","signature":"{signature}"}`, said}, "belongs to something else"},
		{"unsigned", id, []string{`{"type":"thinking","thinking":"hm","signature":""}`, said}, "signature: invalid signature"},
		{"with a mark", id, []string{thought + "+mark", said}, "cache_control: thinking blocks"},
		{"at the end", id, []string{said, thought}, "the final block"},
		{"by the user", id, nil, "messages.0.content.0.type"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := modeltest.New(t, modeltest.Reply{Think: []string{"hm"}, Text: []string{"ok"}, Quirk: modeltest.RedactedThinking}, modeltest.Reply{})
			_, stream := post(t, anthropicURL(s), message(id, "", blocks("user", blockHi)))
			signature, data := field(t, stream, "signature"), field(t, stream, "data")
			whole := `{"type":"thinking","thinking":"hm","signature":"` + signature + `"}`
			fill := strings.NewReplacer(thought+"+mark", strings.Replace(whole, `"hm"`, `"hm","cache_control":{"type":"ephemeral"}`, 1), thought, whole,
				redacted, `{"type":"redacted_thinking","data":"`+data+`"}`, "{signature}", signature)
			history := blocks("user", blockHi) + "," + blocks("assistant", tt.answer...) + "," + blocks("user", blockHi)
			if tt.answer == nil {
				history = blocks("user", thought)
			}
			checkLast(t, s, anthropicURL(s), message(tt.model, "", fill.Replace(history)), tt.want)
		})
	}
}

// field is the last value of a string under k that is not empty in the events of a
// stream.
func field(t *testing.T, stream, k string) string {
	t.Helper()
	found := ""
	for line := range strings.Lines(stream) {
		var v any
		data, _ := strings.CutPrefix(line, "data: ")
		if json.Unmarshal([]byte(data), &v) == nil {
			find(v, k, &found)
		}
	}
	if found == "" {
		t.Fatalf("no %s in %s", k, stream)
	}
	return found
}

func find(v any, k string, found *string) {
	switch v := v.(type) {
	case map[string]any:
		if s, ok := v[k].(string); ok && s != "" {
			*found = s
		}
		for _, in := range v {
			find(in, k, found)
		}
	case []any:
		for _, in := range v {
			find(in, k, found)
		}
	}
}
