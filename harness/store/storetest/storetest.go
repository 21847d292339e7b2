// Package storetest checks that a store keeps the contract of [harness.Threads], and
// that of [place.Places].
package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/tools"
)

// TestThreads checks the stores returned by open. Each must be empty.
func TestThreads(t *testing.T, open func(*testing.T) harness.Threads) {
	t.Run("log", func(t *testing.T) { testLog(t, open) })
	t.Run("library", func(t *testing.T) { testLibrary(t, open) })
	t.Run("copies", func(t *testing.T) { testCopies(t, open) })
	t.Run("locks", func(t *testing.T) { testLocks(t, open) })
	t.Run("search", func(t *testing.T) { testSearch(t, open) })
}

func testLog(t *testing.T, open func(*testing.T) harness.Threads) {
	t.Run("a created thread begins with its first entry", func(t *testing.T) {
		s, want := open(t), thread.Created{Cwd: "/w", Roots: []string{"/x"}}
		create(t, s, "a", want)
		if diff := cmp.Diff([]thread.Entry{{Seq: 1, Body: want}}, read(t, s, "a", 0), noTime); diff != "" {
			t.Errorf("entries (-want +got):\n%s", diff)
		}
	})
	t.Run("a thread is created with all that it begins with", func(t *testing.T) {
		s := open(t)
		title := thread.Title{Text: "t"}
		if err := s.Create(t.Context(), "a", thread.Created{}, title, thread.Note{Text: "n"}); err != nil {
			t.Fatal(err)
		}
		want := []thread.Entry{{Seq: 1, Body: thread.Created{}}, {Seq: 2, Body: title}, {Seq: 3, Body: thread.Note{Text: "n"}}}
		if diff := cmp.Diff(want, read(t, s, "a", 0), noTime); diff != "" {
			t.Errorf("entries (-want +got):\n%s", diff)
		}
	})
	t.Run("an id is given once", func(t *testing.T) {
		s := open(t)
		create(t, s, "a", thread.Created{Cwd: "/first"})
		if err := s.Create(t.Context(), "a", thread.Created{Cwd: "/second"}); !errors.Is(err, harness.ErrTaken) {
			t.Errorf("second Create: error = %v, want ErrTaken", err)
		}
		if got := read(t, s, "a", 0); len(got) != 1 || got[0].Body.(thread.Created).Cwd != "/first" {
			t.Errorf("entries = %v, want those of the first Create", got)
		}
	})
	t.Run("one of many creators wins", func(t *testing.T) { testRace(t, open(t)) })
	t.Run("a missing thread is ErrNotFound", func(t *testing.T) {
		s := open(t)
		_, err := s.Append(t.Context(), "nope", "", thread.Note{Text: "x"})
		if !errors.Is(err, harness.ErrNotFound) {
			t.Errorf("Append: error = %v, want ErrNotFound", err)
		}
		err = s.Read(t.Context(), "nope", 0, func(thread.Entry) error { return nil })
		if !errors.Is(err, harness.ErrNotFound) {
			t.Errorf("Read: error = %v, want ErrNotFound", err)
		}
	})
	t.Run("every body comes back as it was", func(t *testing.T) { testBodies(t, open(t)) })
	t.Run("any text comes back as it was", func(t *testing.T) { testTexts(t, open(t)) })
	t.Run("a large message comes back as it was", func(t *testing.T) { testLarge(t, open(t)) })
	t.Run("a reader may write", func(t *testing.T) { testReaderWrites(t, open(t)) })
	t.Run("a reader may give up", func(t *testing.T) {
		s := open(t)
		create(t, s, "a", thread.Created{})
		add(t, s, "a", thread.Note{Text: "x"})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		calls := 0
		err := s.Read(ctx, "a", 0, func(thread.Entry) error { calls++; cancel(); return nil })
		if !errors.Is(err, context.Canceled) || calls != 1 {
			t.Errorf("error = %v after %d calls, want context.Canceled after 1", err, calls)
		}
	})
	t.Run("nothing can be appended", func(t *testing.T) {
		s := open(t)
		create(t, s, "a", thread.Created{})
		if got := add(t, s, "a"); len(got) != 0 {
			t.Errorf("appended %v, want nothing", got)
		}
		if got := read(t, s, "a", 0); len(got) != 1 {
			t.Errorf("%d entries, want 1", len(got))
		}
	})
	t.Run("reading starts after a number", func(t *testing.T) { testAfter(t, open(t)) })
	t.Run("concurrent appends are dense and whole", func(t *testing.T) { testConcurrent(t, open(t)) })
	t.Run("threads are apart", func(t *testing.T) {
		s := open(t)
		create(t, s, "a", thread.Created{Cwd: "/a"})
		create(t, s, "b", thread.Created{Cwd: "/b"})
		add(t, s, "a", thread.Note{Text: "for a"})
		if got := read(t, s, "b", 0); len(got) != 1 {
			t.Errorf("b has %d entries, want 1", len(got))
		}
	})
	t.Run("a cancelled append changes nothing", func(t *testing.T) {
		s := open(t)
		create(t, s, "a", thread.Created{})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.Append(ctx, "a", "", thread.Note{Text: "x"}); !errors.Is(err, context.Canceled) {
			t.Errorf("error = %v, want context.Canceled", err)
		}
		if got := read(t, s, "a", 0); len(got) != 1 {
			t.Errorf("%d entries, want 1", len(got))
		}
	})
	t.Run("an error of the reader ends the reading", func(t *testing.T) {
		s, stop, calls := open(t), errors.New("enough"), 0
		create(t, s, "a", thread.Created{})
		add(t, s, "a", thread.Note{Text: "x"})
		err := s.Read(t.Context(), "a", 0, func(thread.Entry) error { calls++; return stop })
		if !errors.Is(err, stop) || calls != 1 {
			t.Errorf("error = %v after %d calls, want the reader's after 1", err, calls)
		}
	})
}

