package files

import (
	"os"
	"path/filepath"
)

// claims is the directory below a Dir with a file for each database that has kept
// something.
const claims = "databases"

// Claim notes that a database keeps contents in d, under a name that it always has.
func (d Dir) Claim(database string) error {
	dir := filepath.Join(string(d), claims)
	at := filepath.Join(dir, Hash([]byte(database)))
	if _, err := os.Stat(at); err == nil {
		return nil
	}
	if err := private(string(d), dir); err != nil {
		return err
	}
	return os.WriteFile(at, []byte(database+"\n"), 0o600)
}

// Alone reports whether a database is the only one that keeps contents in d. Another
// may have contents in common with it.
func (d Dir) Alone(database string) (bool, error) {
	entries, err := os.ReadDir(filepath.Join(string(d), claims))
	if err != nil {
		return false, err
	}
	return len(entries) == 1 && entries[0].Name() == Hash([]byte(database)), nil
}
