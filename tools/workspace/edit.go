package workspace

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode"

	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/workspace/edit"
)

//go:embed edit.md
var editDescription string

//go:embed edit_guide.md
var editGuidance string

//go:embed edit.json
var editSchema []byte

const (
	maxEdited = 32 << 20 // bytes of a file that is edited
	maxListed = 20       // changes that a result lists
)

type editInput struct {
	Path  string `json:"path"`
	Edits []struct {
		Old string `json:"old"`
		New string `json:"new"`
		All bool   `json:"all"`
	} `json:"edits"`
}

type editor struct {
	fs   FS
	seen *Seen
}

// NewEdit returns the tool that replaces pieces of a file. It matches on what
// the file holds at the time of the call, so that the file need not be in seen;
// what is there as it was before the edit is kept up to date.
func NewEdit(fsys FS, seen *Seen) tools.Tool {
	e := &editor{fsys, seen}
	return tools.Define(tools.Info{
		Name:        "edit",
		Description: editDescription,
		Schema:      editSchema,
		Guidance:    editGuidance,
		Verb:        "editing {path}",
		Kind:        tools.KindEdit,
		Effect:      tools.Edits,
	}, e.plan, e.run)
}

func (e *editor) plan(ctx context.Context, in editInput) (tools.Plan, error) {
	r, err := e.revise(ctx, in)
	if err != nil {
		return tools.Plan{}, err
	}
	return r.plan(in.Path), nil
}

func (e *editor) run(ctx context.Context, in editInput, _ tools.Call) (tools.Result, error) {
	r, err := e.revise(ctx, in)
	if err != nil {
		return told(err)
	}
	sight := e.seen.Look(r.real, r.old)
	if err := e.fs.WriteFile(ctx, in.Path, r.new, Write{Old: r.old}); err != nil {
		return told(trouble(in.Path, err))
	}
	if sight == Same {
		e.seen.Record(r.real, r.new)
	}
	text := r.note
	if sight == Changed {
		text += "\nThe file had changed on disk since it was read; read it again before relying on the rest of it."
	}
	return tools.Result{Text: text, Locations: r.locations(), Diffs: r.diffs}, nil
}

// revise works out what the call does. Its error is public if the model can act
// on it.
func (e *editor) revise(ctx context.Context, in editInput) (revision, error) {
	r, err := e.load(ctx, in.Path)
	if err != nil {
		return r, err
	}
	doc, err := openDocument(in.Path, r.old)
	if err != nil {
		return r, err
	}
	edits := make([]edit.Edit, len(in.Edits))
	for i, ed := range in.Edits {
		edits[i] = edit.Edit{Old: strings.TrimPrefix(ed.Old, "\ufeff"), New: strings.TrimPrefix(ed.New, "\ufeff"), All: ed.All}
	}
	text, changes, err := edit.Apply(doc.text, edits)
	if err != nil && caution(in.Path, r.real) != "" && e.seen.Look(r.real, r.old) != Same {
		// The fault may quote what nobody has allowed the model to read (C135).
		return r, tools.Publicf("%s was left untouched: the edits do not fit what it holds; read it first, which the user has to allow",
			tools.Line(in.Path, maxName))
	}
	if err != nil {
		return r, tools.Publicf("%s was left untouched:\n%w", tools.Line(in.Path, maxName), err)
	}
	if foreign(doc.text) && slices.ContainsFunc(changes, notASCII) {
		// It would leave a file in two encodings (C059).
		return r, tools.Publicf("%s is in %s, and the new text has letters that would get into it as UTF-8; the file is left untouched: keep to ASCII, or use bash, which can convert the text",
			tools.Line(in.Path, maxName), legacy(doc.text))
	}
	if r.new, err = doc.coding.encode(text); err != nil {
		return r, err
	}
	r.diffs = hunks(r.real, doc.text, changes)
	r.line = edit.Line(doc.text, changes[0].Start)
	r.note = summary(in.Path, doc.text, changes)
	return r, nil
}

// notASCII reports whether c puts in more than ASCII.
func notASCII(c edit.Change) bool {
	return strings.ContainsFunc(c.New, func(r rune) bool { return r > unicode.MaxASCII })
}

// load returns a revision with the file as it is.
func (e *editor) load(ctx context.Context, name string) (revision, error) {
	real, err := e.fs.Resolve(name)
	if err != nil {
		return revision{}, trouble(name, err)
	}
	old, err := e.fs.ReadFile(ctx, name, maxEdited)
	if errors.Is(err, fs.ErrNotExist) && !isHome(name) {
		return revision{}, tools.Publicf("%s does not exist; make it with write", tools.Line(name, maxName))
	}
	if err != nil {
		return revision{}, trouble(name, err)
	}
	if old == nil {
		old = []byte{} // it exists
	}
	return revision{real: real, old: old}, nil
}

// summary says what was replaced, and by which rule. Lines are those of the
// text before.
func summary(name string, text []byte, changes []edit.Change) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Edited %s.", tools.Line(name, maxName))
	for i, c := range changes {
		if i == maxListed {
			fmt.Fprintf(&b, "\nand %d more", len(changes)-maxListed)
			break
		}
		fmt.Fprintf(&b, "\nedit %d: replaced at line %d, %s", c.Edit+1, edit.Line(text, c.Start), c.Rule)
	}
	return b.String()
}
