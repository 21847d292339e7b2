package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lorimer-dev/lorimer/mcpbridge/client"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
)

// A reply is what a fake does with a request: it returns a result as JSON, or an
// error.
type reply func(ctx context.Context, f *fake, r transport.Request) (string, error)

// A fake is a transport with a server at its end that lives in memory. It answers the
// methods that it knows, and refuses all others as servers do.
type fake struct {
	knows map[string]reply

	mu        sync.Mutex // guards the fields below
	handler   transport.Handler
	asked     []transport.Request
	notified  []string // methods that the client told
	cancelled []string // methods that the client gave up
	revision  string   // that was negotiated
	inbox     chan func()
	wg        sync.WaitGroup
	done      chan struct{}
	err       error
}

func (f *fake) Start(ctx context.Context, h transport.Handler) error {
	f.handler, f.done, f.inbox = h, make(chan struct{}), make(chan func(), 100)
	f.wg.Go(func() {
		for {
			select {
			case deliver := <-f.inbox:
				deliver()
			case <-f.done:
				return
			}
		}
	})
	return nil
}

func (f *fake) Call(ctx context.Context, r transport.Request) (json.RawMessage, error) {
	answer := f.knows[r.Method]
	if answer == nil {
		answer = refuses(transport.CodeMethodNotFound, "Method not found")
	}
	type outcome struct {
		raw string
		err error
	}
	c := make(chan outcome, 1)
	running, stop := context.WithCancel(ctx)
	defer stop()
	f.mu.Lock()
	if f.err != nil {
		f.mu.Unlock()
		return nil, f.Err()
	}
	f.asked = append(f.asked, r)
	f.wg.Go(func() {
		raw, err := answer(running, f, r)
		c <- outcome{raw, err}
	})
	f.mu.Unlock()
	select {
	case o := <-c:
		if o.err == nil {
			return json.RawMessage(o.raw), nil
		}
		return nil, o.err
	case <-f.done:
		return nil, f.Err()
	case <-ctx.Done():
		f.mu.Lock()
		defer f.mu.Unlock()
		f.cancelled = append(f.cancelled, r.Method)
		return nil, ctx.Err()
	}
}

func (f *fake) Notify(ctx context.Context, method string, params json.RawMessage) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.notified = append(f.notified, method)
	return nil
}

func (f *fake) Negotiated(revision string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.revision = revision
}

func (f *fake) Done() <-chan struct{} { return f.done }

func (f *fake) Err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

func (f *fake) Close(ctx context.Context) error {
	f.die(transport.ErrGone)
	f.wg.Wait()
	return nil
}

// die ends the server for a reason.
func (f *fake) die(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
		close(f.done)
	}
}

// tell sends a notification, and returns when it has been heard, or nobody is there.
func (f *fake) tell(method, params string) {
	heard := make(chan struct{})
	f.inbox <- func() { f.handler.Notify(method, json.RawMessage(params)); close(heard) }
	select {
	case <-heard:
	case <-f.done:
	}
}

// ask sends a request to the client.
func (f *fake) ask(ctx context.Context, method, params string) (string, error) {
	raw, err := f.handler.Request(ctx, method, json.RawMessage(params))
	return string(raw), err
}

// methods lists what the server was asked, in order.
func (f *fake) methods() (list []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.asked {
		list = append(list, r.Method)
	}
	return list
}

// last returns the last request for method.
func (f *fake) last(t *testing.T, method string) transport.Request {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range slices.Backward(f.asked) {
		if r.Method == method {
			return r
		}
	}
	t.Fatalf("the server was not asked for %s", method)
	return transport.Request{}
}

func says(raw string) reply {
	return func(context.Context, *fake, transport.Request) (string, error) { return raw, nil }
}

func refuses(code int, message string) reply { return refusesWith(code, message, "") }

func refusesWith(code int, message, data string) reply {
	return fails(&transport.Error{Code: code, Message: message, Data: json.RawMessage(data)})
}

func fails(err error) reply {
	return func(context.Context, *fake, transport.Request) (string, error) { return "", err }
}

// silent never answers.
func silent(ctx context.Context, f *fake, _ transport.Request) (string, error) {
	select {
	case <-ctx.Done():
	case <-f.done:
	}
	return "", ctx.Err()
}

// exits ends the server.
func exits(_ context.Context, f *fake, _ transport.Request) (string, error) {
	f.die(&transport.GoneError{State: "exit status 3", Stderr: "fatal: no key\n"})
	return "", f.Err()
}

// after answers when d has passed since the request.
func after(d time.Duration, then reply) reply {
	return func(ctx context.Context, f *fake, r transport.Request) (string, error) {
		select {
		case <-time.After(d):
			return then(ctx, f, r)
		case <-ctx.Done():
		case <-f.done:
		}
		return "", f.Err()
	}
}

// inTurn answers the first request with the first reply, and so on, and all further
// ones with the last.
func inTurn(replies ...reply) reply {
	var mu sync.Mutex
	return func(ctx context.Context, f *fake, r transport.Request) (string, error) {
		mu.Lock()
		now := replies[0]
		if len(replies) > 1 {
			replies = replies[1:]
		}
		mu.Unlock()
		return now(ctx, f, r)
	}
}

// initialized is the answer of a server that agrees on a revision.
func initialized(revision string) reply {
	return says(fmt.Sprintf(`{"protocolVersion":%q,"serverInfo":{"name":"old","version":"1"},"instructions":"be kind","capabilities":%s}`,
		revision, capabilities))
}

// discovered is the answer of a server of the newer era.
func discovered(revisions string) reply {
	return says(fmt.Sprintf(`{"resultType":"complete","supportedVersions":%s,"instructions":"be kind","capabilities":%s,`+
		`"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"new","version":"2"}}}`, revisions, capabilities))
}

const capabilities = `{"tools":{"listChanged":true},"prompts":{},"resources":{},"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}}`

// handshake is a server of the older era that knows more methods.
func handshake(knows map[string]reply) *fake {
	f := &fake{knows: map[string]reply{"initialize": initialized("2025-11-25")}}
	for method, r := range knows {
		f.knows[method] = r
	}
	return f
}

// stateless is a server of the newer era that knows more methods.
func stateless(knows map[string]reply) *fake {
	f := &fake{knows: map[string]reply{
		"server/discover":      discovered(`["2026-07-28"]`),
		"subscriptions/listen": silent,
	}}
	for method, r := range knows {
		f.knows[method] = r
	}
	return f
}

// dials returns one transport after the other.
func dials(t *testing.T, fakes ...*fake) client.Dial {
	return func() transport.Transport {
		if len(fakes) == 0 {
			t.Fatal("dialled once too often")
		}
		f := fakes[0]
		fakes = fakes[1:]
		return f
	}
}

// connect connects to f, until the test ends.
func connect(t *testing.T, f *fake, o client.Options) client.Peer {
	t.Helper()
	p, err := client.Connect(t.Context(), dials(t, f), o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// bubble runs a test in which time is the test's own. What it connects is closed.
func bubble(t *testing.T, f *fake, o client.Options, test func(*testing.T, client.Peer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := connect(t, f, o)
		defer func() {
			if err := p.Close(context.WithoutCancel(t.Context())); err != nil {
				t.Errorf("Close() = %v", err)
			}
		}()
		test(t, p)
	})
}
