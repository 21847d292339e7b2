package app

import (
	"context"
	"time"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/thread"
)

var _ harness.Threads = (*lazy)(nil)

func (l *lazy) Create(ctx context.Context, id string, c thread.Created, more ...thread.Body) error {
	s, err := l.get(ctx)
	if err != nil {
		return err
	}
	return s.Create(ctx, id, c, more...)
}

func (l *lazy) Append(ctx context.Context, id, turn string, bodies ...thread.Body) ([]thread.Entry, error) {
	s, err := l.get(ctx)
	if err != nil {
		return nil, err
	}
	return s.Append(ctx, id, turn, bodies...)
}

func (l *lazy) Read(ctx context.Context, id string, after int64, f func(thread.Entry) error) error {
	s, err := l.get(ctx)
	if err != nil {
		return err
	}
	return s.Read(ctx, id, after, f)
}

func (l *lazy) Info(ctx context.Context, id string) (thread.Info, error) {
	s, err := l.get(ctx)
	if err != nil {
		return thread.Info{}, err
	}
	return s.Info(ctx, id)
}

func (l *lazy) List(ctx context.Context, q thread.Query) (thread.Page, error) {
	s, err := l.get(ctx)
	if err != nil {
		return thread.Page{}, err
	}
	return s.List(ctx, q)
}

func (l *lazy) Search(ctx context.Context, q thread.Search) ([]thread.Hit, error) {
	s, err := l.get(ctx)
	if err != nil {
		return nil, err
	}
	return s.Search(ctx, q)
}

func (l *lazy) Copy(ctx context.Context, from string, last int64, id string, c thread.Created, more ...thread.Body) error {
	s, err := l.get(ctx)
	if err != nil {
		return err
	}
	return s.Copy(ctx, from, last, id, c, more...)
}

func (l *lazy) Restore(ctx context.Context, id string, entries []thread.Entry) error {
	s, err := l.get(ctx)
	if err != nil {
		return err
	}
	return s.Restore(ctx, id, entries)
}

func (l *lazy) Delete(ctx context.Context, id string) error {
	s, err := l.get(ctx)
	if err != nil {
		return err
	}
	return s.Delete(ctx, id)
}

func (l *lazy) Lock(ctx context.Context, id string, h thread.Holder, ttl time.Duration) error {
	s, err := l.get(ctx)
	if err != nil {
		return err
	}
	return s.Lock(ctx, id, h, ttl)
}

func (l *lazy) Unlock(ctx context.Context, id, token string) error {
	s, err := l.get(ctx)
	if err != nil {
		return err
	}
	return s.Unlock(ctx, id, token)
}
