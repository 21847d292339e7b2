package serve

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

const (
	readSize  = 64 << 10 // bytes asked of the input at once
	beginning = 4 << 10  // bytes kept of a line that is too long
)

// errTooLong accompanies the beginning of a line that was skipped.
var errTooLong = errors.New("line is too long")

// lines splits an input into lines. A line costs as much memory as it is long, and
// one that is too long costs next to none.
type lines struct {
	r     *bufio.Reader
	max   int // bytes of a line, with its end
	ended error
	first bool // a byte order mark may come
}

func newLines(r io.Reader, limit int) *lines {
	return &lines{r: bufio.NewReaderSize(r, readSize), max: limit, first: true}
}

// next returns the next line that is not blank, without the white space around it.
// It is the caller's. A last line without a line feed counts.
func (l *lines) next() ([]byte, error) {
	for l.ended == nil {
		line, err := l.line()
		if l.first {
			line, l.first = bytes.TrimPrefix(line, []byte("\ufeff")), false
		}
		if line = bytes.Trim(line, " \t\r\n"); len(line) > 0 || err != nil {
			return line, err
		}
	}
	return nil, l.ended
}

// line reads up to and including a line feed or the end of the input.
func (l *lines) line() ([]byte, error) {
	var parts [][]byte // joined once: a line that grows is copied often
	size := 0
	for {
		part, err := l.r.ReadSlice('\n')
		if size += len(part); size <= l.max || parts == nil {
			parts = append(parts, bytes.Clone(part))
		}
		if size > l.max { // only the beginning counts
			clear(parts[1:])
			parts = parts[:1]
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		l.ended = err
		if size > l.max {
			return bytes.Clone(parts[0][:min(beginning, len(parts[0]))]), errTooLong
		}
		return bytes.Join(parts, nil), nil
	}
}
