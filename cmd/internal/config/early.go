package config

import "fmt"

// Early returns what flags and environment alone decide. It reads no file, so
// that a server can answer its first request before there is a reason to; what
// is wrong in a file is left to [Load].
func Early(s Sources) (Run, error) {
	if s.Env == nil {
		s.Env = func(string) string { return "" }
	}
	c := defaults()
	c.env = s.Env
	given := gather(s)
	if _, err := c.place(s, given); err != nil {
		return Run{}, err
	}
	for _, set := range settings() {
		v, ok := given[set.name]
		if !ok {
			continue
		}
		if err := set.apply(c, v.text); err != nil {
			return Run{}, fmt.Errorf("%s: %w", v.origin, err)
		}
	}
	return c.Run, nil
}

// HasKey reports whether e can be used without another step: its key is in the
// environment or in a file that the configuration names, or the file describes
// it and it needs none.
func (c *Config) HasKey(e Endpoint) bool {
	p, described := c.Providers[e.Name]
	if e.Keyless && described {
		return true
	}
	return c.keyFromEnv(e.KeyEnv) != "" || p.APIKeyFile != "" || p.APIKeyCommand != ""
}
