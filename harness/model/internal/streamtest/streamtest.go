// Package streamtest is servers of models without a network, for tests of how
// streams are read and requests are written.
package streamtest

import (
	"io"
	"net/http"
	"strings"
)

// Client returns a client that is answered with stream, whatever it asks.
func Client(stream string) *http.Client { return Packets(stream, len(stream)) }

// Packets returns a client that is answered with stream, n bytes at a time.
func Packets(stream string, n int) *http.Client {
	return &http.Client{Transport: packets{stream, max(n, 1)}}
}

type packets struct {
	stream string
	n      int
}

func (p packets) RoundTrip(*http.Request) (*http.Response, error) {
	return response(http.StatusOK, &trickle{strings.NewReader(p.stream), p.n}), nil
}

func response(status int, body io.Reader) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(body)}
}

// A trickle gives at most n bytes at once.
type trickle struct {
	r io.Reader
	n int
}

func (t *trickle) Read(b []byte) (int, error) { return t.r.Read(b[:min(len(b), t.n)]) }

// A Server answers requests in order, with the last answer from then on, and keeps
// what it was asked. It is not safe for concurrent use.
type Server struct {
	Answers []Answer
	Bodies  []string        // of the requests
	Asked   []*http.Request // without their bodies
}

// An Answer is a status and a body.
type Answer struct {
	Status int // 0 is 200
	Body   string
}

// Client returns a client that asks s.
func (s *Server) Client() *http.Client { return &http.Client{Transport: s} }

// RoundTrip answers r.
func (s *Server) RoundTrip(r *http.Request) (*http.Response, error) {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	s.Bodies, s.Asked = append(s.Bodies, string(b)), append(s.Asked, r)
	a := s.Answers[min(len(s.Bodies), len(s.Answers))-1]
	if a.Status == 0 {
		a.Status = http.StatusOK
	}
	return response(a.Status, strings.NewReader(a.Body)), nil
}
