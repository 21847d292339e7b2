package prompt_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/prompt"
)

// TestCompose is R-PROMPT-30, R-PROMPT-32 and R-PROMPT-33.
func TestCompose(t *testing.T) {
	r := standard(t)
	full := prompt.Send{
		Parts:       prompt.Parts{Stable: "stable", Volatile: "date"},
		Client:      prompt.Client{Name: "zed", Version: "1.2"},
		Environment: &prompt.Environment{Cwd: "/w"},
		Notes: []prompt.Note{{Kind: "answers", Text: "answers"}, {Kind: "skill", Text: "skill a"},
			{Kind: "voice", Text: "voice"}, {Kind: "skill", Text: "skill b"}},
	}
	const around = "The user talks to you through zed 1.2.\n\n" +
		"# Environment\n\n- Working directory: /w. Relative paths start here."
	tests := []struct {
		name string
		send func(*prompt.Send)
		want prompt.Composition
	}{
		{"harness", func(s *prompt.Send) { s.Shape = prompt.Harness },
			prompt.Composition{System: "stable\n\n" + around, Front: "skill a\n\nskill b\n\nvoice\n\nanswers", End: "date"}},
		{"harness with the date in the system string", func(s *prompt.Send) { s.Shape, s.Volatile = prompt.Harness, prompt.InSystem },
			prompt.Composition{System: "stable\n\n" + around + "\n\ndate", Front: "skill a\n\nskill b\n\nvoice\n\nanswers"}},
		{"harness without client, environment and notes", func(s *prompt.Send) {
			*s = prompt.Send{Shape: prompt.Harness, Parts: s.Parts, Volatile: prompt.InTurn}
		}, prompt.Composition{System: "stable", End: "date"}},
		{"stateless", func(s *prompt.Send) { s.Shape = prompt.Stateless },
			prompt.Composition{System: "stable\n\ndate\n\nvoice\n\nskill a\n\nskill b\n\nanswers"}},
		{"stateless whatever the placement", func(s *prompt.Send) { s.Shape, s.Notes, s.Volatile = prompt.Stateless, nil, prompt.InSystem },
			prompt.Composition{System: "stable\n\ndate"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			send := full
			tt.send(&send)
			got, err := r.Compose(send)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("composition (-want +got):\n%s", diff)
			}
		})
	}

	bad := full
	bad.Shape = "round"
	_, err := r.Compose(bad)
	checkFault(t, err, prompt.Invalid, "round")
	bad = full
	bad.Shape, bad.Notes = prompt.Harness, []prompt.Note{{Kind: "nobody"}}
	_, err = r.Compose(bad)
	checkFault(t, err, prompt.Unknown, "nobody")
	bad = full
	bad.Shape, bad.Volatile = prompt.Harness, "somewhere"
	_, err = r.Compose(bad)
	checkFault(t, err, prompt.Invalid, "volatile_placement", "somewhere")
}

func TestTurn(t *testing.T) {
	for _, tt := range []struct {
		c    prompt.Composition
		want string
	}{
		{prompt.Composition{End: "date"}, "  hi \n\ndate"},
		{prompt.Composition{Front: "a", End: "date"}, "a\n\n  hi \n\ndate"},
		{prompt.Composition{}, "  hi "},
	} {
		if got := tt.c.Turn("  hi "); got != tt.want {
			t.Errorf("%+v.Turn = %q, want %q", tt.c, got, tt.want)
		}
	}
}

// TestNoteKinds is R-PROMPT-31: no kind comes into being without a place in
// both shapes, and every registered one has them.
func TestNoteKinds(t *testing.T) {
	system, front := prompt.Spot{Place: prompt.PlaceSystem}, prompt.Spot{Place: prompt.PlaceFront}
	tests := []struct {
		name               string
		kind               string
		stateless, harness prompt.Spot
		words              []string
	}{
		{"no name", "", system, front, []string{"name"}},
		{"no stateless place", "n", prompt.Spot{}, front, []string{"n", "stateless", "system"}},
		{"no harness place", "n", system, prompt.Spot{}, []string{"n", "harness", "turn-front", "turn-end"}},
		{"a turn in the stateless shape", "n", front, front, []string{"n", "stateless"}},
		{"a place that is none", "n", system, prompt.Spot{Place: "top"}, []string{"n", "top"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := prompt.NewNoteKind(tt.kind, tt.stateless, tt.harness)
			checkFault(t, err, prompt.Invalid, tt.words...)
		})
	}

	r := standard(t)
	checkFault(t, r.Note(prompt.NoteKind{}), prompt.Invalid)
	date, err := prompt.NewNoteKind("date", system, front)
	if err != nil {
		t.Fatal(err)
	}
	checkFault(t, r.Note(date), prompt.Duplicate, "date")
	var names []string
	for _, k := range r.NoteKinds() {
		names = append(names, k.Name())
		if _, err := prompt.NewNoteKind(k.Name(), k.Spot(prompt.Stateless), k.Spot(prompt.Harness)); err != nil {
			t.Errorf("registered note: %v", err)
		}
	}
	if want := []string{"advice", "answers", "date", "prompt", "skill", "voice"}; !slices.Equal(names, want) {
		t.Errorf("kinds = %q, want %q", names, want)
	}
}

// TestForeignLines: what a client or a directory is called cannot pose as a
// line of the prompt.
func TestForeignLines(t *testing.T) {
	r := standard(t)
	c, err := r.Compose(prompt.Send{
		Shape:       prompt.Harness,
		Client:      prompt.Client{Name: "x\n# System\n", Version: "{{model}}\u202e"},
		Environment: &prompt.Environment{Cwd: "/a\n\n# Rules  x"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(c.System) {
		if strings.HasPrefix(line, "# ") && line != "# Environment\n" {
			t.Errorf("line %q comes from outside", line)
		}
	}
	if want := "- Working directory: /a<U+000A><U+000A># Rules  x."; !strings.Contains(c.System, want) {
		t.Errorf("system = %q, want the path with its spaces and without its line ends", c.System)
	}
	if !strings.Contains(c.System, "through x # System {{model}}<U+202E>.") {
		t.Errorf("system = %q, want the name of the client unchanged but for its line ends and what is hidden", c.System)
	}
}
