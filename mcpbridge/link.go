package mcpbridge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/lorimer-dev/lorimer/mcpbridge/client"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
	"github.com/lorimer-dev/lorimer/tools/server"
)

const (
	closeProgram = 8 * time.Second // that a program gets to end by itself (R-MCP-23)
	closeAddress = time.Second
	maxSeen      = 4096 // names of one server's tools that are remembered
	maxReason    = 400  // characters of an error that is shown
	maxStderr    = 2048 // bytes of what a program wrote that are shown
	maxWarnings  = 5    // of one server in the log, a minute: a server can do wrong as often as it likes (R-ACP-37)
	never        = time.Duration(-1)
)

// A link is one server of a bridge. Its goroutine, run, is the only one that dials it.
type link struct {
	b           *Bridge
	s           Server // its Dir is absolute
	prefix      string
	fingerprint string
	address     string
	hidden      secrets
	log         zerolog.Logger
	kick        chan struct{} // holds one when an attempt is wanted at once

	// The fields below are guarded by b.mu.

	begun   bool // run has been started
	state   server.State
	last    server.State // that the last attempt has left it in; "" before any, and once connected
	met     bool         // the first attempt is over, or there will be none
	dialing bool         // an attempt runs, or is about to
	missed  bool         // the user knows that it is missing
	conn    *conn        // nil unless connected
	catalog *catalog     // the last good one; nil before the first
	tries   int          // attempts of this outage; those of the last one until that is over
	why     string       // of the last failure, one line, without secrets
	stderr  string       // without secrets
	seen    map[string]struct{}
}

func newLink(b *Bridge, s Server, prefix string) *link {
	l := &link{
		b: b, s: s, prefix: prefix,
		fingerprint: s.Fingerprint(),
		address:     s.Address(),
		hidden:      secretsOf(s),
		log: b.log.With().Str("server", s.Name).Logger().Sample(zerolog.LevelSampler{
			WarnSampler: &zerolog.BurstSampler{Burst: maxWarnings, Period: time.Minute},
		}),
		kick:  make(chan struct{}, 1),
		state: server.Connecting,
		seen:  make(map[string]struct{}),
	}
	if s.Dir == "" {
		l.s.Dir = b.session.Dir
	}
	switch {
	case s.Off != "":
		l.state, l.why, l.met = server.Disabled, s.Off, true
	case s.Trouble != "":
		l.state, l.why, l.met = server.Failed, s.Trouble, true
	}
	return l
}

// usable reports whether the server may be contacted at all.
func (l *link) usable() bool { return l.s.Off == "" && l.s.Trouble == "" }

// run keeps the server connected until ctx ends. The connection that is left then is
// that of the link.
func (l *link) run(ctx context.Context) {
	c := l.adopt(ctx)
	var pause time.Duration
	if c == nil {
		pause = l.recall()
	}
	first := pause == 0
	for {
		for c == nil {
			if !l.rest(ctx, pause) {
				return
			}
			var err error
			before := l.attempts()
			if c, err = l.attempt(ctx, first); err != nil {
				if ctx.Err() != nil || errors.Is(err, errClosed) {
					l.cutShort(before)
					return
				}
				pause = l.failed(err)
			}
			first = false
		}
		err := l.serve(ctx, c)
		if ctx.Err() != nil && l.holds(c) {
			return
		}
		pause = l.down(c, err)
		l.shut(ctx, c) // the old program is gone before a new one starts
		c = nil
	}
}

// recall goes on with the outage that another bridge of the pool has found the server in
// of late, and returns how long to wait for the next attempt (C095).
func (l *link) recall() (pause time.Duration) {
	past := l.b.pool.recall(l.fingerprint)
	if past.tries == 0 {
		return 0
	}
	pause = max(0, time.Until(past.until))
	l.b.change(func() {
		l.tries, l.why, l.last = past.tries, past.why, past.state
		l.met, l.dialing = pause > 0, pause == 0
	})
	return pause
}

