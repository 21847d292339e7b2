package mcpbridge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/lorimer-dev/lorimer/mcpbridge/client"
	"github.com/lorimer-dev/lorimer/mcpbridge/internal/lifetime"
	"github.com/lorimer-dev/lorimer/mcpbridge/internal/names"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/server"
)

const (
	patience = 200 * time.Millisecond // before the user is told that a send waits
	maxTold  = 64                     // warnings of one kind that a user is told in a session
)

// errClosed ends what runs when a bridge is closed.
var errClosed = errors.New("the session is closed")

// A Bridge is the MCP servers of one session. [Pool.Open] makes it.
type Bridge struct {
	pool    *Pool
	session Session
	log     zerolog.Logger
	life    *lifetime.Lifetime
	links   []*link        // in the order of the servers
	ends    sync.WaitGroup // of connections that are being closed

	mu      sync.Mutex // guards the fields below, and those of links
	closed  bool
	ended   bool          // the connections are being closed
	news    chan struct{} // closed and replaced when something changes
	merged  *merged       // nil has to be made anew
	told    map[string]bool
	watches map[chan struct{}]struct{}
}

var _ server.Set = (*Bridge)(nil)

// Begin starts the contact with all servers, in parallel, once. It never waits.
func (b *Bridge) Begin() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range b.links {
		l.begin()
	}
}

// begin starts the contact with one server, once. Its caller holds b.mu.
func (l *link) begin() {
	if l.begun || l.b.closed || !l.usable() {
		return
	}
	l.begun, l.dialing = true, true
	l.b.life.Start(l.run)
}

