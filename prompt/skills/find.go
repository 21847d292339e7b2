package skills

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Roots returns the folders that are looked into, the strongest first, whether
// they exist or not.
func (p Places) Roots() []Root {
	var out []Root
	below := func(s Scope, dir string) {
		if dir == "" {
			return
		}
		dir = filepath.Clean(dir)
		out = append(out, Root{s, filepath.Join(dir, ".agents", "skills"), dir})
		if p.Claude {
			out = append(out, Root{s, filepath.Join(dir, ".claude", "skills"), dir})
		}
	}
	below(Project, p.Workspace)
	if p.Folder != "" {
		out = append(out, Root{User, filepath.Clean(p.Folder), filepath.Dir(filepath.Clean(p.Folder))})
	}
	below(User, p.Home)
	return out
}

// folders lists the roots of p that are there. A root that two places lead to is
// listed once, as the user's if it is one of the user's.
func (p Places) folders() []folder {
	within := ""
	if p.Workspace != "" {
		real, err := filepath.EvalSymlinks(p.Workspace)
		if err != nil {
			p.Workspace = "" // a workspace that is not there has no skills
		}
		within = real
	}
	var out []folder
	for _, root := range slices.Backward(p.Roots()) { // the user's first
		limit := ""
		if root.Scope == Project {
			limit = within
		}
		out = append(out, list(root, limit))
	}
	slices.Reverse(out)
	for i := range out {
		again := func(f folder) bool { return f.real != "" && f.real == out[i].real }
		if out[i].root.Scope == Project && slices.ContainsFunc(out[i+1:], again) || slices.ContainsFunc(out[:i], again) {
			out[i].real, out[i].found, out[i].wrong = "", nil, nil
		}
	}
	return out
}

// A finding collects the skills of one Find.
type finding struct {
	scopes   map[Scope]map[string]*Skill // by name
	files    map[string]string           // real file of each skill by its path, to know one that is found twice
	problems []Problem
}

// Find returns the skills of p, sorted by name, the disabled ones included, and
// what is wrong with others: one problem for each file, in an order that is the same
// for the same files.
func (l *Library) Find(p Places) ([]Skill, []Problem) {
	f := &finding{scopes: map[Scope]map[string]*Skill{}, files: map[string]string{}}
	look := l.start()
	for _, s := range p.Wire {
		r := look.wire(s)
		f.tell(string(Wire), r.remarks)
		if r.ok {
			f.put(r.skill, "")
		}
	}
	for _, dir := range p.folders() {
		if dir.wrong != nil {
			f.problems = append(f.problems, *dir.wrong)
		}
		for _, c := range dir.found {
			f.add(look.read(c, dir.root), c)
		}
	}
	look.end()
	for _, s := range seeds() {
		f.put(s, "")
	}
	return f.merge(p), f.problems
}

// add adds what a candidate of a folder turned out to be.
func (f *finding) add(r reading, c candidate) {
	f.tell(c.path, r.remarks)
	if r.ok {
		s := r.skill
		s.Folder, s.Within = c.dir, ""
		if c.dir != "" {
			s.Within = c.within
		}
		f.put(s, c.file)
	}
}

// tell adds a problem of all that is not for the linter alone.
func (f *finding) tell(path string, remarks []remark) {
	var words []string
	fatal := false
	for _, r := range remarks {
		if !r.petty {
			words = append(words, r.text)
		}
		fatal = fatal || r.fatal
	}
	if len(words) > 0 {
		f.problems = append(f.problems, Problem{path, strings.Join(words, "; besides, "), fatal})
	}
}

// put adds a skill unless its scope has one of that name, which then counts.
func (f *finding) put(s Skill, file string) {
	names := f.scopes[s.Scope]
	if names == nil {
		names = map[string]*Skill{}
		f.scopes[s.Scope] = names
	}
	first, taken := names[s.Name]
	switch {
	case !taken:
		names[s.Name] = &s
		f.files[s.Path] = file
	case file == "" || f.files[first.Path] != file: // else it is the same one by another way
		f.problems = append(f.problems, clash(s, *first))
	}
}

// clash tells that s is not loaded, because first has its name.
func clash(s, first Skill) Problem {
	return Problem{cmp.Or(s.Path, string(s.Scope)),
		fmt.Sprintf("has the name %q of %s, which counts; rename one of them", s.Name, cmp.Or(printable(first.Path), "another skill")), true}
}

// merge returns the skills that count, by name.
func (f *finding) merge(p Places) []Skill {
	if !p.Trusted {
		f.protect()
	}
	all := map[string]*Skill{}
	for _, scope := range []Scope{Wire, Project, User, Builtin} {
		for name, s := range f.scopes[scope] {
			if _, taken := all[name]; !taken {
				s.Enabled = s.Enabled && !slices.Contains(p.Disabled, name) && !slices.Contains(p.Disabled, "*")
				all[name] = s
			}
		}
	}
	return sorted(all)
}

// sorted returns the skills by name.
func sorted(names map[string]*Skill) []Skill {
	out := make([]Skill, 0, len(names))
	for _, name := range slices.Sorted(maps.Keys(names)) {
		out = append(out, *names[name])
	}
	return out
}

// protect removes the skills of the workspace that would replace one of the user or
// of this program.
func (f *finding) protect() {
	var taken []string
	for name := range f.scopes[Project] {
		_, user := f.scopes[User][name]
		_, builtin := f.scopes[Builtin][name]
		if user || builtin {
			taken = append(taken, name)
		}
	}
	slices.Sort(taken)
	for _, name := range taken {
		scope := User
		if _, ok := f.scopes[User][name]; !ok {
			scope = Builtin
		}
		f.problems = append(f.problems, Problem{f.scopes[Project][name].Path, fmt.Sprintf(
			"would replace the %s skill %q and is not loaded; rename it, or list the workspace as trusted under [skills] in the configuration", scope, name), true})
		delete(f.scopes[Project], name)
	}
}
