package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// Revisions that the server can have as its newest.
const (
	lastHandshake = "2025-11-25"
	stateless     = "2026-07-28"
)

func revisions() []string {
	return []string{"2024-11-05", "2025-03-26", "2025-06-18", lastHandshake, stateless}
}

// A server is what the clients of the process share. Whoever carries messages opens a
// session for each client, or for each request where there are none, and hands it
// what comes in.
type server struct {
	p         *program
	o         options
	results   map[string]json.RawMessage
	listeners *listeners
	tasks     *tasks

	mu       sync.Mutex // guards the fields below
	tools    []json.RawMessage
	sessions map[*session]struct{}
	listed   int  // how often the tools were asked for
	noList   bool // they are not given any more
}

func newServer(p *program, s scenario) (*server, error) {
	list, err := toolList(p.o, s.Tools)
	return &server{
		p: p, o: p.o, results: s.Results, tools: list,
		listeners: &listeners{}, tasks: &tasks{all: make(map[string]*task)},
		sessions: make(map[*session]struct{}),
	}, err
}

// A session is one client.
type session struct {
	s    *server
	tell func(message []byte) // writes what belongs to no request; for concurrent use
	gone chan struct{}        // closed when the client has gone

	mu       sync.Mutex // guards the fields below
	revision string     // of the handshake; "" before
	running  map[string]context.CancelFunc
	asked    map[string]chan answer // requests to the client
	last     int                    // number of such requests
	once     map[string]bool        // what happens once in a session and has
}

// open returns a session of a new client. Close ends it.
func (s *server) open(tell func(message []byte)) *session {
	c := &session{
		s: s, tell: tell, gone: make(chan struct{}), running: make(map[string]context.CancelFunc),
		asked: make(map[string]chan answer), once: make(map[string]bool),
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions[c] = struct{}{}
	return c
}

// leave ends what would last as long as the client, who has gone.
func (c *session) leave() { close(c.gone) }

// close ends what runs for the session. It comes after leave.
func (c *session) close() {
	c.s.mu.Lock()
	delete(c.s.sessions, c)
	c.s.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, cancel := range c.running {
		cancel()
	}
}

// first reports whether what is asked about for the first time.
func (c *session) first(what string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	done := c.once[what]
	c.once[what] = true
	return !done
}

// A message is what comes in.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *fault          `json:"error"`
}

// isRequest reports whether an answer is due.
func (m message) isRequest() bool { return m.Method != "" && len(m.ID) > 0 }

// A request is a request under way.
type request struct {
	message
	c        *session
	emit     func(message []byte) // writes what belongs to it, its answer last
	revision string               // that it is of
	meta     meta
}

// A meta is the part of the parameters that is about the request.
type meta struct {
	Progress     json.RawMessage `json:"progressToken"`
	Revision     string          `json:"io.modelcontextprotocol/protocolVersion"`
	Capabilities *capabilities   `json:"io.modelcontextprotocol/clientCapabilities"`
}

// Capabilities of a client, as far as they matter here.
type capabilities struct {
	Extensions map[string]json.RawMessage `json:"extensions"`
}

// handle handles a message, or a batch of them. It returns when that is done, a
// request with its answer emitted; so whoever wants requests to run beside each other
// calls it in as many goroutines. When ctx ends it is as if the client had cancelled.
func (c *session) handle(ctx context.Context, data []byte, emit func(message []byte)) {
	c.s.p.journal.message(data)
	var batch []json.RawMessage
	if json.Unmarshal(data, &batch) == nil {
		for _, one := range batch {
			c.one(ctx, one, emit)
		}
		return
	}
	c.one(ctx, data, emit)
}

func (c *session) one(ctx context.Context, data []byte, emit func(message []byte)) {
	var m message
	switch err := json.Unmarshal(data, &m); {
	case err != nil:
		emit(encode(nil, nil, faultf(codeParse, "parse error: %v", err)))
	case m.isRequest():
		c.request(ctx, &request{message: m, c: c, emit: emit})
	case m.Method != "":
		c.notified(m)
	case len(m.ID) > 0:
		c.answered(m)
	}
}

