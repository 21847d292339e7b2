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
	"github.com/lorimer-dev/lorimer/tools/schema"
	"github.com/lorimer-dev/lorimer/tools/workspace"
	"github.com/lorimer-dev/lorimer/tools/workspace/local"
	"github.com/lorimer-dev/lorimer/tools/workspace/workspacetest"
)

// A kit is the file tools of one session in an empty directory.
type kit struct {
	fs  *local.FS
	reg *tools.Registry
}

func openDir(t testing.TB, dir string) *local.FS {
	t.Helper()
	fsys, err := local.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := fsys.Close(); err != nil {
			t.Error(err)
		}
	})
	return fsys
}

func newKit(t *testing.T) *kit {
	t.Helper()
	fsys := openDir(t, t.TempDir())
	var seen workspace.Seen
	reg, err := tools.NewRegistry(nil,
		workspace.NewRead(fsys, &seen), workspace.NewWrite(fsys, &seen), workspace.NewEdit(fsys, &seen))
	if err != nil {
		t.Fatal(err)
	}
	return &kit{fsys, reg}
}

type args = map[string]any

// call checks, plans and runs a call as a turn does. The plan is that of a call
// that was not refused before.
func (k *kit) call(t *testing.T, name string, input args) (tools.Plan, tools.Result) {
	t.Helper()
	raw, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	tool, ok := k.reg.Lookup(name)
	if !ok {
		t.Fatalf("no tool %s", name)
	}
	checked, err := k.reg.Check(name, raw)
	if err != nil {
		return tools.Plan{}, tools.Result{Text: tools.ErrorText(err), IsError: true}
	}
	plan, err := tool.Plan(t.Context(), checked)
	if err != nil {
		if _, public := errors.AsType[*tools.PublicError](err); !public {
			t.Errorf("plan of %s: private error: %v", name, err)
		}
		return plan, tools.Result{Text: tools.ErrorText(err), IsError: true}
	}
	res, err := tool.Run(t.Context(), tools.Call{ID: "1", Input: checked})
	if err != nil {
		t.Errorf("run of %s: private error: %v", name, err)
	}
	if strings.Contains(res.Text, k.fs.Dir()) && !strings.Contains(fmt.Sprint(input), k.fs.Dir()) {
		t.Errorf("result shows a path of the machine: %s", res.Text)
	}
	return plan, res
}

// ok is call for one that must work; it returns the text.
func (k *kit) ok(t *testing.T, name string, input args) string {
	t.Helper()
	_, res := k.call(t, name, input)
	if res.IsError {
		t.Fatalf("%s(%.200v) fails: %s", name, input, res.Text)
	}
	return res.Text
}

// fails is call for one that must fail and say want; it changes no file.
func (k *kit) fails(t *testing.T, name string, input args, want string) {
	t.Helper()
	_, res := k.call(t, name, input)
	if !res.IsError || !strings.Contains(res.Text, want) {
		t.Errorf("%s(%.200v) = %.300q, failed %v; want a failure with %q", name, input, res.Text, res.IsError, want)
	}
}

func (k *kit) put(t *testing.T, name, content string) string {
	return workspacetest.Put(t, k.fs, name, content)
}

func (k *kit) holds(t *testing.T, name, want string) {
	t.Helper()
	if got := workspacetest.Get(t, k.fs, name); got != want {
		t.Errorf("%s holds %q, want %q", name, got, want)
	}
}

func edits(pairs ...string) []args {
	var es []args
	for i := 0; i < len(pairs); i += 2 {
		es = append(es, args{"old": pairs[i], "new": pairs[i+1]})
	}
	return es
}

func TestDescriptions(t *testing.T) {
	for _, info := range newKit(t).reg.Infos() {
		if _, err := schema.Compile(info.Schema); err != nil {
			t.Errorf("%s: %v", info.Name, err)
		}
		if !strings.Contains(info.Description, "\n") || info.Verb == "" || info.Kind == "" || info.Effect == 0 {
			t.Errorf("%s is not described: %+v", info.Name, info)
		}
	}
}

