package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/ext/fts5"
)

const (
	applicationID = 0x4c6f7269 // marks a database of ours
	busyTimeout   = 10 * time.Second
)

// sqlite is the dialect of a database in a file. There is one connection: a
// process writes one change after the other, and a page is soon read.
type sqlite struct {
	path    string
	file    os.FileInfo // of the open one; nil where nothing is written
	scripts []string    // the migrations
}

// openSQLite opens the database in a file.
func openSQLite(ctx context.Context, path string) (*sql.DB, dialect, error) {
	names, err := scripts("sqlite")
	if err != nil {
		return nil, nil, err
	}
	path, err = filepath.Abs(path)
	if err != nil {
		return nil, nil, fmt.Errorf("finding database: %w", err)
	}
	d := &sqlite{path: path, scripts: names}
	if err := d.prepare(); err != nil {
		return nil, nil, explain(ctx, d, err)
	}
	c, err := newConnector(d)
	if err != nil {
		return nil, nil, explain(ctx, d, err)
	}
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(1)
	if err := d.migrate(ctx, db); err != nil {
		db.Close() // says nothing that err does not
		return nil, nil, err
	}
	return db, d, nil
}

// errIrregular tells of a device or a pipe, whose mode is not ours to change.
var errIrregular = errors.New("it is not a regular file")

// prepare makes the file, for its owner alone, and follows a link to it: the
// files beside it are beside its end.
func (d *sqlite) prepare() error {
	dir := filepath.Dir(d.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := checkPrivate(dir); err != nil {
		return err
	}
	f, err := os.OpenFile(d.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if d.path, err = filepath.EvalSymlinks(d.path); err != nil {
		return err
	}
	if err := checkPrivate(filepath.Dir(d.path)); err != nil {
		return err
	}
	d.file, err = f.Stat()
	switch {
	case err != nil:
		return err
	case !d.file.Mode().IsRegular():
		return errIrregular
	case d.file.Mode().Perm()&0o077 == 0:
		return nil
	}
	return f.Chmod(0o600)
}

// here compares the file at the path with the one that is open: SQLite goes on
// writing to a file that was moved or removed.
func (d *sqlite) here() error {
	info, err := os.Stat(d.path)
	if err == nil && os.SameFile(info, d.file) {
		return nil
	}
	return &fault{
		fmt.Sprintf("database %s was moved or removed while it was open, and what is said now would be lost; put it back, or start lorimer again", d.path), err,
	}
}

// connect sets a new connection up. A database that is damaged, of a newer
// program or of another one is left as it was: neither converted, nor are changes
// written to it that wait beside it, nor do files stay there that were not.
func (d *sqlite) connect(c *sqlite3.Conn) error {
	clean := !waiting(d.path)
	if err := c.BusyTimeout(busyTimeout); err != nil {
		return err
	}
	if err := fts5.Register(c); err != nil {
		return err
	}
	if _, err := c.Config(sqlite3.DBCONFIG_NO_CKPT_ON_CLOSE, true); err != nil {
		return err
	}
	at, err := version(c)
	if err == nil {
		err = checkVersion(d.path, at, len(d.scripts))
	}
	if err != nil && !clean {
		return err
	}
	// With no changes that wait, all that the end of the connection does is to take
	// away the empty files beside the database.
	if _, failed := c.Config(sqlite3.DBCONFIG_NO_CKPT_ON_CLOSE, false); err != nil || failed != nil {
		return cmp.Or(err, failed)
	}
	if err := useWAL(c); err != nil {
		return err
	}
	// FULL: what was committed outlives a loss of power. The query makes the files
	// whose modes are set then.
	if err := c.Exec("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; SELECT 1 FROM sqlite_schema"); err != nil {
		return err
	}
	return cmp.Or(d.hide("-wal"), d.hide("-shm"))
}

// hide keeps others from a file beside the database, if there is one.
func (d *sqlite) hide(suffix string) error {
	if err := os.Chmod(d.path+suffix, 0o600); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// waiting reports whether there are changes beside the database at path that are not
// yet in it.
func waiting(path string) bool {
	info, err := os.Stat(path + "-wal")
	return err == nil && info.Size() > 0
}

// useWAL has changes written to a log first. Only a new database is not like
// that yet; where two programs change that at once, one is told that the other is
// busy without being made to wait, so it waits here.
func useWAL(c *sqlite3.Conn) error {
	ctx, cancel := context.WithTimeout(c.GetInterrupt(), busyTimeout)
	defer cancel()
	pause := time.NewTicker(5 * time.Millisecond)
	defer pause.Stop()
	for {
		err := c.Exec("PRAGMA journal_mode = WAL")
		if !errors.Is(err, sqlite3.BUSY) {
			return err
		}
		select {
		case <-pause.C:
		case <-ctx.Done():
			return err
		}
	}
}

// errForeign tells of a database that is not ours.
var errForeign = errors.New("no sessions in it")

// version returns how many migrations have run, and reads the whole schema for
// it.
func version(c *sqlite3.Conn) (int, error) {
	s, _, err := c.Prepare("SELECT user_version, application_id, (SELECT count(*) FROM sqlite_schema)" +
		" FROM pragma_user_version, pragma_application_id")
	if err != nil {
		return 0, err
	}
	defer s.Close()
	if !s.Step() {
		return 0, s.Err()
	}
	version, application, tables := s.ColumnInt(0), s.ColumnInt(1), s.ColumnInt(2)
	if application != applicationID && (version != 0 || application != 0 || tables > 0) {
		return 0, errForeign
	}
	return version, nil
}

// migrate brings the tables up to date.
func (d *sqlite) migrate(ctx context.Context, db *sql.DB) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return explain(ctx, d, err)
	}
	defer conn.Close()
	t := tx{conn, d}
	var at int
	if _, err := t.get(ctx, "PRAGMA user_version", nil, &at); err != nil || at == len(d.scripts) {
		return err
	}
	return t.change(ctx, func() error {
		if _, err := t.get(ctx, "PRAGMA user_version", nil, &at); err != nil {
			return err
		}
		if err := checkVersion(d.path, at, len(d.scripts)); err != nil {
			return err
		}
		if err := migrate(ctx, t, at, d.scripts); err != nil {
			return err
		}
		return t.exec(ctx, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, len(d.scripts)))
	})
}

