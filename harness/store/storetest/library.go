package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/thread"
)

func testLibrary(t *testing.T, open func(*testing.T) harness.Threads) {
	t.Run("what is said of a thread follows its log", func(t *testing.T) { testInfo(t, open(t)) })
	t.Run("a missing thread is ErrNotFound", func(t *testing.T) {
		s := open(t)
		if _, err := s.Info(t.Context(), "nope"); !errors.Is(err, harness.ErrNotFound) {
			t.Errorf("Info: error = %v, want ErrNotFound", err)
		}
		if err := s.Delete(t.Context(), "nope"); !errors.Is(err, harness.ErrNotFound) {
			t.Errorf("Delete: error = %v, want ErrNotFound", err)
		}
	})
	t.Run("no two threads have one mark", func(t *testing.T) { testMark(t, open(t)) })
	t.Run("an empty list is a page", func(t *testing.T) {
		got, err := open(t).List(t.Context(), thread.Query{})
		if err != nil || len(got.Threads) != 0 || got.Next != "" {
			t.Errorf("List() = %+v, %v; want an empty page", got, err)
		}
	})
	t.Run("the last updated come first", func(t *testing.T) {
		s := open(t)
		for id, updated := range map[string]int64{"a": 2, "b": 3, "c": 1, "d": 2} {
			restore(t, s, id, updated, thread.Created{})
		}
		if got, want := list(t, s, thread.Query{}), []string{"b", "d", "a", "c"}; !slices.Equal(got, want) {
			t.Errorf("List() = %q, want %q", got, want)
		}
		add(t, s, "c", thread.Assistant{})
		add(t, s, "a", thread.Title{Text: "titles do not count"})
		if got, want := list(t, s, thread.Query{}), []string{"c", "b", "d", "a"}; !slices.Equal(got, want) {
			t.Errorf("after a message List() = %q, want %q", got, want)
		}
	})
	t.Run("a list is of one directory", func(t *testing.T) {
		s := open(t)
		restore(t, s, "a", 1, thread.Created{Cwd: "/w"})
		restore(t, s, "b", 2, thread.Created{Cwd: "/w/sub"})
		restore(t, s, "c", 3, thread.Created{Cwd: "/x"}, thread.Moved{Cwd: "/w"})
		restore(t, s, "d", 4, thread.Created{Cwd: "/w"}, thread.Moved{Cwd: "/x"})
		for cwd, want := range map[string][]string{"/w": {"c", "a"}, "/w/sub": {"b"}, "/x": {"d"}, "/": nil} {
			if got := list(t, s, thread.Query{Cwd: cwd}); !slices.Equal(got, want) {
				t.Errorf("in %s: %q, want %q", cwd, got, want)
			}
		}
	})
	t.Run("archived threads have a list of their own", func(t *testing.T) {
		s := open(t)
		for i, id := range []string{"a", "b", "c"} {
			restore(t, s, id, int64(i+1), thread.Created{})
		}
		add(t, s, "a", thread.Archived{On: true})
		add(t, s, "b", thread.Archived{On: true})
		add(t, s, "b", thread.Archived{})
		if got, want := list(t, s, thread.Query{}), []string{"c", "b"}; !slices.Equal(got, want) {
			t.Errorf("List() = %q, want %q", got, want)
		}
		if got, want := list(t, s, thread.Query{Archived: true}), []string{"a"}; !slices.Equal(got, want) {
			t.Errorf("archived: %q, want %q", got, want)
		}
		if got, want := list(t, s, thread.Query{All: true}), []string{"c", "b", "a"}; !slices.Equal(got, want) {
			t.Errorf("all: %q, want %q", got, want)
		}
	})
	t.Run("pages make up the list", func(t *testing.T) { testPages(t, open(t)) })
	t.Run("pages stay apart while threads change", func(t *testing.T) { testMovingPages(t, open(t)) })
	t.Run("a bad cursor is ErrCursor", func(t *testing.T) {
		s := open(t)
		for _, cursor := range []string{"x", "?", "MQ", "MSAuLi8uLg", "bm90YW51bWJlciBh", "' OR 1=1 --", "\x00"} {
			if _, err := s.List(t.Context(), thread.Query{After: cursor}); !errors.Is(err, harness.ErrCursor) {
				t.Errorf("after %q: error = %v, want ErrCursor", cursor, err)
			}
		}
	})
	t.Run("a deleted thread is gone", func(t *testing.T) { testDelete(t, open(t)) })
	t.Run("a thread is read whole, or is gone", func(t *testing.T) { testDeletedReading(t, open(t)) })
	t.Run("whoever has given up gets no answer", func(t *testing.T) { testCancelled(t, open(t)) })
}

