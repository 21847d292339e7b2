package skills

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/lorimer-dev/lorimer/prompt"
)

const (
	maxFile   = 64 << 10 // bytes of a file beside a skill that the model is given
	maxNamed  = 20       // files that an error names
	maxWalked = 300      // entries looked at to name them
)

// File returns the text of a file that stands below the folder of a skill, by its
// path from there with slashes: revealed, of a skill of the workspace in an element
// that says so, and above 64 KiB cut with a mark. Reading a skill asks nobody, so a
// file that [Library.Secret] holds of is not given. The error is for the model: it
// names no path of this machine, and where the file is missing it says which ones
// there are.
func (l *Library) File(s Skill, name string) (string, error) {
	if s.Folder == "" {
		return "", fmt.Errorf("the skill %q is a single text and has no files beside it; work with its instruction alone", s.Name)
	}
	name = path.Clean(strings.TrimPrefix(strings.TrimSpace(name), "./"))
	if !filepath.IsLocal(filepath.FromSlash(name)) || strings.ContainsRune(name, 0) {
		return "", fmt.Errorf("%.80q is no file of the skill %q; give a path without .. from its folder", name, s.Name)
	}
	if l.secret(s, name) {
		return "", fmt.Errorf("the file %.80q of the skill %q by its name holds passwords or keys and is not shown; do without it, or tell the user what you need of it", name, s.Name)
	}
	dir, err := openFolder(s)
	if err != nil {
		return "", fmt.Errorf("the folder of the skill %q cannot be opened any more; work with its instruction alone", s.Name)
	}
	text, err := readBeside(dir, s.Name, filepath.FromSlash(name))
	if err := errors.Join(err, dir.Close()); err != nil {
		return "", err
	}
	if s.Scope == Project {
		return prompt.Wrap("skill-file", text, "skill", s.Name, "file", name, "from", string(s.Scope)), nil
	}
	return prompt.Reveal(text), nil
}

// secret reports whether a file in the folder of s, or what it is a link to, holds
// passwords or keys. A folder of skills in a workspace can be a link to any other
// one there.
func (l *Library) secret(s Skill, name string) bool {
	if l.Secret == nil {
		return false
	}
	real, err := filepath.EvalSymlinks(filepath.Join(s.Folder, filepath.FromSlash(name)))
	return l.Secret(name) || err == nil && l.Secret(real)
}

// openFolder opens the folder of s. In a workspace nothing that changes meanwhile
// can lead the way out of it.
func openFolder(s Skill) (*os.Root, error) {
	if s.Within == "" {
		return os.OpenRoot(s.Folder)
	}
	rel, err := filepath.Rel(s.Within, s.Folder)
	if err != nil {
		return nil, err
	}
	within, err := os.OpenRoot(s.Within)
	if err != nil {
		return nil, err
	}
	dir, err := within.OpenRoot(rel)
	return dir, errors.Join(err, within.Close())
}

// readBeside returns the text of a file in the folder of a skill. Its error is for
// the model.
func readBeside(dir *os.Root, skill, name string) (string, error) {
	f, err := dir.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("the skill %q has no file %.80q; %s", skill, name, files(dir))
	}
	if err != nil {
		return "", fmt.Errorf("the file %.80q of the skill %q cannot be opened from its folder; %s", name, skill, files(dir))
	}
	info, err := f.Stat()
	var data []byte
	if err == nil && info.Mode().IsRegular() {
		data, err = io.ReadAll(io.LimitReader(f, maxFile+1))
	}
	switch err := errors.Join(err, f.Close()); {
	case err != nil:
		return "", fmt.Errorf("the file %.80q of the skill %q cannot be read; %s", name, skill, files(dir))
	case info.IsDir():
		return "", fmt.Errorf("%.80q of the skill %q is a folder; %s", name, skill, files(dir))
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%.80q of the skill %q is no regular file; %s", name, skill, files(dir))
	}
	return plain(data, skill, name, info.Size())
}

// plain returns a file as text, cut at the limit. data is its beginning, with one
// byte more than the limit if it is longer.
func plain(data []byte, skill, name string, size int64) (string, error) {
	more := len(data) > maxFile
	if more {
		data = data[:maxFile]
		for range utf8.UTFMax - 1 {
			if last, n := utf8.DecodeLastRune(data); last != utf8.RuneError || n != 1 {
				break
			}
			data = data[:len(data)-1]
		}
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data) {
		return "", fmt.Errorf("the file %.80q of the skill %q is no text (%d bytes) and is not shown", name, skill, size)
	}
	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	if more {
		text = strings.TrimRight(text, "\n") + "\n\n" + sentence("cut")
	}
	return text, nil
}

// files says which files stand in the folder of a skill.
func files(dir *os.Root) string {
	var names []string
	walked, more := 0, false
	// An entry that cannot be read is left out: the sentence is a hint.
	_ = fs.WalkDir(dir.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if walked++; walked > maxWalked || len(names) == maxNamed {
			more = true
			return fs.SkipAll
		}
		switch {
		case err != nil && e != nil && e.IsDir(), err == nil && e.IsDir() && name != "." && strings.HasPrefix(e.Name(), "."):
			return fs.SkipDir
		case err == nil && e.Type().IsRegular():
			names = append(names, fmt.Sprintf("%.80q", name))
		}
		return nil
	})
	switch {
	case len(names) == 0:
		return "there are none"
	case more:
		names = append(names, "…")
	}
	return "the files are " + strings.Join(names, ", ")
}
