package instructions

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/lorimer-dev/lorimer/prompt"
)

// Name is what such a file is called.
const Name = "AGENTS.md"

// NestedBytes is how much is told of a file that [Nested] finds.
const NestedBytes = 8 << 10

// ErrSecret says of a file of instructions that it leads to one which the model must
// not be shown unasked. It is for the function given to [Nested] too.
var ErrSecret = errors.New("it is a link to a file that by its name holds passwords or keys; put the text itself there")

//go:embed cut.md
var cutMark string

// maxLimit bounds the limits themselves: no prompt has room for more.
const maxLimit = 4 << 20

// Limits bound what is read. Above 4 MiB they count as 4 MiB.
type Limits struct {
	File int // bytes of one file with its imports; 0 is 32 KiB
	All  int // bytes of all of them, the nearest first; 0 is 64 KiB

	// Secret reports whether a file by its name holds passwords or keys; such a
	// file is not imported, and no link to it is followed. nil holds of none.
	Secret func(path string) bool
}

// Read returns the files of dir and of the directories above it, from the
// outermost to the nearest, and one line for each thing that was left out or cut.
// The directories are those of the real path of dir. On Unix a file counts only if
// it belongs to the user, to root or to the owner of dir.
//
// A line of a file that is @ and a path, alone or as an item of a list, and neither
// in a code fence nor in a comment, is replaced by the file of that path, which
// starts at the file of the line and must be in the directory of the file that Read
// began with. Imports may import in turn, up to a depth of five. One that is
// already in the text, or that cannot be followed, stays as it is.
func Read(dir string, l Limits) ([]prompt.Instruction, []string) {
	l.File = min(cmp.Or(max(l.File, 0), 32<<10), maxLimit)
	l.All = min(cmp.Or(max(l.All, 0), 64<<10), maxLimit)
	real, err := realPath(dir)
	if err != nil {
		return nil, []string{fmt.Sprintf("no %s is looked for in %s: %s", Name, shown(dir), reason(err))}
	}
	var found []prompt.Instruction
	var told []string
	own, err := os.Stat(real)
	if err != nil {
		return nil, []string{fmt.Sprintf("no %s is looked for in %s: %s", Name, shown(dir), reason(err))}
	}
	r := reader{limits: l, own: own, left: l.All}
	for above := 0; ; above++ {
		text, lines := r.read(real)
		told = append(told, lines...)
		if strings.TrimSpace(text) != "" {
			found = append(found, prompt.Instruction{Path: strings.Repeat("../", above) + Name, Text: text})
		}
		parent := filepath.Dir(real)
		if parent == real {
			break
		}
		real = parent
	}
	slices.Reverse(found)
	return found, told
}

// realPath returns the absolute path of dir without links.
func realPath(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// A File is a file of instructions below the working directory.
type File struct {
	Path string // as Nested made it from its root
	Text string
}

// Nested returns the files of the directories below root down to that of path,
// from the outermost to the nearest, and one line for each that was left out or
// cut at [NestedBytes]. The files of root and above it are those of [Read]. A path
// that ends with a separator is a directory; one that is such a file itself does
// not bring itself.
//
// A file is read by read, which gets its path and need not return more than
// NestedBytes and one; where it returns [fs.ErrNotExist], as for a file that was
// told before, there is none. Imports stay as they are.
func Nested(root, path string, read func(name string) ([]byte, error)) ([]File, []string) {
	dir := filepath.Clean(path)
	if path == "" || !os.IsPathSeparator(path[len(path)-1]) {
		dir = filepath.Dir(path)
	}
	below, err := filepath.Rel(root, dir)
	if err != nil || below == "." || !filepath.IsLocal(below) {
		return nil, nil
	}
	var found []File
	var told []string
	at := root
	for _, part := range strings.Split(below, string(filepath.Separator)) {
		at = filepath.Join(at, part)
		name := filepath.Join(at, Name)
		if name == filepath.Clean(path) {
			continue
		}
		text, lines := nested(name, read)
		told = append(told, lines...)
		if strings.TrimSpace(text) != "" {
			found = append(found, File{name, text})
		}
	}
	return found, told
}

// nested returns the text of one file, "" if there is none.
func nested(name string, read func(string) ([]byte, error)) (string, []string) {
	data, err := read(name)
	if absent(err) {
		return "", nil
	}
	more := len(data) > NestedBytes
	var text string
	if err == nil {
		text, err = decode(data[:min(len(data), NestedBytes)], more)
	}
	if err != nil {
		return "", []string{unused(name, err)}
	}
	if !more {
		return text, nil
	}
	return cut(text, NestedBytes), []string{fmt.Sprintf("%s is cut: it is longer than %d bytes, which is all that is told of it; shorten it", shown(name), NestedBytes)}
}

// absent reports whether err says that there is no file.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// cut returns the beginning of text, which is longer than is given of it, with a
// mark at its end, in limit bytes as far as the mark allows. It ends with a whole
// line, since half of a rule may say the opposite, unless a line is very long.
func cut(text string, limit int) string {
	mark := strings.TrimSpace(strings.ReplaceAll(cutMark, "{limit}", strconv.Itoa(limit)))
	text = text[:min(len(text), max(limit-len(mark)-1, 0))]
	text = text[:len(text)-torn([]byte(text))]
	if end := strings.LastIndexByte(text, '\n') + 1; end > len(text)/2 {
		text = text[:end]
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + mark
}

// torn returns how many bytes at the end of p begin a character that is not whole.
func torn(p []byte) int {
	for n := 1; n <= min(len(p), utf8.UTFMax); n++ {
		if at := len(p) - n; utf8.RuneStart(p[at]) {
			if utf8.FullRune(p[at:]) {
				return 0
			}
			return n
		}
	}
	return 0
}