var noTime = cmpopts.IgnoreFields(thread.Entry{}, "Time")

func testRace(t *testing.T, s harness.Threads) {
	errs := make([]error, 8) // each goroutine has its own slot
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { errs[i] = s.Create(t.Context(), "a", thread.Created{}) })
	}
	wg.Wait()
	won := 0
	for _, err := range errs {
		switch {
		case err == nil:
			won++
		case !errors.Is(err, harness.ErrTaken):
			t.Errorf("error = %v, want ErrTaken", err)
		}
	}
	if won != 1 {
		t.Errorf("%d creators won, want 1", won)
	}
}

func testBodies(t *testing.T, s harness.Threads) {
	old := "before"
	attached := []thread.Attached{{Key: "document:1", Name: "a\x00", URI: "file:///\xff", Type: "text/plain"}, {Key: "resource:2"}}
	bodies := []thread.Body{
		thread.User{
			MessageID: "m1",
			Blocks:    []event.Block{{Text: "hi\x00\u2028"}, {MIME: "image/png", Data: []byte{0, 255}, URI: "file:///x"}},
			Sent:      []thread.Part{{Text: "hi"}, {Image: &tools.Image{MIME: "image/png", Data: []byte{0, 255}}}},
			Attached:  attached,
			Told:      []string{"advice:s"},
		},
		thread.Assistant{
			MessageID: "m2",
			Parts: []thread.Part{
				{ID: "m2", Reasoning: &thread.Reasoning{Text: "hm", Provider: "p/m", Signature: "s", Redacted: "r", Field: "f"}},
				{ID: "m3", Text: "yes"},
				{Call: &thread.Call{
					ID: "c1", WireID: "w", Name: "read", Args: `{"n": 12345678901234567890}`,
					Provider: "p", Extra: json.RawMessage(`{"sig":"<x>"}`),
				}},
			},
			Usage: model.Usage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4, Reasoning: 5, Known: true},
			Stop:  model.StopTools, Model: "p/m", Partial: true, Meta: json.RawMessage(`{"a":1}`),
		},
		thread.Result{
			CallID: "c1", Text: "done", IsError: true, Images: []tools.Image{{MIME: "image/gif", Data: []byte("gif")}},
			Shown: event.ToolCall{
				ID: "c1", Name: "read", Title: "a.go", Kind: tools.KindRead, Status: event.Failed,
				Input:     json.RawMessage(`{"n": 12345678901234567890}`),
				Locations: []tools.Location{{Path: "/a.go", Line: 3}},
				Diffs:     []tools.Diff{{Path: "/a.go", Old: &old, New: "after"}, {Path: "/b.go", New: "new"}},
				Text:      "done",
			},
			Answers: []tools.Answer{{Question: "which?", Chosen: []string{"this"}}}, Told: []string{"/w/AGENTS.md"},
			Usage: model.Usage{Input: 1, Output: 2, Known: true},
		},
		thread.Note{Text: "answer"},
		thread.Options{Values: map[string]string{"mode": "auto"}},
		thread.Title{Text: "A title", User: true},
		thread.Moved{Cwd: "/v", Roots: []string{"/x"}},
		thread.Withdrawn{},
		thread.Retried{User: 2},
		thread.Retried{User: 2, Sent: []thread.Part{{Text: "anew"}}, Attached: attached, Told: []string{"advice:t"}},
		thread.Bound{Project: "p", Workspace: "w"},
		thread.Archived{On: true},
	}
	create(t, s, "a", thread.Created{})
	added := add(t, s, "a", bodies...)
	got := read(t, s, "a", 1)
	if diff := cmp.Diff(added, got); diff != "" {
		t.Errorf("Append and Read differ (-appended +read):\n%s", diff)
	}
	for i, e := range got {
		if e.Time.IsZero() || e.Time.Location() != time.UTC || e.Time.Nanosecond()%1000 != 0 {
			t.Errorf("entry %d is of %v, want microseconds in UTC", e.Seq, e.Time)
		}
		if diff := cmp.Diff(bodies[i], e.Body); diff != "" {
			t.Errorf("body %T (-want +got):\n%s", bodies[i], diff)
		}
	}
}

