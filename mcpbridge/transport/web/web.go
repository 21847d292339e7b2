package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/lorimer-dev/lorimer/mcpbridge/internal/lifetime"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport/internal/inbox"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport/internal/rpc"
)

// Options say where the server is, and how it is reached. URL is required.
type Options struct {
	URL     string            // https://… or http://…, where messages are sent to
	SSE     bool              // the server is of 2024-11-05: URL is that of its event stream
	Headers map[string]string // of each request; secret
	Auth    Authorizer        // has the credential; nil is nobody. It goes before a header Authorization
	// HTTP makes the connections; it is not closed. Nil is a transport of its own,
	// through the proxies of the environment.
	HTTP http.RoundTripper

	MaxMessage int // bytes of a message; default 64 MiB

	Label   string   // of the server, in the log
	Secrets []string // values that must not stand in what an error quotes; those below 6 bytes are too short to be found
	Log     zerolog.Logger
}

const (
	ending  = 2 * time.Second  // for the server to end a session, beside the bound of Close
	telling = 10 * time.Second // for a message that nobody waits for to be taken

	// maxRefused is how many requests of a server are at least refused, in a message each,
	// where it asks more than is answered at a time.
	maxRefused = 128
)

// errClosed is why a transport ended that was closed.
var errClosed = fmt.Errorf("%w: the connection was closed", transport.ErrGone)

// A Transport is an address and the messages that are exchanged with it. It implements
// [transport.Transport].
type Transport struct {
	o    Options         // HTTP is not nil
	url  *url.URL        // nil before Start
	own  *http.Transport // made here, to be ended here; nil where there is another
	done chan struct{}

	mu    sync.Mutex         // guards the fields below
	life  *lifetime.Lifetime // nil before Start
	inbox *inbox.Inbox       // with life
	way   way                // with life
	err   error              // why done is closed
	last  uint64             // id of a request
}

var _ transport.Transport = (*Transport)(nil)

// A way is how messages are carried. Errors of its methods are those that a transport
// returns, but that an end of ctx is only looked at by its caller.
type way interface {
	// call sends a request and returns what it is answered with.
	call(ctx context.Context, id uint64, r transport.Request) (json.RawMessage, error)
	// post sends a message that is not answered.
	post(ctx context.Context, method string, body []byte) error
	// told hears that a notification has been sent.
	told(method string)
	// negotiated hears which revision is spoken.
	negotiated(revision string)
	// cancels reports whether a request is cancelled by a message, and not by the end
	// of its stream.
	cancels() bool
	// end tells the server that nothing more will come.
	end(ctx context.Context)
}

// New returns a transport to the address of o.
func New(o Options) *Transport {
	o.MaxMessage = cmp.Or(o.MaxMessage, 64<<20)
	o.Log = o.Log.With().Str("server", o.Label).Logger()
	t := &Transport{o: o, done: make(chan struct{})}
	if o.HTTP == nil {
		t.own = http.DefaultTransport.(*http.Transport).Clone()
		t.o.HTTP = t.own
	}
	return t
}

// Start checks the address, and opens the event stream of a server of 2024-11-05. Others
// are not contacted before the first message. It can be called once.
func (t *Transport) Start(ctx context.Context, h transport.Handler) error {
	u, err := parseAddress(t.o.URL)
	if err == nil {
		err = checkHeaders(t.o.Headers)
	}
	if err != nil {
		return err
	}
	t.mu.Lock()
	switch {
	case t.err != nil:
		err = t.err
	case t.life != nil:
		err = errors.New("the transport was started before")
	default:
		t.url, t.life = u, lifetime.New(ctx)
		t.inbox = inbox.New(inbox.Options{Handler: h, Life: t.life, Reply: t.reply, Refused: maxRefused, Log: t.o.Log})
		t.way = &streamable{t: t}
	}
	t.mu.Unlock()
	if err != nil || !t.o.SSE {
		return err
	}
	return t.older(ctx)
}

// older changes to the way of 2024-11-05.
func (t *Transport) older(ctx context.Context) error {
	if !t.life.Enter() {
		return errClosed
	}
	defer t.life.Leave()
	w, err := openEventStream(ctx, t)
	if err != nil {
		return t.failed(ctx, err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.way = w
	return nil
}

// begin returns the way for a message, unless there is none any more. Whoever has begun
// calls t.life.Leave.
func (t *Transport) begin() (way, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.err != nil:
		return nil, transport.Unsent(t.err)
	case t.life == nil:
		return nil, transport.Unsent(errors.New("the transport was not started"))
	case !t.life.Enter():
		return nil, transport.Unsent(errClosed)
	}
	return t.way, nil
}

// next returns the id of a request.
func (t *Transport) next() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last++
	return t.last
}

