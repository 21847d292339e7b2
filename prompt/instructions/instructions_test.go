package instructions_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/prompt"
	"github.com/lorimer-dev/lorimer/prompt/instructions"
)

// plant writes files below a new directory and returns its real path.
func plant(t testing.TB, files map[string]string) string {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		name = filepath.Join(base, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return base
}

// read returns what Read gives for dir, a directory below base, apart from what the
// machine that runs the test has above base. In lines base is BASE.
func read(t testing.TB, base, dir string, l instructions.Limits) ([]prompt.Instruction, []string) {
	t.Helper()
	dir = filepath.Join(base, filepath.FromSlash(dir))
	all, told := instructions.Read(dir, l)
	var found []prompt.Instruction
	for _, i := range all {
		if strings.HasPrefix(filepath.Join(dir, i.Path), base) {
			found = append(found, i)
		}
	}
	var lines []string
	for _, line := range told {
		if strings.Contains(line, "\n") {
			t.Errorf("%q is more than one line", line)
		}
		if strings.Contains(line, base) {
			lines = append(lines, filepath.ToSlash(strings.ReplaceAll(line, base, "BASE")))
		}
	}
	return found, lines
}

// isSecret holds of names that begin with a dot.
func isSecret(path string) bool { return strings.HasPrefix(filepath.Base(path), ".") }

func TestReadGivesTheFilesOfADirectoryAndThoseAbove(t *testing.T) {
	base := plant(t, map[string]string{
		"AGENTS.md":       "\ufeffoutermost\r\nsecond\r\n",
		"a/other.md":      "x",
		"a/b/AGENTS.md":   "middle",
		"a/b/c/AGENTS.md": " \n\t\n",
		"a/b/c/d/x":       "x",
		"a/b/c/AGENT.md":  "another name",
	})
	tests := []struct {
		dir  string
		want []prompt.Instruction
	}{
		{".", []prompt.Instruction{{Path: "AGENTS.md", Text: "outermost\nsecond\n"}}},
		{"a", []prompt.Instruction{{Path: "../AGENTS.md", Text: "outermost\nsecond\n"}}},
		{"a/b", []prompt.Instruction{
			{Path: "../../AGENTS.md", Text: "outermost\nsecond\n"},
			{Path: "AGENTS.md", Text: "middle"},
		}},
		{"a/b/c/d", []prompt.Instruction{
			{Path: "../../../../AGENTS.md", Text: "outermost\nsecond\n"},
			{Path: "../../AGENTS.md", Text: "middle"},
		}},
	}
	for _, tt := range tests {
		got, told := read(t, base, tt.dir, instructions.Limits{})
		if diff := cmp.Diff(tt.want, got); diff != "" || told != nil {
			t.Errorf("Read(%q) told %q, (-want +got):\n%s", tt.dir, told, diff)
		}
	}
}

func TestReadWithoutADirectoryTellsOfIt(t *testing.T) {
	base := plant(t, nil)
	found, told := read(t, base, "gone", instructions.Limits{})
	want := []string{"no AGENTS.md is looked for in BASE/gone: there is no such file or directory; correct the path"}
	if diff := cmp.Diff(want, told); diff != "" || found != nil {
		t.Errorf("Read = %v and (-want +got):\n%s", found, diff)
	}
}

func TestReadTellsOfWhatItLeavesOut(t *testing.T) {
	tests := []struct {
		name string
		text string
		want string // the text
		told []string
	}{
		{"binary", "a\x00b", "", []string{
			"BASE/AGENTS.md is not used: it is not text, or text in UTF-16; save it as UTF-8"}},
		{"UTF-16", "\xff\xfea\x00", "", []string{
			"BASE/AGENTS.md is not used: it is not text, or text in UTF-16; save it as UTF-8"}},
		{"another encoding", "one\ntwo caf\xe9\n", "", []string{
			"BASE/AGENTS.md is not used: line 2 is not UTF-8; save it as UTF-8"}},
		{"a character that is cut at the end", "one\xe2\x82", "", []string{
			"BASE/AGENTS.md is not used: line 1 is not UTF-8; save it as UTF-8"}},
		{"the character that stands for a mistake is none", "one \ufffd", "one \ufffd", nil},
		{"hidden characters stay, and are told", "one\u200b two\u200b \U000E0041", "one\u200b two\u200b \U000E0041", []string{
			"BASE/AGENTS.md has characters that do not show: U+200B (2), U+E0041; the model sees them written out: remove what you did not put there"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base := plant(t, map[string]string{"AGENTS.md": tt.text})
			got, told := read(t, base, ".", instructions.Limits{})
			var want []prompt.Instruction
			if tt.want != "" {
				want = []prompt.Instruction{{Path: "AGENTS.md", Text: tt.want}}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("found (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.told, told); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadKeepsToItsLimits(t *testing.T) {
	line := strings.Repeat("x", 99) + "\n"
	long := strings.Repeat(line, 50)
	mark := func(limit int) string {
		return fmt.Sprintf("[This file is cut here: it is longer than the %d bytes that are given of it.]", limit)
	}
	tests := []struct {
		name   string
		files  map[string]string
		limits instructions.Limits
		want   []string // texts
		told   []string
	}{
		{"what fits is not cut",
			map[string]string{"AGENTS.md": long}, instructions.Limits{File: 5000, All: 5000},
			[]string{long}, nil},
		{"a file is cut after a whole line",
			map[string]string{"AGENTS.md": long}, instructions.Limits{File: 1000},
			[]string{strings.Repeat(line, 9) + mark(1000)},
			[]string{"BASE/AGENTS.md is cut: of its 5000 bytes no more than 1000 are used; shorten it, or raise instructions.file_bytes"}},
		{"a long line is cut between characters",
			map[string]string{"AGENTS.md": strings.Repeat("€", 500)}, instructions.Limits{File: 1000},
			[]string{strings.Repeat("€", (1000-len(mark(1000))-2)/3) + "\n" + mark(1000)},
			[]string{"BASE/AGENTS.md is cut: of its 1500 bytes no more than 1000 are used; shorten it, or raise instructions.file_bytes"}},
		{"imports count",
			map[string]string{"AGENTS.md": "@a.md\n@b.md\n", "a.md": strings.Repeat(line, 6), "b.md": strings.Repeat(line, 6)},
			instructions.Limits{File: 1000},
			[]string{strings.Repeat(line, 9) + mark(1000)},
			[]string{"BASE/AGENTS.md is cut: with its imports it is longer than the 1000 bytes that are used; shorten them, or raise instructions.file_bytes"}},
		{"the nearest has its share first",
			map[string]string{"a/b/AGENTS.md": strings.Repeat(line, 10), "a/AGENTS.md": long, "AGENTS.md": "outermost"},
			instructions.Limits{File: 1500, All: 2000},
			[]string{strings.Repeat(line, 9) + mark(1000), strings.Repeat(line, 10)},
			[]string{
				"BASE/a/AGENTS.md is cut: of its 5000 bytes no more than 1000 are used; shorten it, or raise instructions.all_bytes",
				"BASE/AGENTS.md is not used: nearer files take all of the 2000 bytes; shorten them, or raise instructions.all_bytes",
			}},
		{"what has no share is told",
			map[string]string{"a/b/AGENTS.md": strings.Repeat(line, 10), "AGENTS.md": "outermost"},
			instructions.Limits{File: 1500, All: 1000},
			[]string{strings.Repeat(line, 10)},
			[]string{"BASE/AGENTS.md is not used: nearer files take all of the 1000 bytes; shorten them, or raise instructions.all_bytes"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base := plant(t, tt.files)
			dir := "."
			if tt.files["a/b/AGENTS.md"] != "" {
				dir = "a/b"
			}
			found, told := read(t, base, dir, tt.limits)
			var texts []string
			for _, i := range found {
				texts = append(texts, i.Text)
			}
			if diff := cmp.Diff(tt.want, texts); diff != "" {
				t.Errorf("texts (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.told, told); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
		})
	}
}

// No limit reserves memory that no prompt could fill.
func TestReadBoundsItsLimits(t *testing.T) {
	base := plant(t, map[string]string{"AGENTS.md": strings.Repeat("0123456789abcde\n", 5<<20/16)})
	for _, limit := range []int{5 << 20, math.MaxInt} {
		found, told := read(t, base, ".", instructions.Limits{File: limit, All: limit})
		if len(found) != 1 || len(found[0].Text) > 4<<20 || len(told) != 1 {
			t.Errorf("limit %d: found %d files, told %q; want one that is cut at 4 MiB", limit, len(found), told)
		}
	}
}

func TestReadOfAHugeFileReadsItsBeginning(t *testing.T) {
	const size = 5 << 20
	base := plant(t, map[string]string{"AGENTS.md": strings.Repeat("0123456789abcde\n", size/16)})
	found, told := read(t, base, ".", instructions.Limits{})
	if len(found) != 1 || len(found[0].Text) > 32<<10 || len(found[0].Text) < 31<<10 {
		t.Fatalf("found %d files", len(found))
	}
	want := []string{"BASE/AGENTS.md is cut: of its 5242880 bytes no more than 32768 are used; shorten it, or raise instructions.file_bytes"}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
	used := testing.AllocsPerRun(10, func() { instructions.Read(base, instructions.Limits{}) })
	if used > 1000 {
		t.Errorf("%v allocations for a file of which 32 KiB count", used)
	}
}

// A file that is written anew all the time is read as some of what it was, and
// always as valid text within the limit.
func TestReadOfAFileThatChanges(t *testing.T) {
	base := plant(t, map[string]string{"AGENTS.md": "€\n"})
	name := filepath.Join(base, "AGENTS.md")
	stop := make(chan struct{})
	ended := make(chan error)
	go func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				ended <- nil
				return
			default:
			}
			if err := os.WriteFile(name, []byte(strings.Repeat("€\n", n%50_000)), 0o600); err != nil {
				ended <- err
				return
			}
		}
	}()
	for range 300 {
		found, _ := read(t, base, ".", instructions.Limits{})
		for _, f := range found {
			if !utf8.ValidString(f.Text) || len(f.Text) > 32<<10 || !strings.HasPrefix(f.Text, "€\n") {
				t.Fatalf("text of %d bytes, beginning %.20q", len(f.Text), f.Text)
			}
		}
	}
	close(stop)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestNested(t *testing.T) {
	long := strings.Repeat(strings.Repeat("x", 63)+"\n", 200)
	files := map[string]string{
		"/w/AGENTS.md":         "of the root",
		"/w/a/AGENTS.md":       "\ufeffa\r\n@b/x.md\r\n",
		"/w/a/b/c/AGENTS.md":   "c",
		"/w/long/AGENTS.md":    long,
		"/w/binary/AGENTS.md":  "\x00",
		"/w/blank/AGENTS.md":   "\n",
		"/outside/x/AGENTS.md": "outside",
	}
	failing := errors.New("the disk is on fire")
	read := func(name string) ([]byte, error) {
		name = filepath.ToSlash(name)
		if name == "/w/broken/AGENTS.md" {
			return nil, &fs.PathError{Op: "open", Path: name, Err: failing}
		}
		text, ok := files[name]
		if !ok {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		return []byte(text), nil
	}
	a := instructions.File{Path: filepath.FromSlash("/w/a/AGENTS.md"), Text: "a\n@b/x.md\n"}
	c := instructions.File{Path: filepath.FromSlash("/w/a/b/c/AGENTS.md"), Text: "c"}
	tests := []struct {
		path string
		want []instructions.File
		told []string
	}{
		{"/w/main.go", nil, nil},
		{"/w/", nil, nil},
		{"/w", nil, nil},
		{"", nil, nil},
		{"/w/a/main.go", []instructions.File{a}, nil},
		{"/w/a", nil, nil}, // a file of the root
		{"/w/a/", []instructions.File{a}, nil},
		{"/w/a/b/c/d/main.go", []instructions.File{a, c}, nil},
		{"/w/a/../a/b/c/x", []instructions.File{a, c}, nil},
		{"/w/a/AGENTS.md", nil, nil},
		{"/w/a/b/c/AGENTS.md", []instructions.File{a}, nil},
		{"/w/blank/x", nil, nil},
		{"/w/none/x", nil, nil},
		{"/outside/x/y", nil, nil},
		{"/w/../outside/x/y", nil, nil},
		{"relative/x", nil, nil},
		{"/w/binary/x", nil, []string{"/w/binary/AGENTS.md is not used: it is not text, or text in UTF-16; save it as UTF-8"}},
		{"/w/broken/x", nil, []string{"/w/broken/AGENTS.md is not used: the disk is on fire; correct it, or remove it"}},
		{"/w/long/x", []instructions.File{{
			Path: filepath.FromSlash("/w/long/AGENTS.md"),
			Text: long[:126*64] + "[This file is cut here: it is longer than the 8192 bytes that are given of it.]",
		}}, []string{"/w/long/AGENTS.md is cut: it is longer than 8192 bytes, which is all that is told of it; shorten it"}},
	}
	for _, tt := range tests {
		got, told := instructions.Nested(filepath.FromSlash("/w"), filepath.FromSlash(tt.path), read)
		for i, line := range told {
			told[i] = filepath.ToSlash(line)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("Nested(%q) (-want +got):\n%s", tt.path, diff)
		}
		if diff := cmp.Diff(tt.told, told); diff != "" {
			t.Errorf("Nested(%q) told (-want +got):\n%s", tt.path, diff)
		}
	}
}

// BenchmarkRead is what a send costs in a directory nine below the root.
func BenchmarkRead(b *testing.B) {
	text := strings.Repeat("- Keep lines short, and say why something is done.\n", 80)
	trees := []struct {
		name  string
		files map[string]string
	}{
		{"none", map[string]string{"a/b/c/d/e/x": ""}},
		{"three", map[string]string{"AGENTS.md": text, "a/b/AGENTS.md": text, "a/b/c/d/e/AGENTS.md": text}},
		{"imports", map[string]string{"a/b/c/d/e/AGENTS.md": text + "@x.md\n@y.md\n", "a/b/c/d/e/x.md": text, "a/b/c/d/e/y.md": text}},
	}
	for _, tree := range trees {
		b.Run(tree.name, func(b *testing.B) {
			dir := filepath.Join(plant(b, tree.files), filepath.FromSlash("a/b/c/d/e"))
			b.ReportAllocs()
			for b.Loop() {
				instructions.Read(dir, instructions.Limits{})
			}
		})
	}
}

func write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
