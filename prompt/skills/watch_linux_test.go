package skills_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/lorimer-dev/lorimer/prompt/skills"
)

// Where the system has nothing left to watch with, Watch says so and what to do,
// and Find works as before. A library that failed can watch later.
func TestWatchWithoutResources(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.md"), skillText("a", "me"))
	lib := new(skills.Library)
	p := skills.Places{Folder: dir}

	release := exhaust(t)
	stop, err := lib.Watch(p, func() { t.Error("changed was called") }, nil)
	release()
	if !errors.Is(err, syscall.EMFILE) || !strings.Contains(err.Error(), "raise fs.inotify.max_user_instances") {
		t.Errorf("Watch without descriptors = %v, want EMFILE and what to raise", err)
	}
	stop()
	if found, problems := lib.Find(p); len(found) != 3 || len(problems) > 0 {
		t.Errorf("Find found %d skills, %q, want three", len(found), problems)
	}

	w := watch(t, lib, p)
	write(t, filepath.Join(dir, "a.md"), skillText("a", "him"))
	w.until("it was written", "For a of him.")
}

// The last watch of a library takes its descriptors with it.
func TestWatchLeavesNothingOpen(t *testing.T) {
	dir := t.TempDir()
	p := skills.Places{Folder: dir}
	lib := new(skills.Library)
	open := func() int {
		t.Helper()
		names, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(names)
	}
	watches := func() (stops []func()) {
		t.Helper()
		for range 3 {
			stop, err := lib.Watch(p, func() {}, nil)
			if err != nil {
				t.Fatal(err)
			}
			stops = append(stops, stop)
		}
		return stops
	}
	for _, stop := range watches() {
		stop() // whatever the process opens once is open from here on
	}
	before := open()
	for range 5 {
		stops := watches()
		if during := open(); during <= before || during > before+5 {
			t.Errorf("%d descriptors while three watch, %d before; want those of one watcher more", during, before)
		}
		for _, stop := range stops {
			stop()
		}
	}
	if after := open(); after != before {
		t.Errorf("%d descriptors after all watches have stopped, want %d as before", after, before)
	}
}

// exhaust uses up the file descriptors of this process.
func exhaust(t *testing.T) (release func()) {
	t.Helper()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	low := limit
	low.Cur = 64
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &low); err != nil {
		t.Fatal(err)
	}
	var files []*os.File
	for {
		f, err := os.Open(os.DevNull)
		if err != nil {
			break
		}
		files = append(files, f)
	}
	return func() {
		for _, f := range files {
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
			t.Error(err)
		}
	}
}
