package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lorimer-dev/lorimer/harness/thread"
)

// Fork opens a session on a copy of thread from, under the id that sp wishes.
// At names a message up to which it is copied: one of the user is left out, so
// that it can be written anew, one of the model is the last, with the results of
// the tools that it called. "" copies all. The copy has the options that the thread
// has at this moment, and belongs where it does; the thread itself stays as it is, also while a turn of it
// runs (R-ACP-16, C053). It fails as [Engine.Open] does, with [ErrNotFound] and with
// [ErrNoEntry].
func (e *Engine) Fork(ctx context.Context, from, at string, sp Spec) (*Session, error) {
	if err := CheckID(from); err != nil {
		return nil, err
	}
	if err := e.admit(&sp); err != nil {
		return nil, err
	}
	info, err := e.o.Threads.Info(ctx, from)
	if err != nil {
		return nil, err
	}
	part := cut{info: info}
	if at != "" {
		if part, err = e.cut(ctx, from, at); err != nil {
			return nil, err
		}
	}
	s, err := e.prepare(ctx, sp)
	if err != nil {
		return nil, err
	}
	s.choice = s.choice.stored(info.Options)
	if err := s.bind(ctx, thread.Bound{Project: info.Project, Workspace: info.Bound}); err != nil {
		return nil, err
	}
	created, more := part.copied(from, s)
	if err := e.o.Threads.Copy(ctx, from, part.info.Last, s.id, created, more...); err != nil {
		return nil, err
	}
	return e.keepNew(ctx, s)
}

// A cut is the part of a thread that is copied.
type cut struct {
	at   string      // message that it ends with
	info thread.Info // of the part so far

	found bool           // the entry before was of that message
	void  bool           // and the answer follows anew
	loose []thread.Entry // entries after the part that belong to it if a result follows
}

// cut finds the part of thread id that ends with message at.
func (e *Engine) cut(ctx context.Context, id, at string) (cut, error) {
	c := cut{at: at}
	err := e.o.Threads.Read(ctx, id, 0, c.add)
	switch {
	case err != nil && !errors.Is(err, errEnough):
		return cut{}, fmt.Errorf("reading the thread: %w", err)
	case !c.found:
		return cut{}, fmt.Errorf("%w: %.60q", ErrNoEntry, at)
	}
	return c, nil
}

// add looks at the next entry. It ends the reading with errEnough.
func (c *cut) add(e thread.Entry) error {
	if c.found {
		return c.complete(e)
	}
	switch b := e.Body.(type) {
	case thread.User:
		if b.MessageID == c.at {
			c.found = true
			return errEnough
		}
	case thread.Assistant:
		c.found, c.void = names(b, c.at), b.Void
	}
	c.info.Add(e)
	return nil
}

// complete adds what belongs to the step of the message that was found: the
// results of its calls, and, where it was given anew, the answer that followed.
func (c *cut) complete(e thread.Entry) error {
	switch b := e.Body.(type) {
	case thread.Options, thread.Title, thread.Archived:
		c.loose = append(c.loose, e)
		return nil
	case thread.Assistant:
		if !c.void {
			return errEnough
		}
		c.void = b.Void
	case thread.Result:
	default:
		return errEnough
	}
	for _, l := range append(c.loose, e) {
		c.info.Add(l)
	}
	c.loose = nil
	return nil
}

// names reports whether id is that of a message in an answer.
func names(a thread.Assistant, id string) bool {
	return a.MessageID == id || slices.ContainsFunc(a.Parts, func(p thread.Part) bool { return p.ID == id })
}

// copied returns what the copy of the part for s has besides: how it opens, and
// what differs from the thread it was taken from.
func (c *cut) copied(from string, s *Session) (thread.Created, []thread.Body) {
	dirs := directories(&s.spec)
	more := []thread.Body{thread.Options{Values: s.choice.values()}}
	if c.info.Archived {
		more = append(more, thread.Archived{})
	}
	if dirs.Cwd != c.info.Cwd || !slices.Equal(dirs.Roots, c.info.Roots) {
		more = append(more, dirs)
	}
	if b := s.bound(); b != (thread.Bound{Project: c.info.Project, Workspace: c.info.Bound}) {
		more = append(more, b)
	}
	return thread.Created{Cwd: dirs.Cwd, Roots: dirs.Roots, Parent: from}, more
}
