package workspace_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/workspace"
	"github.com/lorimer-dev/lorimer/tools/workspace/local"
)

// project is a small tree with everything that a walk has to decide on.
func project() map[string]string {
	return map[string]string{
		"main.go":              "package main\n",
		"a.go":                 "package main // a\n",
		"a/x.go":               "package a\n",
		"a/b/y_test.go":        "package b\n",
		"a-b.go":               "package main\n",
		"docs/read.md":         "# Read\n",
		"docs/note.txt":        "note\n",
		".github/ci.yml":       "on: push\n",
		".gitignore":           "/out/\n*.log\nnode_modules\n!keep.log\n",
		"a/.gitignore":         "z.go\n!loud.log\n",
		"a/z.go":               "package a\n",
		"a/loud.log":           "x\n",
		"quiet.log":            "x\n",
		"keep.log":             "x\n",
		"out/gen.go":           "package out\n",
		"node_modules/m/i.js":  "js\n",
		"a/node_modules/n.js":  "js\n",
		".git/HEAD":            "ref: refs/heads/main\n",
		".git/info/exclude":    "mine.txt\n",
		"mine.txt":             "x\n",
		"excluded/nested/f.go": "package f\n",
	}
}

func TestGlob(t *testing.T) {
	fsys := openTree(t, project())
	tool := workspace.NewGlob(fsys)
	tests := []struct {
		name  string
		input []any
		want  string
	}{
		{"a name at any depth, sorted by path", []any{"pattern", "*.go"}, "a-b.go a.go a/b/y_test.go a/x.go excluded/nested/f.go main.go"},
		{"two stars", []any{"pattern", "**/*_test.go"}, "a/b/y_test.go"},
		{"a directory in the pattern", []any{"pattern", "a/*.go"}, "a/x.go"},
		{"alternatives", []any{"pattern", "docs/*.{md,txt}"}, "docs/note.txt docs/read.md"},
		{"relative to path", []any{"pattern", "*/*.go", "path", "a"}, "a/b/y_test.go"},
		{"hidden files, but not .git", []any{"pattern", "**/*.yml"}, ".github/ci.yml"},
		{"nothing of .git", []any{"pattern", "**/HEAD"}, "No file matches."},
		{"negation, nested files and info/exclude", []any{"pattern", "*.{log,txt}"}, "a/loud.log docs/note.txt keep.log"},
		{"an ignored directory that is named", []any{"pattern", "*.js", "path", "node_modules"}, "node_modules/m/i.js"},
		{"an ignored directory named in the pattern", []any{"pattern", "out/*.go"}, "out/gen.go"},
		{"an absolute pattern", []any{"pattern", filepath.Join(fsys.Dir(), "docs", "*.md")}, "docs/read.md"},
		{"the pattern of a file", []any{"pattern", "docs/read.md"}, "docs/read.md"},
		{"rules above the start hold", []any{"pattern", "*.go", "path", "./a/"}, "a/b/y_test.go a/x.go"},
		{"braces that are literal", []any{"pattern", `{main,\{\,a}.go`}, "main.go"},
		{"a limit with a fraction of nothing", []any{"pattern", "*.go", "limit", json.Number("5e2")}, "a-b.go a.go a/b/y_test.go a/x.go excluded/nested/f.go main.go"},
		{"limit", []any{"pattern", "*.go", "limit", 2}, "a-b.go a.go [2 of 6 files shown; narrow the pattern, or give a path, to see the others]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := call(t, tool, tt.input...)
			if text := strings.ReplaceAll(got.Text, "\n", " "); text != tt.want || got.IsError {
				t.Errorf("result = %q (error %v), want %q", text, got.IsError, tt.want)
			}
		})
	}
}

