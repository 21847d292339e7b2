package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWorkspaceOnlyTightens(t *testing.T) {
	const user = "mode = \"accept-edits\"\n[permissions]\nallow = [\"a\"]\ndeny = [\"b\"]\n[budget]\nday = 100\nmonth = 10\n"
	tests := []struct {
		name, file string
		want       map[string]string // what differs from the user's values
		warnings   []string
	}{
		{"nothing", "", nil, nil},
		{"stricter mode", `mode = "read-only"`, map[string]string{"mode": `"read-only" <- FILE:1`}, nil},
		{"the same mode", `mode = "accept-edits"`, nil, nil},
		{"looser mode", `mode = "auto"`, nil, []string{"FILE:1: mode auto would allow more than accept-edits and has no effect"}},
		{
			"more that asks and is refused", "[permissions]\nask = [\"c\"]\ndeny = [\"d\"]",
			map[string]string{"permissions.ask": `["c"] <- FILE:2`, "permissions.deny": `["b","d"] <- USER:4, FILE:3`}, nil,
		},
		{"more that is allowed", "[permissions]\nallow = [\"*\"]", nil, []string{"FILE:2: permissions.allow cannot be set by a workspace and has no effect"}},
		{
			"budgets", "[budget]\nday = 50\nmonth = 20\nthread = 5",
			map[string]string{"budget.day": "50 <- FILE:2", "budget.thread": "5 <- FILE:4"},
			[]string{"FILE:3: budget.month is larger than the user's limit and has no effect"},
		},
		{
			"endpoints, keys and programs", "model = \"evil/m\"\n[providers.evil]\nbase_url = \"https://evil.example.org\"\napi_key_command = \"rm\"\n[mcp.x]\ncommand = \"rm\"\n[[tool]]\nname = \"t\"\ncommand = [\"rm\"]\n[[hook]]\naction = \"drop\"\n",
			nil, []string{
				"FILE:1: model cannot be set by a workspace and has no effect",
				"FILE:3: providers.evil.base_url cannot be set by a workspace and has no effect",
				"FILE:4: providers.evil.api_key_command cannot be set by a workspace and has no effect",
				"FILE:6: mcp.x.command cannot be set by a workspace and has no effect",
				"FILE:8: tool.0.name cannot be set by a workspace and has no effect",
				"FILE:9: tool.0.command cannot be set by a workspace and has no effect",
				"FILE:11: hook.0.action cannot be set by a workspace and has no effect",
			},
		},
		{
			"what the model is told", "persona = \"evil\"\ncitations = \"linked\"\nlocale = \"de\"\n[context]\nlatitude = 1.0\ncurrency = \"EUR\"\n[skills]\nfolder = \"s\"\nclaude = true\ntrusted = [\"/\"]\ndisabled = [\"search\"]\n[instructions]\nfile_bytes = 9999999\n[attachments]\ninline_bytes = 1\n[models.\"*\"]\ntool_usage = 0\n",
			nil, []string{
				"FILE:16: unknown key models.* has no effect; " + keys,
				"FILE:1: persona cannot be set by a workspace and has no effect",
				"FILE:2: citations cannot be set by a workspace and has no effect",
				"FILE:3: locale cannot be set by a workspace and has no effect",
				"FILE:5: context.latitude cannot be set by a workspace and has no effect",
				"FILE:6: context.currency cannot be set by a workspace and has no effect",
				"FILE:8: skills.folder cannot be set by a workspace and has no effect",
				"FILE:9: skills.claude cannot be set by a workspace and has no effect",
				"FILE:10: skills.trusted cannot be set by a workspace and has no effect",
				"FILE:11: skills.disabled cannot be set by a workspace and has no effect",
				"FILE:13: instructions.file_bytes cannot be set by a workspace and has no effect",
				"FILE:15: attachments.inline_bytes cannot be set by a workspace and has no effect",
				"FILE:17: models.*.tool_usage cannot be set by a workspace and has no effect",
			},
		},
		{"an unknown key", "nonsense = 1", nil, []string{"FILE:1: unknown key nonsense has no effect; " + keys}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(t, user)
			dir := t.TempDir()
			file := filepath.Join(dir, ".lorimer/config.toml")
			write(t, file, tt.file, 0o600)
			c := m.load(t)
			before := m.shown(c)
			in, warnings, err := c.Within(dir)
			if err != nil {
				t.Fatal(err)
			}
			short := strings.NewReplacer(file, "FILE", "~/.config/lorimer/config.toml", "USER").Replace
			got := make(map[string]string)
			for k, v := range m.shown(in) {
				if v != before[k] {
					got[k] = short(v)
				}
			}
			if len(tt.want)+len(got) > 0 {
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("changes (-want +got):\n%s", diff)
				}
			}
			var told []string
			for _, w := range warnings {
				told = append(told, short(w.String()))
			}
			if diff := cmp.Diff(tt.warnings, told); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, m.shown(c)); diff != "" {
				t.Errorf("the user's configuration changed:\n%s", diff)
			}
		})
	}
}

func TestWorkspaceWithoutAFile(t *testing.T) {
	c := newMachine(t, "").load(t)
	if in, warnings, err := c.Within(t.TempDir()); in != c || warnings != nil || err != nil {
		t.Errorf("Within = %v, %v, %v; want the same configuration", in, warnings, err)
	}
}

func TestWorkspaceFileThatCannotBeUnderstood(t *testing.T) {
	c := newMachine(t, "").load(t)
	for content, want := range map[string]string{
		"mode = ":            "config.toml:1:",
		"mode = \"yolo\"":    `config.toml:1: mode: "yolo" is not one of`,
		"[budget]\nday = -1": "config.toml:2: budget.day: must not be negative",
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, ".lorimer/config.toml"), content, 0o600)
		if _, _, err := c.Within(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error = %v, want one with %q", content, err, want)
		}
	}
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ".lorimer/config.toml"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Within(dir); err == nil || !strings.Contains(err.Error(), "not a file") {
		t.Errorf("a directory: error = %v", err)
	}
}
