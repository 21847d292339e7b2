package modeltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// ModelID is the one model that a server lists. It answers under any other id
// as well.
const ModelID = "test-model"

// A Server is a provider of models on a loopback port.
type Server struct {
	URL string // http://127.0.0.1:PORT

	http   *http.Server
	done   chan struct{} // closed when the server has ended
	script script
	gone   chan struct{}

	mu       sync.Mutex // guards the fields below
	recs     []Record
	sessions map[string]*session
}

// A Record is one request as it came.
type Record struct {
	Path    string
	Header  http.Header
	Body    []byte
	Session string // what ties requests together: the cache key, else the first message
	Reject  string // why it was rejected; "" if it was not
}

// Open starts a server that gives the replies in order.
func Open(replies ...Reply) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("starting the test model: %w", err)
	}
	s := &Server{
		URL: "http://" + l.Addr().String(), done: make(chan struct{}),
		gone: make(chan struct{}, 64), sessions: map[string]*session{},
	}
	s.script.add(replies)
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(s.done)
		// The error says that Close was called, or shows at the client.
		_ = s.http.Serve(l)
	}()
	return s, nil
}

// New is [Open] for a test, which closes the server.
func New(t testing.TB, replies ...Reply) *Server {
	t.Helper()
	s, err := Open(replies...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Close breaks every connection and waits for the server to end.
func (s *Server) Close() error {
	err := s.http.Close()
	<-s.done
	return err
}

// OpenAI is the base URL of chat completions.
func (s *Server) OpenAI() string { return s.URL + "/v1" }

// Anthropic is the base URL of messages.
func (s *Server) Anthropic() string { return s.URL }

// Gemini is the base URL of streamGenerateContent.
func (s *Server) Gemini() string { return s.URL + "/v1beta" }

// Ollama is the base URL of Ollama's own chat.
func (s *Server) Ollama() string { return s.URL }

// Add appends replies to those that are left.
func (s *Server) Add(replies ...Reply) { s.script.add(replies) }

// Gone receives a value for each answer whose client went away before its end.
func (s *Server) Gone() <-chan struct{} { return s.gone }

// Requests returns the requests for an answer so far.
func (s *Server) Requests() []Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Record(nil), s.recs...)
}

// Rejected returns why requests were rejected.
func (s *Server) Rejected() []string {
	var out []string
	for _, r := range s.Requests() {
		if r.Reject != "" {
			out = append(out, r.Reject)
		}
	}
	return out
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch path := r.URL.Path; {
	case r.Method == http.MethodPost && strings.HasSuffix(path, "/chat/completions"):
		s.answer(w, r, openAI{})
	case r.Method == http.MethodPost && strings.HasSuffix(path, "/responses"):
		s.answer(w, r, responses{})
	case r.Method == http.MethodPost && strings.HasSuffix(path, ":streamGenerateContent"):
		s.answer(w, r, gemini{})
	case r.Method == http.MethodPost && path == "/api/chat":
		s.answer(w, r, ollama{})
	case r.Method == http.MethodPost && strings.HasSuffix(path, "/messages"):
		s.answer(w, r, anthropic{})
	case path == "/v1/models":
		writeJSON(w, http.StatusOK, map[string]any{"object": "list", "has_more": false,
			"data": []any{map[string]any{"id": ModelID, "object": "model", "type": "model", "display_name": ModelID}}})
	case path == "/api/tags":
		writeJSON(w, http.StatusOK, map[string]any{"models": []any{map[string]any{"name": ModelID, "model": ModelID, "size": 1 << 30}}})
	case path == "/api/show":
		writeJSON(w, http.StatusOK, map[string]any{"capabilities": []string{"completion", "tools"},
			"model_info": map[string]any{"general.architecture": "test", "test.context_length": 32768}})
	default:
		writeJSON(w, http.StatusNotFound, map[string]any{"error": map[string]any{"message": "no such route: " + path, "type": "not_found_error"}})
	}
}

// A protocol is one way to ask and to answer.
type protocol interface {
	// parse reads a request and says what is wrong with it.
	parse(r *http.Request, body []byte) (*request, error)
	// fault is the body of an error.
	fault(status int, code, message string) any
	// stream starts an answer.
	stream(e *events, req *request, reply *Reply, usage model.Usage) writer
}

// A writer writes the pieces of an answer.
type writer interface {
	think(s string)
	text(s string)
	tools(ts []Tool)
	fail(code, message string)
	end(stop model.Stop, usage model.Usage)
}

