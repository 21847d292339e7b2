package wire

import (
	"cmp"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// Options tunes a connection. The zero value is right for most uses.
type Options struct {
	Log         zerolog.Logger
	MaxFrame    int           // bytes of an incoming line; a longer one is answered with an error; default 64 MiB
	QueueBytes  int           // of output that waits while as much is being written; default 256 KiB
	QueueFrames int           // of output that wait while as many are being written; default 1024
	MaxRequests int           // that may be open at once; more are refused; default 10000
	Drain       time.Duration // for open requests after the end of input; default 10 min
	Grace       time.Duration // for open requests after they were cancelled; default 5 s

	// EndOfInput is called once when the input has ended, just before open calls
	// fail and open requests are waited for. It must not block.
	EndOfInput func()
}

// A Frame is a message that is encoded by hand, such as a piece of text of an
// answer. It belongs to the connection once it has been sent.
type Frame interface {
	// Append appends the message to dst: one JSON object, without a line feed.
	// It may be called more than once.
	Append(dst []byte) []byte

	// Merge takes the content of next, which was sent right after this frame
	// and waits like it, into this frame, and reports whether it did. Then next
	// is not sent.
	Merge(next Frame) bool
}

// A Conn is a connection to a peer. Its methods may be called from any
// goroutine.
type Conn struct {
	in io.Reader
	h  Handler
	o  Options
	w  *writer

	idle chan struct{} // closed once no request is open and none can come

	mu        sync.Mutex // guards the fields below
	requests  map[string]*Request
	queues    map[string]chan struct{} // by name: begun of the request that came last
	open      int                      // requests that have not ended
	stopped   bool                     // no request is admitted any more
	calls     map[int64]*call
	lastCall  int64
	noAnswers error // what calls fail with, once no answer can come
}

// New returns a connection that reads from in and writes to out. Nothing
// happens before [Conn.Serve]; what is sent earlier waits.
//
// If in and out are io.Closers, Serve closes them to end a Read or a Write that
// would keep it from returning in time; otherwise it leaves them open.
func New(in io.Reader, out io.Writer, h Handler, o Options) *Conn {
	o.MaxFrame = cmp.Or(o.MaxFrame, 64<<20)
	o.QueueBytes = cmp.Or(o.QueueBytes, 256<<10)
	o.QueueFrames = cmp.Or(o.QueueFrames, 1024)
	o.MaxRequests = cmp.Or(o.MaxRequests, 10000)
	o.Drain = cmp.Or(o.Drain, 10*time.Minute)
	o.Grace = cmp.Or(o.Grace, 5*time.Second)
	return &Conn{
		in:       in,
		h:        h,
		o:        o,
		w:        newWriter(out, o.QueueBytes, o.QueueFrames),
		idle:     make(chan struct{}),
		requests: make(map[string]*Request),
		queues:   make(map[string]chan struct{}),
		calls:    make(map[int64]*call),
	}
}

// Notify sends a notification; params that are nil are left out. Notify blocks
// while too much output waits, and returns [ErrClosed] when nothing can be
// written any more.
func (c *Conn) Notify(method string, params any) error {
	b := c.w.buffer()
	if err := b.appendCall(0, method, params); err != nil {
		c.w.recycle(b)
		return fmt.Errorf("encoding %s: %w", method, err)
	}
	return c.w.put(nil, entry{buf: b}, 1)
}

// Send sends f, in order with everything else that the caller sends. It blocks
// while too much output waits, and returns [ErrClosed] when nothing can be
// written any more.
func (c *Conn) Send(f Frame) error { return c.w.send(f) }
