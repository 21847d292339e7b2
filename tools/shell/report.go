package shell

import (
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A Place is where a line runs.
type Place struct {
	Dir  string // absolute
	Home string // absolute; "" is unknown
}

// A Report is what a line would do, as far as that is visible.
type Report struct {
	Unread  bool     // the line, or a line inside it, is no shell that we can parse
	Deletes []Delete // recursive deletions
	Writes  []string // files that redirections and commands may change: absolute, not cleaned
	Git     []Git    // git commands that lose something
}

// A Delete is the target of a recursive deletion.
type Delete struct {
	// Path is absolute and not cleaned, since ".." after a link is for the
	// kernel to resolve. "*" at its end is taken off: to delete all that a
	// directory holds is to delete the directory.
	Path string
	// Unsure is set when Path is what remains if a variable is empty.
	Unsure bool
}

// A Git is a git command that loses something.
type Git struct {
	What string // "git reset --hard"
	Dir  string // where it runs: absolute, or "" when unknown
	Tree bool   // it loses changes of the work tree, and nothing when there are none
}

const (
	maxNesting = 16        // lines inside lines, as in sh -c "sh -c '…'"
	maxWork    = 50_000    // statements and words, each counted as often as a loop runs it
	maxItems   = 256       // of the list of a loop
	maxValue   = 128 << 10 // bytes of a value; variables of variables grow without end
	perUnit    = 256       // bytes of a value that count as one more word
)

// Read reports what line would do at p.
func Read(line string, p Place) Report {
	r := &reader{home: p.Home, dir: p.Dir, vars: map[string]string{}, report: &Report{}, left: new(maxWork)}
	r.line(line)
	return *r.report
}

// A reader walks through a line in the order in which it runs.
type reader struct {
	home   string
	dir    string            // "" after a cd to where we cannot tell
	before string            // dir before the last cd, likewise
	piped  []string          // words on standard input, as far as they are known
	vars   map[string]string // set in the line to something that is known
	depth  int
	report *Report
	left   *int // of maxWork, shared with subshells
}

// spend counts n units of work, and reports whether the line may go on. One
// that takes more than we are ready to do counts as unread.
func (r *reader) spend(n int) bool {
	if *r.left < n {
		*r.left = 0
		r.report.Unread = true
		return false
	}
	*r.left -= n
	return true
}

func (r *reader) line(line string) {
	f, err := parse(line)
	if err != nil || r.depth > maxNesting {
		r.report.Unread = true
		return
	}
	r.stmts(f.Stmts)
}

// nested reads a line in a shell of its own, whose parameters are $0 and on.
func (r *reader) nested(line string, params ...string) {
	if strings.ContainsRune(line, unknown) {
		return
	}
	in := r.child()
	in.depth++
	for i, p := range params {
		in.set(strconv.Itoa(i), p)
	}
	if len(params) > 1 {
		in.set("@", strings.Join(params[1:], " "))
		in.set("*", strings.Join(params[1:], " "))
	}
	in.line(line)
}

// child returns a reader for a subshell, whose cd and variables stay in it.
func (r *reader) child() *reader {
	c := *r
	c.vars = map[string]string{}
	if r.spend(len(r.vars) / 16) {
		maps.Copy(c.vars, r.vars)
	}
	return &c
}

func (r *reader) stmts(list []*syntax.Stmt) {
	for _, s := range list {
		r.stmt(s)
	}
}

func (r *reader) stmt(s *syntax.Stmt) {
	if s == nil || !r.spend(1) {
		return
	}
	for _, d := range s.Redirs {
		r.inWord(d.Word)
		r.inWord(d.Hdoc)
		switch d.Op {
		case syntax.RdrOut, syntax.AppOut, syntax.RdrInOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll, syntax.RdrAllClob, syntax.AppAllClob, syntax.AppClob:
			r.write(r.value(d.Word))
		}
	}
	r.command(s.Cmd, s.Redirs)
}

func (r *reader) command(c syntax.Command, redirs []*syntax.Redirect) {
	switch c := c.(type) {
	case *syntax.CallExpr:
		r.call(c, redirs)
	case *syntax.Subshell:
		r.child().stmts(c.Stmts)
	case *syntax.Block:
		r.stmts(c.Stmts)
	case *syntax.BinaryCmd:
		r.binary(c)
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			r.stmts(c.Cond)
			r.stmts(c.Then)
		}
	case *syntax.WhileClause:
		r.stmts(c.Cond)
		r.stmts(c.Do)
	case *syntax.ForClause:
		r.loop(c)
	case *syntax.CaseClause:
		r.inWord(c.Word)
		for _, i := range c.Items {
			r.stmts(i.Stmts)
		}
	case *syntax.FuncDecl:
		r.stmt(c.Body)
	case *syntax.TimeClause:
		r.stmt(c.Stmt)
	case *syntax.CoprocClause:
		r.stmt(c.Stmt)
	case *syntax.DeclClause:
		for _, a := range c.Args {
			r.assign(a)
		}
	case nil:
	default: // tests and arithmetic, whose words may hold commands
		r.inNode(c)
	}
}

