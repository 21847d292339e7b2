package stream

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// errTooLong says that an answer is beyond every limit.
var errTooLong = errors.New("the answer is too large to be true")

// A reader cuts a stream into events. Only their data matters: the protocols that
// name events repeat the name inside it.
type reader struct {
	r     *bufio.Reader
	line  []byte // of a line longer than the buffer
	data  []byte
	total int
	lines bool   // each line that is not blank is an event
	stray []byte // lines since the last event that are no fields

	maxEvent, maxAnswer int
}

func newReader(r io.Reader) *reader {
	return &reader{r: bufio.NewReaderSize(r, 32<<10), maxEvent: maxEvent, maxAnswer: maxAnswer}
}

// next returns the data of the next event that has some, valid until the next
// call. Lines end in LF, CRLF or with the stream, which may begin with a byte
// order mark. A stream that ends inside an
// event ends with io.ErrUnexpectedEOF, one that ends between events with io.EOF;
// data before the end of a stream counts as an event, since some servers leave
// out the last empty line. So does a JSON object or array at the end that stands
// there without being data: it is how some servers say why they stop.
func (r *reader) next() ([]byte, error) {
	if r.lines {
		return r.nextLine()
	}
	r.data, r.stray = r.data[:0], r.stray[:0]
	found := false
	for {
		line, err := r.readLine()
		if rest, ok := field(line); ok {
			if found {
				r.data = append(r.data, '\n')
			}
			if len(r.data)+len(rest) > r.maxEvent {
				return nil, errTooLong
			}
			r.data, found = append(r.data, rest...), true
		} else if len(r.stray) < maxFault {
			r.keep(line)
		}
		switch {
		case len(r.data) > 0 && (err == io.EOF || err == nil && len(line) == 0):
			return r.data, nil
		case err == nil && len(line) == 0: // an event without data is none
			found = false
		case err == io.EOF && len(r.stray) > 0 && json.Valid(r.stray):
			return r.stray, nil
		case err != nil:
			return nil, err
		}
	}
}

// keep notes a line that may be of an error outside of every event.
func (r *reader) keep(line []byte) {
	first := bytes.TrimLeft(line, " \t")
	if len(first) > 0 && (len(r.stray) > 0 || first[0] == '{' || first[0] == '[') {
		r.stray = append(append(r.stray, line...), '\n')
	}
}

// nextLine is next where each line is an event.
func (r *reader) nextLine() ([]byte, error) {
	for {
		line, err := r.readLine()
		switch {
		case len(bytes.TrimSpace(line)) > 0 && (err == nil || err == io.EOF):
			return line, nil
		case err != nil:
			return nil, err
		}
	}
}

// field returns the value of a data line.
func field(line []byte) ([]byte, bool) {
	rest, ok := bytes.CutPrefix(line, []byte("data"))
	if !ok {
		return nil, false
	}
	if len(rest) == 0 {
		return nil, true
	}
	if rest[0] != ':' {
		return nil, false
	}
	return bytes.TrimPrefix(rest[1:], []byte(" ")), true
}

// readLine returns the next line without its end, valid until the next call.
func (r *reader) readLine() ([]byte, error) {
	line, err := r.r.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		r.line = append(r.line[:0], line...)
		for err == bufio.ErrBufferFull {
			line, err = r.r.ReadSlice('\n')
			if len(r.line)+len(line) > r.maxEvent {
				return nil, errTooLong
			}
			r.line = append(r.line, line...)
		}
		line = r.line
	}
	first := r.total == 0
	if r.total += len(line); r.total > r.maxAnswer {
		return nil, errTooLong
	}
	if first {
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	line = bytes.TrimSuffix(line, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), err
}
