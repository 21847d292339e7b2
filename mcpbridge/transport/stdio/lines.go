package stdio

import (
	"bufio"
	"bytes"
	"io"
)

// readSize is how much is read at once. A transport holds it while it lives.
const readSize = 16 << 10

// lines splits a stream into lines. A line costs as much memory as it is long, and
// none costs more than max.
type lines struct {
	r   *bufio.Reader
	max int
}

func newLines(r io.Reader, limit int) *lines {
	return &lines{r: bufio.NewReaderSize(r, readSize), max: limit}
}

// next returns the next line with its end, which the last may lack. It is the
// caller's. The error is [errLine] for one that is longer than max, else that of the
// reader; a line may come with it.
func (l *lines) next() ([]byte, error) {
	var parts [][]byte // joined once: a line that grows is copied often
	size := 0
	for {
		part, err := l.r.ReadSlice('\n')
		if size += len(part); size > l.max {
			return nil, errLine
		}
		part = bytes.Clone(part)
		if parts == nil && err == nil {
			return part, nil
		}
		parts = append(parts, part)
		if err != bufio.ErrBufferFull {
			return bytes.Join(parts, nil), err
		}
	}
}
