package store

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"

	"github.com/ncruces/go-sqlite3/driver"
)

// A connector makes connections to SQLite that keep their statements. The driver
// compiles a statement each time, which is a good part of what a turn costs the
// store.
type connector struct {
	sqldriver.Connector
	d *sqlite
}

// newConnector returns a connector for the file of d.
func newConnector(d *sqlite) (*connector, error) {
	base, err := new(driver.SQLite).OpenConnector(d.path)
	if err != nil {
		return nil, err
	}
	return &connector{base, d}, nil
}

// Connect opens a connection and sets it up.
func (c *connector) Connect(ctx context.Context) (sqldriver.Conn, error) {
	base, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	conn := &keeper{base.(sqliteConn), make(shelf)}
	conn.Raw().SetInterrupt(ctx)
	err = c.d.connect(conn.Raw())
	conn.Raw().SetInterrupt(context.WithoutCancel(ctx))
	if err != nil {
		conn.Close() // says nothing that err does not
		return nil, err
	}
	return conn, nil
}

// A keeper is a connection that keeps its statements.
type keeper struct {
	sqliteConn
	shelf shelf
}

type sqliteConn interface {
	driver.Conn
	sqldriver.ExecerContext
}

// PrepareContext returns a statement that is kept, or a new one.
func (k *keeper) PrepareContext(ctx context.Context, query string) (sqldriver.Stmt, error) {
	return k.shelf.take(query, func() (sqldriver.Stmt, error) { return k.sqliteConn.PrepareContext(ctx, query) })
}

// Close ends the statements and the connection.
func (k *keeper) Close() error { return errors.Join(k.shelf.close(), k.sqliteConn.Close()) }
