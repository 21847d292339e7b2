package modeltest

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// gemini is the protocol of streamGenerateContent. From Gemini 3 on the first call
// of each step of the current turn must bear its thought signature; whatever has
// one must have the right one.
type gemini struct{}

const geminiMethod = ":streamGenerateContent"

// skips are signatures that Google takes for calls that its model did not make.
func skips() []string {
	return []string{"skip_thought_signature_validator", "context_engineering_is_the_way_to_go"}
}

// checkThought checks the signature of what a Gemini made of content.
func checkThought(id string, must bool, content, signature string) error {
	switch {
	case signature == "" && must:
		return bad("", "function call is missing a thought_signature")
	case signature == "" || slices.Contains(skips(), signature):
		return nil
	}
	return unsigned(id, content, signature)
}

// geminiStatus is the word for an HTTP status.
func geminiStatus(status int) string {
	word := map[int]string{400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
		429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED"}[status]
	if word == "" {
		return "UNKNOWN"
	}
	return word
}

func (gemini) fault(_ *request, w *wrong) any {
	e := fields{"code": w.status, "message": w.reason, "status": geminiStatus(w.status)}
	if w.code != "" && w.code != "unknown_parameter" {
		e["status"] = w.code
	}
	var details []any
	if w.field != "" {
		e["message"] = "Invalid value at '" + bracketed(w.field) + "': " + w.reason
		details = append(details, fields{"@type": "type.googleapis.com/google.rpc.BadRequest",
			"fieldViolations": []any{fields{"field": bracketed(w.field), "description": w.reason}}})
	}
	if w.wait != "" {
		details = append(details, fields{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": w.wait + "s"})
	}
	if details != nil {
		e["details"] = details
	}
	return fields{"error": e}
}

func (gemini) parse(r *http.Request, body []byte) (*request, error) {
	switch {
	case r.URL.Query().Has("key"):
		return nil, bad("key", "the key belongs into the header X-Goog-Api-Key, not into the address")
	case r.Header.Get("X-Goog-Api-Key") == "":
		return nil, coded(http.StatusForbidden, "", "", "callers without an API key (x-goog-api-key) are not allowed")
	case r.URL.Query().Get("alt") != "sse":
		return nil, bad("alt", "only streams of events are served; set alt=sse")
	}
	m, err := members(body, "contents", "systemInstruction", "tools", "toolConfig", "safetySettings", "generationConfig", "cachedContent", "labels", "serviceTier")
	if err != nil {
		return nil, err
	}
	path := r.URL.Path
	req := newRequest(strings.TrimSuffix(path[strings.LastIndex(path, "/models/")+len("/models/"):], geminiMethod), "")
	req.cache = geminiCache(req.model)
	c := geminiChecker{req: req, version: geminiVersion(req.model)}
	for _, check := range []func(object) error{c.config, c.tools, c.system, c.contents} {
		if err := check(m); err != nil {
			return req, err
		}
	}
	return req, nil
}

// geminiChecker walks through one request.
type geminiChecker struct {
	req     *request
	version int
	turn    int            // index of the content that began the turn
	open    []functionCall // calls that wait for a response
}

type functionCall struct{ id, name string }

func (c *geminiChecker) config(m object) error {
	if !m.has("generationConfig") {
		return nil
	}
	g, err := members(m["generationConfig"], "temperature", "topP", "topK", "candidateCount", "maxOutputTokens", "stopSequences",
		"responseMimeType", "responseSchema", "responseJsonSchema", "presencePenalty", "frequencyPenalty", "seed", "responseLogprobs",
		"logprobs", "responseModalities", "thinkingConfig", "mediaResolution", "speechConfig")
	if err == nil {
		_, err = g.int("maxOutputTokens", 1)
	}
	if err == nil {
		_, err = g.word("responseMimeType", "text/plain", "application/json", "text/x.enum")
	}
	if err == nil {
		err = at("thinkingConfig", c.thinking(g["thinkingConfig"]))
	}
	return at("generationConfig", err)
}

// thinking checks the level of Gemini 3 or the budget of 2.5.
func (c *geminiChecker) thinking(raw json.RawMessage) error {
	if absent(raw) {
		return nil
	}
	t, err := members(raw, "includeThoughts", "thinkingBudget", "thinkingLevel")
	if err != nil {
		return err
	}
	pro := strings.Contains(c.req.model, "-pro")
	levels := []string{"minimal", "low", "medium", "high"}
	switch {
	case pro && c.version == 300:
		levels = []string{"low", "high"}
	case pro:
		levels = levels[1:]
	}
	level := strings.ToLower(t.text("thinkingLevel"))
	switch {
	case t.has("thinkingLevel") && t.has("thinkingBudget"):
		return bad("thinkingLevel", "it excludes thinkingBudget")
	case c.version > 0 && c.version < 205:
		return bad("", "thinking is not supported by this model")
	case t.has("thinkingLevel") && c.version > 0 && c.version < 300:
		return bad("thinkingLevel", "not supported for this model")
	case t.has("thinkingLevel") && !slices.Contains(levels, level):
		return bad("thinkingLevel", "%s is not one of %s", t["thinkingLevel"], strings.Join(levels, ", "))
	case t.has("thinkingBudget"):
		return c.budget(t, pro)
	}
	return nil
}

func (c *geminiChecker) budget(t object, pro bool) error {
	var n int
	if err := json.Unmarshal(t["thinkingBudget"], &n); err != nil {
		return bad("thinkingBudget", "not a whole number: %.80s", t["thinkingBudget"])
	}
	least, most := 0, 24576
	switch {
	case pro:
		least, most = 128, 32768
	case strings.Contains(c.req.model, "-lite") && n != 0:
		least = 512
	}
	switch {
	case n == -1:
		return nil
	case n == 0 && pro:
		return bad("thinkingBudget", "budget 0 is invalid; this model only works in thinking mode")
	case n < least || n > most:
		return bad("thinkingBudget", "%d is not from %d to %d", n, least, most)
	case n == 0 && string(t["includeThoughts"]) == "true":
		return bad("includeThoughts", "only where thinking is enabled")
	}
	return nil
}

func (c *geminiChecker) tools(m object) error {
	name := regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$`)
	var names []string
	for i, raw := range list(m["tools"]) {
		t, err := members(raw, "functionDeclarations")
		if err != nil {
			return at(elem("tools", i), err)
		}
		for j, raw := range list(t["functionDeclarations"]) {
			where := elem(elem("tools", i)+".functionDeclarations", j)
			f, err := members(raw, "name", "description", "parameters", "parametersJsonSchema")
			if err == nil {
				err = c.declaration(f)
			}
			switch n := f.text("name"); {
			case err != nil:
				return at(where, err)
			case !name.MatchString(n):
				return bad(where+".name", "name %q does not match %s", n, name)
			case slices.Contains(names, n):
				return bad(where+".name", "name %q is not unique", n)
			default:
				names = append(names, n)
			}
			c.req.add("tool", raw, nil, "")
		}
	}
	if m["tools"] != nil && len(names) == 0 {
		return bad("tools", "without a function declaration")
	}
	return c.choice(m, names)
}

func (c *geminiChecker) declaration(f object) error {
	switch {
	case f.has("parameters") && f.has("parametersJsonSchema"):
		return bad("parameters", "it excludes parametersJsonSchema")
	case f.has("parametersJsonSchema"):
		_, err := checkRoot(f["parametersJsonSchema"])
		return at("parametersJsonSchema", err)
	case !f.has("parameters"):
		return nil
	}
	if err := checkParameters(f["parameters"]); err != nil {
		return at("parameters", err)
	}
	if s, _ := members(f["parameters"]); strings.ToLower(s.text("type")) != "object" {
		return bad("parameters.type", "the schema is not that of an object: %.80q", f["parameters"])
	}
	return nil
}

func (c *geminiChecker) choice(m object, names []string) error {
	if !m.has("toolConfig") {
		return nil
	}
	t, err := members(m["toolConfig"], "functionCallingConfig")
	if err != nil {
		return at("toolConfig", err)
	}
	f, err := members(t["functionCallingConfig"], "mode", "allowedFunctionNames")
	if err == nil {
		_, err = f.word("mode", "AUTO", "ANY", "NONE", "VALIDATED")
	}
	if err == nil && len(names) == 0 {
		err = bad("", "set without function declarations")
	}
	for i, n := range list(f["allowedFunctionNames"]) {
		if err == nil && !slices.Contains(names, text(n)) {
			err = bad(elem("allowedFunctionNames", i), "%s is not declared", n)
		}
	}
	return at("toolConfig.functionCallingConfig", err)
}

func (c *geminiChecker) system(m object) error {
	if !m.has("systemInstruction") {
		return nil
	}
	s, err := members(m["systemInstruction"], "role", "parts")
	if err != nil {
		return at("systemInstruction", err)
	}
	parts := list(s["parts"])
	if len(parts) == 0 {
		return bad("systemInstruction.parts", "the list is empty")
	}
	for i, raw := range parts {
		p, err := members(raw, "text")
		if err == nil && strings.TrimSpace(p.text("text")) == "" {
			err = bad("text", "the text is empty")
		}
		if err != nil {
			return at(elem("systemInstruction.parts", i), err)
		}
	}
	c.req.add("system", m["systemInstruction"], nil, "")
	return nil
}
