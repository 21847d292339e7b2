package config

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/lorimer-dev/lorimer/prompt"
)

// A Hook changes an assembled prompt, in the order of the file (R-CMD-10).
type Hook struct {
	Action  string   `toml:"action"`  // drop, replace, append or reorder
	Section string   `toml:"section"` // the section to drop, replace or append to
	Tool    string   `toml:"tool"`    // the tool to drop
	Text    string   `toml:"text"`    // for replace and append: a template
	Literal bool     `toml:"literal"` // braces in Text mean nothing
	Order   []string `toml:"order"`   // for reorder: the sections or tools that come first
	Target  string   `toml:"target"`  // for reorder: sections or tools; default sections
	Scope   string   `toml:"scope"`   // a session id; "" is all
}

func hookKey(i int) string { return "hook." + strconv.Itoa(i) }

// checkHooks refuses hooks that could do nothing or that say two things, and
// those that would leave the prompt without the line that says who the model is,
// which no configuration can do (R-PROMPT-61).
func (c *Config) checkHooks() error {
	for i, h := range c.Hooks {
		if key, err := h.check(); err != nil {
			return fmt.Errorf("%s: hook: %w", c.near(join(hookKey(i), key)), err)
		}
	}
	return nil
}

// check returns the first mistake and the key that it is about.
func (h Hook) check() (key string, err error) {
	if err := oneOf(h.Action, "drop", "replace", "append", "reorder"); err != nil {
		return "action", fmt.Errorf("action: %w", err)
	}
	if err := oneOf(h.Target, "", "sections", "tools"); err != nil {
		return "target", fmt.Errorf("target: %w", err)
	}
	for _, idle := range []struct {
		key       string
		set, used bool
	}{
		{"section", h.Section != "", h.Action != "reorder"},
		{"tool", h.Tool != "", h.Action == "drop"},
		{"text", h.Text != "", h.changes()},
		{"literal", h.Literal, h.changes()},
		{"order", len(h.Order) > 0, h.Action == "reorder"},
		{"target", h.Target != "", h.Action == "reorder"},
	} {
		if idle.set && !idle.used {
			return idle.key, fmt.Errorf("%s means nothing to %s; leave it out", idle.key, h.Action)
		}
	}
	switch {
	case h.Action == "drop" && (h.Section == "") == (h.Tool == ""):
		return "", errors.New("drop takes either a section or a tool out; name one of them")
	case h.changes() && h.Section == "":
		return "", fmt.Errorf("name the section to %s", h.Action)
	case h.changes() && h.Text == "":
		return "text", fmt.Errorf("%s needs a text; drop takes a section out", h.Action)
	case h.Section == prompt.IdentityName && h.Action != "append":
		return "section", fmt.Errorf("%s cannot be taken away or replaced; append to it, or say more in persona", prompt.IdentityName)
	case h.Action == "reorder":
		return "order", h.checkOrder()
	}
	return "", nil
}

// changes reports whether h puts a text into a section.
func (h Hook) changes() bool { return h.Action == "replace" || h.Action == "append" }

func (h Hook) checkOrder() error {
	if len(h.Order) == 0 {
		return errors.New("list in order what is to come first")
	}
	seen := make(map[string]bool)
	for _, name := range h.Order {
		if seen[name] {
			return fmt.Errorf("order: %q occurs twice", name)
		}
		seen[name] = true
	}
	return nil
}
