package store

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/place"
)

// Options tune a store. The zero value is right for most uses.
type Options struct {
	Now func() time.Time // of entries, and of the locks in SQLite; default time.Now
	// Files is the directory below which the contents of documents are, in
	// documents/aa/HASH; default that of the file of a SQLite database. Beside
	// PostgreSQL there is no default: without it no content is kept or read. It is
	// a machine's own, so that those who share a PostgreSQL share what is said of a
	// document, and not its content.
	Files string
}

// A Store keeps threads, projects, workspaces and documents. It is safe for concurrent use, also by several programs
// that have the same database open. Times are kept to the microsecond, in UTC.
//
// Its errors are one line that names the database, without the user and the
// password, and a way out.
type Store struct {
	db  *sql.DB
	d   dialect
	now func() time.Time
	// files is the directory of Options.Files; "" is none.
	files string

	mu     sync.Mutex // guards the fields below
	closed bool
	uses   sync.WaitGroup // counted up only while not closed
}

var (
	_ harness.Threads = (*Store)(nil)
	_ place.Places    = (*Store)(nil)
)

// A dialect is what the databases do not have in common.
type dialect interface {
	// begin is the statement that begins a change.
	begin() string
	// lock ends a SELECT of a row until the end of the transaction: with the
	// mode KEY SHARE others may not delete it, with NO KEY UPDATE they may not
	// write it either, and UPDATE waits for all of them.
	lock(mode string) string
	// freeze is a statement that keeps others from writing to a table until the end
	// of the transaction; "" is not needed.
	freeze(table string) string
	// page is a query for the entries of a thread after a number, up to last:
	// id, seq, time, kind and body of pageRows at most, and hardly more bytes
	// than pageBytes or else a reader who stops there.
	page(id string, after, last int64) (query string, args []any)
	// search is a query for the messages and titles with some phrases: seq,
	// time, kind and body of the entry, id and info of the thread. $1 is what
	// match returns, $2 a directory or "", $3 the number of rows.
	search() string
	match(phrases [][]string) string
	document(words []string) string // the value of words.text
	time() string                   // a query for the time of locks in microseconds; "" takes the program's
	explain(err error) error        // an error of the database, or of its files, for the user
	beside() string                 // the directory of its file; "" is none
	// name is of the database, the same whenever it is opened, and of no other that
	// keeps contents below dir. That of a file is its path, from dir or from the root.
	name(dir string) string
	// here fails when the database is no longer where it was opened, so that what
	// is written now would be lost.
	here() error
}

// Open opens the database at where: the path of a file, which is made when it is
// not there, or a URL that begins with postgres:// or postgresql://. It brings
// the tables up to date. It is called when the first thread is needed, not before
// (R-STORE-03).
func Open(ctx context.Context, where string, o Options) (*Store, error) {
	s := &Store{now: o.Now, files: o.Files}
	if s.now == nil {
		s.now = time.Now
	}
	var err error
	if isURL(where) {
		s.db, s.d, err = openPostgres(ctx, where)
	} else {
		s.db, s.d, err = openSQLite(ctx, where)
	}
	if err != nil {
		return nil, err
	}
	if s.files == "" {
		s.files = s.d.beside()
	}
	return s, nil
}

// isURL reports whether where is a database elsewhere.
func isURL(where string) bool {
	return strings.HasPrefix(where, "postgres://") || strings.HasPrefix(where, "postgresql://")
}

// errClosed is returned by a store after its end.
var errClosed = errors.New("the store of sessions is closed")

// Close waits for what is under way and closes the database.
func (s *Store) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.uses.Wait()
	if err := s.db.Close(); err != nil {
		return s.d.explain(err)
	}
	return nil
}

// enter tells that the database is in use until leave is called.
func (s *Store) enter() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	s.uses.Add(1)
	return nil
}

func (s *Store) leave() { s.uses.Done() }
