package acp

import (
	"context"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/tools/workspace"
)

// A Backend is what sessions are made of. It belongs to whoever started it; the
// server closes the sessions that it has opened and nothing else.
type Backend struct {
	Engine *harness.Engine

	// Open opens the workspace of a session. The directories are absolute and
	// exist.
	Open func(ctx context.Context, d Dirs) (Workspace, error)

	// Chosen says that the user has named the model to begin with. Only then is
	// a missing key a reason to ask for a sign-in (R-ACP-12).
	Chosen bool

	// Notices are told in the first turn of each session, once.
	Notices []string
}

// Dirs are the directories of a session.
type Dirs struct {
	Cwd  string   // absolute
	More []string // further directories, absolute
}

// A Workspace is what the tools of one session work on.
type Workspace struct {
	FS      workspace.FS // of the disk; the server puts the editor's buffers before it
	Runner  workspace.Runner
	Scratch string       // directory for what tools keep beside the workspace; "" is none
	Close   func() error // ends what it holds; nil is nothing
}
