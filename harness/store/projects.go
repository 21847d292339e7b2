package store

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"github.com/lorimer-dev/lorimer/harness/place"
)

const selectProjects = "SELECT p.id, p.name, p.instructions, p.created, p.updated, d.dir" +
	" FROM projects p LEFT JOIN project_dirs d ON d.project = p.id"

// Project returns a project.
func (s *Store) Project(ctx context.Context, id string) (place.Project, error) {
	if place.CheckID(id) != nil {
		return place.Project{}, place.None("project", id)
	}
	var found []place.Project
	err := s.view(ctx, func(t tx) (err error) {
		found, err = t.projects(ctx, selectProjects+" WHERE p.id = $1 ORDER BY d.position", id)
		return err
	})
	if err == nil && len(found) == 0 {
		err = place.None("project", id)
	}
	if err != nil {
		return place.Project{}, err
	}
	return found[0], nil
}

// projects reads the rows of a query of projects, where those of one stand together.
func (t tx) projects(ctx context.Context, query string, args ...any) ([]place.Project, error) {
	var all []place.Project
	err := t.all(ctx, query, args, func(row scan) error {
		var p place.Project
		var created, updated int64
		var dir []byte
		if err := row(&p.ID, &p.Name, &p.Instructions, &created, &updated, &dir); err != nil {
			return err
		}
		if n := len(all); n == 0 || all[n-1].ID != p.ID {
			p.Created, p.Updated = time.UnixMicro(created).UTC(), time.UnixMicro(updated).UTC()
			all = append(all, p)
		}
		if dir != nil {
			last := &all[len(all)-1]
			last.Dirs = append(last.Dirs, string(dir))
		}
		return nil
	})
	return all, err
}

// Projects returns all projects.
func (s *Store) Projects(ctx context.Context) ([]place.Project, error) {
	var all []place.Project
	err := s.view(ctx, func(t tx) (err error) {
		all, err = t.projects(ctx, selectProjects+" ORDER BY p.id, d.position")
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, place.ByName)
	return all, nil
}

// AddProject keeps a new project.
func (s *Store) AddProject(ctx context.Context, p place.Project) error {
	if err := p.Check(); err != nil {
		return err
	}
	return s.change(ctx, func(t tx) error {
		if err := t.d.here(); err != nil {
			return err
		}
		now := s.time().UnixMicro()
		made, err := t.get(ctx, "INSERT INTO projects (id, name, instructions, created, updated) VALUES ($1, $2, $3, $4, $5)"+
			" ON CONFLICT (id) DO NOTHING RETURNING id", []any{p.ID, p.Name, p.Instructions, now, now}, new(string))
		if err != nil {
			return err
		}
		if !made {
			return place.Taken("project", p.ID)
		}
		return t.addDirs(ctx, p)
	})
}

// setProject moves the time on also where the clock does not: it tells two states of a
// project apart.
const setProject = "UPDATE projects SET name = $1, instructions = $2," +
	" updated = CASE WHEN updated < $3 THEN $3 ELSE updated + 1 END WHERE id = $4 AND (updated = $5 OR $5 = 0) RETURNING id"

// SetProject replaces a project.
func (s *Store) SetProject(ctx context.Context, p place.Project) error {
	if err := p.Check(); err != nil {
		return err
	}
	return s.change(ctx, func(t tx) error {
		if err := t.d.here(); err != nil {
			return err
		}
		var seen int64
		if !p.Updated.IsZero() {
			seen = p.Updated.UnixMicro()
		}
		set, err := t.get(ctx, setProject, []any{p.Name, p.Instructions, s.time().UnixMicro(), p.ID, seen}, new(string))
		if err != nil {
			return err
		}
		if !set {
			return t.unset(ctx, p.ID)
		}
		if err := t.exec(ctx, "DELETE FROM project_dirs WHERE project = $1", p.ID); err != nil {
			return err
		}
		return t.addDirs(ctx, p)
	})
}

// unset says why a project was not replaced.
func (t tx) unset(ctx context.Context, id string) error {
	there, err := t.get(ctx, "SELECT 1 FROM projects WHERE id = $1", []any{id}, new(int))
	switch {
	case err != nil:
		return err
	case there:
		return place.Changed("project", id)
	}
	return place.None("project", id)
}

// addDirs gives a project its directories, in an order in which no two changes wait
// for each other.
func (t tx) addDirs(ctx context.Context, p place.Project) error {
	for _, dir := range slices.Sorted(slices.Values(p.Dirs)) {
		made, err := t.get(ctx, "INSERT INTO project_dirs (dir, project, position) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING project",
			[]any{[]byte(dir), p.ID, slices.Index(p.Dirs, dir)}, new(string))
		if err != nil {
			return err
		}
		if made {
			continue
		}
		var other string
		if _, err := t.get(ctx, "SELECT project FROM project_dirs WHERE dir = $1", []any{[]byte(dir)}, &other); err != nil {
			return err
		}
		return place.DirTaken(dir, other)
	}
	return nil
}

// DeleteProject deletes a project.
func (s *Store) DeleteProject(ctx context.Context, id string) error {
	if place.CheckID(id) != nil {
		return place.None("project", id)
	}
	return s.change(ctx, func(t tx) error {
		there, err := t.get(ctx, "DELETE FROM projects WHERE id = $1 RETURNING id", []any{id}, new(string))
		if err == nil && !there {
			err = place.None("project", id)
		}
		return err
	})
}

// ProjectOf returns the project of a directory.
func (s *Store) ProjectOf(ctx context.Context, dir string) (place.Project, error) {
	dir = filepath.Clean(dir)
	var found []place.Project
	err := s.view(ctx, func(t tx) error {
		id, err := t.projectOf(ctx, dir)
		if err != nil || id == "" {
			return err
		}
		found, err = t.projects(ctx, selectProjects+" WHERE p.id = $1 ORDER BY d.position", id)
		return err
	})
	if err == nil && len(found) == 0 {
		err = place.None("project of", dir)
	}
	if err != nil {
		return place.Project{}, err
	}
	return found[0], nil
}

// projectOf returns the id of the project of a directory, "" without one. The
// database only leaves out those of other beginnings.
func (t tx) projectOf(ctx context.Context, dir string) (id string, err error) {
	err = t.all(ctx, "SELECT project, dir FROM project_dirs WHERE dir <= $1 AND substr($1, 1, length(dir)) = dir ORDER BY length(dir) DESC",
		[]any{[]byte(dir)}, func(row scan) error {
			var project string
			var above []byte
			if err := row(&project, &above); err != nil {
				return err
			}
			if !place.Holds(string(above), dir) {
				return nil
			}
			id = project
			return errEnough
		})
	return id, err
}
