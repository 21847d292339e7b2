// Package transport is how messages reach an MCP server and come back: the seam
// between the client of the protocol and the ways to carry it. Programs are reached
// by package stdio, addresses by package web.
package transport

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Request is a request to a server.
type Request struct {
	Method string
	Params json.RawMessage // an object; nil is none
	Name   string          // of the tool, prompt or resource that it is about; "" is none
	// Headers are the arguments that a tool wants as headers beside, by the names of
	// those (x-mcp-header, revision 2026-07-28). Only addresses have them.
	Headers map[string]string
	// Notify hears the notifications that come on the stream of this request alone.
	// Nil leaves them to the [Handler], and so does a transport with one stream.
	Notify func(method string, params json.RawMessage)
}

// A Handler hears what a server sends of its own accord. Notify is called in the
// order of arrival by one goroutine, never by the one that reads; Request by one of
// its own for each. Its error is answered: an [*Error] as it stands, any other as
// an internal one.
type Handler interface {
	Notify(method string, params json.RawMessage)
	Request(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
}

// A Transport carries messages to one server. It is safe for concurrent use once
// Start has returned.
type Transport interface {
	// Start reaches the server, within ctx, which ends nothing later.
	Start(ctx context.Context, h Handler) error
	// Call sends a request and returns the result as it came. When ctx ends first
	// the server is told, and the error is that of ctx. An answer that is an error
	// is an [*Error]; see the errors of this package for the others.
	Call(ctx context.Context, r Request) (json.RawMessage, error)
	// Notify sends a notification.
	Notify(ctx context.Context, method string, params json.RawMessage) error
	// Negotiated tells which revision both sides speak from now on.
	Negotiated(revision string)
	// Done is closed when the server is gone or the transport was closed; Err says
	// why, and is nil before.
	Done() <-chan struct{}
	Err() error
	// Close ends the contact and what was started for it, within ctx; what is left
	// then is killed.
	Close(ctx context.Context) error
}

// An Error is the error that a server answers with.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", strings.TrimSpace(e.Message), e.Code) }

// Codes of errors (JSON-RPC 2.0, MCP).
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
	CodeNotFound       = -32002 // a resource, before 2026-07-28
	CodeHeaderMismatch = -32020
	CodeMissing        = -32021 // a capability of the client
	CodeRevision       = -32022 // the data names those that are served
	CodeURLElicitation = -32042
)

// Errors of a transport that a caller branches on.
var (
	// ErrGone tells that the server is gone, or the transport was closed.
	ErrGone = errors.New("the server is gone")
	// ErrUnsent tells, beside another error, that the server has done nothing with
	// the message, so that it can be sent again whatever it does: see [Unsent].
	ErrUnsent = errors.New("nothing was sent")
	// ErrSession tells that the server does not know the session any more: it has to
	// be initialised anew. The call was not run.
	ErrSession = errors.New("the session with the server has expired")
)

// An unsentError is an [ErrUnsent] that reads as its cause alone: the mark is for code, and
// the cause is what has to be mended.
type unsentError struct{ error }

func (unsentError) Is(target error) bool { return target == ErrUnsent }

func (e unsentError) Unwrap() error { return e.error }

// Unsent marks err, which is not nil, as an [ErrUnsent] too. Its text stays as it is.
func Unsent(err error) error { return unsentError{err} }

// A GoneError says why a program is gone. It is an [ErrGone].
type GoneError struct {
	State  string // of the process, such as "exit status 3"; "" is unknown
	Cause  error  // why it was ended by this side; nil where it ended by itself
	Stderr string // the last of what it wrote there
}

func (e *GoneError) Error() string {
	text := "the program has ended"
	if e.State != "" {
		text += " (" + e.State + ")"
	}
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	if line := lastWords(e.Stderr); line != "" {
		text += ": " + line
	}
	return text
}

// Is reports whether target is [ErrGone].
func (e *GoneError) Is(target error) bool { return target == ErrGone }

// Unwrap returns the cause.
func (e *GoneError) Unwrap() error { return e.Cause }

// lastWords returns the line that says most of why a program has ended: the last one
// that names an error, since a trace or a version may stand behind it, else the last.
func lastWords(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range slices.Backward(lines) {
		if len(lines)-i > 40 { // that was about something else
			break
		}
		indented := strings.TrimLeft(line, " \t") != line
		lower := strings.ToLower(line)
		for _, word := range []string{"error", "panic", "fatal", "exception", "cannot"} {
			if !indented && strings.Contains(lower, word) {
				return strings.TrimSpace(line)
			}
		}
	}
	return strings.TrimSpace(lines[len(lines)-1])
}

// A StatusError is an answer of HTTP that carries no message of the protocol.
type StatusError struct {
	Status int    // such as 503
	Text   string // the beginning of its body, one line; may be ""
	// Rejected tells, with 401, that a credential was sent and not taken (R-MCP-19).
	Rejected bool
	// Challenge is the WWW-Authenticate of a 401 or 403; "" is none.
	Challenge string
	// RetryAfter is how long the server wants to be left alone, as with 429 and 503;
	// 0 is not said.
	RetryAfter time.Duration
}

func (e *StatusError) Error() string {
	switch {
	case e.Status == 401 && e.Rejected:
		return "credential rejected (HTTP 401)"
	case e.Status == 401:
		return "needs authorization (HTTP 401)"
	case e.Text == "":
		return fmt.Sprintf("HTTP status %d", e.Status)
	}
	return fmt.Sprintf("HTTP status %d: %s", e.Status, e.Text)
}
