package wire

import (
	"context"
	"encoding/json"
	"sync"
)

// A Handler is what a connection talks to.
type Handler interface {
	// Admit is told of each request on the reader's goroutine, in the order of
	// arrival, before the next frame is read. It must not block. It returns the
	// name of the queue that the request belongs to; a request of the queue ""
	// runs at once.
	Admit(r *Request) (queue string)

	// Serve answers r. Requests of one queue begin in the order of arrival: the
	// next begins when its predecessor has been answered or has called
	// [Request.Release]. A nil result is sent as null. An [Error] in err's chain
	// is sent as it is; any other error becomes −32603 with a text that tells
	// nothing, or −32800 if ctx was cancelled and err says so.
	Serve(ctx context.Context, r *Request) (result any, err error)

	// Notify is told of each notification, in order with the requests, on the
	// reader's goroutine. It must not block. params is nil if there are none,
	// else valid JSON.
	Notify(method string, params json.RawMessage)
}

// A Request is a request of the peer.
type Request struct {
	ID     json.RawMessage // a string or a number, byte for byte as it came
	Method string

	// Params is an object or an array, valid JSON in UTF-8; nil if absent or
	// null. It is a slice of the line: Serve sets it to nil when it has read it
	// and goes on for long, so that a long line does not live as long as r.
	Params json.RawMessage

	key    string // identifies ID among the requests in flight
	cancel context.CancelCauseFunc
	queues []string
	prev   []<-chan struct{} // begun of the predecessors in the queues
	begun  chan struct{}     // closed when the successors in the queues may begin
	once   sync.Once         // for closing begun

	mu    sync.Mutex // guards after
	after []func()
}

// Cancel ends the context of the request, also before Serve has begun. The
// first cause counts. It is safe to call at any time, by anyone.
func (r *Request) Cancel(cause error) {
	if r.cancel != nil {
		r.cancel(cause)
	}
}

// Follow puts r into a further queue beside the one that Admit returns: it begins
// when its predecessors in all of them let it, and each of its successors waits
// for it. Only [Handler.Admit] may call it. The queue "" is none.
func (r *Request) Follow(queue string) {
	if queue != "" {
		r.queues = append(r.queues, queue)
	}
}

// Release lets the next request of its queues begin, though this one goes on.
func (r *Request) Release() {
	r.once.Do(func() {
		if r.begun != nil {
			close(r.begun)
		}
	})
}

// After has f run once the response has been written, before the next request
// of the queue begins, unless [Request.Release] was called. f may write to the
// connection. It does not run if the response could not be written. After must
// be called before Serve returns.
func (r *Request) After(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.after = append(r.after, f)
}

func (r *Request) hooks() []func() {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.after
}