func testInfo(t *testing.T, s harness.Threads) {
	create(t, s, "a", thread.Created{Cwd: "/w", Roots: []string{"/x"}, Parent: "p"})
	steps := [][]thread.Body{
		{said("hello")},
		{thread.Assistant{}, thread.Result{}},
		{thread.Options{Values: map[string]string{"mode": "auto"}}, thread.Title{Text: "t"}},
		{thread.Retried{User: 2}},
		{thread.Bound{Project: "p", Workspace: "w"}},
		{thread.Title{Text: "mine", User: true}, thread.Title{Text: "t2"}},
		{thread.Moved{Cwd: "/v"}, thread.Archived{On: true}, said("more")},
	}
	for _, bodies := range steps {
		add(t, s, "a", bodies...)
		want := thread.Info{ID: "a", Mark: info(t, s, "a").Mark}
		for _, e := range read(t, s, "a", 0) {
			want.Add(e)
		}
		if diff := cmp.Diff(want, info(t, s, "a")); diff != "" {
			t.Errorf("after %T (-want +got):\n%s", bodies[0], diff)
		}
		page, err := s.List(t.Context(), thread.Query{Archived: want.Archived})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]thread.Info{want}, page.Threads); diff != "" {
			t.Errorf("in the list, after %T (-want +got):\n%s", bodies[0], diff)
		}
	}
}

