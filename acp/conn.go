package acp

import (
	"context"
	"io"

	"github.com/lorimer-dev/lorimer/acp/wire"
)

type conn struct{ o Options }

func newConn(o Options) *conn { return &conn{o: o} }

func (c *conn) serve(ctx context.Context, in io.Reader, out io.Writer) error { return wire.ErrClosed }
