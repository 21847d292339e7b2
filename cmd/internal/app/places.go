package app

import (
	"context"

	"github.com/lorimer-dev/lorimer/harness/place"
)

var _ place.Places = (*lazy)(nil)

func (l *lazy) Project(ctx context.Context, id string) (place.Project, error) {
	s, err := l.get(ctx)
	if err != nil {
		return place.Project{}, err
	}
	return s.Project(ctx, id)
}

func (l *lazy) Projects(ctx context.Context) ([]place.Project, error) {
	s, err := l.get(ctx)
	if err != nil {
		return nil, err
	}
	return s.Projects(ctx)
}

func (l *lazy) AddProject(ctx context.Context, p place.Project) error {
	s, err := l.get(ctx)
	if err != nil {
		return err
	}
	return s.AddProject(ctx, p)
}

func (l *lazy) SetProject(ctx context.Context, p place.Project) error {
	s, err := l.get(ctx)
	if err != nil {
		return err
	}
	return s.SetProject(ctx, p)
}

func (l *lazy) DeleteProject(ctx context.Context, id string) error {
	s, err := l.get(ctx)
	if err != nil {
		return err
	}
	return s.DeleteProject(ctx, id)
}

func (l *lazy) ProjectOf(ctx context.Context, dir string) (place.Project, error) {
	s, err := l.get(ctx)
	if err != nil {
		return place.Project{}, err
	}
	return s.ProjectOf(ctx, dir)
}

func (l *lazy) Workspace(ctx context.Context, id string) (place.Workspace, error) {
	s, err := l.get(ctx)
	if err != nil {
		return place.Workspace{}, err
	}
	return s.Workspace(ctx, id)
}

func (l *lazy) Workspaces(ctx context.Context, limit int) ([]place.Workspace, error) {
	s, err := l.get(ctx)
	if err != nil {
		return nil, err
	}
	return s.Workspaces(ctx, limit)
}

func (l *lazy) Summary(ctx context.Context, id string, limit int) (place.Summary, error) {
	s, err := l.get(ctx)
	if err != nil {
		return place.Summary{}, err
	}
	return s.Summary(ctx, id, limit)
}

func (l *lazy) AddWorkspace(ctx context.Context, w place.Workspace) error {
	s, err := l.get(ctx)
	if err != nil {
		return err
	}
	return s.AddWorkspace(ctx, w)
}

func (l *lazy) EditWorkspace(ctx context.Context, id string, e place.WorkspaceEdit) error {
	s, err := l.get(ctx)
	if err != nil {
		return err
	}
	return s.EditWorkspace(ctx, id, e)
}

func (l *lazy) DeleteWorkspace(ctx context.Context, id string) error {
	s, err := l.get(ctx)
	if err != nil {
		return err
	}
	return s.DeleteWorkspace(ctx, id)
}

func (l *lazy) Items(ctx context.Context, id string) ([]place.Item, error) {
	s, err := l.get(ctx)
	if err != nil {
		return nil, err
	}
	return s.Items(ctx, id)
}

func (l *lazy) Item(ctx context.Context, id, key string) (place.Item, error) {
	s, err := l.get(ctx)
	if err != nil {
		return place.Item{}, err
	}
	return s.Item(ctx, id, key)
}

func (l *lazy) AddItem(ctx context.Context, id, key string, e place.ItemEdit) error {
	s, err := l.get(ctx)
	if err != nil {
		return err
	}
	return s.AddItem(ctx, id, key, e)
}

func (l *lazy) EditItem(ctx context.Context, id, key string, e place.ItemEdit) error {
	s, err := l.get(ctx)
	if err != nil {
		return err
	}
	return s.EditItem(ctx, id, key, e)
}

func (l *lazy) DropItem(ctx context.Context, id, key string) error {
	s, err := l.get(ctx)
	if err != nil {
		return err
	}
	return s.DropItem(ctx, id, key)
}

func (l *lazy) Keep(ctx context.Context, name, mediaType string, content []byte) (place.Document, error) {
	s, err := l.get(ctx)
	if err != nil {
		return place.Document{}, err
	}
	return s.Keep(ctx, name, mediaType, content)
}

func (l *lazy) Document(ctx context.Context, key string) (place.Document, error) {
	s, err := l.get(ctx)
	if err != nil {
		return place.Document{}, err
	}
	return s.Document(ctx, key)
}

func (l *lazy) Content(ctx context.Context, key string) ([]byte, error) {
	s, err := l.get(ctx)
	if err != nil {
		return nil, err
	}
	return s.Content(ctx, key)
}
