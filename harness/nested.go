package harness

import (
	"context"
	_ "embed"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/prompt"
	"github.com/lorimer-dev/lorimer/prompt/instructions"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/workspace"
)

// What the model is told at the end of a result.
var (
	//go:embed text/nested.md
	nestedText string
	//go:embed text/hidden.md
	hiddenText string
)

const (
	maxNested = 3  // files of instructions that one result brings
	maxPlaces = 32 // places of a call whose folders are looked at
)

// annotate ends a result with what the model should know beside it: instructions of
// folders that the call has touched, which it has not been told yet, and characters
// in the result that do not show. The result itself stays exact, since edits need it
// so.
func (t *turn) annotate(ctx context.Context, c *call, r *thread.Result) {
	hidden := prompt.Hidden(r.Text)
	if c.ran && !t.snap.NoNested {
		t.instruct(ctx, c.shown.Locations, r)
	}
	if hidden != "" {
		r.Text += "\n\n" + strings.Replace(strings.TrimSpace(hiddenText), "LIST", hidden, 1)
	}
}

// instruct adds the files of instructions in the folders of places to r.
func (t *turn) instruct(ctx context.Context, places []tools.Location, r *thread.Result) {
	if len(places) == 0 {
		return
	}
	fsys := t.s.spec.FS
	dir, err := fsys.Resolve(fsys.Dir())
	if err != nil {
		return // the directory is gone, and so are its files
	}
	n := nest{t: t, dir: dir, result: r}
	for _, at := range t.folders(ctx, places) {
		n.visit(ctx, dir, at)
		for _, root := range fsys.Roots()[1:] {
			if real, err := fsys.Resolve(root); err == nil {
				n.visit(ctx, filepath.Dir(real), at) // its own file is no part of the prompt
			}
		}
	}
	if len(n.texts) > 0 {
		r.Text += "\n\n" + strings.TrimSpace(nestedText) + "\n\n" + strings.Join(n.texts, "\n\n")
	}
}

// folders returns one of places for each folder, as [instructions.Nested] takes it.
func (t *turn) folders(ctx context.Context, places []tools.Location) []string {
	var out []string
	seen := make(map[string]bool)
	for _, p := range places[:min(len(places), maxPlaces)] {
		at := p.Path
		if info, err := t.s.spec.FS.Stat(ctx, at); err == nil && info.IsDir() {
			at += string(filepath.Separator)
		}
		if folder := filepath.Dir(at); !seen[folder] {
			seen[folder] = true
			out = append(out, at)
		}
	}
	return out
}

// A nest collects files of instructions for a result.
type nest struct {
	t      *turn
	dir    string // working directory, links followed
	result *thread.Result
	texts  []string
	taken  []string // files read on the way that is looked at
}

// visit collects the files on the way from a directory to a place below it. It looks
// again where some turned out to say nothing, which leaves room for the next.
func (n *nest) visit(ctx context.Context, below, at string) {
	for again := true; again; {
		n.taken = nil
		files, notices := instructions.Nested(below, at, func(name string) ([]byte, error) { return n.read(ctx, name) })
		for _, f := range files {
			n.texts = append(n.texts, prompt.Wrap("instructions", f.Text, "file", n.name(f.Path)))
			n.result.Told = append(n.result.Told, f.Path)
		}
		for _, text := range notices {
			_ = n.t.notice(text) // the watcher ends the turn
		}
		again = len(files) < len(n.taken)
		for _, name := range n.taken {
			if !slices.Contains(n.result.Told, name) {
				n.t.barren[name] = true
			}
		}
	}
}

// read returns the beginning of a file that the model has not been told yet. There
// is room for a few in one result; the next one brings the others. What is not there
// or cannot be read is not looked for again in the turn.
func (n *nest) read(ctx context.Context, name string) ([]byte, error) {
	told := n.t.barren[name] || n.t.lease.conv.Told(name) || slices.Contains(n.result.Told, name)
	if told || len(n.result.Told)+len(n.taken) >= maxNested || within(n.dir, filepath.Dir(name)) {
		return nil, fs.ErrNotExist
	}
	data, err := n.open(ctx, name)
	switch {
	case err == nil:
		n.taken = append(n.taken, name)
	case ctx.Err() != nil:
		return nil, fs.ErrNotExist // there is nothing wrong with the file
	default:
		n.t.barren[name] = true
	}
	return data, err
}

// open returns the beginning of a file of the workspace.
func (n *nest) open(ctx context.Context, name string) ([]byte, error) {
	fsys := n.t.s.spec.FS
	real, err := fsys.Resolve(name)
	if errors.Is(err, workspace.ErrOutside) {
		return nil, fs.ErrNotExist
	}
	if err == nil && workspace.Secret(real) {
		return nil, instructions.ErrSecret // what read would ask for does not come unasked
	}
	f, err := fsys.Open(ctx, name)
	if errors.Is(err, workspace.ErrOutside) {
		return nil, fs.ErrNotExist
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, instructions.NestedBytes+1))
}

// name is how the model is told of the file at path.
func (n *nest) name(path string) string {
	if rel, err := filepath.Rel(n.dir, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

// within reports whether the directory dir is in the directory outer, or is it.
func within(dir, outer string) bool {
	rel, err := filepath.Rel(outer, dir)
	return err == nil && filepath.IsLocal(rel)
}
