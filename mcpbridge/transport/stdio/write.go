package stdio

import (
	"context"
	"errors"
	"io"
	"os"
	"time"
)

// A sink is the input of a program.
type sink interface {
	io.WriteCloser
	SetWriteDeadline(time.Time) error
}

// errGone is for a message that waited for its turn when the program went.
var errGone = errors.New("gone")

// chunk is how much is written within one time limit.
const chunk = 64 << 10

// A writer writes whole messages, one after the other.
type writer struct {
	out   sink
	limit time.Duration // of a chunk
	turn  chan struct{} // holds a token while somebody writes
}

func newWriter(out sink, limit time.Duration) *writer {
	return &writer{out: out, limit: limit, turn: make(chan struct{}, 1)}
}

// write writes a message and returns how much of it was taken. It returns soon after
// ctx has ended, even when nobody reads; so it does when gone is closed and the
// output with it.
func (w *writer) write(ctx context.Context, gone <-chan struct{}, message []byte) (int, error) {
	select {
	case w.turn <- struct{}{}:
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-gone:
		return 0, errGone
	}
	defer func() { <-w.turn }()

	interrupted := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(interrupted)
		w.deadline(time.Unix(1, 0))
	})
	defer func() {
		if !stop() {
			<-interrupted // the next one sets a deadline of its own
		}
	}()
	return w.parts(ctx, message)
}

func (w *writer) parts(ctx context.Context, message []byte) (written int, err error) {
	for written < len(message) {
		w.deadline(time.Now().Add(w.limit))
		if err := ctx.Err(); err != nil { // before the deadline was set
			return written, err
		}
		n, err := w.out.Write(message[written:min(written+chunk, len(message))])
		written += n
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return written, ctx.Err()
		case errors.Is(err, os.ErrDeadlineExceeded):
			return written, errUnread
		default:
			return written, err
		}
	}
	return written, nil
}

// deadline sets the deadline. Where the system has none for pipes, the end of the
// program is what ends a write.
func (w *writer) deadline(t time.Time) { _ = w.out.SetWriteDeadline(t) }

// close closes the output, at any time and more than once.
func (w *writer) close() { _ = w.out.Close() } // it may be closed, or the reader gone
