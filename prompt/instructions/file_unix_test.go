//go:build unix

package instructions_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/prompt/instructions"
)

const special = "it is not a regular file; put a text file in its place"

func link(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Fatal(err)
	}
}

func TestReadOfWhatIsNoFile(t *testing.T) {
	tests := []struct {
		name string
		make func(t *testing.T, base string) // AGENTS.md in base/w
		want string
		told []string
	}{
		{"a pipe that nobody writes to", func(t *testing.T, base string) {
			if err := syscall.Mkfifo(filepath.Join(base, "w/AGENTS.md"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "", []string{"BASE/w/AGENTS.md is not used: " + special}},
		{"a directory", func(t *testing.T, base string) {
			if err := os.Mkdir(filepath.Join(base, "w/AGENTS.md"), 0o700); err != nil {
				t.Fatal(err)
			}
		}, "", []string{"BASE/w/AGENTS.md is not used: " + special}},
		{"a link to a device", func(t *testing.T, base string) {
			link(t, "/dev/zero", filepath.Join(base, "w/AGENTS.md"))
		}, "", []string{"BASE/w/AGENTS.md is not used: it leads out of the directory of the AGENTS.md that it belongs to; put the text itself there"}},
		{"a link to a file inside", func(t *testing.T, base string) {
			link(t, "in.md", filepath.Join(base, "w/AGENTS.md"))
		}, "inside\n", nil},
		{"an absolute link to a file inside", func(t *testing.T, base string) {
			link(t, filepath.Join(base, "w/in.md"), filepath.Join(base, "w/AGENTS.md"))
		}, "inside\n", nil},
		{"a link to a file outside", func(t *testing.T, base string) {
			link(t, "../out.md", filepath.Join(base, "w/AGENTS.md"))
		}, "", []string{"BASE/w/AGENTS.md is not used: it leads out of the directory of the AGENTS.md that it belongs to; put the text itself there"}},
		{"a link to nothing", func(t *testing.T, base string) {
			link(t, "gone.md", filepath.Join(base, "w/AGENTS.md"))
		}, "", []string{"BASE/w/AGENTS.md is not used: it is a link to a file that does not exist; correct it, or remove it"}},
		{"a link to itself", func(t *testing.T, base string) {
			link(t, "AGENTS.md", filepath.Join(base, "w/AGENTS.md"))
		}, "", []string{"BASE/w/AGENTS.md is not used: its links lead in a circle; correct them"}},
		{"a link to a file of secrets", func(t *testing.T, base string) {
			link(t, ".env", filepath.Join(base, "w/AGENTS.md"))
		}, "", []string{"BASE/w/AGENTS.md is not used: it is a link to a file that by its name holds passwords or keys; put the text itself there"}},
		{"imports of links and a pipe", func(t *testing.T, base string) {
			link(t, "../out.md", filepath.Join(base, "w/link.md"))
			link(t, "..", filepath.Join(base, "w/up"))
			link(t, ".", filepath.Join(base, "w/here"))
			link(t, ".env", filepath.Join(base, "w/notes.md"))
			if err := syscall.Mkfifo(filepath.Join(base, "w/pipe"), 0o600); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(base, "w/AGENTS.md"), "@link.md\n@up/out.md\n@here/here/in.md\n@in.md\n@here/AGENTS.md\n@notes.md\n@pipe\n")
		}, "@link.md\n@up/out.md\ninside\n@in.md\n@here/AGENTS.md\n@notes.md\n@pipe\n", []string{
			"BASE/w/AGENTS.md:1: @link.md stays as it is: it leads out of the directory of the AGENTS.md that it belongs to; put the text itself there",
			"BASE/w/AGENTS.md:2: @up/out.md stays as it is: it leads out of the directory of the AGENTS.md that it belongs to; put the text itself there",
			"BASE/w/AGENTS.md:5: @here/AGENTS.md stays as it is: it would import itself; remove one of the imports",
			"BASE/w/AGENTS.md:6: @notes.md stays as it is: by its name it holds passwords or keys; move what the model may read into another file",
			"BASE/w/AGENTS.md:7: @pipe stays as it is: " + special,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base := plant(t, map[string]string{"w/in.md": "inside\n", "out.md": "outside\n", "w/.env": "KEY=x"})
			tt.make(t, base)
			found, told := read(t, base, "w", instructions.Limits{Secret: isSecret})
			var got string
			if len(found) > 0 {
				got = found[0].Text
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.told, told); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadThroughALinkedDirectoryTakesTheRealOnesAbove(t *testing.T) {
	base := plant(t, map[string]string{"real/AGENTS.md": "above", "real/w/x": "", "other/AGENTS.md": "beside"})
	link(t, filepath.Join(base, "real", "w"), filepath.Join(base, "other", "w"))
	found, _ := instructions.Read(filepath.Join(base, "other", "w"), instructions.Limits{})
	if n := len(found); n == 0 || found[n-1].Text != "above" || found[n-1].Path != "../AGENTS.md" {
		t.Errorf("Read = %v, want the file above the real directory", found)
	}
}

func TestReadRefusesFilesOfOthers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	base := plant(t, map[string]string{"AGENTS.md": "of another", "w/AGENTS.md": "own\n@a.md\n", "w/a.md": "of another"})
	for _, name := range []string{"AGENTS.md", "w/a.md"} {
		if err := os.Chown(filepath.Join(base, name), 12345, 12345); err != nil {
			t.Fatal(err)
		}
	}
	found, told := read(t, base, "w", instructions.Limits{})
	if len(found) != 1 || found[0].Text != "own\n@a.md\n" {
		t.Errorf("found %q, want the own file", found)
	}
	want := []string{
		"BASE/w/AGENTS.md:2: @a.md stays as it is: it belongs to another user (id 12345); copy it, or have it given to you, if you trust it",
		"BASE/AGENTS.md is not used: it belongs to another user (id 12345); copy it, or have it given to you, if you trust it",
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

func TestReadTakesFilesOfTheOwnerOfTheDirectory(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	base := plant(t, map[string]string{"AGENTS.md": "of another", "w/AGENTS.md": "of the owner"})
	for name, owner := range map[string]int{"AGENTS.md": 999, "w": 12345, "w/AGENTS.md": 12345} {
		if err := os.Chown(filepath.Join(base, name), owner, owner); err != nil {
			t.Fatal(err)
		}
	}
	found, told := read(t, base, "w", instructions.Limits{})
	if len(found) != 1 || found[0].Text != "of the owner" || len(told) != 1 {
		t.Errorf("found %q, told %q, want the file of the owner alone, and one line about the other", found, told)
	}
}

func TestReadWithoutPermission(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may read everything")
	}
	base := plant(t, map[string]string{"file/AGENTS.md": "x", "dir/AGENTS.md": "x", "closed/w/AGENTS.md": "x", "unlisted/AGENTS.md": "x"})
	for name, mode := range map[string]os.FileMode{"file/AGENTS.md": 0, "dir": 0, "closed": 0, "unlisted": 0o100} {
		name := filepath.Join(base, name)
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(name, 0o700) })
	}
	tests := []struct{ dir, want string }{
		{"file", "BASE/file/AGENTS.md is not used: permission denied; give yourself permission to read it"},
		{"dir", "BASE/dir/AGENTS.md is not used: permission denied; give yourself permission to read it"},
		{"unlisted", "BASE/unlisted/AGENTS.md is not used: permission denied; give yourself permission to read it"},
		{"closed/w", "no AGENTS.md is looked for in BASE/closed/w: permission denied; give yourself permission to read it"},
	}
	for _, tt := range tests {
		found, told := read(t, base, tt.dir, instructions.Limits{})
		if diff := cmp.Diff([]string{tt.want}, told); diff != "" || found != nil {
			t.Errorf("Read(%q) = %q, told (-want +got):\n%s", tt.dir, found, diff)
		}
	}
}

func TestNamesOfDirectoriesStayOnOneLine(t *testing.T) {
	base := plant(t, map[string]string{"a\nb\u202e/AGENTS.md": "\x00"})
	_, told := read(t, base, "a\nb\u202e", instructions.Limits{})
	want := []string{"BASE/a b<U+202E>/AGENTS.md is not used: it is not text, or text in UTF-16; save it as UTF-8"}
	if diff := cmp.Diff(want, told); diff != "" || strings.Contains(told[0], "\n") {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}
