package approve

import (
	"context"
	"errors"
	"sync"

	"github.com/lorimer-dev/lorimer/tools"
)

// Options describe what a session's rules protect. Dir is needed.
type Options struct {
	Dir       string   // absolute working directory of the session, where commands start
	Roots     []string // absolute directories of the workspace; default Dir
	Home      string   // the user's home directory; "" is unknown
	Protected []string // absolute files and directories of this program: configuration, trust, credentials

	// Dirty reports whether the work tree in dir has changes that a
	// destructive git command would lose. An error, and nil, count as yes.
	Dirty func(ctx context.Context, dir string) (bool, error)
}

// Rules are the permissions of one session, and what the user said in it. They
// are safe for concurrent use.
type Rules struct {
	o      Options
	guard  guard
	asking chan struct{} // holds a token while the user is asked

	mu      sync.Mutex      // guards the fields below
	answers map[string]bool // by key of a grant: allowed or denied for the session
}

// New returns rules without any grant.
func New(o Options) *Rules {
	if len(o.Roots) == 0 {
		o.Roots = []string{o.Dir}
	}
	return &Rules{
		o:       o,
		guard:   newGuard(o),
		asking:  make(chan struct{}, 1),
		answers: map[string]bool{},
	}
}

// A Verdict is the decision on one call.
type Verdict struct {
	Allowed bool
	Refused Refusal // why not; zero when allowed
	Text    string  // what the model reads as the result when not allowed
}

// A Refusal is why a call may not run.
type Refusal string

// The refusals.
const (
	ByUser Refusal = "user"   // the user said no, now or for the session
	ByRule Refusal = "rule"   // a hard rule or the mode forbids it, whatever anybody says
	Nobody Refusal = "nobody" // it needs a yes, and there is nobody to ask (R-CMD-11)
)

// Decide says whether a call may run, asking the user if the mode and the
// earlier answers do not say. A nil ask is nobody to ask. The error is that of
// ctx, when it ended the wait (R-ACP-42); any other fault of ask is a no.
//
// The user gets one question at a time, so that an answer "always" also holds
// for the same question of a call that ran beside.
func (r *Rules) Decide(ctx context.Context, mode Mode, info tools.Info, q Question, ask Approver) (Verdict, error) {
	effect := q.Plan.Effect
	if effect == 0 {
		effect = info.Effect
	}
	hard := r.guard.look(effect, q.Plan)
	if hard.refuse != "" {
		return refuse(ByRule, hard.refuse), nil
	}
	if mode == ReadOnly && effect.Mutates() {
		return refuse(ByRule, "the session is in read-only mode"), nil
	}
	reason := hard.ask
	if reason == "" && hard.dirty != "" && r.dirty(ctx, hard.dir) {
		reason = hard.dirty
	}
	if reason == "" && mode != Auto { // a caution is no hard rule
		reason = q.Plan.Caution
	}
	if reason != "" {
		// Whatever "always" was said, it was not said about this.
		q.Plan.Always = tools.Grant{}
		q.Reason = reason
	} else if r.free(mode, effect, q.Plan) {
		return Verdict{Allowed: true}, nil
	}
	return r.ask(ctx, q, ask)
}

// free reports whether the mode allows the call without asking (R-ACP-40).
func (r *Rules) free(mode Mode, effect tools.Effect, p tools.Plan) bool {
	switch {
	case !effect.Mutates(), mode == Auto:
		return true
	case mode == AcceptEdits:
		return effect&^(tools.Reads|tools.Edits) == 0 && r.guard.inside(p.Locations)
	}
	return false
}

func (r *Rules) dirty(ctx context.Context, dir string) bool {
	if r.o.Dirty == nil {
		return true
	}
	dirty, err := r.o.Dirty(ctx, dir)
	return dirty || err != nil
}

// ask puts the question, unless the user answered it for the session.
func (r *Rules) ask(ctx context.Context, q Question, ask Approver) (Verdict, error) {
	if v, ok := r.remembered(q.Plan.Always.Key); ok {
		return v, nil
	}
	if ask == nil {
		return refuse(Nobody, q.Reason), nil
	}
	select {
	case r.asking <- struct{}{}:
		defer func() { <-r.asking }()
	case <-ctx.Done():
		return Verdict{}, ctx.Err()
	}
	if v, ok := r.remembered(q.Plan.Always.Key); ok {
		return v, nil
	}
	answer, err := ask.Approve(ctx, q)
	if ctx.Err() != nil {
		return Verdict{}, ctx.Err() // a yes that comes after a cancel is none (C022)
	}
	if err != nil {
		if errors.Is(err, context.Canceled) {
			return Verdict{}, err
		}
		return refuse(ByUser, ""), nil
	}
	return r.settle(answer, q.Plan.Always.Key), nil
}

// settle remembers an answer and turns it into a verdict.
func (r *Rules) settle(a Answer, key string) Verdict {
	allowed := a == AllowOnce || a == AllowAlways
	if key != "" && (a == AllowAlways || a == DenyAlways) {
		r.mu.Lock()
		r.answers[key] = allowed
		r.mu.Unlock()
	}
	if allowed {
		return Verdict{Allowed: true}
	}
	return refuse(ByUser, "")
}

func (r *Rules) remembered(key string) (Verdict, bool) {
	if key == "" {
		return Verdict{}, false
	}
	r.mu.Lock()
	allowed, ok := r.answers[key]
	r.mu.Unlock()
	switch {
	case !ok:
		return Verdict{}, false
	case allowed:
		return Verdict{Allowed: true}, true
	}
	return refuse(ByUser, ""), true
}

// Gate returns the gate of a mode: what read-only offers changes nothing, and
// every other mode offers all (R-ACP-40).
func Gate(mode Mode) tools.Gate {
	if mode != ReadOnly {
		return nil
	}
	return tools.Allow(tools.Reads | tools.Fetches)
}
