package config

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
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

// A keyring keeps the keys that a command printed, since asking may cost the
// user a finger on a sensor.
type keyring struct {
	mu   sync.Mutex // guards the fields below
	keys map[string]string
}

// Key returns the API key of a provider, or "" for a local one that has none.
// What the file says is asked first: its variable, its key file, its command,
// and the first that has a key wins; then the usual variables. A command runs
// at most once with success and for ten seconds at most. Without a key the
// error is [ErrNoKey] and says where to put one.
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
		return c.keys.fromCommand(ctx, p.APIKeyCommand)
	}
	if e.Local {
		return "", nil
	}
	return "", fmt.Errorf("%w for %s; %s", ErrNoKey, e.Title, wayToKey(e, c.Paths.Config))
}

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

// fromCommand runs command, unless it has succeeded before.
func (k *keyring) fromCommand(ctx context.Context, command string) (string, error) {
	k.mu.Lock()
	key, ok := k.keys[command]
	k.mu.Unlock()
	if ok {
		return key, nil
	}
	ctx, cancel := context.WithTimeout(ctx, keyLimit)
	defer cancel()
	out := cappedBuffer{room: maxKeySize}
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Stdout = &out
	cmd.WaitDelay = keyGrace
	endWithChildren(cmd)
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return "", fmt.Errorf("running the command for the API key: %w", err)
	}
	key, err := oneKey(out.Bytes(), "the command for the API key")
	if err != nil {
		return "", err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.keys == nil {
		k.keys = make(map[string]string)
	}
	k.keys[command] = key
	return key, nil
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
		all = append(all, secretsIn(p.Headers)...)
	}
	for _, s := range c.MCP {
		all = append(all, secretsIn(s.Headers)...)
		all = append(all, secretsIn(s.Env)...)
	}
	all = append(all, c.databaseSecrets()...)
	c.keys.mu.Lock()
	defer c.keys.mu.Unlock()
	all = slices.AppendSeq(all, maps.Values(c.keys.keys))
	slices.Sort(all)
	return slices.Compact(all)
}

// secretsIn returns the values whose names sound like secrets.
func secretsIn(named map[string]string) []string {
	var all []string
	for name, value := range named {
		if soundsSecret(name) {
			all = append(all, value)
		}
	}
	return all
}
