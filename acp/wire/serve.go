package wire

import (
	"cmp"
	"context"
	"errors"
	"io"
	"time"
)

const (
	// hangUpInterval is how often the output is asked whether it has a reader,
	// while open requests are waited for.
	hangUpInterval = 250 * time.Millisecond

	// parting is how long Serve waits for a Read or a Write to return once it
	// has closed what is read or written.
	parting = 100 * time.Millisecond
)

// Serve reads and answers until the input or ctx ends or the output is closed.
// It may be called once. It returns when all requests have ended and all that
// was sent has been written; how long that takes is bounded (R-ACP-05, -07):
//
//   - At the end of the input, [Options.EndOfInput] is called, calls fail, and
//     open requests get the drain time to finish while the output has a reader.
//     The result is nil, or the error that ended the input.
//   - If ctx ends, before or after that, open requests are cancelled and get the
//     time of grace. The result is the cause of ctx.
//   - If the output has no reader any more, they are cancelled just so. The
//     result is [ErrClosed], with the error of the write if there was one.
//
// A request that ignores its cancellation is left behind, and so is a Write that
// does not return; then [ErrUnfinished] is part of the result.
func (c *Conn) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	reader := start(func() error { return c.read(ctx) })
	writer := start(c.w.run)

	result := c.accept(ctx, reader)
	cause := cmp.Or(result, ErrEndOfInput)
	c.stop()
	cancel(cause)
	c.failCalls(cause)

	finished := c.leave(ctx, reader, writer)
	if finished && writer.err != nil {
		result = cmp.Or(result, c.w.failure())
	}
	if !finished {
		result = errors.Join(result, ErrUnfinished)
	}
	return result
}

// accept returns when requests are no longer to be waited for: nil if the input
// has ended, otherwise why.
func (c *Conn) accept(ctx context.Context, reader *task) error {
	select {
	case <-reader.done:
		return cmp.Or(c.drain(ctx), reader.err)
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-c.w.dead:
		return c.w.failure()
	}
}

// drain waits for open requests after the end of the input. It returns nil when
// they have ended or their time is over, and an error if nobody is there any
// more for whom to wait.
func (c *Conn) drain(ctx context.Context) error {
	c.stop()
	if c.o.EndOfInput != nil {
		c.guard("", c.o.EndOfInput)
	}
	c.failCalls(ErrEndOfInput)
	limit := time.NewTimer(c.o.Drain)
	defer limit.Stop()
	look := time.NewTicker(hangUpInterval)
	defer look.Stop()
	for {
		select {
		case <-c.idle:
			return nil
		case <-limit.C:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-c.w.dead:
			return c.w.failure()
		case <-look.C:
			if HungUp(c.w.out) {
				return ErrClosed
			}
		}
	}
}

// leave waits for the requests, which have been cancelled, then for the writer
// and for the reader. When the time of grace is over it closes what they wait
// for. It reports whether the requests and the writer have ended.
func (c *Conn) leave(ctx context.Context, reader, writer *task) bool {
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.o.Grace)
	defer cancel()
	if !reader.ended() {
		c.close(c.in)
	}
	await(grace, c.idle)
	c.w.close()
	await(grace, writer.done)
	c.w.fail(nil) // frees those who still wait for room
	if !writer.ended() {
		c.close(c.w.out)
	}
	end, cancelEnd := context.WithTimeout(context.WithoutCancel(ctx), parting)
	defer cancelEnd()
	idle := await(end, c.idle)
	wrote := await(end, writer.done)
	await(end, reader.done)
	return idle && wrote
}

// close closes f if it can be closed.
func (c *Conn) close(f any) {
	closer, ok := f.(io.Closer)
	if !ok {
		return
	}
	if err := closer.Close(); err != nil {
		c.o.Log.Debug().Err(err).Msg("closing to leave in time")
	}
}

// A task is a goroutine of Serve, which waits for it.
type task struct {
	done chan struct{}
	err  error // set when done is closed
}

func start(f func() error) *task {
	t := &task{done: make(chan struct{})}
	go func() {
		defer close(t.done)
		t.err = f()
	}()
	return t
}

// ended reports whether t has ended.
func (t *task) ended() bool {
	select {
	case <-t.done:
		return true
	default:
		return false
	}
}

// await waits for done or for the end of ctx, and reports whether it was done.
func await(ctx context.Context, done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	case <-ctx.Done():
	}
	select { // both may be true
	case <-done:
		return true
	default:
		return false
	}
}
