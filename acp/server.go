package acp

import (
	"cmp"
	"context"
	"io"
	"time"

	"github.com/rs/zerolog"
)

// Options set a [Server] up. Start is needed.
type Options struct {
	Log     zerolog.Logger
	Title   string        // of the program, for people; default "Lorimer"
	Version string        // of the program; default "devel"
	Audio   bool          // prompts may carry sound
	Drain   time.Duration // for accepted requests after the end of input; default 10 min (R-ACP-07)
	Grace   time.Duration // for all that is ended: cancelled requests, then sessions; default 5 s (R-ACP-05)

	// Ready, if it is set, is called when initialize has been answered, before
	// anything else is. It must not block.
	Ready func()

	// Start makes the backend. It is called by the first request that needs a
	// session, never twice at once, and again for a later request if it failed.
	// Its error is shown to the user: one that is not an [Error] with its whole
	// text, so it must hold no secrets and should name a way out.
	Start func(ctx context.Context) (*Backend, error)
}

// A Server is an agent for one editor.
type Server struct{ o Options }

// New returns a server. It reads nothing and starts nothing.
func New(o Options) *Server {
	o.Title = cmp.Or(o.Title, "Lorimer")
	o.Version = cmp.Or(o.Version, "devel")
	o.Grace = cmp.Or(o.Grace, 5*time.Second)
	return &Server{o: o}
}

// Serve speaks with the editor until in ends, out is closed or ctx ends. Then it
// answers what it has accepted (R-ACP-05, R-ACP-07), closes the sessions and
// returns; nothing of it runs afterwards. Each of these ends is a normal one and
// no error. It is one if answers were lost because out could not be written,
// though there may be a reader, such as a file on a full disk.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	return newConn(s.o).serve(ctx, in, out)
}
