package app

import (
	"slices"
	"testing"

	"github.com/lorimer-dev/lorimer/cmd/internal/config"
)

// What a session says last is in a file beside the database, wherever that is, and
// the user's skills may be anywhere too.
func TestProtected(t *testing.T) {
	c := &config.Config{Database: "/home/ann/chat.db"}
	got := protected(c)
	for _, file := range []string{"/home/ann/chat.db", "/home/ann/chat.db-wal", "/home/ann/chat.db-shm"} {
		if !slices.Contains(got, file) {
			t.Errorf("%s is not among what no tool changes unasked: %q", file, got)
		}
	}
	c.Paths.Home = "/home/ann"
	c.Skills.Folder = "/srv/skills"
	got = protected(c)
	for _, folder := range []string{"/srv/skills", "/home/ann/.agents/skills", "/home/ann/.claude/skills"} {
		if !slices.Contains(got, folder) {
			t.Errorf("the skills in %s are not among what no tool changes unasked: %q", folder, got)
		}
	}
	c.Database = "postgres://db/x"
	if got := protected(c); slices.ContainsFunc(got, config.IsURL) {
		t.Errorf("an address is taken for a file: %q", got)
	}
}