// testMark makes the same thread again and again, under one name and others.
func testMark(t *testing.T, s harness.Threads) {
	seen := make(map[string]string)
	note := func(how, id string) {
		t.Helper()
		mark := info(t, s, id).Mark
		if other, ok := seen[mark]; ok || mark == "" {
			t.Errorf("the mark of the thread that was %s is %q, as of the one that was %s", how, mark, other)
		}
		seen[mark] = how
	}
	create(t, s, "a", thread.Created{Cwd: "/w"})
	add(t, s, "a", said("hi"))
	note("created", "a")
	mark := info(t, s, "a").Mark
	add(t, s, "a", said("ho"))
	if got := info(t, s, "a").Mark; got != mark {
		t.Errorf("mark = %q after an append, want %q as before", got, mark)
	}
	entries := read(t, s, "a", 0)
	fork(t, s, "a", 3, "b")
	note("copied", "b")
	for _, how := range []string{"restored", "restored again"} {
		if err := s.Delete(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		if err := s.Restore(t.Context(), "a", entries); err != nil {
			t.Fatal(err)
		}
		note(how, "a")
	}
}

func testPages(t *testing.T, s harness.Threads) {
	const threads = 60
	var all []string
	for i := range threads {
		id := fmt.Sprintf("t%02d", i)
		restore(t, s, id, int64(i/3), thread.Created{Cwd: fmt.Sprint("/", i%2)}) // three of a time
		all = append(all, id)
	}
	slices.Reverse(all)
	if page, err := s.List(t.Context(), thread.Query{}); err != nil || len(page.Threads) != 50 || page.Next == "" {
		t.Errorf("the first page has %d threads and goes on at %q (%v), want 50 and a cursor", len(page.Threads), page.Next, err)
	}
	for _, limit := range []int{0, 1, 7, 30, 59, 60, 61, 1000} {
		if got := list(t, s, thread.Query{Limit: limit}); !slices.Equal(got, all) {
			t.Errorf("in pages of %d: %q, want %q", limit, got, all)
		}
	}
	if got := list(t, s, thread.Query{Limit: 7, Cwd: "/1"}); len(got) != threads/2 {
		t.Errorf("%d threads in one directory, want %d", len(got), threads/2)
	}
	if page, err := s.List(t.Context(), thread.Query{Limit: 60}); err != nil || page.Next != "" {
		t.Errorf("the last page goes on at %q (%v)", page.Next, err)
	}
}

func testMovingPages(t *testing.T, s harness.Threads) {
	for i := range 9 {
		restore(t, s, fmt.Sprint(i), int64(i), thread.Created{})
	}
	first, err := s.List(t.Context(), thread.Query{Limit: 3})
	if err != nil {
		t.Fatal(err)
	}
	add(t, s, "8", thread.Assistant{}) // shown, and moves up
	add(t, s, "2", thread.Assistant{}) // not shown yet, and moves before the page
	add(t, s, "4", thread.Archived{On: true})
	create(t, s, "new", thread.Created{})
	for _, id := range []string{"6", "3"} { // 6 is where the cursor stands
		if err := s.Delete(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := list(t, s, thread.Query{Limit: 3, After: first.Next}), []string{"5", "1", "0"}; !slices.Equal(got, want) {
		t.Errorf("the pages after the first: %q, want %q", got, want)
	}
}

func testDelete(t *testing.T, s harness.Threads) {
	create(t, s, "a", thread.Created{})
	create(t, s, "b", thread.Created{})
	add(t, s, "a", said("a secret word"), thread.Title{Text: "a secret title"})
	add(t, s, "b", said("a secret word"))
	if err := s.Delete(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Info(t.Context(), "a"); !errors.Is(err, harness.ErrNotFound) {
		t.Errorf("Info: error = %v, want ErrNotFound", err)
	}
	if _, err := s.Append(t.Context(), "a", "", thread.Note{}); !errors.Is(err, harness.ErrNotFound) {
		t.Errorf("Append: error = %v, want ErrNotFound", err)
	}
	if got, want := list(t, s, thread.Query{}), []string{"b"}; !slices.Equal(got, want) {
		t.Errorf("List() = %q, want %q", got, want)
	}
	if got, want := places(search(t, s, "secret")), []string{"b 2 user"}; !slices.Equal(got, want) {
		t.Errorf("Search() = %q, want %q", got, want)
	}
	create(t, s, "a", thread.Created{Cwd: "/again"})
	if got := read(t, s, "a", 0); len(got) != 1 {
		t.Errorf("a thread of the same id begins with %d entries, want 1", len(got))
	}
}

// Half a thread must not pass for all of it.
func testDeletedReading(t *testing.T, s harness.Threads) {
	const notes = 700
	create(t, s, "a", thread.Created{})
	add(t, s, "a", slices.Repeat([]thread.Body{thread.Note{Text: "x"}}, notes)...)
	seen := 0
	err := s.Read(t.Context(), "a", 0, func(thread.Entry) error {
		if seen++; seen > 1 {
			return nil
		}
		return s.Delete(t.Context(), "a")
	})
	if !errors.Is(err, harness.ErrNotFound) && (err != nil || seen != notes+1) {
		t.Errorf("error = %v after %d entries, want ErrNotFound, or all %d", err, seen, notes+1)
	}
}

func testCancelled(t *testing.T, s harness.Threads) {
	create(t, s, "a", thread.Created{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, info := s.Info(ctx, "a")
	_, list := s.List(ctx, thread.Query{})
	_, search := s.Search(ctx, thread.Search{Words: "x"})
	for name, err := range map[string]error{
		"Create":  s.Create(ctx, "b", thread.Created{}),
		"Copy":    s.Copy(ctx, "a", 1, "c", thread.Created{}),
		"Restore": s.Restore(ctx, "d", []thread.Entry{{Seq: 1, Body: thread.Created{}}}),
		"Delete":  s.Delete(ctx, "a"),
		"Lock":    s.Lock(ctx, "a", thread.Holder{Token: "t"}, time.Hour),
		"Read":    s.Read(ctx, "a", 0, func(thread.Entry) error { return nil }),
		"Info":    info, "List": list, "Search": search,
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error = %v, want context.Canceled", name, err)
		}
	}
	page, err := s.List(t.Context(), thread.Query{})
	if err != nil || len(page.Threads) != 1 {
		t.Errorf("%d threads after all (%v), want the one that was there", len(page.Threads), err)
	}
}

// said is a message of the user.
func said(text string) thread.User {
	return thread.User{Blocks: []event.Block{{Text: text}}, Sent: []thread.Part{{Text: text}}}
}

// restore makes a thread that was last updated at a time.
func restore(t *testing.T, s harness.Threads, id string, updated int64, bodies ...thread.Body) {
	t.Helper()
	var entries []thread.Entry
	for i, b := range bodies {
		entries = append(entries, thread.Entry{Seq: int64(i) + 1, Time: time.Unix(updated, 0).UTC(), Body: b})
	}
	if err := s.Restore(t.Context(), id, entries); err != nil {
		t.Fatal(err)
	}
}

func info(t *testing.T, s harness.Threads, id string) thread.Info {
	t.Helper()
	i, err := s.Info(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// list returns the ids of all pages.
func list(t *testing.T, s harness.Threads, q thread.Query) []string {
	t.Helper()
	var ids []string
	for {
		page, err := s.List(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range page.Threads {
			ids = append(ids, i.ID)
		}
		if page.Next == "" {
			return ids
		}
		q.After = page.Next
	}
}
