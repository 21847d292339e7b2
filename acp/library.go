package acp

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	acpsdk "github.com/coder/acp-go-sdk"

	v1 "github.com/lorimer-dev/lorimer/acp/v1"
	"github.com/lorimer-dev/lorimer/acp/wire"
	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/thread"
)

// A listing is the result of session/list.
type listing struct {
	Sessions []listed `json:"sessions"`
	Next     string   `json:"nextCursor,omitempty"`
}

// A listed session is what a list says of one.
type listed struct {
	ID       string   `json:"sessionId"`
	Cwd      string   `json:"cwd"`
	More     []string `json:"additionalDirectories,omitempty"`
	Title    string   `json:"title,omitempty"`
	Updated  string   `json:"updatedAt"` // RFC 3339
	Archived bool     `json:"archived"`
}

// list is session/list: a page of the stored sessions, the last updated first
// (R-ACP-16). It opens none of them.
func (c *conn) list(ctx context.Context, r *wire.Request, _ admission) (any, error) {
	q, err := readQuery(members(r.Params))
	if err != nil {
		return nil, err
	}
	b, err := c.backend(ctx)
	if err != nil {
		return nil, err
	}
	page, err := b.Engine.List(ctx, q)
	if errors.Is(err, harness.ErrCursor) {
		return nil, invalid("cursor", "is none that session/list has given; begin again without it")
	}
	if err != nil {
		return nil, err
	}
	out := listing{Sessions: make([]listed, 0, len(page.Threads)), Next: page.Next}
	for _, t := range page.Threads {
		out.Sessions = append(out.Sessions, listed{
			ID: t.ID, Cwd: t.Cwd, More: t.Roots, Title: t.Title,
			Updated: t.Updated.UTC().Format(time.RFC3339), Archived: t.Archived,
		})
	}
	return out, nil
}

// readQuery reads the parameters of session/list. A directory need not exist any
// more; that of this process plays no part (C015).
func readQuery(p object) (thread.Query, error) {
	var q thread.Query
	var err error
	if q.Cwd, err = p.optional("cwd"); err != nil {
		return q, err
	}
	if q.Cwd != "" {
		if !filepath.IsAbs(q.Cwd) {
			return q, invalid("cwd", "must be an absolute path; it is %.200q", q.Cwd)
		}
		q.Cwd = filepath.Clean(q.Cwd)
	}
	if q.After, err = p.optional("cursor"); err != nil {
		return q, err
	}
	filter, err := p.optional("archived")
	if err != nil {
		return q, err
	}
	switch filter {
	case "", "exclude":
	case "only":
		q.Archived = true
	case "include":
		q.All = true
	default:
		return q, invalid("archived", "is %.100q; it must be exclude, include or only", filter)
	}
	return q, nil
}

// delete is session/delete. What runs in a session that is open here ends first, and
// the session with its thread: one that another process answers in goes on. One that
// there is not is as good as deleted.
func (c *conn) delete(ctx context.Context, r *wire.Request, a admission) (any, error) {
	id, b, err := c.stored(ctx, r)
	if err != nil {
		return nil, err
	}
	grace, cancel := context.WithTimeout(ctx, c.o.Grace)
	defer cancel()
	if err := answeredAll(grace, a.before); err != nil { // they have been cancelled
		return nil, err
	}
	if err := b.Engine.Delete(ctx, id); err != nil && !errors.Is(err, harness.ErrNotFound) {
		return nil, err
	}
	if err := a.s.lose(ctx); err != nil {
		return nil, err
	}
	return acpsdk.UnstableDeleteSessionResponse{}, nil
}

// archive is session/archive: the session ends as by session/close, and lists do
// not show it any more unless they are asked to.
func (c *conn) archive(ctx context.Context, r *wire.Request, a admission) (any, error) {
	if err := a.s.shut(ctx); err != nil {
		return nil, err
	}
	id, b, err := c.stored(ctx, r)
	if err != nil {
		return nil, err
	}
	return struct{}{}, storedFailure(id, b.Engine.Archive(ctx, id, true))
}

// unarchive is session/unarchive.
func (c *conn) unarchive(ctx context.Context, r *wire.Request, _ admission) (any, error) {
	id, b, err := c.stored(ctx, r)
	if err != nil {
		return nil, err
	}
	return struct{}{}, storedFailure(id, b.Engine.Archive(ctx, id, false))
}

// A status is the result of session/status: open or saved.
type status struct {
	Status string `json:"status"`
}

// status is session/status. It changes nothing.
func (c *conn) status(ctx context.Context, r *wire.Request, a admission) (any, error) {
	id, b, err := c.stored(ctx, r)
	if err != nil {
		return nil, err
	}
	if _, err := b.Engine.Info(ctx, id); err != nil {
		return nil, storedFailure(id, err)
	}
	if a.s != nil && a.s.h != nil {
		return status{"open"}, nil
	}
	return status{"saved"}, nil
}

// A titled is the result of session/set_title.
type titled struct {
	Title string `json:"title"` // as it is stored
}

// setTitle is session/set_title. The session need not be open.
func (c *conn) setTitle(ctx context.Context, r *wire.Request, a admission) (any, error) {
	id, b, err := c.stored(ctx, r)
	if err != nil {
		return nil, err
	}
	title, err := members(r.Params).required("title")
	if err != nil {
		return nil, err
	}
	title, err = b.Engine.SetTitle(ctx, id, title)
	switch {
	case errors.Is(err, harness.ErrTitle):
		return nil, invalid("title", "is empty; write at least a word")
	case err != nil:
		return nil, storedFailure(id, err)
	}
	if s := a.s; s != nil && s.h != nil {
		r.After(func() { s.update(v1.Title{Update: "session_info_update", Title: title}) })
	}
	return titled{title}, nil
}

// stored returns what a request needs that concerns a stored session.
func (c *conn) stored(ctx context.Context, r *wire.Request) (id string, b *Backend, err error) {
	if id, err = members(r.Params).storedID(); err != nil {
		return "", nil, err
	}
	b, err = c.backend(ctx)
	return id, b, err
}
