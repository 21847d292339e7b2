package modeltest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// asked is a request for Responses.
func asked(id, extra, input string) string {
	if extra != "" {
		extra += ","
	}
	return `{"model":"` + id + `","stream":true,"store":false,` + extra + `"input":[` + input + `]}`
}

const (
	itemUser  = `{"role":"user","content":[{"type":"input_text","text":"hi"}]}`
	itemCalls = `{"type":"function_call","call_id":"a","name":"ls","arguments":"{}"},{"type":"function_call","call_id":"b","name":"ls","arguments":"{}"}`
	itemA     = `{"type":"function_call_output","call_id":"a","output":"x"}`
	itemB     = `{"type":"function_call_output","call_id":"b","output":""}`
	itemSaid  = `{"role":"assistant","content":[{"type":"output_text","text":"ok"}]}`
	itemTool  = `"tools":[{"type":"function","name":"ls","description":"","parameters":{"type":"object","properties":{}},"strict":false}]`
)

func responsesURL(s *modeltest.Server) string { return s.OpenAI() + "/responses" }

func TestStrictResponses(t *testing.T) {
	const id = "gpt-5.2"
	step := asked(id, itemTool, strings.Join([]string{itemUser, itemCalls, itemA, itemB}, ","))
	plain := asked(id, "", itemUser)
	turn := asked(id, "", itemUser+","+itemSaid+","+itemUser)
	shown := asked(id, "", `{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,`+picture+`"}]}`)
	checkRefusals(t, responsesURL, []refusal{
		{"a call without a result", step, "," + itemB, "," + itemUser, "calls without a result: b"},
		{"nor at the end", step, "," + itemA + "," + itemB, "", "input: calls without a result: a, b"},
		{"results in another order", step, itemA + "," + itemB, itemB + "," + itemA, "where that of"},
		{"a result without a call", step, itemCalls + ",", "", "input.1.call_id: result of \"a\" does not follow its call"},
		{"an id twice", step, `"call_id":"b"`, `"call_id":"a"`, "is not unique"},
		{"a bad id", step, `"call_id":"b"`, `"call_id":"b c"`, "input.2.id"},
		{"a bad name", step, `"name":"ls","arguments"`, `"name":"l.s","arguments"`, "input.1.name"},
		{"arguments that are no object", step, `"arguments":"{}"`, `"arguments":"null"`, "input.1.arguments: not an object"},
		{"an item of another kind", step, `"type":"function_call_output"`, `"type":"tool_result"`, "input.3.type"},
		{"an item with a field of its own", step, `"output":"x"`, `"output":"x","is_error":true`, "input.3.is_error: unknown field"},
		{"an id of another kind", turn, `"role":"assistant"`, `"id":"fc_1","role":"assistant"`, "input.1.id"},
		{"text of the model as that of the user", turn, `"output_text"`, `"input_text"`, "input.1.content.0.type"},
		{"text of the user as that of the model", turn, `"input_text"`, `"output_text"`, "input.0.content.0.type"},
		{"an empty text", plain, `"hi"`, `""`, "input.0.content.0.text: the text is empty"},
		{"an empty message", plain, `[{"type":"input_text","text":"hi"}]`, `[]`, "input.0.content: it is empty"},
		{"an empty input", plain, itemUser, "", "input: it is empty"},
		{"a role that nobody has", plain, `"role":"user"`, `"role":"tool"`, "input.0.role"},
		{"a phase of the user", turn, `"role":"user"`, `"role":"user","phase":"commentary"`, "input.0.phase"},
		{"a phase that there is none of", strings.Replace(turn, `"role":"assistant"`, `"role":"assistant","phase":"commentary"`, 1), "commentary", "draft", "input.1.phase"},
		{"a system message that is late", asked(id, "", `{"role":"developer","content":"x"},`+itemUser), `{"role":"developer","content":"x"},` + itemUser, itemUser + `,{"role":"developer","content":"x"}`, "not the first"},
		{"the model has the last word", turn, "," + itemUser + "]", "]", "the last message"},
		{"a picture of a type that is not taken", shown, "image/png", "image/bmp", "input.0.content.0.image_url: a picture of type"},
		{"a detail that there is none of", strings.Replace(shown, `"input_image"`, `"input_image","detail":"low"`, 1), `"low"`, `"huge"`, "input.0.content.0.detail"},
		{"no model", plain, id, "", "model: the model is missing"},
		{"no stream", plain, `"stream":true,`, "", "stream"},
		{"an unknown field", asked(id, `"max_output_tokens":16`, itemUser), "max_output_tokens", "max_tokens", "max_tokens: unknown field"},
		{"a limit that is too low", asked(id, `"max_output_tokens":16`, itemUser), "16", "15", "max_output_tokens"},
		{"temperature", asked("gpt-4.1", `"temperature":0`, itemUser), "gpt-4.1", id, "temperature"},
		{"a truncation that there is none of", asked(id, `"truncation":"auto"`, itemUser), "auto", "all", "truncation"},
		{"a choice without tools", asked(id, itemTool+`,"tool_choice":"none"`, itemUser), itemTool + ",", "", "tool_choice"},
		{"a choice of another tool", asked(id, itemTool+`,"tool_choice":{"type":"function","name":"ls"}`, itemUser), `{"type":"function","name":"ls"}`, `{"type":"function","name":"rm"}`, "tool_choice"},
		{"a tool in the shape of chat", asked(id, itemTool, itemUser), `"type":"function",`, `"type":"function","function":{},`, "tools.0.function: unknown field"},
		{"a tool twice", asked(id, itemTool, itemUser), `[{`, `[{"type":"function","name":"ls","strict":false,"parameters":{"type":"object","properties":{}}},{`, "tools.1.name"},
		{"a tool that does not say strict", asked(id, itemTool, itemUser), `,"strict":false`, "", "tools.0.strict"},
		{"a strict tool that is not", asked(id, strings.NewReplacer("false", "true", `{}}`, `{},"additionalProperties":false}`).Replace(itemTool), itemUser), `,"additionalProperties":false`, "", "parameters.additionalProperties"},
		{"a schema of something else", asked(id, itemTool, itemUser), `"object"`, `"array"`, "tools.0.parameters.type"},
		{"an object without properties", asked(id, itemTool, itemUser), `,"properties":{}`, "", "tools.0.parameters.properties"},
		{"an effort that a model lacks", asked(id, `"reasoning":{"effort":"xhigh"}`, itemUser), "xhigh", "max", "reasoning.effort"},
		{"a summary that there is none of", asked(id, `"reasoning":{"summary":"auto"}`, itemUser), "auto", "long", "reasoning.summary"},
		{"reasoning of a model without", asked(id, `"reasoning":{"summary":"auto"}`, itemUser), id, "gpt-4.1", "reasoning: not supported"},
		{"encrypted reasoning of a model without", asked(id, `"include":["reasoning.encrypted_content"]`, itemUser), id, "gpt-4.1", "include: encrypted content is not supported"},
		{"something else to include", asked(id, `"include":["reasoning.encrypted_content"]`, itemUser), "encrypted_content", "text", "include.0"},
		{"a verbosity that there is none of", asked(id, `"text":{"verbosity":"low"}`, itemUser), `"low"`, `"mute"`, "text.verbosity"},
		{"a context that there is none of", asked(id, `"reasoning":{"context":"auto"}`, itemUser), "auto", "none", "reasoning.context"},
		{"a store in words", plain, `"store":false`, `"store":"no"`, "store: neither true nor false"},
		{"instructions in parts", asked(id, `"instructions":"x"`, itemUser), `"x"`, `[]`, "instructions: not a string"},
		{"a conversation and an answer", strings.Replace(plain, `"store":false`, `"conversation":"c"`, 1), `"conversation"`, `"previous_response_id":"resp_1","conversation"`, "previous_response_id: it excludes"},
		{"cache options for a model without", asked("gpt-5.6", `"prompt_cache_options":{"mode":"implicit"}`, itemUser), "gpt-5.6", "gpt-5.4", "prompt_cache_options"},
		{"too many tools", asked(id, itemTool, itemUser), "{\"type\":\"function\",\"name\":\"ls\"", manyTools(128) + "{\"type\":\"function\",\"name\":\"ls\"", "tools: 129 tools"},
		{"JSON that is not spoken of", asked(id, `"instructions":"JSON","text":{"format":{"type":"json_object"}}`, itemUser), `"JSON"`, `"XML"`, "the word json"},
		{"a format that nobody knows", asked(id, `"text":{"format":{"type":"text"}}`, itemUser), `"type":"text"`, `"type":"xml"`, "text.format.type"},
		{"an answer that is not stored", plain, `"store":false`, `"store":false,"previous_response_id":"resp_1"`, "previous_response_id: no response"},
		{"a cache key that is too long", asked(id, `"prompt_cache_key":"k"`, itemUser), `"k"`, `"` + strings.Repeat("k", 65) + `"`, "prompt_cache_key"},
		{"a breakpoint for a model without", strings.Replace(asked("gpt-5.6", "", itemUser), `"hi"`, `"hi","prompt_cache_breakpoint":{"mode":"explicit"}`, 1), "gpt-5.6", "gpt-5.5", "prompt_cache_breakpoint"},
		{"a breakpoint in what the model said", strings.Replace(asked("gpt-5.6", "", itemUser+","+itemSaid+","+itemUser), `"hi"`, `"hi","prompt_cache_breakpoint":{"mode":"explicit"}`, 1),
			`"ok"`, `"ok","prompt_cache_breakpoint":{"mode":"explicit"}`, "input.1.content.0.prompt_cache_breakpoint"},
	})
}

