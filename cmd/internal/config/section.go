package config

import (
	"errors"
	"fmt"
	"math"
	"strconv"
)

// A Section is an extra section of the prompt (R-CMD-10).
type Section struct {
	Name    string  `toml:"name"`
	Order   float64 `toml:"order"`
	Text    *string `toml:"text"`    // never nil once it is loaded; an empty one says nothing
	Literal bool    `toml:"literal"` // braces in Text mean nothing
	Scope   string  `toml:"scope"`   // a session id; "" is all
}

// A Variable is an extra variable of the prompt with a fixed value.
type Variable struct {
	Name  string `toml:"name"`
	Value string `toml:"value"`
	Scope string `toml:"scope"`
}

// checkSections refuses what no prompt could hold, where the line is known
// (R-PROMPT-04, R-PROMPT-05). Names that others have are seen later.
func (c *Config) checkSections() error {
	taken := used{}
	for i, s := range c.Sections {
		key := "section." + strconv.Itoa(i)
		if math.IsNaN(s.Order) || math.IsInf(s.Order, 0) {
			return fmt.Errorf("%s: section %q: order: must be a finite number", c.near(key+".order"), s.Name)
		}
		if err := taken.add(s.Scope, s.Name); err != nil {
			return fmt.Errorf("%s: section: %w", c.near(key+".name"), err)
		}
	}
	for i, s := range c.Sections {
		if s.Text == nil {
			return fmt.Errorf("%s: section %q: a text is needed; write text = \"\" for a section that says nothing",
				c.near("section."+strconv.Itoa(i)), s.Name)
		}
	}
	return nil
}

// checkVariables is checkSections for variables.
func (c *Config) checkVariables() error {
	taken := used{}
	for i, v := range c.Variables {
		if err := taken.add(v.Scope, v.Name); err != nil {
			return fmt.Errorf("%s: variable: %w", c.near("variable."+strconv.Itoa(i)+".name"), err)
		}
	}
	return nil
}

// used are the names that were used, with their scopes.
type used map[[2]string]bool

// add refuses a name that is none, or was used in the scope before.
func (n used) add(scope, name string) error {
	if name == "" {
		return errors.New("a name is needed")
	}
	id := [2]string{scope, name}
	if n[id] {
		return fmt.Errorf("the name %q is taken; choose another", name)
	}
	n[id] = true
	return nil
}
