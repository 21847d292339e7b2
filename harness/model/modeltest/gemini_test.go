package modeltest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// generate is a request for streamGenerateContent.
func generate(extra, contents string) string {
	if extra != "" {
		extra += ","
	}
	return `{` + extra + `"contents":[` + contents + `]}`
}

func content(role string, parts ...string) string {
	return `{"role":"` + role + `","parts":[` + strings.Join(parts, ",") + `]}`
}

// function declares a function with parameters.
func function(parameters string) string {
	return `"tools":[{"functionDeclarations":[{"name":"ls","description":"","parameters":` + parameters + `}]}]`
}

const (
	partHi    = `{"text":"hi"}`
	partCalls = `{"functionCall":{"name":"ls","args":{},"id":"a"},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"name":"cat","args":{},"id":"b"}}`
	partA     = `{"functionResponse":{"name":"ls","id":"a","response":{"output":"x"}}}`
	partB     = `{"functionResponse":{"name":"cat","id":"b","response":{"error":"y"}}}`
)

func geminiURL(id string) func(*modeltest.Server) string {
	return func(s *modeltest.Server) string {
		return s.Gemini() + "/models/" + id + ":streamGenerateContent?alt=sse"
	}
}

func TestStrictGemini(t *testing.T) {
	hi := content("user", partHi)
	ls := function(`{"type":"object","properties":{"a":{"type":"string"}}}`)
	step := generate(ls, strings.Join([]string{hi, content("model", partCalls), content("user", partA, partB)}, ","))
	plain := generate("", hi)
	turn := generate("", hi+","+content("model", `{"text":"ok"}`)+","+hi)
	shown := generate("", content("user", `{"inlineData":{"mimeType":"image/png","data":"`+picture+`"}}`))
	config := func(c string) string { return generate(`"generationConfig":`+c, hi) }
	checkRefusals(t, geminiURL("gemini-3.5-flash"), []refusal{
		{"a call without a response", step, "," + partB, "", "contents.2.parts: the number of function response parts"},
		{"text where responses are due", step, partA, partHi, "contents.2.parts.0: the function response of ls is due"},
		{"responses in another order", step, partA + "," + partB, partB + "," + partA, "contents.2.parts.0.functionResponse.id: response of cat"},
		{"a response under another name", step, `"name":"ls","id"`, `"name":"rm","id"`, "response of rm (a) where that of ls (a) is due"},
		{"a response without its id", step, `"name":"ls","id":"a","response"`, `"name":"ls","response"`, "response of ls () where that of ls (a) is due"},
		{"a response without a name", step, `"name":"ls","id":"a","response"`, `"id":"a","response"`, "functionResponse.name: it is empty"},
		{"a response without a call", step, content("model", partCalls) + ",", content("model", partHi) + ",", "there is no call"},
		{"a response that is no object", step, `{"output":"x"}`, `"x"`, "functionResponse.response: not a google.protobuf.Struct"},
		{"an id twice", step, `"id":"b"}}]}`, `"id":"a"}}]}`, "contents.1.parts.1.functionCall.id"},
		{"arguments that are no object", step, `"args":{}`, `"args":"{}"`, "contents.1.parts.0.functionCall.args"},
		{"a bad name", step, `"name":"ls","args"`, `"name":"1s","args"`, "contents.1.parts.0.functionCall.name"},
		{"C107 a signature that is missing", step, `,"thoughtSignature":"skip_thought_signature_validator"`, "", "contents.1.parts.0.thoughtSignature: function call is missing"},
		{"a signature that was made up", step, "skip_thought_signature_validator", "c2lnbmVk", "contents.1.parts.0.thoughtSignature: invalid signature"},
		{"a signature of the user", turn, partHi, `{"text":"hi","thoughtSignature":"c2lnbmVk"}`, "contents.0.parts.0.thoughtSignature"},
		{"roles in a row", turn, `"model"`, `"user"`, "contents.1.role: multiturn requests alternate"},
		{"the model first", turn, hi + "," + content("model", `{"text":"ok"}`), content("model", partHi), "contents.0.role"},
		{"the model last", turn, "," + hi + "]", "]", "the last content"},
		{"a role that nobody has", plain, `"user"`, `"function"`, "contents.0.role"},
		{"no role", plain, `"role":"user",`, "", "contents.0.role"},
		{"no parts", plain, partHi, "", "contents.0.parts: the list is empty"},
		{"an empty text", plain, `"hi"`, `""`, "contents.0.parts.0.text"},
		{"a part of nothing", plain, partHi, "{}", "contents.0.parts.0: required oneof"},
		{"a part of two things", plain, partHi, `{"text":"x","inlineData":{}}`, "contents.0.parts.0.inlineData: oneof"},
		{"a part with a field of its own", plain, partHi, `{"text":"x","type":"text"}`, "contents.0.parts.0.type: unknown field"},
		{"a picture of a type that is not taken", shown, "image/png", "image/gif", "inlineData: a picture of type"},
		{"a picture of the model", shown, `"user"`, `"model"`, "contents.0.role"},
		{"no contents", plain, hi, "", "contents: the list is empty"},
		{"an unknown field", generate(`"safetySettings":[]`, hi), "safetySettings", "safety", "safety: unknown field"},
		{"a system prompt without a word", generate(`"systemInstruction":{"parts":[{"text":"x"}]}`, hi), `"x"`, `" "`, "systemInstruction.parts.0.text"},
		{"an option that there is none of", config(`{"topK":1}`), "topK", "top_k", "generationConfig.top_k: unknown field"},
		{"a limit of nothing", config(`{"maxOutputTokens":1}`), "1", "0", "generationConfig.maxOutputTokens"},
		{"a type of answer that there is none of", config(`{"responseMimeType":"application/json"}`), "json", "xml", "responseMimeType"},
		{"a level and a budget", config(`{"thinkingConfig":{"thinkingLevel":"low"}}`), `"low"`, `"low","thinkingBudget":0`, "thinkingConfig.thinkingLevel: it excludes"},
		{"a level that there is none of", config(`{"thinkingConfig":{"thinkingLevel":"LOW"}}`), "LOW", "MAX", "thinkingConfig.thinkingLevel"},
		{"a choice without functions", generate(ls+`,"toolConfig":{"functionCallingConfig":{"mode":"NONE"}}`, hi), ls + ",", "", "functionCallingConfig: set without"},
		{"a mode that there is none of", generate(ls+`,"toolConfig":{"functionCallingConfig":{"mode":"NONE"}}`, hi), "NONE", "none", "functionCallingConfig.mode"},
		{"a function that is allowed but not there", generate(ls+`,"toolConfig":{"functionCallingConfig":{"allowedFunctionNames":["ls"]}}`, hi), `["ls"]`, `["rm"]`, "allowedFunctionNames.0"},
		{"tools without a function", generate(ls, hi), ls, `"tools":[]`, "tools: without a function"},
		{"a function twice", generate(ls, hi), `[{"name"`, `[{"name":"ls"},{"name"`, "functionDeclarations.1.name"},
		{"a function with a bad name", generate(ls, hi), `"ls"`, `"l s"`, "functionDeclarations.0.name"},
		{"a tool in the shape of OpenAI", generate(ls, hi), `"functionDeclarations"`, `"type":"function","functionDeclarations"`, "tools.0.type: unknown field"},
		{"two schemas", generate(ls, hi), `"parameters"`, `"parametersJsonSchema":{"type":"object"},"parameters"`, "it excludes parametersJsonSchema"},
	})
	t.Run("what depends on the model", func(t *testing.T) {
		level, none := config(`{"thinkingConfig":{"thinkingLevel":"minimal"}}`), config(`{"thinkingConfig":{"thinkingBudget":0}}`)
		pictures := strings.Replace(step, `"response":{"output":"x"}`, `"response":{"output":"x"},"parts":[{"inlineData":{"mimeType":"image/png","data":"`+picture+`"}}]`, 1)
		for _, tt := range []struct{ id, body, want string }{
			{"gemini-3.5-flash", level, ""},
			{"gemini-3-pro-preview", level, "thinkingLevel"},
			{"gemini-2.5-flash", level, "thinkingLevel: not supported"},
			{"gemini-2.5-flash", none, ""},
			{"gemini-2.5-pro", none, "budget 0 is invalid"},
			{"gemini-2.5-flash", strings.Replace(none, `0}`, `0,"includeThoughts":true}`, 1), "includeThoughts"},
			{"gemini-2.5-flash", strings.Replace(none, `0}`, `30000}`, 1), "not from 0 to 24576"},
			{"gemini-2.5-flash-lite", strings.Replace(none, `0}`, `100}`, 1), "not from 512"},
			{"gemini-2.0-flash", none, "thinking is not supported"},
			{"gemini-3.5-flash", pictures, ""},
			{"gemini-2.5-flash", pictures, "multimodal function responses"},
			{"gemini-2.5-flash", strings.Replace(step, `,"thoughtSignature":"skip_thought_signature_validator"`, "", 1), ""},
			{"gemini-3.5-flash", strings.Replace(step, `,"thoughtSignature":"skip_thought_signature_validator"`, "", 1), "missing"},
			{"gemini-3.5-flash", generate(ls, strings.Join([]string{hi, content("model", strings.Replace(partCalls, `,"thoughtSignature":"skip_thought_signature_validator"`, "", 1)), content("user", partA, partB), content("model", partHi), hi}, ",")), ""},
		} {
			s := modeltest.New(t, modeltest.Reply{})
			checkLast(t, s, geminiURL(tt.id)(s), tt.body, tt.want)
		}
	})
}

