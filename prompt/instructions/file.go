package instructions

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/lorimer-dev/lorimer/prompt"
)

// Why a file is not used, each with a way out.
var (
	errOutside  = errors.New("it leads out of the directory of the " + Name + " that it belongs to; put the text itself there")
	errDangling = errors.New("it is a link to a file that does not exist; correct it, or remove it")
	errLoop     = errors.New("its links lead in a circle; correct them")
	errSpecial  = errors.New("it is not a regular file; put a text file in its place")
	errSecret   = errors.New("by its name it holds passwords or keys; move what the model may read into another file")
	errBinary   = errors.New("it is not text, or text in UTF-16; save it as UTF-8")
)

// attempts is how often a file is read that somebody is writing to.
const attempts = 3

// A reader reads the files of one working directory, the nearest first.
type reader struct {
	limits Limits
	own    fs.FileInfo // of the working directory
	left   int         // bytes of all that may still be used
	buf    []byte      // what a file is read into
}

// read returns the text of the file in dir with its imports, "" if there is none.
func (r *reader) read(dir string) (string, []string) {
	name := filepath.Join(dir, Name)
	if _, err := os.Lstat(name); absent(err) {
		return "", nil
	} else if err != nil {
		return "", []string{unused(name, err)}
	}
	limit := min(r.limits.File, r.left)
	if limit == 0 {
		return "", []string{fmt.Sprintf("%s is not used: nearer files take all of the %d bytes; shorten them, or raise instructions.all_bytes", shown(name), r.limits.All)}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", []string{unused(name, err)}
	}
	defer root.Close() // nothing was written through it
	x := &expansion{folder: folder{root, dir, r}, limit: limit, done: make(map[string]string)}
	size, err := x.begin()
	if err != nil {
		return "", []string{unused(name, err)}
	}
	text, told := x.String(), x.told.list(name)
	used := len(text)
	if x.full {
		used = max(used, limit) // what a whole line did not fit into is no place for others
		told = append(told, r.cutLine(name, size, limit))
	}
	r.left = max(r.left-used, 0)
	if hidden := prompt.Hidden(text); hidden != "" {
		told = append(told, fmt.Sprintf("%s has characters that do not show: %s; the model sees them written out: remove what you did not put there", shown(name), hidden))
	}
	return text, told
}

func (r *reader) cutLine(name string, size int64, limit int) string {
	key := "instructions.file_bytes"
	if limit < r.limits.File {
		key = "instructions.all_bytes"
	}
	if size > int64(limit) {
		return fmt.Sprintf("%s is cut: of its %d bytes no more than %d are used; shorten it, or raise %s", shown(name), size, limit, key)
	}
	return fmt.Sprintf("%s is cut: with its imports it is longer than the %d bytes that are used; shorten them, or raise %s", shown(name), limit, key)
}

// A folder is the directory of an AGENTS.md, which nothing leads out of.
type folder struct {
	root   *os.Root
	dir    string // its real path
	reader *reader
}

// A loaded is the beginning of a file.
type loaded struct {
	text string
	size int64 // bytes of the whole file
	more bool  // text is not all of it
}

// locate returns the real path of the file that rel stands for, relative to the
// folder and free of links. Paths are separated as the system does.
func (f folder) locate(rel string) (string, error) {
	real, err := filepath.EvalSymlinks(filepath.Join(f.dir, rel))
	if err != nil {
		if _, ok := errors.AsType[syscall.Errno](err); !ok {
			err = errLoop // the one thing that the system has not said
		}
		return "", err
	}
	real, err = filepath.Rel(f.dir, real)
	if err != nil || !filepath.IsLocal(real) {
		return "", errOutside
	}
	return real, nil
}

// load reads at most limit bytes of the file at real. What is no regular file is
// not opened, and should it have become one since, opening does not wait for it.
func (f folder) load(real string, limit int) (loaded, error) {
	info, err := f.root.Stat(real)
	if err != nil {
		return loaded{}, err
	}
	if !info.Mode().IsRegular() {
		return loaded{}, errSpecial
	}
	file, err := f.root.OpenFile(real, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return loaded{}, err
	}
	defer file.Close() // nothing was written to it
	return f.reader.take(file, limit)
}

// take reads an open file. One that changes meanwhile is read again: somebody may
// be in the middle of writing it anew.
func (r *reader) take(file *os.File, limit int) (loaded, error) {
	if len(r.buf) <= limit {
		r.buf = make([]byte, limit+1)
	}
	var data []byte
	var info fs.FileInfo
	for range attempts {
		before, err := file.Stat()
		if err != nil {
			return loaded{}, err
		}
		if !before.Mode().IsRegular() {
			return loaded{}, errSpecial
		}
		if err := ours(before, r.own); err != nil {
			return loaded{}, err
		}
		n, err := file.ReadAt(r.buf[:limit+1], 0)
		if err != nil && !errors.Is(err, io.EOF) {
			return loaded{}, err
		}
		data = r.buf[:n]
		if info, err = file.Stat(); err != nil {
			return loaded{}, err
		}
		if info.Size() == before.Size() && info.ModTime().Equal(before.ModTime()) {
			break
		}
	}
	more := len(data) > limit
	text, err := decode(data[:min(len(data), limit)], more)
	return loaded{text, max(info.Size(), int64(len(data))), more}, err
}

// decode returns data as text with plain line feeds and without a byte order mark.
// With more set data may end in the middle of a character, which is dropped.
func decode(data []byte, more bool) (string, error) {
	if more {
		data = data[:len(data)-torn(data)]
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if bytes.IndexByte(data, 0) >= 0 {
		return "", errBinary
	}
	if !utf8.Valid(data) {
		return "", fmt.Errorf("line %d is not UTF-8; save it as UTF-8", 1+bytes.Count(data[:invalid(data)], []byte("\n")))
	}
	return strings.ReplaceAll(string(data), "\r\n", "\n"), nil
}

// invalid returns where the first byte of p is that is not UTF-8.
func invalid(p []byte) int {
	at := 0
	for at < len(p) {
		r, n := utf8.DecodeRune(p[at:])
		if r == utf8.RuneError && n <= 1 {
			break
		}
		at += n
	}
	return at
}