// R-HARN-12 and the cases of the workspace boundary, through the tools.
func TestBoundary(t *testing.T) {
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "f"), []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	k := newKit(t)
	k.put(t, "sub/f", "x")
	workspacetest.Link(t, k.fs, outside, "out")
	workspacetest.Link(t, k.fs, filepath.Join(outside, "new"), "dangling")
	for _, name := range []string{"../x", "a/b/../../../x", filepath.Join(outside, "f"), "out/f", "out/../x", "dangling"} {
		t.Run("C071 C072 C073 "+filepath.Base(name), func(t *testing.T) {
			k.fails(t, "read", args{"path": name}, "outside the workspace")
			k.fails(t, "write", args{"path": name, "content": "x"}, "outside the workspace")
			k.fails(t, "edit", args{"path": name, "edits": edits("secret", "x")}, "outside the workspace")
		})
	}
	t.Run("C073 NUL", func(t *testing.T) {
		k.fails(t, "write", args{"path": "f\x00.txt", "content": "x"}, "NUL")
	})
	t.Run("C073 home directory", func(t *testing.T) {
		for _, name := range []string{"~/.ssh/config", "~"} {
			k.fails(t, "read", args{"path": name}, "~ does not stand for the home directory")
			k.fails(t, "write", args{"path": name, "content": "x"}, "~ does not stand for the home directory")
			k.fails(t, "edit", args{"path": name, "edits": edits("a", "b")}, "~ does not stand for the home directory")
		}
	})
	t.Run("C073 missing parents", func(t *testing.T) {
		k.ok(t, "write", args{"path": "new/dir/f", "content": "x"})
		k.holds(t, "new/dir/f", "x")
	})
	t.Run("the plan names the real path", func(t *testing.T) {
		workspacetest.Link(t, k.fs, "sub", "in")
		real, err := filepath.EvalSymlinks(filepath.Join(k.fs.Dir(), "sub", "f"))
		if err != nil {
			t.Fatal(err)
		}
		plan, _ := k.call(t, "read", args{"path": "in/f"})
		if len(plan.Locations) != 1 || plan.Locations[0].Path != real {
			t.Errorf("Locations = %v, want %s", plan.Locations, real)
		}
	})
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
		t.Errorf("outside holds %v, %v; want f alone", entries, err)
	}
}

func TestSecret(t *testing.T) {
	tests := map[string]bool{
		".env": true, "prod.env": true, ".env.local": true, ".ENV": true, ".env.": true, "a/b/.env": true,
		"key.pem": true, "id_rsa": true, "id_ed25519": true, ".netrc": true, ".npmrc": true,
		".env.example": false, ".env.sample": false, "id_rsa.pub": false, "id_map.go": false, "env": false,
		"environment": false, "pem": false, "main.go": false, "": false,
	}
	for name, want := range tests {
		if got := workspace.Secret(name); got != want {
			t.Errorf("Secret(%q) = %v, want %v", name, got, want)
		}
	}
	t.Run("C135 read asks", func(t *testing.T) {
		k := newKit(t)
		k.put(t, ".env", "KEY=1")
		k.put(t, ".env.example", "KEY=")
		workspacetest.Link(t, k.fs, ".env", "notes.txt")
		for name, want := range map[string]bool{".env": true, "notes.txt": true, ".env.example": false} {
			if plan, _ := k.call(t, "read", args{"path": name}); (plan.Caution != "") != want {
				t.Errorf("Caution for %s = %q, want one: %v", name, plan.Caution, want)
			}
		}
	})
}

// Calls that run at once, as reads of one step do, do not disturb each other.
func TestSeenConcurrently(t *testing.T) {
	var seen workspace.Seen
	done := make(chan struct{})
	for i := range 8 {
		go func() {
			defer func() { done <- struct{}{} }()
			name := fmt.Sprint(i)
			seen.Record(name, []byte(name))
			if got := seen.Look(name, []byte(name)); got != workspace.Same {
				t.Errorf("Look = %v, want Same", got)
			}
		}()
	}
	for range 8 {
		<-done
	}
	if got := seen.Look("0", []byte("other")); got != workspace.Changed {
		t.Errorf("Look at another content = %v, want Changed", got)
	}
	if got := seen.Look("9", nil); got != workspace.Unseen {
		t.Errorf("Look at another file = %v, want Unseen", got)
	}
}

// dirty is a file system whose files have unsaved changes in an editor.
type dirty struct {
	workspace.FS
	text string
}

func (d dirty) ReadFile(context.Context, string, int64) ([]byte, error) { return []byte(d.text), nil }

// C061: what the user sees is what is read.
func TestReadUnsaved(t *testing.T) {
	k := newKit(t)
	k.put(t, "f", "saved\n")
	var seen workspace.Seen
	res, err := workspace.NewRead(dirty{k.fs, "unsaved\n"}, &seen).Run(t.Context(), tools.Call{Input: json.RawMessage(`{"path":"f"}`)})
	if err != nil || res.Text != "1\tunsaved\n" {
		t.Errorf("read = %q, %v; want the unsaved text", res.Text, err)
	}
}
