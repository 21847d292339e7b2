// Package doc has the tools for the documents of a session.
package doc

import (
	"context"

	"github.com/lorimer-dev/lorimer/tools"
)

// A Body is what a key stands for.
type Body struct {
	Name string
	Type string // media type
	Text string // "" where it cannot be shown as text
	Size int    // in bytes
}

// A Source finds what a key of the session stands for. Missing is told by a public
// error of [tools], and so is what the user has to allow first.
type Source interface {
	Body(ctx context.Context, key string) (Body, error)
	// Caution says why reading key needs the user's consent; "" needs none.
	Caution(ctx context.Context, key string) string
}

// A Wrapper returns body between the tags of an element with attributes, which are
// pairs of name and value, so that body cannot be taken for anything but data.
type Wrapper func(tag, body string, attributes ...string) string

// NewReadContext returns the tool read-context (R-TOOLS-28), whose entries are
// wrapped by wrap.
func NewReadContext(s Source, wrap Wrapper) tools.Tool { return nil }
