package workspace

import (
	"bufio"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/lorimer-dev/lorimer/tools"
)

//go:embed grep.md
var grepDescription string

//go:embed grep.json
var grepSchema []byte

const (
	grepLimit    = 200
	maxGrepLimit = 2000 // this and the next also where the schema was not asked
	maxContext   = 20
	grepMaxBytes = 64 << 10 // of a result
	maxSecrets   = 5        // names of files of secrets that a result lists
)

type grepInput struct {
	Pattern    string `json:"pattern"`
	Path       string `json:"path"`
	Glob       string `json:"glob"`
	IgnoreCase bool   `json:"ignore_case"`
	Context    whole  `json:"context"`
	FilesOnly  bool   `json:"files_only"`
	Limit      whole  `json:"limit"`
}

type grep struct{ fs FS }

// NewGrep returns the tool that searches the content of files.
func NewGrep(fsys FS) tools.Tool {
	g := grep{fs: fsys}
	return tools.Define(tools.Info{
		Name:        "grep",
		Description: grepDescription,
		Schema:      grepSchema,
		Verb:        "searching for {pattern}",
		Kind:        tools.KindSearch,
		Effect:      tools.Reads,
	}, g.plan, g.run)
}

func (g grep) plan(ctx context.Context, in grepInput) (tools.Plan, error) {
	if _, err := newQuery(in); err != nil {
		return tools.Plan{}, err
	}
	name := cmp.Or(in.Path, ".")
	real, err := g.fs.Resolve(name)
	if err != nil {
		return tools.Plan{}, trouble(name, err)
	}
	p := tools.Plan{Title: searchTitle("searching for {pattern}", in.Pattern, in.Path), Effect: tools.Reads}
	if info, err := g.fs.Stat(ctx, real); err == nil && !info.IsDir() {
		p.Locations = []tools.Location{{Path: real}}
		p.Caution = caution(name, real)
	}
	return p, nil
}

func (g grep) run(ctx context.Context, in grepInput, _ tools.Call) (tools.Result, error) {
	q, err := newQuery(in)
	if err != nil {
		return told(err)
	}
	name := cmp.Or(in.Path, ".")
	real, err := g.fs.Resolve(name)
	if err != nil {
		return told(trouble(name, err))
	}
	info, err := g.fs.Stat(ctx, real)
	if err != nil {
		return told(trouble(name, err))
	}
	r := &report{query: q}
	if info.IsDir() {
		err = searchTree(ctx, g.fs, real, q, r)
	} else {
		h, searchErr := searchFile(ctx, g.fs, real, q, bufio.NewReaderSize(nil, grepBlock))
		if h.binary {
			return tools.Failf("%s is a binary file, which this tool does not search; use bash for it", tools.Line(name, maxName)), nil
		}
		h.path = shownPath(g.fs, real)
		if err = searchErr; err == nil {
			err = r.add(h)
		}
	}
	if err != nil && !errors.Is(err, errFull) {
		return told(trouble(name, err))
	}
	return tools.Result{Text: r.text()}, nil
}

// A query is what to search for.
type query struct {
	re      *regexp.Regexp
	literal []byte // every match has it; empty is unknown
	glob    *matcher
	context int
	files   bool
	limit   int
}

func newQuery(in grepInput) (query, error) {
	q := query{
		context: int(min(in.Context, maxContext)),
		files:   in.FilesOnly,
		limit:   int(min(cmp.Or(in.Limit, grepLimit), maxGrepLimit)),
	}
	expr := in.Pattern
	if in.IgnoreCase {
		expr = "(?i)" + expr
	}
	var err error
	if q.re, err = regexp.Compile(expr); err != nil {
		return q, tools.Publicf("the pattern cannot be used: %w; it is of the RE2 kind, without look-around and back references, and a backslash makes a character literal", err)
	}
	if tree, err := syntax.Parse(expr, syntax.Perl); err == nil {
		q.literal = []byte(required(tree.Simplify()))
	}
	if in.Glob != "" {
		m, err := newMatcher(in.Glob)
		if err != nil {
			return q, err
		}
		q.glob = &m
	}
	return q, nil
}

// required returns the longest text that every match of re has in it, as far as
// is easily told, "" if none. Looking for it first spares most lines the
// expression.
func required(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return string(re.Rune)
		}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpConcat:
		best := ""
		for _, sub := range re.Sub {
			if s := required(sub); len(s) > len(best) {
				best = s
			}
		}
		return best
	}
	return ""
}

// errFull stops a search that has found all that it may show.
var errFull = errors.New("enough matches")

// A report is the text of a result in the making.
type report struct {
	query   query
	list    strings.Builder
	count   int // matching lines, or files
	full    bool
	failed  int      // files and directories that could not be read
	secrets []string // not searched
	hidden  int      // as secrets, all of them
}

// add takes what was found in one file. After errFull it must not be called.
func (r *report) add(h hits) error {
	if h.failed {
		r.failed++
	}
	if len(h.lines) == 0 {
		return nil
	}
	if r.query.files {
		return r.line(h.path, true)
	}
	last := 0
	for _, l := range h.lines {
		mark := byte(':')
		if !l.match {
			mark = '-'
		}
		text := fmt.Sprintf("%s%c%d%c%s", tools.Line(h.path, maxPath), mark, l.number, mark, l.text)
		if r.query.context > 0 && r.list.Len() > 0 && l.number != last+1 {
			text = "--\n" + text
		}
		last = l.number
		if err := r.line(text, l.match); err != nil {
			return err
		}
	}
	return nil
}

// line adds one line of the result, or fails with errFull.
func (r *report) line(text string, match bool) error {
	if match && r.count == r.query.limit || r.list.Len()+len(text) > grepMaxBytes {
		r.full = true
		return errFull
	}
	if match {
		r.count++
	}
	r.list.WriteString(text + "\n")
	return nil
}

// skip notes a file of secrets that is not searched (C135).
func (r *report) skip(path string) {
	r.hidden++
	if len(r.secrets) < maxSecrets {
		r.secrets = append(r.secrets, tools.Line(path, maxName))
	}
}

func (r *report) text() string {
	if r.count == 0 {
		r.list.WriteString("No match.\n")
	}
	if r.full {
		what := "matching lines"
		if r.query.files {
			what = "files"
		}
		fmt.Fprintf(&r.list, "[stopped after %d %s, there are more; narrow the pattern, the path or the glob]\n", r.count, what)
	}
	if r.hidden > 0 {
		more := ""
		if r.hidden > len(r.secrets) {
			more = fmt.Sprintf(" and %d more", r.hidden-len(r.secrets))
		}
		fmt.Fprintf(&r.list, "[not searched, since they may hold secrets: %s%s]\n", strings.Join(r.secrets, ", "), more)
	}
	if r.failed > 0 {
		fmt.Fprintf(&r.list, "[%d files or directories could not be read]\n", r.failed)
	}
	return strings.TrimSuffix(r.list.String(), "\n")
}