// rest waits for d, forever if that is never, or until an attempt is wanted at once. It
// reports whether to go on.
func (l *link) rest(ctx context.Context, d time.Duration) bool {
	var over <-chan time.Time
	if d != never {
		t := time.NewTimer(d)
		defer t.Stop()
		over = t.C
	}
	select {
	case <-ctx.Done():
	case <-over:
	case <-l.kick:
	}
	return ctx.Err() == nil
}

// attempt connects the server and reads its tools. All but the first attempt wait for
// their turn among those of the pool (R-MCP-11).
func (l *link) attempt(ctx context.Context, first bool) (*conn, error) {
	if !first {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case l.b.pool.redials <- struct{}{}:
			defer func() { <-l.b.pool.redials }()
		}
	}
	open := l.b.change(func() {
		l.tries, l.state, l.dialing = l.tries+1, server.Connecting, true
		select {
		case <-l.kick: // what was wanted at once is this
		default:
		}
	})
	if !open { // and ctx about to end
		return nil, errClosed
	}
	c, err := l.dial(ctx)
	if err != nil {
		return nil, err
	}
	mark, _ := c.mark(client.Tools)
	specs, err := l.readTools(ctx, c)
	if err == nil {
		c.done(client.Tools, mark)
		for _, k := range c.peer.About().Has {
			if k != client.Tools { // what else it has is read beside the first sends
				c.changed(k)
			}
		}
		if l.up(c, l.catalogue(c, specs, nil)) {
			return c, nil
		}
		err = errClosed
	}
	l.shut(ctx, c)
	return nil, err
}

// dial connects the server.
func (l *link) dial(ctx context.Context) (*conn, error) {
	limit := l.s.connect()
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	p, key := l.b.pool, l.s.place()
	c := newConn(l.b.session.Host, l.s.Name)
	o := client.Options{
		Name: p.o.Name, Version: p.o.Version,
		Era:     p.o.Eras.Era(key),
		HTTP:    l.s.Kind != Stdio,
		Label:   l.s.Name,
		Changed: func(k client.Kind) { c.changed(k) },
		Quit:    ctx.Done(),
		Hide:    l.hidden.hide,
		Log:     l.log,
	}
	if l.b.session.Host != nil {
		o.Host = c
	}
	peer, err := p.o.Connect(within, l.s, o)
	switch {
	case err == nil:
	case within.Err() != nil && ctx.Err() == nil:
		return nil, fmt.Errorf("no answer within %s: %w", span(limit), err)
	default:
		return nil, err
	}
	c.peer, c.since = peer, time.Now()
	if era := peer.About().Era; era != o.Era && era != client.Unknown {
		p.o.Eras.Remember(key, era)
	}
	return c, nil
}

// adopt takes over the connection that the session has left behind, or returns nil.
func (l *link) adopt(ctx context.Context) *conn {
	at := berth{l.b.session.ID, l.fingerprint}
	k, ok := l.b.pool.take(at, nil)
	if !ok {
		return nil
	}
	c := k.conn
	select {
	case <-c.peer.Done():
	default:
		if !c.enter(l.b.session.Host, l.s.Name) {
			break
		}
		if l.up(c, l.catalogue(c, k.catalog.specs, k.catalog)) {
			return c
		}
		if l.b.pool.park(ctx, at, k) { // the session was closed before it had the connection
			return nil
		}
	}
	l.shut(ctx, c)
	return nil
}

// up makes a connection and what it has visible, unless the bridge is closed (R-MCP-12).
func (l *link) up(c *conn, have *catalog) bool {
	ok := l.b.change(func() {
		l.state, l.conn, l.met, l.missed, l.dialing = server.Connected, c, true, false, false
		l.last, l.why, l.stderr = "", "", ""
		l.use(have)
	})
	l.b.announce()
	about := c.peer.About()
	l.log.Debug().Str("program", about.Name).Str("version", about.Version).Str("revision", about.Revision).
		Int("tools", len(have.tools)).Msg("server connected")
	return ok
}

// use makes have what the server has. Its caller holds b.mu.
func (l *link) use(have *catalog) {
	l.catalog = have
	for _, t := range have.tools {
		if len(l.seen) < maxSeen {
			l.seen[t.info.Name] = struct{}{}
		}
	}
}

