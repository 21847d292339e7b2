package prompt

import (
	"errors"
	"slices"
)

// Check reports the first mistake in f that can be seen without assembling a
// prompt: a name taken twice or reserved, an order that is no number, a variable
// nobody could refer to, a tool order that cannot work.
func (r *Registry) Check(f Facts) error {
	if err := CheckToolOrder(f.ToolOrder); err != nil {
		return f.locate(err)
	}
	layers := make(map[string]*extension)
	for _, x := range f.Extras {
		if layers[x.Scope] == nil {
			global, scoped, seq := r.snapshot(x.Scope)
			if x.Scope == "" {
				scoped = global
			}
			layers[x.Scope] = &extension{layer: &scoped, seq: &seq}
		}
		if err := layers[x.Scope].add(x); err != nil {
			return err
		}
	}
	return nil
}

// locate puts the place of the tool order of f on an error that is about it.
func (f Facts) locate(err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Key != orderKey || f.ToolOrder == nil {
		return err
	}
	placed := *e
	placed.At = f.ToolOrderAt
	return &placed
}

// extend adds the extras of f that concern scope to copies of the layers, as if
// they had been registered last. seq is the number of the last registration.
func (f Facts) extend(global, scoped *layer, scope string, seq *int) error {
	all, own := &extension{layer: global, seq: seq}, &extension{layer: scoped, seq: seq}
	for _, x := range f.Extras {
		to := all
		switch x.Scope {
		case "":
		case scope:
			to = own
		default:
			continue
		}
		if err := to.add(x); err != nil {
			return err
		}
	}
	return nil
}

// An extension adds extras to a copy of a layer. It remembers the names there, so
// that one of thousands takes no longer than the first.
type extension struct {
	layer *layer
	seq   *int // number of the last registration

	sections, variables map[string]bool // names that are taken; nil before the first extra
}

func (e *extension) add(x Extra) error {
	if e.sections == nil {
		e.begin()
	}
	for _, s := range x.Sections {
		if s.Name == IdentityName {
			return &Error{Fault: Duplicate, Section: s.Name, At: s.At, Detail: "the name is reserved; choose another"} // R-PROMPT-61
		}
		if err := s.check(); err != nil {
			return err
		}
		if e.sections[s.Name] {
			return s.clash(s)
		}
		e.sections[s.Name] = true
		e.layer.sections = append(e.layer.sections, &entry[Section]{e.next(), s})
	}
	for _, v := range x.Variables {
		if err := v.check(); err != nil {
			return err
		}
		if e.variables[v.Name] {
			return v.clash(v)
		}
		e.variables[v.Name] = true
		e.layer.variables = append(e.layer.variables, &entry[Variable]{e.next(), v})
	}
	for _, h := range x.Hooks {
		e.layer.hooks = append(e.layer.hooks, &entry[Hook]{e.next(), keepsIdentity(h)})
	}
	return nil
}

// begin notes the names of the layer, and has its lists grow in memory of their own.
func (e *extension) begin() {
	l := e.layer
	l.sections, l.variables, l.hooks = slices.Clip(l.sections), slices.Clip(l.variables), slices.Clip(l.hooks)
	e.sections = make(map[string]bool, len(l.sections))
	for _, s := range l.sections {
		e.sections[s.it.Name] = true
	}
	e.variables = make(map[string]bool, len(l.variables))
	for _, v := range l.variables {
		e.variables[v.it.Name] = true
	}
}

// next returns the number of another registration.
func (e *extension) next() int {
	*e.seq++
	return *e.seq
}
