// Package skill has the tool with which a model reads a skill.
package skill

import "github.com/lorimer-dev/lorimer/tools"

// A Source is the enabled skills of a turn.
type Source interface {
	// Skill returns the instruction of a skill, and whether there is one.
	Skill(name string) (instruction string, ok bool)
	// File returns the text of a file that belongs to a skill. Its error is for
	// the model.
	File(name, file string) (string, error)
	// Names lists the skills, sorted.
	Names() []string
}

// New returns the tool skill (R-TOOLS-24).
func New(s Source) tools.Tool { return nil }
