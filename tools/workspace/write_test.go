package workspace_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/workspace"
)

func ptr(s string) *string { return &s }

func TestWrite(t *testing.T) {
	tests := []struct {
		name   string
		before string // read first; "-" is no file
		text   string
		want   string
	}{
		{"new file", "-", "a\n", "a\n"},
		{"existing file", "old\n", "new\n", "new\n"},
		{"empty content", "old\n", "", ""},
		{"C056 the mark is kept", "\xef\xbb\xbfé\n", "ü\n", "\xef\xbb\xbfü\n"},
		{"C056 the mark is not doubled", "\xef\xbb\xbfé\n", "\ufeffü\n", "\xef\xbb\xbfü\n"},
		{"C056 a new file gets none", "-", "é\n", "é\n"},
		{"C059 UTF-16 little endian is kept", "\xff\xfea\x00\n\x00", "é\n", "\xff\xfe\xe9\x00\n\x00"},
		{"C059 UTF-16 big endian is kept", "\xfe\xff\x00a", "😀", "\xfe\xff\xd8\x3d\xde\x00"},
		{"CRLF is kept", "a\r\nb\r\n", "a\nc\n", "a\r\nc\r\n"},
		{"CRLF that was sent is taken", "a\nb\n", "a\r\nb\n", "a\r\nb\n"},
		{"mixed line endings are not guessed", "a\r\nb\n", "a\nc\n", "a\nc\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k := newKit(t)
			if tt.before != "-" {
				k.put(t, "f", tt.before)
				k.ok(t, "read", args{"path": "f"})
			}
			k.ok(t, "write", args{"path": "f", "content": tt.text})
			k.holds(t, "f", tt.want)
		})
	}
}

func TestWriteRefuses(t *testing.T) {
	tests := []struct {
		name   string
		before string
		read   bool
		want   string
	}{
		{"C061 not read", "old\n", false, "has not been read in this session"},
		{"C059 an East Asian encoding", "\xd6\xd0\xce\xc4\n", true, "GB18030"},
		{"C059 a western encoding", "caf\xe9\n", true, "Windows-1252"},
		{"binary", "\x7fELF\x00\x01", true, "binary file"},
		{"damaged UTF-16", "\xff\xfea\x00\x00\xd8", true, "damaged UTF-16"},
		{"UTF-16 of an odd length", "\xff\xfea\x00b", true, "damaged UTF-16"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k := newKit(t)
			k.put(t, "f", tt.before)
			if tt.read {
				k.ok(t, "read", args{"path": "f"})
			}
			k.fails(t, "write", args{"path": "f", "content": "new\n"}, tt.want)
			k.holds(t, "f", tt.before)
		})
	}
	t.Run("directory", func(t *testing.T) {
		k := newKit(t)
		k.put(t, "d/f", "")
		k.fails(t, "write", args{"path": "d", "content": "x"}, "not a regular file")
	})
	t.Run("large file", func(t *testing.T) {
		k := newKit(t)
		k.put(t, "f", strings.Repeat("x", 9<<20))
		k.fails(t, "write", args{"path": "f", "content": "x"}, "change it with edit")
	})
}

func TestWriteSession(t *testing.T) {
	t.Run("C061 changed since it was read", func(t *testing.T) {
		k := newKit(t)
		k.put(t, "f", "old\n")
		k.ok(t, "read", args{"path": "f"})
		k.put(t, "f", "of the user\n")
		k.fails(t, "write", args{"path": "f", "content": "new\n"}, "changed on disk since it was read; read it again")
		k.holds(t, "f", "of the user\n")
		k.ok(t, "read", args{"path": "f"})
		k.ok(t, "write", args{"path": "f", "content": "new\n"})
		k.holds(t, "f", "new\n")
	})
	t.Run("what was written need not be read", func(t *testing.T) {
		k := newKit(t)
		k.ok(t, "write", args{"path": "f", "content": "1\n"})
		k.ok(t, "write", args{"path": "./f", "content": "2\n"})
		k.holds(t, "f", "2\n")
	})
	t.Run("an empty file need not be read", func(t *testing.T) {
		k := newKit(t)
		k.put(t, "f", "")
		k.ok(t, "write", args{"path": "f", "content": "1\n"})
		k.holds(t, "f", "1\n")
	})
	t.Run("C059 the same content is not written", func(t *testing.T) {
		k := newKit(t)
		path := k.put(t, "f", "\xef\xbb\xbfa\r\n")
		k.ok(t, "read", args{"path": "f"})
		before, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := k.ok(t, "write", args{"path": "f", "content": "a\n"}); !strings.Contains(got, "nothing was written") {
			t.Errorf("result = %q", got)
		}
		if after, err := os.Stat(path); err != nil || !os.SameFile(before, after) {
			t.Errorf("the file was replaced (%v)", err)
		}
	})
	t.Run("C072 an in-tree link stays one", func(t *testing.T) {
		k := newKit(t)
		k.put(t, "target", "old\n")
		if err := os.Symlink("target", filepath.Join(k.fs.Dir(), "link")); err != nil {
			t.Skipf("no symbolic links: %v", err)
		}
		k.ok(t, "read", args{"path": "target"})
		k.ok(t, "write", args{"path": "link", "content": "new\n"})
		k.holds(t, "target", "new\n")
	})
}

