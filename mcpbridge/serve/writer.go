package serve

import (
	"errors"
	"fmt"
	"io"
	"sync"
)

// errShut is returned for what cannot be written any more.
var errShut = errors.New("the output is closed")

// gather is how many bytes are written at once where several messages wait.
const gather = 64 << 10

// A writer owns the output: its goroutine alone writes. Whoever has a message leaves
// it in the queue, whole and with its line feed.
type writer struct {
	out  io.Writer
	max  int           // bytes that may wait
	wake chan struct{} // holds a token when there is something to look at
	dead chan struct{} // closed when nothing will be written any more

	mu      sync.Mutex // guards the fields below
	waiting [][]byte
	bytes   int           // in waiting
	room    chan struct{} // closed when waiting was taken; nil while nobody wants room
	closing bool          // nothing is accepted any more
	err     error         // why it is dead
}

func newWriter(out io.Writer, limit int) *writer {
	return &writer{out: out, max: limit, wake: make(chan struct{}, 1), dead: make(chan struct{})}
}

// put leaves a message in the queue and waits while that is full, until done is
// closed. The bound counts share times: what the reader itself answers may use more
// of it, so that calls do not keep it from reading.
func (w *writer) put(done <-chan struct{}, message []byte, share int) error {
	for {
		room, err := w.try(message, share)
		if room == nil {
			return err
		}
		select {
		case <-room:
		case <-w.dead:
		case <-done:
			return errShut
		}
	}
}

// offer leaves a message in the queue if that has room.
func (w *writer) offer(message []byte) {
	w.try(message, 1) // nobody misses it
}

// try leaves a message in the queue, or returns a channel that is closed when it is
// worth while to try again. A message longer than the bound finds room in an empty
// queue.
func (w *writer) try(message []byte, share int) (room <-chan struct{}, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.err != nil:
		return nil, w.err
	case w.closing:
		return nil, errShut
	case len(w.waiting) > 0 && w.bytes+len(message) > share*w.max:
		if w.room == nil {
			w.room = make(chan struct{})
		}
		return w.room, nil
	}
	w.waiting = append(w.waiting, message)
	w.bytes += len(message)
	w.nudge()
	return nil, nil
}

func (w *writer) nudge() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// close lets run return when all that waits is written.
func (w *writer) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closing = true
	w.nudge()
}

// fail gives up what waits, and those who wait for room.
func (w *writer) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return
	}
	w.err, w.waiting, w.bytes = err, nil, 0
	close(w.dead)
	w.nudge()
}

// run writes until close or fail.
func (w *writer) run() {
	for {
		batch, ok := w.take()
		if !ok {
			w.fail(errShut)
			return
		}
		if err := w.write(batch); err != nil {
			w.fail(fmt.Errorf("writing output: %w", err))
			return
		}
	}
}

// take returns all that waits as soon as there is something, and false at the end.
func (w *writer) take() ([][]byte, bool) {
	for {
		w.mu.Lock()
		batch, end := w.waiting, w.closing || w.err != nil
		w.waiting, w.bytes = nil, 0
		if w.room != nil {
			close(w.room)
			w.room = nil
		}
		w.mu.Unlock()
		if len(batch) > 0 || end {
			return batch, len(batch) > 0
		}
		<-w.wake
	}
}

// write writes messages, small ones together.
func (w *writer) write(batch [][]byte) error {
	var small []byte
	flush := func() error {
		if len(small) == 0 {
			return nil
		}
		_, err := w.out.Write(small)
		small = small[:0]
		return err
	}
	for i, m := range batch {
		batch[i] = nil // a big one is not kept while the next is written
		if len(small)+len(m) > gather {
			if err := flush(); err != nil {
				return err
			}
		}
		if len(batch) == 1 || len(m) > gather {
			if _, err := w.out.Write(m); err != nil {
				return err
			}
			continue
		}
		small = append(small, m...)
	}
	return flush()
}
