// Package doc has the tools for the documents of a session.
package doc

import (
	"context"
	_ "embed"
	"errors"
	"slices"
	"strings"

	"github.com/lorimer-dev/lorimer/tools"
)

//go:embed read-context.md
var readDescription string

//go:embed read-context.json
var readSchema []byte

// A Body is what a key stands for.
type Body struct {
	Name string
	Type string // media type
	Text string // "" where it cannot be shown as text
	Size int    // in bytes
}

// A Look is what is known of a key before anything is read.
type Look struct {
	Path    string // absolute, of the file that it leads to; "" is no file
	Caution string // why reading it needs the user's consent; "" needs none
}

// A Source finds what a key of the session stands for. Missing is told by a public
// error of [tools]. Any other error is a failure of what is behind the source.
type Source interface {
	// Look comes before Body, which reads nothing that nobody has looked at if
	// that needs consent.
	Look(ctx context.Context, key string) Look
	Body(ctx context.Context, key string) (Body, error)
}

// A Wrapper returns body between the tags of an element with attributes, which are
// pairs of name and value, so that body cannot be taken for anything but data. It
// writes out what does not show in them.
type Wrapper func(tag, body string, attributes ...string) string

type readInput struct {
	Keys []string `json:"keys"`
}

type reader struct {
	source Source
	wrap   Wrapper
}

// NewReadContext returns the tool read-context (R-TOOLS-28), whose entries are
// wrapped by wrap. A key that is missing is an entry with an error; a source that
// fails is the failure of the call.
func NewReadContext(s Source, wrap Wrapper) tools.Tool {
	r := reader{s, wrap}
	return tools.Define(tools.Info{
		Name:        "read-context",
		Description: readDescription,
		Schema:      readSchema,
		Verb:        "reading {keys}",
		Kind:        tools.KindRead,
		Effect:      tools.Reads,
	}, r.plan, r.run)
}

// plan names the files that the keys lead to, and asks for the consent that any of
// them needs.
func (r reader) plan(ctx context.Context, in readInput) (tools.Plan, error) {
	keys := trimmed(in.Keys)
	var files []tools.Location
	var cautions []string
	for i, key := range keys {
		if slices.Contains(keys[:i], key) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return tools.Plan{}, err
		}
		look := r.source.Look(ctx, key)
		if at := (tools.Location{Path: look.Path}); look.Path != "" && !slices.Contains(files, at) {
			files = append(files, at)
		}
		if look.Caution != "" && !slices.Contains(cautions, look.Caution) {
			cautions = append(cautions, look.Caution)
		}
	}
	return tools.Plan{
		Title:     tools.Line("Reading "+strings.Join(keys, ", "), tools.MaxTitle),
		Effect:    tools.Reads,
		Locations: files,
		Caution:   strings.Join(cautions, "; "),
	}, nil
}

func (r reader) run(ctx context.Context, in readInput, _ tools.Call) (tools.Result, error) {
	var entries []entry
	known := make(map[string]bool, len(in.Keys))
	for _, key := range trimmed(in.Keys) {
		e := entry{key: key, again: known[key]}
		known[key] = true
		if !e.again {
			if err := ctx.Err(); err != nil {
				return tools.Result{}, err
			}
			var err error
			if e.body, err = r.source.Body(ctx, key); err != nil {
				p, ok := errors.AsType[*tools.PublicError](err)
				if !ok {
					return tools.Result{}, err
				}
				e.trouble = p.Text
			}
		}
		entries = append(entries, e)
	}
	failed := !slices.ContainsFunc(entries, func(e entry) bool { return e.trouble == "" && !e.again })
	return tools.Result{Text: render(entries, r.wrap), IsError: failed}, nil
}

// trimmed returns keys without what models put around them.
func trimmed(keys []string) []string {
	out := make([]string, len(keys))
	for i, key := range keys {
		out[i] = strings.Trim(key, " \t\r\n`|")
	}
	return out
}
