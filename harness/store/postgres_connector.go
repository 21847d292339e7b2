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
	return conn, nil
}

// Driver implements [driver.Connector].
func (postgresConnector) Driver() driver.Driver { return &pq.Driver{} }

// An unconnectedError tells that no connection came about.
type unconnectedError struct{ err error }

func (e *unconnectedError) Error() string { return e.err.Error() }

func (e *unconnectedError) Unwrap() error { return e.err }

// A dialer dials for one connection, maybe several times. What it has dialled is cut
// off when ctx ends, until it is released.
type dialer struct {
	ctx   context.Context // that of the whole connecting; the one of a dial ends with it
	stops []func() bool
}

var _ pq.DialerContext = (*dialer)(nil)

// DialContext implements [pq.DialerContext].
func (d *dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err == nil {
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
}