// R-ACP-44: the plan has the diff that the user is asked about, and the result
// the same one.
func TestWriteDiff(t *testing.T) {
	k := newKit(t)
	plan, res := k.call(t, "write", args{"path": "f", "content": "a\n"})
	real, err := k.fs.Resolve("f")
	if err != nil {
		t.Fatal(err)
	}
	want := tools.Plan{
		Title:     "f",
		Locations: []tools.Location{{Path: real, Line: 1}},
		Diffs:     []tools.Diff{{Path: real, New: "a\n"}},
		Always:    tools.Grant{Key: "edits", Label: "edits inside the workspace, in this session"},
	}
	if diff := cmp.Diff(want, plan); diff != "" {
		t.Errorf("plan of a new file (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want.Diffs, res.Diffs); diff != "" {
		t.Errorf("diffs of the result (-want +got):\n%s", diff)
	}
	lines := strings.Split("1 2 3 4 5 6 7 8 9 10 11 12", " ")
	k.put(t, "g", strings.Join(lines, "\n")+"\n")
	k.ok(t, "read", args{"path": "g"})
	lines[5] = "six"
	plan, _ = k.call(t, "write", args{"path": "g", "content": strings.Join(lines, "\n") + "\n"})
	if real, err = k.fs.Resolve("g"); err != nil {
		t.Fatal(err)
	}
	wantDiffs := []tools.Diff{{Path: real, Old: ptr("3\n4\n5\n6\n7\n8\n9\n"), New: "3\n4\n5\nsix\n7\n8\n9\n"}}
	if diff := cmp.Diff(wantDiffs, plan.Diffs); diff != "" || plan.Locations[0].Line != 6 {
		t.Errorf("plan of a change in line %d, want 6 (-want +got):\n%s", plan.Locations[0].Line, diff)
	}
}

// C061 at the last moment: the file changes between the look and the write.
type changing struct {
	workspace.FS
	change func()
}

func (c changing) ReadFile(ctx context.Context, name string, limit int64) ([]byte, error) {
	data, err := c.FS.ReadFile(ctx, name, limit)
	c.change()
	return data, err
}

func TestChangeAtTheLastMoment(t *testing.T) {
	k := newKit(t)
	k.put(t, "f", "old\n")
	var seen workspace.Seen
	if real, err := k.fs.Resolve("f"); err != nil {
		t.Fatal(err)
	} else {
		seen.Record(real, []byte("old\n"))
	}
	fsys := changing{k.fs, func() { k.put(t, "f", "of the user\n") }}
	calls := map[string]struct {
		tool  tools.Tool
		input string
	}{
		"write": {workspace.NewWrite(fsys, &seen), `{"path":"f","content":"new\n"}`},
		"edit":  {workspace.NewEdit(fsys, &seen), `{"path":"f","edits":[{"old":"old","new":"new"}]}`},
	}
	for name, c := range calls {
		k.put(t, "f", "old\n")
		res, err := c.tool.Run(t.Context(), tools.Call{Input: json.RawMessage(c.input)})
		if err != nil || !res.IsError || !strings.Contains(res.Text, "read it again") {
			t.Errorf("%s = %+v, %v; want a failure that says to read again", name, res, err)
		}
		k.holds(t, "f", "of the user\n")
	}
}