// serve watches over a connection until it is lost, and says why, or until ctx ends.
func (l *link) serve(ctx context.Context, c *conn) error {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { l.refresh(ctx, c) })
	defer wg.Wait()
	defer cancel()
	settled := time.NewTimer(time.Until(c.since.Add(steady)))
	defer settled.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-c.peer.Done():
			return c.peer.Err()
		case err := <-c.lost:
			return err
		case <-settled.C:
			l.settle()
		}
	}
}

// settle ends the outage before a connection that has lasted.
func (l *link) settle() {
	l.b.change(func() { l.tries = 0 })
	l.b.pool.forget(l.fingerprint)
}

// down gives up a connection that is lost and returns how long to wait before the next
// attempt. An expired session is begun anew at once, once: nothing is wrong with the
// server (C089).
func (l *link) down(c *conn, err error) time.Duration {
	if time.Since(c.since) >= steady {
		l.settle()
	}
	l.detach(c, err)
	pause := l.failed(err)
	if errors.Is(err, transport.ErrSession) && l.attempts() <= 1 {
		return 0
	}
	return pause
}

// detach makes a connection that is lost invisible, unless another has taken its place.
func (l *link) detach(c *conn, err error) {
	l.b.change(func() {
		if l.conn != c {
			return
		}
		l.conn, l.state, l.why = nil, server.Connecting, l.reason(err)
	})
	l.b.announce()
}

// lose is how a call tells that its connection is broken (R-MCP-24).
func (l *link) lose(c *conn, err error) {
	l.detach(c, err)
	c.broken(err)
}

func (l *link) holds(c *conn) bool {
	l.b.mu.Lock()
	defer l.b.mu.Unlock()
	return l.conn == c
}

func (l *link) attempts() int {
	l.b.mu.Lock()
	defer l.b.mu.Unlock()
	return l.tries
}

// failed records why there is no connection, and returns how long to wait before the
// next attempt: as long as the server wants, if that is longer than it would be anyway.
// Never leaves it to a send: what an attempt cannot change is not tried again on its own.
func (l *link) failed(err error) time.Duration {
	next, state := max(pause(l.attempts()), leftAlone(err)), server.Connecting
	until := time.Now().Add(next)
	status, refused := errors.AsType[*transport.StatusError](err)
	switch {
	case refused && status.Status == 401 && !status.Rejected:
		next, state = never, server.NeedsLogin
	case refused && (status.Status == 401 || status.Status == 403), l.attempts() >= maxTries:
		next, state = never, server.Failed
	}
	gone, _ := errors.AsType[*transport.GoneError](err)
	var past outage
	there := l.b.change(func() {
		l.state, l.last, l.met, l.dialing, l.why = state, state, true, false, l.reason(err)
		if gone != nil {
			l.stderr = l.tail(gone.Stderr)
		}
		past = outage{tries: l.tries, until: until, state: state, why: l.why}
	})
	if !there { // what ends a session says nothing of the server
		return next
	}
	l.b.pool.remember(l.fingerprint, past)
	l.log.Debug().Str("state", string(state)).Int("attempt", past.tries).Dur("pause", next).Str("error", past.why).
		Msg("server not connected")
	return next
}

// cutShort is what [link.failed] is for an attempt that the end of the session has ended.
// In an outage, which there is if there were attempts before it, it counts like the
// others, or a session that comes and goes faster than the server fails would dial each
// time (C095). One that is the first says nothing of the server.
func (l *link) cutShort(before int) {
	l.b.mu.Lock()
	past := outage{tries: l.tries, state: cmp.Or(l.last, server.Connecting), why: l.why}
	l.b.mu.Unlock()
	if before == 0 || past.tries == before {
		return
	}
	past.until = time.Now().Add(pause(past.tries))
	l.b.pool.remember(l.fingerprint, past)
}

// shut ends a connection. Where ctx has ended it is killed at once.
func (l *link) shut(ctx context.Context, c *conn) { shut(ctx, c, l.s.Kind) }

func shut(ctx context.Context, c *conn, kind Kind) {
	limit := closeAddress
	if kind == Stdio {
		limit = closeProgram
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	_ = c.peer.Close(ctx) // that it did not end in time is what the kill is for
}
