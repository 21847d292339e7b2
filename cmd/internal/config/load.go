package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Sources is where a configuration comes from. The zero value has no
// environment, no flags and no home.
type Sources struct {
	Env   func(name string) string // os.Getenv in the program; an empty value counts as not set
	Flags map[string]string        // the flags that were given, by long name without dashes; a switch is "true"
	Home  string                   // home directory where the environment names none; may be empty
	Keys  *Keys                    // what commands printed before; nil is nothing
}

// A Warning is something in a file that has no effect.
type Warning struct {
	File string
	Line int // from 1; 0 is the whole file
	Text string
}

func (w Warning) String() string {
	if w.Line == 0 {
		return fmt.Sprintf("%s: %s", w.File, w.Text)
	}
	return fmt.Sprintf("%s:%d: %s", w.File, w.Line, w.Text)
}

// Load reads the configuration. A missing file is an empty one, unless a flag
// or the environment named it. An error names the file with line and column,
// the variable or the flag that it is about.
func Load(s Sources) (*Config, []Warning, error) {
	if s.Env == nil {
		s.Env = func(string) string { return "" }
	}
	c := defaults()
	c.env = s.Env
	c.keys = cmp.Or(s.Keys, &Keys{})
	given := gather(s)
	warnings, err := c.place(s, given)
	if err != nil {
		return nil, nil, err
	}
	c.fromSystem()
	found, err := c.fromFile(given["config"].origin != "")
	if err != nil {
		return nil, nil, err
	}
	more, err := c.fromModels()
	if err != nil {
		return nil, nil, err
	}
	warnings = slices.Concat(warnings, found, more)
	for _, set := range settings() {
		v, ok := given[set.name]
		if !ok {
			continue
		}
		if err := set.apply(c, v.text); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", v.origin, err)
		}
		c.origin.set(set.key(), v.origin)
	}
	if err := c.fromProviderEnv(); err != nil {
		return nil, nil, err
	}
	if err := c.check(); err != nil {
		return nil, nil, err
	}
	return c, append(warnings, c.keyFileWarnings()...), nil
}

// defaults returns what holds when nobody says anything.
func defaults() *Config {
	return &Config{
		Mode:         "ask",
		Locale:       "en",
		PromptCache:  PromptCache{VolatilePlacement: "turn"},
		History:      History{CrossVendor: "typed"},
		Attachments:  Attachments{InlineBytes: 16 << 10},
		Citations:    "registry",
		Skills:       Skills{Workspace: true},
		Instructions: Instructions{AgentsMD: true, FileBytes: 32 << 10, AllBytes: 64 << 10},
		ToolRoute:    ToolRoute{OnFailure: "none"},
		Compaction:   Compaction{Trigger: 32000, KeepRounds: 6},
		Web:          Web{Caps: WebCaps{Auto: 5, Search: 12, Research: 30}},
		ACP:          ACP{Terminal: "own"},
		Harness:      Harness{Idle: Duration(30 * time.Minute)},
		Run:          Run{Zone: time.Local, Drain: 10 * time.Minute, LogLevel: "info"},
		origin:       newOrigins(),
		keys:         &Keys{},
	}
}

// A given value was set by a flag or by a variable.
type given struct {
	text   string
	origin string
}

// gather returns what flags and environment set, by flag name.
func gather(s Sources) map[string]given {
	all := make(map[string]given)
	for _, set := range settings() {
		if v, ok := s.Flags[set.name]; ok {
			all[set.name] = given{v, "flag --" + set.name}
		} else if v := s.Env(set.variable()); v != "" {
			all[set.name] = given{v, "env " + set.variable()}
		}
	}
	return all
}

// place finds the directories (R-CMD-02). A relative XDG directory is ignored,
// as its standard says.
func (c *Config) place(s Sources, given map[string]given) ([]Warning, error) {
	c.Paths.Home = cmp.Or(s.Env("HOME"), s.Home)
	var warnings []Warning
	dir := func(name, below, what string) string {
		if d := s.Env(name); filepath.IsAbs(d) {
			c.origin.set(what, "env "+name)
			return filepath.Join(d, "lorimer")
		}
		if filepath.IsAbs(c.Paths.Home) {
			return filepath.Join(c.Paths.Home, below, "lorimer")
		}
		return filepath.Join(os.TempDir(), fmt.Sprintf("lorimer-%d", os.Getuid()), what)
	}
	c.Paths.Config = filepath.Join(dir("XDG_CONFIG_HOME", ".config", "config"), "config.toml")
	c.Paths.State = dir("XDG_STATE_HOME", ".local/state", "state")
	c.Paths.Cache = dir("XDG_CACHE_HOME", ".cache", "cache")
	for _, p := range []struct {
		flag string
		path *string
	}{{"config", &c.Paths.Config}, {"state", &c.Paths.State}} {
		g, ok := given[p.flag]
		if !ok {
			continue
		}
		abs, err := filepath.Abs(c.expand(g.text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", g.origin, err)
		}
		*p.path = abs
		c.origin.set(p.flag, g.origin)
	}
	if filepath.IsAbs(c.Paths.Home) {
		return warnings, nil
	}
	if c.origin.of("state") == "default" {
		warnings = append(warnings, Warning{
			File: c.Paths.State,
			Text: "there is no home directory, so nothing is kept for longer than this directory lives; set HOME or use --state",
		})
	}
	if c.origin.of("config") == "default" {
		c.homeless = true
		warnings = append(warnings, Warning{
			File: c.Paths.Config,
			Text: "there is no home directory, so no configuration is read; set HOME or use --config",
		})
	}
	return warnings, nil
}

// expand replaces a leading ~/ by the home directory.
func (c *Config) expand(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && c.Paths.Home != "" {
		return filepath.Join(c.Paths.Home, rest)
	}
	return path
}

// fromFile reads the configuration file; wanted says that it has to exist.
// Without a home its place is below a directory that everybody may write to, and
// a file there can be anybody's.
func (c *Config) fromFile(wanted bool) ([]Warning, error) {
	if c.homeless {
		return nil, nil
	}
	data, err := os.ReadFile(c.Paths.Config)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !wanted:
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading configuration: %w", err)
	}
	return decode(c, c.origin, c.Paths.Config, data)
}

// fromSystem takes what the system's own variables say.
func (c *Config) fromSystem() {
	if tag := localeOf(c.env("LANG")); tag != "" {
		c.Locale = tag
		c.origin.set("locale", "env LANG")
	}
	c.Proxy = Proxy{
		HTTP:  c.first("proxy.http", "HTTP_PROXY", "http_proxy"),
		HTTPS: c.first("proxy.https", "HTTPS_PROXY", "https_proxy"),
		No:    c.first("proxy.no", "NO_PROXY", "no_proxy"),
	}
}

// first returns the first variable that is set, as the origin of key.
func (c *Config) first(key string, names ...string) string {
	for _, name := range names {
		if v := c.env(name); v != "" {
			c.origin.set(key, "env "+name)
			return v
		}
	}
	return ""
}

// localeOf turns a value like de_DE.UTF-8 into de-de. The C locale is none.
func localeOf(lang string) string {
	tag, _, _ := strings.Cut(lang, ".")
	tag, _, _ = strings.Cut(tag, "@")
	if tag == "C" || tag == "POSIX" {
		return ""
	}
	return strings.ToLower(strings.ReplaceAll(tag, "_", "-"))
}
