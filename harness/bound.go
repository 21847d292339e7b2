package harness

import (
	"context"
	_ "embed"
	"errors"
	"slices"
	"strings"

	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/tools"
)

//go:embed text/unbound.md
var unboundText string

// bound is where the session belongs.
func (s *Session) bound() thread.Bound {
	return thread.Bound{Project: s.spec.Place.Project, Workspace: s.spec.Place.Workspace}
}

// bind settles where the session belongs: where its client says, else where its
// thread does. It fails with a [*MissingError] for what the client has named. What
// the thread has named and is not there any more is told to the user, and the
// session goes on without it. A project that is named by its name is kept by its id,
// so that it may be called something else.
func (s *Session) bind(ctx context.Context, stored thread.Bound) error {
	p := &s.spec.Place
	named := s.bound()
	if p.Project == "" {
		p.Project = stored.Project
	}
	if p.Workspace == "" {
		p.Workspace = stored.Workspace
	}
	for s.bound() != (thread.Bound{}) {
		settled, err := s.e.o.Settings.Settle(ctx, s.place())
		if err == nil {
			p.Project = settled.Project
		}
		missing, ok := errors.AsType[*MissingError](err)
		if !ok {
			return nil // any other error shows when a message is sent
		}
		switch { // the two may have the same id
		case missing.What == "project" && named.Project == "" && p.Project != "":
			p.Project = ""
		case missing.What == "workspace" && named.Workspace == "" && p.Workspace != "":
			p.Workspace = ""
		default:
			return missing
		}
		notice := strings.NewReplacer("WHAT", missing.What, "NAME", tools.Line(missing.ID, maxNamed)).Replace(strings.TrimSpace(unboundText))
		s.spec.Notices = append(slices.Clip(s.spec.Notices), notice)
	}
	return nil
}
