package modeltest

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

func (c *openAIChecker) messages(m object) error {
	msgs := list(m["messages"])
	if len(msgs) == 0 {
		return bad("messages", "the list is empty")
	}
	for i, raw := range msgs {
		var role struct{ Role string }
		if json.Unmarshal(raw, &role) == nil && role.Role == "user" {
			c.turn = i
		}
	}
	before := ""
	for i, raw := range msgs {
		msg, err := members(raw)
		if err == nil {
			err = c.message(i, before, msg)
		}
		if err != nil {
			return at(elem("messages", i), err)
		}
		before = msg.text("role")
		c.req.add("message", raw, list(msg["content"]), breakpoint)
	}
	if c.req.session == "" {
		c.req.session = c.first
	}
	if err := c.pairs.settled(); err != nil {
		return at("messages", err)
	}
	if before == "assistant" {
		return bad("messages", "the last message is the model's own")
	}
	return c.asksForJSON(m)
}

// asksForJSON checks that who wants JSON says so, on which OpenAI insists.
func (c *openAIChecker) asksForJSON(m object) error {
	var f struct{ Type string }
	if c.family.own && json.Unmarshal(m["response_format"], &f) == nil && f.Type == "json_object" && !c.json {
		return bad("messages", "the word json must occur in them to use a response_format of type json_object")
	}
	return nil
}

func (c *openAIChecker) message(i int, before string, m object) error {
	role := m.text("role")
	if role != "tool" {
		if err := c.pairs.settled(); err != nil {
			return err
		}
	}
	c.json = c.json || strings.Contains(strings.ToLower(string(m["content"])), "json")
	var err error
	switch role {
	case "system", "developer":
		err = c.system(i, role, m)
	case "user":
		err = c.user(before, m)
	case "assistant":
		err = c.assistant(i, m)
	case "tool":
		err = c.result(m)
	default:
		err = bad("role", "%q is unknown", role)
	}
	return err
}

func (c *openAIChecker) system(i int, role string, m object) error {
	if err := only(m, "role", "content", "name"); err != nil {
		return err
	}
	said, err := c.content(m, "text")
	switch {
	case err != nil:
		return err
	case i > 0:
		return bad("role", "a %s message that is not the first", role)
	case said == "":
		return bad("content", "the text is empty")
	case role == "developer" && !c.family.own:
		return bad("role", "%q is unknown to this model", role)
	}
	return nil
}

// only refuses keys that are not among known.
func only(m object, known ...string) error {
	for k := range m {
		if !slices.Contains(known, k) {
			return coded(0, "unknown_parameter", k, "unknown field; extra inputs are not permitted")
		}
	}
	return nil
}

func (c *openAIChecker) user(before string, m object) error {
	if err := only(m, "role", "content", "name"); err != nil {
		return err
	}
	if before == "tool" && isMistral(c.req.model) {
		return coded(0, "3230", "role", "unexpected role 'user' after role 'tool'")
	}
	said, err := c.content(m, "text", "image_url")
	if err != nil {
		return err
	}
	c.req.last = said
	if c.first == "" {
		c.first = said
	}
	return nil
}

// content is the text of content, a string or typed parts of these kinds.
func (c *openAIChecker) content(m object, kinds ...string) (string, error) {
	raw := m["content"]
	if isText(raw) && text(raw) != "" {
		return text(raw), nil
	}
	parts := list(raw)
	if len(parts) == 0 {
		return "", bad("content", "it is empty")
	}
	var out []string
	for i, raw := range parts {
		p, err := members(raw, "type", "text", "image_url", breakpoint)
		if err == nil {
			err = c.part(p, kinds)
		}
		if err != nil {
			return "", at(elem("content", i), err)
		}
		out = append(out, p.text("text"))
	}
	return strings.Join(out, "\n"), nil
}

func (c *openAIChecker) part(p object, kinds []string) error {
	kind := p.text("type")
	switch {
	case !slices.Contains(kinds, kind):
		return bad("type", "%q is not one of %s", kind, strings.Join(kinds, ", "))
	case kind == "text" && p.text("text") == "":
		return bad("text", "the text is empty")
	case kind == "image_url":
		u, err := members(p["image_url"], "url", "detail")
		if err == nil {
			err = at("url", checkDataURL(u.text("url")))
		}
		if err != nil {
			return at("image_url", err)
		}
	}
	return c.family.checkBreakpoint(p)
}

