//go:build unix

package wire

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// readerGone reports whether a write failed with err because nobody reads any
// more, or because we closed the output ourselves.
func readerGone(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) ||
		errors.Is(err, os.ErrClosed) || errors.Is(err, io.ErrClosedPipe)
}
