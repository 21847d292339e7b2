package harness

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/lorimer-dev/lorimer/harness/internal/process"
	"github.com/lorimer-dev/lorimer/harness/thread"
)

const (
	lockTime  = 30 * time.Second // that a turn has its thread, until the lock is renewed
	lockRenew = lockTime / 3     // between two renewals
	lockAgain = time.Second      // until a renewal that did not work is tried again
)

// A hold is the lock of a thread for one turn (R-ACP-53). A goroutine renews it
// until it is released.
type hold struct {
	threads Threads
	id      string
	holder  thread.Holder
	log     zerolog.Logger
	forget  func()             // gives the live harness up for the next turn, which may begin before this one has ended
	over    func(token string) // says that the turn has ended

	lose context.CancelCauseFunc // ends the turn
	stop context.CancelFunc      // ends the renewing
	wg   sync.WaitGroup
}

// hold takes the thread id for a turn. The returned context ends with that of the
// caller, or when the lock is lost, and then its cause is an [ErrLost]. The
// caller releases the hold. It fails with a [*LockedError] while another turn
// runs, unless its process is dead, and with [ErrNotFound].
func (e *Engine) hold(ctx context.Context, id string, log zerolog.Logger) (context.Context, *hold, error) {
	self := process.Self()
	h := &hold{
		threads: e.o.Threads, id: id, log: log,
		forget: func() { e.pool.forget(id) }, over: e.tokens.forget,
		holder: thread.Holder{
			Token: e.tokens.give(), Host: self.Host, Process: self.ID, Place: self.Place, Started: self.Started,
		},
	}
	until := time.Now().Add(lockTime)
	if err := e.take(ctx, h); err != nil {
		h.over(h.holder.Token)
		return nil, nil, err
	}
	renewing, stop := context.WithCancel(context.WithoutCancel(ctx)) // a cancelled turn still stores its end
	h.stop = stop
	ctx, h.lose = context.WithCancelCause(ctx)
	h.wg.Go(func() { h.renew(renewing, until) })
	return ctx, h, nil
}

// take takes the lock of h.
func (e *Engine) take(ctx context.Context, h *hold) error {
	err := e.pastDead(ctx, h.id, h.log, func() error {
		return h.threads.Lock(ctx, h.id, h.holder, lockTime)
	})
	if _, locked := errors.AsType[*LockedError](err); err != nil && !locked && !errors.Is(err, ErrNotFound) {
		// It may be ours all the same, if the answer came too late. Where the
		// database has not answered so far, nobody waits for it once more.
		h.giveUp(ctx, lockAgain)
	}
	return err
}

// pastDead calls f, which fails with a [*LockedError] while a turn of thread id
// runs. The lock of a dead process, or of a turn that has ended, is given up, and f
// called once more: should two do so at a time, the second finds the lock of the
// first.
func (e *Engine) pastDead(ctx context.Context, id string, log zerolog.Logger, f func() error) error {
	err := f()
	other, locked := errors.AsType[*LockedError](err)
	if !locked || !dead(other.Holder) && !e.tokens.ended(other.Holder.Token) {
		return err
	}
	log.Info().Int("process", other.Holder.Process).Msg("taking over the lock of a turn that has ended")
	if err := e.o.Threads.Unlock(ctx, id, other.Holder.Token); err != nil {
		return fmt.Errorf("taking the session over: %w", err)
	}
	return f()
}

// dead reports whether the process of a holder has ended for certain.
func dead(h thread.Holder) bool {
	return process.Process{ID: h.Process, Host: h.Host, Place: h.Place, Started: h.Started}.Dead()
}

// renew keeps the lock, which is ours until the given time, until ctx ends. A
// renewal that does not work is tried again while the lock holds: the database may
// be away for a moment.
func (h *hold) renew(ctx context.Context, until time.Time) {
	for pause := lockRenew; ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		start := time.Now()
		err := h.again(ctx, until)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			until, pause = start.Add(lockTime), lockRenew
			continue
		}
		h.forget()
		if taken(err) || !time.Now().Before(until) {
			h.log.Error().Err(err).Msg("the lock of the turn is lost")
			h.lost()
			return
		}
		h.log.Warn().Err(err).Msg("the lock of the turn is not renewed")
		pause = lockAgain
	}
}

// taken reports whether a renewal failed with err because the place of the turn is
// another's.
func taken(err error) bool {
	return errors.Is(err, ErrLost) || errors.Is(err, ErrBusy) || errors.Is(err, ErrNotFound)
}

// again renews the lock. Where the process has slept for longer than the lock holds,
// another turn may have come and gone: then it is lost, although it can be had.
func (h *hold) again(ctx context.Context, until time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, min(lockRenew, max(time.Until(until), lockAgain)))
	defer cancel()
	if _, err := h.threads.Append(ctx, h.id, h.holder.Token); err != nil {
		return err
	}
	return h.threads.Lock(ctx, h.id, h.holder, lockTime)
}

// lost ends the turn, because another may have taken its place.
func (h *hold) lost() {
	h.lose(fmt.Errorf("%w; open it again to see what was answered there, and send the message once more", ErrLost))
}

// lostBy returns the error of a turn whose ctx ended because it lost its lock,
// or nil.
func lostBy(ctx context.Context) error {
	if err := context.Cause(ctx); errors.Is(err, ErrLost) {
		return err
	}
	return nil
}

// release ends the renewing, waits for that and gives the lock up. Ctx may have
// ended.
func (h *hold) release(ctx context.Context) {
	h.stop()
	h.wg.Wait()
	h.lose(nil)
	h.giveUp(ctx, grace)
	h.over(h.holder.Token)
}

// giveUp gives the lock up, if the database does that within d.
func (h *hold) giveUp(ctx context.Context, d time.Duration) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), d)
	defer cancel()
	if err := h.threads.Unlock(ctx, h.id, h.holder.Token); err != nil {
		h.log.Warn().Err(err).Msg("the lock of the turn is not given up; it ends by itself")
	}
}
