package config_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/cmd/internal/config"
)

func TestDatabaseAt(t *testing.T) {
	tests := []struct{ name, database, at, shown string }{
		{"nothing is a file in the state directory", "", "~/.local/state/lorimer/lorimer.db", "~/.local/state/lorimer/lorimer.db"},
		{"a path is seen from the configuration file", "team/a.db", "~/.config/lorimer/team/a.db", "~/.config/lorimer/team/a.db"},
		{"a path may begin at home", "~/a.db", "~/a.db", "~/a.db"},
		{"an absolute path stays", "/srv/a.db", "/srv/a.db", "/srv/a.db"},
		{"a URL stays, and its password is not shown",
			"postgres://me:hun%20ter@db.example.org/x?sslmode=require&password=more",
			"postgres://me:hun%20ter@db.example.org/x?sslmode=require&password=more",
			"postgres://me:********@db.example.org/x?sslmode=********&password=********"},
		{"the other scheme", "postgresql://db/x", "postgresql://db/x", "postgresql://db/x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(t, "database = '"+tt.database+"'\n")
			c := m.load(t)
			short := func(s string) string { return strings.ReplaceAll(s, m.home, "~") }
			if got := short(c.DatabaseAt()); got != tt.at {
				t.Errorf("DatabaseAt() = %q, want %q", got, tt.at)
			}
			if got := short(c.DatabaseName()); got != tt.shown {
				t.Errorf("DatabaseName() = %q, want %q", got, tt.shown)
			}
		})
	}
}

// TestDatabaseSecrets: the passwords are known in every form, and the commands of
// the model do not get to see the variable (R-ACP-51).
func TestDatabaseSecrets(t *testing.T) {
	m := newMachine(t, "database = 'postgres://me:hun%20ter@db/x?sslpassword=key-word'\n")
	m.env["PGPASSWORD"] = "from-environment"
	c := m.load(t)
	if diff := cmp.Diff([]string{"from-environment", "hun ter", "hun%20ter", "key-word"}, c.Secrets()); diff != "" {
		t.Errorf("secrets (-want +got):\n%s", diff)
	}
	if !slices.Contains(c.SecretEnv(), "PGPASSWORD") {
		t.Error("commands see PGPASSWORD")
	}

	file := newMachine(t, "database = 'a.db'\n")
	file.env["PGPASSWORD"] = "of-another-program"
	c = file.load(t)
	if len(c.Secrets()) > 0 || slices.Contains(c.SecretEnv(), "PGPASSWORD") {
		t.Errorf("with a file PGPASSWORD is not ours: secrets %q, variables %q", c.Secrets(), c.SecretEnv())
	}
}

func TestPasswordThatOthersMayRead(t *testing.T) {
	m := newMachine(t, "model = 'offline'\ndatabase = 'postgres://me:hunter2@db/x'\n")
	if err := os.Chmod(m.file, 0o644); err != nil {
		t.Fatal(err)
	}
	_, got, err := config.Load(m.sources())
	if err != nil || len(got) != 1 || got[0].File != m.file || got[0].Line != 2 || !strings.Contains(got[0].Text, "chmod 600") {
		t.Errorf("warnings = %v, want one about line 2 of %s", got, filepath.Base(m.file))
	}
}
