package stdio

import (
	"encoding/json"
	"sync"

	"github.com/rs/zerolog"

	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
)

const (
	// waitingNotes is how many notifications may wait for the handler. Those that say
	// more than how far something is get twice the room.
	waitingNotes = 1024

	// waitingBytes bounds them by their size, alike.
	waitingBytes = 4 << 20
)

// Notes are the notifications that wait for the handler, so that whoever reads them
// never does.
type notes struct {
	h    transport.Handler
	log  zerolog.Logger
	wake chan struct{} // holds a token when there is something to look at

	mu      sync.Mutex // guards the fields below
	waiting []note
	bytes   int
	dropped int
	ended   bool
}

type note struct {
	method string
	params json.RawMessage
}

func newNotes(h transport.Handler, log zerolog.Logger) *notes {
	return &notes{h: h, log: log, wake: make(chan struct{}, 1)}
}

// put adds a notification, or drops it where too many wait.
func (q *notes) put(method string, params json.RawMessage) {
	q.mu.Lock()
	defer q.mu.Unlock()
	room := 1
	if method != "notifications/message" && method != "notifications/progress" {
		room = 2 // a list that has changed must not go under in a flood of these
	}
	size := len(method) + len(params)
	full := len(q.waiting) >= room*waitingNotes || len(q.waiting) > 0 && q.bytes+size > room*waitingBytes
	if q.ended || full {
		if q.dropped++; q.dropped == 1 && full {
			q.log.Warn().Str("method", method).Msg("notifications come faster than they are handled and are dropped")
		}
		return
	}
	q.waiting = append(q.waiting, note{method, params})
	q.bytes += size
	q.nudge()
}

func (q *notes) nudge() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// run hands the notifications to the handler until end, and then those that wait.
func (q *notes) run() {
	for {
		batch, ok := q.take()
		if !ok {
			return
		}
		for _, n := range batch {
			q.h.Notify(n.method, n.params)
		}
	}
}

// take returns all that wait as soon as there are some, and false at the end.
func (q *notes) take() ([]note, bool) {
	for {
		q.mu.Lock()
		batch, ended := q.waiting, q.ended
		q.waiting, q.bytes = nil, 0
		q.mu.Unlock()
		if len(batch) > 0 || ended {
			return batch, len(batch) > 0
		}
		<-q.wake
	}
}

// drop drops those that wait: nobody wants to hear any.
func (q *notes) drop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting, q.bytes, q.ended = nil, 0, true
	q.nudge()
}

// end lets run return.
func (q *notes) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	if q.dropped > 0 {
		q.log.Warn().Int("dropped", q.dropped).Msg("notifications were dropped")
	}
	q.nudge()
}
