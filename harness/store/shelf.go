package store

import (
	sqldriver "database/sql/driver"
	"errors"
)

// A shelf has the statements of one connection that nobody uses at the moment, by
// their text. There are as many as this package has texts of them.
type shelf map[string]statement

// A statement is what a driver gives for one.
type statement interface {
	sqldriver.Stmt
	sqldriver.StmtExecContext
	sqldriver.StmtQueryContext
	sqldriver.NamedValueChecker
}

// take returns the statement that is kept of query, or the one that prepare makes. It
// is put back when it is closed.
func (s shelf) take(query string, prepare func() (sqldriver.Stmt, error)) (sqldriver.Stmt, error) {
	if idle, ok := s[query]; ok {
		delete(s, query) // it is one's who uses it
		return &kept{idle, s, query}, nil
	}
	made, err := prepare()
	if err != nil {
		return nil, err
	}
	return &kept{made.(statement), s, query}, nil
}

// close ends the statements.
func (s shelf) close() error {
	var errs []error
	for _, idle := range s {
		errs = append(errs, idle.Close())
	}
	return errors.Join(errs...)
}

// kept is a statement that is in use, and goes back to its shelf.
type kept struct {
	statement
	home  shelf
	query string
}

// Close gives the statement back.
func (s *kept) Close() error {
	if _, ok := s.home[s.query]; ok {
		return s.statement.Close() // two were in use at once
	}
	s.home[s.query] = s.statement
	return nil
}
