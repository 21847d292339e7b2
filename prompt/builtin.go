package prompt

// addBuiltins registers what every registry begins with.
func (r *Registry) addBuiltins(persona string) error {
	sections := []Section{
		{Name: IdentityName, Order: IdentityOrder, Render: identity},
		{Name: PersonaName, Order: PersonaOrder, Render: func(c Context) (string, error) {
			if c.Facts.Persona != nil {
				return *c.Facts.Persona, nil
			}
			return persona, nil
		}},
	}
	for _, s := range sections {
		if _, err := r.Section(s); err != nil {
			return err
		}
	}
	variables := []Variable{
		{Name: "model", Provide: func(c Context) (string, bool, error) { return c.Model, c.Model != "", nil }},
		{Name: "cwd", Provide: func(c Context) (string, bool, error) { return c.Cwd, c.Cwd != "", nil }},
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

// identity names the program and, where it is known, the model.
func identity(c Context) (string, error) {
	if c.Model == "" {
		return text("identity"), nil
	}
	return text("identity") + " " + text("identity-model"), nil
}
