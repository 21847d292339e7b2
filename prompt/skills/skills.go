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

import (
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/lorimer-dev/lorimer/prompt"
)

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
// is above the limit is cut with a mark, and that of a skill of the workspace stands
// in an element behind a sentence that says whose it is. Its Description is one
// line, and so is its Where.
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

func (p Problem) String() string { return printable(p.Path) + ": " + p.Text }

// printable returns a path as one line: quoted if it holds what does not print.
func printable(path string) string {
	if strings.ContainsFunc(path, func(c rune) bool { return !unicode.IsPrint(c) }) {
		return strconv.Quote(path)
	}
	return path
}

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
	base  string // directory that the root belongs to: the workspace, the home
}

// A Library finds skills. It reads again only what has changed. The zero value is
// ready, and safe for concurrent use.
type Library struct {
	// Secret reports whether a file by its name holds passwords or keys;
	// [Library.File] gives no such file. nil holds of none. It is set before the
	// first use.
	Secret func(path string) bool

	mu    sync.Mutex // guards the fields below
	kept  map[place]*kept
	sent  map[prompt.Skill]*kept // of clients, by what they sent
	round uint64                 // of the last Find

	watching sync.Mutex // guards the fields below, also while the hub opens or closes
	hub      *hub       // nil while nobody watches
	users    int        // watches that have joined the hub
}