// Parameters know a part of JSON Schema and refuse every other word.
func TestStrictGeminiSchema(t *testing.T) {
	hi := content("user", partHi)
	good := function(`{"type":"object","required":["n"],"properties":{"n":{"type":"integer","minimum":1,"maximum":9},"s":{"type":"string","enum":["x"],"nullable":true},"l":{"type":"array","items":{"type":"string","format":"date-time"}},"a":{"anyOf":[{"type":"string"},{"type":"number"}]}}}`)
	checkRefusals(t, geminiURL("gemini-3.5-flash"), []refusal{
		{"C099 an exclusive bound", generate(good, hi), `"minimum"`, `"exclusiveMinimum"`, "parameters.properties.n.exclusiveMinimum: unknown field"},
		{"C099 additional properties", generate(good, hi), `"required"`, `"additionalProperties":false,"required"`, "parameters.additionalProperties"},
		{"C099 a dialect", generate(good, hi), `"required"`, `"$schema":"x","required"`, "parameters.$schema"},
		{"C099 a constant", generate(good, hi), `"enum":["x"]`, `"const":"x"`, "parameters.properties.s.const"},
		{"C099 a list of types", generate(good, hi), `{"type":"string","enum"`, `{"type":["string","null"],"enum"`, "parameters.properties.s.type: proto field is not repeating"},
		{"C099 a format", generate(good, hi), `"date-time"`, `"uri"`, "parameters.properties.l.items.format"},
		{"C099 in a nested choice", generate(good, hi), `{"type":"number"}`, `{"type":"number","multipleOf":2}`, "parameters.properties.a.anyOf.1.multipleOf"},
		{"C100 a reference", generate(good, hi), `{"type":"number"}`, `{"$ref":"#/$defs/a"}`, "anyOf.1.$ref"},
		{"one of", generate(good, hi), `"anyOf"`, `"oneOf"`, "parameters.properties.a.oneOf"},
		{"a number in an enumeration", generate(good, hi), `["x"]`, `[1]`, "enum.0"},
		{"an enumeration of numbers", generate(good, hi), `"minimum":1`, `"enum":["1"]`, "parameters.properties.n.enum: only allowed for STRING"},
		{"an array without items", generate(good, hi), `,"items":{"type":"string","format":"date-time"}`, "", "parameters.properties.l.items: missing"},
		{"a property that is required but not there", generate(good, hi), `["n"]`, `["m"]`, "parameters.required.0: property is not defined"},
		{"a schema of something else", generate(good, hi), `{"type":"object","required":["n"],"properties":{"n":{"type":"integer","minimum":1,"maximum":9},"s":{"type":"string","enum":["x"],"nullable":true},"l":{"type":"array","items":{"type":"string","format":"date-time"}},"a":{"anyOf":[{"type":"string"},{"type":"number"}]}}}`,
			`{"type":"string"}`, "parameters.type: the schema is not that of an object"},
	})
	s := modeltest.New(t, modeltest.Reply{})
	free := strings.NewReplacer(`"parameters"`, `"parametersJsonSchema"`, `"minimum"`, `"exclusiveMinimum"`).Replace(good)
	checkLast(t, s, geminiURL("gemini-3.5-flash")(s), generate(free, hi), "")
}

