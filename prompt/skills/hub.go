package skills

import (
	"errors"
	"io/fs"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/fsnotify/fsnotify"
)

// A hub hears of changes in directories and passes them to the watches that want
// them.
type hub struct {
	notify *fsnotify.Watcher
	ended  chan struct{} // closed when listen has returned

	// arming orders what is added to notify and removed from it, and is held while
	// that lasts. listen does not take it, so events are drained meanwhile: on some
	// systems notify needs that.
	arming sync.Mutex

	mu   sync.Mutex                            // guards the field below
	dirs map[string]map[*watch]map[string]bool // the names that each watch wants there, as in wanted
}

func openHub() (*hub, error) {
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	h := &hub{notify: notify, ended: make(chan struct{}), dirs: map[string]map[*watch]map[string]bool{}}
	go h.listen()
	return h, nil
}

// close ends the hub and waits for it.
func (h *hub) close() {
	_ = h.notify.Close() // it only fails for one that is closed
	<-h.ended
}

// listen passes events on until notify is closed.
func (h *hub) listen() {
	defer close(h.ended)
	events, failures := h.notify.Events, h.notify.Errors
	for events != nil || failures != nil {
		select {
		case e, ok := <-events:
			if !ok {
				events = nil
			} else if e.Has(fsnotify.Create | fsnotify.Write | fsnotify.Remove | fsnotify.Rename) {
				h.pass(e.Name)
			}
		case err, ok := <-failures:
			if !ok {
				failures = nil
			} else {
				h.fail(err)
			}
		}
	}
}

// pass tells of a change of path: to those who want that name in its directory,
// and to those who watch path itself.
func (h *hub) pass(path string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for w, names := range h.dirs[filepath.Dir(path)] {
		if names == nil || names[filepath.Base(path)] {
			w.touch()
		}
	}
	for w := range h.dirs[path] {
		w.touch()
	}
}

// fail has all watches look at what they wait for, since events may have been lost. If
// nothing else has happened they need not be told.
func (h *hub) fail(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, watches := range h.dirs {
		for w := range watches {
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				w.fail(err)
			}
			w.touch()
		}
	}
}

// set makes want all that w waits for. Directories that are gone or closed to us do
// not matter: those above them tell when that changes. After an error w may wait for
// less.
func (h *hub) set(w *watch, want wanted) error {
	h.arming.Lock()
	defer h.arming.Unlock()
	h.release(h.assign(w, want))
	for dir := range want {
		// One that is watched is added again: it may be another one by now.
		err := h.notify.Add(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.ENOTDIR) {
			return err
		}
	}
	return nil
}

// drop forgets w, which is touched no more afterwards.
func (h *hub) drop(w *watch) {
	h.arming.Lock()
	defer h.arming.Unlock()
	h.release(h.assign(w, nil))
}

func (h *hub) release(dirs []string) {
	for _, dir := range dirs {
		// It fails where the system has taken the watch away with the directory.
		_ = h.notify.Remove(dir)
	}
}

// assign notes what w waits for, and returns the directories where nobody waits any
// more.
func (h *hub) assign(w *watch, want wanted) (idle []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for dir, watches := range h.dirs {
		if _, ok := want[dir]; ok {
			continue
		}
		delete(watches, w)
		if len(watches) == 0 {
			delete(h.dirs, dir)
			idle = append(idle, dir)
		}
	}
	for dir, names := range want {
		if h.dirs[dir] == nil {
			h.dirs[dir] = map[*watch]map[string]bool{}
		}
		h.dirs[dir][w] = names
	}
	return idle
}
