package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/thread"
)

func testCopies(t *testing.T, open func(*testing.T) harness.Threads) {
	t.Run("a part of a thread is copied", func(t *testing.T) { testCopy(t, open(t)) })
	t.Run("a copy is of its own", func(t *testing.T) {
		s := open(t)
		restore(t, s, "a", 1, thread.Created{}, said("one"))
		fork(t, s, "a", 2, "b")
		add(t, s, "a", said("for a"))
		add(t, s, "b", said("for b"))
		if err := s.Delete(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		if got := read(t, s, "b", 0); len(got) != 3 || got[2].Body.(thread.User).Sent[0].Text != "for b" {
			t.Errorf("the copy has %v", got)
		}
	})
	t.Run("a long thread is copied whole", func(t *testing.T) {
		s := open(t)
		bodies := []thread.Body{thread.Created{}}
		for i := range 700 {
			bodies = append(bodies, thread.Note{Text: fmt.Sprint(i)})
		}
		restore(t, s, "a", 1, bodies...)
		fork(t, s, "a", 1<<60, "b")
		if diff := cmp.Diff(read(t, s, "a", 1), read(t, s, "b", 1)); diff != "" {
			t.Errorf("(-a +b):\n%s", diff)
		}
	})
	t.Run("what cannot be copied", func(t *testing.T) {
		s := open(t)
		create(t, s, "a", thread.Created{})
		if err := s.Copy(t.Context(), "nope", 1, "b", thread.Created{}); !errors.Is(err, harness.ErrNotFound) {
			t.Errorf("of a missing thread: error = %v, want ErrNotFound", err)
		}
		if err := s.Copy(t.Context(), "a", 1, "a", thread.Created{}); !errors.Is(err, harness.ErrTaken) {
			t.Errorf("onto itself: error = %v, want ErrTaken", err)
		}
		if _, err := s.Info(t.Context(), "b"); !errors.Is(err, harness.ErrNotFound) {
			t.Errorf("something was made (%v)", err)
		}
	})
	t.Run("a thread is restored as it was", func(t *testing.T) {
		s := open(t)
		var want []thread.Entry
		for i, b := range []thread.Body{thread.Created{Cwd: "/w"}, said("hi"), thread.Assistant{}, thread.Retried{User: 2}} {
			want = append(want, thread.Entry{Seq: int64(i) + 1, Time: time.Unix(int64(i), 123456000).UTC(), Body: b})
		}
		if err := s.Restore(t.Context(), "a", want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, read(t, s, "a", 0)); diff != "" {
			t.Errorf("entries (-want +got):\n%s", diff)
		}
		if got := add(t, s, "a", thread.Note{}); got[0].Seq != 5 {
			t.Errorf("goes on with %d, want 5", got[0].Seq)
		}
		if err := s.Restore(t.Context(), "a", want); !errors.Is(err, harness.ErrTaken) {
			t.Errorf("restored twice: error = %v, want ErrTaken", err)
		}
	})
}

func testCopy(t *testing.T, s harness.Threads) {
	restore(t, s, "a", 1,
		thread.Created{Cwd: "/w"}, said("one"), thread.Assistant{MessageID: "x"}, thread.Title{Text: "of a"},
		thread.Options{Values: map[string]string{"mode": "auto"}}, thread.Bound{Project: "p", Workspace: "w"},
		said("two"), thread.Title{Text: "later", User: true},
	)
	before := info(t, s, "a")
	created := thread.Created{Cwd: "/v", Parent: "a"}
	if err := s.Copy(t.Context(), "a", 6, "b", created, thread.Note{Text: "forked"}); err != nil {
		t.Fatal(err)
	}
	got := read(t, s, "b", 0)
	want := append([]thread.Entry{{Seq: 1, Body: created}}, read(t, s, "a", 1)[:5]...)
	want = append(want, thread.Entry{Seq: 7, Body: thread.Note{Text: "forked"}})
	for _, i := range []int{0, 6} { // made by the copying
		want[i].Time = got[i].Time
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	now := got[0].Time
	if !got[6].Time.Equal(now) || !now.After(before.Updated) {
		t.Errorf("copied at %v and %v, want one time after %v", now, got[6].Time, before.Updated)
	}
	wantInfo := thread.Info{
		ID: "b", Mark: info(t, s, "b").Mark, Cwd: "/v", Parent: "a", Title: "of a", Project: "p", Bound: "w", Options: map[string]string{"mode": "auto"},
		Created: now, Updated: now, Last: 7, User: 2, Messages: 1,
	}
	if diff := cmp.Diff(wantInfo, info(t, s, "b")); diff != "" {
		t.Errorf("info (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, info(t, s, "a")); diff != "" {
		t.Errorf("the original changed (-before +after):\n%s", diff)
	}
}

func fork(t *testing.T, s harness.Threads, from string, last int64, id string) {
	t.Helper()
	if err := s.Copy(t.Context(), from, last, id, thread.Created{Parent: from}); err != nil {
		t.Fatal(err)
	}
}
