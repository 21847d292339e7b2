package app

import (
	"slices"
	"testing"

	"github.com/lorimer-dev/lorimer/cmd/internal/config"
)

// What a session says last is in a file beside the database, wherever that is.
func TestProtectedDatabase(t *testing.T) {
	c := &config.Config{Database: "/home/ann/chat.db"}
	got := protected(c)
	for _, file := range []string{"/home/ann/chat.db", "/home/ann/chat.db-wal", "/home/ann/chat.db-shm"} {
		if !slices.Contains(got, file) {
			t.Errorf("%s is not among what no tool changes unasked: %q", file, got)
		}
	}
	c.Database = "postgres://db/x"
	if got := protected(c); slices.ContainsFunc(got, config.IsURL) {
		t.Errorf("an address is taken for a file: %q", got)
	}
}
