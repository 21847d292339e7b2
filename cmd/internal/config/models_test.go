package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/cmd/internal/config"
)

// models writes a file about models beside the configuration.
func (m *machine) models(t *testing.T, content string) string {
	t.Helper()
	file := filepath.Join(filepath.Dir(m.file), "models.toml")
	write(t, file, content, 0o600)
	return file
}

func TestModelProfile(t *testing.T) {
	m := newMachine(t, "")
	m.models(t, `
[models."acme/large-2"]
name = "Large"
images = false

[models."acme/*"]
window = 1000
images = true
chat_mode_addendum = "Be brief."

[models."acme/large*"]
window = 2000
tool_usage = 0

[models."*"]
tools_override = "Think first."
link_previews_override = "No links."
chat_mode_addendum = "Be kind."

[models."script:*"]
tool_usage = 1
`)
	c := m.load(t)
	of := func(v int) *int { return &v }
	is := func(v bool) *bool { return &v }
	all := config.ModelProfile{Tools: "Think first.", LinkPreviews: "No links.", Style: "Be kind."}
	with := func(change func(*config.ModelProfile)) config.ModelProfile {
		p := all
		change(&p)
		return p
	}
	tests := []struct {
		ref  string
		want config.ModelProfile
	}{
		{"openai/gpt-5.2", all},
		{"offline", all},
		{"script:x.jsonl", with(func(p *config.ModelProfile) { p.ToolUsage = of(1) })},
		{"acme/small", with(func(p *config.ModelProfile) { p.Window, p.Images, p.Style = of(1000), is(true), "Be brief." })},
		{"acme/large-2-mini", with(func(p *config.ModelProfile) {
			p.Window, p.Images, p.ToolUsage, p.Style = of(2000), is(true), of(0), "Be brief."
		})},
		{"acme/large-2", with(func(p *config.ModelProfile) {
			p.Name, p.Window, p.Images, p.ToolUsage, p.Style = "Large", of(2000), is(false), of(0), "Be brief."
		})},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, c.ModelProfile(tt.ref)); diff != "" {
			t.Errorf("ModelProfile(%q) (-want +got):\n%s", tt.ref, diff)
		}
	}
	shown := m.shown(c)
	if got, want := shown["models.acme/large-2.name"], `"Large" <- ~/.config/lorimer/models.toml:3`; got != want {
		t.Errorf("shown as %s, want %s", got, want)
	}
	if got, want := shown["models.acme/*.window"], `1000 <- ~/.config/lorimer/models.toml:7`; got != want {
		t.Errorf("shown as %s, want %s", got, want)
	}
	if got := newMachine(t, "").load(t).ModelProfile("offline"); got != (config.ModelProfile{}) {
		t.Errorf("without a file: %+v, want nothing", got)
	}
}

func TestModelMistakes(t *testing.T) {
	tests := []struct{ name, file, want string }{
		{"syntax", "[models.\"a/b\"]\nwindow = = 1", "FILE:2:10: "},
		{"a name without quotes", "[models.a/b]", "FILE:1:10: "},
		{"a word for a number", "[models.\"a/b\"]\nwindow = \"8k\"", "FILE:2:10: models.a/b.window: must be a whole number, not a string"},
		{"no window at all", "[models.\"a/b.1\"]\nname = \"B\"\nwindow = 0", "FILE:3: models.a/b.1.window: must be larger than 0"},
		{"a use of tools", "[models.\"a/b\"]\ntool_usage = 2", "FILE:2: models.a/b.tool_usage: must be 0 for a model that cannot call tools, or 1"},
		{"a list", "models = []", "FILE:1:10: models: must be a table, not an array"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(t, "")
			file := m.models(t, tt.file)
			_, _, err := config.Load(m.sources())
			if err == nil {
				t.Fatal("no error")
			}
			if got := strings.ReplaceAll(err.Error(), file, "FILE"); !strings.Contains(got, tt.want) {
				t.Errorf("error = %q, want one with %q", got, tt.want)
			}
		})
	}
}

func TestUnknownKeysOfModelsAreWarnings(t *testing.T) {
	m := newMachine(t, "modle = 1\n")
	file := m.models(t, "[models.\"a/b\"]\nname = \"B\"\nwindwo = 5\n\n[prices]\na = 1\n")
	c, warnings, err := config.Load(m.sources())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range warnings {
		got = append(got, strings.NewReplacer(file, "MODELS", m.file, "CONFIG").Replace(w.String()))
	}
	want := []string{
		"CONFIG:1: unknown key modle has no effect; " + keys,
		"MODELS:3: unknown key models.a/b.windwo has no effect; " + keys,
		"MODELS:5: unknown key prices has no effect; " + keys,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	if got := c.ModelProfile("a/b").Name; got != "B" {
		t.Errorf("name = %q, want the rest to hold", got)
	}
}

func TestNamesOfNoModelAreWarnings(t *testing.T) {
	m := newMachine(t, "")
	file := m.models(t, "[models]\noffline = { images = true }\n\"script:a.jsonl\" = { window = 5 }\n\"a*\" = { window = 5 }\n\"a/b\" = { window = 5 }\n\n[models.\"sonnet-5\"]\nwindow = 5\n")
	_, warnings, err := config.Load(m.sources())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range warnings {
		got = append(got, strings.ReplaceAll(w.String(), file, "MODELS"))
	}
	want := []string{`MODELS:7: no model is called "sonnet-5"; write PROVIDER/MODEL, or PROVIDER/* for all of one`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

// The file belongs to the configuration: it is read beside the one that was named,
// and not where there is none.
func TestModelsBesideTheConfiguration(t *testing.T) {
	m := newMachine(t, "")
	m.models(t, "[models.offline]\nname = \"usual\"\n")
	other := filepath.Join(m.home, "elsewhere/c.toml")
	write(t, other, "", 0o600)
	m.flags["config"] = other
	if got := m.load(t).ModelProfile("offline").Name; got != "" {
		t.Errorf("name = %q, want nothing of the usual file", got)
	}
	write(t, filepath.Join(m.home, "elsewhere/models.toml"), "[models.offline]\nname = \"other\"\n", 0o600)
	if got := m.load(t).ModelProfile("offline").Name; got != "other" {
		t.Errorf("name = %q, want that of the file beside", got)
	}

	t.Setenv("TMPDIR", t.TempDir())
	c, _, err := config.Load(config.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	write(t, c.ModelsPath(), "[models.offline]\nname = \"anybody's\"\n", 0o600)
	if c, _, err = config.Load(config.Sources{}); err != nil || c.ModelProfile("offline").Name != "" || c.SkillFolder() != "" {
		t.Errorf("without a home: name %q, skills in %q (%v); want neither", c.ModelProfile("offline").Name, c.SkillFolder(), err)
	}
}

func FuzzModels(f *testing.F) {
	f.Add("[models.\"a/*\"]\nwindow = 5\n")
	f.Add("models.a = { images = true }")
	f.Fuzz(func(t *testing.T, content string) {
		dir := t.TempDir()
		file := filepath.Join(dir, "models.toml")
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, "c.toml"), "", 0o600)
		c, _, err := config.Load(config.Sources{Flags: map[string]string{"config": filepath.Join(dir, "c.toml"), "state": dir}})
		if err != nil {
			if !strings.Contains(err.Error(), file) {
				t.Errorf("error %q does not name the file", err)
			}
			return
		}
		for name, p := range c.Models {
			if got := c.ModelProfile(name); p.Name != "" && got.Name != p.Name {
				t.Errorf("of %q: %+v, want the nearest, %+v", name, got, p)
			}
		}
		c.Values()
	})
}
