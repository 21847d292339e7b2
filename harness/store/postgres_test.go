package store_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/place"
	"github.com/lorimer-dev/lorimer/harness/store"
	"github.com/lorimer-dev/lorimer/harness/store/storetest"
	"github.com/lorimer-dev/lorimer/harness/thread"
)

// fails opens what cannot be opened, and checks that the error is one line with
// want in it, and shows neither the user nor the password.
func fails(t *testing.T, where, want string) {
	t.Helper()
	s, err := store.Open(t.Context(), where, store.Options{})
	if err == nil {
		s.Close()
		t.Fatal("it was opened")
	}
	if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("error = %v\nwant one line with %s", err, want)
	}
	for e := err; e != nil; e = errors.Unwrap(e) {
		for _, secret := range []string{"hunter2", "robert"} {
			if strings.Contains(fmt.Sprintf("%v %+v %#v", e, e, e), secret) {
				t.Errorf("%v shows %s", e, secret)
			}
		}
	}
}

func TestURLsThatAreNone(t *testing.T) {
	for _, where := range []string{
		"postgres://robert:hunter2@host:port/db", "postgresql://robert:hunter2@[::1/db",
		"postgres://robert:hunter2@host/db?sslmode=perhaps", "postgres://robert:hunter2%@host/db",
	} {
		fails(t, where, "the URL of the database is not valid; write postgres://USER:PASSWORD@HOST/DATABASE")
	}
}

func TestServersThatCannotBeReached(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	fails(t, "postgres://robert:hunter2@"+addr+"/db?sslmode=disable", "database postgres://"+addr+"/db cannot be reached; start it")
	fails(t, "postgresql://robert:hunter2@"+addr+"/db", "database postgres://"+addr+"/db cannot be reached; start it")
}

// What the server and the URL want of encryption may not fit.
func TestEncryptionThatDoesNotFit(t *testing.T) {
	refusal := "SFATAL\x00VFATAL\x00C28000\x00Mno pg_hba.conf entry for user robert, no encryption\x00\x00"
	tests := []struct{ mode, answer, want string }{
		{"require", "N", "does not take the encryption that is asked of it; check sslmode in its URL"},
		{"disable", "E\x00\x00\x00" + string(byte(len(refusal)+4)) + refusal, "does not let this user in from here; check the user and sslmode in its URL"},
		{"disable", "", "cannot be reached"},
		{"require", "", "cannot be reached"},
	}
	for _, tt := range tests {
		t.Run(tt.mode, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			var served sync.WaitGroup
			defer served.Wait()
			defer l.Close()
			served.Go(func() {
				for {
					conn, err := l.Accept()
					if err != nil {
						return // the test has ended
					}
					_, err = conn.Read(make([]byte, 1000))
					if err == nil {
						_, err = conn.Write([]byte(tt.answer))
					}
					if err := errors.Join(err, conn.Close()); err != nil {
						t.Error(err)
					}
				}
			})
			fails(t, "postgres://robert:hunter2@"+l.Addr().String()+"/db?sslmode="+tt.mode, tt.want)
		})
	}
}

// A server that accepts and says nothing holds nobody up who gives up.
func TestASilentServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = store.Open(ctx, "postgres://robert:hunter2@"+l.Addr().String()+"/db", store.Options{})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error = %v, want that of the context", err)
	}
}

// proxy passes connections on to a server until it is cut, and returns where.
func proxy(t *testing.T, server string) (addr string, cut func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	conns := make(chan net.Conn, 100)
	wg.Go(func() {
		defer close(conns)
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			conns <- in
			out, err := net.Dial("tcp", server)
			if err != nil {
				t.Error(err)
				return
			}
			conns <- out
			wg.Go(func() { io.Copy(in, out) }) // ends with an error when it is cut
			wg.Go(func() { io.Copy(out, in) })
		}
	})
	return l.Addr().String(), sync.OnceFunc(func() {
		l.Close()
		for c := range conns {
			c.Close()
		}
		wg.Wait()
	})
}

func TestAServerThatGoesAway(t *testing.T) {
	u, err := url.Parse(schema(t, storetest.Postgres(t)))
	if err != nil {
		t.Fatal(err)
	}
	addr, cut := proxy(t, u.Host)
	defer cut()
	u.Host = addr
	s := open(t, u.String())
	if err := s.Create(t.Context(), "a", thread.Created{}); err != nil {
		t.Fatal(err)
	}
	cut()
	for range 2 {
		_, err = s.Append(t.Context(), "a", "", thread.Note{})
		if err == nil || !strings.HasPrefix(err.Error(), "database postgres://"+addr+u.Path+" ") {
			t.Errorf("error = %v, want one that names the database", err)
		}
	}
}

