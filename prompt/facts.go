package prompt

// Check reports the first mistake in f that can be seen without assembling a
// prompt: a name taken twice or reserved, an order that is no number, a variable
// nobody could refer to, a tool order that cannot work.
func (r *Registry) Check(f Facts) error {
	if err := CheckToolOrder(f.ToolOrder); err != nil {
		return err
	}
	for _, x := range f.Extras {
		global, scoped, seq := r.snapshot(x.Scope)
		if err := f.extend(&global, &scoped, x.Scope, &seq); err != nil {
			return err
		}
	}
	return nil
}

// extend adds the extras of f that concern scope to copies of the layers, as if
// they had been registered last. seq is the number of the last registration.
func (f Facts) extend(global, scoped *layer, scope string, seq *int) error {
	for _, x := range f.Extras {
		to := global
		switch x.Scope {
		case "":
		case scope:
			to = scoped
		default:
			continue
		}
		if err := x.extend(to, seq); err != nil {
			return err
		}
	}
	return nil
}

func (x Extra) extend(to *layer, seq *int) error {
	for _, s := range x.Sections {
		if s.Name == IdentityName {
			return &Error{Fault: Duplicate, Section: s.Name, Detail: "the name is reserved; choose another"} // R-PROMPT-61
		}
		if err := s.check(); err != nil {
			return err
		}
		if err := push(&to.sections, seq, s, s.clash); err != nil {
			return err
		}
	}
	for _, v := range x.Variables {
		if err := v.check(); err != nil {
			return err
		}
		if err := push(&to.variables, seq, v, v.clash); err != nil {
			return err
		}
	}
	for _, h := range x.Hooks {
		if err := push(&to.hooks, seq, keepsIdentity(h), nil); err != nil {
			return err
		}
	}
	return nil
}
