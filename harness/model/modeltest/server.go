package modeltest

import (
	"crypto/rand"
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

// ModelID is the one model that a server lists by itself. It answers under any
// other id as well.
const ModelID = "test-model"

// A Server is a provider of models on a loopback port. It speaks every protocol
// of [Protocols].
type Server struct {
	URL string // http://127.0.0.1:PORT

	// Product is what the server passes for when it is asked what it serves, and
	// Listed are the models that it then names; default: [ModelID]. They are set
	// before the first request.
	Product Product
	Listed  []ModelInfo

	http   *http.Server
	done   chan struct{} // closed when the server has ended
	script script
	gone   chan struct{}
	memory memory
	prefix string // of ids that this server makes up

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
	Last    string // text of the last message, tool results included
	Reject  string // why it was rejected; "" if it was not
}

// Open starts a server that gives the replies in order.
func Open(replies ...Reply) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("starting the test model: %w", err)
	}
	s := &Server{
		URL: "http://" + l.Addr().String(), done: make(chan struct{}), gone: make(chan struct{}, 64),
		sessions: map[string]*session{}, prefix: strings.ToLower(rand.Text()[:8]),
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

// OpenAI is the base URL of chat completions and Responses.
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
	if r.Method == http.MethodPost {
		switch path := r.URL.Path; {
		case strings.HasSuffix(path, "/chat/completions"):
			s.answer(w, r, openAI{})
			return
		case strings.HasSuffix(path, "/responses"):
			s.answer(w, r, responses{&s.memory})
			return
		case strings.HasSuffix(path, "/messages"):
			s.answer(w, r, anthropic{})
			return
		case strings.HasSuffix(path, geminiMethod):
			s.answer(w, r, gemini{})
			return
		case path == "/api/chat":
			s.answer(w, r, ollama{listed: s.Listed})
			return
		}
	}
	s.inform(w, r)
}

// A protocol is one way to ask and to answer.
type protocol interface {
	// parse reads a request and says what is wrong with it. With an error the
	// request is what was read of it, or nil.
	parse(r *http.Request, body []byte) (*request, error)
	// fault is the body of an error; the request may be nil.
	fault(req *request, w *wrong) any
	// stream starts an answer.
	stream(e *events, req *request, reply *Reply, usage model.Usage) writer
}

// A writer writes the pieces of an answer.
type writer interface {
	think(s string)
	text(s string)
	tools(ts []Tool) // all calls, of which there is one at least
	fail(code, message string)
	end(stop model.Stop, usage model.Usage)
}

// A request is what is common to all protocols.
type request struct {
	model     string
	session   string
	last      string    // text of the last message
	segments  []segment // in the order of the cache
	cache     cache
	window    int  // tokens that the server reads of the prompt; 0 is all
	usage     bool // token counts are asked for
	encrypted bool // reasoning is to come encrypted
	stored    bool // the answer can be gone on with by its id
}

func newRequest(id, session string) *request {
	return &request{model: id, session: session, segments: []segment{{text: "model:" + id}}}
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
		rec.Session, rec.Last = req.session, req.last
	}
	s.recs = append(s.recs, rec)
	number := len(s.recs)
	if err == nil && reply.Status == 0 {
		usage = s.count(req)
	}
	s.mu.Unlock()

	switch {
	case err != nil:
		refused := refusal(err)
		writeJSON(w, refused.status, p.fault(req, refused))
	case reply.Status != 0:
		for k, v := range reply.Header {
			w.Header().Set(k, v)
		}
		writeJSON(w, reply.Status, p.fault(req, &wrong{status: reply.Status, code: reply.Code, reason: reply.Error, wait: reply.Header["Retry-After"]}))
	default:
		reply.prepare()
		e := &events{ctx: r.Context(), w: w, delay: reply.Delay, quirk: reply.Quirk, prefix: fmt.Sprintf("%s%d", s.prefix, number)}
		s.play(e, p, req, &reply, usage)
	}
}

// play streams a reply.
func (s *Server) play(e *events, p protocol, req *request, reply *Reply, usage model.Usage) {
	if reply.Usage != nil {
		usage = *reply.Usage
	} else {
		usage.Output = size(reply) / bytesPerToken
	}
	out := p.stream(e, req, reply, usage)
	if reply.Quirk != OnlyKeepAlive {
		pieces(out, reply)
	}
	switch {
	case e.err != nil:
	case reply.Quirk == OnlyKeepAlive:
		for e.err == nil {
			e.alive()
			e.wait(max(reply.Delay, 5*time.Millisecond))
		}
	case reply.Quirk == MalformedEvent:
		e.send("", `{"choices":[{"delta":`)
	case reply.Hang:
		<-e.ctx.Done()
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

func pieces(out writer, reply *Reply) {
	for _, t := range reply.Think {
		out.think(t)
	}
	for _, t := range reply.Text {
		out.text(t)
	}
	if len(reply.Tools) > 0 {
		out.tools(reply.Tools)
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
