package mcpbridge_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/lorimer-dev/lorimer/mcpbridge"
	"github.com/lorimer-dev/lorimer/mcpbridge/client"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/server"
)

// A world holds the servers that a pool of a test can reach, by their commands or URLs.
type world struct {
	servers map[string]*fake
	start   time.Time

	mu    sync.Mutex // guards the fields below
	dials []dial
	most  int // attempts at a time
	now   int
}

// A dial is an attempt to connect.
type dial struct {
	Server string // name
	At     time.Duration
	Era    client.Era
}

// A fake is a server. Its zero value connects at once and has no tools. Its fields are set
// before it is dialed; while it runs they change in set alone.
type fake struct {
	Delay     time.Duration     // before it has connected
	Deaf      bool              // it does not hear that the attempt is over before Delay is
	Fail      func(n int) error // of the n-th attempt, from 1; nil is none
	Linger    time.Duration     // that it takes to close
	ListDelay time.Duration     // of reading tools
	ListFail  func(n int) error // of the n-th list of tools, from 1
	Tools     []client.Tool
	Prompts   []client.Prompt
	Resources []server.Resource
	About     client.About
	OnCall    func(ctx context.Context, p *peer, c call) (client.Result, error) // nil answers with the tool's name
	OnPrompt  func(name string, arguments map[string]string) ([]server.Part, error)
	OnRead    func(uri string) ([]server.Part, error)

	mu       sync.Mutex // guards the fields below, and the above while it runs
	attempts int
	lists    int
	running  int // programs
	most     int // programs at a time
	peers    []*peer
	calls    []call
}

// A call is a call of a tool as it came.
type call struct {
	Tool    string
	Input   string
	Timeout time.Duration
	Limit   time.Duration
	o       client.CallOptions
}

// A peer is a connection to a fake.
type peer struct {
	fake *fake
	o    client.Options
	done chan struct{}

	mu     sync.Mutex // guards the fields below
	err    error
	closed bool
}

func newWorld(servers map[string]*fake) *world {
	return &world{servers: servers, start: time.Now()}
}

// pool returns a pool of the world, which ends with the test.
func (w *world) pool(t *testing.T, set ...func(*mcpbridge.Options)) *mcpbridge.Pool {
	t.Helper()
	o := mcpbridge.Options{Name: "lorimer", Version: "1", Connect: w.connect}
	for _, f := range set {
		f(&o)
	}
	p := mcpbridge.NewPool(o)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
		defer cancel()
		if err := p.Close(ctx); err != nil {
			t.Errorf("closing the pool: %v", err)
		}
		for name, f := range w.servers {
			if n := f.count(func() int { return f.running }); n != 0 {
				t.Errorf("%d connections to %s are left", n, name)
			}
			if n := f.count(func() int { return f.most }); n > 1 && f.single() {
				t.Errorf("%s ran %d times at once", name, n)
			}
		}
	})
	return p
}

// single reports whether the fake is only used by tests with one session.
func (f *fake) single() bool { return f.Linger > 0 }

func (w *world) connect(ctx context.Context, s mcpbridge.Server, o client.Options) (client.Peer, error) {
	f := w.servers[cmp.Or(s.URL, s.Command)]
	w.mu.Lock()
	w.dials = append(w.dials, dial{s.Name, time.Since(w.start), o.Era})
	w.now++
	w.most = max(w.most, w.now)
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.now--
	}()
	if f == nil {
		return nil, fmt.Errorf("there is no program %q", s.Command)
	}
	n := f.count(func() int { f.attempts++; f.running++; f.most = max(f.most, f.running); return f.attempts })
	p := &peer{fake: f, o: o, done: make(chan struct{})}
	if err := f.begin(ctx, n); err != nil {
		f.count(func() int { f.running--; return 0 })
		return nil, err
	}
	f.count(func() int { f.peers = append(f.peers, p); return 0 })
	return p, nil
}

func (f *fake) begin(ctx context.Context, n int) error {
	f.mu.Lock()
	delay, deaf, fail := f.Delay, f.Deaf, f.Fail
	f.mu.Unlock()
	if deaf {
		ctx = context.WithoutCancel(ctx)
	}
	if err := rest(ctx, delay); err != nil || fail == nil {
		return err
	}
	return fail(n)
}

func rest(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// names returns whom the world was asked for, in order.
func (w *world) names() (names []string) {
	for _, d := range w.tries() {
		names = append(names, d.Server)
	}
	return names
}

func (w *world) tries() []dial {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.dials)
}

// peak returns how many attempts there were at a time since it was called last.
func (w *world) peak() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	most := w.most
	w.most = w.now
	return most
}

// count runs f with the fake locked.
func (f *fake) count(get func() int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return get()
}

// set changes the fake, whose connections tell of it.
func (f *fake) set(change func(), kinds ...client.Kind) {
	f.mu.Lock()
	change()
	peers := slices.Clone(f.peers)
	f.mu.Unlock()
	for _, p := range peers {
		for _, k := range kinds {
			p.o.Changed(k)
		}
	}
}

// die ends the connections to the fake.
func (f *fake) die(err error) {
	f.mu.Lock()
	peers := f.peers
	f.peers = nil
	f.mu.Unlock()
	for _, p := range peers {
		p.end(err)
	}
}

// called returns the calls that have come, in order.
func (f *fake) called() []call {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.calls)
}

func (p *peer) end(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
		close(p.done)
	}
}

func (p *peer) About() client.About {
	about := p.fake.About
	if about.Has == nil {
		about.Has = []client.Kind{client.Tools, client.Prompts, client.Resources}
	}
	return about
}

