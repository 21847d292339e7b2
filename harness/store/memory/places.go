package memory

import (
	"bytes"
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lorimer-dev/lorimer/harness/place"
	"github.com/lorimer-dev/lorimer/prompt/attach"
)

// Places keeps projects, workspaces and the contents of documents for as long as
// the process lives. It is safe for concurrent use.
type Places struct {
	now func() time.Time

	mu         sync.Mutex // guards the maps and what they hold
	projects   map[string]place.Project
	workspaces map[string]*workspace
	documents  map[string]document
}

// A workspace is one with its items, in the order they were added.
type workspace struct {
	place.Workspace
	items []place.Item
}

// A document is one with its content, which is never changed.
type document struct {
	place.Document
	content []byte
}

var _ place.Places = (*Places)(nil)

// NewPlaces returns places with nothing in them that take the time of a change from
// now; nil is [time.Now].
func NewPlaces(now func() time.Time) *Places {
	if now == nil {
		now = time.Now
	}
	return &Places{
		now: now, projects: make(map[string]place.Project), workspaces: make(map[string]*workspace), documents: make(map[string]document),
	}
}

// enter locks what is kept, for a caller who has not given up.
func (p *Places) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p.mu.Lock()
	return nil
}

// Project returns a project.
func (p *Places) Project(ctx context.Context, id string) (place.Project, error) {
	if err := p.enter(ctx); err != nil {
		return place.Project{}, err
	}
	defer p.mu.Unlock()
	found, ok := p.projects[id]
	if !ok {
		return place.Project{}, place.None("project", id)
	}
	return copied(found), nil
}

// copied returns p with directories of its own.
func copied(p place.Project) place.Project {
	p.Dirs = slices.Clone(p.Dirs)
	return p
}

// Projects returns all projects.
func (p *Places) Projects(ctx context.Context) ([]place.Project, error) {
	if err := p.enter(ctx); err != nil {
		return nil, err
	}
	defer p.mu.Unlock()
	var all []place.Project
	for _, project := range p.projects {
		all = append(all, copied(project))
	}
	slices.SortFunc(all, place.ByName)
	return all, nil
}

// AddProject keeps a new project.
func (p *Places) AddProject(ctx context.Context, project place.Project) error {
	if err := project.Check(); err != nil {
		return err
	}
	if err := p.enter(ctx); err != nil {
		return err
	}
	defer p.mu.Unlock()
	if _, ok := p.projects[project.ID]; ok {
		return place.Taken("project", project.ID)
	}
	project.Created = precise(p.now())
	return p.put(project, project.Created)
}

// SetProject replaces a project.
func (p *Places) SetProject(ctx context.Context, project place.Project) error {
	if err := project.Check(); err != nil {
		return err
	}
	if err := p.enter(ctx); err != nil {
		return err
	}
	defer p.mu.Unlock()
	before, ok := p.projects[project.ID]
	if !ok {
		return place.None("project", project.ID)
	}
	if !project.Updated.IsZero() && !project.Updated.Equal(before.Updated) {
		return place.Changed("project", project.ID)
	}
	project.Created = before.Created
	now := precise(p.now())
	if !now.After(before.Updated) { // it tells two states of a project apart
		now = before.Updated.Add(time.Microsecond)
	}
	return p.put(project, now)
}

// put keeps a project unless another has a directory of it. The caller holds the
// lock.
func (p *Places) put(project place.Project, now time.Time) error {
	for _, dir := range project.Dirs {
		for id, other := range p.projects {
			if id != project.ID && slices.Contains(other.Dirs, dir) {
				return place.DirTaken(dir, id)
			}
		}
	}
	project = copied(project)
	project.Updated = now
	p.projects[project.ID] = project
	return nil
}

// DeleteProject deletes a project.
func (p *Places) DeleteProject(ctx context.Context, id string) error {
	if err := p.enter(ctx); err != nil {
		return err
	}
	defer p.mu.Unlock()
	if _, ok := p.projects[id]; !ok {
		return place.None("project", id)
	}
	delete(p.projects, id)
	return nil
}

