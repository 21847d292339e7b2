package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math"
)

const (
	readSize  = 64 << 10 // bytes asked of the input at once
	prefixLen = 4 << 10  // bytes kept of a line that is too long
)

// errTooLong accompanies the beginning of a line that was skipped.
var errTooLong = errors.New("line is too long")

// A frameReader splits its input into lines. A line costs as much memory as it
// is long; nothing of it is kept for the next one.
type frameReader struct {
	r   *bufio.Reader
	max int   // bytes of a line, without its end
	err error // of the input, returned once all lines are
	bom bool  // a byte order mark may still come
}

func newFrameReader(r io.Reader, limit int) *frameReader {
	return &frameReader{r: bufio.NewReaderSize(r, readSize), max: min(limit, math.MaxInt32), bom: true}
}

// next returns the next line that is not blank, without the white space around
// it. The line is the caller's. A last line without a line feed counts. With
// errTooLong comes the beginning of a line that was longer than the limit.
func (f *frameReader) next() ([]byte, error) {
	for f.err == nil {
		line, err := f.line()
		if f.bom {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
			f.bom = false
		}
		if line = bytes.Trim(line, " \t\r\n"); len(line) > 0 || err != nil {
			return line, err
		}
	}
	return nil, f.err
}

// line reads up to and including a line feed or the end of the input.
func (f *frameReader) line() ([]byte, error) {
	var parts [][]byte // joined once, since growing a long line copies it often
	n, most := 0, f.max+len("\r\n")
	for {
		part, err := f.r.ReadSlice('\n')
		if n <= most {
			parts = append(parts, bytes.Clone(part))
			n += len(part)
		}
		if n > most { // it is too long, so that only its beginning counts
			clear(parts[1:])
			parts = parts[:1]
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		f.err = err
		line := parts[0]
		if len(parts) > 1 && n <= most {
			line = bytes.Join(parts, nil)
		}
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if len(line) > f.max || n > most {
			return bytes.Clone(line[:min(prefixLen, len(line))]), errTooLong
		}
		return line, nil
	}
}
