package harness

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/tools"
)

// Load opens the session of a thread that is stored, with the options that were
// chosen in it. Sp.ID names it; where sp names other directories than the thread
// has, they hold from now on, and the next turn tells the model (R-ACP-15). The
// project and the workspace of documents are those that the thread was bound to,
// unless sp names others. It fails with [ErrBadID] and [ErrNotFound], and with a
// [*MissingError] for what sp names; what the thread was bound to and is there no
// more is told to the user.
//
// A thread may be open in several sessions, of one process or of many: whichever
// has the turn answers (R-ACP-53).
func (e *Engine) Load(ctx context.Context, sp Spec) (*Session, error) {
	if err := CheckID(sp.ID); err != nil {
		return nil, err
	}
	info, err := e.o.Threads.Info(ctx, sp.ID)
	if err != nil {
		return nil, err
	}
	s, err := e.prepare(ctx, sp)
	if err != nil {
		return nil, err
	}
	s.choice = s.choice.stored(info.Options)
	if err := s.bind(ctx, thread.Bound{Project: info.Project, Workspace: info.Bound}); err != nil {
		return nil, err
	}
	return e.keep(ctx, s)
}

// Info says what a list says of a thread: [ErrBadID], [ErrNotFound].
func (e *Engine) Info(ctx context.Context, id string) (thread.Info, error) {
	if err := CheckID(id); err != nil {
		return thread.Info{}, err
	}
	return e.o.Threads.Info(ctx, id)
}

// List returns a page of threads, the last updated first.
func (e *Engine) List(ctx context.Context, q thread.Query) (thread.Page, error) {
	return e.o.Threads.List(ctx, q)
}

// Search finds words in threads.
func (e *Engine) Search(ctx context.Context, s thread.Search) ([]thread.Hit, error) {
	return e.o.Threads.Search(ctx, s)
}

// Delete deletes a thread: [ErrBadID], [ErrNotFound], or [ErrBusy] while a turn
// of it runs. Its sessions are closed by their owners first.
func (e *Engine) Delete(ctx context.Context, id string) error {
	if err := CheckID(id); err != nil {
		return err
	}
	log := e.o.Log.With().Str("session", id).Logger()
	err := e.pastDead(ctx, id, log, func() error { return e.o.Threads.Delete(ctx, id) })
	if err != nil {
		return err
	}
	return e.pool.drop(ctx, id)
}

// maxTitle is how many characters a title may have.
const maxTitle = 200

// SetTitle gives a thread a title that nothing but another call changes, and
// returns it as it is stored: on one line, and not longer than 200 characters. It
// fails with [ErrBadID], [ErrNotFound], and with [ErrTitle] where nothing is left.
func (e *Engine) SetTitle(ctx context.Context, id, title string) (string, error) {
	title = tools.Line(strings.Join(strings.Fields(title), " "), maxTitle)
	if title == "" {
		return "", ErrTitle
	}
	if err := e.change(ctx, id, thread.Title{Text: title, User: true}); err != nil {
		return "", err
	}
	return title, nil
}

// Archive hides a thread from lists, or brings it back: [ErrBadID], [ErrNotFound].
func (e *Engine) Archive(ctx context.Context, id string, on bool) error {
	return e.change(ctx, id, thread.Archived{On: on})
}

// change appends what no turn writes.
func (e *Engine) change(ctx context.Context, id string, b thread.Body) error {
	if err := CheckID(id); err != nil {
		return err
	}
	_, err := e.o.Threads.Append(ctx, id, "", b)
	return err
}

// stored returns c with the options that a thread keeps. What is no value of an
// option any more stays as it is in c; a model may be any (C017).
func (c Choice) stored(values map[string]string) Choice {
	for _, id := range slices.Sorted(maps.Keys(values)) {
		next := c.with(id, values[id])
		if strings.TrimSpace(values[id]) != "" && next.check() == nil {
			c = next
		}
	}
	return c
}
