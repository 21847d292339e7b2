package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
)

const (
	writeSize = 64 << 10 // bytes that are gathered for one write
	keepSize  = 64 << 10 // largest buffer that is kept for the next message
)

// errGaveUp is returned by put when its caller no longer wants to wait.
var errGaveUp = errors.New("gave up waiting for the output")

// errFrame means a bug of a caller.
var errFrame = errors.New("frame is not one line")

// A buffer holds one encoded message with its line feed.
type buffer struct{ b []byte }

func (b *buffer) Write(p []byte) (int, error) {
	b.b = append(b.b, p...)
	return len(p), nil
}

// An entry is a message that waits to be written.
type entry struct {
	frame   Frame // nil if it never merges
	buf     *buffer
	written chan struct{} // closed once it has been written; nil if nobody asks
}

// A writer owns the output: only its goroutine writes. Whoever has a message
// encodes it and leaves it in the queue. The writer takes all that waits at
// once, so messages merge while a write is under way, and one that finds the
// writer idle is written without delay.
type writer struct {
	out       io.Writer
	maxBytes  int
	maxFrames int

	wake chan struct{} // holds a token when the writer has something to look at
	dead chan struct{} // closed when nothing will be written any more

	mu      sync.Mutex // guards the fields below
	waiting []entry
	bytes   int           // in waiting
	room    chan struct{} // closed when waiting has been taken; nil if nobody wants room
	closing bool          // nothing is accepted any more
	err     error         // why the writer is dead

	buffers sync.Pool

	// The fields below belong to the writer's goroutine.
	gathered []byte          // for one write
	asked    []chan struct{} // to close after that write
}

func newWriter(out io.Writer, maxBytes, maxFrames int) *writer {
	return &writer{
		out:       out,
		maxBytes:  maxBytes,
		maxFrames: maxFrames,
		wake:      make(chan struct{}, 1),
		dead:      make(chan struct{}),
		buffers:   sync.Pool{New: func() any { return new(buffer) }},
	}
}

// buffer returns an empty buffer. It comes back to the pool by way of put.
func (w *writer) buffer() *buffer { return w.buffers.Get().(*buffer) }

func (w *writer) recycle(b *buffer) {
	if cap(b.b) <= keepSize {
		b.b = b.b[:0]
		w.buffers.Put(b)
	}
}

// send encodes f and puts it into the queue.
func (w *writer) send(f Frame) error {
	b := w.buffer()
	b.b = append(f.Append(b.b), '\n')
	if bytes.IndexByte(b.b, '\n') != len(b.b)-1 {
		w.recycle(b)
		return errFrame
	}
	return w.put(nil, entry{frame: f, buf: b}, 1)
}

// put appends e to the queue. While the queue is full it waits, until done is
// closed. The queue's bounds count share times: answers of the reader itself
// may use more of it than a turn, so that a turn does not keep the reader
// waiting. A message longer than the bound finds room in an empty queue.
func (w *writer) put(done <-chan struct{}, e entry, share int) error {
	for {
		room, err := w.tryPut(e, share)
		if err != nil {
			w.recycle(e.buf)
			return err
		}
		if room == nil {
			return nil
		}
		select {
		case <-room:
		case <-w.dead:
		case <-done:
			w.recycle(e.buf)
			return errGaveUp
		}
	}
}

// tryPut appends e to the queue, or returns a channel that is closed when it is
// worth while to try again.
func (w *writer) tryPut(e entry, share int) (room <-chan struct{}, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return nil, w.err
	}
	if w.closing {
		return nil, ErrClosed
	}
	n := len(e.buf.b)
	if len(w.waiting) > 0 && (w.bytes+n > share*w.maxBytes || len(w.waiting) >= share*w.maxFrames) {
		if w.room == nil {
			w.room = make(chan struct{})
		}
		return w.room, nil
	}
	w.waiting = append(w.waiting, e)
	w.bytes += n
	w.poke()
	return nil, nil
}

func (w *writer) poke() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// close refuses further messages. The writer ends when it has written those
// that wait.
func (w *writer) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closing = true
	w.poke()
}

// fail makes the writer dead: whoever waits for it, and whoever comes later,
// gets an error that is ErrClosed and, if it is not nil, cause. The first call
// counts.
func (w *writer) fail(cause error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return
	}
	w.err = ErrClosed
	if cause != nil {
		w.err = fmt.Errorf("%w: %w", ErrClosed, cause)
	}
	w.waiting = nil
	close(w.dead)
	w.poke()
}

// failure returns why the writer is dead; nil if it is not.
func (w *writer) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// run writes until the writer is closed, or a write fails, and returns the error
// of that. Then the writer is dead.
func (w *writer) run() error {
	var batch []entry
	for {
		var ok bool
		if batch, ok = w.take(batch); !ok {
			w.fail(nil)
			return nil
		}
		if err := w.write(batch); err != nil {
			if !readerGone(err) {
				err = fmt.Errorf("%w: %w", ErrWrite, err)
			}
			w.fail(err)
			return err
		}
		clear(batch)
	}
}

// take returns all that waits, as soon as there is something, and leaves spare
// as the room for what comes next. It reports false at the end.
func (w *writer) take(spare []entry) ([]entry, bool) {
	for {
		w.mu.Lock()
		batch, end := w.waiting, w.closing || w.err != nil
		if len(batch) > 0 {
			w.waiting, w.bytes = spare[:0], 0
			if w.room != nil {
				close(w.room)
				w.room = nil
			}
		}
		w.mu.Unlock()
		if len(batch) > 0 || end {
			return batch, len(batch) > 0
		}
		<-w.wake
	}
}

// write writes a batch, with as few writes as its size allows.
func (w *writer) write(batch []entry) error {
	for len(batch) > 0 {
		e := batch[0]
		n := merge(batch)
		if n > 1 {
			e.buf.b = append(e.frame.Append(e.buf.b[:0]), '\n')
		}
		for _, merged := range batch[1:n] {
			w.recycle(merged.buf)
		}
		batch = batch[n:]
		if err := w.gather(e.buf.b); err != nil {
			return err
		}
		if e.written != nil {
			w.asked = append(w.asked, e.written)
		}
		w.recycle(e.buf)
	}
	return w.flush()
}

// merge merges into the first entry as many of those that follow it as fit, and
// returns how many entries the first one stands for, itself included.
func merge(batch []entry) int {
	first := batch[0].frame
	n := 1
	for first != nil && n < len(batch) && batch[n].frame != nil && first.Merge(batch[n].frame) {
		n++
	}
	return n
}

// gather appends b to the next write. A large b is written from where it is.
func (w *writer) gather(b []byte) error {
	if len(w.gathered)+len(b) > writeSize {
		if err := w.flush(); err != nil {
			return err
		}
	}
	if len(b) >= writeSize {
		_, err := w.out.Write(b)
		return err
	}
	w.gathered = append(w.gathered, b...)
	return nil
}

func (w *writer) flush() error {
	if len(w.gathered) > 0 {
		if _, err := w.out.Write(w.gathered); err != nil {
			return err
		}
		w.gathered = w.gathered[:0]
	}
	for _, written := range w.asked {
		close(written)
	}
	w.asked = w.asked[:0]
	return nil
}
