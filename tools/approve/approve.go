// Package approve decides whether a call may run: by the session's mode, by
// what the user allowed before, by hard rules that hold in every mode, and by
// asking (R-ACP-40 to R-ACP-42).
package approve

import (
	"context"
	"encoding/json"

	"github.com/lorimer-dev/lorimer/tools"
)

// A Mode is how much a session may do without asking.
type Mode string

// The modes of R-ACP-40.
const (
	Ask         Mode = "ask"          // reads run, the rest asks; the default
	AcceptEdits Mode = "accept-edits" // edits inside the workspace run too
	Auto        Mode = "auto"         // all runs, apart from the hard rules
	ReadOnly    Mode = "read-only"    // tools that change anything are not offered
)

// A Question is what the user is asked.
type Question struct {
	CallID string
	Tool   string
	Input  json.RawMessage
	Plan   tools.Plan
	Kind   tools.Kind
	Reason string // why it is asked although the mode would allow it; "" is the mode
}

// An Answer is what the user said.
type Answer int

// The answers; the zero value is the safe one.
const (
	Deny Answer = iota
	AllowOnce
	AllowAlways // for the grant of the plan
	DenyAlways  // for the grant of the plan
)

// An Approver asks the user. It returns when the user has answered or ctx has
// ended, and then ctx's error; an answer that it does not understand is Deny.
type Approver interface {
	Approve(ctx context.Context, q Question) (Answer, error)
}
