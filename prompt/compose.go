package prompt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Shape is one of the two ways to ask a model (R-HARN-20).
type Shape string

// The shapes.
const (
	Harness   Shape = "harness"   // for models that call tools
	Stateless Shape = "stateless" // for models that do not, and for turns without tools
)

// A Placement says where the volatile part goes in the harness shape. Its values
// are those of the configuration key prompt_cache.volatile_placement.
type Placement string

// The placements. The empty one is [InTurn].
const (
	InTurn   Placement = "turn"   // the last line of the newest user turn, where it stays
	InSystem Placement = "system" // the last line of the system string
)

// A Note is a text that goes with one send, of a registered kind.
type Note struct {
	Kind string
	Text string
}

// A Send is what one request is composed of.
type Send struct {
	Shape       Shape
	Parts       Parts
	Client      Client       // not told in the stateless shape
	Environment *Environment // not told in the stateless shape; nil is nothing to tell
	Volatile    Placement
	Notes       []Note // without the date; notes of one kind keep their order
}

// A Composition is the system string of a request, and what goes around the
// user's text in the newest user turn. Front and End are part of the turn from
// then on, byte for byte, and are never displayed (R-PROMPT-33).
type Composition struct {
	System string
	Front  string
	End    string
}

// Turn returns the user's text with Front and End around it.
func (c Composition) Turn(text string) string { return paragraphs(c.Front, text, c.End) }

// Compose puts a request together in the order of its shape (R-PROMPT-30,
// R-PROMPT-32, R-PROMPT-33).
func (r *Registry) Compose(s Send) (Composition, error) {
	system := []string{s.Parts.Stable}
	switch s.Shape {
	case Stateless:
	case Harness:
		system = append(system, s.Client.text())
		if s.Environment != nil {
			system = append(system, s.Environment.Text())
		}
	default:
		return Composition{}, &Error{Fault: Invalid, Detail: fmt.Sprintf("no shape %q; use %s or %s", s.Shape, Harness, Stateless)}
	}
	placed, err := r.placeNotes(s)
	if err != nil {
		return Composition{}, err
	}
	return Composition{
		System: paragraphs(append(system, placed[PlaceSystem]...)...),
		Front:  paragraphs(placed[PlaceFront]...),
		End:    paragraphs(placed[PlaceEnd]...),
	}, nil
}

// placeNotes returns the texts of the notes and of the date by place, in order.
func (r *Registry) placeNotes(s Send) (map[Place][]string, error) {
	switch s.Volatile {
	case "", InTurn, InSystem:
	default:
		return nil, &Error{Fault: Invalid, Key: "prompt_cache.volatile_placement",
			Detail: fmt.Sprintf("no placement %q; use %s or %s", s.Volatile, InTurn, InSystem)}
	}
	type placed struct {
		Spot
		text string
	}
	r.mu.Lock()
	kinds := r.kinds
	r.mu.Unlock()
	var all []placed
	for _, n := range append([]Note{{dateKind().name, s.Parts.Volatile}}, s.Notes...) {
		k, ok := kindOf(kinds, n.Kind)
		if !ok {
			return nil, &Error{Fault: Unknown, Detail: fmt.Sprintf("no kind of note %q; register it first", n.Kind)}
		}
		spot := k.Spot(s.Shape)
		if n.Kind == dateKind().name && s.Shape == Harness && s.Volatile == InSystem {
			spot.Place = PlaceSystem
		}
		all = append(all, placed{spot, n.Text})
	}
	slices.SortStableFunc(all, func(a, b placed) int { return cmp.Compare(a.Rank, b.Rank) })
	out := map[Place][]string{}
	for _, p := range all {
		out[p.Place] = append(out[p.Place], p.text)
	}
	return out, nil
}

// paragraphs joins what is not empty with blank lines.
func paragraphs(texts ...string) string {
	kept := slices.DeleteFunc(slices.Clone(texts), func(s string) bool { return s == "" })
	return strings.Join(kept, "\n\n")
}

// text returns the paragraph that names the client, or "".
func (c Client) text() string {
	name := shownOf(c.Name, maxClient)
	if name == "" {
		return ""
	}
	return clientWords.fill("client", strings.TrimSpace(name+" "+shownOf(c.Version, maxClient)))
}

// maxClient bounds the name of a client and its version, in characters: both come
// from the other end, and are part of each request.
const maxClient = 200

// shownOf is [shown] of at most limit characters of s. A character that is written out
// counts as one, so that no code is cut.
func shownOf(s string, limit int) string {
	s = oneLine(s)
	n := 0
	for at := range s {
		if n++; n > limit {
			return Reveal(strings.TrimRight(s[:at], " "))
		}
	}
	return Reveal(s)
}