// ProjectOf returns the project of a directory.
func (p *Places) ProjectOf(ctx context.Context, dir string) (place.Project, error) {
	if err := p.enter(ctx); err != nil {
		return place.Project{}, err
	}
	defer p.mu.Unlock()
	dir = filepath.Clean(dir)
	var id, longest string
	for _, project := range p.projects {
		for _, d := range project.Dirs {
			if place.Holds(d, dir) && len(d) > len(longest) {
				id, longest = project.ID, d
			}
		}
	}
	if id == "" {
		return place.Project{}, place.None("project of", dir)
	}
	return copied(p.projects[id]), nil
}

// Workspace returns a workspace.
func (p *Places) Workspace(ctx context.Context, id string) (place.Workspace, error) {
	var found place.Workspace
	err := p.in(ctx, id, func(w *workspace) error {
		found = w.shown()
		return nil
	})
	return found, err
}

// in calls f with a workspace, under the lock.
func (p *Places) in(ctx context.Context, id string, f func(*workspace) error) error {
	if err := p.enter(ctx); err != nil {
		return err
	}
	defer p.mu.Unlock()
	w := p.workspaces[id]
	if w == nil {
		return place.None("workspace", id)
	}
	return f(w)
}

// shown returns w with the number of its items.
func (w *workspace) shown() place.Workspace {
	shown := w.Workspace
	shown.Documents = len(w.items)
	return shown
}

// Workspaces returns the most recently changed first.
func (p *Places) Workspaces(ctx context.Context, limit int) ([]place.Workspace, error) {
	if err := p.enter(ctx); err != nil {
		return nil, err
	}
	defer p.mu.Unlock()
	var all []place.Workspace
	for _, w := range p.workspaces {
		all = append(all, w.shown())
	}
	slices.SortFunc(all, func(a, b place.Workspace) int {
		return cmp.Or(b.Updated.Compare(a.Updated), strings.Compare(a.ID, b.ID))
	})
	if limit > 0 {
		all = all[:min(limit, len(all))]
	}
	return all, nil
}

// AddWorkspace keeps a new workspace, which has no items.
func (p *Places) AddWorkspace(ctx context.Context, w place.Workspace) error {
	if err := w.Check(); err != nil {
		return err
	}
	if err := p.enter(ctx); err != nil {
		return err
	}
	defer p.mu.Unlock()
	if p.workspaces[w.ID] != nil {
		return place.Taken("workspace", w.ID)
	}
	w.Created = precise(p.now())
	w.Updated = w.Created
	p.workspaces[w.ID] = &workspace{Workspace: w}
	return nil
}

// EditWorkspace changes what is said of a workspace.
func (p *Places) EditWorkspace(ctx context.Context, id string, e place.WorkspaceEdit) error {
	if err := e.Check(); err != nil {
		return err
	}
	return p.in(ctx, id, func(w *workspace) error {
		set(&w.Title, e.Title)
		set(&w.Description, e.Description)
		w.Updated = precise(p.now())
		return nil
	})
}

// set gives v a value; nil leaves the one that it has.
func set[T any](v, value *T) {
	if value != nil {
		*v = *value
	}
}

// DeleteWorkspace deletes a workspace with its items.
func (p *Places) DeleteWorkspace(ctx context.Context, id string) error {
	return p.in(ctx, id, func(*workspace) error {
		delete(p.workspaces, id)
		return nil
	})
}

// Items returns the items of a workspace.
func (p *Places) Items(ctx context.Context, id string) ([]place.Item, error) {
	var items []place.Item
	err := p.in(ctx, id, func(w *workspace) error {
		items = slices.Clone(w.items)
		for i, item := range items {
			items[i].Type = p.documents[item.Key].Type
		}
		return nil
	})
	return items, err
}

// Item returns the item of a document.
func (p *Places) Item(ctx context.Context, id, key string) (place.Item, error) {
	var found place.Item
	err := p.in(ctx, id, func(w *workspace) error {
		at := w.find(key)
		if at < 0 {
			return place.NoDocument(key)
		}
		found = w.items[at]
		found.Type = p.documents[key].Type
		return nil
	})
	return found, err
}