// The signature of a call goes back with it, to the model that gave it.
func TestThoughtSignatures(t *testing.T) {
	hi := content("user", partHi)
	ls := function(`{"type":"object"}`)
	tests := []struct {
		name, model string
		from, to    string
		want        string
	}{
		{"as it came", "gemini-3.5-flash", "", "", ""},
		{"to another model", "gemini-4-argon", "", "", "model gemini-3.5-flash gave it"},
		{"on another call", "gemini-3.5-flash", "ls", "cat", "it belongs to something else"},
		{"to an older model", "gemini-2.5-flash", "", "", "model gemini-3.5-flash gave it"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := modeltest.New(t, modeltest.Reply{Tools: []modeltest.Tool{{ID: "a", Name: "ls", Args: "{}"}}}, modeltest.Reply{})
			_, stream := post(t, geminiURL("gemini-3.5-flash")(s), generate(ls, hi))
			call := `{"functionCall":{"name":"ls","args":{},"id":"a"},"thoughtSignature":"` + field(t, stream, "thoughtSignature") + `"}`
			body := generate("", strings.ReplaceAll(strings.Join([]string{hi, content("model", call), content("user", partA)}, ","), `"`+tt.from+`"`, `"`+tt.to+`"`))
			checkLast(t, s, geminiURL(tt.model)(s), body, tt.want)
		})
	}
}

