// Package ask has the tool with which a model asks the user.
//
// The questions go to an [Asker], which puts them in a form of the editor. Where
// there is none, or it cannot ask, the model is told to write its questions into
// its answer and to end the turn with them. A user who does not answer is an
// answer too: it never keeps the turn.
package ask

import "context"

// A Question is one question with the answers to choose from. Those of the tool
// show all that they say: an option is one line, and occurs once.
type Question struct {
	Text     string
	Options  []string // none takes a text
	Multiple bool     // several may be chosen
}

// A Reply is what became of a form of questions.
type Reply struct {
	Asked   bool       // false: there is no way to ask here, so the model asks in its answer
	Answers [][]string // by question: the options that were chosen, or one text; an empty one is no response
}

// An Asker asks the user. It waits without a limit but that of ctx, whose error it
// returns when that ends the wait (R-ACP-45). CallID is the call that asks. What it
// passes on as an answer need not be one that was offered.
type Asker interface {
	Ask(ctx context.Context, callID string, questions []Question) (Reply, error)
}

// A Revealer returns s with each character that does not show written out.
type Revealer func(s string) string

// MaxText is how many characters of a text the tool passes on. A longer one is cut
// there, and says so.
const MaxText = 4000
