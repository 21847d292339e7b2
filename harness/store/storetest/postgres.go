package storetest

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lib/pq"
)

// Server is the environment variable with the URL of a PostgreSQL server for
// tests, whose user may create databases.
const Server = "LORIMER_POSTGRES"

// required lists, with commas between them, the kinds of what a run must not go
// without; "postgres" is ours.
const required = "LORIMER_REQUIRE"

// Postgres returns the URL of a fresh, empty database on the server that
// [Server] names. The database is dropped at the end of the test, whoever is
// still connected.
//
// Without a server it skips the test and says what was not run; where
// LORIMER_REQUIRE lists postgres it fails the test instead.
func Postgres(t testing.TB) string {
	t.Helper()
	server := os.Getenv(Server)
	if server == "" {
		missing(t)
	}
	at, err := url.Parse(server)
	if err != nil {
		t.Fatalf("%s is no URL", Server) // the error would show the password
	}
	name := "test_" + strings.ToLower(rand.Text())
	query(t, server, "CREATE DATABASE "+name+" TEMPLATE template0") // template1 may be in use by others
	t.Cleanup(func() { query(t, server, "DROP DATABASE "+name+" WITH (FORCE)") })
	at.Path = "/" + name
	return at.String()
}

// missing ends a test that has no server.
func missing(t testing.TB) {
	t.Helper()
	line := fmt.Sprintf("%s: NOT RUN ON POSTGRESQL: %s is not set; .ci/postgres run go test ./... starts a server for it", t.Name(), Server)
	if slices.Contains(strings.Split(os.Getenv(required), ","), "postgres") {
		t.Fatalf("%s, and %s asks for it", line, required)
	}
	if !testing.Verbose() { // else Skip says it
		fmt.Fprintln(os.Stderr, "skip", line)
	}
	t.Skip(line)
}

// query runs one statement on the server, also when the test is over.
func query(t testing.TB, server, statement string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	defer cancel()
	conn, err := Connect(server)
	if err != nil {
		t.Fatalf("%s: %v", Server, err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// Connect returns the one connection to the database of a URL, past the store. It is
// made when it is first used.
func Connect(url string) (*sql.DB, error) {
	config, err := pq.NewConfig(url)
	if err != nil {
		return nil, errors.New("the URL of the database is not valid") // the cause would show the password
	}
	config.SSLMode = cmp.Or(config.SSLMode, pq.SSLModePrefer)
	c, err := pq.NewConnectorConfig(config)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(1)
	return db, nil
}