// Call sends a request and returns the result. A server that refuses the handshake as one
// that does not know streamable HTTP is asked in the older way. When a stream breaks in
// the middle of a call, it is taken up where it was if the server can do that.
func (t *Transport) Call(ctx context.Context, r transport.Request) (json.RawMessage, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	w, err := t.begin()
	if err != nil {
		return nil, err
	}
	defer t.life.Leave()
	id := t.next()
	result, err := w.call(ctx, id, r)
	if err == nil {
		return result, nil
	}
	if refused, ok := errors.AsType[*refusal](err); ok {
		if t.mayBeOlder(w, r, refused) && ctx.Err() == nil {
			return t.callOlder(ctx, r, refused)
		}
		err = refused.asError(id)
	}
	if ctx.Err() != nil && w.cancels() && r.Method != "initialize" && r.Method != "server/discover" {
		t.abandon(id)
	}
	return nil, t.failed(ctx, err)
}

// mayBeOlder reports whether a refusal is that of a server which may know the older way.
func (t *Transport) mayBeOlder(w way, r transport.Request, refused *refusal) bool {
	s, ok := w.(*streamable)
	return ok && r.Method == "initialize" && refused.unknown() && !s.isKnown()
}

// callOlder sends r in the older way, if there is one.
func (t *Transport) callOlder(ctx context.Context, r transport.Request, refused *refusal) (json.RawMessage, error) {
	if err := t.older(ctx); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%w; nor is it an event stream of MCP 2024-11-05: %v", refused.status, err)
	}
	t.o.Log.Debug().Int("status", refused.status.Status).Msg("the server speaks the older way over HTTP")
	return t.Call(ctx, r)
}

// failed returns err as that of a call with ctx, and ends t where it says that nothing
// more can come.
func (t *Transport) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if refused, ok := errors.AsType[*refusal](err); ok {
		err = refused.asError(0)
	}
	if errors.Is(err, transport.ErrSession) {
		t.die(err)
	}
	if t.life.Context().Err() != nil && !errors.Is(err, transport.ErrGone) {
		return t.Err()
	}
	return err
}

// abandon tells the server that nobody waits for a request any more.
func (t *Transport) abandon(id uint64) {
	t.life.Start(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, telling)
		defer cancel()
		if err := t.Notify(ctx, "notifications/cancelled", rpc.Abandoned(id)); err != nil {
			t.o.Log.Debug().Err(err).Msg("a cancellation was not sent")
		}
	})
}

// Notify sends a notification.
func (t *Transport) Notify(ctx context.Context, method string, params json.RawMessage) error {
	w, err := t.begin()
	if err != nil {
		return err
	}
	defer t.life.Leave()
	joint, _, cancel := t.life.Within(ctx)
	defer cancel()
	if err := w.post(joint, method, rpc.Message(nil, method, "params", params)); err != nil {
		return t.failed(ctx, err)
	}
	w.told(method)
	return nil
}

// reply sends the answer to a request of the server.
func (t *Transport) reply(ctx context.Context, answer []byte) {
	ctx, cancel := context.WithTimeout(ctx, telling)
	defer cancel()
	w, err := t.begin()
	if err == nil {
		defer t.life.Leave()
		err = w.post(ctx, "", answer)
	}
	if err != nil {
		t.o.Log.Debug().Err(err).Msg("an answer was not sent")
	}
}

// Negotiated tells the revision, which stands in the headers from then on. With one that
// has a handshake the stream of what the server sends of its own accord is opened when
// that has ended.
func (t *Transport) Negotiated(revision string) {
	t.mu.Lock()
	w := t.way
	t.mu.Unlock()
	if w != nil {
		w.negotiated(revision)
	}
}

// Done is closed when the transport was closed, its session has expired, or the event
// stream of the older way has ended.
func (t *Transport) Done() <-chan struct{} { return t.done }

// Err returns why Done is closed, and nil before.
func (t *Transport) Err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// die ends what can begin; the first reason counts.
func (t *Transport) die(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		t.err = err
		close(t.done)
	}
}

// Close ends what runs and then, within ctx and 2 s, the session of the server. It
// returns when everything is gone, the calls of the handler too; so the handler must not
// call it. An error names what is left.
func (t *Transport) Close(ctx context.Context) error {
	t.die(errClosed)
	t.mu.Lock()
	life, w, in := t.life, t.way, t.inbox
	t.mu.Unlock()
	if t.own != nil {
		defer t.own.CloseIdleConnections()
	}
	if life == nil {
		return nil
	}
	in.Drop()
	life.End(nil)
	bounded, cancel := context.WithTimeout(ctx, ending)
	defer cancel()
	w.end(bounded)
	if life.Wait(ctx) != nil {
		return errors.New("a request is still under way")
	}
	return nil
}
