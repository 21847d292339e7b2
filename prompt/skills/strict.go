package skills

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Strict reads a folder of skills, the folder of a single one, or a file, and
// returns the skills, by name, and everything that is wrong, each thing as a
// problem of its own, also what Find puts up with: a name unlike its folder's,
// front matter that is no YAML, a key without effect. What stands in a workspace's own
// folder of skills and is a link out of that workspace is read and told, since no
// session there loads it. home, which may be empty, is no such workspace: links of the
// user's own are followed.
func Strict(path, home string) ([]Skill, []Problem) {
	path = filepath.Clean(path)
	within := workspaceOf(path, home)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, []Problem{{path, "is not there; name a folder of skills, the folder of one, or its file", true}}
	case err != nil:
		return nil, []Problem{{path, reason(path, err), true}}
	case !info.IsDir() && filepath.Base(path) == fileName:
		return strictEntry(filepath.Dir(path), within)
	case !info.IsDir() && !markdown(path):
		return nil, []Problem{{path, "is no skill; the file of one is called " + fileName + " or NAME.md", true}}
	case !info.IsDir():
		return strictEntry(path, within)
	}
	if _, err := os.Lstat(filepath.Join(path, fileName)); err == nil {
		return strictEntry(path, within)
	}
	dir := list(Root{Scope: User, Path: path}, "")
	var problems []Problem
	if dir.wrong != nil {
		problems = append(problems, *dir.wrong)
	}
	found, more := strict(dir.found)
	return found, slices.Concat(problems, more, leaving(path, within))
}

// workspaceOf returns the real directory in whose .agents/skills or .claude/skills
// path stands, unless that is home; "" is none.
func workspaceOf(path, home string) string {
	dir, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	for above := filepath.Dir(dir); dir != above; dir, above = above, filepath.Dir(above) {
		if name := filepath.Base(above); filepath.Base(dir) != "skills" || name != ".agents" && name != ".claude" {
			continue
		}
		real, err := filepath.EvalSymlinks(filepath.Dir(above))
		if own, herr := filepath.EvalSymlinks(home); err != nil || home != "" && herr == nil && own == real {
			return ""
		}
		return real
	}
	return ""
}

// leaving returns a problem for each skill of a folder that is a link out of within, or
// one for the folder.
func leaving(path, within string) []Problem {
	abs, err := filepath.Abs(path) // within is absolute too
	if within == "" || err != nil {
		return nil
	}
	dir := list(Root{Scope: User, Path: abs}, within)
	if dir.wrong != nil && dir.wrong.Text == errOutside.Error() {
		return []Problem{{path, dir.wrong.Text, false}}
	}
	var problems []Problem
	for _, c := range dir.found {
		if c.wrong == errOutside.Error() {
			problems = append(problems, Problem{join(path, c.path[len(join(abs, "")):]), c.wrong, false})
		}
	}
	return problems
}

// strictEntry reads one skill, and tells if it is a link out of within.
func strictEntry(path, within string) ([]Skill, []Problem) {
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
	found, problems := strict([]candidate{c})
	for _, p := range leaving(filepath.Dir(abs), within) {
		switch p.Path {
		case filepath.Dir(abs), abs:
			problems = append(problems, Problem{path, p.Text, false})
		case filepath.Join(abs, fileName):
			problems = append(problems, Problem{c.path, p.Text, false})
		}
	}
	return found, problems
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
