package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/driver"
)

// A Report is what [Look] has found.
type Report struct {
	Schema    int      // version of the tables; 0 is none yet
	Known     int      // version that this program brings them to
	Threads   int      // how many there are
	Broken    []string // the ids of those that are damaged, and so in no list
	Documents int      // how many there are
	Lost      []string // the keys of those whose file is missing or has another size; of none where [Options.Files] is not known
	Damage    string   // the first thing that a check of the file complains of; "" is nothing
}

// Look looks at the database at where and changes nothing, not in it and not beside
// it: neither is one made, nor are the tables of an older program brought up to date.
// Only where changes lie beside it without the index to them is that made, for its
// owner alone. Its errors are those of [Open], and [io/fs.ErrNotExist] for a file that
// is not there.
func Look(ctx context.Context, where string, o Options) (Report, error) {
	if isURL(where) {
		return lookPostgres(ctx, where, o.Files)
	}
	path, err := filepath.Abs(where)
	if err != nil {
		return Report{}, err
	}
	private := checkPrivate(filepath.Dir(path))
	if _, ok := errors.AsType[*fault](private); ok {
		return Report{}, private
	}
	names, err := scripts("sqlite")
	if err != nil {
		return Report{}, err
	}
	d := &sqlite{path: path, scripts: names}
	end, err := filepath.EvalSymlinks(path) // the files beside are beside the end of a link
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Report{}, err
	case err == nil:
		d.path = end
		err = checkPrivate(filepath.Dir(end))
	}
	if err != nil {
		return Report{}, explain(ctx, d, err)
	}
	r, err := lookSQLite(ctx, d, cmp.Or(o.Files, d.beside()))
	return r, explain(ctx, d, err)
}

// lookSQLite reads a database that nobody has open as a file that does not change:
// another way of reading makes files beside it. Where changes wait, or somebody has
// made some meanwhile, it reads as everybody does.
func lookSQLite(ctx context.Context, d *sqlite, dir string) (Report, error) {
	before, err := stampOf(d.path)
	if err != nil {
		return Report{}, err
	}
	if !before.waiting {
		r, err := lookFile(ctx, d, dir, "immutable=1")
		if after, failed := stampOf(d.path); failed == nil && after == before {
			return r, err
		}
	}
	_, missing := os.Stat(d.path + "-shm")
	r, err := lookFile(ctx, d, dir, "mode=ro")
	if missing != nil {
		err = cmp.Or(err, d.hide("-shm"))
	}
	return r, err
}

// A stamp tells two states of a database apart.
type stamp struct {
	size    int64
	time    time.Time
	waiting bool
}

func stampOf(path string) (stamp, error) {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}, err
	}
	if !info.Mode().IsRegular() {
		return stamp{}, errIrregular
	}
	return stamp{info.Size(), info.ModTime(), waiting(path)}, nil
}

// lookFile looks at a file in the way that a parameter of its URI says.
func lookFile(ctx context.Context, d *sqlite, dir, way string) (Report, error) {
	r := Report{Known: len(d.scripts)}
	name := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(d.path), RawQuery: way}
	db, err := driver.Open(name.String(), func(c *sqlite3.Conn) error {
		if err := c.BusyTimeout(busyTimeout); err != nil {
			return err
		}
		at, err := version(c)
		if err != nil {
			return err
		}
		r.Schema = at
		return checkVersion(d.path, at, len(d.scripts))
	})
	if err != nil {
		return Report{}, err
	}
	defer db.Close() // it was only read
	db.SetMaxOpenConns(1)
	err = look(ctx, db, d, dir, &r, func(t tx) error {
		_, err := t.get(ctx, "PRAGMA quick_check(1)", nil, &r.Damage)
		if r.Damage == "ok" {
			r.Damage = ""
		}
		return err
	})
	return r, err
}

func lookPostgres(ctx context.Context, address, dir string) (Report, error) {
	db, d, err := dialPostgres(address)
	if err != nil {
		return Report{}, err
	}
	defer db.Close() // it was only read
	r := Report{Known: len(d.scripts)}
	err = look(ctx, db, d, dir, &r, func(t tx) (err error) {
		r.Schema, err = d.version(ctx, t)
		return err
	})
	return r, err
}

// look runs check and looks at each thread, and at the files of documents below dir.
func look(ctx context.Context, db *sql.DB, d dialect, dir string, r *Report, check func(tx) error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return explain(ctx, d, err)
	}
	defer conn.Close() // gives it back to the pool
	t := tx{conn, d}
	if err := check(t); err != nil || r.Schema == 0 || r.Damage != "" {
		return err
	}
	if err := t.lookThreads(ctx, r); err != nil || r.Schema < documentsSchema {
		return err
	}
	return t.lookDocuments(ctx, dir, r)
}

func (t tx) lookThreads(ctx context.Context, r *Report) error {
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

// documentsSchema is the first version of the tables that has documents.
const documentsSchema = 2

func (t tx) lookDocuments(ctx context.Context, dir string, r *Report) error {
	return t.all(ctx, "SELECT key, hash, size FROM documents ORDER BY key", nil, func(row scan) error {
		var key, hash string
		var size int64
		if err := row(&key, &hash, &size); err != nil {
			return err
		}
		r.Documents++
		if dir != "" && contentsBelow(dir).Look(hash, size) != nil {
			r.Lost = append(r.Lost, key)
		}
		return nil
	})
}
