package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// modelsFile is what is said of models, beside the configuration file.
const modelsFile = "models.toml"

// A ModelProfile is what the user says of a model, or of all whose names begin
// alike (M-31). A zero field says nothing.
type ModelProfile struct {
	Name      string `toml:"name"`       // for people
	Window    *int   `toml:"window"`     // context window in tokens
	Images    *bool  `toml:"images"`     // takes pictures
	ToolUsage *int   `toml:"tool_usage"` // 0: cannot call tools, 1: can

	// Texts for the prompt. They are templates.
	Tools        string `toml:"tools_override"`
	LinkPreviews string `toml:"link_previews_override"`
	Style        string `toml:"chat_mode_addendum"`
}

// ModelsPath returns the path of the file that [Config.Models] comes from.
func (c *Config) ModelsPath() string { return filepath.Join(filepath.Dir(c.Paths.Config), modelsFile) }

// ModelProfile returns what holds for the model ref, PROVIDER/MODEL: what is said
// of it, and of it and others as far as nobody says something nearer. A name with
// * at its end stands for all that begin with the rest.
func (c *Config) ModelProfile(ref string) ModelProfile {
	var p ModelProfile
	for _, name := range slices.SortedFunc(maps.Keys(c.Models), nearest) {
		if matches(name, ref) {
			p = p.or(c.Models[name])
		}
	}
	return p
}

// ModelTextsAt returns the places of the texts of [Config.ModelProfile]: FILE:LINE,
// or "" for one that says nothing.
func (c *Config) ModelTextsAt(ref string) (tools, linkPreviews, style string) {
	for _, name := range slices.SortedFunc(maps.Keys(c.Models), nearest) {
		if !matches(name, ref) {
			continue
		}
		p := c.Models[name]
		for _, t := range []struct {
			at        *string
			text, key string
		}{
			{&tools, p.Tools, "tools_override"},
			{&linkPreviews, p.LinkPreviews, "link_previews_override"},
			{&style, p.Style, "chat_mode_addendum"},
		} {
			if *t.at == "" && t.text != "" {
				*t.at = c.near("models." + name + "." + t.key)
			}
		}
	}
	return tools, linkPreviews, style
}

// nearest sorts names of profiles: a whole name before a beginning, a longer
// beginning before a shorter.
func nearest(a, b string) int {
	rank := func(name string) int {
		if strings.HasSuffix(name, "*") {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
}

func matches(name, ref string) bool {
	begin, wild := strings.CutSuffix(name, "*")
	return name == ref || wild && strings.HasPrefix(ref, begin)
}

// or returns p with what q says where p says nothing.
func (p ModelProfile) or(q ModelProfile) ModelProfile {
	return ModelProfile{
		Name:         cmp.Or(p.Name, q.Name),
		Window:       cmp.Or(p.Window, q.Window),
		Images:       cmp.Or(p.Images, q.Images),
		ToolUsage:    cmp.Or(p.ToolUsage, q.ToolUsage),
		Tools:        cmp.Or(p.Tools, q.Tools),
		LinkPreviews: cmp.Or(p.LinkPreviews, q.LinkPreviews),
		Style:        cmp.Or(p.Style, q.Style),
	}
}

// fromModels reads the file about models, where there is one.
func (c *Config) fromModels() ([]Warning, error) {
	if c.homeless {
		return nil, nil
	}
	path := c.ModelsPath()
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading what is said of models: %w", err)
	}
	var file struct {
		Models map[string]ModelProfile `toml:"models"`
	}
	warnings, err := decode(&file, c.origin, path, data)
	c.Models = file.Models
	return append(warnings, c.noModels()...), err
}

// noModels returns a warning for each profile whose name no model can have, so that
// nothing of it would ever hold.
func (c *Config) noModels() []Warning {
	var all []Warning
	for _, name := range slices.Sorted(maps.Keys(c.Models)) {
		if name != "offline" && !strings.HasPrefix(name, "script:") && !strings.HasSuffix(name, "*") && !strings.Contains(name, "/") {
			all = append(all, Warning{File: c.near("models." + name), Text: fmt.Sprintf(
				"no model is called %q; write PROVIDER/MODEL, or PROVIDER/* for all of one", name)})
		}
	}
	return all
}

// checkModels looks at the numbers.
func (c *Config) checkModels() error {
	for _, name := range slices.Sorted(maps.Keys(c.Models)) {
		m := c.Models[name]
		for _, v := range []struct {
			key string
			err error
		}{
			{"window", above(m.Window, 0)},
			{"tool_usage", usage(m.ToolUsage)},
		} {
			if v.err != nil {
				key := "models." + name + "." + v.key
				return fmt.Errorf("%s: %s: %w", c.near(key), key, v.err)
			}
		}
	}
	return nil
}

func above(n *int, bound int) error {
	if n != nil && *n <= bound {
		return fmt.Errorf("must be larger than %d", bound)
	}
	return nil
}

func usage(n *int) error {
	if n != nil && *n != 0 && *n != 1 {
		return errors.New("must be 0 for a model that cannot call tools, or 1 for one that can")
	}
	return nil
}
