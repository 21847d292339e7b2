package store

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"time"
)

// finish is how long the end of a transaction may take after its caller has
// given up.
const finish = 30 * time.Second

// A tx is a connection to the database, in a transaction or for one statement.
// Its errors are for the user.
type tx struct {
	conn *sql.Conn
	d    dialect
}

// view calls f with a connection, for statements that change nothing. Between two of
// them others may.
func (s *Store) view(ctx context.Context, f func(tx) error) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return explain(ctx, s.d, err)
	}
	defer conn.Close() // gives it back to the pool
	return f(tx{conn, s.d})
}

// change calls f with a connection in a transaction, as [tx.change] does.
func (s *Store) change(ctx context.Context, f func(tx) error) error {
	return s.view(ctx, func(t tx) error {
		return t.change(ctx, func() error { return f(t) })
	})
}

// change calls f in a transaction, which is committed if f returns nil, and
// undone otherwise. Once all is done a cancelled ctx no longer ends it: whoever
// cancels would not know whether it had happened.
func (t tx) change(ctx context.Context, f func() error) error {
	committed := false
	defer func() {
		if !committed { // also when f panics, or when a wait was cut off that had begun
			t.rollback(ctx)
		}
	}()
	if err := t.exec(ctx, t.d.begin()); err != nil {
		return err
	}
	if err := cmp.Or(f(), ctx.Err()); err != nil {
		return err
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), finish)
	defer cancel()
	err := t.exec(end, "COMMIT")
	committed = err == nil
	return err
}

// rollback undoes what the transaction has done. Where that does not work the
// connection is not used again, and the database undoes it.
func (t tx) rollback(ctx context.Context) {
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), finish)
	defer cancel()
	if _, err := t.conn.ExecContext(end, "ROLLBACK"); err != nil {
		_ = t.conn.Raw(func(any) error { return driver.ErrBadConn }) // returns what it was told to
	}
}

// exec runs a statement.
func (t tx) exec(ctx context.Context, statement string, args ...any) error {
	_, err := t.conn.ExecContext(ctx, statement, args...)
	return explain(ctx, t.d, err)
}

// A scan reads the columns of a row.
type scan func(into ...any) error

// errEnough ends a query from within.
var errEnough = errors.New("enough rows")

// all calls f for each row of a query, or until it returns an error, which is
// returned; errEnough ends it without one.
func (t tx) all(ctx context.Context, query string, args []any, f func(scan) error) error {
	rows, err := t.conn.QueryContext(ctx, query, args...)
	if err != nil {
		return explain(ctx, t.d, err)
	}
	defer rows.Close()
	row := func(into ...any) error { return explain(ctx, t.d, rows.Scan(into...)) }
	for rows.Next() {
		switch err := f(row); {
		case errors.Is(err, errEnough):
			return nil
		case err != nil:
			return err
		}
	}
	return explain(ctx, t.d, rows.Err())
}

// get reads the first row of a query into into, and reports whether there is one.
func (t tx) get(ctx context.Context, query string, args []any, into ...any) (found bool, err error) {
	err = t.all(ctx, query, args, func(row scan) error {
		found = true
		if err := row(into...); err != nil {
			return err
		}
		return errEnough
	})
	return found, err
}

// A fault is an error in words for the user.
type fault struct {
	text  string
	cause error // nil where it says too much, or nothing
}

func (f *fault) Error() string { return f.text }
func (f *fault) Unwrap() error { return f.cause }

// UserText implements [harness.UserError].
func (f *fault) UserText() string { return f.text }

// explain returns an error of the database for the user. That of a cancelled ctx
// is the ctx's.
func explain(ctx context.Context, d dialect, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if at, ok := ctx.Deadline(); ok && !time.Now().Before(at) {
		return context.DeadlineExceeded // a connection may notice it before ctx does
	}
	if _, ok := errors.AsType[*fault](err); ok {
		return err
	}
	return d.explain(err)
}