func testTexts(t *testing.T, s harness.Threads) {
	texts := []string{
		"", "\x00", "a\x00b", "\xff\xfe", "half \xe4", "\u2028 \u202e </script> \\ \" '", "\ufeff", "😀", strings.Repeat("args", 25000),
	}
	create(t, s, "a", thread.Created{Cwd: "/dir\xff"})
	for _, text := range texts {
		add(t, s, "a",
			thread.User{MessageID: text[:min(9, len(text))], Blocks: []event.Block{{Text: text}}, Sent: []thread.Part{{Text: text}}},
			thread.Assistant{Parts: []thread.Part{{Text: text}, {Call: &thread.Call{ID: "c", Args: text}}}},
			thread.Title{Text: text},
		)
	}
	got := read(t, s, "a", 1)
	if len(got) != 3*len(texts) {
		t.Fatalf("%d entries, want %d", len(got), 3*len(texts))
	}
	for i, text := range texts {
		u, a := got[3*i].Body.(thread.User), got[3*i+1].Body.(thread.Assistant)
		same := map[string]bool{
			"blocks": u.Blocks[0].Text == text, "sent": u.Sent[0].Text == text,
			"text": a.Parts[0].Text == text, "args": a.Parts[1].Call.Args == text,
			"title": got[3*i+2].Body.(thread.Title).Text == text,
		}
		for name, ok := range same {
			if !ok {
				t.Errorf("%.20q came back changed: %s", text, name)
			}
		}
	}
	if got := read(t, s, "a", 0)[0].Body.(thread.Created).Cwd; got != "/dir\xff" {
		t.Errorf("directory %q, want it as it was", got)
	}
}

