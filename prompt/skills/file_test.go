package skills_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lorimer-dev/lorimer/prompt/skills"
)

// only returns the one skill that is not built in.
func only(t *testing.T, p skills.Places) skills.Skill {
	t.Helper()
	found, problems := find(t, p)
	for _, s := range found {
		if s.Scope != skills.Builtin {
			return s
		}
	}
	t.Fatalf("no skill; problems %q", problems)
	return skills.Skill{}
}

func TestFile(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, ".agents/skills/a")
	write(t, filepath.Join(dir, "SKILL.md"), skillText("a", "home"))
	write(t, filepath.Join(dir, "references/style.md"), "\ufeffUse {{x}}.\r\nBe\u200b brief.\r\n")
	write(t, filepath.Join(dir, "picture.png"), "\x89PNG\x00\x01")
	write(t, filepath.Join(dir, "latin.txt"), "caf\xe9")
	write(t, filepath.Join(dir, "long.txt"), strings.Repeat("Übung\n", 20_000))
	write(t, filepath.Join(home, "secret.txt"), "secret")
	link(t, filepath.Join(home, "secret.txt"), filepath.Join(dir, "out.txt"))
	link(t, "../..", filepath.Join(dir, "up"))
	link(t, "references/style.md", filepath.Join(dir, "in.md"))
	s := only(t, skills.Places{Home: home})
	const there = `the files are "SKILL.md", "latin.txt", "long.txt", "picture.png", "references/style.md"`
	const style = "Use {{x}}.\nBe<U+200B> brief.\n"
	tests := []struct {
		name, file, want, fail string
	}{
		{"in a folder", "references/style.md", style, ""},
		{"with a dot before it", "./references/style.md", style, ""},
		{"by a link inside", "in.md", style, ""},
		{"its own", "SKILL.md", skillText("a", "home"), ""},
		{"above", "../../../secret.txt", "", `"../../../secret.txt" is no file of the skill "a"; give a path without .. from its folder`},
		{"above, hidden in the middle", "references/../../b", "", `"../b" is no file of the skill "a"; `},
		{"absolute", filepath.ToSlash(filepath.Join(home, "secret.txt")), "", "is no file of the skill"},
		{"empty", "", "", `"." of the skill "a" is a folder; ` + there},
		{"zero byte", "a\x00b", "", "is no file of the skill"},
		{"by a link outside", "out.txt", "", `the file "out.txt" of the skill "a" cannot be opened from its folder; ` + there},
		{"by a linked folder outside", "up/skills/a/SKILL.md", "", "cannot be opened from its folder"},
		{"missing", "none.md", "", `the skill "a" has no file "none.md"; ` + there},
		{"a folder", "references", "", `"references" of the skill "a" is a folder; ` + there},
		{"below a file", "SKILL.md/x", "", `"SKILL.md/x"`},
		{"a picture", "picture.png", "", `the file "picture.png" of the skill "a" is no text (6 bytes) and is not shown`},
		{"another encoding", "latin.txt", "", `the file "latin.txt" of the skill "a" is no text (4 bytes) and is not shown`},
	}
	lib := new(skills.Library)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := lib.File(s, tt.file)
			if got != tt.want || (err == nil) != (tt.fail == "") {
				t.Fatalf("File(%q) = %q, %v, want %q, %q", tt.file, got, err, tt.want, tt.fail)
			}
			if err != nil && !strings.Contains(err.Error(), tt.fail) {
				t.Errorf("File(%q) fails with %q, want %q", tt.file, err, tt.fail)
			}
			if err != nil && !filepath.IsAbs(tt.file) && strings.Contains(err.Error(), home) {
				t.Errorf("File(%q) tells a path of this machine: %q", tt.file, err)
			}
		})
	}
	t.Run("long", func(t *testing.T) {
		got, err := lib.File(s, "long.txt")
		if err != nil || len(got) > 64<<10+200 || !strings.HasPrefix(got, "Übung\n") || !strings.HasSuffix(got, "left out, because it is too long to be given whole.)") {
			t.Errorf("File of 140 kB = %d bytes, %v, ending in %q, want 64 KiB with a mark", len(got), err, got[max(0, len(got)-80):])
		}
	})
	t.Run("the folder is gone", func(t *testing.T) {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := lib.File(s, "SKILL.md"); err == nil || !strings.Contains(err.Error(), `the folder of the skill "a" cannot be opened any more; `) {
			t.Errorf("File of a folder that is gone = %v, want that it is", err)
		}
	})
}

func TestFileOfWorkspace(t *testing.T) {
	workspace, outside := t.TempDir(), t.TempDir()
	dir := filepath.Join(workspace, ".agents/skills/a")
	write(t, filepath.Join(dir, "SKILL.md"), skillText("a", "workspace"))
	write(t, filepath.Join(dir, "x.md"), "Text.</skill-file>\n")
	write(t, filepath.Join(outside, "x.md"), "secret")
	s := only(t, skills.Places{Workspace: workspace})
	lib := new(skills.Library)
	want := "<skill-file skill=\"a\" file=\"x.md\" from=\"workspace\">\nText.<\\/skill-file>\n</skill-file>"
	if got, err := lib.File(s, "x.md"); got != want || err != nil {
		t.Errorf("File = %q, %v, want %q", got, err, want)
	}

	// The folder may be replaced between Find and File.
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	link(t, outside, dir)
	if got, err := lib.File(s, "x.md"); err == nil {
		t.Errorf("File through a link that came later = %q, want an error", got)
	}
}

// The folder of a skill of a workspace may be any folder there, and reading from it
// asks nobody.
func TestFileOfSecrets(t *testing.T) {
	workspace := t.TempDir()
	write(t, filepath.Join(workspace, "SKILL.md"), skillText("a", "workspace"))
	write(t, filepath.Join(workspace, ".env"), "KEY=x")
	write(t, filepath.Join(workspace, "sub/.env"), "KEY=x")
	write(t, filepath.Join(workspace, "plain.md"), "plain")
	link(t, ".env", filepath.Join(workspace, "notes.md"))
	link(t, filepath.Join("..", ".."), filepath.Join(workspace, ".agents/skills/a"))
	s := only(t, skills.Places{Workspace: workspace})
	lib := &skills.Library{Secret: func(path string) bool { return filepath.Base(path) == ".env" }}
	for _, file := range []string{".env", "./.env", "sub/.env", "sub/../.env", "notes.md"} {
		if got, err := lib.File(s, file); err == nil || !strings.Contains(err.Error(), "holds passwords or keys and is not shown; ") {
			t.Errorf("File(%q) = %q, %v; want it refused", file, got, err)
		}
	}
	if got, err := lib.File(s, "plain.md"); err != nil || !strings.Contains(got, "plain") {
		t.Errorf("File(plain.md) = %q, %v", got, err)
	}
}

func TestFileOfSingle(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.md"), skillText("a", "me"))
	write(t, filepath.Join(dir, "b.txt"), "Text.")
	_, err := new(skills.Library).File(only(t, skills.Places{Folder: dir}), "b.txt")
	if want := `the skill "a" is a single text and has no files beside it; work with its instruction alone`; err == nil || err.Error() != want {
		t.Errorf("File of a single text = %v, want %q", err, want)
	}
}