func TestGlobErrors(t *testing.T) {
	fsys := openTree(t, project())
	tool := workspace.NewGlob(fsys)
	tests := []struct {
		name  string
		input []any
		want  string // in the error
	}{
		{"a broken pattern", []any{"pattern", "a["}, "not a pattern"},
		{"braces without end", []any{"pattern", strings.Repeat("{a,a}", 30) + "b"}, "stand for more than 1000 patterns"},
		{"braces in braces", []any{"pattern", strings.Repeat("{a,{b,c},", 12) + "d" + strings.Repeat("}", 12)}, "stand for more than 1000 patterns"},
		{"outside", []any{"pattern", "*", "path", "../"}, "outside the workspace"},
		{"outside by the pattern", []any{"pattern", "../**/*.go"}, "outside the workspace"},
		{"outside by an absolute pattern", []any{"pattern", "/etc/*"}, "outside the workspace"},
		{"not there", []any{"pattern", "*", "path", "nope"}, "does not exist"},
		{"a file", []any{"pattern", "*", "path", "main.go"}, "is a file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := call(t, tool, tt.input...)
			if !got.IsError || !strings.Contains(got.Text, tt.want) {
				t.Errorf("result = %q (error %v), want an error with %q", got.Text, got.IsError, tt.want)
			}
		})
	}
	if _, err := tool.Plan(t.Context(), object(t, "pattern", "*", "path", "/etc")); !errors.Is(err, workspace.ErrOutside) {
		t.Errorf("Plan outside: %v, want ErrOutside", err)
	}
}

// link makes links in the directory of a tree: pairs of a name and its target.
func link(t *testing.T, dir string, pairs ...string) {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if err := os.Symlink(pairs[i+1], filepath.Join(dir, pairs[i])); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLinks(t *testing.T) {
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "f"), []byte("needle\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	fsys := openTree(t, map[string]string{"d/in": "needle\n"})
	link(t, fsys.Dir(),
		"out", outside, "outfile", filepath.Join(outside, "f"), "loop", ".", "d/up", "..",
		"alias", "d/in", "dirlink", "d", "dangling", "nowhere")
	glob, grep := workspace.NewGlob(fsys), workspace.NewGrep(fsys)
	t.Run("C071 nothing outside is listed, and loops end", func(t *testing.T) {
		if got, want := call(t, glob, "pattern", "**").Text, "alias\nd/in"; got != want {
			t.Errorf("glob = %q, want %q", got, want)
		}
	})
	t.Run("C071 nothing outside is searched, and loops end", func(t *testing.T) {
		if got, want := call(t, grep, "pattern", "needle").Text, "d/in:1:needle"; got != want {
			t.Errorf("grep = %q, want %q", got, want)
		}
	})
	t.Run("C071 a link out is refused", func(t *testing.T) {
		for _, tool := range []tools.Tool{glob, grep} {
			for _, path := range []string{"out", "out/f"} {
				got := call(t, tool, "pattern", "needle", "path", path)
				if !got.IsError || !strings.Contains(got.Text, "outside the workspace") {
					t.Errorf("%s in %s = %q (error %v)", tool.Info().Name, path, got.Text, got.IsError)
				}
			}
		}
	})
	t.Run("C071 a link inside works", func(t *testing.T) {
		if got, want := call(t, glob, "pattern", "*", "path", "dirlink").Text, "d/in"; got != want {
			t.Errorf("glob = %q, want %q", got, want)
		}
		if got, want := call(t, grep, "pattern", "needle", "path", "alias").Text, "d/in:1:needle"; got != want {
			t.Errorf("grep = %q, want %q", got, want)
		}
	})
	t.Run("C071 the workspace is reached through a link", func(t *testing.T) {
		name := filepath.Join(t.TempDir(), "ws")
		link(t, filepath.Dir(name), "ws", fsys.Dir())
		linked, err := local.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer linked.Close()
		for _, tt := range [][2]string{{"d/*", "d/in"}, {filepath.Join(name, "d", "*"), "d/in"}} {
			if got := call(t, workspace.NewGlob(linked), "pattern", tt[0]).Text; got != tt[1] {
				t.Errorf("glob %s = %q, want %q", tt[0], got, tt[1])
			}
		}
	})
}

func TestGlobOtherRoot(t *testing.T) {
	other := openTree(t, map[string]string{"x/y.go": "", "x/z.log": "", ".gitignore": "*.log"})
	fsys, err := local.Open(t.TempDir(), other.Dir())
	if err != nil {
		t.Fatal(err)
	}
	defer fsys.Close()
	want := filepath.ToSlash(filepath.Join(other.Dir(), "x", "y.go"))
	if got := call(t, workspace.NewGlob(fsys), "pattern", "*", "path", filepath.Join(other.Dir(), "x")).Text; got != want {
		t.Errorf("glob = %q, want %q", got, want)
	}
}

func TestGlobCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tool := range []tools.Tool{workspace.NewGlob(openTree(t, project())), workspace.NewGrep(openTree(t, project()))} {
		if res, err := tool.Run(ctx, tools.Call{Input: object(t, "pattern", "x")}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %q, %v; want canceled", tool.Info().Name, res.Text, err)
		}
	}
}

