package store

import (
	"cmp"
	"context"
	"crypto/tls"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/lib/pq"
)

const (
	migrationLock  = 0x4c6f7269 // key of the advisory lock
	connectTimeout = 10 * time.Second
	maxConns       = 4
	maxIdle        = 5 * time.Minute
)

// postgres is the dialect of PostgreSQL.
type postgres struct {
	where   string   // host, port and database
	tables  string   // what settles which tables of it are ours
	scripts []string // the migrations
}

// openPostgres opens the database of a URL.
func openPostgres(ctx context.Context, url string) (*sql.DB, dialect, error) {
	db, d, err := dialPostgres(url)
	if err != nil {
		return nil, nil, err
	}
	if err := d.migrate(ctx, db); err != nil {
		db.Close() // says nothing that err does not
		return nil, nil, err
	}
	return db, d, nil
}

// dialPostgres prepares connections to the database of a URL.
func dialPostgres(url string) (*sql.DB, *postgres, error) {
	names, err := scripts("postgres")
	if err != nil {
		return nil, nil, err
	}
	config, err := pq.NewConfig(url)
	if err != nil { // it quotes from the URL
		return nil, nil, errors.New("the URL of the database is not valid; write postgres://USER:PASSWORD@HOST/DATABASE")
	}
	config.ConnectTimeout = cmp.Or(config.ConnectTimeout, connectTimeout)
	config.SSLMode = cmp.Or(config.SSLMode, pq.SSLModePrefer) // as every other program of PostgreSQL
	d := &postgres{
		where:   "postgres://" + net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port))) + "/" + config.Database,
		tables:  fmt.Sprintf("user %s, search_path %s", config.User, config.Runtime["search_path"]),
		scripts: names,
	}
	db := sql.OpenDB(postgresConnector{config})
	db.SetMaxOpenConns(maxConns)
	db.SetConnMaxIdleTime(maxIdle) // a team's editors stay open all day
	return db, d, nil
}

// migrate brings the tables up to date.
func (d *postgres) migrate(ctx context.Context, db *sql.DB) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return explain(ctx, d, err)
	}
	defer conn.Close()
	t := tx{conn, d}
	if at, err := d.version(ctx, t); err != nil || at == len(d.scripts) {
		return err
	}
	return t.change(ctx, func() error {
		if err := t.exec(ctx, "SELECT pg_advisory_xact_lock($1)", migrationLock); err != nil {
			return err
		}
		at, err := d.version(ctx, t)
		if err != nil || at == len(d.scripts) {
			return err
		}
		if err := migrate(ctx, t, at, d.scripts); err != nil {
			return err
		}
		if at == 0 {
			err = t.exec(ctx, "CREATE TABLE lorimer_schema (version bigint NOT NULL)")
		} else {
			err = t.exec(ctx, "DELETE FROM lorimer_schema")
		}
		if err != nil {
			return err
		}
		return t.exec(ctx, "INSERT INTO lorimer_schema (version) VALUES ($1)", len(d.scripts))
	})
}

// version returns how many migrations have run.
func (d *postgres) version(ctx context.Context, t tx) (version int, err error) {
	// A query of the catalog and no to_regclass, which would go on saying what it
	// said before another program made the table.
	there, err := t.get(ctx, "SELECT 1 FROM pg_catalog.pg_class"+
		" WHERE relname = 'lorimer_schema' AND pg_catalog.pg_table_is_visible(oid)", nil, new(int))
	if err != nil || !there {
		return 0, err
	}
	if _, err := t.get(ctx, "SELECT max(version) FROM lorimer_schema", nil, &version); err != nil {
		return 0, err
	}
	return version, checkVersion(d.where, version, len(d.scripts))
}

// begin has each statement see what others have committed before it, whatever the
// server is set to: who has waited for a row goes on with what it says then.
func (*postgres) begin() string { return "BEGIN ISOLATION LEVEL READ COMMITTED" }

func (*postgres) here() error { return nil }

func (d *postgres) name(string) string { return d.where + " " + d.tables }

func (*postgres) beside() string { return "" }

func (*postgres) lock(mode string) string { return " FOR " + mode }

func (*postgres) freeze(table string) string {
	return "LOCK TABLE " + table + " IN SHARE ROW EXCLUSIVE MODE"
}

func (*postgres) time() string {
	return "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
}

// page leaves out on the server what would be thrown away here.
func (*postgres) page(id string, after, last int64) (string, []any) {
	return "SELECT id, seq, time, kind, body FROM (" +
			"SELECT *, sum(octet_length(body)) OVER (ORDER BY seq) - octet_length(body) AS before FROM (" +
			"SELECT * FROM entries WHERE thread = $1 AND seq > $2 AND seq <= $3 ORDER BY seq LIMIT $4" +
			") AS rows) AS page WHERE before < $5 ORDER BY seq",
		[]any{id, after, last, pageRows, pageBytes}
}

func (*postgres) search() string {
	return "SELECT e.seq, e.time, e.kind, e.body, t.id, t.info FROM words" +
		" JOIN entries e ON e.id = words.rowid JOIN threads t ON t.id = e.thread" +
		" WHERE words.text @@ $1::tsquery AND ($2 = '' OR t.cwd = $2)" +
		" ORDER BY ts_rank(words.text, $1::tsquery, 1) DESC, e.time DESC, e.id DESC LIMIT $3"
}

// match returns ('a' <-> 'b') & ('c':*) for the phrases [a b] [c]. Words have no
// signs in them.
func (*postgres) match(phrases [][]string) string {
	all := make([]string, len(phrases))
	for i, p := range phrases {
		all[i] = "('" + strings.Join(p, "' <-> '") + "'"
	}
	return strings.Join(all, ") & ") + ":*)"
}

// document returns 'a':1 'b':2 for the words a and b.
func (*postgres) document(words []string) string {
	var b strings.Builder
	for i, w := range words {
		fmt.Fprintf(&b, "'%s':%d ", w, i+1)
	}
	return b.String()
}

// explain says what a user can do. It shows no error of a connection: those name
// the user.
func (d *postgres) explain(err error) error {
	fail := func(what string) error { return &fault{"database " + d.where + " " + what, nil} }
	answer, ok := errors.AsType[*pq.Error](err)
	if !ok {
		if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
			return fail("has a certificate that is not trusted; check sslmode and sslrootcert in its URL")
		}
		if errors.Is(err, pq.ErrSSLNotSupported) {
			return fail("does not take the encryption that is asked of it; check sslmode in its URL, or PGSSLMODE")
		}
		if _, ok := errors.AsType[*unconnectedError](err); ok {
			return fail("cannot be reached; start it, or check host, port and network")
		}
		return fail("broke the connection off; try again")
	}
	code := string(answer.Code)
	switch class := code[:min(len(code), 2)]; {
	case code == "28P01":
		return fail("does not accept the user or the password; check them in its URL, in PGPASSWORD or in ~/.pgpass")
	case class == "28":
		return fail("does not let this user in from here; check the user and sslmode in its URL, or what the server permits")
	case code == "3D000":
		return fail("does not exist; create it, or check its name")
	case code == "42501" || code == "25006":
		return fail("cannot be written by this user; grant the rights, or connect to a server that is not read-only")
	case code == "42P07":
		return fail("holds tables of another program; give lorimer a database of its own")
	case class == "53":
		return fail("has run out of resources; make room on its disk, or permit more connections (SQLSTATE " + code + ")")
	case class == "57":
		return fail("is shutting down or starting; try again (SQLSTATE " + code + ")")
	}
	return fail(fmt.Sprintf("gave an error (SQLSTATE %s: %s)", code, answer.Message))
}
