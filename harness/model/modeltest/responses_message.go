package modeltest

import (
	"slices"
	"strings"
)

// message checks one of the user, the developer or the model.
func (c *responsesChecker) message(i int, m object) error {
	if err := c.pairs.settled(); err != nil {
		return err
	}
	if err := only(m, "type", "id", "role", "content", "status", "phase"); err != nil {
		return err
	}
	role, err := m.word("role", "user", "assistant", "system", "developer")
	if err != nil {
		return err
	}
	if role == "assistant" {
		return c.assistant(m)
	}
	if m["phase"] != nil {
		return bad("phase", "it belongs to messages of the assistant")
	}
	said, err := c.content(m, "content", "input_text", "input_image")
	switch {
	case err != nil:
		return err
	case role != "user" && i > 0:
		return bad("role", "a %s message that is not the first", role)
	case role != "user":
		return nil
	}
	c.req.last = said
	if c.first == "" {
		c.first = said
	}
	return nil
}

// assistant checks a message of the model, whose phase must be the one in which
// it was said.
func (c *responsesChecker) assistant(m object) error {
	if err := checkID(m, "msg"); err != nil {
		return err
	}
	phase, err := m.word("phase", "commentary", "final_answer")
	if err != nil {
		return err
	}
	said, err := c.content(m, "content", "output_text", "refusal")
	if err != nil {
		return err
	}
	want := c.memory.phase(c.req.model, said)
	if it := c.memory.item(m.text("id")); it.phase != "" {
		want = it.phase
	}
	if want != "" && phase != want {
		return bad("phase", "%q where the message was given out as %q", phase, want)
	}
	return nil
}

// content is the text under k, a string or typed parts of these kinds.
func (c *responsesChecker) content(m object, k string, kinds ...string) (string, error) {
	if s := m.text(k); s != "" {
		return s, nil
	}
	parts := list(m[k])
	if len(parts) == 0 {
		return "", bad(k, "it is empty")
	}
	var out []string
	for i, raw := range parts {
		p, err := members(raw, "type", "text", "refusal", "annotations", "logprobs", "image_url", "detail", breakpoint)
		if err == nil {
			err = c.part(p, kinds)
		}
		if err != nil {
			return "", at(elem(k, i), err)
		}
		if s := p.text("text") + p.text("refusal"); s != "" {
			out = append(out, s)
		}
	}
	return strings.Join(out, "\n"), nil
}

func (c *responsesChecker) part(p object, kinds []string) error {
	kind := p.text("type")
	if !slices.Contains(kinds, kind) {
		return coded(0, "invalid_value", "type", "%q; supported are %s", kind, strings.Join(kinds, " and "))
	}
	switch kind {
	case "input_text", "output_text":
		if p.text("text") == "" {
			return bad("text", "the text is empty")
		}
		if kind == "output_text" && p[breakpoint] != nil {
			return bad(breakpoint, "it belongs to input")
		}
	case "input_image":
		if err := checkDataURL(p.text("image_url")); err != nil {
			return at("image_url", err)
		}
		if _, err := p.word("detail", "auto", "low", "high", "original"); err != nil {
			return err
		}
	}
	return c.family.checkBreakpoint(p)
}
