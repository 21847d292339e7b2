// Package ask has the tool with which a model asks the user.
package ask

import (
	"context"

	"github.com/lorimer-dev/lorimer/tools"
)

// A Question is one question with the answers to choose from.
type Question struct {
	Text     string
	Options  []string // none takes a text
	Multiple bool     // several may be chosen
}

// A Reply is what became of a form of questions.
type Reply struct {
	Asked   bool       // false: there is no way to ask here, so the model asks in its answer
	Answers [][]string // by question; an empty one is no response
}

// An Asker asks the user. It waits without a limit but that of ctx (R-ACP-45).
type Asker interface {
	Ask(ctx context.Context, callID string, questions []Question) (Reply, error)
}

// New returns the tool ask_user. A nil asker cannot ask.
func New(a Asker) tools.Tool { return nil }
