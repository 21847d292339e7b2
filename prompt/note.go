package prompt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Place is where a note goes in a request.
type Place string

// The places. In the stateless shape every note is part of the system string.
const (
	PlaceSystem Place = "system"     // after all else in the system string
	PlaceFront  Place = "turn-front" // before the user's text
	PlaceEnd    Place = "turn-end"   // after the user's text
)

// A Spot is a place, and the rank among the notes there, ascending.
type Spot struct {
	Place Place `json:"place"`
	Rank  int   `json:"rank"`
}

// A NoteKind is a kind of text that goes with a single send. It decides for both
// shapes of a request where it goes (R-PROMPT-31).
type NoteKind struct {
	name      string
	stateless Spot
	harness   Spot
}

// NewNoteKind returns a kind of note. Both spots must name a place that exists
// in their shape.
func NewNoteKind(name string, stateless, harness Spot) (NoteKind, error) {
	k := NoteKind{name, stateless, harness}
	switch {
	case name == "":
		return NoteKind{}, &Error{Fault: Invalid, Detail: "a kind of note needs a name"}
	case stateless.Place != PlaceSystem:
		return NoteKind{}, k.misplaced(Stateless, stateless, PlaceSystem)
	case !slices.Contains([]Place{PlaceSystem, PlaceFront, PlaceEnd}, harness.Place):
		return NoteKind{}, k.misplaced(Harness, harness, PlaceSystem, PlaceFront, PlaceEnd)
	}
	return k, nil
}

func (k NoteKind) misplaced(s Shape, got Spot, want ...Place) error {
	var names []string
	for _, p := range want {
		names = append(names, string(p))
	}
	return &Error{Fault: Invalid, Detail: fmt.Sprintf("note %q has no place %q in the %s shape; use %s",
		k.name, got.Place, s, strings.Join(names, ", "))}
}

// Name returns the name of the kind.
func (k NoteKind) Name() string { return k.name }

// Spot returns where notes of the kind go in a shape.
func (k NoteKind) Spot(s Shape) Spot {
	if s == Harness {
		return k.harness
	}
	return k.stateless
}

// dateKind is the note of the date. It is the first note of the stateless shape
// and the very end of the other.
func dateKind() NoteKind {
	return NoteKind{"date", Spot{PlaceSystem, 0}, Spot{PlaceEnd, 1000}}
}

// Note adds a kind of note. Kinds stay for the life of the registry.
func (r *Registry) Note(k NoteKind) error {
	if k.name == "" {
		return &Error{Fault: Invalid, Detail: "a kind of note comes from NewNoteKind"}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := kindOf(r.kinds, k.name); ok {
		return &Error{Fault: Duplicate, Detail: fmt.Sprintf("note %q is taken; choose another name", k.name)}
	}
	r.kinds = append(slices.Clip(r.kinds), k)
	return nil
}

// NoteKinds returns the kinds of notes, in the order of their names.
func (r *Registry) NoteKinds() []NoteKind {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.SortedFunc(slices.Values(r.kinds), func(a, b NoteKind) int { return cmp.Compare(a.name, b.name) })
}

func kindOf(kinds []NoteKind, name string) (NoteKind, bool) {
	i := slices.IndexFunc(kinds, func(k NoteKind) bool { return k.name == name })
	if i < 0 {
		return NoteKind{}, false
	}
	return kinds[i], true
}
