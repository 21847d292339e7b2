package harness

import (
	"crypto/rand"
	"strings"
	"sync"
)

// tokens are those of the turns of an engine. They begin alike, so that the engine
// knows a lock that one of its turns has left behind, because the database was away
// when it ended, from that of another engine, which may run.
type tokens struct {
	ours string // what they begin with, unguessable

	mu      sync.Mutex // guards the map
	running map[string]bool
}

// give returns the token of a turn that begins.
func (k *tokens) give() string {
	token := k.ours + rand.Text()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.running[token] = true
	return token
}

// forget says that the turn with a token has ended.
func (k *tokens) forget(token string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.running, token)
}

// ended reports whether token was that of a turn that has ended for certain.
func (k *tokens) ended(token string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return strings.HasPrefix(token, k.ours) && !k.running[token]
}