func (p *peer) Tools(ctx context.Context) ([]client.Tool, error) {
	f := p.fake
	f.mu.Lock()
	f.lists++
	n, delay := f.lists, f.ListDelay
	f.mu.Unlock()
	if err := rest(ctx, delay); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ListFail != nil {
		if err := f.ListFail(n); err != nil {
			return nil, err
		}
	}
	return slices.Clone(f.Tools), nil
}

func (p *peer) Prompts(context.Context) ([]client.Prompt, error) {
	p.fake.mu.Lock()
	defer p.fake.mu.Unlock()
	return slices.Clone(p.fake.Prompts), nil
}

func (p *peer) Resources(context.Context) ([]server.Resource, error) {
	p.fake.mu.Lock()
	defer p.fake.mu.Unlock()
	return slices.Clone(p.fake.Resources), nil
}

func (p *peer) Call(ctx context.Context, t client.Tool, in json.RawMessage, o client.CallOptions) (client.Result, error) {
	f := p.fake
	c := call{t.Name, string(in), o.Timeout, o.Limit, o}
	f.mu.Lock()
	f.calls = append(f.calls, c)
	answer := f.OnCall
	f.mu.Unlock()
	if err := p.Err(); err != nil {
		return client.Result{}, transport.Unsent(err)
	}
	if answer != nil {
		return answer(ctx, p, c)
	}
	return says(t.Name), nil
}

func says(text string) client.Result {
	return client.Result{Blocks: []client.Block{{Type: "text", Text: text}}}
}

func (p *peer) Prompt(_ context.Context, name string, arguments map[string]string) ([]server.Part, error) {
	if p.fake.OnPrompt == nil {
		return nil, &transport.Error{Code: transport.CodeInvalidParams, Message: "no such prompt"}
	}
	return p.fake.OnPrompt(name, arguments)
}

func (p *peer) Read(_ context.Context, uri string) ([]server.Part, error) {
	if p.fake.OnRead == nil {
		return nil, &transport.Error{Code: transport.CodeNotFound, Message: "no such resource"}
	}
	return p.fake.OnRead(uri)
}

func (p *peer) Done() <-chan struct{} { return p.done }

func (p *peer) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// Close takes as long as the fake lingers, or until ctx ends.
func (p *peer) Close(ctx context.Context) error {
	err := rest(ctx, p.fake.Linger)
	p.end(transport.ErrGone)
	p.mu.Lock()
	first := !p.closed
	p.closed = true
	p.mu.Unlock()
	if first {
		p.fake.count(func() int { p.fake.running--; return 0 })
	}
	return err
}

// tool returns a tool of a server by its own name.
func tool(name string) client.Tool { return client.Tool{Name: name, Description: "Does " + name + "."} }

func toolsNamed(names ...string) (ts []client.Tool) {
	for _, n := range names {
		ts = append(ts, tool(n))
	}
	return ts
}

// program returns the declaration of the server of that name and command.
func program(name string) mcpbridge.Server {
	return mcpbridge.Server{Name: name, Kind: mcpbridge.Stdio, Command: name}
}

func programs(names ...string) (ss []mcpbridge.Server) {
	for _, n := range names {
		ss = append(ss, program(n))
	}
	return ss
}

// address returns the declaration of the server of that name and URL.
func address(name string) mcpbridge.Server {
	return mcpbridge.Server{Name: name, Kind: mcpbridge.HTTP, URL: name}
}

// open opens the bridge of a session in a directory of the test.
func open(t *testing.T, p *mcpbridge.Pool, servers ...mcpbridge.Server) *mcpbridge.Bridge {
	t.Helper()
	return p.Open(t.Context(), mcpbridge.Session{ID: "s", Dir: "/w"}, servers)
}

// A send is what a message of the user gets.
type send struct {
	tools   []tools.Tool
	Names   []string
	Notices []string
	Took    time.Duration
}

// message asks for the tools of a send.
func message(t *testing.T, b *mcpbridge.Bridge) send {
	t.Helper()
	var s send
	start := time.Now()
	ts, err := b.Tools(t.Context(), func(n string) { s.Notices = append(s.Notices, n) })
	if err != nil {
		t.Fatalf("Tools() failed: %v", err)
	}
	s.tools, s.Took = ts, time.Since(start)
	for _, tt := range ts {
		s.Names = append(s.Names, tt.Info().Name)
	}
	return s
}

// run runs a tool of a send.
func (s send) run(t *testing.T, name, in string) tools.Result {
	t.Helper()
	r, err := s.tool(t, name).Run(t.Context(), tools.Call{ID: "c", Input: json.RawMessage(in)})
	if err != nil {
		t.Fatalf("%s failed: %v", name, err)
	}
	return r
}

func (s send) tool(t *testing.T, name string) tools.Tool {
	t.Helper()
	for _, tt := range s.tools {
		if tt.Info().Name == name {
			return tt
		}
	}
	t.Fatalf("there is no tool %s among %q", name, s.Names)
	return nil
}

// status returns how the server of that name stands.
func status(t *testing.T, b *mcpbridge.Bridge, name string) server.Status {
	t.Helper()
	for _, s := range b.Status() {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("no status of %s", name)
	return server.Status{}
}

// failing returns a Fail that fails the first n attempts.
func failing(n int, err error) func(int) error {
	return func(i int) error {
		if i <= n {
			return err
		}
		return nil
	}
}

// always is more attempts than a test makes.
const always = 1 << 30

var errExit = &transport.GoneError{State: "exit status 1", Stderr: "starting\nfatal: missing API_KEY\n"}

// bubble runs a test in a bubble of time.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

var errOops = errors.New("oops")

func logTo(w io.Writer) zerolog.Logger {
	return zerolog.New(zerolog.SyncWriter(w)).Level(zerolog.DebugLevel)
}

// background returns a context that outlives the test, for its end.
func background(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	t.Cleanup(cancel)
	return ctx
}
