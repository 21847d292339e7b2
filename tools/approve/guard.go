package approve

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/shell"
)

const separator = string(filepath.Separator)

// A hard is what the hard rules say of a call, in words that begin in lower
// case. All empty is that they say nothing.
type hard struct {
	refuse string // refused, whatever the mode
	ask    string // asked, whatever the mode and earlier answers
	dirty  string // as ask, when the work tree in dir has changes
	dir    string
}

// A guard knows the hard rules of R-ACP-40. Paths are compared case-folded,
// since a file system may not tell the cases apart (C073).
type guard struct {
	place     shell.Place
	roots     []string // folded, as given and with links resolved
	home      []string // folded, likewise
	protected []string // folded, likewise
}

func newGuard(o Options) guard {
	g := guard{place: shell.Place{Dir: o.Dir, Home: o.Home}}
	for _, r := range append([]string{o.Dir}, o.Roots...) {
		g.roots = append(g.roots, forms(r)...)
	}
	if o.Home != "" {
		g.home = forms(o.Home)
	}
	for _, p := range o.Protected {
		g.protected = append(g.protected, forms(p)...)
	}
	return g
}

// look applies the hard rules to a plan.
func (g guard) look(effect tools.Effect, p tools.Plan) hard {
	if effect&(tools.Edits|tools.Executes|tools.Acts) == 0 && effect != 0 {
		return hard{}
	}
	var h hard
	if p.Command != "" {
		h = g.command(shell.Read(p.Command, g.place))
	}
	for _, l := range p.Locations {
		if name := g.protects(l.Path); name != "" && h.refuse == "" {
			h.ask = protectedReason(name)
		}
	}
	return h
}

func protectedReason(name string) string {
	return fmt.Sprintf("it may change %s, which settles what programs run or what is allowed", name)
}

// command applies the hard rules to a command line. A refusal goes first, then
// what always asks.
func (g guard) command(r shell.Report) hard {
	var h hard
	for _, d := range r.Deletes {
		what := g.precious(d.Path)
		switch {
		case what != "" && !d.Unsure:
			return hard{refuse: "it would delete " + what + " with everything in it"}
		case what != "":
			h.ask = "it deletes a directory named by a variable; if that is empty, it deletes " + what
		case g.holdsProtected(d.Path):
			h.ask = protectedReason("the directory " + filepath.Base(d.Path))
		}
	}
	for _, w := range r.Writes {
		if h.ask != "" {
			break
		}
		if name := g.protects(w); name != "" {
			h.ask = protectedReason(name)
		}
	}
	for _, c := range r.Git {
		switch {
		case h.ask != "":
		case !c.Tree, c.Dir == "":
			h.ask = c.What + " loses work that cannot be brought back"
		default:
			h.dirty, h.dir = c.What+" loses changes that are not committed", c.Dir
		}
	}
	if r.Unread && h.ask == "" {
		h.ask = "the command cannot be read as shell, so nobody can tell what it does"
	}
	return h
}

// precious names what a recursive deletion of path, which may be a pattern, would
// take with it that no mode allows, "" if nothing.
func (g guard) precious(path string) string {
	for _, p := range forms(path) {
		switch {
		case p == folded(filepath.VolumeName(p)+separator):
			return "the root of the file system"
		case slices.ContainsFunc(g.roots, func(r string) bool { return namesAbove(p, r) }):
			return "the workspace"
		case slices.ContainsFunc(g.home, func(h string) bool { return namesAbove(p, h) }):
			return "the home directory"
		}
	}
	return ""
}

// inside reports whether every location is in the workspace. Without one it is
// not known, and so not inside.
func (g guard) inside(ls []tools.Location) bool {
	for _, l := range ls {
		real := folded(resolve(l.Path))
		if !slices.ContainsFunc(g.roots, func(r string) bool { return below(real, r) }) {
			return false
		}
	}
	return len(ls) > 0
}

// protects returns how the user knows path if it is protected, or may be as it
// is a pattern, else "".
func (g guard) protects(path string) string {
	for _, p := range forms(path) {
		if slices.ContainsFunc(g.protected, func(q string) bool { return namesBelow(p, q) }) {
			return "the configuration of this program"
		}
		if name := programs(p); name != "" {
			return name
		}
	}
	return ""
}

// holdsProtected reports whether path is above a protected file of this program.
func (g guard) holdsProtected(path string) bool {
	return slices.ContainsFunc(forms(path), func(p string) bool {
		return slices.ContainsFunc(g.protected, func(q string) bool { return namesAbove(p, q) })
	})
}

// forms returns an absolute path as it is written and as it is after links,
// both folded.
func forms(path string) []string {
	return slices.Compact([]string{folded(path), folded(resolve(path))})
}

// folded returns the form in which paths are compared. A dot or blank at the
// end of a name does not count on some file systems.
func folded(path string) string {
	parts := strings.Split(filepath.Clean(path), separator)
	for i, p := range parts {
		parts[i] = strings.ToLower(strings.TrimRight(p, ". "))
	}
	if s := strings.Join(parts, separator); s != "" && s != filepath.VolumeName(s) {
		return s
	}
	return filepath.VolumeName(path) + separator
}

// resolve follows the links of path as far as it exists. It does not clean the
// path first: what ".." after a link means is for the kernel to say.
func resolve(path string) string {
	rest := ""
	for {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return filepath.Join(real, rest)
		}
		i := strings.LastIndexByte(strings.TrimRight(path, separator), filepath.Separator)
		if i < 0 {
			return filepath.Join(path, rest)
		}
		rest = filepath.Join(path[i+1:], rest)
		if i == 0 {
			return separator + rest
		}
		path = path[:i]
	}
}

// below reports whether path is dir or in it.
func below(path, dir string) bool {
	rest, ok := strings.CutPrefix(path, dir)
	return ok && (rest == "" || rest[0] == filepath.Separator || strings.HasSuffix(dir, separator))
}
