package store

import (
	"context"
	"math"
	"time"

	"github.com/lorimer-dev/lorimer/harness/place"
)

const selectWorkspaces = "SELECT id, title, description, created, updated," +
	" (SELECT count(*) FROM items WHERE workspace = workspaces.id) FROM workspaces"

// Workspace returns a workspace.
func (s *Store) Workspace(ctx context.Context, id string) (place.Workspace, error) {
	if place.CheckID(id) != nil {
		return place.Workspace{}, place.None("workspace", id)
	}
	found, err := s.workspaces(ctx, selectWorkspaces+" WHERE id = $1", id)
	if err == nil && len(found) == 0 {
		err = place.None("workspace", id)
	}
	if err != nil {
		return place.Workspace{}, err
	}
	return found[0], nil
}

// Workspaces returns the most recently changed first.
func (s *Store) Workspaces(ctx context.Context, limit int) ([]place.Workspace, error) {
	if limit <= 0 {
		limit = math.MaxInt32
	}
	return s.workspaces(ctx, selectWorkspaces+" ORDER BY updated DESC, id LIMIT $1", limit)
}

func (s *Store) workspaces(ctx context.Context, query string, args ...any) ([]place.Workspace, error) {
	var all []place.Workspace
	err := s.view(ctx, func(t tx) error {
		return t.all(ctx, query, args, func(row scan) error {
			var w place.Workspace
			var created, updated int64
			if err := row(&w.ID, &w.Title, &w.Description, &created, &updated, &w.Documents); err != nil {
				return err
			}
			w.Created, w.Updated = time.UnixMicro(created).UTC(), time.UnixMicro(updated).UTC()
			all = append(all, w)
			return nil
		})
	})
	return all, err
}

// AddWorkspace keeps a new workspace, which has no items.
func (s *Store) AddWorkspace(ctx context.Context, w place.Workspace) error {
	if err := w.Check(); err != nil {
		return err
	}
	return s.change(ctx, func(t tx) error {
		if err := t.d.here(); err != nil {
			return err
		}
		now := s.time().UnixMicro()
		made, err := t.get(ctx, "INSERT INTO workspaces (id, title, description, created, updated) VALUES ($1, $2, $3, $4, $5)"+
			" ON CONFLICT (id) DO NOTHING RETURNING id", []any{w.ID, w.Title, w.Description, now, now}, new(string))
		if err == nil && !made {
			err = place.Taken("workspace", w.ID)
		}
		return err
	})
}

// EditWorkspace changes what is said of a workspace.
func (s *Store) EditWorkspace(ctx context.Context, id string, e place.WorkspaceEdit) error {
	if err := e.Check(); err != nil {
		return err
	}
	return s.change(ctx, func(t tx) error {
		if err := t.touch(ctx, id, s.time()); err != nil {
			return err
		}
		return t.exec(ctx, "UPDATE workspaces SET title = COALESCE($1, title), description = COALESCE($2, description) WHERE id = $3",
			e.Title, e.Description, id)
	})
}

// DeleteWorkspace deletes a workspace with its items.
func (s *Store) DeleteWorkspace(ctx context.Context, id string) error {
	if place.CheckID(id) != nil {
		return place.None("workspace", id)
	}
	err := s.change(ctx, func(t tx) error {
		there, err := t.get(ctx, "SELECT 1 FROM workspaces WHERE id = $1"+t.d.lock("UPDATE"), []any{id}, new(int))
		if err == nil && !there {
			err = place.None("workspace", id)
		}
		if err != nil {
			return err
		}
		if err := t.loosen(ctx, "SELECT document FROM items WHERE workspace = $1", id); err != nil {
			return err
		}
		return t.exec(ctx, "DELETE FROM workspaces WHERE id = $1", id) // and its items
	})
	if err != nil {
		return err
	}
	s.sweep(ctx)
	return nil
}

const selectCollections = "SELECT collection, count(*) OVER () FROM" +
	" (SELECT DISTINCT collection FROM items WHERE workspace = $1 AND collection > '') AS c ORDER BY collection LIMIT $2"

// Summary returns a workspace in short.
func (s *Store) Summary(ctx context.Context, id string, limit int) (place.Summary, error) {
	w, err := s.Workspace(ctx, id)
	if err != nil {
		return place.Summary{}, err
	}
	sum := place.Summary{Workspace: w}
	err = s.view(ctx, func(t tx) (err error) {
		if _, err = t.get(ctx, "SELECT count(*) FROM items WHERE workspace = $1 AND pinned", []any{id}, &sum.AllPinned); err != nil {
			return err
		}
		sum.Pinned, err = t.items(ctx, selectItems+" WHERE i.workspace = $1 AND i.pinned ORDER BY i.id LIMIT $2", id, limit)
		if err != nil {
			return err
		}
		return t.all(ctx, selectCollections, []any{id, limit}, func(row scan) error {
			var name string
			if err := row(&name, &sum.AllCollections); err != nil {
				return err
			}
			sum.Collections = append(sum.Collections, name)
			return nil
		})
	})
	if err != nil {
		return place.Summary{}, err
	}
	return sum, nil
}

