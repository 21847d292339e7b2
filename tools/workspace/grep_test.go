package workspace_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lorimer-dev/lorimer/tools/workspace"
)

func TestGrep(t *testing.T) {
	files := map[string]string{
		"a.go":       "package a\n\nfunc One() {}\nfunc Two() {}\n",
		"b/c.go":     "package c\r\n// one line\r\nfunc one() {}",
		"b/d.txt":    "one\ntwo\nthree\nfour\nfive\nsix\nseven\none\n",
		"binary":     "one\x00one\n",
		"latin.txt":  "gr\xfc\xdfe one\n",
		"utf16.txt":  "\xff\xfeo\x00n\x00e\x00 \x00\xfc\x00\n\x00",
		"marked.txt": "\ufeffone\n",
		"esc.txt":    "one \x1b[31mred\x1b[0m\n",
		".git/x":     "one\n",
		".gitignore": "skip/\n",
		"skip/s.txt": "one\n",
		"empty":      "",
	}
	fsys := openTree(t, files)
	tool := workspace.NewGrep(fsys)
	tests := []struct {
		name  string
		input []any
		want  string
	}{
		{"lines by path and number", []any{"pattern", "^func "}, "a.go:3:func One() {}\na.go:4:func Two() {}\nb/c.go:3:func one() {}"},
		{"the end of a line is before CRLF", []any{"pattern", "line$"}, "b/c.go:2:// one line"},
		{"ignore case", []any{"pattern", "ONE\\(", "ignore_case", true}, "a.go:3:func One() {}\nb/c.go:3:func one() {}"},
		{"glob by name", []any{"pattern", "one", "glob", "*.txt", "path", "b"}, "b/d.txt:1:one\nb/d.txt:8:one"},
		{"glob by path", []any{"pattern", "one\\(", "glob", "b/**"}, "b/c.go:3:func one() {}"},
		{"one file", []any{"pattern", "t", "path", "b/d.txt"}, "b/d.txt:2:two\nb/d.txt:3:three"},
		{"context, with a gap", []any{"pattern", "one", "path", "b/d.txt", "context", 1}, "b/d.txt:1:one\nb/d.txt-2-two\n--\nb/d.txt-7-seven\nb/d.txt:8:one"},
		{"context that touches is one piece", []any{"pattern", "two|four", "path", "b/d.txt", "context", 1}, "b/d.txt-1-one\nb/d.txt:2:two\nb/d.txt-3-three\nb/d.txt:4:four\nb/d.txt-5-five"},
		{"files only", []any{"pattern", "one", "files_only", true}, "b/c.go\nb/d.txt\nesc.txt\nlatin.txt\nmarked.txt\nutf16.txt"},
		{"limit", []any{"pattern", "one", "path", "b", "limit", 1}, "b/c.go:2:// one line\n[stopped after 1 matching lines, there are more; narrow the pattern, the path or the glob]"},
		{"numbers with a fraction of nothing", []any{"pattern", "two", "path", "b", "limit", json.Number("1.0"), "context", json.Number("1.0")}, "b/d.txt-1-one\nb/d.txt:2:two\nb/d.txt-3-three"},
		{"a limit that is just enough", []any{"pattern", "one", "path", "b/d.txt", "limit", 2}, "b/d.txt:1:one\nb/d.txt:8:one"},
		{"no match", []any{"pattern", "nowhere"}, "No match."},
		{"bytes that are not UTF-8", []any{"pattern", "one", "path", "latin.txt"}, "latin.txt:1:gr\ufffd\ufffde one"},
		{"UTF-16", []any{"pattern", "one ü$", "path", "utf16.txt"}, "utf16.txt:1:one ü"},
		{"a byte order mark is no text", []any{"pattern", "^one$", "path", "marked.txt"}, "marked.txt:1:one"},
		{"escape sequences are not shown", []any{"pattern", "red", "path", "esc.txt"}, "esc.txt:1:one red"},
		{"an ignored directory that is named", []any{"pattern", "one", "path", "skip"}, "skip/s.txt:1:one"},
		{"an empty file", []any{"pattern", "^", "path", "empty"}, "No match."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := call(t, tool, tt.input...)
			if got.Text != tt.want || got.IsError {
				t.Errorf("result = %q (error %v), want %q", got.Text, got.IsError, tt.want)
			}
			if !utf8.ValidString(got.Text) {
				t.Error("not UTF-8")
			}
		})
	}
	for pattern, want := range map[string]string{"a(": "cannot be used", `(?=x)`: "look-around"} {
		if got := call(t, tool, "pattern", pattern); !got.IsError || !strings.Contains(got.Text, want) {
			t.Errorf("%s = %q (error %v), want an error with %q", pattern, got.Text, got.IsError, want)
		}
	}
	if got := call(t, tool, "pattern", "one", "path", "binary"); !got.IsError || !strings.Contains(got.Text, "binary") {
		t.Errorf("binary = %q (error %v)", got.Text, got.IsError)
	}
}