// Tools returns the tools of the servers that are connected, in the order of the servers
// (R-MCP-05, R-MCP-09). It waits up to [Options].Wait for servers in their first contact,
// and for lists that are being read again (R-MCP-10, R-MCP-14); servers that were lost are
// skipped, and one that is no longer tried gets one fresh attempt, in the background
// (R-MCP-11), unless somebody has logged in at it since: that is a first contact (C096).
// Tell hears of a wait that can be felt, and once in an outage of each server that is
// missing.
func (b *Bridge) Tools(ctx context.Context, tell func(notice string)) ([]tools.Tool, error) {
	until := time.Now().Add(b.pool.o.Wait)
	known := b.loggedIn(ctx, until)
	b.mu.Lock()
	for _, l := range b.links {
		if slices.Contains(known, l) {
			l.renew()
		}
		l.begin()
		if l.state == server.Failed || l.state == server.NeedsLogin {
			l.dialAtOnce()
		}
	}
	late := b.expected()
	b.mu.Unlock()
	if len(late) > 0 {
		b.await(ctx, until, late, tell)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return b.offer(tell)
}

// loggedIn returns the servers that were last heard to want a login, and have a
// credential now. That may have to be renewed, until then.
func (b *Bridge) loggedIn(ctx context.Context, until time.Time) (known []*link) {
	if b.pool.o.Auth == nil {
		return nil
	}
	b.mu.Lock()
	for _, l := range b.links {
		if l.last == server.NeedsLogin {
			known = append(known, l)
		}
	}
	b.mu.Unlock()
	if len(known) == 0 {
		return nil
	}
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	return slices.DeleteFunc(known, func(l *link) bool {
		auth := b.pool.o.Auth(l.s)
		if auth == nil {
			return true
		}
		token, err := auth.Token(ctx)
		return err != nil || token == "" // the attempt tells what is wrong
	})
}

// renew has a server that wanted a login begin as if it had never been contacted. Its
// caller holds b.mu.
func (l *link) renew() {
	if l.last == server.NeedsLogin { // still
		l.last, l.why, l.met, l.missed, l.tries = "", "", false, false, 0
		l.dialAtOnce()
	}
}

// dialAtOnce has a server tried without a pause, unless an attempt runs. Its caller
// holds b.mu.
func (l *link) dialAtOnce() {
	if !l.usable() || l.dialing || l.conn != nil || l.b.closed {
		return
	}
	l.state, l.dialing = server.Connecting, true
	select {
	case l.kick <- struct{}{}:
	default:
	}
}

// An arrival is what a send waits for. Its function reports whether it is there, and is
// called with b.mu held.
type arrival struct {
	link *link
	here func() bool
}

// expected returns what a send that begins now waits for. Its caller holds b.mu.
func (b *Bridge) expected() (late []arrival) {
	for _, l := range b.links {
		if !l.met {
			late = append(late, arrival{l, func() bool { return l.met }})
			continue
		}
		if c := l.conn; c != nil {
			if mark, read := c.mark(client.Tools); !read {
				late = append(late, arrival{l, func() bool { return l.conn != c || c.reached(client.Tools, mark) }})
			}
		}
	}
	return late
}

// await waits for what is late, until then. What is late still is told of as missing.
func (b *Bridge) await(ctx context.Context, until time.Time, late []arrival, tell func(string)) {
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	all := func() bool {
		late = slices.DeleteFunc(late, func(a arrival) bool { return a.here() })
		return len(late) == 0 || b.closed
	}
	short, stop := context.WithTimeout(ctx, patience)
	err := b.until(short, all)
	stop()
	if err != nil && ctx.Err() == nil {
		if tell != nil {
			var names []string
			for _, a := range late {
				names = append(names, show(a.link.s.Name))
			}
			tell(fmt.Sprintf("Waiting for MCP servers: %s.", strings.Join(names, ", ")))
		}
		_ = b.until(ctx, all)
	}
}

// until waits until ok, which is called with b.mu held.
func (b *Bridge) until(ctx context.Context, ok func() bool) error {
	for {
		b.mu.Lock()
		done, news := ok(), b.news
		b.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// change runs f with b.mu held and wakes those who wait for it. It does neither, and
// reports false, where the bridge is closed.
func (b *Bridge) change(f func()) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	f()
	b.merged = nil
	close(b.news)
	b.news = make(chan struct{})
	return true
}

// Known returns the names of all tools that the servers have had, and what those of
// servers begin with that were never reached (R-MCP-16).
func (b *Bridge) Known() (seen, prefixes []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range b.links {
		if l.catalog == nil {
			prefixes = append(prefixes, names.Start(l.prefix))
			continue
		}
		for name := range l.seen {
			seen = append(seen, name)
		}
	}
	slices.Sort(seen)
	return slices.Compact(seen), prefixes
}

// Watch calls changed after what [Bridge.Prompts] says may have changed, from one
// goroutine, until stop is called.
func (b *Bridge) Watch(changed func()) (stop func()) {
	news := make(chan struct{}, 1)
	quit := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-quit:
				return
			case <-news:
				changed()
			}
		}
	})
	b.mu.Lock()
	b.watches[news] = struct{}{}
	b.mu.Unlock()
	return sync.OnceFunc(func() {
		b.mu.Lock()
		delete(b.watches, news)
		b.mu.Unlock()
		close(quit)
		wg.Wait()
	})
}

// announce wakes those who watch.
func (b *Bridge) announce() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for w := range b.watches {
		select {
		case w <- struct{}{}:
		default:
		}
	}
}

// Close ends calls, attempts and pauses, and then the servers, each beside the others
// (R-MCP-11, R-MCP-23). Programs are gone when it returns; what has an address may stay
// connected for a minute, in case that the session comes back (C095).
func (b *Bridge) Close(ctx context.Context) error {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.life.End(errClosed)
	err := b.life.Wait(ctx) // nothing connects any more

	b.mu.Lock()
	if !b.ended {
		b.ended = true
		for _, l := range b.links {
			if l.conn != nil {
				b.leave(ctx, l)
			}
		}
		close(b.news)
		b.news = make(chan struct{})
	}
	b.mu.Unlock()
	err = errors.Join(err, wait(ctx, &b.ends))
	b.pool.drop(b)
	return err
}

// leave parks the connection of a closed bridge, or ends it within ctx. Its caller holds
// b.mu.
func (b *Bridge) leave(ctx context.Context, l *link) {
	c := l.conn
	if l.s.Kind != Stdio && b.pool.park(ctx, berth{b.session.ID, l.fingerprint}, parked{conn: c, catalog: l.catalog}) {
		return
	}
	b.ends.Go(func() {
		if err := c.peer.Close(ctx); err != nil {
			l.log.Warn().Str("error", l.reason(err)).Msg("server not closed in time")
		}
	})
}
