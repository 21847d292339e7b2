package instructions_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/prompt/instructions"
)

func TestImports(t *testing.T) {
	const stays = "BASE/AGENTS.md:1: @%s stays as it is: %s"
	outside := "it leads out of the directory of the AGENTS.md that it belongs to; put the text itself there"
	tests := []struct {
		name  string
		files map[string]string // that of AGENTS.md is the one read
		want  string
		told  []string
	}{
		{"a line alone is replaced",
			map[string]string{"AGENTS.md": "one\n@a.md\ntwo\n", "a.md": "a\n"}, "one\na\ntwo\n", nil},
		{"a missing line end is added",
			map[string]string{"AGENTS.md": "@a.md\n@b.md", "a.md": "a", "b.md": "b"}, "a\nb\n", nil},
		{"an empty file leaves nothing",
			map[string]string{"AGENTS.md": "one\n@a.md\ntwo\n", "a.md": ""}, "one\ntwo\n", nil},
		{"items of lists",
			map[string]string{"AGENTS.md": "- @a.md\n* @b.md\n  1. @c.md\n+\t@d.md\n10) @e.md\n      - @f.md\n",
				"a.md": "a", "b.md": "b", "c.md": "c", "d.md": "d", "e.md": "e", "f.md": "f"}, "a\nb\nc\nd\ne\nf\n", nil},
		{"line ends of other systems, a mark, and blanks around",
			map[string]string{"AGENTS.md": "one\r\n  @a.md \t\r\n", "a.md": "\ufeffa\r\nb\r\n"}, "one\na\nb\n", nil},
		{"a path starts at the file that it stands in",
			map[string]string{"AGENTS.md": "@docs/a.md\n", "docs/a.md": "@./b.md\n@../c.md\n", "docs/b.md": "b", "c.md": "c"}, "b\nc\n", nil},
		{"what only looks like one",
			map[string]string{
				"AGENTS.md": "@a.md and more\nsee @a.md\nme@a.md\n`@a.md`\n@\n    @a.md\n\t@a.md\n-@a.md\n> @a.md\n1234567890. @a.md\n- - @a.md\n1 @a.md\n",
				"a.md":      "a"},
			"@a.md and more\nsee @a.md\nme@a.md\n`@a.md`\n@\n    @a.md\n\t@a.md\n-@a.md\n> @a.md\n1234567890. @a.md\n- - @a.md\n1 @a.md\n", nil},
		{"a word too long for a path",
			map[string]string{"AGENTS.md": "@" + strings.Repeat("x", 1025) + "\n"}, "@" + strings.Repeat("x", 1025) + "\n", nil},
		{"code fences",
			map[string]string{
				"AGENTS.md": "```go\n@a.md\n```\n~~~\n@a.md\n```\n@a.md\n~~~~\n````\n```\n@a.md\n`````  \n- ```\n  @a.md\n  ```\n   ~~~ `x`\n@a.md\n   ~~~\n@a.md\n```\n@a.md",
				"a.md":      "a"},
			"```go\n@a.md\n```\n~~~\n@a.md\n```\n@a.md\n~~~~\n````\n```\n@a.md\n`````  \n- ```\n  @a.md\n  ```\n   ~~~ `x`\n@a.md\n   ~~~\na\n```\n@a.md", nil},
		{"what only looks like a code fence",
			map[string]string{"AGENTS.md": "``` `x`\n@a.md\n``\n@b.md\n", "a.md": "a", "b.md": "b"}, "``` `x`\na\n``\nb\n", nil},
		{"a fence of an imported file ends with it",
			map[string]string{"AGENTS.md": "@a.md\n@b.md\n", "a.md": "```\n", "b.md": "b"}, "```\nb\n", nil},
		{"comments",
			map[string]string{
				"AGENTS.md": "<!-- x -->\n@a.md\n<!--\n@b.md\n-->\n@c.md\n<!-- x --> <!-- y\n@b.md\n--> <!--\n@b.md\n-->\n",
				"a.md":      "a", "b.md": "b", "c.md": "c"},
			"<!-- x -->\na\n<!--\n@b.md\n-->\nc\n<!-- x --> <!-- y\n@b.md\n--> <!--\n@b.md\n-->\n", nil},
		{"a file that is there already has no second place",
			map[string]string{"AGENTS.md": "@a.md\n@b.md\n@./a.md\n", "a.md": "a", "b.md": "b\n@a.md\n"}, "a\nb\n@a.md\n@./a.md\n", nil},
		{"itself",
			map[string]string{"AGENTS.md": "@AGENTS.md\n"}, "@AGENTS.md\n",
			[]string{fmt.Sprintf(stays, "AGENTS.md", "it would import itself; remove one of the imports")}},
		{"a circle",
			map[string]string{"AGENTS.md": "@a.md\n", "a.md": "a\n@docs/b.md\n", "docs/b.md": "b\n@../a.md\n"}, "a\nb\n@../a.md\n",
			[]string{"BASE/docs/b.md:2: @../a.md stays as it is: it would import itself; remove one of the imports"}},
		{"five inside of each other, and no sixth",
			map[string]string{"AGENTS.md": "@1\n", "1": "@2\n", "2": "@3\n", "3": "@4\n", "4": "@5\n", "5": "five\n@6\n", "6": "six"}, "five\n@6\n",
			[]string{"BASE/5:2: @6 stays as it is: more than 5 imports stand inside of each other; import it from an outer file"}},
		{"missing",
			map[string]string{"AGENTS.md": "@gone.md\n"}, "@gone.md\n",
			[]string{fmt.Sprintf(stays, "gone.md", "there is no such file or directory; correct the path")}},
		{"a file as a directory",
			map[string]string{"AGENTS.md": "@a.md/b.md\n", "a.md": ""}, "@a.md/b.md\n",
			[]string{fmt.Sprintf(stays, "a.md/b.md", "there is no such file or directory; correct the path")}},
		{"a directory",
			map[string]string{"AGENTS.md": "@docs\n", "docs/a.md": ""}, "@docs\n",
			[]string{fmt.Sprintf(stays, "docs", "it is not a regular file; put a text file in its place")}},
		{"above",
			map[string]string{"AGENTS.md": "@../../x\n"}, "@../../x\n", []string{fmt.Sprintf(stays, "../../x", outside)}},
		{"above and back, which is inside",
			map[string]string{"AGENTS.md": "@docs/../a.md\n", "a.md": "a"}, "a\n", nil},
		{"home",
			map[string]string{"AGENTS.md": "@~/x.md\n", "~/x.md": "not home"}, "@~/x.md\n", []string{fmt.Sprintf(stays, "~/x.md", outside)}},
		{"binary",
			map[string]string{"AGENTS.md": "@x.png\n", "x.png": "\x89PNG\x00"}, "@x.png\n",
			[]string{fmt.Sprintf(stays, "x.png", "it is not text, or text in UTF-16; save it as UTF-8")}},
		{"another encoding",
			map[string]string{"AGENTS.md": "@a.md\n", "a.md": "caf\xe9"}, "@a.md\n",
			[]string{fmt.Sprintf(stays, "a.md", "line 1 is not UTF-8; save it as UTF-8")}},
		{"a file of secrets",
			map[string]string{"AGENTS.md": "@.env\n", ".env": "KEY=x"}, "@.env\n",
			[]string{fmt.Sprintf(stays, ".env", "by its name it holds passwords or keys; move what the model may read into another file")}},
		{"the others hold",
			map[string]string{"AGENTS.md": "@gone.md\n@a.md\n", "a.md": "a"}, "@gone.md\na\n",
			[]string{fmt.Sprintf(stays, "gone.md", "there is no such file or directory; correct the path")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base := plant(t, tt.files)
			found, told := read(t, base, ".", instructions.Limits{Secret: isSecret})
			if len(found) != 1 {
				t.Fatalf("found %v, told %q", found, told)
			}
			if diff := cmp.Diff(tt.want, found[0].Text); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.told, told); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
		})
	}
}

