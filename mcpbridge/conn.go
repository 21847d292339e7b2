package mcpbridge

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/lorimer-dev/lorimer/mcpbridge/client"
	"github.com/lorimer-dev/lorimer/tools/server"
)

// A conn is a connection to a server. It may outlive its bridge, parked, so that what
// the server asks goes to the host of the one that has it (C095).
type conn struct {
	peer  client.Peer
	since time.Time     // connected
	wake  chan struct{} // holds one when a list is stale
	lost  chan error    // holds one when a call has found the connection broken

	mu     sync.Mutex  // guards the fields below
	host   server.Host // nil while parked
	name   string      // of the server, as host knows it
	offers server.Offers
	// want counts how often a list was announced to have changed, have up to where
	// the one in use is read (R-MCP-14).
	want, have map[client.Kind]int
}

func newConn(host server.Host, name string) *conn {
	c := &conn{
		wake: make(chan struct{}, 1),
		lost: make(chan error, 1),
		host: host,
		name: name,
		want: make(map[client.Kind]int),
		have: make(map[client.Kind]int),
	}
	if host != nil {
		c.offers = host.Offers()
	}
	return c
}

// changed hears that lists have changed. It does not block.
func (c *conn) changed(kinds ...client.Kind) {
	c.mu.Lock()
	for _, k := range kinds {
		c.want[k]++
	}
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// mark returns where a list that is read from now on will stand, and whether it stands
// there already.
func (c *conn) mark(k client.Kind) (mark int, read bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.want[k], c.have[k] >= c.want[k]
}

// done tells that a list was read, or cannot be, from mark on.
func (c *conn) done(k client.Kind, mark int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.have[k] = max(c.have[k], mark)
}

// reached reports whether a list was read from mark on.
func (c *conn) reached(k client.Kind, mark int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.have[k] >= mark
}

// broken tells whoever serves c that it is of no use any more.
func (c *conn) broken(err error) {
	select {
	case c.lost <- err:
	default:
	}
}

// leave takes c from its host.
func (c *conn) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.host = nil
}

// enter gives c to another host, which calls the server by that name. It reports whether
// the host offers what the server was told of.
func (c *conn) enter(host server.Host, name string) bool {
	var offers server.Offers
	if host != nil {
		offers = host.Offers()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.host, c.name = host, name
	return c.offers == offers
}

func (c *conn) answerer() (h server.Host, name string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.host == nil {
		return nil, "", fmt.Errorf("the session is closed: %w", server.ErrRefused)
	}
	return c.host, c.name, nil
}

// Roots is of [server.Host], like the methods below.
func (c *conn) Roots() []string {
	h, _, err := c.answerer()
	if err != nil {
		return nil
	}
	return h.Roots()
}

func (c *conn) Offers() server.Offers {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.offers
}

func (c *conn) Elicit(ctx context.Context, _ string, e server.Elicitation) (server.Reply, error) {
	h, name, err := c.answerer()
	if err != nil {
		return server.Reply{}, err
	}
	return h.Elicit(ctx, name, e)
}

func (c *conn) Sample(ctx context.Context, _ string, s server.Sampling) (server.Sampled, error) {
	h, name, err := c.answerer()
	if err != nil {
		return server.Sampled{}, err
	}
	return h.Sample(ctx, name, s)
}
