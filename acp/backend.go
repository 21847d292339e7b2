package acp

import (
	"context"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/mcpbridge"
	"github.com/lorimer-dev/lorimer/tools/server"
	"github.com/lorimer-dev/lorimer/tools/workspace"
)

// A Backend is what sessions are made of. It belongs to whoever started it; the
// server closes the sessions that it has opened and nothing else.
type Backend struct {
	Engine *harness.Engine

	// Open opens the workspace of a session. The directories are absolute and
	// exist.
	Open func(ctx context.Context, d Dirs) (Workspace, error)

	// Connect returns the MCP servers of a session: those of the configuration and
	// its directory, then those that the editor sends (R-MCP-01). It contacts nobody,
	// and what it returns is closed with the session. Nil has no servers.
	Connect func(ctx context.Context, s Servers) (server.Set, error)

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

// Servers say whose MCP servers are wanted.
type Servers struct {
	Session string // id
	Dirs    Dirs
	Scratch string             // directory for results that are too long, made when needed; "" is none
	Editor  []mcpbridge.Server // that the editor sends, in its order
	Host    server.Host        // answers what they ask
}

// A Workspace is what the tools of one session work on.
type Workspace struct {
	FS      workspace.FS // of the disk; the server puts the editor's buffers before it
	Runner  workspace.Runner
	Scratch string       // directory for what tools keep beside the workspace; "" is none
	Close   func() error // ends what it holds; nil is nothing
}