func TestImportByAbsolutePath(t *testing.T) {
	base := plant(t, map[string]string{"w/a.md": "a\n", "b.md": "b\n"})
	text := fmt.Sprintf("@%s\n@%s\n", filepath.ToSlash(filepath.Join(base, "w", "a.md")), filepath.ToSlash(filepath.Join(base, "b.md")))
	if strings.ContainsAny(text, " \t") {
		t.Skip("the directory for temporary files has blanks in its name, so no line can import from it")
	}
	write(t, filepath.Join(base, "w", "AGENTS.md"), text)
	found, told := read(t, base, "w", instructions.Limits{})
	if len(found) != 1 || !strings.HasPrefix(found[0].Text, "a\n@") || len(told) != 1 || !strings.Contains(told[0], "leads out") {
		t.Errorf("Read = %q, told %q; want the file inside and not the other", found, told)
	}
}

func TestThousandsOfImports(t *testing.T) {
	repeat := func(n int, line func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(line(i))
		}
		return b.String()
	}
	same := repeat(5000, func(int) string { return "@a.md\n" })
	missing := repeat(3000, func(i int) string { return fmt.Sprintf("@m%04d\n", i) })
	t.Run("one file", func(t *testing.T) {
		base := plant(t, map[string]string{"AGENTS.md": same + same, "a.md": "first\n"})
		found, told := read(t, base, ".", instructions.Limits{File: 100_000, All: 100_000})
		if want := "first\n" + (same + same)[len("@a.md\n"):]; len(found) != 1 || found[0].Text != want || told != nil {
			t.Errorf("found %d files, told %q; want the file once and the rest as it is", len(found), told)
		}
	})
	t.Run("missing files", func(t *testing.T) {
		base := plant(t, map[string]string{"AGENTS.md": missing})
		found, told := read(t, base, ".", instructions.Limits{})
		if len(found) != 1 || found[0].Text != missing {
			t.Errorf("found %d files; want the text as it is", len(found))
		}
		if len(told) != 21 || told[20] != "BASE/AGENTS.md: 2980 more of its imports are not used; correct the others first" {
			t.Errorf("told %d lines, the last %q; want twenty and a count", len(told), told[len(told)-1])
		}
	})
	t.Run("more files than are looked at", func(t *testing.T) {
		files := map[string]string{"AGENTS.md": repeat(101, func(i int) string { return fmt.Sprintf("@%d.md\n", i) })}
		for i := range 101 {
			files[fmt.Sprintf("%d.md", i)] = fmt.Sprintf("%d\n", i)
		}
		found, told := read(t, plant(t, files), ".", instructions.Limits{})
		if want := repeat(100, func(i int) string { return fmt.Sprintf("%d\n", i) }) + "@100.md\n"; len(found) != 1 || found[0].Text != want {
			t.Errorf("found %q; want a hundred files and then the line as it is", found)
		}
		want := []string{"BASE/AGENTS.md:101: @100.md stays as it is: there are more than 100 imports; put several files into one"}
		if diff := cmp.Diff(want, told); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
	})
}

