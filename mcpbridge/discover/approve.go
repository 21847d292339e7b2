package discover

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/lorimer-dev/lorimer/mcpbridge/internal/lockfile"
)

const (
	maxApprovals = 32 << 20 // bytes

	// changeTimeout is how long another program that changes approvals is waited for.
	changeTimeout = 5 * time.Second
)

// Approvals are what the user has said of the servers of workspaces, by directory and
// name: the digest of an approved one as it was then, "" for one that is not wanted. Nil
// is nothing.
type Approvals map[string]map[string]string

// LoadApprovals reads the approvals in file. Where there is no such file there are
// none; one that cannot be understood approves nothing and is a [*FileError] that names a
// way out.
func LoadApprovals(file string) (Approvals, error) {
	data, err := readFile(file, maxApprovals)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var a Approvals
	if err := json.Unmarshal(data, &a); err != nil {
		return nil, &FileError{file, 0, fmt.Errorf("is damaged (%w); delete it and approve again what you want", err)}
	}
	return a, nil
}

// Approve notes that the server name of the workspace at dir may be started as long as
// it has that digest.
func (a *Approvals) Approve(dir, name, digest string) {
	dir = resolved(dir)
	if *a == nil {
		*a = make(Approvals)
	}
	if (*a)[dir] == nil {
		(*a)[dir] = make(map[string]string)
	}
	(*a)[dir][name] = digest
}

// Refuse notes that the server name of the workspace at dir is not wanted, whatever it
// becomes, and reports whether it was approved before.
func (a *Approvals) Refuse(dir, name string) bool {
	had := (*a)[resolved(dir)][name] != ""
	a.Approve(dir, name, refused)
	return had
}

// refused is the digest of nothing.
const refused = ""

// of returns what was said of a server with that digest.
func (a Approvals) of(dir, name, digest string) Approval {
	switch had, ok := a[resolved(dir)][name]; {
	case !ok:
		return Pending
	case had == refused:
		return Refused
	case had != digest:
		return Changed
	}
	return Approved
}

// ChangeApprovals replaces the approvals in file by what change makes of them, unless
// they cannot be read. Nobody else changes them meanwhile.
func ChangeApprovals(ctx context.Context, file string, change func(*Approvals)) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("saving approvals: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, changeTimeout)
	defer cancel()
	unlock, err := lockfile.Lock(ctx, file+".lock")
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("another program has changed %s for %v; try again when it is done", file, changeTimeout)
	}
	if err != nil {
		return fmt.Errorf("saving approvals: %w", err)
	}
	defer unlock()
	a, err := LoadApprovals(file)
	if err != nil {
		return err
	}
	change(&a)
	return a.Save(file)
}

// Save writes the approvals to file, which is whole at any moment and readable by the
// user alone. Its directory is made where it is missing.
func (a Approvals) Save(file string) error {
	data, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		return fmt.Errorf("saving approvals: %w", err)
	}
	dir := filepath.Dir(file)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("saving approvals: %w", err)
	}
	f, err := os.CreateTemp(dir, ".approved-*") // which nobody else may read
	if err != nil {
		return fmt.Errorf("saving approvals: %w", err)
	}
	_, err = f.Write(append(data, '\n'))
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("saving approvals: %w", err), os.Remove(f.Name()))
	}
	return nil
}

// resolved follows the links of a directory that is there: it is the same one by
// whatever name it is reached.
func resolved(dir string) string {
	if to, err := filepath.EvalSymlinks(dir); err == nil {
		return to
	}
	return filepath.Clean(dir)
}