// testLarge stores a file that somebody pasted, and one of long words of which no
// two are alike, which is the hardest to make searchable.
func testLarge(t *testing.T, s harness.Threads) {
	create(t, s, "a", thread.Created{})
	var hashes strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&hashes, "%064x\n", i)
	}
	for _, text := range []string{strings.Repeat("a line of a large file\n", 5<<20/23), hashes.String()} {
		want := add(t, s, "a", said(text), thread.Note{Text: "next"})
		got := read(t, s, "a", want[0].Seq-1)
		if len(got) != 2 || got[0].Body.(thread.User).Blocks[0].Text != text || got[1].Body != want[1].Body {
			t.Errorf("%d bytes came back changed", len(text))
		}
	}
}

// testReaderWrites checks that a reader who answers every entry with another one
// comes to an end, and that others do not wait for a slow reader.
func testReaderWrites(t *testing.T, s harness.Threads) {
	create(t, s, "a", thread.Created{})
	create(t, s, "b", thread.Created{})
	var bodies []thread.Body
	for i := range 300 {
		bodies = append(bodies, thread.Note{Text: fmt.Sprint(i, strings.Repeat("x", 9000))})
	}
	add(t, s, "a", bodies...)
	next := int64(1)
	err := s.Read(t.Context(), "a", 0, func(e thread.Entry) error {
		if e.Seq != next {
			return fmt.Errorf("entry %d, want %d", e.Seq, next)
		}
		next++
		add(t, s, "a", thread.Note{Text: "again"})
		add(t, s, "b", thread.Note{Text: "there"})
		return nil
	})
	if err != nil || next != 302 {
		t.Errorf("read up to %d (%v), want 301", next-1, err)
	}
	if got := len(read(t, s, "a", 0)); got != 602 {
		t.Errorf("%d entries in all, want 602", got)
	}
}

func testAfter(t *testing.T, s harness.Threads) {
	create(t, s, "a", thread.Created{})
	add(t, s, "a", thread.Note{Text: "2"}, thread.Note{Text: "3"})
	for after, want := range map[int64]int{0: 3, 1: 2, 2: 1, 3: 0, 99: 0} {
		got := read(t, s, "a", after)
		if len(got) != want {
			t.Errorf("after %d: %d entries, want %d", after, len(got), want)
			continue
		}
		if want > 0 && got[0].Seq != after+1 {
			t.Errorf("after %d: first is %d", after, got[0].Seq)
		}
	}
}

func testConcurrent(t *testing.T, s harness.Threads) {
	const writers, rounds = 8, 10
	create(t, s, "a", thread.Created{})
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for r := range rounds {
				name := fmt.Sprintf("%d/%d", w, r)
				got, err := s.Append(t.Context(), "a", "", thread.Note{Text: name}, thread.Note{Text: name})
				if err != nil {
					t.Error(err)
				} else if len(got) != 2 || got[1].Seq != got[0].Seq+1 {
					t.Errorf("%s: appended %v, want two neighbours", name, got)
				}
			}
		})
	}
	wg.Wait()
	got := read(t, s, "a", 1)
	if len(got) != 2*writers*rounds {
		t.Fatalf("%d entries, want %d", len(got), 2*writers*rounds)
	}
	for i, e := range got {
		if e.Seq != int64(i)+2 {
			t.Fatalf("entry %d has number %d", i+2, e.Seq)
		}
		if e.Body != got[i&^1].Body {
			t.Errorf("entries %d and %d of one Append are apart", got[i&^1].Seq, e.Seq)
		}
	}
}

func create(t *testing.T, s harness.Threads, id string, c thread.Created) {
	t.Helper()
	if err := s.Create(t.Context(), id, c); err != nil {
		t.Fatal(err)
	}
}

func add(t *testing.T, s harness.Threads, id string, bodies ...thread.Body) []thread.Entry {
	t.Helper()
	got, err := s.Append(t.Context(), id, "", bodies...)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func read(t *testing.T, s harness.Threads, id string, after int64) []thread.Entry {
	t.Helper()
	var got []thread.Entry
	err := s.Read(t.Context(), id, after, func(e thread.Entry) error { got = append(got, e); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return got
}
