// Package archtest reads the imports of a module and reports what breaks its
// layout: an import against the order of the folders, a library outside the
// folder that owns it, and a few constructs that take state or output out of
// their owner's hands.
//
// It judges no sizes and no style.
package archtest

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Rules are what a module must keep to. Folders are slash-separated paths from
// the root of the module, "" for the root; one that ends in "/..." covers what
// is below it too.
type Rules struct {
	Module string // import path of the root

	// Folders says for each folder of the top level which others it may import.
	// A folder that is not listed is a finding.
	Folders map[string][]string

	// Owners says which folders may import a library, by the import path or a
	// path above it; the longest counts. One without folders is for tests. A path that ends in "/..." stands for what
	// is below it alone. Libraries that are not listed are free.
	Owners map[string][]string

	Anyone   []string // folders that may import every library, as tests may
	Printers []string // folders that may use standard output, besides main packages
	Mains    []string // folders whose main packages may use standard output
	Fakes    []string // folders besides tests that may import packages named …test
}

// A Finding is a place that breaks a rule.
type Finding struct {
	File string // from the root of the module
	Line int
	What string
}

func (f Finding) String() string { return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.What) }

// Check reads the Go files of the module in root and returns what it finds, in
// the order of the files. Folders of test data, hidden ones and other modules
// are left out. An error means that a file could not be read or parsed.
func Check(root fs.FS, rules Rules) ([]Finding, error) {
	c := checker{rules: rules, files: token.NewFileSet()}
	err := fs.WalkDir(root, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return skipDir(root, p)
		case path.Ext(p) != ".go":
			return nil
		}
		src, err := fs.ReadFile(root, p)
		if err != nil {
			return err
		}
		return c.file(p, src)
	})
	if err != nil {
		return nil, fmt.Errorf("checking the layout: %w", err)
	}
	slices.SortStableFunc(c.found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return c.found, nil
}

// skipDir returns [fs.SkipDir] for folders that hold no code of the module.
func skipDir(root fs.FS, dir string) error {
	if dir == "." {
		return nil
	}
	base := path.Base(dir)
	if base == "testdata" || base == "node_modules" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return fs.SkipDir
	}
	if _, err := fs.Stat(root, dir+"/go.mod"); err == nil {
		return fs.SkipDir
	}
	return nil
}

type checker struct {
	rules Rules
	files *token.FileSet
	found []Finding
}

// A source is a file under judgement.
type source struct {
	name   string
	folder string // "" is the root
	test   bool
	main   bool
	tree   *ast.File
}

func (c *checker) file(name string, src []byte) error {
	tree, err := parser.ParseFile(c.files, name, src, 0)
	if err != nil {
		return err
	}
	folder := path.Dir(name)
	if folder == "." {
		folder = ""
	}
	s := source{
		name:   name,
		folder: folder,
		test:   strings.HasSuffix(name, "_test.go"),
		main:   tree.Name.Name == "main",
		tree:   tree,
	}
	if _, ok := c.rules.Folders[top(folder)]; !ok {
		c.report(tree.Package, "folder %q is not part of the layout", top(folder))
		return nil
	}
	for _, spec := range tree.Imports {
		c.spec(s, spec)
	}
	c.body(s)
	return nil
}

// spec judges an import.
func (c *checker) spec(s source, spec *ast.ImportSpec) {
	imported, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return // the parser has refused it
	}
	if spec.Name != nil && spec.Name.Name == "." {
		c.report(spec.Pos(), "import of %q into the file's own names hides what is used", imported)
	}
	if ours, ok := within(imported, c.rules.Module); ok {
		c.arrow(s, spec.Pos(), ours)
		return
	}
	if imported == "github.com/rs/zerolog/log" {
		c.report(spec.Pos(), "the global logger is nobody's; take a zerolog.Logger in the options")
	}
	if s.test || inAny(c.rules.Anyone, s.folder) {
		return
	}
	owners, ok := c.owners(imported)
	switch {
	case !ok || inAny(owners, s.folder):
	case len(owners) == 0:
		c.report(spec.Pos(), "%q is for tests alone", imported)
	default:
		c.report(spec.Pos(), "%q belongs to %s", imported, strings.Join(owners, ", "))
	}
}

// arrow judges an import of a folder of the module.
func (c *checker) arrow(s source, at token.Pos, imported string) {
	from, to := top(s.folder), top(imported)
	if from != to && !slices.Contains(c.rules.Folders[from], to) {
		c.report(at, "%s may not import %s", cmp.Or(from, "the root"), cmp.Or(to, "the root"))
	}
	fake := strings.HasSuffix(path.Base(imported), "test")
	if fake && !s.test && !inAny(c.rules.Fakes, s.folder) {
		c.report(at, "%s is for tests; only their files import it", imported)
	}
}

// owners returns the folders that may import a library.
func (c *checker) owners(imported string) ([]string, bool) {
	for p := imported; p != "." && p != "/"; p = path.Dir(p) {
		if owners, ok := c.rules.Owners[p+"/..."]; ok && p != imported {
			return owners, true
		}
		if owners, ok := c.rules.Owners[p]; ok {
			return owners, true
		}
	}
	return nil, false
}

// body judges what a file declares and calls.
func (c *checker) body(s source) {
	printer := s.test || inAny(c.rules.Printers, s.folder) || s.main && inAny(c.rules.Mains, s.folder)
	names := importNames(s.tree)
	ast.Inspect(s.tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Recv == nil && n.Name.Name == "init" {
				c.report(n.Pos(), "init runs before anybody asked; call a function instead")
			}
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			if !ok || x.Obj != nil { // a variable of the file hides the package
				return true
			}
			c.selector(n.Pos(), names[x.Name], n.Sel.Name, printer)
		}
		return true
	})
}

func (c *checker) selector(at token.Pos, pkg, name string, printer bool) {
	switch {
	case pkg == "context" && name == "WithValue":
		c.report(at, "context.WithValue hides a parameter; pass it")
	case printer:
	case pkg == "fmt" && (name == "Print" || name == "Printf" || name == "Println"):
		c.report(at, "fmt.%s writes to standard output, which carries the protocol", name)
	case pkg == "os" && name == "Stdout":
		c.report(at, "os.Stdout carries the protocol; take an io.Writer")
	}
}

func (c *checker) report(at token.Pos, format string, args ...any) {
	p := c.files.Position(at)
	c.found = append(c.found, Finding{p.Filename, p.Line, fmt.Sprintf(format, args...)})
}

// importNames returns the import paths of a file by the names that it gives
// them. Where none is given it is the last element, which holds for the standard
// library.
func importNames(f *ast.File) map[string]string {
	names := map[string]string{}
	for _, spec := range f.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		name := path.Base(p)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = p
	}
	return names
}

// top returns the first element of a folder.
func top(folder string) string {
	first, _, _ := strings.Cut(folder, "/")
	return first
}

// within returns p relative to the folder dir, if it is dir or below it.
func within(p, dir string) (string, bool) {
	if p == dir {
		return "", true
	}
	return strings.CutPrefix(p, dir+"/")
}

// inAny reports whether folder is one of patterns, or below one that ends in
// "/...".
func inAny(patterns []string, folder string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		dir, tree := strings.CutSuffix(pattern, "/...")
		if !tree {
			return folder == pattern
		}
		_, ok := within(folder, dir)
		return ok
	})
}
