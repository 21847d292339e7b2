package serve

import (
	"cmp"
	"context"
	"io"
	"time"

	"github.com/rs/zerolog"
)

// Options set a [Server] up. The zero value serves the tools of a desk.
type Options struct {
	Name, Title, Version string
	Instructions         string // how to use what is served, for the model; "" is none

	Prompts   Prompter // nil has none
	Resources Library  // nil has none
	Agent     Asker    // is offered as the tool ask_agent; nil is not
	// Watch calls changed, which never blocks, after a list may have become another one,
	// until stop is called. It is called when a client is there. Nil is for lists that
	// never change.
	Watch func(changed func()) (stop func())
	// Gone reports whether nobody reads the output any more. It is asked now and then
	// after the end of the input, while calls are still waited for. Nil does not know.
	Gone func() bool

	Log     zerolog.Logger
	MaxLine int           // bytes of a message that comes; default 64 MiB
	Output  int           // bytes of output that may wait; default 1 MiB
	Running int           // requests that are worked on at once; default 32
	Open    int           // requests that may be open at once; more are refused; default 1024
	Pace    time.Duration // between two progress messages of a call; default 100 ms
	Drain   time.Duration // for open requests after the end of the input; default 10 min
	Grace   time.Duration // for open requests that were cancelled, and for the output; default 4 s
}

// A Server serves a desk. It may serve several clients, each with a Serve of its own.
type Server struct {
	desk Desk
	o    Options
}

// New returns a server. Nothing is asked of desk before a client wants it.
func New(desk Desk, o Options) *Server {
	o.MaxLine = cmp.Or(o.MaxLine, 64<<20)
	o.Output = cmp.Or(o.Output, 1<<20)
	o.Running = cmp.Or(o.Running, 32)
	o.Open = cmp.Or(o.Open, 1024)
	o.Pace = cmp.Or(o.Pace, 100*time.Millisecond)
	o.Drain = cmp.Or(o.Drain, 10*time.Minute)
	o.Grace = cmp.Or(o.Grace, 4*time.Second)
	if o.Agent != nil {
		desk = withAgent{desk, o.Agent}
	}
	return &Server{desk, o}
}

// Serve answers the client that writes in and reads out. It returns when the input
// has ended and all is answered, or ctx has ended, or nobody reads any more, within
// bounds:
//
//   - After the end of the input open requests may go on for [Options.Drain].
//   - When that is over, or ctx has ended, or the output is gone, they are cancelled
//     and have [Options.Grace]; then they are left behind, and the error is
//     [ErrUnfinished].
//
// The end of the input and that of ctx are no errors; an input that breaks is one. If in and
// out are io.Closers, they are closed where a Read or a Write would last longer.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	return newConn(s, out).serve(ctx, in)
}