func (r *reader) binary(c *syntax.BinaryCmd) {
	if c.Op != syntax.Pipe && c.Op != syntax.PipeAll {
		r.stmt(c.X)
		r.stmt(c.Y)
		return
	}
	r.child().stmt(c.X)
	text, words := r.printed(c.X)
	to := r.child()
	to.piped = words
	to.stmt(c.Y)
	// echo 'a line' | sh
	if call, ok := c.Y.Cmd.(*syntax.CallExpr); ok && text != "" {
		if words := r.words(call.Args); len(words) > 0 && (isShell(name(words[0])) ||
			slices.Contains(wrappers, name(words[0])) && slices.ContainsFunc(words, func(w string) bool { return isShell(name(w)) })) {
			r.nested(text)
		}
	}
}

// printed returns what a statement writes into a pipe, as far as that is plain
// to see: a text, or the names of files.
func (r *reader) printed(s *syntax.Stmt) (text string, words []string) {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok {
		return "", nil
	}
	args := r.words(call.Args)
	if len(args) == 0 {
		return "", nil
	}
	switch n, args := name(args[0]), args[1:]; n {
	case "echo", "printf":
		for n == "echo" && len(args) > 0 && len(args[0]) > 1 && strings.Trim(args[0], "neE") == "-" {
			args = args[1:]
		}
		if n == "printf" && len(args) > 1 && strings.Contains(args[0], "%") {
			args = args[1:]
		}
		text = strings.ReplaceAll(strings.Join(args, " "), `\n`, "\n")
		return text, strings.Fields(text)
	case "cat":
		for _, d := range s.Redirs {
			if d.Hdoc != nil {
				text += r.value(d.Hdoc)
			}
		}
		return text, strings.Fields(text)
	case "ls":
		if !slices.ContainsFunc(args, func(a string) bool { return !strings.HasPrefix(a, "-") }) {
			return "", []string{string(star)}
		}
	case "find":
		if starts, rest := findStarts(args); findsAll(rest) {
			return "", starts
		}
	}
	return "", nil
}

// loop runs the body once for each word of the list.
func (r *reader) loop(c *syntax.ForClause) {
	it, ok := c.Loop.(*syntax.WordIter)
	if !ok || len(it.Items) == 0 {
		r.inNode(c.Loop)
		r.stmts(c.Do)
		return
	}
	items := r.words(it.Items)
	if len(items) > maxItems {
		items, r.report.Unread = items[:maxItems], true
	}
	for _, w := range items {
		r.set(it.Name.Value, w)
		r.stmts(c.Do)
	}
}

func (r *reader) call(c *syntax.CallExpr, redirs []*syntax.Redirect) {
	for _, a := range c.Assigns {
		if len(c.Args) == 0 {
			r.assign(a)
		} else if a.Value != nil {
			r.inWord(a.Value)
		}
	}
	for _, w := range c.Args {
		r.inWord(w)
	}
	words := r.words(c.Args)
	if len(words) == 0 {
		return
	}
	r.run(words)
	if isShell(name(words[0])) && (len(words) == 1 || words[1] == "-s") {
		for _, d := range redirs {
			switch d.Op {
			case syntax.Hdoc, syntax.DashHdoc:
				r.nested(r.value(d.Hdoc))
			case syntax.WordHdoc:
				r.nested(r.value(d.Word))
			}
		}
	}
}

func (r *reader) assign(a *syntax.Assign) {
	if a.Value == nil || a.Name == nil {
		return
	}
	r.inWord(a.Value)
	r.set(a.Name.Value, r.value(a.Value))
}

func (r *reader) set(name, value string) {
	if strings.ContainsRune(value, unknown) || len(value) > maxValue {
		delete(r.vars, name)
		return
	}
	r.vars[name] = value
}

// inWord reads the commands that stand inside a word.
func (r *reader) inWord(w *syntax.Word) {
	if w != nil {
		r.inNode(w)
	}
}

func (r *reader) inNode(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			r.child().stmts(n.Stmts)
			return false
		case *syntax.ProcSubst:
			r.child().stmts(n.Stmts)
			return false
		}
		return true
	})
}

// write notes that the file may be changed.
func (r *reader) write(word string) {
	if path := r.abs(strings.ReplaceAll(word, string(star), "*")); path != "" {
		r.report.Writes = append(r.report.Writes, path)
	}
}

// abs returns the absolute path for a word, not cleaned, or "" when it cannot
// be told.
func (r *reader) abs(word string) string {
	switch {
	case word == "", strings.ContainsRune(word, unknown):
		return ""
	case filepath.IsAbs(word):
		return word
	case r.dir == "":
		return ""
	}
	return r.dir + string(filepath.Separator) + word
}
