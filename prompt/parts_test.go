package prompt_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lorimer-dev/lorimer/prompt"
)

// webNotice is what the tests let a line of the budget begin with.
const webNotice = "Web calls left: "

func standard(t *testing.T) *prompt.Registry {
	t.Helper()
	r, err := prompt.Standard(prompt.Options{WebNotice: webNotice})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func parts(t *testing.T, r *prompt.Registry, c prompt.Context, now time.Time) prompt.Parts {
	t.Helper()
	p, _, err := r.Parts(c, now)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestStable is R-PROMPT-21 and R-PROMPT-22: the stable part does not depend on
// the time or on the order in which tools come.
func TestStable(t *testing.T) {
	r := standard(t)
	tools := named("write", "bash", "read")
	for i := range tools {
		tools[i].Guidance = "Guidance of " + tools[i].Name
	}
	c := prompt.Context{Model: "m1", Tools: tools}
	first := parts(t, r, c, noon)
	slices.Reverse(tools)
	second := parts(t, r, c, noon.Add(time.Hour))
	if first.Stable != second.Stable {
		t.Errorf("stable part differs:\n%s\n---\n%s", first.Stable, second.Stable)
	}
	if first.Volatile == second.Volatile {
		t.Errorf("volatile part is %q at both times", first.Volatile)
	}
	for _, p := range []prompt.Parts{first, second} {
		if p.Full != p.Stable+"\n\n"+p.Volatile {
			t.Errorf("full = %q, want stable, blank line, volatile", p.Full)
		}
	}
	if strings.Contains(first.Stable, "2026") {
		t.Error("the stable part holds a date")
	}
}

// TestVaryingVariable is R-PROMPT-29: the error names section and variable.
func TestVaryingVariable(t *testing.T) {
	r := newRegistry(t, prompt.Options{})
	must(t)(r.Variable(prompt.Variable{Name: "branch", Text: "main", Volatile: true}))
	for _, name := range []string{"branch", "date"} {
		f := prompt.Facts{Extras: []prompt.Extra{{Sections: []prompt.Section{{Name: "mine", Text: "on {{" + name + "}}"}}}}}
		_, _, err := r.Parts(prompt.Context{Facts: f}, noon)
		checkFault(t, err, prompt.Varying, "mine", name)
	}
}

// TestUserTextIsNeverLast is R-PROMPT-12 and R-PROMPT-16.
func TestUserTextIsNeverLast(t *testing.T) {
	tests := []struct {
		name    string
		section prompt.Section
		fails   bool
	}{
		{"literal", prompt.Section{Text: "{{x}} stays", Literal: true}, true},
		{"marked", prompt.Section{Text: "x", User: true}, true},
		{"variable", prompt.Section{Text: "x {{user}}"}, true},
		{"empty variable", prompt.Section{Text: "x {{nobody}}"}, false},
		{"template", prompt.Section{Text: "x"}, false},
		{"empty literal", prompt.Section{Text: "\n", Literal: true}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := standard(t)
			must(t)(r.Variable(prompt.Variable{Name: "user", Text: "{{x}}", User: true}))
			must(t)(r.Variable(prompt.Variable{Name: "nobody", User: true}))
			tt.section.Name = "mine"
			for _, order := range []float64{15, 1000} {
				tt.section.Order = order
				f := prompt.Facts{Extras: []prompt.Extra{{Sections: []prompt.Section{tt.section}}}}
				_, _, err := r.Parts(prompt.Context{Facts: f}, noon)
				if tt.fails && order == 1000 {
					checkFault(t, err, prompt.UserLast, "mine")
				} else if err != nil {
					t.Errorf("order %v: %v", order, err)
				}
			}
		})
	}
}

// TestEmptySections is R-PROMPT-14.
func TestEmptySections(t *testing.T) {
	r := newRegistry(t, prompt.Options{})
	must(t)(r.Variable(prompt.Variable{Name: "void"}))
	must(t)(r.Section(prompt.Section{Name: "a", Order: 1, Text: "a"}))
	must(t)(r.Section(prompt.Section{Name: "b", Order: 2, Text: "{{void}}"}))
	must(t)(r.Section(prompt.Section{Name: "blank", Order: 2, Text: " \n\t\n"}))
	must(t)(r.Section(prompt.Section{Name: "c", Order: 3, Text: "\r\n\n  c\n\n", Literal: true}))
	must(t)(r.Section(prompt.Section{Name: "d", Order: 4, Text: "d"}))
	if got := parts(t, r, prompt.Context{}, noon).Stable; !strings.HasSuffix(got, "\n\na\n\n  c\n\nd") {
		t.Errorf("stable = %q, want it to end with a, c and d and one blank line between them", got)
	}
	must(t)(r.Hook(only("b")))
	if got := parts(t, r, prompt.Context{}, noon); got.Stable != "" || got.Full != got.Volatile {
		t.Errorf("parts = %+v, want an empty stable part", got)
	}
}

func TestDateNote(t *testing.T) {
	zone := func(name string) *time.Location {
		l, err := time.LoadLocation(name)
		if err != nil {
			t.Skipf("no zone database: %v", err)
		}
		return l
	}
	at := time.Date(2026, time.March, 5, 14, 7, 0, 0, time.UTC)
	tests := []struct {
		at   time.Time
		want string
	}{
		{at, "Thursday, March 5, 2026 at 2:07 PM UTC"},
		{at.In(zone("Europe/Berlin")), "Thursday, March 5, 2026 at 3:07 PM CET"},
		{at.In(zone("America/Sao_Paulo")), "Thursday, March 5, 2026 at 11:07 AM GMT-03"},
		{at.In(zone("Asia/Kathmandu")), "Thursday, March 5, 2026 at 7:52 PM GMT+05:45"},
		{at.Add(10 * time.Hour), "Friday, March 6, 2026 at 12:07 AM UTC"},
		{time.Date(2026, time.March, 5, 9, 0, 0, 0, time.FixedZone("", -3600)), "Thursday, March 5, 2026 at 9:00 AM GMT-01"},
	}
	for _, tt := range tests {
		if got, want := prompt.DateNote(tt.at), "Current date and time: "+tt.want; got != want {
			t.Errorf("DateNote(%v) = %q, want %q", tt.at, got, want)
		}
	}
}