func TestPostgresSaysWhatIsWrong(t *testing.T) {
	server := storetest.Postgres(t)
	with := func(f func(u *url.URL)) string {
		u, err := url.Parse(server)
		if err != nil {
			t.Fatal(err)
		}
		f(u)
		return u.String()
	}
	at := with(func(u *url.URL) { u.User = nil })
	fails(t, with(func(u *url.URL) { u.User = url.UserPassword("robert", "hunter2") }),
		"database "+at+" does not accept the user or the password; check them in its URL, in PGPASSWORD or in ~/.pgpass")
	fails(t, with(func(u *url.URL) { u.Path = "/nothing" }), "does not exist; create it, or check its name")
	fails(t, with(func(u *url.URL) { u.RawQuery = "default_transaction_read_only=on" }),
		"database "+at+" cannot be written by this user")

	execute(t, server, "CREATE TABLE threads (x int)")
	fails(t, server, "database "+at+" holds tables of another program; give lorimer a database of its own")

	newer := schema(t, server)
	open(t, newer)
	execute(t, newer, "UPDATE lorimer_schema SET version = 7")
	fails(t, newer, "database "+at+" was written by a newer lorimer (schema 7, this one knows "+strconv.Itoa(store.Schema(t))+"); use that one")
}

// The time of a lock is the database's: the clocks of those who share it differ.
func TestTheDatabaseTellsTheTimeOfLocks(t *testing.T) {
	where := schema(t, storetest.Postgres(t))
	slow, err := store.Open(t.Context(), where, store.Options{Now: func() time.Time { return time.Unix(0, 0) }})
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	right := open(t, where)
	if err := slow.Create(t.Context(), "a", thread.Created{}); err != nil {
		t.Fatal(err)
	}
	if err := slow.Lock(t.Context(), "a", thread.Holder{Token: "slow"}, time.Hour); err != nil {
		t.Fatal(err)
	}
	if err := right.Lock(t.Context(), "a", thread.Holder{Token: "right"}, time.Hour); err == nil {
		t.Error("the lock was taken from one whose clock is slow")
	}
}

// A statement that nobody waits for is cancelled on the server too, however long ago
// the context has ended in which its connection was made.
func TestAStatementIsCancelledOnTheServer(t *testing.T) {
	making, made := context.WithCancel(t.Context())
	s, err := store.Open(making, schema(t, storetest.Postgres(t)), store.Options{})
	made()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if n := store.Sleep(ctx, t, s); n != 0 {
		t.Errorf("%d statements run on, want none", n)
	}
}

// A late is a context whose time is over, and which has not noticed it yet.
type late struct{ context.Context }

func (late) Deadline() (time.Time, bool) { return time.Unix(0, 0), true }

// Whoever has no more time is not told that the server cannot be reached.
func TestTheEndOfTheTimeIsNoFault(t *testing.T) {
	_, err := store.Open(late{t.Context()}, "postgres://127.0.0.1:1/db", store.Options{})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error = %v, want that of the context", err)
	}
}

// during is a value that does something when it is stored, in the middle of a
// change.
type during func() error

func (f during) MarshalJSON() ([]byte, error) { return []byte("null"), f() }

// A turn goes on while its thread is copied, which may take long; only deleting
// it has to wait.
func TestATurnGoesOnBesideACopy(t *testing.T) {
	where := schema(t, storetest.Postgres(t))
	one, two := open(t, where), open(t, where)
	if err := one.Create(t.Context(), "a", thread.Created{}, thread.Note{}); err != nil {
		t.Fatal(err)
	}
	conn, err := storetest.Connect(where)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	beside := during(func() error {
		if _, err := conn.ExecContext(ctx, "SELECT id FROM threads WHERE id = 'a' FOR UPDATE NOWAIT"); err == nil {
			t.Error("a thread can be deleted while it is copied")
		}
		err := two.Lock(ctx, "a", thread.Holder{Token: "turn"}, time.Hour)
		if err == nil {
			_, err = two.Append(ctx, "a", "turn", thread.Note{})
		}
		return err
	})
	more := thread.Result{Shown: event.ToolCall{Output: beside}}
	if err := one.Copy(ctx, "a", 2, "b", thread.Created{}, more); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]int64{"a": 3, "b": 3} {
		if i, err := one.Info(ctx, id); err != nil || i.Last != want {
			t.Errorf("thread %s has %d entries (%v), want %d", id, i.Last, err, want)
		}
	}
}

// Who keeps a content holds off those who drop some.
func TestDroppingWaitsForKeeping(t *testing.T) {
	where := schema(t, storetest.Postgres(t))
	s := openWith(t, where, store.Options{Files: private(t)})
	d := keep(t, s, "x")
	execute(t, where, "UPDATE documents SET kept = 1")
	keeper, err := storetest.Connect(where)
	if err != nil {
		t.Fatal(err)
	}
	defer keeper.Close()
	if _, err := keeper.ExecContext(t.Context(), "BEGIN; INSERT INTO documents (key, hash, size, name, type, kept) VALUES ('k', 'h', 1, 'n', 't', 0)"); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"a", "b"} {
		if err := s.Create(t.Context(), id, thread.Created{}); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := s.Delete(ctx, "a"); err != nil {
		t.Errorf("the deletion, which has happened: %v", err)
	}
	if ctx.Err() == nil {
		t.Error("nothing was waited for")
	}
	if content, err := s.Content(t.Context(), d.Key); err != nil || string(content) != "x" {
		t.Errorf("Content = %q (%v), want it there still", content, err)
	}
	if _, err := keeper.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Content(t.Context(), d.Key); !errors.Is(err, place.ErrNone) {
		t.Errorf("after the next deletion: error = %v, want ErrNone", err)
	}
}