func TestFaultsOfGemini(t *testing.T) {
	hi := generate("", content("user", partHi))
	tests := []struct {
		name, query, key string
		status           int
		want             string
	}{
		{"no key", "?alt=sse", "", http.StatusForbidden, `"status":"PERMISSION_DENIED"`},
		{"a key in the address", "?alt=sse&key=k", "k", http.StatusBadRequest, `"status":"INVALID_ARGUMENT"`},
		{"no stream of events", "", "k", http.StatusBadRequest, `"fieldViolations":[{"description":"only streams of events are served; set alt=sse","field":"alt"}]`},
	}
	for _, tt := range tests {
		s := modeltest.New(t, modeltest.Reply{})
		url, _, _ := strings.Cut(geminiURL("gemini-3.5-flash")(s), "?")
		if status, got := post(t, url+tt.query, hi, "X-Goog-Api-Key", tt.key); status != tt.status || !strings.Contains(got, tt.want) {
			t.Errorf("%s: status %d: %s, want %d with %s", tt.name, status, got, tt.status, tt.want)
		}
	}
	s := modeltest.New(t, modeltest.Reply{Status: 429, Error: "slow down", Header: map[string]string{"Retry-After": "7"}})
	if status, got := post(t, geminiURL("gemini-3.5-flash")(s), hi); status != 429 || !strings.Contains(got, `"retryDelay":"7s"`) || !strings.Contains(got, "RESOURCE_EXHAUSTED") {
		t.Errorf("a limit: status %d: %s", status, got)
	}
}

// Arguments that are no object cannot be sent: the model ends with them.
func TestGeminiCannotSendWhatIsNoCall(t *testing.T) {
	s := modeltest.New(t, modeltest.Reply{Tools: []modeltest.Tool{{Name: "ls", Args: `{"path":"a`}}})
	_, stream := post(t, geminiURL("gemini-3.5-flash")(s), generate("", content("user", partHi)))
	if got := field(t, stream, "finishReason"); got != "MALFORMED_FUNCTION_CALL" || strings.Contains(stream, "functionCall\"") {
		t.Errorf("finishReason = %q in %s", got, stream)
	}
}
