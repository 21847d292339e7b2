package wire

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/windows"
)

// readerGone reports whether a write failed with err because nobody reads any
// more, or because we closed the output ourselves.
func readerGone(err error) bool {
	return errors.Is(err, windows.ERROR_BROKEN_PIPE) || errors.Is(err, windows.ERROR_NO_DATA) ||
		errors.Is(err, windows.WSAECONNRESET) || errors.Is(err, os.ErrClosed) || errors.Is(err, io.ErrClosedPipe)
}
