package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/lorimer-dev/lorimer/harness/place"
	"github.com/lorimer-dev/lorimer/harness/store"
	"github.com/lorimer-dev/lorimer/harness/store/internal/files"
)

// errNoDisk tells of a machine that does not let a program have a small disk.
const errNoDisk = 77

// A full disk is told, and nothing of what did not fit is left.
func TestAContentOnAFullDisk(t *testing.T) {
	dir := private(t)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := program(t, "full", file(t), dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	err := cmd.Run()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() == errNoDisk { // it did not begin, or could not mount
		t.Skipf("no small disk can be made here: %v", err)
	}
	if err != nil {
		t.Error(err)
	}
}

// keepOnFullDisk keeps contents in a directory with a disk of its own that is small.
func keepOnFullDisk(where string) error {
	dir := os.Getenv("STORE_TEST_FILES")
	if err := unix.Mount("small", dir, "tmpfs", 0, "size=256k,mode=700"); err != nil {
		fmt.Fprintln(os.Stderr, "mounting:", err)
		os.Exit(errNoDisk)
	}
	ctx := context.Background()
	s, err := store.Open(ctx, where, store.Options{Files: dir})
	if err != nil {
		return err
	}
	defer s.Close() // the test ends with the program
	small, large := []byte("small"), make([]byte, 1<<20)
	kept, err := s.Keep(ctx, "small", "", small)
	if err != nil {
		return err
	}
	_, err = s.Keep(ctx, "large", "", large)
	if err == nil || !strings.HasPrefix(err.Error(), "a document cannot be kept in "+filepath.Join(dir, "documents")+", the disk is full; make room (") {
		return fmt.Errorf("error = %w, want that the disk is full", err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "documents", "new", "*"))
	if err != nil || len(left) > 0 {
		return fmt.Errorf("left: %q (%w)", left, err)
	}
	if _, err := os.Stat(files.Dir(filepath.Join(dir, "documents")).Path(files.Hash(large))); err == nil {
		return errors.New("the large content has a file")
	}
	r, err := store.Look(ctx, where, store.Options{Files: dir})
	if err != nil || r.Documents != 1 || len(r.Lost) > 0 {
		return fmt.Errorf("Look = %+v (%w), want the small document", r, err)
	}
	if err := errors.Join(s.AddWorkspace(ctx, place.Workspace{ID: "w", Title: "w"}), s.AddItem(ctx, "w", kept.Key, place.ItemEdit{})); err != nil {
		return err
	}
	content, err := s.Content(ctx, kept.Key)
	if err != nil || string(content) != "small" {
		return fmt.Errorf("Content = %q (%w), want the small one", content, err)
	}
	return nil
}
