package app

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"

	"github.com/lorimer-dev/lorimer/mcpbridge/client"
)

const (
	erasFile = "mcp-eras.json" // in the cache directory
	maxEras  = 512             // servers that are remembered
	maxErasB = 1 << 20         // bytes of the file; a larger one is not ours
)

// eras remembers in a file how MCP servers begin, which saves each of them a question
// that it may not understand. What cannot be read or written is forgotten: nothing but
// time is lost. It is safe for concurrent use.
type eras struct {
	file string

	mu    sync.Mutex // guards the field below
	known map[string]client.Era
}

// Era returns what is remembered of a server.
func (e *eras) Era(key string) client.Era {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.known == nil {
		e.known = e.read()
	}
	return e.known[key]
}

// Remember keeps how a server begins; [client.Unknown] forgets it.
func (e *eras) Remember(key string, era client.Era) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.known == nil {
		e.known = e.read()
	}
	if e.known[key] == era {
		return
	}
	all := e.read() // another process may have learned of others
	for key := range all {
		if len(all) < maxEras {
			break
		}
		delete(all, key)
	}
	if all[key] = era; era == client.Unknown {
		delete(all, key)
	}
	e.known = all
	_ = e.write(all) // it is asked again by the next process
}

func (e *eras) read() map[string]client.Era {
	all := make(map[string]client.Era)
	info, err := os.Stat(e.file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxErasB {
		return all
	}
	data, err := os.ReadFile(e.file)
	if err != nil {
		return all
	}
	var found map[string]client.Era
	if json.Unmarshal(data, &found) != nil {
		return all
	}
	for key, era := range found {
		if era == client.Handshake || era == client.Stateless {
			all[key] = era
		}
	}
	return all
}

// write replaces the file, which is whole at any moment.
func (e *eras) write(all map[string]client.Era) error {
	data, err := json.Marshal(all)
	if err != nil {
		return err
	}
	dir := filepath.Dir(e.file)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".eras-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), e.file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
