package mcpbridge

import (
	"context"
	"time"
)

// A berth is where the connection of a closed session waits.
type berth struct{ session, fingerprint string }

// A parked connection waits for its session to come back.
type parked struct {
	conn    *conn
	catalog *catalog
	taken   chan struct{} // closed when somebody has it
}

// park keeps the connection of a closed session for a while, and reports whether it
// does. Programs are not to be kept: they end with their session (C085). It waits for
// nothing; ctx lends its values.
func (p *Pool) park(ctx context.Context, at berth, k parked) bool {
	k.taken = make(chan struct{})
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.parked[at]; ok || p.closed || len(p.parked) >= maxParked {
		return false
	}
	k.conn.leave()
	p.parked[at] = k
	p.ends.Go(func() { p.watch(context.WithoutCancel(ctx), at, k) })
	return true
}

// watch ends a parked connection that nobody comes back for.
func (p *Pool) watch(ctx context.Context, at berth, k parked) {
	late := time.NewTimer(parking)
	defer late.Stop()
	select {
	case <-k.taken:
		return
	case <-k.conn.peer.Done():
	case <-late.C:
	}
	if _, ok := p.take(at, k.conn); ok {
		shut(ctx, k.conn, HTTP)
	}
}

// take returns what a session has left at a berth, if that is c or c is nil.
func (p *Pool) take(at berth, c *conn) (parked, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	k, ok := p.parked[at]
	if !ok || c != nil && k.conn != c {
		return parked{}, false
	}
	delete(p.parked, at)
	close(k.taken)
	return k, true
}

// drop forgets a bridge that is closed.
func (p *Pool) drop(b *Bridge) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, b)
}