// manyTools are the declarations of n tools, with a comma behind each.
func manyTools(n int) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, `{"type":"function","name":"t%d","strict":false,"parameters":{"type":"object","properties":{}}},`, i)
	}
	return out.String()
}

// given are the items of an answer as a stream ends with them.
func given(t *testing.T, stream string) []map[string]any {
	t.Helper()
	for line := range strings.Lines(stream) {
		data, ok := strings.CutPrefix(line, "data: ")
		var v struct {
			Type     string
			Response struct {
				ID     string
				Output []map[string]any
			}
		}
		if !ok || json.Unmarshal([]byte(data), &v) != nil || v.Type != "response.completed" {
			continue
		}
		return v.Response.Output
	}
	t.Fatalf("no final response in %s", stream)
	return nil
}

// What a model gave out goes back as it came: thoughts encrypted and in front of
// what followed them, messages in their phase.
func TestItemsThatGoBack(t *testing.T) {
	const id = "gpt-5.6"
	const include = `"include":["reasoning.encrypted_content"],` + itemTool
	type items = []map[string]any
	tests := []struct {
		name  string
		model string // that is asked next; "" is the same
		spoil func(items) items
		want  string
	}{
		{"as they came", "", func(o items) items { return o }, ""},
		{"without ids", "", func(o items) items {
			for _, it := range o {
				delete(it, "id")
			}
			return o
		}, ""},
		{"nothing but the calls, without ids", "", func(o items) items {
			delete(o[2], "id")
			return o[2:]
		}, ""},
		{"the calls alone", "", func(o items) items { return o[2:] }, "without its required 'reasoning' item"},
		{"the thought alone", "", func(o items) items { return o[:1] }, "without its required following item"},
		{"a thought without its content", "", func(o items) items {
			delete(o[0], "encrypted_content")
			return o
		}, "items are not persisted"},
		{"a thought that was altered", "", func(o items) items {
			o[0]["encrypted_content"] = "gAAAA" + o[0]["encrypted_content"].(string)[5:]
			return o
		}, "could not be verified"},
		{"a thought under another id", "", func(o items) items {
			o[0]["id"] = "rs_1"
			return o
		}, "it belongs to something else"},
		{"the thought of another model", "gpt-5.7", func(o items) items { return o }, "model gpt-5.6 gave it"},
		{"a thought without a summary", "", func(o items) items {
			delete(o[0], "summary")
			return o
		}, "input.1.summary"},
		{"a message without its phase", "", func(o items) items {
			delete(o[1], "phase")
			return o
		}, "input.2.phase"},
		{"a message in another phase, without an id", "", func(o items) items {
			delete(o[1], "id")
			o[1]["phase"] = "final_answer"
			return o
		}, "input.2.phase"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := modeltest.New(t, modeltest.Reply{Think: []string{"hm"}, Text: []string{"I look."}, Tools: []modeltest.Tool{{ID: "a", Name: "ls", Args: "{}"}}}, modeltest.Reply{})
			_, answer := post(t, responsesURL(s), asked(id, include, itemUser))
			var back []string
			out := tt.spoil(given(t, answer))
			for _, it := range out {
				back = append(back, modeltest.JSON(it))
			}
			next := id
			if tt.model != "" {
				next = tt.model
			}
			history := itemUser + "," + strings.Join(back, ",")
			if strings.Contains(history, `"function_call"`) {
				history += "," + itemA
			} else {
				history += "," + itemUser
			}
			checkLast(t, s, responsesURL(s), asked(next, include, history), tt.want)
		})
	}
}

// An answer that is stored can be gone on with.
func TestPreviousResponse(t *testing.T) {
	s := modeltest.New(t, modeltest.Reply{Tools: []modeltest.Tool{{ID: "a", Name: "ls", Args: "{}"}}}, modeltest.Reply{})
	_, answer := post(t, responsesURL(s), strings.Replace(asked("gpt-5.2", itemTool, itemUser), `"store":false`, `"store":true`, 1))
	_, rest, _ := strings.Cut(answer, `"id":"resp_`)
	id, _, _ := strings.Cut(rest, `"`)
	next := fmt.Sprintf(`{"model":"gpt-5.2","stream":true,"previous_response_id":"resp_%s","input":[%%s]}`, id)
	if status, got := post(t, responsesURL(s), fmt.Sprintf(next, itemUser)); status != http.StatusBadRequest || !strings.Contains(got, "calls without a result: a") {
		t.Errorf("without the result of its call: status %d: %s", status, got)
	}
	if status, got := post(t, responsesURL(s), fmt.Sprintf(next, itemA)); status != http.StatusOK {
		t.Errorf("with it: status %d: %s", status, got)
	}
}