// A request is what is common to both protocols.
type request struct {
	model     string
	session   string
	last      string    // text of the last message
	segments  []segment // in the order of the cache
	implicit  bool      // the cache needs no marks
	uncached  bool      // nothing is said of a cache
	encrypted bool      // reasoning is to come encrypted
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, p protocol) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	req, err := p.parse(r, body)
	reply, usage := Reply{}, model.Usage{}
	if err == nil {
		reply, err = s.script.next(req.last)
	}
	rec := Record{Path: r.URL.Path, Header: r.Header.Clone(), Body: body}
	if err != nil {
		rec.Reject = err.Error()
	}
	s.mu.Lock()
	if req != nil {
		rec.Session = req.session
	}
	s.recs = append(s.recs, rec)
	number := len(s.recs)
	if err == nil && reply.Status == 0 {
		usage = s.count(req)
	}
	s.mu.Unlock()

	switch {
	case err != nil:
		writeJSON(w, http.StatusBadRequest, p.fault(http.StatusBadRequest, "", err.Error()))
	case reply.Status != 0:
		for k, v := range reply.Header {
			w.Header().Set(k, v)
		}
		writeJSON(w, reply.Status, p.fault(reply.Status, reply.Code, reply.Error))
	default:
		s.play(r.Context(), w, p, req, &reply, usage, number)
	}
}

// errGone says that the client went away.
var errGone = errors.New("client is gone")

// play streams a reply.
func (s *Server) play(ctx context.Context, w http.ResponseWriter, p protocol, req *request, reply *Reply, usage model.Usage, number int) {
	if reply.Usage != nil {
		usage = *reply.Usage
	} else {
		usage.Output = size(reply) / bytesPerToken
	}
	e := &events{ctx: ctx, w: w, delay: reply.Delay, number: number}
	out := p.stream(e, req, reply, usage)
	for _, t := range reply.Think {
		out.think(t)
	}
	for _, t := range reply.Text {
		out.text(t)
	}
	if len(reply.Tools) > 0 {
		out.tools(reply.Tools)
	}
	switch {
	case e.err != nil:
	case reply.Hang:
		<-ctx.Done()
		e.err = errGone
	case reply.Cut:
		panic(http.ErrAbortHandler) // breaks the connection
	case reply.EOF:
		return
	case reply.Error != "":
		out.fail(reply.Code, reply.Error)
	default:
		out.end(reply.stop(), usage)
	}
	if e.err != nil {
		select {
		case s.gone <- struct{}{}:
		default: // nobody counts
		}
	}
}

// size is how long a reply is.
func size(r *Reply) int {
	n := bytesPerToken
	for _, s := range r.Think {
		n += len(s)
	}
	for _, s := range r.Text {
		n += len(s)
	}
	for _, t := range r.Tools {
		n += len(t.Name) + len(t.Args)
	}
	return n
}

// events writes server-sent events or lines. After the first error it writes
// nothing.
type events struct {
	ctx    context.Context
	w      http.ResponseWriter
	delay  time.Duration
	number int  // of the request on this server
	lines  bool // JSON a line
	err    error
}

func (e *events) open() {
	e.w.Header().Set("Content-Type", "text/event-stream")
	if e.lines {
		e.w.Header().Set("Content-Type", "application/x-ndjson")
	}
	e.w.Header().Set("X-Request-Id", "req_test")
	e.w.WriteHeader(http.StatusOK)
	e.flush()
}

// piece is send after the delay of the reply.
func (e *events) piece(name string, data any) {
	if e.err == nil && e.delay > 0 {
		select {
		case <-e.ctx.Done():
			e.err = errGone
		case <-time.After(e.delay):
		}
	}
	e.send(name, data)
}

// send writes an event; data that is a string is written as it is.
func (e *events) send(name string, data any) {
	if e.err == nil && e.ctx.Err() != nil {
		e.err = errGone
	}
	if e.err != nil {
		return
	}
	text, ok := data.(string)
	if !ok {
		text = JSON(data)
	}
	switch {
	case e.lines:
		text += "\n"
	case name != "":
		text = "event: " + name + "\ndata: " + text + "\n\n"
	default:
		text = "data: " + text + "\n\n"
	}
	_, e.err = io.WriteString(e.w, text)
	e.flush()
}

func (e *events) flush() {
	if err := http.NewResponseController(e.w).Flush(); err != nil && e.err == nil {
		e.err = err
	}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// A client that is gone needs no answer.
	_ = json.NewEncoder(w).Encode(v)
}