// request runs a request and answers it.
func (c *session) request(ctx context.Context, r *request) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	key := string(r.ID)
	c.mu.Lock()
	c.running[key] = cancel
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.running, key)
	}()

	result, err := r.run(ctx)
	switch {
	case errors.Is(err, errSilent):
	case ctx.Err() != nil && !c.s.o.modes.has("answer-cancelled"):
	default:
		r.answer(result, err)
	}
}

// notified hears a notification.
func (c *session) notified(m message) {
	switch m.Method {
	case "notifications/cancelled":
		var p struct {
			ID json.RawMessage `json:"requestId"`
		}
		if json.Unmarshal(m.Params, &p) != nil {
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if cancel := c.running[string(p.ID)]; cancel != nil {
			cancel()
		}
	case "notifications/initialized":
		c.begun()
	}
}

// begun does what some modes do once a client has begun.
func (c *session) begun() {
	if !c.first("begun") {
		return
	}
	const soon = 300 * time.Millisecond
	o, p := c.s.o, c.s.p
	switch {
	case o.modes.has("die-idle"):
		time.AfterFunc(p.pause(soon), func() { p.die(7, "fatal: lost the database") })
	case o.modes.has("grandchild-die"):
		time.AfterFunc(p.pause(soon), func() { p.exit(0, "the grandchild stays") })
	case o.modes.has("close-stdout"):
		time.AfterFunc(p.pause(soon), p.closeOutput)
	case o.modes.has("late-tools"):
		time.AfterFunc(p.pause(soon), func() { c.s.addTool("late") })
	case o.modes.has("change-storm"):
		time.AfterFunc(p.pause(soon), func() {
			for range 200 {
				c.s.changed("tools")
			}
		})
	}
}

// changed tells all clients of today's or yesterday's revisions that a list has changed.
func (s *server) changed(list string) {
	method := "notifications/" + list + "/list_changed"
	s.mu.Lock()
	var tells []func([]byte)
	for c := range s.sessions {
		if c.spoken() != "" && !s.o.modes.has("listen") {
			tells = append(tells, c.tell)
		}
	}
	s.mu.Unlock()
	for _, tell := range tells {
		tell(notification(method, nil))
	}
	s.listeners.tell(list, method)
}

// spoken returns the revision of the handshake, "" before one.
func (c *session) spoken() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.revision
}

// A fault is an error that is answered.
type fault struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (f *fault) Error() string { return f.Message }

func faultf(code int, format string, args ...any) *fault {
	return &fault{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Codes of errors.
const (
	codeParse    = -32700
	codeMethod   = -32601
	codeParams   = -32602
	codeInternal = -32603
	codeResource = -32002
	codeRevision = -32022
)

// errSilent is for a request that is never answered.
var errSilent = errors.New("no answer")

// encode returns an answer; id nil is null.
func encode(id json.RawMessage, result any, err error) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	if err != nil {
		f, ok := errors.AsType[*fault](err)
		if !ok {
			f = faultf(codeInternal, "%v", err)
		}
		return object("jsonrpc", "2.0", "id", id, "error", f)
	}
	return object("jsonrpc", "2.0", "id", id, "result", result)
}

// notification returns a notification; params nil is none.
func notification(method string, params any) []byte {
	if params == nil {
		return object("jsonrpc", "2.0", "method", method)
	}
	return object("jsonrpc", "2.0", "method", method, "params", params)
}

// object encodes an object, its members in the order in which they are given: a name
// and a value by turns. What is raw stays as it is, even where it is no JSON.
func object(members ...any) []byte {
	var b strings.Builder
	for i := 0; i < len(members); i += 2 {
		b.WriteByte("{,"[min(i, 1)])
		fmt.Fprintf(&b, "%q:", members[i])
		if raw, ok := members[i+1].(json.RawMessage); ok {
			b.Write(raw)
			continue
		}
		v, err := json.Marshal(members[i+1])
		if err != nil {
			v = []byte(`"` + strings.ReplaceAll(err.Error(), `"`, `'`) + `"`)
		}
		b.Write(v)
	}
	b.WriteByte('}')
	return []byte(b.String())
}