// largeTree makes n files in n/40 directories, among them ignored ones, with
// that many lines in each and one more.
func largeTree(t testing.TB, n, lines int) *local.FS {
	t.Helper()
	var text strings.Builder
	for i := range lines {
		fmt.Fprintf(&text, "	value%d := compute(%d) // a line of a program, as long as they are\n", i, i)
	}
	files := map[string]string{".gitignore": "ignored/\n*.o\n"}
	for i := range n {
		dir, ext := fmt.Sprintf("src/pkg%02d/mod%d", i/40%50, i/2000), "go"
		if i%100 == 99 {
			dir += "/ignored"
		}
		if i%100 == 50 {
			ext = "o"
		}
		files[fmt.Sprintf("%s/file%05d.%s", dir, i, ext)] = fmt.Sprintf("%sneedle%05d\n", text.String(), i)
	}
	return openTree(t, files)
}

func TestLargeTree(t *testing.T) {
	if testing.Short() {
		t.Skip("makes 20,000 files")
	}
	const n = 20_000
	fsys := largeTree(t, n, 4)
	t.Run("glob counts all and lists some, in order", func(t *testing.T) {
		got := call(t, workspace.NewGlob(fsys), "pattern", "**/*.go").Text
		lines := strings.Split(got, "\n")
		if want := fmt.Sprintf("[500 of %d files shown;", n-2*n/100); len(lines) != 501 || !strings.HasPrefix(lines[500], want) {
			t.Errorf("%d lines, the last %q, want %q", len(lines), lines[len(lines)-1], want)
		}
		for i := 1; i < 500; i++ {
			if lines[i-1] >= lines[i] {
				t.Fatalf("%s before %s", lines[i-1], lines[i])
			}
		}
	})
	t.Run("grep finds one line among all", func(t *testing.T) {
		got := call(t, workspace.NewGrep(fsys), "pattern", "needle19998$").Text
		if want := "src/pkg49/mod9/file19998.go:5:needle19998"; got != want {
			t.Errorf("grep = %q, want %q", got, want)
		}
	})
	t.Run("grep gives the same list every time, and stops", func(t *testing.T) {
		tool := workspace.NewGrep(fsys)
		first := call(t, tool, "pattern", "needle").Text
		if lines := strings.Split(first, "\n"); len(lines) != 201 || !strings.Contains(lines[200], "stopped after 200 matching lines") {
			t.Errorf("%d lines, the last %q", len(lines), lines[len(lines)-1])
		}
		for range 3 {
			if again := call(t, tool, "pattern", "needle").Text; again != first {
				t.Error("another list")
			}
		}
	})
}

func BenchmarkGlob(b *testing.B) {
	tool := workspace.NewGlob(largeTree(b, 20_000, 40))
	for b.Loop() {
		call(b, tool, "pattern", "**/*.go")
	}
}

func BenchmarkGrep(b *testing.B) {
	tool := workspace.NewGrep(largeTree(b, 20_000, 40))
	for name, pattern := range map[string]string{"literal": "needle19998", "expression": `nee\w+19998$`, "class": `[a-z]+dle19998`} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				call(b, tool, "pattern", pattern)
			}
		})
	}
}
