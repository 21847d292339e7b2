package clientio_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lorimer-dev/lorimer/acp/clientio"
	"github.com/lorimer-dev/lorimer/tools/workspace"
	"github.com/lorimer-dev/lorimer/tools/workspace/local"
	"github.com/lorimer-dev/lorimer/tools/workspace/workspacetest"
)

// An editor is a working one: its buffers are what it has open, and a write
// saves. It reads as editors do, with line feeds alone and without a mark.
type editor struct {
	mu      sync.Mutex
	buffers map[string]string
	asked   []string // paths it was asked for, in order
	readErr error
	save    func(path, text string) error // nil saves as it is
}

func (e *editor) ReadTextFile(_ context.Context, path string) (string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked = append(e.asked, "read "+path)
	if e.readErr != nil {
		return "", e.readErr
	}
	if text, ok := e.buffers[path]; ok {
		return text, nil
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil // as some editors do
	}
	text := strings.ReplaceAll(strings.TrimPrefix(string(data), "\uFEFF"), "\r\n", "\n")
	return text, err
}

func (e *editor) WriteTextFile(_ context.Context, path, text string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked = append(e.asked, "write "+path)
	delete(e.buffers, path)
	if e.save != nil {
		return e.save(path, text)
	}
	return os.WriteFile(path, []byte(text), 0o666)
}

var all = clientio.Offer{Read: true, Write: true}

// open returns a workspace in a new directory, seen through e.
func open(t *testing.T, e clientio.Editor, offer clientio.Offer) (fsys workspace.FS, dir string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	disk, err := local.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { disk.Close() })
	return clientio.New(disk, e, offer), dir
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// The contract holds with an editor that works, and with one that refuses
// everything.
func TestFS(t *testing.T) {
	t.Run("editor", func(t *testing.T) {
		workspacetest.TestFS(t, func(t *testing.T) workspace.FS {
			fsys, _ := open(t, &editor{}, all)
			return fsys
		})
	})
	t.Run("refusing editor", func(t *testing.T) {
		workspacetest.TestFS(t, func(t *testing.T) workspace.FS {
			no := errors.New("no")
			fsys, _ := open(t, &editor{readErr: no, save: func(string, string) error { return no }}, all)
			return fsys
		})
	})
}

