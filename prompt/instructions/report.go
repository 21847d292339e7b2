package instructions

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/lorimer-dev/lorimer/prompt"
)

// maxLines is how many lines are told of one file; the rest is counted.
const maxLines = 20

// A report is what is told of the imports of one AGENTS.md.
type report struct {
	lines []string
	more  int
}

// takes reports whether there is room for another line, and counts it as too many if
// there is none.
func (p *report) takes() bool {
	if len(p.lines) < maxLines {
		return true
	}
	p.more++
	return false
}

func (p *report) add(line string) { p.lines = append(p.lines, line) }

// list returns the lines, the last of which counts those that are too many.
func (p *report) list(name string) []string {
	if p.more == 0 {
		return p.lines
	}
	return append(p.lines, fmt.Sprintf("%s: %d more of its imports are not used; correct the others first", shown(name), p.more))
}

// unused says why the file called name is not used.
func unused(name string, err error) string {
	return fmt.Sprintf("%s is not used: %s", shown(name), reason(err))
}

// reason returns what err says without the path, which stands in the line, and
// with a way out.
func reason(err error) string {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return "permission denied; give yourself permission to read it"
	case absent(err):
		return "there is no such file or directory; correct the path"
	}
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err.Error() + "; correct it, or remove it"
	}
	return err.Error()
}

// shown returns a path on one line, with its hidden characters visible.
func shown(path string) string {
	return prompt.Reveal(strings.NewReplacer("\n", " ", "\r", " ").Replace(strings.ToValidUTF8(path, "�")))
}
