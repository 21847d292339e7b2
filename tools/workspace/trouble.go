package workspace

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"github.com/lorimer-dev/lorimer/tools"
)

// maxName is how many characters of a name an error repeats.
const maxName = 200

// trouble turns an error of an [FS] about name into one for the model, which
// speaks of the name that the model gave and says what to do. An error that it
// does not know stays private.
func trouble(name string, err error) error {
	shown := tools.Line(name, maxName)
	say := func(format string, args ...any) error {
		p := tools.Publicf(format, args...)
		return &tools.PublicError{Text: p.Error(), Err: err}
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrOutside):
		return say("%s is outside the workspace, or leads out of it; use a file below the working directory", shown)
	case errors.Is(err, ErrChanged):
		return say("%s has changed on disk since it was read; read it again", shown)
	case errors.Is(err, ErrTooLarge):
		return say("%s is too large for this tool; use bash for it", shown)
	case errors.Is(err, ErrSpecial):
		return say("%s is not a regular file but a directory, a pipe, a socket or a device; give a file", shown)
	case errors.Is(err, fs.ErrInvalid):
		return say("%q is not a usable path: it is empty or has a NUL character; give the path of a file", shown)
	case errors.Is(err, fs.ErrNotExist) && isHome(name):
		return say("%s does not exist; ~ does not stand for the home directory here: give an absolute path, or one from the working directory", shown)
	case errors.Is(err, fs.ErrNotExist):
		return say("%s does not exist; look for it with glob", shown)
	case errors.Is(err, fs.ErrExist):
		return say("%s has appeared on disk in the meantime; read it first", shown)
	case errors.Is(err, fs.ErrPermission):
		return say("%s: permission denied; the user has to change its permissions", shown)
	}
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return say("%s: %s", shown, errno.Error())
	}
	return err
}

// isHome reports whether name is written as one in a home directory.
func isHome(name string) bool { return name == "~" || strings.HasPrefix(name, "~/") }

// told turns a public error into the result that the model reads, and passes
// others on.
func told(err error) (tools.Result, error) {
	if p, ok := errors.AsType[*tools.PublicError](err); ok {
		return tools.Result{Text: p.Text, IsError: true}, nil
	}
	return tools.Result{}, err
}
