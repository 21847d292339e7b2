package client

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
)

// Bounds of what the caller gives no bound for.
const (
	connectTimeout = time.Minute
	closeTimeout   = 10 * time.Second

	// abandonTimeout is how long the end of a server takes at most that is not wanted
	// any more before it is known: whoever cancels may be about to end itself.
	abandonTimeout = 200 * time.Millisecond
)

// Connect dials a server and finds out what it speaks, within ctx, or within a
// minute where ctx has no end. A server that is slow to start has all of that time.
//
// Where nothing is remembered, or the stateless era, the server is asked for
// server/discover; when it refuses that, or o.Probe has passed, it is initialised
// as well, and whatever answer is of use first is taken. One that ends at the first
// question is dialled again and only initialised. Otherwise it is initialised, and
// asked for server/discover when it refuses.
//
// Errors: [transport.ErrGone] and the other errors of package transport, an
// [*transport.Error] of the server, or one that names the revisions of both sides
// where they have none in common. What was dialled has been closed by then.
func Connect(ctx context.Context, dial Dial, o Options) (Peer, error) {
	o.Probe = cmp.Or(o.Probe, 5*time.Second)
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, connectTimeout, ErrTimeout)
		defer cancel()
	}
	p := newPeer(ctx, o)
	n := negotiation{p: p, first: o.Era}
	err := n.over(ctx, dial())
	if errors.Is(err, transport.ErrGone) && n.probed && ctx.Err() == nil {
		n = negotiation{p: p, first: Handshake, probed: true}
		err = n.over(ctx, dial())
	}
	if err != nil {
		p.life.End(nil)
		return nil, err
	}
	p.listen()
	return p, nil
}

// over negotiates over t, which it starts, and closes where it returns an error.
func (n *negotiation) over(ctx context.Context, t transport.Transport) error {
	n.p.t = t
	err := t.Start(ctx, handler{n.p})
	if err == nil {
		err = n.run(ctx)
	}
	if err != nil {
		if fail := giveUp(ctx, t, n.p.o.Quit); fail != nil {
			n.p.o.Log.Debug().Str("error", n.p.fault(fail)).Msg("mcp server not closed")
		}
	}
	return err
}

// giveUp closes t, whose time in ctx may be over. Where ctx is cancelled it does not take
// as long, and it ends at once with quit: what is left behind then is left for good.
func giveUp(ctx context.Context, t transport.Transport, quit <-chan struct{}) error {
	limit := closeTimeout
	if errors.Is(ctx.Err(), context.Canceled) {
		limit, quit = abandonTimeout, nil
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-quit:
			cancel()
		case <-closing.Done():
		}
	})
	defer watch.Wait()
	defer cancel()
	return t.Close(closing)
}
