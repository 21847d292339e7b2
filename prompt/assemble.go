package prompt

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"
)

// An Assembly is what the contributors say for one context, in order. It shares
// no memory with the registry or with other assemblies.
type Assembly struct {
	Sections  []Entry          `json:"sections"`
	Tools     []ToolSchema     `json:"tools"`
	Variables map[string]Value `json:"variables"` // every registered one
	Values    Values           `json:"-"`         // of other packages; those of the context to begin with
}

// An Entry is a section of an assembly. Its text still holds its placeholders.
type Entry struct {
	Name    string  `json:"name"`
	Order   float64 `json:"order"`
	Text    string  `json:"text"`
	Literal bool    `json:"literal,omitempty"`
	User    bool    `json:"user,omitempty"`

	// Sources says of what Text was made that has a place, in the order of Text.
	// A hook that changes Text may leave it alone.
	Sources []Source `json:"-"`
}

// A Source is a text that somebody has written, with where.
type Source struct {
	Text string
	At   string // FILE:LINE
}

// Assemble asks the contributors of c's scope, and runs the hooks. The date has
// no value in it; [Registry.Parts] gives it one.
func (r *Registry) Assemble(c Context) (Assembly, error) { return r.assemble(c, time.Time{}) }

func (r *Registry) assemble(c Context, now time.Time) (Assembly, error) {
	if c.Agent != nil && c.Scope == "" {
		return Assembly{}, &Error{Fault: Invalid, Detail: "the context names an agent but no scope"}
	}
	global, scope, seq := r.snapshot(c.Scope)
	if err := c.Facts.extend(&global, &scope, c.Scope, &seq); err != nil {
		return Assembly{}, err
	}
	hooks := slices.Concat(global.hooks, scope.hooks)
	slices.SortStableFunc(hooks, bySeq)

	a := Assembly{Values: c.Values}
	var err error
	if a.Tools, err = r.collectTools(c, global.providers, scope.providers); err != nil {
		return Assembly{}, err
	}
	c.Tools = slices.Clone(a.Tools) // their schemas are those of this assembly alone
	sections := withGuidance(shadow(global.sections, scope.sections, Section.name), a.Tools, seq)
	if a.Sections, err = resolveSections(c, sections); err != nil {
		return Assembly{}, err
	}
	if a.Variables, err = resolveVariables(c, shadow(global.variables, scope.variables, Variable.name)); err != nil {
		return Assembly{}, err
	}
	setDate(a.Variables, now)
	if a, err = runHooks(c, a, hooks); err != nil {
		return Assembly{}, fault(err, "running the hooks")
	}
	if err := a.check(); err != nil {
		return Assembly{}, err
	}
	return a, nil
}

// snapshot returns the contributions as they are now, so that what a provider
// registers while it is asked counts from the next assembly on (R-PROMPT-10).
func (r *Registry) snapshot(scope string) (global, scoped layer, seq int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.scopes[scope]; s != nil {
		scoped = s.layer
	}
	return r.global, scoped, r.seq
}

// collectTools returns the tools of the context and of the providers in the
// order that the model sees.
func (r *Registry) collectTools(c Context, layers ...[]*entry[ToolProvider]) ([]ToolSchema, error) {
	visible := cloneTools(c.Tools)
	known := slices.Clone(c.Known)
	for _, e := range slices.Concat(layers...) {
		set, err := e.it(c)
		if err != nil {
			return nil, &Error{Fault: Provider, Detail: "asking for tools", Err: err}
		}
		visible = append(visible, cloneTools(set.Tools)...)
		known = append(known, set.Known...)
	}
	for _, t := range visible {
		known = append(known, t.Name)
	}
	order := r.order
	if c.Facts.ToolOrder != nil {
		order = c.Facts.ToolOrder
	}
	sorted, err := sortTools(visible, known, c.Prefixes, order)
	return sorted, c.Facts.locate(err)
}

func cloneTools(tools []ToolSchema) []ToolSchema {
	out := make([]ToolSchema, len(tools))
	for i, t := range tools {
		out[i] = t.clone()
	}
	return out
}

// shadow returns the global entries, each replaced by the scoped one of its
// name and in its place, and behind them the other scoped ones.
func shadow[T any](global, scoped []*entry[T], name func(T) string) []*entry[T] {
	if len(scoped) == 0 {
		return global
	}
	at := make(map[string]int, len(global))
	out := slices.Clone(global)
	for i, e := range out {
		at[name(e.it)] = i
	}
	for _, e := range scoped {
		if i, ok := at[name(e.it)]; ok {
			out[i] = &entry[T]{out[i].seq, e.it}
			continue
		}
		out = append(out, e)
	}
	return out
}

