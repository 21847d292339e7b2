package skills

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Strict reads a folder of skills, the folder of a single one, or a file, and
// returns the skills, by name, and everything that is wrong, each thing as a
// problem of its own, also what Find puts up with: a name unlike its folder's,
// front matter that is no YAML, a key without effect.
func Strict(path string) ([]Skill, []Problem) {
	path = filepath.Clean(path)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, []Problem{{path, "is not there; name a folder of skills, the folder of one, or its file", true}}
	case err != nil:
		return nil, []Problem{{path, reason(path, err), true}}
	case !info.IsDir() && filepath.Base(path) == fileName:
		return strictEntry(filepath.Dir(path))
	case !info.IsDir() && !markdown(path):
		return nil, []Problem{{path, "is no skill; the file of one is called " + fileName + " or NAME.md", true}}
	case !info.IsDir():
		return strictEntry(path)
	}
	if _, err := os.Lstat(filepath.Join(path, fileName)); err == nil {
		return strictEntry(path)
	}
	dir := list(Root{Scope: User, Path: path}, "")
	var problems []Problem
	if dir.wrong != nil {
		problems = append(problems, *dir.wrong)
	}
	found, more := strict(dir.found)
	return found, append(problems, more...)
}

// strictEntry reads one skill.
func strictEntry(path string) ([]Skill, []Problem) {
	abs, err := filepath.Abs(path) // "." has a name too
	if err != nil {
		return nil, []Problem{{path, reason(path, err), true}}
	}
	root := Root{Scope: User, Path: filepath.Dir(path)}
	f := folder{root: root, real: filepath.Dir(abs)}
	info, err := os.Stat(abs)
	if err != nil {
		return nil, []Problem{{path, reason(path, err), true}}
	}
	c, _ := f.look(fs.FileInfoToDirEntry(info))
	if c.path = path; c.dir != "" {
		c.path = filepath.Join(path, fileName)
	}
	return strict([]candidate{c})
}

// strict reads candidates of one folder.
func strict(found []candidate) ([]Skill, []Problem) {
	var problems []Problem
	names := map[string]*Skill{}
	lib := &Library{}
	look := lib.start()
	for _, c := range found {
		r := look.read(c, Root{Scope: User})
		for _, m := range r.remarks {
			problems = append(problems, Problem{c.path, m.text, m.fatal})
		}
		if !r.ok {
			continue
		}
		if first, taken := names[r.skill.Name]; taken {
			problems = append(problems, clash(r.skill, *first))
			continue
		}
		r.skill.Folder = c.dir
		names[r.skill.Name] = &r.skill
	}
	return sorted(names), problems
}
