package store

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"os"
	"path/filepath"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/driver"
)

// A Report is what [Look] has found.
type Report struct {
	Schema  int      // version of the tables; 0 is none yet
	Known   int      // version that this program brings them to
	Threads int      // how many there are
	Broken  []string // the ids of those that are damaged, and so in no list
	Damage  string   // the first thing that a check of the file complains of; "" is nothing
}

// Look looks at the database at where and changes nothing in it: neither is one
// made, nor are the tables of an older program brought up to date. Its errors are
// those of [Open], and [io/fs.ErrNotExist] for a file that is not there.
func Look(ctx context.Context, where string) (Report, error) {
	if isURL(where) {
		return lookPostgres(ctx, where)
	}
	path, err := filepath.Abs(where)
	if err != nil {
		return Report{}, err
	}
	private := checkPrivate(filepath.Dir(path))
	if _, ok := errors.AsType[*fault](private); ok {
		return Report{}, private
	}
	if _, err := os.Stat(path); err != nil {
		return Report{}, err
	}
	return lookSQLite(ctx, path)
}

func lookSQLite(ctx context.Context, path string) (Report, error) {
	names, err := scripts("sqlite")
	if err != nil {
		return Report{}, err
	}
	d := &sqlite{path: path, scripts: names}
	r := Report{Known: len(names)}
	name := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: "mode=ro"}
	db, err := driver.Open(name.String(), func(c *sqlite3.Conn) error {
		if err := c.BusyTimeout(busyTimeout); err != nil {
			return err
		}
		at, err := version(c)
		if err != nil {
			return err
		}
		r.Schema = at
		return checkVersion(path, at, len(names))
	})
	if err != nil {
		return Report{}, explain(ctx, d, err)
	}
	defer db.Close() // it was only read
	db.SetMaxOpenConns(1)
	err = look(ctx, db, d, &r, func(t tx) error {
		_, err := t.get(ctx, "PRAGMA quick_check(1)", nil, &r.Damage)
		if r.Damage == "ok" {
			r.Damage = ""
		}
		return err
	})
	return r, err
}

func lookPostgres(ctx context.Context, address string) (Report, error) {
	db, d, err := dialPostgres(address)
	if err != nil {
		return Report{}, err
	}
	defer db.Close() // it was only read
	r := Report{Known: len(d.scripts)}
	err = look(ctx, db, d, &r, func(t tx) (err error) {
		r.Schema, err = d.version(ctx, t)
		return err
	})
	return r, err
}

// look runs check and looks at each thread.
func look(ctx context.Context, db *sql.DB, d dialect, r *Report, check func(tx) error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return explain(ctx, d, err)
	}
	defer conn.Close() // gives it back to the pool
	t := tx{conn, d}
	if err := check(t); err != nil || r.Schema == 0 || r.Damage != "" {
		return err
	}
	return t.all(ctx, "SELECT id, info FROM threads ORDER BY id", nil, func(row scan) error {
		var id string
		var data []byte
		if err := row(&id, &data); err != nil {
			return err
		}
		r.Threads++
		if _, err := readInfo(id, data); err != nil {
			r.Broken = append(r.Broken, id)
		}
		return nil
	})
}
