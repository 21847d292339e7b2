package app

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lorimer-dev/lorimer/cmd/internal/config"
	"github.com/lorimer-dev/lorimer/prompt"
)

// toolSection is what the names of sections begin with that come with a tool.
const toolSection = "tool:"

// A hook is a declared change of assembled prompts (R-CMD-10).
type hook struct {
	config.Hook
	index int
	at    string // FILE:LINE
}

// hooks returns the declared hooks in the order of the file, each as an extra of
// its own: a hook of a session and one of all keep their order.
func hooks(c *config.Config) []prompt.Extra {
	var all []prompt.Extra
	for i, h := range c.Hooks {
		all = append(all, prompt.Extra{Scope: h.Scope, Hooks: []prompt.Hook{hook{h, i, c.At("hook." + strconv.Itoa(i))}.run}})
	}
	return all
}

// run is the hook as the registry calls it.
func (h hook) run(c prompt.Context, a prompt.Assembly, next func(prompt.Assembly) (prompt.Assembly, error)) (prompt.Assembly, error) {
	var err error
	switch {
	case h.Tool != "" || h.Target == "tools":
		err = h.pick(c, &a)
	case h.Action == "drop":
		err = h.drop(&a)
	case h.Action == "replace":
		err = h.replace(&a)
	case h.Action == "append":
		h.append(&a)
	case h.Action == "reorder":
		err = h.reorder(&a)
	}
	if err != nil {
		return prompt.Assembly{}, err
	}
	return next(a)
}

// drop takes a section out.
func (h hook) drop(a *prompt.Assembly) error {
	i, err := h.find(a)
	if i >= 0 {
		a.Sections = slices.Delete(a.Sections, i, i+1)
	}
	return err
}

// replace gives a section another text. One that is empty here stays so: there is
// no reason for what it speaks of.
func (h hook) replace(a *prompt.Assembly) error {
	i, err := h.find(a)
	if i >= 0 && present(a.Sections[i]) {
		h.put(&a.Sections[i])
	}
	return err
}

// append adds a paragraph to a section, or a section at the end of the prompt if
// nobody has one of that name.
func (h hook) append(a *prompt.Assembly) {
	i := slices.IndexFunc(a.Sections, func(e prompt.Entry) bool { return e.Name == h.Section })
	switch {
	case i >= 0 && present(a.Sections[i]):
		h.extend(a, &a.Sections[i])
	case i < 0 && !strings.HasPrefix(h.Section, toolSection):
		e := prompt.Entry{Name: h.Section}
		h.put(&e)
		if n := len(a.Sections); n > 0 {
			e.Order = a.Sections[n-1].Order
		}
		a.Sections = append(a.Sections, e)
	}
}

// extend is append for a section that is there. Where braces mean something in
// one of the two texts alone, the other becomes a value.
func (h hook) extend(a *prompt.Assembly, e *prompt.Entry) {
	if strings.TrimSpace(e.Text) == "" {
		h.put(e)
		return
	}
	before, after := e.Text, h.Text
	if e.Literal != h.Literal {
		before, after = h.template(a, before, e.Literal), h.template(a, after, h.Literal)
	}
	if e.Literal {
		e.Sources = nil // their braces mean nothing, and their text is a value from now on
	}
	e.Text, e.Sources = before+"\n\n"+after, append(slices.Clip(e.Sources), prompt.Source{Text: after, At: h.at})
	e.User = e.User || e.Literal || h.Literal
	e.Literal = e.Literal && h.Literal
}

// put makes the hook's text that of e.
func (h hook) put(e *prompt.Entry) {
	e.Text, e.Literal, e.User = h.Text, h.Literal, false
	e.Sources = []prompt.Source{{Text: h.Text, At: h.at}}
}

// template returns text as a template: a literal one as a variable that holds it.
func (h hook) template(a *prompt.Assembly, text string, literal bool) string {
	if !literal {
		return text
	}
	name := "hook_" + strconv.Itoa(h.index)
	for _, taken := a.Variables[name]; taken; _, taken = a.Variables[name] {
		name += "_"
	}
	a.Variables[name] = prompt.Value{Text: text, Set: true, User: true}
	return "{{" + name + "}}"
}

// reorder has the listed sections come first, in the order of the list, and the
// others behind them as they were. The line that says who the model is stays in
// front of all unless it is listed.
func (h hook) reorder(a *prompt.Assembly) error {
	for _, name := range h.Order {
		if _, err := h.locate(a, name); err != nil {
			return err
		}
	}
	order := h.Order
	if !slices.Contains(order, prompt.IdentityName) {
		order = slices.Concat([]string{prompt.IdentityName}, order)
	}
	slices.SortStableFunc(a.Sections, func(x, y prompt.Entry) int {
		return cmp.Compare(rank(order, x.Name), rank(order, y.Name))
	})
	return nil
}

// pick drops a tool, or reorders the tools as reorder does the sections.
func (h hook) pick(c prompt.Context, a *prompt.Assembly) error {
	known := slices.Clone(c.Known)
	for _, t := range slices.Concat(c.Tools, a.Tools) {
		known = append(known, t.Name)
	}
	slices.Sort(known)
	known = slices.Compact(known)
	for _, name := range slices.Concat(h.Order, []string{h.Tool}) {
		if name != "" && len(known) > 0 && !slices.Contains(known, name) {
			return h.unknown("tool", name, known)
		}
	}
	if h.Tool != "" {
		a.Tools = slices.DeleteFunc(a.Tools, func(t prompt.ToolSchema) bool { return t.Name == h.Tool })
		// Its guidance goes with it (R-TOOLS-04).
		a.Sections = slices.DeleteFunc(a.Sections, func(e prompt.Entry) bool { return e.Name == toolSection+h.Tool })
		return nil
	}
	slices.SortStableFunc(a.Tools, func(x, y prompt.ToolSchema) int {
		return cmp.Compare(rank(h.Order, x.Name), rank(h.Order, y.Name))
	})
	return nil
}

// find returns the index of the hook's section, -1 for one that is known and not
// part of this prompt.
func (h hook) find(a *prompt.Assembly) (int, error) { return h.locate(a, h.Section) }

func (h hook) locate(a *prompt.Assembly, name string) (int, error) {
	i := slices.IndexFunc(a.Sections, func(e prompt.Entry) bool { return e.Name == name })
	if i >= 0 || strings.HasPrefix(name, toolSection) {
		return i, nil
	}
	var known []string
	for _, e := range a.Sections {
		known = append(known, e.Name)
	}
	return -1, h.unknown("section", name, known)
}

// unknown tells of a name that a hook has and nothing else.
func (h hook) unknown(what, name string, known []string) error {
	return &prompt.Error{Fault: prompt.Unknown, Key: "hook", At: h.at, Detail: fmt.Sprintf(
		"nothing to %s: there is no %s %q; known: %s", h.Action, what, name, strings.Join(known, ", "))}
}

// present reports whether a section is part of this prompt. An empty one has no
// reason to be here, but for the persona, which is empty until somebody says
// something.
func present(e prompt.Entry) bool {
	return e.Name == prompt.PersonaName || strings.TrimSpace(e.Text) != ""
}

// rank is the place of name in order; what is not listed stands behind.
func rank(order []string, name string) int {
	if i := slices.Index(order, name); i >= 0 {
		return i
	}
	return len(order)
}
