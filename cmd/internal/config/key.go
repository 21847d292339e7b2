package config

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
)

// ErrNoKey says that a provider needs a key and none is set.
var ErrNoKey = errors.New("no API key")

const (
	keyLimit   = 10 * time.Second // for a command that prints a key
	keyGrace   = time.Second      // for its children after it has ended
	maxKeySize = 64 << 10         // of a key, in bytes
)

// Keys keeps what commands printed, since asking may cost the user a finger on a
// sensor. It outlives the configuration that it was made for, so that a file that
// was saved asks nobody again. The zero value is empty and ready.
type Keys struct {
	mu   sync.Mutex // guards the field below
	keys map[errand]*printed
}

// An errand is a command with the only place that its key may go to.
type errand struct{ provider, address, command string }

// A printed key is asked for by one at a time.
type printed struct {
	asking chan struct{} // of room 1, full while somebody asks
	key    string        // "" is none; guarded by the mutex of the Keys
}

// Key returns the API key of a provider, or "" for one that has none and can do
// without. The first that has one counts: the variable that the file names, or where
// it names none the usual ones; the key file; the command. A command runs at most once
// with success for an address, until [Config.Forget], and for ten seconds at most.
// Without a key the error is [ErrNoKey] and says where to put one.
func (c *Config) Key(ctx context.Context, provider string) (string, error) {
	e, ok := c.Provider(provider)
	if !ok {
		return "", fmt.Errorf("there is no provider %q", provider)
	}
	p := c.Providers[provider]
	if key := c.keyFromEnv(e.KeyEnv); key != "" {
		return key, nil
	}
	if p.APIKeyFile != "" {
		return keyFromFile(c.beside(p.APIKeyFile))
	}
	if p.APIKeyCommand != "" {
		return c.keys.fromCommand(ctx, errand{provider, e.BaseURL, p.APIKeyCommand})
	}
	if e.Keyless {
		return "", nil
	}
	return "", fmt.Errorf("%w for %s; %s", ErrNoKey, e.Title, wayToKey(e, c.Paths.Config))
}

// KeyFrom says where the key of e is looked for, as [Config.Key] does, without
// reading it; "" is nowhere.
func (c *Config) KeyFrom(e Endpoint) string {
	for _, name := range e.KeyEnv {
		if c.keyFromEnv([]string{name}) != "" {
			return "env " + name
		}
	}
	switch p := c.Providers[e.Name]; {
	case p.APIKeyFile != "":
		return "file " + c.beside(p.APIKeyFile)
	case p.APIKeyCommand != "":
		return "api_key_command at " + c.near("providers."+e.Name+".api_key_command")
	case len(secretsIn(p.Headers)) > 0:
		return "headers at " + c.near("providers."+e.Name+".headers")
	}
	return ""
}

// WayToKey tells how to give e a key.
func (c *Config) WayToKey(e Endpoint) string { return wayToKey(e, c.Paths.Config) }

// wayToKey tells how to give e a key.
func wayToKey(e Endpoint, file string) string {
	if len(e.KeyEnv) == 0 {
		return fmt.Sprintf("name a variable with api_key_env under [providers.%s] in %s", e.Name, file)
	}
	return fmt.Sprintf("set %s, or api_key_file under [providers.%s] in %s", e.KeyEnv[0], e.Name, file)
}

func (c *Config) keyFromEnv(names []string) string {
	for _, name := range names {
		if key := strings.TrimSpace(c.env(name)); key != "" {
			return key
		}
	}
	return ""
}

func keyFromFile(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("reading the API key: %w", err)
	}
	return oneKey(data, path)
}

// Forget has the command of a provider asked again for its key, which the provider
// has refused: some print one that holds for an hour.
func (c *Config) Forget(provider, key string) {
	c.keys.mu.Lock()
	defer c.keys.mu.Unlock()
	for e, p := range c.keys.keys {
		if e.provider == provider && p.key == key {
			p.key = ""
		}
	}
}

// of returns the place of the key of e.
func (k *Keys) of(e errand) *printed {
	k.mu.Lock()
	defer k.mu.Unlock()
	p, ok := k.keys[e]
	if !ok {
		if k.keys == nil {
			k.keys = make(map[errand]*printed)
		}
		p = &printed{asking: make(chan struct{}, 1)}
		k.keys[e] = p
	}
	return p
}