const selectItems = "SELECT d.key, i.name, d.type, d.size, i.collection, i.pinned, i.added" +
	" FROM items i JOIN documents d ON d.key = i.document"

// Items returns the items of a workspace.
func (s *Store) Items(ctx context.Context, id string) ([]place.Item, error) {
	if _, err := s.Workspace(ctx, id); err != nil {
		return nil, err
	}
	var all []place.Item
	err := s.view(ctx, func(t tx) (err error) {
		all, err = t.items(ctx, selectItems+" WHERE i.workspace = $1 ORDER BY i.id", id)
		return err
	})
	return all, err
}

// Item returns the item of a document.
func (s *Store) Item(ctx context.Context, id, key string) (place.Item, error) {
	if place.CheckID(id) != nil {
		return place.Item{}, place.None("workspace", id)
	}
	var found []place.Item
	err := s.view(ctx, func(t tx) (err error) {
		found, err = t.items(ctx, selectItems+" WHERE i.workspace = $1 AND i.document = $2", id, plain(key))
		if err != nil || len(found) > 0 {
			return err
		}
		there, err := t.get(ctx, "SELECT 1 FROM workspaces WHERE id = $1", []any{id}, new(int))
		switch {
		case err != nil:
			return err
		case there:
			return place.NoDocument(key)
		}
		return place.None("workspace", id)
	})
	if err != nil {
		return place.Item{}, err
	}
	return found[0], nil
}

// items reads the rows of a query of items.
func (t tx) items(ctx context.Context, query string, args ...any) ([]place.Item, error) {
	var all []place.Item
	err := t.all(ctx, query, args, func(row scan) error {
		var i place.Item
		var added int64
		if err := row(&i.Key, &i.Name, &i.Type, &i.Size, &i.Collection, &i.Pinned, &added); err != nil {
			return err
		}
		i.Added = time.UnixMicro(added).UTC()
		all = append(all, i)
		return nil
	})
	return all, err
}

// AddItem adds or changes an item.
func (s *Store) AddItem(ctx context.Context, id, key string, e place.ItemEdit) error {
	return s.editItem(ctx, id, e, func(t tx, name *string, now time.Time) error {
		called, there, err := t.settle(ctx, key)
		if err == nil && !there {
			err = place.NoDocument(key)
		}
		if err != nil {
			return err
		}
		return t.exec(ctx, "INSERT INTO items (workspace, document, name, collection, pinned, added)"+
			" VALUES ($1, $2, COALESCE($3, $4), COALESCE($5, ''), COALESCE($6, FALSE), $7)"+
			" ON CONFLICT (workspace, document) DO UPDATE SET name = COALESCE($3, items.name),"+
			" collection = COALESCE($5, items.collection), pinned = COALESCE($6, items.pinned)",
			id, plain(key), name, called, e.Collection, e.Pinned, now.UnixMicro())
	})
}

// EditItem changes an item.
func (s *Store) EditItem(ctx context.Context, id, key string, e place.ItemEdit) error {
	return s.editItem(ctx, id, e, func(t tx, name *string, _ time.Time) error {
		there, err := t.get(ctx, "UPDATE items SET name = COALESCE($1, name), collection = COALESCE($2, collection),"+
			" pinned = COALESCE($3, pinned) WHERE workspace = $4 AND document = $5 RETURNING name",
			[]any{name, e.Collection, e.Pinned, id, plain(key)}, new(string))
		if err == nil && !there {
			err = place.NoDocument(key)
		}
		return err
	})
}

// editItem calls f to change an item of a workspace that nobody else changes meanwhile,
// with the name that e gives it; nil is none.
func (s *Store) editItem(ctx context.Context, id string, e place.ItemEdit, f func(t tx, name *string, now time.Time) error) error {
	if err := e.Check(); err != nil {
		return err
	}
	var name *string
	if line := place.Line(e.Name); line != "" {
		name = &line
	}
	return s.change(ctx, func(t tx) error {
		now := s.time()
		if err := t.touch(ctx, id, now); err != nil {
			return err
		}
		return f(t, name, now)
	})
}

// touch notes that a workspace changes, and keeps others from it until the change is
// done.
func (t tx) touch(ctx context.Context, id string, now time.Time) error {
	if place.CheckID(id) != nil {
		return place.None("workspace", id)
	}
	if err := t.d.here(); err != nil {
		return err
	}
	there, err := t.get(ctx, "UPDATE workspaces SET updated = $1 WHERE id = $2 RETURNING id", []any{now.UnixMicro(), id}, new(string))
	if err == nil && !there {
		err = place.None("workspace", id)
	}
	return err
}

// DropItem takes an item out of a workspace.
func (s *Store) DropItem(ctx context.Context, id, key string) error {
	err := s.change(ctx, func(t tx) error {
		if err := t.touch(ctx, id, s.time()); err != nil {
			return err
		}
		there, err := t.get(ctx, "DELETE FROM items WHERE workspace = $1 AND document = $2 RETURNING name", []any{id, plain(key)}, new(string))
		if err == nil && !there {
			err = place.NoDocument(key)
		}
		if err != nil {
			return err
		}
		return t.loosen(ctx, "$1", plain(key))
	})
	if err != nil {
		return err
	}
	s.sweep(ctx)
	return nil
}
