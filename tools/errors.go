package tools

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// A PublicError is an error whose text the model and the user may read as it
// stands: it holds no path of this machine, no address with credentials, no
// header and no secret (R-TOOLS-06).
type PublicError struct {
	Text string
	Err  error // the cause, for callers that branch; may be nil
}

func (e *PublicError) Error() string { return e.Text }

// Unwrap returns the cause.
func (e *PublicError) Unwrap() error { return e.Err }

// Publicf returns a [PublicError] with the text and the cause that [fmt.Errorf]
// makes of its arguments. The text of a cause given for %w becomes public too.
func Publicf(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return &PublicError{Text: err.Error(), Err: errors.Unwrap(err)}
}

// Failf returns a result that tells the model of a failure it can act on.
func Failf(format string, args ...any) Result {
	return Result{Text: fmt.Sprintf(format, args...), IsError: true}
}

// The texts of errors that are not public.
const (
	textCancelled = "The call was cancelled before it finished."
	textTimeout   = "The call took too long and was ended."
	textFault     = "The tool met an internal error; the log has the details. Try another way."
)

// ErrorText returns what the model and the user read of err (R-TOOLS-06): the
// text of a [PublicError], and of any other error only which of cancellation,
// time-out and fault it is. The rest is for the log.
func ErrorText(err error) string {
	if err == nil {
		return ""
	}
	if p, ok := errors.AsType[*PublicError](err); ok {
		return p.Text
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return textTimeout
	case errors.Is(err, context.Canceled):
		return textCancelled
	}
	return textFault
}
