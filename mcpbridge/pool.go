package mcpbridge

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"github.com/lorimer-dev/lorimer/mcpbridge/client"
	"github.com/lorimer-dev/lorimer/mcpbridge/internal/lifetime"
	"github.com/lorimer-dev/lorimer/mcpbridge/internal/names"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport/web"
	"github.com/lorimer-dev/lorimer/tools/server"
)

// Options set a [Pool] up. The zero value works for servers that need no login.
type Options struct {
	Name, Version string // of this program, as servers are told
	// Environ returns the environment of this process. It is asked when a program is
	// about to start, and a program gets only the few variables of it that nobody's
	// secrets are in (R-MCP-22). Nil is none.
	Environ func(context.Context) []string
	// HTTP carries the requests to addresses; nil is a transport of package web.
	HTTP http.RoundTripper
	// Auth returns who has the credential for a server with an address. Nil, of the
	// function or of its result, is nobody.
	Auth func(Server) web.Authorizer
	// Eras remembers how servers begin. Nil forgets it with the pool.
	Eras    Eras
	Scratch string        // directory for long results of sessions that have none, made when needed; "" keeps none
	Wait    time.Duration // that a send, or a call, waits for servers on their way; default 5 s (R-MCP-10)
	Limit   int           // tools of all servers of a session that a send offers; default 128
	// Connect connects a server, whose Dir is absolute; its context bounds the
	// attempt and not the connection. Nil dials programs and addresses.
	Connect func(ctx context.Context, s Server, o client.Options) (client.Peer, error)
	Log     zerolog.Logger
}

// Eras remembers by which of the two ways a server begins, across processes. It is safe
// for concurrent use. A key tells nothing of the server.
type Eras interface {
	Era(key string) client.Era
	Remember(key string, era client.Era)
}

// How the bridges of a pool use the servers.
const (
	maxTries    = 10               // attempts of one outage (R-MCP-11)
	maxRedials  = 2                // of a pool, at a time
	firstPause  = time.Second      // before the second attempt, at most; half of it at least
	lastPause   = 30 * time.Second // between attempts
	maxAlone    = 5 * time.Minute  // that a server is not dialled because it wants to be left alone
	steady      = 30 * time.Second // of uptime, after which an outage is over
	parking     = time.Minute      // that the connection of a closed session waits for its return (C095)
	maxParked   = 64               // connections
	maxOutages  = 1024             // servers whose failures are remembered
	defaultWait = 5 * time.Second
	maxTools    = 128 // that the strictest provider takes
)

// A Pool makes the bridges of sessions, and keeps what outlives one: which servers have
// failed of late, how they begin, and for a minute the connections that a session leaves
// behind when it is about to be loaded again. It is safe for concurrent use.
type Pool struct {
	o       Options
	redials chan struct{}  // as many as may dial again at a time
	ends    sync.WaitGroup // of those who watch over parked connections

	mu      sync.Mutex // guards the fields below
	closed  bool
	open    map[*Bridge]struct{}
	parked  map[berth]parked
	outages map[string]outage // by fingerprint
}

// NewPool returns a pool of the servers of sessions. It starts nothing.
func NewPool(o Options) *Pool {
	o.Wait = cmp.Or(o.Wait, defaultWait)
	o.Limit = cmp.Or(o.Limit, maxTools)
	if o.Eras == nil {
		o.Eras = &eras{}
	}
	p := &Pool{
		o:       o,
		redials: make(chan struct{}, maxRedials),
		open:    make(map[*Bridge]struct{}),
		parked:  make(map[berth]parked),
		outages: make(map[string]outage),
	}
	if p.o.Connect == nil {
		p.o.Connect = p.connect
	}
	return p
}

// A Session is what a bridge works for.
type Session struct {
	ID      string
	Dir     string      // absolute; programs start there
	Scratch string      // directory for results that are too long for the model, made when needed; "" is that of the pool
	Host    server.Host // answers the servers; nil offers them nothing
}

// Open returns the bridge of a session to servers, in their order (R-MCP-01). It starts
// nothing: see [Bridge.Begin]. The bridge keeps the values of ctx, and lives until it or
// the pool is closed. One that is opened by a closed pool never connects.
func (p *Pool) Open(ctx context.Context, s Session, servers []Server) *Bridge {
	s.Scratch = cmp.Or(s.Scratch, p.o.Scratch)
	b := &Bridge{
		pool:    p,
		session: s,
		log:     p.o.Log.With().Str("session", s.ID).Logger(),
		life:    lifetime.New(ctx),
		news:    make(chan struct{}),
		told:    make(map[string]bool),
		watches: make(map[chan struct{}]struct{}),
	}
	called := make([]string, len(servers))
	for i, s := range servers {
		called[i] = s.Name
	}
	for i, prefix := range names.Prefixes(called) {
		b.links = append(b.links, newLink(b, servers[i], prefix))
	}
	p.mu.Lock()
	b.closed = p.closed
	if !b.closed {
		p.open[b] = struct{}{}
	}
	p.mu.Unlock()
	return b
}

// Close closes all bridges, each server beside the others, and what was left behind,
// within ctx (R-MCP-23).
func (p *Pool) Close(ctx context.Context) error {
	p.mu.Lock()
	p.closed = true
	var g errgroup.Group
	for b := range p.open {
		g.Go(func() error { return b.Close(ctx) })
	}
	for _, k := range p.parked {
		close(k.taken)
		g.Go(func() error { return k.conn.peer.Close(ctx) })
	}
	clear(p.parked)
	p.mu.Unlock()
	err := g.Wait()
	return errors.Join(err, wait(ctx, &p.ends))
}

// eras is an [Eras] for one process.
type eras struct{ known sync.Map }

func (e *eras) Era(key string) client.Era {
	era, _ := e.known.Load(key)
	got, _ := era.(client.Era)
	return got
}

func (e *eras) Remember(key string, era client.Era) { e.known.Store(key, era) }

// wait waits for the goroutines of wg, as long as ctx lasts.
func wait(ctx context.Context, wg *sync.WaitGroup) error {
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }() // ends with the last of them
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
