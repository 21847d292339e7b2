package workspace

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/lorimer-dev/lorimer/tools"
)

//go:embed glob.md
var globDescription string

//go:embed glob.json
var globSchema []byte

const (
	maxAlternatives = 1000 // that the braces of a pattern stand for

	globLimit    = 500
	globMaxBytes = 64 << 10 // of paths in a result
)

type globInput struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path"`
	Limit   whole  `json:"limit"`
}

type glob struct{ fs FS }

// NewGlob returns the tool that lists files by a pattern.
func NewGlob(fsys FS) tools.Tool {
	g := glob{fs: fsys}
	return tools.Define(tools.Info{
		Name:        "glob",
		Description: globDescription,
		Schema:      globSchema,
		Verb:        "looking for files {pattern}",
		Kind:        tools.KindSearch,
		Effect:      tools.Reads,
	}, g.plan, g.run)
}

func (g glob) plan(_ context.Context, in globInput) (tools.Plan, error) {
	if _, err := newMatcher(in.Pattern); err != nil {
		return tools.Plan{}, err
	}
	start, _ := g.split(in)
	if _, err := g.fs.Resolve(start); err != nil {
		return tools.Plan{}, trouble(start, err)
	}
	return tools.Plan{Title: searchTitle("looking for files {pattern}", in.Pattern, in.Path), Effect: tools.Reads}, nil
}

// split returns the directory to start in and the pattern from there. The part
// of a pattern that matches only itself is walked to, not searched for, and so
// it may also be absolute or in a directory that is ignored.
func (g glob) split(in globInput) (start, pattern string) {
	start, pattern = cmp.Or(in.Path, "."), filepath.ToSlash(in.Pattern)
	base, rest := doublestar.SplitPattern(pattern)
	if base == "." || strings.ContainsRune(base, '\\') {
		return start, pattern
	}
	if filepath.IsAbs(base) {
		return base, rest
	}
	return filepath.Join(start, base), rest
}

func (g glob) run(ctx context.Context, in globInput, _ tools.Call) (tools.Result, error) {
	start, pattern := g.split(in)
	match, err := newMatcher(pattern)
	if strings.Contains(filepath.ToSlash(in.Pattern), "/") && !strings.Contains(pattern, "/") {
		match.name = false // the directory stood in the pattern
	}
	if err != nil {
		return told(err)
	}
	dir, err := directory(ctx, g.fs, start)
	if err != nil {
		return told(err)
	}
	limit := int(cmp.Or(in.Limit, globLimit))
	var list strings.Builder
	shown, total := 0, 0
	missed, err := walk(ctx, g.fs, dir, func(f found) error {
		if !match.matches(f.rel) {
			return nil
		}
		total++
		if shown < limit && list.Len()+len(f.path) < globMaxBytes {
			list.WriteString(tools.Line(f.path, maxPath) + "\n")
			shown++
		}
		return nil
	})
	if err != nil {
		return told(trouble(start, err))
	}
	if total == 0 {
		list.WriteString("No file matches.\n")
	}
	if shown < total {
		fmt.Fprintf(&list, "[%d of %d files shown; narrow the pattern, or give a path, to see the others]\n", shown, total)
	}
	list.WriteString(missedNote(missed))
	return tools.Result{Text: strings.TrimSuffix(list.String(), "\n")}, nil
}

// maxPath is how many characters of a path are shown. Systems allow more only
// for paths that nobody has.
const maxPath = 4096

// directory returns the real path of a directory.
func directory(ctx context.Context, fsys FS, name string) (string, error) {
	real, err := fsys.Resolve(name)
	if err != nil {
		return "", trouble(name, err)
	}
	info, err := fsys.Stat(ctx, real)
	if err != nil {
		return "", trouble(name, err)
	}
	if !info.IsDir() {
		return "", tools.Publicf("%s is a file; give the directory it is in", tools.Line(name, maxName))
	}
	return real, nil
}

func missedNote(dirs int) string {
	if dirs == 0 {
		return ""
	}
	return fmt.Sprintf("[%d directories could not be read]\n", dirs)
}

// A matcher matches paths with a pattern.
type matcher struct {
	pattern string
	name    bool // it is matched with the name alone
}

func newMatcher(pattern string) (matcher, error) {
	m := matcher{pattern: strings.TrimPrefix(filepath.ToSlash(pattern), "./")}
	m.name = !strings.Contains(m.pattern, "/")
	if m.pattern == "" || !doublestar.ValidatePattern(m.pattern) {
		return m, tools.Publicf("%q is not a pattern; brackets and braces must be closed, and a backslash makes a character literal", tools.Line(pattern, maxName))
	}
	if alternatives(m.pattern) > maxAlternatives {
		return m, tools.Publicf("the braces of %q stand for more than %d patterns; use fewer of them", tools.Line(pattern, maxName), maxAlternatives)
	}
	return m, nil
}

// alternatives returns how many patterns the braces of pattern stand for at
// most, or something above maxAlternatives. Matching may try each of them.
func alternatives(pattern string) int {
	var open []int // the choices in each brace that is not closed
	n := 1
	for i := 0; i < len(pattern) && n <= maxAlternatives; i++ {
		switch last := len(open) - 1; pattern[i] {
		case '\\':
			i++
		case '{':
			open = append(open, 1)
		case ',':
			if last >= 0 {
				open[last]++
			}
		case '}':
			if last >= 0 {
				n *= min(open[last], maxAlternatives+1)
				open = open[:last]
			}
		}
	}
	return n
}

func (m matcher) matches(rel string) bool {
	if m.name {
		rel = rel[strings.LastIndexByte(rel, '/')+1:]
	}
	ok, err := doublestar.Match(m.pattern, rel)
	return ok && err == nil
}
