package modeltest

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

func (c *geminiChecker) contents(m object) error {
	contents := list(m["contents"])
	if len(contents) == 0 {
		return bad("contents", "the list is empty")
	}
	for i, raw := range contents {
		if beginsTurn(raw) {
			c.turn = i
		}
	}
	before := "model"
	for i, raw := range contents {
		m, err := members(raw, "role", "parts")
		if err == nil {
			err = c.content(i, before, m)
		}
		if err != nil {
			return at(elem("contents", i), err)
		}
		before = m.text("role")
		c.req.add("content", raw, list(m["parts"]), "")
	}
	if before != "user" {
		return bad("contents", "the last content is the model's own")
	}
	return nil
}

// beginsTurn reports whether a content is of the user and no answer to calls.
func beginsTurn(raw json.RawMessage) bool {
	var v struct {
		Role  string
		Parts []struct{ FunctionResponse json.RawMessage }
	}
	if json.Unmarshal(raw, &v) != nil || v.Role != "user" {
		return false
	}
	for _, p := range v.Parts {
		if p.FunctionResponse != nil {
			return false
		}
	}
	return true
}

func (c *geminiChecker) content(i int, before string, m object) error {
	role, err := m.word("role", "user", "model")
	parts := list(m["parts"])
	switch {
	case err != nil:
		return err
	case role == "":
		return bad("role", "missing; please use a valid role: user, model")
	case role == before:
		return bad("role", "multiturn requests alternate between user and model, beginning with user")
	case len(parts) == 0:
		return bad("parts", "the list is empty")
	}
	var said []string
	var kinds []string
	for j, raw := range parts {
		p, err := members(raw, "text", "thought", "thoughtSignature", "inlineData", "fileData", "functionCall", "functionResponse")
		kind := ""
		if err == nil {
			kind, err = c.part(role, p)
		}
		if err == nil && kind == "functionCall" {
			first := !slices.Contains(kinds, kind)
			err = at("thoughtSignature", checkThought(c.req.model, first && i > c.turn && c.version >= 300, "call:"+c.open[len(c.open)-1].name, p.text("thoughtSignature")))
		}
		if err != nil {
			return at(elem("parts", j), err)
		}
		kinds = append(kinds, kind)
		said = append(said, p.text("text")+resultText(p["functionResponse"]))
	}
	if role == "model" {
		return nil
	}
	if n := len(c.open); n > 0 {
		return bad("parts", "the number of function response parts is not equal to the number of function call parts: %d missing, the first that of %s", n, c.open[0].name)
	}
	c.req.last = strings.TrimSpace(strings.Join(said, "\n"))
	if c.req.session == "" {
		c.req.session = c.req.last
	}
	return nil
}

// part checks a part and returns its kind.
func (c *geminiChecker) part(role string, p object) (string, error) {
	kind := ""
	for _, k := range []string{"text", "inlineData", "fileData", "functionCall", "functionResponse"} {
		if p[k] == nil {
			continue
		}
		if kind != "" {
			return "", bad(k, "oneof field 'data' is already set; cannot set %s", k)
		}
		kind = k
	}
	if kind != "functionResponse" && role == "user" && len(c.open) > 0 {
		return "", bad("", "the function response of %s is due, not %s", c.open[0].name, kind)
	}
	user := role == "user"
	switch {
	case kind == "":
		return "", bad("", "required oneof field 'data' must have one initialized field")
	case user && (p["thought"] != nil || p["thoughtSignature"] != nil):
		return "", bad("thoughtSignature", "thoughts belong to the model")
	case kind == "text" && p.text("text") == "" && !p.has("thoughtSignature"):
		return "", bad("text", "the text is empty")
	case kind == "text":
		return kind, at("thoughtSignature", checkThought(c.req.model, false, "text", p.text("thoughtSignature")))
	case kind == "inlineData" && user:
		return kind, at(kind, c.picture(p[kind]))
	case kind == "functionCall" && !user:
		return kind, at(kind, c.call(p[kind]))
	case kind == "functionResponse" && user:
		return kind, at(kind, c.response(p[kind]))
	}
	return "", bad(kind, "not allowed in a content of role %s", role)
}

// picture checks a picture, of which Gemini does not take every kind.
func (c *geminiChecker) picture(raw json.RawMessage) error {
	d, err := members(raw, "mimeType", "data", "displayName")
	if err != nil {
		return err
	}
	return checkPicture(d.text("mimeType"), d.text("data"), "image/png", "image/jpeg", "image/webp", "image/heic", "image/heif")
}

func (c *geminiChecker) call(raw json.RawMessage) error {
	f, err := members(raw, "name", "args", "id")
	if err != nil {
		return err
	}
	call := functionCall{f.text("id"), f.text("name")}
	switch {
	case !regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$`).MatchString(call.name):
		return bad("name", "name %q of a call is not a name", call.name)
	case f["args"] != nil && !isObject(f["args"]):
		return bad("args", "not a google.protobuf.Struct: %.80q", f["args"])
	case call.id != "" && slices.ContainsFunc(c.open, func(o functionCall) bool { return o.id == call.id }):
		return bad("id", "id %q of a call is not unique", call.id)
	}
	c.open = append(c.open, call)
	return nil
}

func (c *geminiChecker) response(raw json.RawMessage) error {
	f, err := members(raw, "name", "response", "id", "parts")
	if err != nil {
		return err
	}
	switch {
	case len(c.open) == 0:
		return bad("", "a function response turn comes immediately after a function call turn; there is no call of %s", f["name"])
	case f.text("name") == "":
		return bad("name", "it is empty")
	case !isObject(f["response"]):
		return bad("response", "not a google.protobuf.Struct: %.80q", f["response"])
	case f.text("name") != c.open[0].name, f.text("id") != c.open[0].id:
		return bad("id", "response of %s (%s) where that of %s (%s) is due", f.text("name"), f.text("id"), c.open[0].name, c.open[0].id)
	}
	c.open = c.open[1:]
	for i, raw := range list(f["parts"]) {
		p, err := members(raw, "inlineData")
		if err == nil && c.version > 0 && c.version < 300 {
			err = bad("", "multimodal function responses are not supported by this model")
		}
		if err == nil {
			err = at("inlineData", c.picture(p["inlineData"]))
		}
		if err != nil {
			return at(elem("parts", i), err)
		}
	}
	return nil
}

// resultText is what the strings in a function response say.
func resultText(raw json.RawMessage) string {
	var r struct{ Response map[string]any }
	if json.Unmarshal(raw, &r) != nil {
		return ""
	}
	var out []string
	for _, k := range []string{"output", "result", "error", "content"} {
		if s, ok := r.Response[k].(string); ok {
			out = append(out, s)
		}
	}
	return strings.Join(out, "\n")
}
