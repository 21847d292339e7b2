// Package doctor looks at an installation and says what it finds. A check is a
// function that returns a few lines; a new area of the program adds one.
package doctor

import "context"

// A State is how a check ended.
type State string

// The states; only the last one makes an installation unusable.
const (
	OK   State = "ok"
	Note State = "note" // works, but the user may want to know
	Bad  State = "bad"
)

// A Finding is one line of a check.
type Finding struct {
	State State  `json:"state"`
	Text  string `json:"text"` // what is, and for a Bad one the way out
}

// A Check looks at one thing.
type Check struct {
	Name string
	Look func(ctx context.Context) []Finding
}

// A Report is what the checks found, in their order.
type Report struct {
	Check    string    `json:"check"`
	Findings []Finding `json:"findings"`
}

// Run runs all checks, one after the other, and reports whether none was Bad.
func Run(ctx context.Context, checks []Check) (reports []Report, healthy bool) {
	healthy = true
	for _, c := range checks {
		found := c.Look(ctx)
		for _, f := range found {
			healthy = healthy && f.State != Bad
		}
		reports = append(reports, Report{c.Name, found})
	}
	return reports, healthy
}