// Summary returns a workspace in short.
func (p *Places) Summary(ctx context.Context, id string, limit int) (place.Summary, error) {
	var sum place.Summary
	err := p.in(ctx, id, func(w *workspace) error {
		sum.Workspace = w.shown()
		for _, i := range w.items {
			if i.Collection != "" {
				sum.Collections = append(sum.Collections, i.Collection)
			}
			if i.Pinned {
				i.Type = p.documents[i.Key].Type
				sum.Pinned = append(sum.Pinned, i)
			}
		}
		slices.Sort(sum.Collections)
		sum.Collections = slices.Compact(sum.Collections)
		sum.AllCollections, sum.AllPinned = len(sum.Collections), len(sum.Pinned)
		sum.Collections = sum.Collections[:min(limit, sum.AllCollections)]
		sum.Pinned = sum.Pinned[:min(limit, sum.AllPinned)]
		return nil
	})
	return sum, err
}

// AddItem adds or changes an item.
func (p *Places) AddItem(ctx context.Context, id, key string, e place.ItemEdit) error {
	return p.editItem(ctx, id, e, func(w *workspace, now time.Time) (*place.Item, error) {
		d, ok := p.documents[key]
		if !ok {
			return nil, place.NoDocument(key)
		}
		at := w.find(key)
		if at < 0 {
			at = len(w.items)
			w.items = append(w.items, place.Item{Document: d.Document, Added: now})
		}
		return &w.items[at], nil
	})
}

// EditItem changes an item.
func (p *Places) EditItem(ctx context.Context, id, key string, e place.ItemEdit) error {
	return p.editItem(ctx, id, e, func(w *workspace, _ time.Time) (*place.Item, error) {
		at := w.find(key)
		if at < 0 {
			return nil, place.NoDocument(key)
		}
		return &w.items[at], nil
	})
}

// editItem changes the item that choose returns, under the lock.
func (p *Places) editItem(ctx context.Context, id string, e place.ItemEdit, choose func(*workspace, time.Time) (*place.Item, error)) error {
	if err := e.Check(); err != nil {
		return err
	}
	return p.in(ctx, id, func(w *workspace) error {
		now := precise(p.now())
		i, err := choose(w, now)
		if err != nil {
			return err
		}
		i.Name = cmp.Or(place.Line(e.Name), i.Name)
		set(&i.Collection, e.Collection)
		set(&i.Pinned, e.Pinned)
		w.Updated = now
		return nil
	})
}

// find returns the index of an item, or -1.
func (w *workspace) find(key string) int {
	return slices.IndexFunc(w.items, func(i place.Item) bool { return i.Key == key })
}

// DropItem takes an item out of a workspace.
func (p *Places) DropItem(ctx context.Context, id, key string) error {
	return p.in(ctx, id, func(w *workspace) error {
		at := w.find(key)
		if at < 0 {
			return place.NoDocument(key)
		}
		w.items = slices.Delete(w.items, at, at+1)
		w.Updated = precise(p.now())
		return nil
	})
}

// Keep keeps a content.
func (p *Places) Keep(ctx context.Context, name, mediaType string, content []byte) (place.Document, error) {
	if err := p.enter(ctx); err != nil {
		return place.Document{}, err
	}
	defer p.mu.Unlock()
	d := place.Document{
		Key: attach.DocumentKey(content), Name: place.Line(name), Type: place.Line(mediaType), Size: int64(len(content)),
	}
	if old, ok := p.documents[d.Key]; ok && !bytes.Equal(old.content, content) {
		return place.Document{}, place.SameKey(d.Key)
	}
	p.documents[d.Key] = document{d, bytes.Clone(content)}
	return d, nil
}

// Document returns what is said of a content.
func (p *Places) Document(ctx context.Context, key string) (place.Document, error) {
	d, err := p.document(ctx, key)
	return d.Document, err
}

// Content returns a content.
func (p *Places) Content(ctx context.Context, key string) ([]byte, error) {
	d, err := p.document(ctx, key)
	return bytes.Clone(d.content), err
}

func (p *Places) document(ctx context.Context, key string) (document, error) {
	if err := p.enter(ctx); err != nil {
		return document{}, err
	}
	defer p.mu.Unlock()
	d, ok := p.documents[key]
	if !ok {
		return document{}, place.NoDocument(key)
	}
	return d, nil
}
