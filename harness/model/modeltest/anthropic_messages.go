package modeltest

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

func (c *anthropicChecker) messages(m object) error {
	msgs := list(m["messages"])
	if len(msgs) == 0 {
		return bad("messages", "at least one message is required")
	}
	before := "assistant"
	var kinds []string // of the blocks of the last answer
	for i, raw := range msgs {
		where := elem("messages", i)
		m, err := members(raw, "role", "content")
		if err != nil {
			return at(where, err)
		}
		role := m.text("role")
		if role == before || role != "user" && role != "assistant" {
			return bad(where+".role", "roles must alternate between user and assistant, beginning with user; %q follows %q", role, before)
		}
		before = role
		k, err := c.content(role, m["content"])
		if err != nil {
			return at(where, err)
		}
		c.req.add("message", raw, list(m["content"]), "cache_control")
		if role == "assistant" {
			kinds = k
		} else if err := c.thoughtFirst(i == len(msgs)-1, kinds, k); err != nil {
			return at(elem("messages", i-1), err)
		}
	}
	if before != "user" {
		return bad("messages", "this model does not support assistant message prefill")
	}
	return at("messages", c.pairs.settled())
}

// thoughtFirst checks that a turn that goes on with a budget began with a thought.
func (c *anthropicChecker) thoughtFirst(last bool, answer, user []string) error {
	if !last || c.thinking != "enabled" || user[0] != "tool_result" || strings.HasSuffix(answer[0], "thinking") {
		return nil
	}
	return bad("content.0.type", "expected thinking or redacted_thinking, but found %s", answer[0])
}

// content checks the blocks of a message and returns their kinds.
func (c *anthropicChecker) content(role string, raw json.RawMessage) (kinds []string, err error) {
	if isText(raw) {
		raw = json.RawMessage(encode([]any{fields{"type": "text", "text": text(raw)}}))
	}
	blocks := list(raw)
	if len(blocks) == 0 {
		return nil, bad("content", "it is empty")
	}
	var said []string
	for i, raw := range blocks {
		m, err := members(raw)
		if err == nil {
			err = c.block(role, kinds, m)
		}
		if err != nil {
			return nil, at(elem("content", i), err)
		}
		kinds = append(kinds, m.text("type"))
		said = append(said, m.text("text"), plainContent(m["content"]))
	}
	if role == "assistant" {
		if strings.HasSuffix(kinds[len(kinds)-1], "thinking") {
			return nil, bad(elem("content", len(kinds)-1), "the final block in an assistant message cannot be thinking")
		}
		return kinds, nil
	}
	if err := c.pairs.settled(); err != nil {
		return nil, at("content", err)
	}
	c.req.last = strings.TrimSpace(strings.Join(said, "\n"))
	if c.req.session == "" {
		c.req.session = c.req.last
	}
	return kinds, nil
}

func (c *anthropicChecker) block(role string, before []string, m object) error {
	kind := m.text("type")
	user := role == "user"
	if kind == "tool_result" && slices.ContainsFunc(before, func(k string) bool { return k != kind }) {
		return bad("type", "results come first")
	}
	if kind != "tool_result" && user {
		if err := c.pairs.settled(); err != nil {
			return err
		}
	}
	known := map[string][]string{
		"text": {"type", "text", "cache_control", "citations"}, "image": {"type", "source", "cache_control"},
		"tool_result": {"type", "tool_use_id", "content", "is_error", "cache_control"},
		"tool_use":    {"type", "id", "name", "input", "cache_control"},
		"thinking":    {"type", "thinking", "signature"}, "redacted_thinking": {"type", "data"},
	}[kind]
	if known == nil || user != slices.Contains([]string{"image", "tool_result"}, kind) && kind != "text" {
		return bad("type", "block of type %q in a message of role %s", kind, role)
	}
	if strings.HasSuffix(kind, "thinking") && m["cache_control"] != nil {
		return bad("cache_control", "thinking blocks cannot bear cache_control")
	}
	if err := only(m, known...); err != nil {
		return err
	}
	if err := c.mark(m); err != nil {
		return err
	}
	return c.inner(kind, m)
}

// inner checks what a block holds.
func (c *anthropicChecker) inner(kind string, m object) error {
	switch kind {
	case "text":
		if strings.TrimSpace(m.text("text")) == "" {
			return bad("text", "text content blocks must contain non-whitespace text")
		}
	case "image":
		return at("source", checkSource(m["source"]))
	case "tool_result":
		return c.result(m)
	case "tool_use":
		if !isObject(m["input"]) {
			return bad("input", "it should be an object")
		}
		return c.pairs.call(m.text("id"), m.text("name"))
	case "thinking":
		if err := unsigned(c.req.model, m.text("thinking"), m.text("signature")); err != nil {
			return at("signature", err)
		}
	case "redacted_thinking":
		return at("data", unsigned(c.req.model, "redacted", m.text("data")))
	}
	return nil
}

func (c *anthropicChecker) result(m object) error {
	empty := m.text("content") == "" && len(list(m["content"])) == 0
	if string(m["is_error"]) == "true" && empty {
		return bad("content", "content cannot be empty if is_error is true")
	}
	for i, raw := range list(m["content"]) {
		b, err := members(raw, "type", "text", "source")
		switch {
		case err != nil:
		case b.text("type") == "text" && strings.TrimSpace(b.text("text")) == "":
			err = bad("text", "text of a result is empty")
		case b.text("type") == "image":
			err = at("source", checkSource(b["source"]))
		case b.text("type") != "text":
			err = bad("type", "%q in a result", b.text("type"))
		}
		if err != nil {
			return at(elem("content", i), err)
		}
	}
	return at("tool_use_id", c.pairs.result(m.text("tool_use_id")))
}

func checkSource(raw json.RawMessage) error {
	s, err := members(raw, "type", "media_type", "data", "url")
	switch {
	case err != nil:
		return err
	case s.text("type") == "base64":
		return checkPicture(s.text("media_type"), s.text("data"), pictureTypes()...)
	case s.text("type") == "url" && s.text("url") != "":
		return nil
	}
	return errors.New("image source is not accepted")
}

// plainContent is the text of the content of a result.
func plainContent(raw json.RawMessage) string {
	out := []string{text(raw)}
	for _, b := range list(raw) {
		var p struct{ Text string }
		if json.Unmarshal(b, &p) == nil {
			out = append(out, p.Text)
		}
	}
	return strings.Join(out, "\n")
}
