//go:build unix

package harness_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/prompt/attach"
	"github.com/lorimer-dev/lorimer/tools/doc"
)

// A file outside the workspace is read once the user could be asked for it, and for
// no other one.
func TestBodiesOutsideTheWorkspace(t *testing.T) { // R-ACP-28, R-HARN-12
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"a.txt": "of a", "b.txt": "of b", "id_rsa": "of nobody"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(dir, "link")
	point := func(to string) {
		os.Remove(link) // there may be none yet
		if err := os.Symlink(filepath.Join(dir, to), link); err != nil {
			t.Fatal(err)
		}
	}
	point("a.txt")
	f, _ := newKeeping()
	f.options.Outside = func(_ context.Context, path string, limit int64) ([]byte, error) { return os.ReadFile(path) }
	var bodies doc.Source
	f.scopes = func(sc harness.Scope) { bodies = sc.Bodies }
	s := f.open(t, func(sp *harness.Spec) { sp.FS = files{} })
	uri := func(name string) string { return "file://" + filepath.Join(dir, name) }
	var all []event.Block
	for _, name := range []string{"a.txt", "link", "id_rsa", "gone"} {
		all = append(all, event.Block{URI: uri(name)})
	}
	blocks(t, s, &recorder{}, all...)
	check := func(name, text, fault string) {
		t.Helper()
		got, err := bodies.Body(t.Context(), attach.ResourceKey(uri(name)))
		if got.Text != text || !strings.Contains(fmt.Sprint(err), fault) {
			t.Errorf("%s = %q, %v; want %q, %q", name, got.Text, err, text, fault)
		}
	}
	look := func(name, path, caution string) {
		t.Helper()
		got := bodies.Look(t.Context(), attach.ResourceKey(uri(name)))
		if path != "" {
			path = filepath.Join(dir, path)
			caution = path + caution
		}
		if want := (doc.Look{Path: path, Caution: caution}); got != want {
			t.Errorf("look at %s = %+v, want %+v", name, got, want)
		}
	}
	const outside = " is outside the workspace, and the model would read it"
	check("a.txt", "", "not allowed to be read")
	look("a.txt", "a.txt", outside)
	check("a.txt", "of a", "")
	look("link", "a.txt", outside)
	check("link", "of a", "")
	point("b.txt") // after the user was asked
	check("link", "", "not allowed to be read")
	look("id_rsa", "id_rsa", " is outside the workspace and may hold passwords or keys, and the model would read it")
	look("gone", "", "")
	check("gone", "", "not there any more")
}