// Whatever the files of a directory say, what is read of them is valid text within
// the limit, and never has what stands outside of it or in a file of secrets.
func FuzzRead(f *testing.F) {
	f.Add([]byte("one\n@a.md\n- @docs/b.md\n"), []byte("@docs/b.md\r\n"), []byte("b"))
	f.Add([]byte("@../secret.md\n@.env\n@/etc/passwd\n"), []byte("@AGENTS.md"), []byte("@../../secret.md\n"))
	f.Add([]byte("\xef\xbb\xbf```\n@a.md\n"), []byte("\x00"), []byte("\xff\xfe"))
	f.Add([]byte("<!-- @a.md\n@a.md -->\n@a.md"), []byte("€"), []byte("@docs/../../secret.md\n@a.md/../.env"))
	base := plant(f, map[string]string{"secret.md": "S3CR3T", "w/.env": "S3CR3T", "w/docs/x": ""})
	f.Fuzz(func(t *testing.T, agents, a, b []byte) {
		for name, data := range map[string][]byte{"AGENTS.md": agents, "a.md": a, "docs/b.md": b} {
			write(t, filepath.Join(base, "w", filepath.FromSlash(name)), string(data))
			if strings.Contains(string(data), "S3CR3T") {
				t.Skip()
			}
		}
		const limit = 256
		found, told := read(t, base, "w", instructions.Limits{File: limit, Secret: isSecret})
		for _, i := range found {
			if !utf8.ValidString(i.Text) || len(i.Text) > limit || strings.Contains(i.Text, "S3CR3T") {
				t.Errorf("text %q of %d bytes", i.Text, len(i.Text))
			}
		}
		if len(told) > 25 {
			t.Errorf("%d lines are told", len(told))
		}
		if len(found) == 0 && len(told) == 0 && strings.TrimSpace(string(agents)) != "" && !strings.Contains(string(agents), "@") &&
			strings.TrimSpace(strings.TrimPrefix(string(agents), "\ufeff")) != "" {
			t.Errorf("nothing is found in %q, and nothing is told", agents)
		}
	})
}

// What is not told costs nothing to say: a file full of imports that cannot be
// followed is read at each send.
func TestManyBadImportsAreCheap(t *testing.T) {
	const lines = 10_000
	base := plant(t, map[string]string{"AGENTS.md": strings.Repeat("@x\n", lines)})
	allocs := testing.AllocsPerRun(3, func() {
		if _, told := instructions.Read(base, instructions.Limits{}); len(told) != 21 {
			t.Fatalf("%d lines are told, want 20 and the number of the others", len(told))
		}
	})
	if perLine := allocs / lines; perLine > 6 {
		t.Errorf("an import that cannot be followed takes %.1f allocations", perLine)
	}
}