func TestGrepSecrets(t *testing.T) {
	fsys := openTree(t, map[string]string{
		".env": "KEY=1\n", "a/prod.env": "KEY=2\n", "a/key.pem": "KEY\n", "id_rsa": "KEY\n", ".npmrc": "KEY\n", ".netrc": "KEY\n",
		".env.example": "KEY=\n", "id_rsa.pub": "KEY\n",
	})
	tool := workspace.NewGrep(fsys)
	t.Run("C135 files of secrets are not searched, examples are", func(t *testing.T) {
		want := ".env.example:1:KEY=\nid_rsa.pub:1:KEY\n[not searched, since they may hold secrets: .env, .netrc, .npmrc, a/key.pem, a/prod.env and 1 more]"
		if got := call(t, tool, "pattern", "KEY").Text; got != want {
			t.Errorf("result = %q, want %q", got, want)
		}
	})
	t.Run("C135 one that is named is asked for and searched", func(t *testing.T) {
		plan, err := tool.Plan(t.Context(), object(t, "pattern", "KEY", "path", ".env"))
		if err != nil || plan.Caution == "" {
			t.Errorf("Plan = %+v, %v; want a caution", plan, err)
		}
		if got, want := call(t, tool, "pattern", "KEY", "path", ".env").Text, ".env:1:KEY=1"; got != want {
			t.Errorf("result = %q, want %q", got, want)
		}
	})
	t.Run("others need no question", func(t *testing.T) {
		for _, path := range []string{".", ".env.example"} {
			if plan, err := tool.Plan(t.Context(), object(t, "pattern", "KEY", "path", path)); err != nil || plan.Caution != "" {
				t.Errorf("Plan for %s = %+v, %v", path, plan, err)
			}
		}
	})
}

func TestGrepLongLines(t *testing.T) {
	long := strings.Repeat("字", 100_000)
	fsys := openTree(t, map[string]string{
		"front": "needle" + long + "\nlast needle\n",
		"back":  long + "needle" + long + "\nlast needle\n",
		"huge":  strings.Repeat(long, 10) + "needle\nlast\n",
	})
	tool := workspace.NewGrep(fsys)
	for _, file := range []string{"front", "back", "huge"} {
		got := call(t, tool, "pattern", "needle", "path", file).Text
		if !utf8.ValidString(got) || strings.ContainsRune(got, utf8.RuneError) {
			t.Errorf("%s: cut inside a character: %q", file, got)
		}
		if len(got) > 1000 || !strings.HasPrefix(got, file+":1:") || !strings.Contains(got, "needle") {
			t.Errorf("%s: %d bytes: %.100q", file, len(got), got)
		}
		if file != "huge" && !strings.HasSuffix(got, file+":2:last needle") {
			t.Errorf("%s: the line behind it is missing: %q", file, got[len(got)-50:])
		}
	}
}

func TestGrepBytes(t *testing.T) {
	fsys := openTree(t, map[string]string{"f": strings.Repeat(strings.Repeat("x", 300)+"\n", 1000)})
	got := call(t, workspace.NewGrep(fsys), "pattern", "x", "limit", 1000).Text
	if len(got) > 66<<10 || !strings.Contains(got, "[stopped after ") {
		t.Errorf("result of %d bytes, ending %q", len(got), got[len(got)-100:])
	}
}

func TestGrepUnreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	fsys := openTree(t, map[string]string{"a": "one\n", "b": "one\n"})
	if err := os.Chmod(filepath.Join(fsys.Dir(), "a"), 0); err != nil {
		t.Fatal(err)
	}
	want := "b:1:one\n[1 files or directories could not be read]"
	if got := call(t, workspace.NewGrep(fsys), "pattern", "one").Text; got != want {
		t.Errorf("result = %q, want %q", got, want)
	}
}

func FuzzGrepLines(f *testing.F) {
	f.Add("one\ntwo\r\n\nthree", "t", uint8(1))
	f.Add("a\n\xffb", ".", uint8(0))
	f.Fuzz(func(t *testing.T, text, literal string, context uint8) {
		if literal == "" || len(literal) > 50 || strings.ContainsAny(text+literal, "\x00\r\x1b\b") || len(text) > 4000 || !utf8.ValidString(literal) {
			t.Skip()
		}
		fsys := openTree(t, map[string]string{"f": text})
		res := call(t, workspace.NewGrep(fsys), "pattern", `\Q`+strings.ReplaceAll(literal, `\E`, `\E\\E\Q`)+`\E`, "path", "f", "limit", 2000, "context", int(context%4))
		for i, line := range strings.Split(text, "\n") {
			if got, want := strings.Contains("\n"+res.Text, fmt.Sprintf("\nf:%d:", i+1)), strings.Contains(line, literal); got != want && !res.IsError && len(line) > 0 {
				t.Errorf("line %d of %q found %v, want %v: %q", i+1, text, got, want, res.Text)
			}
		}
	})
}
