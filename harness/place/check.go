package place

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lorimer-dev/lorimer/tools"
)

// Limits of what is kept.
const (
	MaxID           = 64       // bytes of an id
	MaxName         = 200      // characters of a name, a title or a collection, each on one line
	MaxDescription  = 1000     // characters
	MaxInstructions = 64 << 10 // bytes
)

// An InvalidError tells what is wrong with something that is to be kept, in one
// line with a way out.
type InvalidError struct{ Text string }

func (e *InvalidError) Error() string { return e.Text }

// UserText is the error in words for the user.
func (e *InvalidError) UserText() string { return e.Text }

func invalid(format string, args ...any) error {
	return &InvalidError{fmt.Sprintf(format, args...)}
}

// CheckID reports whether id may name a project or a workspace, as an
// [*InvalidError].
func CheckID(id string) error {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789-"
	if id == "" || len(id) > MaxID || strings.Trim(id, letters) != "" || id[0] == '-' {
		return invalid("%.80q is no id; use up to %d of the letters a to z, digits and hyphens, the first no hyphen", id, MaxID)
	}
	return nil
}

// Check reports whether p may be kept, as an [*InvalidError].
func (p Project) Check() error {
	if err := cmp.Or(CheckID(p.ID), checkLine("the name of a project", p.Name), p.checkDirs()); err != nil {
		return err
	}
	if n := len(p.Instructions); n > MaxInstructions {
		return invalid("the instructions of project %s have %d bytes; shorten them to %d", p.ID, n, MaxInstructions)
	}
	if !isText(p.Instructions) {
		return invalid("the instructions of project %s are no text; write them in UTF-8, without the character 0", p.ID)
	}
	return nil
}

func (p Project) checkDirs() error {
	for i, dir := range p.Dirs {
		switch {
		case !filepath.IsAbs(dir):
			return invalid("directory %q of project %s is relative; give it from the root", dir, p.ID)
		case filepath.Clean(dir) != dir || strings.ContainsRune(dir, 0):
			return invalid("directory %q of project %s is not written plainly; write %q", dir, p.ID, filepath.Clean(strings.ReplaceAll(dir, "\x00", "")))
		case slices.Contains(p.Dirs[:i], dir):
			return invalid("directory %s stands twice in project %s; leave one out", dir, p.ID)
		}
	}
	return nil
}

// DirTaken is the error for a directory that another project has already.
func DirTaken(dir, project string) error {
	return invalid("directory %s is of project %s already; \"lorimer project edit %s --remove-dir DIR\" takes it out of that one", dir, project, project)
}

// SameKey is the error for a content whose key another one has, which does not
// happen by chance.
func SameKey(key string) error {
	return invalid("another content has the key %s; it cannot be kept beside that one", key)
}

// Line returns the name of a document as it is kept: one line of at most [MaxName]
// characters, with those shown that would be invisible.
func Line(s string) string { return tools.Line(s, MaxName) }

// Check reports whether w may be kept, as an [*InvalidError].
func (w Workspace) Check() error {
	return cmp.Or(CheckID(w.ID), WorkspaceEdit{Title: &w.Title, Description: &w.Description}.Check())
}

// Check reports whether a workspace may be changed by e, as an [*InvalidError].
func (e WorkspaceEdit) Check() error {
	if e.Title != nil {
		if err := checkLine("the title of a workspace", *e.Title); err != nil {
			return err
		}
	}
	if e.Description == nil {
		return nil
	}
	if n := utf8.RuneCountInString(*e.Description); n > MaxDescription {
		return invalid("the description of a workspace has %d characters; shorten it to %d", n, MaxDescription)
	}
	if !isText(*e.Description) {
		return invalid("the description of a workspace is no text; write it in UTF-8, without the character 0")
	}
	return nil
}

// Check reports whether an item may be changed by e, as an [*InvalidError].
func (e ItemEdit) Check() error {
	if e.Collection == nil || *e.Collection == "" {
		return nil
	}
	return checkLine("the name of a collection", *e.Collection)
}

// checkLine fails unless s is one line that says something.
func checkLine(what, s string) error {
	if n := utf8.RuneCountInString(s); n > MaxName {
		return invalid("%s has %d characters; shorten it to %d", what, n, MaxName)
	}
	if strings.TrimSpace(s) == "" {
		return invalid("%s is empty; give one", what)
	}
	if !utf8.ValidString(s) || strings.ContainsFunc(s, breaks) {
		return invalid("%s %q is not one line of text; leave line breaks and control characters out", what, s)
	}
	return nil
}

// breaks reports whether c ends a line, or steers a terminal.
func breaks(c rune) bool { return unicode.IsControl(c) || c == '\u2028' || c == '\u2029' }

// isText reports whether s is what every database takes.
func isText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }
