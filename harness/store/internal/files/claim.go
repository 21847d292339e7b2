package files

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// claims is the directory below a Dir with a file for each database that has kept
// something.
const claims = "databases"

// Claim notes that a database keeps contents in d, under a name that it always has,
// and no other.
func (d Dir) Claim(database string) error {
	dir := filepath.Join(string(d), claims)
	at := filepath.Join(dir, Hash([]byte(database)))
	if _, err := os.Stat(at); err == nil {
		return nil
	}
	if err := private(string(d), dir); err != nil {
		return err
	}
	return errors.Join(os.WriteFile(at, []byte(database+"\n"), 0o600), syncDir(dir))
}

// Alone reports whether a database is the only one that keeps contents in d, but for
// those that are gone. Another may have contents in common with it.
func (d Dir) Alone(database string, gone func(database string) bool) (bool, error) {
	dir := filepath.Join(string(d), claims)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false, err
	}
	ours, claimed := Hash([]byte(database)), false
	for _, e := range entries {
		if e.Name() == ours {
			claimed = true
			continue
		}
		name, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return false, err
		}
		// Whose claim is not whole may be there.
		other := strings.TrimSuffix(string(name), "\n")
		if Hash([]byte(other)) != e.Name() || !gone(other) {
			return false, nil
		}
	}
	return claimed, nil
}