// fromCommand runs the command of e, unless it has succeeded before. Whoever comes
// while it runs waits for its key.
func (k *Keys) fromCommand(ctx context.Context, e errand) (string, error) {
	p := k.of(e)
	select {
	case p.asking <- struct{}{}:
		defer func() { <-p.asking }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	k.mu.Lock()
	key := p.key
	k.mu.Unlock()
	if key != "" {
		return key, nil
	}
	key, err := runForKey(ctx, e.command)
	if err != nil {
		return "", err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	p.key = key
	return key, nil
}

// runForKey returns the key that a command prints.
func runForKey(ctx context.Context, command string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, keyLimit)
	defer cancel()
	out := cappedBuffer{room: maxKeySize}
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Stdout = &out
	cmd.WaitDelay = keyGrace
	endWithChildren(cmd)
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", fmt.Errorf("running the command for the API key: %w", ctx.Err())
		}
		return "", fmt.Errorf("running the command for the API key: %w; run api_key_command in a terminal to see why", err)
	}
	return oneKey(out.Bytes(), "the command for the API key")
}

// oneKey returns the key in data: one word, which is what a header can carry.
func oneKey(data []byte, from string) (string, error) {
	key := strings.TrimSpace(string(data))
	switch {
	case key == "":
		return "", fmt.Errorf("%w in %s", ErrNoKey, from)
	case len(key) >= maxKeySize || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return "", fmt.Errorf("%s holds more than a key; it must be one word", from)
	}
	return key, nil
}

// A cappedBuffer keeps the first bytes and drops the rest.
type cappedBuffer struct {
	bytes.Buffer
	room int
}

func (b *cappedBuffer) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:min(len(p), b.room-b.Len())])
	return len(p), nil
}

// SecretEnv lists the variables that hold keys of providers, and the password of
// the database where that is a server's, sorted. Commands of the model and
// servers of others run without them.
func (c *Config) SecretEnv() []string {
	names := make(map[string]bool)
	for _, list := range [][]Endpoint{builtin(), c.Endpoints()} {
		for _, e := range list {
			for _, name := range e.KeyEnv {
				names[name] = true
			}
			if slices.Contains(e.KeyEnv, awsSecret) {
				names[awsSession] = true
			}
		}
	}
	if IsURL(c.Database) {
		names[postgresPassword] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// Secrets returns the secret values that are known without running a command,
// for a writer that must not let them out.
func (c *Config) Secrets() []string {
	var all []string
	for _, name := range c.SecretEnv() {
		if v := strings.TrimSpace(c.env(name)); v != "" {
			all = append(all, v)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Providers)) {
		p := c.Providers[name]
		if p.APIKeyFile != "" {
			// A file that cannot be read is told when its key is needed.
			if key, err := keyFromFile(c.beside(p.APIKeyFile)); err == nil {
				all = append(all, key)
			}
		}
		all = append(all, secretsInURL(p.BaseURL)...)
		all = append(all, secretsIn(p.Headers)...)
	}
	for _, e := range c.Endpoints() {
		all = append(all, secretsIn(e.Options)...) // the environment may have some of them
	}
	all = append(all, c.Proxy.secrets()...)
	for _, s := range c.MCP {
		all = append(all, secretsIn(s.Headers)...)
		all = append(all, secretsIn(s.Env)...)
		all = append(all, secretsInURL(s.URL)...)
		all = append(all, secretsInURL(s.OAuth.MetadataURL)...)
		if s.OAuth.ClientSecret != "" {
			all = append(all, s.OAuth.ClientSecret)
		}
	}
	all = append(all, c.databaseSecrets()...)
	all = append(all, c.keys.known()...)
	slices.Sort(all)
	return slices.Compact(all)
}

// known returns the keys that were printed.
func (k *Keys) known() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	var all []string
	for _, p := range k.keys {
		if p.key != "" {
			all = append(all, p.key)
		}
	}
	return all
}

// secretsIn returns the values whose names sound like secrets. Of one like "Bearer
// KEY" the key alone is a secret too.
func secretsIn(named map[string]string) []string {
	var all []string
	for name, value := range named {
		if !soundsSecret(name) {
			continue
		}
		all = append(all, value)
		if _, word, ok := strings.Cut(value, " "); ok {
			all = append(all, word)
		}
	}
	return all
}

// secretsInURL returns the passwords in an address, and what its query has under
// names that sound like secrets.
func secretsInURL(address string) []string {
	if address == "" {
		return nil
	}
	all := passwords(address)
	if u, err := url.Parse(address); err == nil {
		for name, values := range u.Query() {
			if soundsSecret(name) {
				all = append(all, values...)
			}
		}
	}
	return all
}
