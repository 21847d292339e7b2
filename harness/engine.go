package harness

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/tools/approve"
)

// An Engine opens sessions and runs their turns. It is safe for concurrent use.
type Engine struct {
	o      Options
	pool   pool
	tokens tokens

	mu     sync.Mutex // guards the fields below
	open   map[*Session]bool
	closed bool
}

// New returns an engine. It reads nothing and starts nothing.
func New(o Options) *Engine {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.MaxSteps = cmp.Or(max(o.MaxSteps, 0), 50)
	o.Parallel = cmp.Or(max(o.Parallel, 0), 4)
	o.Waiting = max(cmp.Or(o.Waiting, 16), 0)
	o.Idle = max(cmp.Or(o.Idle, 30*time.Minute), 0)
	return &Engine{
		o: o, pool: pool{idle: o.Idle, log: o.Log}, open: make(map[*Session]bool),
		tokens: tokens{ours: rand.Text() + "-", running: make(map[string]bool)},
	}
}

// maxID keeps an id fit to name a file.
const maxID = 200

// CheckID reports whether id may name a session (R-HARN-01); the error wraps
// [ErrBadID].
func CheckID(id string) error {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"
	if id == "" || len(id) > maxID || strings.Trim(id, letters) != "" || id == "." || id == ".." {
		return fmt.Errorf("%w %.60q: use up to 200 letters, digits, dots, underscores and hyphens", ErrBadID, id)
	}
	return nil
}

// Open opens a new session. It fails with [ErrBadID] or [ErrTaken] for a wished
// id, the former before anything else is done with it (R-HARN-01), and with
// [ErrOption] for a choice that is none, with a [*MissingError] for a project or a
// workspace of documents. Errors of the settings come as they are.
func (e *Engine) Open(ctx context.Context, sp Spec) (*Session, error) {
	if err := e.admit(&sp); err != nil {
		return nil, err
	}
	s, err := e.prepare(ctx, sp)
	if err != nil {
		return nil, err
	}
	if err := s.bind(ctx, thread.Bound{}); err != nil {
		return nil, err
	}
	dirs := directories(&sp)
	created := thread.Created{Cwd: dirs.Cwd, Roots: dirs.Roots}
	more := []thread.Body{thread.Options{Values: s.choice.values()}}
	if b := s.bound(); b != (thread.Bound{}) {
		more = append(more, b)
	}
	if err := e.o.Threads.Create(ctx, s.id, created, more...); err != nil {
		return nil, err
	}
	return e.keepNew(ctx, s)
}

// admit sees to the id of a session whose thread is to be made.
func (e *Engine) admit(sp *Spec) error {
	if sp.ID == "" {
		sp.ID = strings.ToLower(rand.Text())
	}
	if err := CheckID(sp.ID); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return ErrClosed
	}
	return nil
}

// prepare makes a session without storing anything.
func (e *Engine) prepare(ctx context.Context, sp Spec) (*Session, error) {
	models, err := e.o.Settings.Models(ctx)
	if err != nil {
		return nil, err
	}
	choice, err := e.o.Settings.Default(ctx)
	if err != nil {
		return nil, err
	}
	if sp.Choice != nil {
		choice = *sp.Choice
	}
	choice = choice.complete()
	if err := choice.check(); err != nil {
		return nil, err
	}
	guard := e.o.Approve
	guard.Dir, guard.Roots = sp.FS.Dir(), sp.FS.Roots()
	return &Session{
		id: sp.ID, e: e, spec: sp, rules: approve.New(guard),
		change: make(chan struct{}, 1), told: make(map[string]bool),
		looking: make(chan struct{}, 1), unwatched: make(chan struct{}),
		choice: choice, models: models, idle: make(chan struct{}),
		serves: sp.Servers != nil && len(sp.Servers.Status()) > 0,
	}, nil
}

// keep registers s, which is complete, and returns it, unless the engine has been
// closed in between.
func (e *Engine) keep(ctx context.Context, s *Session) (*Session, error) {
	s.watch(ctx)
	e.mu.Lock()
	closed := e.closed
	if !closed {
		e.open[s] = true
	}
	e.mu.Unlock()
	if closed {
		s.unwatch()
		return nil, ErrClosed
	}
	return s, nil
}

// keepNew is keep for a session whose thread was just made. Nobody has been told of
// one that cannot be kept, so it is deleted again.
func (e *Engine) keepNew(ctx context.Context, s *Session) (*Session, error) {
	_, err := e.keep(ctx, s)
	if err == nil {
		return s, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	return nil, errors.Join(err, e.o.Threads.Delete(ctx, s.id))
}

func (e *Engine) forget(s *Session) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.open, s)
}

// Close closes all sessions: it cancels their turns and waits for them, not
// longer than ctx (R-HARN-10). No session can be opened afterwards.
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	e.closed = true
	open := slices.Collect(maps.Keys(e.open))
	e.mu.Unlock()

	errs := make([]error, len(open)) // each goroutine has its own slot
	var wg sync.WaitGroup
	for i, s := range open {
		wg.Go(func() { errs[i] = s.Close(ctx) })
	}
	wg.Wait()
	return errors.Join(append(errs, e.pool.close(ctx))...)
}
