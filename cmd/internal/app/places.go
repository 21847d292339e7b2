package app

import (
	"context"

	"github.com/lorimer-dev/lorimer/harness/place"
)

var _ place.Places = (*threads)(nil)

func (t *threads) Project(ctx context.Context, id string) (place.Project, error) {
	s, err := t.get(ctx)
	if err != nil {
		return place.Project{}, err
	}
	return s.Project(ctx, id)
}

func (t *threads) Projects(ctx context.Context) ([]place.Project, error) {
	s, err := t.get(ctx)
	if err != nil {
		return nil, err
	}
	return s.Projects(ctx)
}

func (t *threads) AddProject(ctx context.Context, p place.Project) error {
	s, err := t.get(ctx)
	if err != nil {
		return err
	}
	return s.AddProject(ctx, p)
}

func (t *threads) SetProject(ctx context.Context, p place.Project) error {
	s, err := t.get(ctx)
	if err != nil {
		return err
	}
	return s.SetProject(ctx, p)
}

func (t *threads) DeleteProject(ctx context.Context, id string) error {
	s, err := t.get(ctx)
	if err != nil {
		return err
	}
	return s.DeleteProject(ctx, id)
}

func (t *threads) ProjectOf(ctx context.Context, dir string) (place.Project, error) {
	s, err := t.get(ctx)
	if err != nil {
		return place.Project{}, err
	}
	return s.ProjectOf(ctx, dir)
}

func (t *threads) Workspace(ctx context.Context, id string) (place.Workspace, error) {
	s, err := t.get(ctx)
	if err != nil {
		return place.Workspace{}, err
	}
	return s.Workspace(ctx, id)
}

func (t *threads) Workspaces(ctx context.Context, limit int) ([]place.Workspace, error) {
	s, err := t.get(ctx)
	if err != nil {
		return nil, err
	}
	return s.Workspaces(ctx, limit)
}

func (t *threads) Summary(ctx context.Context, id string, limit int) (place.Summary, error) {
	s, err := t.get(ctx)
	if err != nil {
		return place.Summary{}, err
	}
	return s.Summary(ctx, id, limit)
}

func (t *threads) AddWorkspace(ctx context.Context, w place.Workspace) error {
	s, err := t.get(ctx)
	if err != nil {
		return err
	}
	return s.AddWorkspace(ctx, w)
}

func (t *threads) EditWorkspace(ctx context.Context, id string, e place.WorkspaceEdit) error {
	s, err := t.get(ctx)
	if err != nil {
		return err
	}
	return s.EditWorkspace(ctx, id, e)
}

func (t *threads) DeleteWorkspace(ctx context.Context, id string) error {
	s, err := t.get(ctx)
	if err != nil {
		return err
	}
	return s.DeleteWorkspace(ctx, id)
}

func (t *threads) Items(ctx context.Context, id string) ([]place.Item, error) {
	s, err := t.get(ctx)
	if err != nil {
		return nil, err
	}
	return s.Items(ctx, id)
}

func (t *threads) Item(ctx context.Context, id, key string) (place.Item, error) {
	s, err := t.get(ctx)
	if err != nil {
		return place.Item{}, err
	}
	return s.Item(ctx, id, key)
}

func (t *threads) AddItem(ctx context.Context, id, key string, e place.ItemEdit) error {
	s, err := t.get(ctx)
	if err != nil {
		return err
	}
	return s.AddItem(ctx, id, key, e)
}

func (t *threads) EditItem(ctx context.Context, id, key string, e place.ItemEdit) error {
	s, err := t.get(ctx)
	if err != nil {
		return err
	}
	return s.EditItem(ctx, id, key, e)
}

func (t *threads) DropItem(ctx context.Context, id, key string) error {
	s, err := t.get(ctx)
	if err != nil {
		return err
	}
	return s.DropItem(ctx, id, key)
}

func (t *threads) Keep(ctx context.Context, name, mediaType string, content []byte) (place.Document, error) {
	s, err := t.get(ctx)
	if err != nil {
		return place.Document{}, err
	}
	return s.Keep(ctx, name, mediaType, content)
}

func (t *threads) Document(ctx context.Context, key string) (place.Document, error) {
	s, err := t.get(ctx)
	if err != nil {
		return place.Document{}, err
	}
	return s.Document(ctx, key)
}

func (t *threads) Content(ctx context.Context, key string) ([]byte, error) {
	s, err := t.get(ctx)
	if err != nil {
		return nil, err
	}
	return s.Content(ctx, key)
}
