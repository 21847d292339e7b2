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
	conn := &keeper{base.(sqliteConn), make(map[string]statement)}
	conn.Raw().SetInterrupt(ctx)
	err = c.d.connect(conn.Raw())
	conn.Raw().SetInterrupt(context.WithoutCancel(ctx))
	if err != nil {
		conn.Close() // says nothing that err does not
		return nil, err
	}
	return conn, nil
}

// A keeper is a connection that keeps its statements. There are as many as this
// package has texts of them.
type keeper struct {
	sqliteConn
	idle map[string]statement // by their text
}

type sqliteConn interface {
	driver.Conn
	sqldriver.ExecerContext
}

// PrepareContext returns a statement that is kept, or a new one.
func (k *keeper) PrepareContext(ctx context.Context, query string) (sqldriver.Stmt, error) {
	if s, ok := k.idle[query]; ok {
		delete(k.idle, query) // it is one's who uses it
		return &kept{s, k, query}, nil
	}
	s, err := k.sqliteConn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	return &kept{s.(statement), k, query}, nil
}

// Close ends the statements and the connection.
func (k *keeper) Close() error {
	var errs []error
	for _, s := range k.idle {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, k.sqliteConn.Close())...)
}

// A statement is what the driver gives for one.
type statement interface {
	sqldriver.Stmt
	sqldriver.StmtExecContext
	sqldriver.StmtQueryContext
	sqldriver.NamedValueChecker
}

// kept is a statement that is in use, and goes back to its connection.
type kept struct {
	statement
	home  *keeper
	query string
}

// Close gives the statement back.
func (s *kept) Close() error {
	if _, ok := s.home.idle[s.query]; ok {
		return s.statement.Close() // two were in use at once
	}
	s.home.idle[s.query] = s.statement
	return nil
}
