package app

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"

	"github.com/lorimer-dev/lorimer/cmd/internal/config"
	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/place"
	"github.com/lorimer-dev/lorimer/prompt"
	"github.com/lorimer-dev/lorimer/prompt/instructions"
	"github.com/lorimer-dev/lorimer/tools/workspace"
)

// join adds to f what a session at p has beside the configuration: what its
// client said, its project and workspace, and the files of its directory. It
// returns one line for each of the files that could not be told in full.
func (a *App) join(ctx context.Context, c *config.Config, p harness.Place, f *prompt.Facts) (notices []string, err error) {
	f.Locale = cmp.Or(p.Locale, f.Locale) // M-21
	if p.Persona != nil {
		f.Persona = p.Persona
	}
	if f.Project, err = a.project(ctx, p); err != nil {
		return nil, err
	}
	if f.Workspace, err = a.workspace(ctx, p.Workspace); err != nil {
		return nil, err
	}
	f.Instructions, notices = carried(c, p.Dir)
	return notices, nil
}

// carried returns the instructions that a directory carries, and one line for
// each that was left out or cut.
func carried(c *config.Config, dir string) ([]prompt.Instruction, []string) {
	if !c.Instructions.AgentsMD {
		return nil, nil
	}
	return instructions.Read(dir, instructions.Limits{
		File: c.Instructions.FileBytes, All: c.Instructions.AllBytes, Secret: workspace.Secret,
	})
}

// settle returns p with its project by its id.
func (a *App) settle(ctx context.Context, p harness.Place) (harness.Place, error) {
	if p.Project != "" {
		found, err := a.project(ctx, p)
		if err != nil {
			return harness.Place{}, err
		}
		p.Project = found.ID
	}
	if p.Workspace == "" {
		return p, nil
	}
	_, err := a.places.Workspace(ctx, p.Workspace)
	if errors.Is(err, place.ErrNone) {
		err = &harness.MissingError{What: "workspace", ID: p.Workspace}
	}
	return p, err
}

// project returns the project that a session names or, where it names none, that
// of its directory; nil is none (M-18).
func (a *App) project(ctx context.Context, p harness.Place) (*prompt.Project, error) {
	var found place.Project
	var err error
	if p.Project == "" {
		found, err = a.projectOf(ctx, p.Dir)
	} else {
		found, err = place.Find(ctx, a.places, p.Project)
	}
	switch {
	case errors.Is(err, place.ErrNone) && p.Project == "":
		return nil, nil
	case errors.Is(err, place.ErrNone):
		return nil, &harness.MissingError{What: "project", ID: p.Project}
	case err != nil:
		return nil, err
	}
	return &prompt.Project{ID: found.ID, Name: found.Name, Instructions: found.Instructions}, nil
}

// projectOf returns the project of a directory, by its path or by the one that its
// links lead to.
func (a *App) projectOf(ctx context.Context, dir string) (place.Project, error) {
	p, err := a.places.ProjectOf(ctx, dir)
	if !errors.Is(err, place.ErrNone) {
		return p, err
	}
	real, failed := filepath.EvalSymlinks(dir)
	if failed != nil || real == dir {
		return p, err
	}
	return a.places.ProjectOf(ctx, real)
}

// workspace returns what the model is told of the workspace that a session is
// bound to: names, no bodies. Nil is none.
func (a *App) workspace(ctx context.Context, id string) (*prompt.Workspace, error) {
	if id == "" {
		return nil, nil
	}
	w, err := a.places.Summary(ctx, id, prompt.MaxListed)
	if errors.Is(err, place.ErrNone) {
		return nil, &harness.MissingError{What: "workspace", ID: id}
	}
	if err != nil {
		return nil, err
	}
	return &prompt.Workspace{Bound: summary(w)}, nil
}

// summary tells of a workspace by its collections and what is pinned, of each by the
// first and how many there are.
func summary(w place.Summary) *prompt.Summary {
	s := &prompt.Summary{
		ID: w.ID, Title: w.Title, Documents: w.Documents, AllCollections: w.AllCollections, AllPinned: w.AllPinned,
	}
	for _, name := range w.Collections {
		s.Collections = append(s.Collections, prompt.Ref{ID: name, Title: name})
	}
	for _, i := range w.Pinned {
		s.Pinned = append(s.Pinned, prompt.Ref{ID: i.Key, Title: i.Name})
	}
	return s
}
