package skills

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

const (
	quiet    = 150 * time.Millisecond // without a change until one is told
	patience = time.Second            // after the first change, at most, until it is told
	rounds   = 4                      // of looking for what came while watches were set
)

// Watch calls changed soon after something in the folders of p has changed, until
// stop is called, which waits for it. All calls come from one goroutine. What
// changes between a Find and the Watch after it is not told, so watch first.
//
// stop is never nil and may be called again, but not by changed. With an error, such
// as for want of system resources, nothing is watched; its text says what to do. One
// that comes later goes to failed, where that is not nil, from the goroutine of changed:
// some changes may not be told from then on.
func (l *Library) Watch(p Places, changed func(), failed func(error)) (stop func(), err error) {
	w := &watch{places: p, dirty: make(chan struct{}, 1), failure: make(chan error, 1), done: make(chan struct{})}
	if w.hub, err = l.join(); err == nil {
		if err = w.arm(); err != nil {
			l.leave(w)
		}
	}
	if err != nil {
		return func() {}, unwatched(err)
	}
	if failed == nil {
		failed = func(error) {}
	}
	w.wg.Go(func() { w.run(changed, failed) })
	return sync.OnceFunc(func() {
		close(w.done)
		w.wg.Wait()
		l.leave(w)
	}), nil
}

// join returns the hub of the library, which its watches share because systems
// limit how many a program or a user may have. Each join needs a leave.
func (l *Library) join() (*hub, error) {
	l.watching.Lock()
	defer l.watching.Unlock()
	if l.hub == nil {
		h, err := openHub()
		if err != nil {
			return nil, err
		}
		l.hub = h
	}
	l.users++
	return l.hub, nil
}

// leave ends a watch, and the hub with the last one.
func (l *Library) leave(w *watch) {
	w.hub.drop(w)
	l.watching.Lock()
	defer l.watching.Unlock()
	if l.users--; l.users == 0 {
		l.hub.close()
		l.hub = nil
	}
}

// unwatched is err with what to do.
func unwatched(err error) error {
	return fmt.Errorf("watching skills: %w%s; until then they are read when a message is sent", err, remedy(err))
}

// remedy says what to do where the system has no more to watch with.
func remedy(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return "; raise fs.inotify.max_user_watches"
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return "; raise fs.inotify.max_user_instances or the limit of open files"
	}
	return ""
}

// A watch is what one caller waits for.
type watch struct {
	hub    *hub
	places Places
	dirty  chan struct{}  // holds one when something has changed
	done   chan struct{}  // closed to end run
	wg     sync.WaitGroup // of run

	failure chan error // holds what went wrong meanwhile, and was not told yet
}

// touch notes that something has changed.
func (w *watch) touch() {
	select {
	case w.dirty <- struct{}{}:
	default:
	}
}

// fail notes that something went wrong, unless something did before.
func (w *watch) fail(err error) {
	select {
	case w.failure <- err:
	default:
	}
}

// run tells changed of changes until done is closed.
func (w *watch) run(changed func(), failed func(error)) {
	for {
		select {
		case <-w.done:
			return
		case <-w.dirty:
		}
		if !w.settle() {
			return
		}
		// The watches come first, so that changed sees what came before them.
		if err := w.arm(); err != nil {
			w.fail(err)
		}
		select {
		case <-w.done:
			return
		default:
		}
		select {
		case err := <-w.failure:
			failed(unwatched(err))
		default:
		}
		changed()
	}
}

// settle waits until nothing has changed for a while, and reports whether the
// watch goes on.
func (w *watch) settle() bool {
	last := time.NewTimer(patience)
	defer last.Stop()
	calm := time.NewTimer(quiet)
	defer calm.Stop()
	for {
		select {
		case <-w.done:
			return false
		case <-w.dirty:
			calm.Reset(quiet)
		case <-calm.C:
			return true
		case <-last.C:
			return true
		}
	}
}

// arm watches the folders as they are. A folder that comes while the watches are
// set would escape them, so it looks again until there is nothing new.
func (w *watch) arm() error {
	var last wanted
	for range rounds {
		want := w.places.wanted()
		if last != nil && maps.EqualFunc(last, want, maps.Equal) {
			return nil
		}
		if err := w.hub.set(w, want); err != nil {
			return err
		}
		last = want
	}
	return nil
}

// wanted is the names in each directory, by its real path, whose changes matter. A
// nil set is all of them.
type wanted map[string]map[string]bool

// add adds a name in a directory; "" is all.
func (w wanted) add(dir, name string) {
	names, ok := w[dir]
	switch {
	case ok && names == nil:
	case name == "":
		w[dir] = nil
	case !ok:
		w[dir] = map[string]bool{name: true}
	default:
		names[name] = true
	}
}

// wanted returns what to watch for p: the roots and the folders in them, and above a
// root the names that lead to it from the directory that it belongs to, or from the
// nearest one that is there. Nothing is watched with all that is below it.
func (p Places) wanted() wanted {
	w := wanted{}
	for _, root := range p.Roots() {
		for at := root.Path; ; at = filepath.Dir(at) {
			dir := filepath.Dir(at)
			if dir == at {
				break
			}
			real, err := filepath.EvalSymlinks(dir)
			if err != nil {
				continue
			}
			w.add(real, filepath.Base(at))
			if len(dir) <= len(root.base) {
				break
			}
		}
	}
	for _, f := range p.folders() {
		if f.real == "" {
			continue
		}
		w.add(f.real, "")
		for _, c := range f.found {
			if c.dir != "" {
				w.add(c.dir, fileName)
			}
			if c.file != "" {
				w.add(filepath.Dir(c.file), filepath.Base(c.file))
			}
		}
	}
	return w
}
