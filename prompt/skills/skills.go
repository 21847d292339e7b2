// Package skills finds skills in the folders where the user, the workspace and
// this program keep them.
//
// A skill is a folder with a SKILL.md in it, or a single file NAME.md: front
// matter that says its name and when to use it, and below it the instruction. A
// [Library] looks at the folders anew at each [Library.Find] and reads again only
// what has changed. Nothing in one skill keeps another from being found: what is
// wrong with it is a [Problem], and where a reading makes sense in spite of it the
// skill is there.
//
// Skills of the workspace come from whoever wrote the workspace. Their instruction
// and their files say so where the model reads them, and they take the name of
// no skill of the user unless the user trusts the workspace.
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
//
// Its Instruction is ready for the model: hidden characters are revealed, what
// is above the limit is cut with a mark, a skill with a folder says where that is,
// and a skill of the workspace stands in an element that says whose it is. Its
// Description is one line.
type Skill struct {
	prompt.Skill
	Scope   Scope
	Path    string // of its file, as it was found; "" for one without
	Folder  string // of its other files, links resolved; "" for one without
	Within  string // the real directory that Folder must not leave; "" outside of a workspace
	Enabled bool
}

// A Problem is something wrong with a skill, in one line for people.
type Problem struct {
	Path  string // of the file or folder; "client" for a skill without
	Text  string // what is wrong, and a way out
	Fatal bool   // the skill is not loaded
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

// A Root is a folder of skills.
type Root struct {
	Scope Scope
	Path  string
}

// Roots returns the folders that are looked into, the strongest first, whether
// they exist or not.
func (p Places) Roots() []Root { return nil }

// A Library finds skills. It reads again only what has changed. The zero value is
// ready, and safe for concurrent use.
type Library struct{}

// Find returns the skills of p, sorted by name, the disabled ones included, and
// what is wrong with others.
func (l *Library) Find(p Places) ([]Skill, []Problem) { return nil, nil }

// Watch calls changed, from one goroutine, soon after something in the folders of
// p has changed, until stop is called, which waits for it. stop is never nil and
// may be called again, but not by changed. With an error nothing is watched.
func (l *Library) Watch(p Places, changed func()) (stop func(), err error) {
	return func() {}, nil
}

// File returns the text of a file that stands beside a skill's own, by its path
// with slashes from the folder of the skill. Its error is for the model: it names
// no path of this machine.
func (l *Library) File(s Skill, name string) (string, error) { return "", nil }

// Strict reads a folder of skills, a skill's own folder, or a single file, and
// returns what is there and everything that is wrong with it, also what Find
// puts up with.
func Strict(path string) ([]Skill, []Problem) { return nil, nil }

// Check reports what keeps a skill that comes from elsewhere, such as from a
// client, from being one.
func Check(s prompt.Skill) error { return nil }