func (*sqlite) begin() string        { return "BEGIN IMMEDIATE" }
func (*sqlite) lock(string) string   { return "" } // whoever writes is alone
func (*sqlite) freeze(string) string { return "" }
func (*sqlite) time() string         { return "" }
func (d *sqlite) beside() string     { return filepath.Dir(d.path) }

// name is the path of the file, as seen from dir where it lies there: both may be
// moved together.
func (d *sqlite) name(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil { // as that of the file is
		dir = real
	}
	if rel, err := filepath.Rel(dir, d.path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return d.path
}

// page leaves it to the reader to stop, which costs nothing here.
func (*sqlite) page(id string, after, last int64) (string, []any) {
	return "SELECT id, seq, time, kind, body FROM entries WHERE thread = $1 AND seq > $2 AND seq <= $3 ORDER BY seq LIMIT $4",
		[]any{id, after, last, pageRows}
}

// search sorts what it finds before it reads a body.
func (*sqlite) search() string {
	return "SELECT e.seq, e.time, e.kind, e.body, t.id, t.info FROM (" +
		"SELECT e.id, words.rank AS rank FROM words" +
		" JOIN entries e ON e.id = words.rowid JOIN threads t ON t.id = e.thread" +
		" WHERE words MATCH $1 AND ($2 = '' OR t.cwd = $2) ORDER BY words.rank, e.time DESC, e.id DESC LIMIT $3" +
		") AS best JOIN entries e ON e.id = best.id JOIN threads t ON t.id = e.thread" +
		" ORDER BY best.rank, e.time DESC, e.id DESC"
}

// match returns "a b" "c" * for the phrases [a b] [c]. Words have no signs in
// them.
func (*sqlite) match(phrases [][]string) string {
	var b strings.Builder
	for _, p := range phrases {
		fmt.Fprintf(&b, `"%s" `, strings.Join(p, " "))
	}
	return b.String() + "*"
}

func (*sqlite) document(words []string) string { return strings.Join(words, " ") }

// explain says what a user can do.
func (d *sqlite) explain(err error) error {
	var what string
	var code sqlite3.ErrorCode
	errors.As(err, &code) // 0 for an error of the system
	switch {
	case errors.Is(err, errForeign):
		what = "belongs to another program; name another file"
	case code == sqlite3.NOTADB:
		what = "is damaged, or no database; nothing was changed: move it away, or restore a copy"
	case code == sqlite3.CORRUPT:
		what = "is damaged; nothing was changed: move it away, or restore a copy"
	case code == sqlite3.FULL || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT),
		code == sqlite3.IOERR && full(filepath.Dir(d.path)):
		what = "cannot grow, the disk is full; make room"
	case code == sqlite3.BUSY || code == sqlite3.LOCKED:
		what = fmt.Sprintf("was held by another program for longer than %v; end that one, or try again", busyTimeout)
	case code == sqlite3.READONLY || errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission):
		what = "cannot be written; permit it for the file and its directory, or name another file"
	case code == 0 || code == sqlite3.CANTOPEN:
		what = "cannot be opened; name another file"
	}
	if what == "" {
		what = "gave an error"
	}
	return &fault{fmt.Sprintf("database %s %s (%v)", d.path, what, err), err}
}
