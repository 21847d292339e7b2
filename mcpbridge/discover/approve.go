package discover

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Approvals are the servers of workspaces that the user allows, by directory and
// name: the digest of each as it was then. Nil is none.
type Approvals map[string]map[string]string

// LoadApprovals reads the approvals in file. Where there is no such file there are
// none; one that cannot be understood approves nothing and is an error that names a
// way out.
func LoadApprovals(file string) (Approvals, error) {
	data, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading approvals: %w", err)
	}
	var a Approvals
	if err := json.Unmarshal(data, &a); err != nil {
		return nil, fmt.Errorf("reading approvals: %s is damaged (%w); delete it and approve again what you want", file, err)
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

// Revoke takes an approval back and reports whether there was one.
func (a Approvals) Revoke(dir, name string) bool {
	dir = resolved(dir)
	_, had := a[dir][name]
	delete(a[dir], name)
	if len(a[dir]) == 0 {
		delete(a, dir)
	}
	return had
}

// of returns what was said of a server with that digest.
func (a Approvals) of(dir, name, digest string) Approval {
	switch had, ok := a[resolved(dir)][name]; {
	case !ok:
		return Pending
	case had != digest:
		return Changed
	}
	return Approved
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
