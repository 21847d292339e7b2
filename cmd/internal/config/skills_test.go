package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSkillFolder(t *testing.T) {
	tests := []struct{ file, want string }{
		{"", "~/.config/lorimer/skills"},
		{"[skills]\nfolder = \"mine\"", "~/.config/lorimer/mine"},
		{"[skills]\nfolder = \"~/mine\"", "~/mine"},
		{"[skills]\nfolder = \"/srv/skills\"", "/srv/skills"},
	}
	for _, tt := range tests {
		m := newMachine(t, tt.file)
		if got := strings.Replace(m.load(t).SkillFolder(), m.home, "~", 1); got != tt.want {
			t.Errorf("%q: skills are in %s, want %s", tt.file, got, tt.want)
		}
	}
}

func TestTrusts(t *testing.T) {
	m := newMachine(t, "")
	work := filepath.Join(m.home, "work")
	for _, dir := range []string{"work/app", "workshop", "real"} {
		if err := os.MkdirAll(filepath.Join(m.home, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(m.home, "real"), filepath.Join(work, "link")); err != nil {
		t.Fatal(err)
	}
	if m.load(t).Trusts(work) {
		t.Error("nothing is trusted unless somebody says so")
	}
	write(t, m.file, "[skills]\ntrusted = [\"~/work\"]\n", 0o600)
	c := m.load(t)
	tests := []struct {
		dir  string
		want bool
	}{
		{"work", true},
		{"work/", true},
		{"work/app", true},
		{"work/none/such", true},
		{"work/..", false},
		{"workshop", false},
		{"", false},
		{"work/link", false}, // leads elsewhere
	}
	for _, tt := range tests {
		if got := c.Trusts(m.home + "/" + tt.dir); got != tt.want {
			t.Errorf("Trusts(%q) = %v, want %v", tt.dir, got, tt.want)
		}
	}
}