// R-ACP-43: which of the two texts counts.
func TestReadFile(t *testing.T) {
	tests := []struct {
		name   string
		disk   string // "-" is no file
		buffer string // "-" is not open
		err    error  // of the editor
		want   string // "-" is fs.ErrNotExist
	}{
		{"not open", "a\n", "-", nil, "a\n"},
		{"not saved", "a\n", "b\n", nil, "b\n"},
		{"not saved and empty", "a\n", "", nil, ""},
		{"never saved", "-", "b\n", nil, "b\n"},
		{"no such file", "-", "-", nil, "-"},
		{"line ends of the disk stay", "a\r\nb\r\n", "-", nil, "a\r\nb\r\n"},
		{"and those of what is not saved become the same", "a\r\nb\r\n", "a\nc\n", nil, "a\r\nc\r\n"},
		{"mixed ones are left alone", "a\r\nb\n", "a\nc\n", nil, "a\nc\n"},
		{"a mark stays", "\uFEFFa\n", "-", nil, "\uFEFFa\n"},
		{"also before what is not saved", "\uFEFFa\n", "b\n", nil, "\uFEFFb\n"},
		{"what is no text is not asked for", "a\xff", "b", nil, "a\xff"},
		{"an editor that fails", "a\n", "b\n", errors.New("no"), "a\n"},
		{"an editor that fails, no file", "-", "b\n", errors.New("no"), "-"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := &editor{buffers: map[string]string{}, readErr: tt.err}
			fsys, dir := open(t, e, all)
			path := filepath.Join(dir, "f")
			if tt.disk != "-" {
				put(t, path, tt.disk)
			}
			if tt.buffer != "-" {
				e.buffers[path] = tt.buffer
			}
			got, err := fsys.ReadFile(t.Context(), "f", 0)
			if tt.want == "-" {
				if !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("ReadFile = %q, %v, want fs.ErrNotExist", got, err)
				}
				return
			}
			if err != nil || string(got) != tt.want {
				t.Errorf("ReadFile = %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

// An editor that has not noticed a change on disk shows what the disk held
// before; however often it is asked, that is not an unsaved text.
func TestStaleBuffer(t *testing.T) {
	e := &editor{buffers: map[string]string{}}
	fsys, dir := open(t, e, all)
	path := filepath.Join(dir, "f")
	e.buffers[path] = "old\n"
	for _, text := range []string{"old\n", "new\n", "new\n", "newer\n", "newer\n"} {
		put(t, path, text)
		if got, err := fsys.ReadFile(t.Context(), "f", 0); err != nil || string(got) != text {
			t.Errorf("ReadFile = %q, %v, want %q", got, err, text)
		}
	}
	write := workspace.Write{Old: []byte("newer\n")}
	if err := fsys.WriteFile(t.Context(), "f", []byte("newest\n"), write); err != nil {
		t.Errorf("WriteFile over what the disk holds: %v", err)
	}
	e.buffers[path] = "mine\n"
	if got, _ := fsys.ReadFile(t.Context(), "f", 0); string(got) != "mine\n" {
		t.Errorf("ReadFile = %q, want the unsaved text", got)
	}
}

// A file that was deleted on disk is gone, though the editor still shows it.
func TestDeletedFile(t *testing.T) {
	e := &editor{buffers: map[string]string{}}
	fsys, dir := open(t, e, all)
	path := filepath.Join(dir, "f")
	put(t, path, "old\n")
	e.buffers[path] = "old\n"
	if _, err := fsys.ReadFile(t.Context(), "f", 0); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got, err := fsys.ReadFile(t.Context(), "f", 0); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("ReadFile = %q, %v, want fs.ErrNotExist", got, err)
		}
	}
}

// Once the editor has shown what the disk holds, an earlier text in it is the
// user's, who took a change back and has not saved that.
func TestUndo(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(t *testing.T, fsys workspace.FS, path string)
	}{
		{"of a change that the editor has loaded", func(t *testing.T, fsys workspace.FS, path string) {
			put(t, path, "new\n")
			if _, err := fsys.ReadFile(t.Context(), "f", 0); err != nil {
				t.Fatal(err)
			}
		}},
		{"of a change that the editor has written", func(t *testing.T, fsys workspace.FS, _ string) {
			if err := fsys.WriteFile(t.Context(), "f", []byte("new\n"), workspace.Write{}); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := &editor{buffers: map[string]string{}}
			fsys, dir := open(t, e, all)
			path := filepath.Join(dir, "f")
			put(t, path, "old\n")
			if _, err := fsys.ReadFile(t.Context(), "f", 0); err != nil {
				t.Fatal(err)
			}
			tt.change(t, fsys, path)
			e.buffers[path] = "old\n"
			if got, err := fsys.ReadFile(t.Context(), "f", 0); err != nil || string(got) != "old\n" {
				t.Errorf("ReadFile = %q, %v, want the text that the user went back to", got, err)
			}
		})
	}
}

func TestReadLimit(t *testing.T) {
	e := &editor{buffers: map[string]string{}}
	fsys, dir := open(t, e, all)
	path := filepath.Join(dir, "f")
	put(t, path, "a")
	e.buffers[path] = strings.Repeat("b", 100)
	if got, err := fsys.ReadFile(t.Context(), "f", 10); !errors.Is(err, workspace.ErrTooLarge) {
		t.Errorf("ReadFile = %q, %v, want ErrTooLarge", got, err)
	}
}

// R-HARN-12: the editor never hears of what is outside.
func TestOutside(t *testing.T) {
	e := &editor{}
	fsys, dir := open(t, e, all)
	if err := os.Symlink("/etc", filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	for _, name := range []string{"../x", "/etc/hosts", "link/hosts"} {
		if _, err := fsys.ReadFile(t.Context(), name, 0); !errors.Is(err, workspace.ErrOutside) {
			t.Errorf("ReadFile(%q) = %v, want ErrOutside", name, err)
		}
		if err := fsys.WriteFile(t.Context(), name, []byte("x"), workspace.Write{}); !errors.Is(err, workspace.ErrOutside) {
			t.Errorf("WriteFile(%q) = %v, want ErrOutside", name, err)
		}
	}
	if len(e.asked) > 0 {
		t.Errorf("the editor was asked: %q", e.asked)
	}
}

// C020: nothing is called that was not offered.
func TestOffer(t *testing.T) {
	tests := []struct {
		name  string
		offer clientio.Offer
		want  []string
	}{
		{"nothing", clientio.Offer{}, nil},
		{"reading", clientio.Offer{Read: true}, []string{"read"}},
		{"writing", clientio.Offer{Write: true}, []string{"write"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := &editor{}
			fsys, dir := open(t, e, tt.offer)
			put(t, filepath.Join(dir, "f"), "a")
			if _, err := fsys.ReadFile(t.Context(), "f", 0); err != nil {
				t.Error(err)
			}
			if err := fsys.WriteFile(t.Context(), "f", []byte("b"), workspace.Write{}); err != nil {
				t.Error(err)
			}
			var got []string
			for _, a := range e.asked {
				got = append(got, strings.Fields(a)[0])
			}
			if !slices.Equal(got, tt.want) || get(t, filepath.Join(dir, "f")) != "b" {
				t.Errorf("calls = %q with %q on disk, want %q with b", got, get(t, filepath.Join(dir, "f")), tt.want)
			}
		})
	}
}

// C061: a write goes through only over the text that it was planned on, and what
// it leaves on disk is what was asked for, whatever the editor did.
func TestWriteFile(t *testing.T) {
	no := errors.New("no")
	tests := []struct {
		name   string
		offer  clientio.Offer
		disk   string // "-" is no file
		buffer string // "-" is not open
		save   func(path, text string) error
		data   string
		write  workspace.Write
		want   string // on disk
		err    error
		asked  string // of the editor, joined
	}{
		{name: "over what is saved", offer: all, disk: "a", buffer: "-", data: "b", write: workspace.Write{Old: []byte("a")}, want: "b", asked: "read write"},
		{name: "over what is not saved", offer: all, disk: "a", buffer: "x", data: "b", write: workspace.Write{Old: []byte("x")}, want: "b", asked: "read write"},
		{name: "unsaved text is not overwritten", offer: all, disk: "a", buffer: "x", data: "b", write: workspace.Write{Old: []byte("a")}, want: "a", err: workspace.ErrChanged, asked: "read"},
		{name: "over unsaved text, by the disk", offer: clientio.Offer{Read: true}, disk: "a", buffer: "x", data: "b", write: workspace.Write{Old: []byte("x")}, want: "b", asked: "read"},
		{name: "over a file that was never saved, by the disk", offer: clientio.Offer{Read: true}, disk: "-", buffer: "x", data: "b", write: workspace.Write{Old: []byte("x")}, want: "b", asked: "read"},
		{name: "a new file", offer: all, disk: "-", buffer: "-", data: "b", write: workspace.Write{Create: true}, want: "b", asked: "write"},
		{name: "a file that is not new", offer: all, disk: "a", buffer: "-", data: "b", write: workspace.Write{Create: true}, want: "a", err: fs.ErrExist},
		{name: "a mark goes to the disk", offer: all, disk: "a", buffer: "-", data: "\uFEFFb", want: "\uFEFFb"},
		{name: "what is no text goes to the disk", offer: all, disk: "a", buffer: "-", data: "\xff", want: "\xff"},
		{name: "an editor that fails", offer: all, disk: "a", buffer: "-", save: func(string, string) error { return no }, data: "b", want: "b", asked: "write"},
		{name: "an editor that does not save", offer: all, disk: "a", buffer: "-", save: func(string, string) error { return nil }, data: "b", want: "b", asked: "write"},
		{
			name: "an editor that writes something else", offer: all, disk: "a\r\n", buffer: "-", data: "b\n", want: "b\n", asked: "write",
			save: func(path, text string) error {
				return os.WriteFile(path, []byte(strings.ReplaceAll(text, "\n", "\r\n")), 0o666)
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := &editor{buffers: map[string]string{}, save: tt.save}
			fsys, dir := open(t, e, tt.offer)
			path := filepath.Join(dir, "f")
			if tt.disk != "-" {
				put(t, path, tt.disk)
			}
			if tt.buffer != "-" {
				e.buffers[path] = tt.buffer
			}
			if err := fsys.WriteFile(t.Context(), "f", []byte(tt.data), tt.write); !errors.Is(err, tt.err) {
				t.Errorf("error = %v, want %v", err, tt.err)
			}
			if got := get(t, path); got != tt.want {
				t.Errorf("disk = %q, want %q", got, tt.want)
			}
			var asked []string
			for _, a := range e.asked {
				asked = append(asked, strings.Fields(a)[0])
			}
			if got := strings.Join(asked, " "); got != tt.asked {
				t.Errorf("the editor was asked to %q, want %q", got, tt.asked)
			}
		})
	}
}

// A file that must not be written is not written by way of the editor either.
func TestReadOnlyFile(t *testing.T) {
	e := &editor{}
	fsys, dir := open(t, e, all)
	path := filepath.Join(dir, "f")
	put(t, path, "a")
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	err := fsys.WriteFile(t.Context(), "f", []byte("b"), workspace.Write{})
	if len(e.asked) > 0 {
		t.Errorf("the editor was asked: %q", e.asked)
	}
	if os.Geteuid() != 0 && !errors.Is(err, fs.ErrPermission) {
		t.Errorf("error = %v, want fs.ErrPermission", err)
	}
}

// One request that times out is enough: the editor is not waited for again.
func TestSilentEditor(t *testing.T) {
	e := &editor{readErr: context.DeadlineExceeded}
	fsys, dir := open(t, e, all)
	put(t, filepath.Join(dir, "f"), "a")
	for range 3 {
		if got, err := fsys.ReadFile(t.Context(), "f", 0); err != nil || string(got) != "a" {
			t.Errorf("ReadFile = %q, %v, want what is on disk", got, err)
		}
	}
	if err := fsys.WriteFile(t.Context(), "f", []byte("b"), workspace.Write{}); err != nil || len(e.asked) != 1 {
		t.Errorf("WriteFile = %v, calls %q, want one", err, e.asked)
	}
}

// A cancel ends the call and is no reason to go on with the disk.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	e := &editor{save: func(string, string) error {
		cancel()
		return ctx.Err()
	}}
	fsys, dir := open(t, e, all)
	put(t, filepath.Join(dir, "f"), "a")
	if err := fsys.WriteFile(ctx, "f", []byte("b"), workspace.Write{}); !errors.Is(err, context.Canceled) {
		t.Errorf("WriteFile = %v, want context.Canceled", err)
	}
	if got := get(t, filepath.Join(dir, "f")); got != "a" {
		t.Errorf("disk = %q, want it untouched", got)
	}
}

// The editor knows files by the directory that it named, also through a link.
func TestLinkedRoot(t *testing.T) {
	real, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(real, link); err != nil {
		t.Skip(err)
	}
	disk, err := local.Open(link)
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	put(t, filepath.Join(real, "f"), "a")
	e := &editor{buffers: map[string]string{filepath.Join(link, "f"): "mine"}}
	got, err := clientio.New(disk, e, all).ReadFile(t.Context(), filepath.Join(real, "f"), 0)
	if err != nil || string(got) != "mine" {
		t.Errorf("ReadFile = %q, %v after %q, want the text of the editor", got, err, e.asked)
	}
}
