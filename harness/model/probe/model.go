package probe

import (
	"slices"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/catalog"
)

// A Model is what a server says of a model that it offers. What it does not say
// is unknown, never guessed.
type Model struct {
	ID     string
	Name   string // for people; "" is unknown
	Window int    // in tokens, as far as a request may go; 0 is unknown
	Output int    // the most tokens of one answer; 0 is unknown
	Tools  Tri    // calls tools
	Images Tri    // takes pictures
	Thinks Tri    // has an effort to set
	// Efforts are those beside off, weakest first; nil is unknown.
	Efforts []model.Effort
	Price   *catalog.Price // nil is unknown

	loaded  bool
	fixed   bool   // the window is one that the model itself asks for
	owner   string // as a list of OpenAI's shape names it
	aliases []string
}

// Tri is yes, no or not known.
type Tri int8

// The values of a Tri.
const (
	Unknown Tri = iota
	No
	Yes
)

func tri(b bool) Tri {
	if b {
		return Yes
	}
	return No
}

// within reports whether a list holds a word; nobody knows without a list.
func within(list []string, word string) Tri {
	if list == nil {
		return Unknown
	}
	return tri(slices.Contains(list, word))
}