// withGuidance adds the guidance of tools as sections, unless a contributor has
// a section of that name already.
func withGuidance(sections []*entry[Section], tools []ToolSchema, seq int) []*entry[Section] {
	out := slices.Clone(sections)
	for _, t := range tools {
		name := "tool:" + t.Name
		taken := slices.ContainsFunc(out, func(e *entry[Section]) bool { return e.it.Name == name })
		if t.Guidance == "" || taken {
			continue
		}
		seq++
		out = append(out, &entry[Section]{seq, Section{Name: name, Order: guidanceOrder, Text: t.Guidance}})
	}
	return out
}

func resolveSections(c Context, sections []*entry[Section]) ([]Entry, error) {
	sorted := slices.Clone(sections)
	slices.SortStableFunc(sorted, func(a, b *entry[Section]) int {
		return cmp.Or(cmp.Compare(a.it.Order, b.it.Order), bySeq(a, b))
	})
	out := make([]Entry, 0, len(sorted))
	for _, e := range sorted {
		s := e.it
		text := s.Text
		if s.Render != nil {
			var err error
			if text, err = s.Render(c); err != nil {
				return nil, place(s.Name, s.At, err)
			}
		}
		out = append(out, Entry{s.Name, s.Order, text, s.Literal, s.User, s.sourcesIn(c)})
	}
	return out, nil
}

func resolveVariables(c Context, variables []*entry[Variable]) (map[string]Value, error) {
	out := make(map[string]Value, len(variables))
	for _, e := range variables {
		v := e.it
		val := Value{Text: v.Text, Set: true, Volatile: v.Volatile, User: v.User}
		if v.Provide != nil {
			var err error
			if val.Text, val.Set, err = v.Provide(c); err != nil {
				return nil, &Error{Fault: Provider, Variable: v.Name, Detail: "asking for its value", Err: err}
			}
		}
		out[v.Name] = val
	}
	return out, nil
}

// render interpolates the sections and joins what is not empty with one blank
// line. It enforces what holds for the stable part: nothing in it varies from
// send to send, and its last section is not a user's.
func (a Assembly) render() (string, error) {
	texts := make([]string, 0, len(a.Sections))
	var last Entry
	for _, e := range a.Sections {
		text, user, err := e.render(a.Variables)
		if err != nil {
			return "", err
		}
		if blank(text) {
			continue
		}
		texts = append(texts, text)
		last, last.User = e, user
	}
	if last.User {
		return "", &Error{Fault: UserLast, Section: last.Name, At: last.at(),
			Detail: "holds user-controlled text and would end the prompt; put the text into an earlier section, or give it a lower order"}
	}
	return strings.Join(texts, "\n\n"), nil
}

// render returns the text of a section without blank lines around it, and whether
// it holds some of the user's.
func (e Entry) render(vars map[string]Value) (text string, user bool, err error) {
	text, user = e.Text, e.User || e.Literal
	if !e.Literal {
		text, err = interpolate(e.Text, func(name string) (string, error) {
			v, err := lookUp(name, vars)
			user = user || v.User && v.Text != ""
			return v.Text, err
		})
	}
	if err != nil {
		return "", false, place(e.Name, e.culprit(vars), err)
	}
	return strings.Trim(text, "\r\n"), user, nil
}

// culprit returns the place of the first text in e that cannot be filled in by
// itself, "" if that is none with a place.
func (e Entry) culprit(vars map[string]Value) string {
	for _, s := range e.Sources {
		_, err := interpolate(s.Text, func(name string) (string, error) {
			v, err := lookUp(name, vars)
			return v.Text, err
		})
		if err != nil && strings.Contains(e.Text, s.Text) {
			return s.At
		}
	}
	return ""
}

// at returns the place of the last text in e, "" for none.
func (e Entry) at() string {
	if n := len(e.Sources); n > 0 {
		return e.Sources[n-1].At
	}
	return ""
}

// place puts the name of a section on an error, and FILE:LINE of it unless that is
// "".
func place(section, at string, err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		placed := *e
		placed.Section = section
		placed.At = cmp.Or(e.At, at)
		return &placed
	}
	return &Error{Fault: Provider, Section: section, At: at, Detail: "asking for its text", Err: err}
}

// fault returns err as an [*Error], which says what was being done.
func fault(err error, doing string) error {
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	return &Error{Fault: Provider, Detail: doing, Err: err}
}
