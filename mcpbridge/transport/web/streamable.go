package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport/internal/rpc"
)

const (
	lingering = time.Second            // that a stream may go on behind the answer
	minRetry  = 100 * time.Millisecond // between two streams, whatever the server wants
	maxRetry  = 30 * time.Second
	resumes   = 5 // attempts to take a stream up again
)

// errCut is for a stream that ended before the answer.
var errCut = errors.New("the stream ended before the answer to the request, which may have been run")

// A streamable is the way of streamable HTTP.
type streamable struct {
	t *Transport

	mu       sync.Mutex      // guards the fields below
	known    bool            // the server has taken a message
	revision string          // "" before it is negotiated
	session  string          // "" is none
	heard    <-chan struct{} // closed when its own stream has had time to open; nil before it is asked for
}

func (s *streamable) isKnown() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known
}

func (s *streamable) cancels() bool { return !mcp.IsModernProtocol(s.spoken()) }

func (s *streamable) spoken() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revision
}

func (s *streamable) negotiated(revision string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revision = revision
}

// told opens the server's own stream once the handshake has ended.
func (s *streamable) told(method string) {
	if method != "notifications/initialized" || !s.cancels() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.heard != nil {
		return
	}
	opening, opened := context.WithTimeout(s.t.life.Context(), headStart)
	s.heard = opening.Done()
	s.t.life.Start(func(ctx context.Context) { s.listen(ctx, opened) })
}

// listens waits until the server's own stream has opened, or has been given long enough to:
// what a tool asks the user at once goes there, and is lost with some servers if it is not.
func (s *streamable) listens(ctx context.Context) {
	s.mu.Lock()
	heard := s.heard
	s.mu.Unlock()
	if heard == nil {
		return
	}
	select {
	case <-heard:
	case <-ctx.Done():
	}
}

// header returns the headers of the protocol; accept is which answers are understood.
func (s *streamable) header(accept string) http.Header {
	h := http.Header{"Accept": {accept}}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.revision != "" {
		h.Set(mcp.HeaderProtocolVersion, s.revision)
	}
	if s.session != "" {
		h.Set(mcp.HeaderSessionID, s.session)
	}
	return h
}

// messageHeader returns the headers of a message. A request of the newest revisions says
// in them what it says in its parameters, so that what stands between can look.
func (s *streamable) messageHeader(r transport.Request) http.Header {
	h := s.header("application/json, text/event-stream")
	h.Set("Content-Type", "application/json")
	if h.Get(mcp.HeaderProtocolVersion) == "" {
		if revision := metaRevision(r.Params); revision != "" {
			h.Set(mcp.HeaderProtocolVersion, revision)
		}
	}
	if r.Method == "initialize" {
		h.Del(mcp.HeaderProtocolVersion)
		h.Del(mcp.HeaderSessionID)
	}
	if r.Method == "" || !mcp.RequiresStandardHeaders(h.Get(mcp.HeaderProtocolVersion)) {
		return h
	}
	h.Del(mcp.HeaderSessionID)
	h.Set(mcp.HeaderMethod, r.Method)
	if r.Name != "" && mcp.MethodRequiresNameHeader(mcp.MCPMethod(r.Method)) {
		if value, ok := mcp.EncodeHeaderValue(r.Name); ok {
			h.Set(mcp.HeaderName, value)
		}
	}
	for name, value := range r.Headers {
		h.Set(name, value)
	}
	return h
}

// metaRevision returns the revision that the parameters of a request are of, "" where they
// do not tell.
func metaRevision(params json.RawMessage) string {
	var p struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	if json.Unmarshal(params, &p) != nil {
		return ""
	}
	return rpc.Plain(p.Meta[mcp.MetaKeyProtocolVersion])
}

// post sends a message that is not answered.
func (s *streamable) post(ctx context.Context, method string, body []byte) error {
	h := s.messageHeader(transport.Request{Method: method})
	res, err := s.t.send(ctx, request{method: http.MethodPost, url: s.t.url, header: h, body: body, safe: true})
	if err != nil {
		return s.lost(h, err)
	}
	ignore(res)
	return nil
}

