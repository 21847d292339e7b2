// Package workspace holds the tools that work on the files of a session: bash,
// read, write, edit, glob and grep.
//
// They reach the world through an [FS], which resolves every name inside the
// session's directories, and a [Runner], which starts programs there. What they
// read is remembered in a [Seen] for the length of the session, so that a file
// which somebody else changed in between is not overwritten.
package workspace

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"time"
)

// Errors of an [FS], for callers that branch.
var (
	ErrOutside  = errors.New("outside the workspace") // the real path is not below a root
	ErrSpecial  = errors.New("not a regular file")    // a pipe, a device, a socket, a directory
	ErrChanged  = errors.New("changed on disk")       // the bytes are not those that were planned on
	ErrTooLarge = errors.New("too large")             // longer than the limit of the call
)

// An FS is the files of a workspace. A name is absolute or relative to Dir; the
// real path decides, after symbolic links, whether it is inside (R-HARN-12), at
// the time of use. Implementations are safe for concurrent use.
type FS interface {
	// Dir returns the absolute working directory.
	Dir() string

	// Roots returns the absolute directories that are the workspace, Dir first.
	Roots() []string

	// Resolve returns the absolute path that name stands for, its links
	// followed as far as they exist, or an error that wraps [ErrOutside].
	Resolve(name string) (string, error)

	// Stat follows links, as Resolve does.
	Stat(ctx context.Context, name string) (fs.FileInfo, error)

	// Open opens a regular file and never blocks: everything else is an error
	// that wraps [ErrSpecial]. It reads from the disk.
	Open(ctx context.Context, name string) (File, error)

	// ReadFile returns the text of a file as the user sees it: of an unsaved
	// buffer where the editor has one. Above limit bytes (0 is none) it fails
	// with [ErrTooLarge], and like Open it refuses what is not a regular file.
	ReadFile(ctx context.Context, name string, limit int64) ([]byte, error)

	// WriteFile replaces the content of name, or creates it with its parents.
	// With old not nil it writes only while the content is still old, and
	// otherwise fails with [ErrChanged]; with old nil and create set it fails
	// with [fs.ErrExist] if the file is there. Permissions are kept, and a link
	// inside the workspace stays one. A failed write leaves the old content.
	WriteFile(ctx context.Context, name string, data []byte, w Write) error

	// ReadDir lists a directory, sorted by name.
	ReadDir(ctx context.Context, name string) ([]fs.DirEntry, error)
}

// A Write says what WriteFile expects to find.
type Write struct {
	Old    []byte // the content that is replaced; nil does not look
	Create bool   // the file must not exist
}

// A File is an open regular file.
type File interface {
	io.Reader
	io.ReaderAt
	io.Seeker
	io.Closer
	Stat() (fs.FileInfo, error)
}

// A Runner runs shell commands.
type Runner interface {
	// Run returns when the command and all that it started have ended, or were
	// ended because of the time limit or ctx. Starting fails with an error; a
	// command that fails does not.
	Run(ctx context.Context, c Command) (Exit, error)
}

// A Command is a line for the shell.
type Command struct {
	Line    string
	Dir     string         // absolute
	Timeout time.Duration  // 0 is none
	Output  func(p []byte) // takes standard output and error as they come, in order
}

// An Exit is how a command ended.
type Exit struct {
	Code     int    // of the shell; -1 after a signal
	Signal   string // name of the signal that ended it, if one did
	TimedOut bool
}
