package web

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// An event is one of a stream of server-sent events. Its data is not empty.
type event struct {
	kind string // "" is a message
	data []byte
	cut  bool // the stream ended inside it, so that it may be only the beginning of one
}

// events are the events of a stream (HTML, 9.2.6). Its lines may end in any of the three
// ways, and a line end is not waited for twice: an event is there as soon as the line
// that ends it is.
type events struct {
	r   *bufio.Reader
	max int // bytes of an event

	last  string        // id of the last event that was whole; "" is none
	retry time.Duration // that the server wants to pass before a new stream; 0 is not said

	line  []byte // the last one
	bare  bool   // it ended in CR: a LF behind it is no line of its own
	begun bool
}

const (
	keepLine = 1 << 20 // bytes of a line that are kept for the next one
	maxID    = 4 << 10 // bytes of an id, which goes back in a header
)

// errTooLong is for an event or a body that does not end.
var errTooLong = errors.New("the message is too long")

func newEvents(r io.Reader, limit int) *events {
	return &events{r: bufio.NewReaderSize(r, 16<<10), max: limit}
}

// next returns the next event that has data, or the error of the stream, [io.EOF] at its
// end. An event that is cut off comes before that.
func (e *events) next() (event, error) {
	var (
		ev  event
		has bool // a line of data
		id  = e.last
	)
	for {
		line, err := e.readLine()
		if errors.Is(err, errTooLong) {
			return event{}, err
		}
		if len(line) == 0 && err == nil { // the end of an event, or of nothing
			e.last = id
			if len(ev.data) > 0 {
				return ev, nil
			}
			ev, has = event{}, false
			continue
		}
		switch name, value := field(line); name {
		case "data":
			if len(ev.data)+len(value) >= e.max {
				return event{}, e.tooLong()
			}
			if has {
				ev.data = append(ev.data, '\n')
			}
			ev.data, has = append(ev.data, value...), true
		case "event":
			ev.kind = string(value)
		case "id":
			if bytes.IndexByte(value, 0) < 0 && len(value) <= maxID {
				id = string(value)
			}
		case "retry":
			if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
				e.retry = time.Duration(ms) * time.Millisecond
			}
		}
		if err != nil && len(ev.data) > 0 {
			ev.cut = true
			return ev, nil // the error comes again
		}
		if err != nil {
			return event{}, err
		}
	}
}

func (e *events) tooLong() error { return fmt.Errorf("%w: more than %d bytes", errTooLong, e.max) }

// field returns the name and the value of a line. A comment has neither.
func field(line []byte) (name string, value []byte) {
	n, value, _ := bytes.Cut(line, []byte(":"))
	return string(n), bytes.TrimPrefix(value, []byte(" "))
}

// readLine returns the next line without its end; it is good until the next call. With an
// error it is what came before that.
func (e *events) readLine() ([]byte, error) {
	if cap(e.line) > keepLine {
		e.line = nil
	}
	e.line = e.line[:0]
	for {
		if _, err := e.r.Peek(1); err != nil {
			return e.line, err
		}
		piece, err := e.r.Peek(e.r.Buffered())
		if err != nil {
			return e.line, err
		}
		if e.bare && piece[0] == '\n' {
			e.bare = false
			e.discard(1)
			continue
		}
		e.bare = false
		end := bytes.IndexAny(piece, "\r\n")
		if end < 0 {
			e.line = append(e.line, piece...)
			e.discard(len(piece))
		} else {
			e.line = append(e.line, piece[:end]...)
			e.bare = piece[end] == '\r'
			e.discard(end + 1)
		}
		if len(e.line) > e.max {
			return nil, e.tooLong()
		}
		if end >= 0 {
			if !e.begun {
				e.begun = true
				return bytes.TrimPrefix(e.line, []byte("\ufeff")), nil
			}
			return e.line, nil
		}
	}
}

// discard skips what has been peeked at.
func (e *events) discard(n int) { _, _ = e.r.Discard(n) }

// isEvents reports whether a body of that content type is a stream of events.
func isEvents(contentType string) bool { return mediaType(contentType) == "text/event-stream" }

func mediaType(contentType string) string {
	kind, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(kind))
}