// lost returns err, or that the session has expired if that is what a refusal of a
// request with the headers h means.
func (s *streamable) lost(h http.Header, err error) error {
	refused, ok := errors.AsType[*refusal](err)
	if !ok || h.Get(mcp.HeaderSessionID) == "" || !refused.expired() {
		return err
	}
	return fmt.Errorf("%w (%w)", transport.ErrSession, refused.status)
}

func (s *streamable) call(ctx context.Context, id uint64, r transport.Request) (json.RawMessage, error) {
	h := s.messageHeader(r)
	x := &exchange{s: s, id: id, r: r, resumable: !mcp.IsModernProtocol(h.Get(mcp.HeaderProtocolVersion))}
	joint, stop, cancel := s.t.life.Within(ctx)
	x.stop, x.cancel = stop, cancel
	if r.Method == "tools/call" {
		s.listens(joint)
	}
	res, err := s.t.send(joint, request{
		method: http.MethodPost, url: s.t.url, header: h, safe: isSafe(r.Method),
		body: rpc.Message(rpc.ID(id), r.Method, "params", r.Params),
	})
	if err != nil {
		cancel()
		return nil, s.lost(h, err)
	}
	s.mu.Lock()
	s.known = true
	if r.Method == "initialize" {
		s.session = res.Header.Get(mcp.HeaderSessionID)
	}
	s.mu.Unlock()
	f, err := x.answer(joint, res)
	if err != nil {
		return nil, err
	}
	result, err := f.Outcome()
	if refused, ok := err.(*transport.Error); ok && refused.Code == codeSession && h.Get(mcp.HeaderSessionID) != "" && tellsOfSession(refused.Message) {
		return nil, fmt.Errorf("%w (%w)", transport.ErrSession, refused)
	}
	return result, err
}

// isSafe reports whether a request may reach the server twice.
func isSafe(method string) bool {
	return method != "tools/call" && !strings.HasPrefix(method, "tasks/")
}

// end ends the session, with the headers of the server, since it is theirs too.
func (s *streamable) end(ctx context.Context) {
	h := s.header("application/json, text/event-stream")
	if h.Get(mcp.HeaderSessionID) == "" || errors.Is(s.t.Err(), transport.ErrSession) {
		return
	}
	res, err := s.t.send(ctx, request{method: http.MethodDelete, url: s.t.url, header: h, safe: true})
	if err == nil {
		ignore(res)
		return
	}
	s.t.o.Log.Debug().Err(err).Msg("a session was not ended") // the server may not want that
}

// read reads the body of an answer that is one message, or an array.
func (t *Transport) read(res *http.Response) ([]rpc.Frame, error) {
	body, err := io.ReadAll(io.LimitReader(res.Body, int64(t.o.MaxMessage)+1))
	switch {
	case len(body) > t.o.MaxMessage:
		return nil, fmt.Errorf("%w: more than %d bytes", errTooLong, t.o.MaxMessage)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errCut, err)
	}
	if all := parse(body); len(all) > 0 {
		return all, nil
	}
	return nil, t.noMessage(res, body)
}

// noMessage is the error of an answer that holds no message.
func (t *Transport) noMessage(res *http.Response, body []byte) error {
	switch kind := mediaType(res.Header.Get("Content-Type")); {
	case len(body) == 0:
		return fmt.Errorf("the server took the request and gave no answer (HTTP %d)", res.StatusCode)
	case kind == "text/html":
		return fmt.Errorf("the server answered with a page (HTTP %d); the address is not that of an MCP server", res.StatusCode)
	default:
		return fmt.Errorf("the server answered with what is no message of MCP (HTTP %d): %s", res.StatusCode, t.clean(string(body[:min(len(body), maxPage)]), ""))
	}
}
