package prompt

import (
	"fmt"
	"strings"
)

// addBuiltins registers what every registry begins with.
func (r *Registry) addBuiltins(persona string) error {
	sections := []Section{
		{Name: IdentityName, Order: identityOrder, Render: identity},
		{Name: PersonaName, Order: personaOrder, Render: func(c Context) (string, error) {
			if c.Facts.Persona != nil {
				return *c.Facts.Persona, nil
			}
			return persona, nil
		}, sources: func(f Facts) []Source {
			if f.Persona == nil {
				return nil
			}
			return []Source{{*f.Persona, f.PersonaAt}}
		}},
	}
	for _, s := range sections {
		if _, err := r.Section(s); err != nil {
			return err
		}
	}
	variables := []Variable{
		variable("model", func(c Context) string { return shown(c.Model) }),
		variable("cwd", func(c Context) string { return shownPath(c.Cwd) }),
		// Its value is the same time as that of the note, so the assembly sets it.
		{Name: dateVariable, Volatile: true, Provide: func(Context) (string, bool, error) { return "", false, nil }},
	}
	for _, v := range variables {
		if _, err := r.Variable(v); err != nil {
			return err
		}
	}
	return r.Note(dateKind())
}

// identity says who speaks, by which model, and how sources are cited.
func identity(c Context) (string, error) {
	said := []string{identityWords.plain()}
	if shown(c.Model) != "" {
		said = append(said, identityModelWords.plain())
	}
	switch c.Citations {
	case "", CiteRegistry:
		said = append(said, identityRegistryWords.plain())
	case CiteLinked:
		said = append(said, identityLinkedWords.plain())
	default:
		return "", &Error{Fault: Invalid, Detail: fmt.Sprintf("no citations %q; use %s or %s", c.Citations, CiteRegistry, CiteLinked)}
	}
	return strings.Join(said, " "), nil
}

// variable returns a variable that has a value where f does not return "".
func variable(name string, f func(Context) string) Variable {
	return Variable{Name: name, Provide: func(c Context) (string, bool, error) {
		s := f(c)
		return s, s != "", nil
	}}
}