func (c *openAIChecker) assistant(i int, m object) error {
	if err := only(m, "role", "content", "name", "refusal", "tool_calls", "reasoning_content", "reasoning", "reasoning_details"); err != nil {
		return err
	}
	calls := list(m["tool_calls"])
	if m["content"] == nil {
		return bad("content", "it is missing; it may be null")
	}
	if m["tool_calls"] != nil && len(calls) == 0 {
		return bad("tool_calls", "an empty list")
	}
	switch empty := !m.has("content") || string(m["content"]) == `""`; {
	case !empty:
		if _, err := c.content(m, "text"); err != nil {
			return err
		}
	case len(calls) == 0 && m.text("refusal") == "":
		return bad("content", "an answer is empty")
	}
	if err := c.echo(m, len(calls) > 0); err != nil {
		return err
	}
	for j, raw := range calls {
		if err := c.toolCall(i, j, raw); err != nil {
			return at(elem("tool_calls", j), err)
		}
	}
	return nil
}

// echo checks the reasoning that came back.
func (c *openAIChecker) echo(m object, calls bool) error {
	reseller := strings.Contains(c.req.model, "/")
	switch {
	case wantsReasoning(c.req.model) && calls && !m.has("reasoning_content"):
		return bad("reasoning_content", "the reasoning_content in the thinking mode must be passed back")
	case !takesReasoning(c.req.model) && m["reasoning_content"] != nil:
		return bad("reasoning_content", "it is not accepted")
	case !reseller && m["reasoning"] != nil:
		return bad("reasoning", "it is not accepted")
	case !reseller && m["reasoning_details"] != nil:
		return bad("reasoning_details", "it is not accepted")
	case m.has("reasoning_details"):
		for i, raw := range list(m["reasoning_details"]) {
			d, err := members(raw)
			if err == nil && d.has("signature") {
				err = at("signature", unsigned(c.req.model, d.text("text"), d.text("signature")))
			}
			if err != nil {
				return at(elem("reasoning_details", i), err)
			}
		}
	}
	return nil
}

func (c *openAIChecker) toolCall(message, i int, raw json.RawMessage) error {
	t, err := members(raw, "id", "type", "function", "extra_content")
	if err != nil {
		return err
	}
	f, err := members(t["function"], "name", "arguments")
	switch {
	case err != nil:
		return at("function", err)
	case t.text("type") != "function":
		return bad("type", "%q is not function", t.text("type"))
	case !isObject(json.RawMessage(f.text("arguments"))):
		return bad("function.arguments", "not an object: %.80q", f.text("arguments"))
	case isMistral(c.req.model) && !nineRule.MatchString(t.text("id")):
		return coded(0, "3280", "id", "id %q of a call must be nine letters and digits", t.text("id"))
	}
	if err := c.signature(message > c.turn && i == 0, t, f.text("name")); err != nil {
		return err
	}
	return c.pairs.call(t.text("id"), f.text("name"))
}

// signature checks Google's signature of a call, which the first one of each step
// of the turn must have.
func (c *openAIChecker) signature(must bool, t object, name string) error {
	gemini := geminiVersion(c.req.model)
	var x struct {
		Google struct {
			Signature string `json:"thought_signature"`
		}
	}
	switch {
	case gemini == 0 && t["extra_content"] != nil:
		return bad("extra_content", "it is not accepted")
	case gemini == 0:
		return nil
	case t.has("extra_content"):
		if err := json.Unmarshal(t["extra_content"], &x); err != nil {
			return at("extra_content", err)
		}
	}
	return at("extra_content.google.thought_signature", checkThought(c.req.model, must && gemini >= 300, "call:"+name, x.Google.Signature))
}

func (c *openAIChecker) result(m object) error {
	if err := only(m, "role", "content", "tool_call_id", "name"); err != nil {
		return err
	}
	if !isText(m["content"]) {
		return bad("content", "that of a result is a string")
	}
	c.req.last = m.text("content")
	err := c.pairs.result(m.text("tool_call_id"))
	var w *wrong
	if errors.As(err, &w) {
		return bad("tool_call_id", "%s", w.reason)
	}
	return err
}
