package wire

import (
	"errors"
	"fmt"
)

// The codes of JSON-RPC, and that of ACP for a cancelled request.
const (
	CodeParse            = -32700
	CodeInvalidRequest   = -32600
	CodeMethodNotFound   = -32601
	CodeInvalidParams    = -32602
	CodeInternal         = -32603
	CodeRequestCancelled = -32800
)

var (
	// ErrClosed is returned when nothing can be written any more: the reader
	// of the output is gone, or [Conn.Serve] has ended.
	ErrClosed = errors.New("connection is closed")

	// ErrWrite comes with ErrClosed if a write failed though the output may
	// have a reader, such as a file on a full disk: what was sent is lost.
	ErrWrite = errors.New("output cannot be written")

	// ErrEndOfInput is returned by [Conn.Call] once the peer has closed its
	// side, since no answer can come. It is also the cause with which requests
	// are cancelled that outlast the drain time.
	ErrEndOfInput = errors.New("input has ended")

	// ErrCancelRequest is the cause of a request's context after the peer has
	// sent $/cancel_request for it.
	ErrCancelRequest = errors.New("cancelled by $/cancel_request")

	// ErrUnfinished is returned by [Conn.Serve] if requests went on after they
	// were cancelled and their time of grace was over.
	ErrUnfinished = errors.New("requests did not end in time")
)

// An Error is the error of a response, as sent or as received. A handler may
// return it wrapped: the text of the wrapping stays here, Code, Message and Data
// go to the peer.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`        // a sentence for people
	Data    any    `json:"data,omitempty"` // in an answer of the peer: json.RawMessage or nil
}

func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// InvalidRequest returns an error with code −32600.
func InvalidRequest(format string, args ...any) *Error {
	return &Error{Code: CodeInvalidRequest, Message: fmt.Sprintf(format, args...)}
}

// MethodNotFound returns an error with code −32601 that names method.
func MethodNotFound(method string) *Error {
	return &Error{Code: CodeMethodNotFound, Message: fmt.Sprintf("method not found: %.100s", method)}
}

// InvalidParams returns an error with code −32602. The text should name the
// field.
func InvalidParams(format string, args ...any) *Error {
	return &Error{Code: CodeInvalidParams, Message: fmt.Sprintf(format, args...)}
}

func internalError() *Error {
	return &Error{Code: CodeInternal, Message: "internal error; the agent's log has the details"}
}
