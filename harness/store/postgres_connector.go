package store

import (
	"context"
	"database/sql/driver"
	"net"
	"time"

	"github.com/lib/pq"
)

// A postgresConnector makes connections to a PostgreSQL server. Its making ends with the
// context, which the library heeds only until the server has accepted.
type postgresConnector struct{ config pq.Config }

// Connect implements [driver.Connector].
func (c postgresConnector) Connect(ctx context.Context) (driver.Conn, error) {
	one, err := pq.NewConnectorConfig(c.config)
	if err != nil {
		return nil, &unconnectedError{err}
	}
	d := &dialer{ctx: ctx}
	one.Dialer(d)
	conn, err := one.Connect(ctx)
	d.release()
	switch {
	case ctx.Err() != nil:
		if err == nil {
			conn.Close() // says nothing that the context does not
		}
		return nil, ctx.Err()
	case err != nil:
		return nil, &unconnectedError{err}
	}
	return &postgresConn{conn.(pqConn), make(shelf)}, nil
}

// Driver implements [driver.Connector].
func (postgresConnector) Driver() driver.Driver { return &pq.Driver{} }

// A postgresConn is a connection that keeps its statements: the server reads each of
// them once, and each use is one message and its answer.
type postgresConn struct {
	pqConn
	shelf shelf
}

// pqConn is what the library's connections do, but for queries: those go through
// statements.
type pqConn interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ConnBeginTx
	driver.ExecerContext
	driver.NamedValueChecker
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// PrepareContext returns a statement that is kept, or a new one.
func (c *postgresConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	return c.shelf.take(query, func() (driver.Stmt, error) {
		s, err := c.pqConn.PrepareContext(ctx, query)
		if err != nil {
			return nil, err
		}
		return &postgresStatement{s.(pqStatement), c}, nil
	})
}

// ExecContext leaves what has arguments to statements.
func (c *postgresConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if len(args) > 0 {
		return nil, driver.ErrSkip
	}
	return c.pqConn.ExecContext(ctx, query, nil)
}

// A postgresStatement takes the values that its connection takes.
type postgresStatement struct {
	pqStatement
	conn *postgresConn
}

type pqStatement interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// CheckNamedValue implements [driver.NamedValueChecker].
func (s *postgresStatement) CheckNamedValue(v *driver.NamedValue) error {
	return s.conn.CheckNamedValue(v)
}

// An unconnectedError tells that no connection came about.
type unconnectedError struct{ err error }

func (e *unconnectedError) Error() string { return e.err.Error() }

func (e *unconnectedError) Unwrap() error { return e.err }

// A dialer dials for one connection, maybe several times. What it has dialled is cut
// off when ctx ends, until it is released; the library goes on to dial with it, to have
// the server cancel a statement.
type dialer struct {
	ctx      context.Context // that of the whole connecting; the one of a dial ends with it
	stops    []func() bool
	released bool
}

var _ pq.DialerContext = (*dialer)(nil)

// DialContext implements [pq.DialerContext].
func (d *dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err == nil && !d.released {
		d.stops = append(d.stops, context.AfterFunc(d.ctx, func() { conn.Close() }))
	}
	return conn, err
}

// Dial implements [pq.Dialer]. The library prefers DialContext.
func (d *dialer) Dial(network, address string) (net.Conn, error) {
	return d.DialContext(d.ctx, network, address)
}

// DialTimeout implements [pq.Dialer]. The library prefers DialContext.
func (d *dialer) DialTimeout(network, address string, limit time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(d.ctx, limit)
	defer cancel()
	return d.DialContext(ctx, network, address)
}

// release leaves what was dialled to whoever has the connection.
func (d *dialer) release() {
	for _, stop := range d.stops {
		stop()
	}
	d.stops, d.released = nil, true
}
