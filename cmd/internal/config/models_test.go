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
	if got := newMachine(t, "").load(t).ModelProfile("offline"); !cmp.Equal(got, config.ModelProfile{}) {
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
		{"an answer of nothing", "[models.\"a/b\"]\noutput = -1", "FILE:2: models.a/b.output: must be larger than 0"},
		{"an effort that there is not", "[models.\"a/b\"]\nefforts = [\"low\", \"extreme\"]", `FILE:2: models.a/b.efforts: "extreme" is not one of minimal, low, medium, high, xhigh, max`},
		{"an effort that every model has", "[models.\"a/b\"]\nefforts = [\"off\"]", `FILE:2: models.a/b.efforts: leave "off" out`},
		{"no effort at all", "[models.\"a/b\"]\nefforts = []", "FILE:2: models.a/b.efforts: name at least one, or say thinks = false"},
		{"efforts without a thought", "[models.\"a/b\"]\nthinks = false\nefforts = [\"low\"]", "FILE:3: models.a/b.efforts: a model that does not think has none"},
		{"a negative price", "[models.\"a/b\"]\nprice_input = -1.5\nprice_output = 1", "FILE:2: models.a/b.price_input: must not be negative"},
		{"a price in fractions of what counts", "[models.\"a/b\"]\nprice_input = 0.0000001\nprice_output = 1", "FILE:2: models.a/b.price_input: \"0.0000001\" has more than 6 digits behind the point"},
		{"a price beyond reason", "[models.\"a/b\"]\nprice_input = 1\nprice_output = 1000000.1", "FILE:3: models.a/b.price_output: \"1000000.1\" is more than 1000000 dollars"},
		{"a price that is none", "[models.\"a/b\"]\nprice_input = nan\nprice_output = 1", "FILE:2: models.a/b.price_input: \"nan\" is not a price in dollars; write it like 3 or 0.075"},
		{"a price with an exponent", "[models.\"a/b\"]\nprice_input = 1e3\nprice_output = 1", "FILE:2: models.a/b.price_input: \"1e3\" is not a price"},
		{"half a price", "[models.\"a/b\"]\nprice_input = 1", "FILE:1: models.a/b.price_output: is needed beside the other prices"},
		{"a price of the cache alone", "[models.\"a/b\"]\nprice_cache_read = 1", "FILE:1: models.a/b.price_input: is needed beside the other prices"},
		{"a cache for nothing", "[models.\"a/b\"]\nprice_input = 1\nprice_output = 1\nprice_cache_read = 0", "FILE:4: models.a/b.price_cache_read: must be larger than 0"},
		{"a free model with a price", "[models.\"a/b\"]\nprice_input = 1\nprice_output = 2\nfree = true", "FILE:4: models.a/b.free: a model that is free has no prices"},
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

// Prices are exact, come together, and of two profiles the nearer says all of them.
func TestModelPrices(t *testing.T) {
	m := newMachine(t, "")
	m.models(t, `
[models."acme/*"]
price_input = 3
price_output = 15.0
price_cache_read = "0.3"
price_cache_write = 3.750_000
thinks = true
efforts = ["low", "max"]
output = 1000

[models."acme/cheap"]
price_input = 0.075
price_output = 0.000001

[models."acme/gift*"]
free = true

[models."acme/gift-not"]
free = false
thinks = false
`)
	c := m.load(t)
	tests := []struct{ ref, want string }{
		{"acme/some", "3 15 0.3 3.75"},
		{"acme/cheap", "0.075 0.000001 - -"},
		{"acme/gift", "free"},
		{"acme/gift-not", "- - - - not free"},
		{"other/some", "- - - -"},
	}
	for _, tt := range tests {
		p := c.ModelProfile(tt.ref).Prices
		var words []string
		for _, v := range []*config.USD{p.Input, p.Output, p.CacheRead, p.CacheWrite} {
			if v == nil {
				words = append(words, "-")
			} else {
				words = append(words, v.String())
			}
		}
		got := strings.Join(words, " ")
		if p.Free != nil && *p.Free {
			got = strings.ReplaceAll(got, "- - - -", "free")
		} else if p.Free != nil {
			got += " not free"
		}
		if got != tt.want {
			t.Errorf("%s costs %q, want %q", tt.ref, got, tt.want)
		}
	}
	p := c.ModelProfile("acme/gift-not")
	if *p.Answer != 1000 || *p.Thinks || strings.Join(p.Efforts, " ") != "low max" {
		t.Errorf("profile = %+v, want what is nearest of each", p)
	}
	for key, want := range map[string]string{
		"price_input": ":12", "thinks": ":7", "efforts": ":8", "window": "",
	} {
		if got := c.ModelAt("acme/cheap", key); !strings.HasSuffix(got, want) || want == "" && got != "" {
			t.Errorf("%s is said at %q, want %q", key, got, want)
		}
	}
	if got, want := m.shown(c)["models.acme/cheap.price_output"], `0.000001 <- ~/.config/lorimer/models.toml:13`; got != want {
		t.Errorf("shown as %s, want %s", got, want)
	}
}
