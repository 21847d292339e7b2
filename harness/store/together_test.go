package store_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/store"
	"github.com/lorimer-dev/lorimer/harness/store/storetest"
	"github.com/lorimer-dev/lorimer/harness/thread"
)

func TestMain(m *testing.M) {
	programs := map[string]func(where string) error{"write": writeUntilKilled, "keep": keepUntilKilled, "full": keepOnFullDisk}
	if program := programs[os.Getenv("STORE_TEST_PROGRAM")]; program != nil {
		if err := program(os.Getenv("STORE_TEST_WHERE")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// program returns a command that runs one of the programs of TestMain.
func program(t *testing.T, name, where, files string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "STORE_TEST_PROGRAM="+name, "STORE_TEST_WHERE="+where, "STORE_TEST_FILES="+files)
	cmd.Stderr = os.Stderr
	return cmd
}

// Released migrations are in databases that are out there. Add a file instead of
// changing one.
func TestMigrationsAreNeverEdited(t *testing.T) {
	released := map[string]string{
		"migrations/postgres/0001_threads.sql":   "a15799df83e5bf94f58d6b59ee54ce1537a6f2ca185aa06f973b30e535c74cd0",
		"migrations/postgres/0002_places.sql":    "d60b5c3187f803a10534591e0a257765a616d9a8e1e71b9d1753d107fefaa188",
		"migrations/postgres/0003_summaries.sql": "54bd1c3c250d9eabde84bc0abbd0d72d5781ca6d723823120e175cd195144f33",
		"migrations/postgres/0004_loose.sql":     "a39fab77c6609c573f7c5b3778e57fe18939224ea8ca970cfb21830d3f0be118",
		"migrations/sqlite/0001_threads.sql":     "524680b98d9fd5872febf80bd0b92fb7072c7565d4f69c91cd0f66adc50deeca",
		"migrations/sqlite/0002_places.sql":      "da8cf82b0fbf4958956c28155b7da46e1c9dfbe58e6d5dddab91594e180d1c3d",
		"migrations/sqlite/0003_summaries.sql":   "04f73f2ccd4c8561da235b1a3d5833ffb9c3b72ee09c75c0ff99b1f252a25ece",
		"migrations/sqlite/0004_loose.sql":       "a39fab77c6609c573f7c5b3778e57fe18939224ea8ca970cfb21830d3f0be118",
	}
	found := 0
	err := fs.WalkDir(store.Migrations, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := store.Migrations.ReadFile(name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(data)
		if got, want := hex.EncodeToString(sum[:]), released[name]; got != want {
			t.Errorf("%s has the sum %s, want %q", name, got, want)
		}
		found++
		return nil
	})
	if err != nil || found != len(released) {
		t.Errorf("%d migrations (%v), want %d", found, err, len(released))
	}
}

// Two programs open a new database at once: both work, and see the same.
func TestTwoOpenOneDatabase(t *testing.T) {
	both(t, func(t *testing.T, where string) {
		stores := make([]*store.Store, 4) // each goroutine has its own slot
		var wg sync.WaitGroup
		for i := range stores {
			wg.Go(func() {
				s, err := store.Open(t.Context(), where, store.Options{})
				if err != nil {
					t.Error(err)
					return
				}
				stores[i] = s
				if err := s.Create(t.Context(), fmt.Sprint(i), thread.Created{}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		for i, s := range stores {
			if s == nil {
				continue
			}
			if page, err := s.List(t.Context(), thread.Query{}); err != nil || len(page.Threads) != len(stores) {
				t.Errorf("store %d sees %d threads (%v), want %d", i, len(page.Threads), err, len(stores))
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

// Two programs write to one thread: what either has written is there, in one
// order, and the turn of one keeps out the other.
func TestTwoWriteToOneThread(t *testing.T) {
	both(t, func(t *testing.T, where string) {
		const each = 50
		one, two := open(t, where), open(t, where)
		if err := one.Create(t.Context(), "a", thread.Created{}); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for i, s := range []*store.Store{one, two} {
			wg.Go(func() {
				for n := range each {
					if _, err := s.Append(t.Context(), "a", "", thread.Note{Text: fmt.Sprint(i, n)}); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		next := int64(1)
		err := one.Read(t.Context(), "a", 0, func(e thread.Entry) error {
			if e.Seq != next {
				return fmt.Errorf("entry %d, want %d", e.Seq, next)
			}
			next++
			return nil
		})
		if err != nil || next != 2*each+2 {
			t.Errorf("read %d entries (%v), want %d", next-1, err, 2*each+1)
		}
		if err := one.Lock(t.Context(), "a", thread.Holder{Token: "one", Process: 1}, time.Hour); err != nil {
			t.Fatal(err)
		}
		err = two.Lock(t.Context(), "a", thread.Holder{Token: "two", Process: 2}, time.Hour)
		if held, ok := errors.AsType[*harness.LockedError](err); !ok || held.Holder.Process != 1 {
			t.Errorf("error = %v, want that the first has the turn", err)
		}
	})
}

// What cannot be stored leaves nothing behind, and no lock.
func TestAnAppendIsOneStep(t *testing.T) {
	both(t, func(t *testing.T, where string) {
		s := open(t, where)
		if err := s.Create(t.Context(), "a", thread.Created{}); err != nil {
			t.Fatal(err)
		}
		bad := thread.Result{Shown: event.ToolCall{Output: func() {}}}
		if _, err := s.Append(t.Context(), "a", "", thread.User{Blocks: []event.Block{{Text: "apple"}}}, bad); err == nil {
			t.Error("a function was stored")
		}
		if err := s.Create(t.Context(), "b", thread.Created{}, bad); err == nil {
			t.Error("a function was stored")
		}
		page, err := s.List(t.Context(), thread.Query{})
		if err != nil || len(page.Threads) != 1 || page.Threads[0].Last != 1 {
			t.Errorf("%+v (%v), want the one thread with its first entry", page.Threads, err)
		}
		if hits, err := s.Search(t.Context(), thread.Search{Words: "apple"}); err != nil || len(hits) != 0 {
			t.Errorf("%d hits (%v), want none", len(hits), err)
		}
		if _, err := s.Append(t.Context(), "a", "", thread.Note{}); err != nil {
			t.Error(err)
		}
	})
}

// A page ends where it holds enough bytes, and reading goes on behind it; no
// connection is held while a page is read, not even by many readers.
func TestReadersHoldNothing(t *testing.T) {
	both(t, func(t *testing.T, where string) {
		s := open(t, where)
		bodies := make([]thread.Body, 12)
		for i := range bodies {
			bodies[i] = thread.Note{Text: strings.Repeat("x", 130<<10)}
		}
		if err := s.Create(t.Context(), "a", thread.Created{}, bodies...); err != nil {
			t.Fatal(err)
		}
		var nested func(depth int) error
		nested = func(depth int) error {
			if depth == 0 {
				_, err := s.Append(t.Context(), "a", "", thread.Note{})
				return err
			}
			seen := 0
			err := s.Read(t.Context(), "a", 0, func(thread.Entry) error {
				if seen++; seen == 6 {
					return nested(depth - 1)
				}
				return nil
			})
			if err == nil && seen != 13 {
				err = fmt.Errorf("%d entries, want 13", seen)
			}
			return err
		}
		if err := nested(6); err != nil {
			t.Error(err)
		}
	})
}

func TestAClosedStoreSaysSo(t *testing.T) {
	both(t, func(t *testing.T, where string) {
		s, err := store.Open(t.Context(), where, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Create(t.Context(), "a", thread.Created{}); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for {
					_, err := s.Append(t.Context(), "a", "", thread.Note{})
					if err != nil {
						if err.Error() != "the store of sessions is closed" {
							t.Error(err)
						}
						return
					}
				}
			})
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
		if err := s.Close(); err != nil {
			t.Errorf("closed twice: %v", err)
		}
	})
}

// A cancelled wait for another writer is the caller's cancel, at once.
func TestAWaitCanBeCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filled(t)
		s := open(t, path)
		other := raw(t, path)
		if _, err := other.Exec("BEGIN IMMEDIATE"); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		_, err := s.Append(ctx, "a", "", thread.Note{})
		if waited := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || waited > 2*time.Second {
			t.Errorf("error = %v after %v, want that of the context after a second", err, waited)
		}
		if _, err := other.Exec("ROLLBACK"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Append(t.Context(), "a", "", thread.Note{}); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
}

// TestKilledWriterLosesNothing kills a program that writes, again and again: every
// entry that it was told of is there, and the next one goes on (R-ACP-52).
func TestKilledWriterLosesNothing(t *testing.T) {
	both(t, func(t *testing.T, where string) {
		s := open(t, where)
		if err := s.Create(t.Context(), "a", thread.Created{}); err != nil {
			t.Fatal(err)
		}
		for round := range 30 {
			lines := kill(t, program(t, "write", where, ""), 1+round*7%23)
			told, err := strconv.ParseInt(lines[len(lines)-1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			last := int64(0)
			err = s.Read(t.Context(), "a", told-1, func(e thread.Entry) error {
				if last == 0 && e.Body != (thread.Note{Text: fmt.Sprint(told)}) {
					return fmt.Errorf("entry %d is %v", e.Seq, e.Body)
				}
				last = e.Seq
				return nil
			})
			if err != nil || last < told {
				t.Fatalf("round %d: read up to %d (%v), but %d was written", round, last, err, told)
			}
		}
		next := int64(1)
		err := s.Read(t.Context(), "a", 0, func(e thread.Entry) error {
			if e.Seq != next {
				return fmt.Errorf("entry %d, want %d", e.Seq, next)
			}
			next++
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// kill starts a program that prints a line for each thing that is done, kills it
// after some, and returns the lines.
func kill(t *testing.T, cmd *exec.Cmd, after int) (told []string) {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if told = append(told, lines.Text()); len(told) == after {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err == nil || len(told) < after {
		t.Fatalf("the writer ended by itself (%v)", err)
	}
	return told
}

// writeUntilKilled appends entries that say their number, and prints it after
// each.
func writeUntilKilled(where string) error {
	ctx := context.Background()
	s, err := store.Open(ctx, where, store.Options{})
	if err != nil {
		return err
	}
	info, err := s.Info(ctx, "a")
	for next := info.Last + 1; err == nil; next++ {
		if _, err = s.Append(ctx, "a", "", thread.Note{Text: fmt.Sprint(next)}); err == nil {
			fmt.Println(next)
		}
	}
	return err
}

// A server may have another isolation as its default; appends still wait for each
// other.
func TestAnyIsolation(t *testing.T) {
	u, err := url.Parse(schema(t, storetest.Postgres(t)))
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("default_transaction_isolation", "serializable")
	u.RawQuery = q.Encode()
	s := open(t, u.String())
	if err := s.Create(t.Context(), "a", thread.Created{}); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 10 {
				if _, err := s.Append(t.Context(), "a", "", thread.Note{}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if i, err := s.Info(t.Context(), "a"); err != nil || i.Last != 81 {
		t.Errorf("%d entries (%v), want 81", i.Last, err)
	}
}

// A change that panics leaves no transaction behind.
func TestAPanicIsUndone(t *testing.T) {
	both(t, func(t *testing.T, where string) {
		s := open(t, where)
		if err := s.Create(t.Context(), "a", thread.Created{}); err != nil {
			t.Fatal(err)
		}
		func() {
			defer func() { _ = recover() }() // that it panics is asserted by what follows
			store.Panic(t.Context(), s, "a")
			t.Error("no panic")
		}()
		if got, err := s.Append(t.Context(), "a", "", thread.Note{}); err != nil || got[0].Seq != 2 {
			t.Errorf("afterwards: %v, %v; want entry 2", got, err)
		}
	})
}
