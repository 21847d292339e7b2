package skills_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/lorimer-dev/lorimer/prompt/skills"
)

// deadline is for a machine that is busy with other things; a change is told
// after a fraction of a second.
const deadline = 30 * time.Second

// A watched is what somebody who watches hears: after each change the skills.
type watched struct {
	t    *testing.T
	told chan []string
}

// watch watches p and finds its skills at each change.
func watch(t *testing.T, lib *skills.Library, p skills.Places) *watched {
	t.Helper()
	w := &watched{t, make(chan []string, 1000)}
	stop, err := lib.Watch(p, func() {
		found, _ := lib.Find(p)
		var names []string
		for _, s := range found {
			if s.Scope != skills.Builtin {
				names = append(names, s.Description)
			}
		}
		w.told <- names
	}, func(err error) { t.Errorf("it failed: %v", err) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return w
}

// until waits for a change after which there are these skills.
func (w *watched) until(what string, want ...string) {
	w.t.Helper()
	last := "nothing"
	limit := time.After(deadline)
	for {
		select {
		case got := <-w.told:
			if last = fmt.Sprintf("%q", got); slices.Equal(got, want) {
				return
			}
		case <-limit:
			w.t.Fatalf("after %s: heard last of %s, want %q", what, last, want)
		}
	}
}

func (w *watched) do(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func TestWatch(t *testing.T) {
	workspace := t.TempDir()
	agents := filepath.Join(workspace, ".agents")
	root := filepath.Join(agents, "skills")
	w := watch(t, new(skills.Library), skills.Places{Workspace: workspace})

	write(t, filepath.Join(root, "a", "SKILL.md"), skillText("a", "one"))
	w.until("a skill came in folders that were not there", "For a of one.")
	write(t, filepath.Join(root, "a", "SKILL.md"), skillText("a", "two"))
	w.until("it was written", "For a of two.")
	replacement := filepath.Join(root, "a", "SKILL.md~")
	write(t, replacement, skillText("a", "three"))
	w.do(os.Rename(replacement, filepath.Join(root, "a", "SKILL.md")))
	w.until("another file took its place", "For a of three.")
	w.do(os.Mkdir(filepath.Join(root, "b"), 0o755))
	w.until("an empty folder came", "For a of three.")
	write(t, filepath.Join(root, "b", "SKILL.md"), skillText("b", "one"))
	w.until("it became a skill", "For a of three.", "For b of one.")
	write(t, filepath.Join(root, "c.md"), skillText("c", "one"))
	w.until("a single file came", "For a of three.", "For b of one.", "For c of one.")
	w.do(os.RemoveAll(filepath.Join(root, "b")))
	w.until("a folder went", "For a of three.", "For c of one.")
	w.do(os.Rename(agents, filepath.Join(workspace, "away")))
	w.until("the folder above was renamed")
	w.do(os.Rename(filepath.Join(workspace, "away"), agents))
	w.until("it came back", "For a of three.", "For c of one.")
	write(t, filepath.Join(root, "a", "SKILL.md"), skillText("a", "four"))
	w.until("a skill in it was written", "For a of four.", "For c of one.")
	w.do(os.RemoveAll(agents))
	w.until("all went")
	write(t, filepath.Join(root, "a", "SKILL.md"), skillText("a", "five"))
	w.until("the same path came again", "For a of five.")
	write(t, filepath.Join(root, "a", "SKILL.md"), skillText("a", "six"))
	w.until("that was written", "For a of six.")
}

func TestWatchLinks(t *testing.T) {
	home, elsewhere := t.TempDir(), t.TempDir()
	write(t, filepath.Join(elsewhere, "one/a/SKILL.md"), skillText("a", "one"))
	write(t, filepath.Join(elsewhere, "two/a/SKILL.md"), skillText("a", "two"))
	write(t, filepath.Join(elsewhere, "b.md"), skillText("b", "one"))
	root := filepath.Join(home, ".agents", "skills")
	link(t, filepath.Join(elsewhere, "one"), root)
	w := watch(t, new(skills.Library), skills.Places{Home: home})

	write(t, filepath.Join(elsewhere, "one/a/SKILL.md"), skillText("a", "three"))
	w.until("a skill behind a link was written", "For a of three.")
	w.do(os.Remove(root))
	w.do(os.Symlink(filepath.Join(elsewhere, "two"), root))
	w.until("the link led elsewhere", "For a of two.")
	w.do(os.Remove(root))
	write(t, filepath.Join(root, "a/SKILL.md"), skillText("a", "four"))
	w.until("a folder took the place of the link", "For a of four.")
	link(t, filepath.Join(elsewhere, "b.md"), filepath.Join(root, "b.md"))
	w.until("a link to a file came", "For a of four.", "For b of one.")
	write(t, filepath.Join(elsewhere, "b.md"), skillText("b", "two"))
	w.until("the file behind it was written", "For a of four.", "For b of two.")
}

// The folder that the root belongs to may go and come back, too.
func TestWatchAbove(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "config")
	folder := filepath.Join(config, "skills")
	write(t, filepath.Join(folder, "a.md"), skillText("a", "one"))
	w := watch(t, new(skills.Library), skills.Places{Folder: folder})

	w.do(os.Rename(config, filepath.Join(dir, "away")))
	w.until("the folder above was renamed")
	write(t, filepath.Join(folder, "a.md"), skillText("a", "two"))
	w.until("the path was made anew", "For a of two.")
	write(t, filepath.Join(folder, "a.md"), skillText("a", "three"))
	w.until("that was written", "For a of three.")
}

// A burst of changes is told a few times, not each by itself, and what is not a
// skill's is not told at all.
func TestWatchGathers(t *testing.T) {
	workspace := t.TempDir()
	lib := new(skills.Library)
	var calls atomic.Int32
	done := make(chan struct{}, 1000)
	p := skills.Places{Workspace: workspace}
	stop, err := lib.Watch(p, func() {
		calls.Add(1)
		if found, _ := lib.Find(p); len(found) == 42 {
			done <- struct{}{}
		}
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	for i := range 40 {
		name := fmt.Sprintf("s%02d", i)
		for range 10 {
			write(t, filepath.Join(workspace, "src", name, "SKILL.md"), "package main")
			write(t, filepath.Join(workspace, name+".md"), skillText(name, "no skill"))
		}
		write(t, filepath.Join(workspace, ".agents/skills", name, "SKILL.md"), skillText(name, "one"))
	}
	select {
	case <-done:
	case <-time.After(deadline):
		t.Fatal("40 skills were not told")
	}
	if n := calls.Load(); n > 20 {
		t.Errorf("%d calls for a burst of changes, want a few", n)
	}
}

// Several watches of a library hear of what is theirs, and each goes on when
// another one stops.
func TestWatchSeveral(t *testing.T) {
	one, two, home := t.TempDir(), t.TempDir(), t.TempDir()
	lib := new(skills.Library)
	first := watch(t, lib, skills.Places{Workspace: one, Home: home})
	second := watch(t, lib, skills.Places{Workspace: two, Home: home})
	var late atomic.Bool
	stop, err := lib.Watch(skills.Places{Workspace: one, Home: home}, func() { late.Store(true) }, nil)
	if err != nil {
		t.Fatal(err)
	}
	stop()
	stop() // again does no harm
	late.Store(false)

	write(t, filepath.Join(home, ".agents/skills/a.md"), skillText("a", "home"))
	first.until("a skill of the user came", "For a of home.")
	second.until("a skill of the user came", "For a of home.")
	write(t, filepath.Join(two, ".agents/skills/b.md"), skillText("b", "two"))
	second.until("a skill of the second workspace came", "For a of home.", "For b of two.")
	write(t, filepath.Join(one, ".agents/skills/c.md"), skillText("c", "one"))
	first.until("a skill of the first workspace came", "For a of home.", "For c of one.")
	if late.Load() {
		t.Error("a watch was told after stop had returned")
	}
}

// stop waits for a call that is under way, and none comes after it.
func TestWatchStops(t *testing.T) {
	dir := t.TempDir()
	lib := new(skills.Library)
	for i := range 5 {
		entered, leave := make(chan struct{}), make(chan struct{})
		var calls, busy, after atomic.Int32
		var stopped atomic.Bool
		stop, err := lib.Watch(skills.Places{Folder: dir}, func() {
			busy.Add(1)
			defer busy.Add(-1)
			if stopped.Load() {
				after.Add(1)
			}
			if calls.Add(1) == 1 {
				close(entered)
				<-leave
			}
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, "a.md"), skillText("a", strings.Repeat("x", i)))
		select {
		case <-entered:
		case <-time.After(deadline):
			t.Fatal("a change was not told")
		}
		write(t, filepath.Join(dir, "b.md"), skillText("b", "me")) // to be told, if it were not for stop
		ended := make(chan int32)
		go func() {
			stop()
			stopped.Store(true)
			ended <- busy.Load()
		}()
		select {
		case <-ended:
			t.Fatal("stop returned while a call was under way")
		default:
		}
		close(leave)
		if n := <-ended; n != 0 {
			t.Fatal("stop returned before the call had")
		}
		if n := after.Load(); n > 0 {
			t.Fatalf("%d calls after stop", n)
		}
	}
}

// A folder that may not be read keeps no other from being watched.
func TestWatchUnreadable(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a", "SKILL.md"), skillText("a", "one"))
	write(t, filepath.Join(dir, "secret", "SKILL.md"), skillText("secret", "me"))
	if !lock(t, filepath.Join(dir, "secret")) {
		t.Skip("who runs this may read everything")
	}
	w := watch(t, new(skills.Library), skills.Places{Folder: dir})
	write(t, filepath.Join(dir, "a", "SKILL.md"), skillText("a", "two"))
	w.until("a skill beside a locked one was written", "For a of two.")
}

// What goes wrong later is told, and what is there is looked at all the same.
func TestWatchFails(t *testing.T) {
	lost := errors.New("the system went on strike")
	tests := []struct {
		name  string
		spoil func(*skills.Library)
		want  error // nil is none
	}{
		{"an error of the system", func(l *skills.Library) { l.Fail(lost) }, lost},
		{"events that were lost", func(l *skills.Library) { l.Fail(fsnotify.ErrEventOverflow) }, nil},
		{"no folder can be watched any more", (*skills.Library).Break, fsnotify.ErrClosed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			lib := new(skills.Library)
			changed, failed := make(chan struct{}, 1000), make(chan error, 1000)
			stop, err := lib.Watch(skills.Places{Folder: t.TempDir()}, func() { changed <- struct{}{} }, func(err error) { failed <- err })
			if err != nil {
				t.Fatal(err)
			}
			tt.spoil(lib)
			select {
			case <-changed:
			case <-time.After(deadline):
				t.Error("nothing was looked at")
			}
			stop()
			close(failed)
			var got []error
			for err := range failed {
				got = append(got, err)
			}
			switch {
			case tt.want == nil && len(got) > 0, tt.want != nil && (len(got) != 1 || !errors.Is(got[0], tt.want)):
				t.Errorf("failed was told of %v, want %v", got, tt.want)
			case tt.want != nil && !strings.HasPrefix(got[0].Error(), "watching skills: "):
				t.Errorf("error = %v, want one that says what went wrong", got[0])
			}
		})
	}
}
