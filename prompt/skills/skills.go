// Package skills finds skills in the folders where the user, the workspace and
// this program keep them.
package skills

import "github.com/lorimer-dev/lorimer/prompt"

// A Scope is where a skill comes from.
type Scope string

// The scopes, from the strongest: of two skills with one name the one of the
// earlier scope counts.
const (
	Wire    Scope = "client"    // sent by the editor for the session
	Project Scope = "workspace" // stands in the workspace
	User    Scope = "user"
	Builtin Scope = "built-in"
)

// A Skill is a skill with where it was found.
type Skill struct {
	prompt.Skill
	Scope   Scope
	Path    string // of its file; "" for one without
	Enabled bool
}

// A Problem is something wrong with a skill, in one line for people.
type Problem struct {
	Path  string
	Text  string
	Fatal bool // the skill is not loaded
}

func (p Problem) String() string { return p.Path + ": " + p.Text }

// Places is where to look.
type Places struct {
	Workspace string   // its directory; "" has none
	Home      string   // "" has none
	Folder    string   // the configured folder; "" has none
	Claude    bool     // look into .claude/skills too
	Disabled  []string // names; "*" is all
	Trusted   bool     // the workspace's own skills may replace the user's
	Wire      []prompt.Skill
}

// A Library finds skills. It reads again only what has changed. The zero value is
// ready, and safe for concurrent use.
type Library struct{}

// Find returns the skills of p, sorted by name, the disabled ones included, and
// what is wrong with others.
func (l *Library) Find(p Places) ([]Skill, []Problem) { return nil, nil }

// Watch calls changed, from one goroutine, soon after something in the folders of
// p has changed, until stop is called, which waits for it.
func (l *Library) Watch(p Places, changed func()) (stop func(), err error) {
	return func() {}, nil
}

// File returns the text of a file that stands beside a skill's own.
func (l *Library) File(s Skill, name string) (string, error) { return "", nil }
