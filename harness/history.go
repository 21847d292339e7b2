package harness

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lorimer-dev/lorimer/harness/model/normalise"
	"github.com/lorimer-dev/lorimer/harness/thread"
)

// grace is how long a write may take after its turn was cancelled.
const grace = 5 * time.Second

// errEnough ends a reading of a thread before its end.
var errEnough = errors.New("enough was read")

// survey reads what the thread is like before this turn.
func (t *turn) survey(ctx context.Context) error {
	var err error
	if t.info, err = t.o.Threads.Info(ctx, t.s.id); err != nil {
		return err
	}
	t.revision = t.info.Revision
	if t.in.Retry {
		t.revision++
		return t.recall(ctx)
	}
	return nil
}

// recall makes the user's last message the one of this turn.
func (t *turn) recall(ctx context.Context) error {
	if t.info.User == 0 {
		return fmt.Errorf("%w: there is none that could be answered anew", ErrNoEntry)
	}
	err := t.o.Threads.Read(ctx, t.s.id, t.info.User-1, func(e thread.Entry) error {
		if u, ok := e.Body.(thread.User); ok {
			t.in.MessageID, t.in.Blocks = u.MessageID, u.Blocks
		}
		return errEnough
	})
	if err != nil && !errors.Is(err, errEnough) {
		return fmt.Errorf("reading the thread: %w", err)
	}
	return nil
}

// build sets the model up and reads the conversation that it continues
// (R-HARN-07). Its error is the cause of ctx once that has ended.
func (t *turn) build(ctx context.Context) (*harness, error) {
	h := &harness{conv: new(thread.Conversation), mark: t.info.Mark}
	var err error
	if h.model, err = t.snap.Open(ctx); err != nil {
		err = &modelError{err}
	} else {
		err = t.catchUp(ctx, h.conv, &h.gauge)
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return h, err
}

// A modelError is why no model could be set up. It reads as its cause.
type modelError struct{ error }

func (e *modelError) Unwrap() error { return e.error }

// catchUp continues a conversation with what is stored after it. The gauge, which
// may be nil, hears what the provider has counted of it.
func (t *turn) catchUp(ctx context.Context, conv *thread.Conversation, g *gauge) error {
	ref := t.snap.Model.Ref()
	if g != nil {
		t.reader(g)
	}
	err := t.o.Threads.Read(ctx, t.s.id, conv.Last(), func(e thread.Entry) error {
		if a, ok := e.Body.(thread.Assistant); ok && g != nil && !a.Void && a.Model == ref {
			g.recall(conv.Messages(), a.Usage, a.Parts)
		}
		conv.Add(e)
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading the thread: %w", err)
	}
	return nil
}

// reader says to g who reads the prompts of the turn.
func (t *turn) reader(g *gauge) { g.reader(normalise.Vendor(t.snap.Model.Ref()), len(t.wire) > 0) }

// take gets the harness, and brings the conversation of a live one up to date:
// another process may have answered since (R-ACP-53).
func (t *turn) take(ctx context.Context) error {
	for {
		l, err := t.s.e.pool.get(ctx, t.s.id, t.sig, t.build)
		switch {
		case errors.Is(err, errAborted) && ctx.Err() == nil:
			continue // another session of the thread was closed meanwhile
		case err != nil:
			return err
		}
		t.lease = l
		last := l.conv.Last()
		if l.how != reused || l.mark == t.info.Mark && last <= t.info.Last {
			if last < t.info.Last {
				return t.catchUp(ctx, l.conv, &l.gauge)
			}
			return nil
		}
		// The thread was deleted, and this one has only its name.
		t.s.e.pool.forget(t.s.id)
		t.s.e.pool.release(l)
		t.lease = lease{}
	}
}

// append stores bodies and continues the live conversation with them.
func (t *turn) append(ctx context.Context, bodies ...thread.Body) error {
	entries, err := t.keep(ctx, bodies...)
	for _, e := range entries {
		t.lease.conv.Add(e)
	}
	return err
}

// keep stores bodies. What has happened is stored also when the turn has been
// cancelled meanwhile.
func (t *turn) keep(ctx context.Context, bodies ...thread.Body) ([]thread.Entry, error) {
	lasting, cancel := outlive(ctx, grace)
	defer cancel()
	entries, err := t.o.Threads.Append(lasting, t.s.id, t.hold.holder.Token, bodies...)
	if err != nil {
		t.unstored(ctx, err)
		return nil, fmt.Errorf("storing the turn: %w", err)
	}
	for _, e := range entries {
		if t.seq == 0 && opens(e.Body) {
			t.seq = e.Seq
		}
	}
	return entries, nil
}

// unstored sees to what follows from an append that did not work. It may have
// been stored all the same, so the live conversation is given up.
func (t *turn) unstored(ctx context.Context, err error) {
	t.s.e.pool.forget(t.s.id)
	if errors.Is(err, ErrLost) {
		t.hold.lost()
	}
	if ctx.Err() != nil { // a cancelled turn is no error, so nobody else tells
		t.log.Error().Err(err).Msg("the end of a cancelled turn is not stored")
	}
}

// stored returns the id of the user's message once the thread has it, or has that
// it is answered anew; "" before that.
func (t *turn) stored() string {
	if t.seq == 0 {
		return ""
	}
	return t.in.MessageID
}

// opens reports whether b is the first entry of a turn.
func opens(b thread.Body) bool {
	switch b.(type) {
	case thread.User, thread.Retried:
		return true
	}
	return false
}

// outlive returns a context that ends d after ctx.
func outlive(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(d, cancel)
		context.AfterFunc(out, func() { timer.Stop() })
	})
	return out, func() {
		stop()
		cancel()
	}
}
