package workspace

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/workspace/edit"
)

//go:embed write.md
var writeDescription string

//go:embed write_guide.md
var writeGuidance string

//go:embed write.json
var writeSchema []byte

type writeInput struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

type writer struct {
	fs   FS
	seen *Seen
}

// NewWrite returns the tool that writes a whole file. What exists must be in
// seen as it is; what was written is recorded there.
func NewWrite(fsys FS, seen *Seen) tools.Tool {
	w := &writer{fsys, seen}
	return tools.Define(tools.Info{
		Name:        "write",
		Description: writeDescription,
		Schema:      writeSchema,
		Guidance:    writeGuidance,
		Verb:        "writing {path}",
		Kind:        tools.KindEdit,
		Effect:      tools.Edits,
	}, w.plan, w.run)
}

// A revision is what a call makes of a file.
type revision struct {
	real  string
	old   []byte // nil for a new file
	new   []byte
	diffs []tools.Diff
	line  int    // where the first change is
	note  string // what the model should know of it
}

func (r revision) locations() []tools.Location {
	return []tools.Location{{Path: r.real, Line: r.line}}
}

// plan is what the plan of a call that makes r says.
func (r revision) plan(name string) tools.Plan {
	return tools.Plan{Title: tools.Line(name, tools.MaxTitle), Locations: r.locations(), Diffs: r.diffs, Always: editGrant()}
}

// editGrant is what an "always" allows for a tool that edits (R-ACP-41).
func editGrant() tools.Grant {
	return tools.Grant{Key: "edits", Label: "edits inside the workspace, in this session"}
}

func (w *writer) plan(ctx context.Context, in writeInput) (tools.Plan, error) {
	r, err := w.revise(ctx, in)
	if err != nil {
		return tools.Plan{}, err
	}
	return r.plan(in.Path), nil
}

func (w *writer) run(ctx context.Context, in writeInput, _ tools.Call) (tools.Result, error) {
	r, err := w.revise(ctx, in)
	if err != nil {
		return told(err)
	}
	shown := tools.Line(in.Path, maxName)
	if r.old != nil && bytes.Equal(r.old, r.new) {
		return tools.Result{Text: shown + " holds exactly this already; nothing was written."}, nil
	}
	if err := w.fs.WriteFile(ctx, in.Path, r.new, Write{Old: r.old, Create: r.old == nil}); err != nil {
		return told(trouble(in.Path, err))
	}
	w.seen.Record(r.real, r.new)
	verb := "Replaced"
	if r.old == nil {
		verb = "Created"
	}
	return tools.Result{
		Text:      fmt.Sprintf("%s %s, %d bytes.%s", verb, shown, len(r.new), r.note),
		Locations: r.locations(),
		Diffs:     r.diffs,
	}, nil
}

// revise works out what the call does. Its error is public if the model can act
// on it.
func (w *writer) revise(ctx context.Context, in writeInput) (revision, error) {
	real, err := w.fs.Resolve(in.Path)
	if err != nil {
		return revision{}, trouble(in.Path, err)
	}
	old, err := w.fs.ReadFile(ctx, in.Path, maxWhole)
	switch {
	case errors.Is(err, fs.ErrNotExist) && isHome(in.Path):
		return revision{}, trouble(in.Path, err)
	case errors.Is(err, fs.ErrNotExist):
		return create(real, in.Content), nil
	case errors.Is(err, ErrTooLarge):
		return revision{}, tools.Publicf("%s is larger than %d bytes, which write does not replace; change it with edit, or move it away with bash first",
			tools.Line(in.Path, maxName), maxWhole)
	case err != nil:
		return revision{}, trouble(in.Path, err)
	}
	return w.replace(real, in, old)
}

func create(real, content string) revision {
	return revision{
		real:  real,
		new:   []byte(content),
		diffs: []tools.Diff{{Path: real, New: shorten([]byte(content))}},
		line:  1,
	}
}

func (w *writer) replace(real string, in writeInput, old []byte) (revision, error) {
	r := revision{real: real, old: old}
	if r.old == nil {
		r.old = []byte{} // it exists
	}
	shown := tools.Line(in.Path, maxName)
	doc, err := openDocument(in.Path, old)
	if err != nil {
		return r, err
	}
	if !utf8.Valid(doc.text) {
		return r, tools.Publicf("%s is not UTF-8 but in %s, and write would change that; the file is left untouched: use edit, which keeps all other bytes, or convert it with bash first",
			shown, legacy(doc.text))
	}
	switch w.seen.Look(real, old) {
	case Changed:
		return r, trouble(in.Path, ErrChanged)
	case Unseen:
		if len(old) > 0 {
			return r, tools.Publicf("%s exists and has not been read in this session; read it before replacing it", shown)
		}
	}
	text := strings.TrimPrefix(in.Content, "\ufeff")
	if strings.Contains(text, "\n") && !strings.Contains(text, "\r\n") && allCRLF(doc.text) {
		text = strings.ReplaceAll(text, "\n", "\r\n")
		r.note = " Its lines end in CRLF, as before."
	}
	if r.new, err = doc.coding.encode([]byte(text)); err != nil {
		return r, err
	}
	if change := difference(doc.text, []byte(text)); change.Start < change.End || change.New != "" {
		r.diffs = hunks(real, doc.text, []edit.Change{change})
		r.line = edit.Line(doc.text, change.Start)
	}
	return r, nil
}

// allCRLF reports whether text has lines, and each ends in CRLF.
func allCRLF(text []byte) bool {
	n := bytes.Count(text, []byte("\n"))
	return n > 0 && n == bytes.Count(text, []byte("\r\n"))
}
