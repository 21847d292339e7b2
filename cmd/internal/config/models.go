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

	"github.com/lorimer-dev/lorimer/harness/model"
)

// modelsFile is what is said of models, beside the configuration file.
const modelsFile = "models.toml"

// A ModelProfile is what the user says of a model, or of all whose names begin
// alike (M-31). A zero field says nothing.
type ModelProfile struct {
	Name      string   `toml:"name"`       // for people
	Window    *int     `toml:"window"`     // context window in tokens
	Answer    *int     `toml:"output"`     // the most tokens of one answer
	Images    *bool    `toml:"images"`     // takes pictures
	ToolUsage *int     `toml:"tool_usage"` // 0: cannot call tools, 1: can
	Thinks    *bool    `toml:"thinks"`     // has an effort to set
	Efforts   []string `toml:"efforts"`    // those that it knows beside off

	Prices

	// Texts for the prompt. They are templates.
	Tools        string `toml:"tools_override"`
	LinkPreviews string `toml:"link_previews_override"`
	Style        string `toml:"chat_mode_addendum"`
}

// Prices are what a million tokens cost. Those of input and output come together;
// where something nearer is said of prices, nothing farther away counts.
type Prices struct {
	Input      *USD  `toml:"price_input"`
	Output     *USD  `toml:"price_output"`
	CacheRead  *USD  `toml:"price_cache_read"`  // nil is as input
	CacheWrite *USD  `toml:"price_cache_write"` // nil is as input
	Free       *bool `toml:"free"`              // costs nothing; false takes back what others say
}

// said reports whether p says anything.
func (p Prices) said() bool { return p != Prices{} }

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

// ModelAt returns the place of what [Config.ModelProfile] has of a model under key:
// FILE:LINE, or "" if it has nothing.
func (c *Config) ModelAt(ref, key string) string {
	for _, name := range slices.SortedFunc(maps.Keys(c.Models), nearest) {
		at, ok := c.origin.values["models."+name+"."+key]
		if ok && matches(name, ref) {
			return at
		}
	}
	return ""
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
	efforts, prices := p.Efforts, p.Prices
	if efforts == nil {
		efforts = q.Efforts
	}
	if !prices.said() {
		prices = q.Prices
	}
	return ModelProfile{
		Name:         cmp.Or(p.Name, q.Name),
		Window:       cmp.Or(p.Window, q.Window),
		Answer:       cmp.Or(p.Answer, q.Answer),
		Images:       cmp.Or(p.Images, q.Images),
		ToolUsage:    cmp.Or(p.ToolUsage, q.ToolUsage),
		Thinks:       cmp.Or(p.Thinks, q.Thinks),
		Efforts:      efforts,
		Prices:       prices,
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

// checkModels looks at what is said of models.
func (c *Config) checkModels() error {
	for _, name := range slices.Sorted(maps.Keys(c.Models)) {
		if key, err := c.Models[name].check(); err != nil {
			key = "models." + name + "." + key
			return fmt.Errorf("%s: %s: %w", c.near(key), key, err)
		}
	}
	return nil
}

// check returns the first mistake and the key that it is about.
func (p ModelProfile) check() (key string, err error) {
	for _, v := range []struct {
		key string
		err error
	}{
		{"window", above(p.Window, 0)},
		{"output", above(p.Answer, 0)},
		{"tool_usage", usage(p.ToolUsage)},
		{"efforts", checkEfforts(p.Efforts, p.Thinks)},
	} {
		if v.err != nil {
			return v.key, v.err
		}
	}
	return p.Prices.check()
}

// checkEfforts refuses efforts that no model has.
func checkEfforts(efforts []string, thinks *bool) error {
	if efforts == nil {
		return nil
	}
	if len(efforts) == 0 {
		return errors.New("name at least one, or say thinks = false")
	}
	if thinks != nil && !*thinks {
		return errors.New("a model that does not think has none; leave them out, or thinks")
	}
	var known []string
	for _, e := range model.Efforts() {
		known = append(known, string(e))
	}
	for _, e := range efforts {
		if e == "off" {
			return errors.New(`leave "off" out; it can be chosen for every model`)
		}
		if err := oneOf(e, known...); err != nil {
			return err
		}
	}
	return nil
}

// check refuses prices that say too little to count with, or two things.
func (p Prices) check() (key string, err error) {
	for _, v := range []struct {
		key   string
		price *USD
	}{
		{"price_input", p.Input}, {"price_output", p.Output}, {"price_cache_read", p.CacheRead}, {"price_cache_write", p.CacheWrite},
	} {
		if err := v.price.check(); err != nil {
			return v.key, err
		}
	}
	priced := p
	priced.Free = nil
	switch {
	case !priced.said():
		return "", nil
	case p.Free != nil && *p.Free:
		return "free", errors.New("a model that is free has no prices; leave them out, or free")
	case p.Input == nil:
		return "price_input", errors.New("is needed beside the other prices")
	case p.Output == nil:
		return "price_output", errors.New("is needed beside the other prices")
	case p.CacheRead != nil && p.CacheRead.Micro == 0 && p.Input.Micro > 0:
		return "price_cache_read", errors.New("must be larger than 0; without it a cached token costs as much as any other")
	}
	return "", nil
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
