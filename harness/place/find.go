package place

import (
	"context"
	"errors"
	"slices"
)

// Find returns the project that a user means: that of an id or, where none has it, of a
// name. ErrNone.
func Find(ctx context.Context, all Projects, ref string) (Project, error) {
	p, none := all.Project(ctx, ref)
	if !errors.Is(none, ErrNone) {
		return p, none
	}
	list, err := all.Projects(ctx)
	if err != nil {
		return Project{}, err
	}
	if i := slices.IndexFunc(list, func(p Project) bool { return p.Name == ref }); i >= 0 {
		return list[i], nil
	}
	return Project{}, none
}
