package prompt

import "strings"

// A Hook changes an assembly. It receives the tools in their final order and
// what it adds is not sorted again. next runs the hooks behind it; a hook that
// does not call it stops the chain. What the first hook returns is final
// (R-PROMPT-18), but for what makes no prompt: a section without a name, two of
// one name, or an order that is no number.
type Hook func(c Context, a Assembly, next func(Assembly) (Assembly, error)) (Assembly, error)

func runHooks(c Context, a Assembly, hooks []*entry[Hook]) (Assembly, error) {
	if len(hooks) == 0 {
		return a, nil
	}
	return hooks[0].it(c, a, func(a Assembly) (Assembly, error) { return runHooks(c, a, hooks[1:]) })
}

// check reports sections that no registration would have let in.
func (a Assembly) check() error {
	seen := make(map[string]bool, len(a.Sections))
	for _, e := range a.Sections {
		if err := (Section{Name: e.Name, Order: e.Order, At: e.at()}).check(); err != nil {
			return err
		}
		if seen[e.Name] {
			return &Error{Fault: Duplicate, Section: e.Name, At: e.at(), Detail: "a hook adds it a second time; choose another name"}
		}
		seen[e.Name] = true
	}
	return nil
}

// keepsIdentity returns h such that it fails when it takes the identity away or
// does more to it than to add something. What is declared may not do that, and
// code may (R-PROMPT-61).
func keepsIdentity(h Hook) Hook {
	return func(c Context, a Assembly, next func(Assembly) (Assembly, error)) (Assembly, error) {
		want, had := a.identity()
		check := func(a Assembly) error {
			if got, has := a.identity(); has != had || !strings.HasPrefix(got.Text, want.Text) || got.Literal != want.Literal {
				return &Error{Fault: Invalid, Section: IdentityName,
					Detail: "a declared hook takes it away or changes it; append to it, or name another section"}
			}
			return nil
		}
		out, err := h(c, a, func(a Assembly) (Assembly, error) {
			if err := check(a); err != nil {
				return Assembly{}, err
			}
			a, err := next(a)
			want, had = a.identity() // a hook of code behind this one may have changed it
			return a, err
		})
		if err != nil {
			return Assembly{}, err
		}
		return out, check(out)
	}
}

func (a Assembly) identity() (Entry, bool) {
	for _, e := range a.Sections {
		if e.Name == IdentityName {
			return e, true
		}
	}
	return Entry{}, false
}
