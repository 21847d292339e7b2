package skills

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// put writes a skill of about size bytes, an hour old.
func put(t *testing.T, path string, size int) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	name := strings.TrimSuffix(filepath.Base(path), ".md")
	text := fmt.Sprintf("---\nname: %s\ndescription: For it.\n---\n%s\n", strings.ToLower(name), strings.Repeat("x", size))
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	then := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, then, then); err != nil {
		t.Fatal(err)
	}
}

// A folder of a workspace that becomes a link after it was looked at leads nowhere
// outside.
func TestReadStaysInside(t *testing.T) {
	workspace, outside := t.TempDir(), t.TempDir()
	dir := filepath.Join(workspace, ".agents", "skills", "a")
	put(t, filepath.Join(dir, "SKILL.md"), 10)
	put(t, filepath.Join(outside, "SKILL.md"), 10)
	found := list(Root{Project, filepath.Dir(dir), workspace}, workspace).found
	if len(found) != 1 || found[0].wrong != "" {
		t.Fatalf("list = %+v, want one candidate", found)
	}
	if _, _, err := found[0].read(); err != nil {
		t.Errorf("read of the folder = %v, want its file", err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, dir); err != nil {
		t.Skipf("links cannot be made here: %v", err)
	}
	if data, _, err := found[0].read(); err == nil {
		t.Errorf("read through a link that came later = %q, want an error", data)
	}
}

func TestListCrowded(t *testing.T) {
	dir := t.TempDir()
	for i := range maxEntries + 1 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%05d", i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f := list(Root{User, dir, dir}, "")
	if want := "holds more than 10000 entries and is not read; keep skills in a folder of their own"; f.wrong == nil || f.wrong.Text != want || !f.wrong.Fatal {
		t.Errorf("problem of a crowded folder = %v, want %q", f.wrong, want)
	}
}

// What is kept is bounded, and what the last Find used is kept in any case.
func TestLibraryForgets(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	for i := range maxKept/maxInstruction + 10 {
		put(t, filepath.Join(one, fmt.Sprintf("s%03d.md", i)), maxInstruction-100)
	}
	put(t, filepath.Join(two, "a.md"), 10)
	lib := new(Library)
	lib.Find(Places{Folder: one})
	if len(lib.kept) < maxKept/maxInstruction {
		t.Errorf("%d readings are kept after the Find that made them, want all", len(lib.kept))
	}
	lib.Find(Places{Folder: two})
	if len(lib.kept) != 1 {
		t.Errorf("%d readings are kept of more than %d bytes, want that of the last Find", len(lib.kept), maxKept)
	}
}

func TestProblemIsOneLine(t *testing.T) {
	p := Problem{Path: "/x/a\nb\u202e/SKILL.md", Text: "is empty"}
	if got, want := p.String(), `"/x/a\nb\u202e/SKILL.md": is empty`; got != want {
		t.Errorf("String() = %s, want %s", got, want)
	}
}
