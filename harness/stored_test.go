package harness_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/store/memory"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/prompt"
	"github.com/lorimer-dev/lorimer/tools"
)

// coded is a store of threads that keeps nothing but what the codec of entries
// writes, as a database does.
type coded struct{ *memory.Threads }

func newCoded() coded { return coded{memory.New(nil)} }

func (c coded) Read(ctx context.Context, id string, after int64, f func(thread.Entry) error) error {
	return c.Threads.Read(ctx, id, after, func(e thread.Entry) error {
		kind, data, err := thread.Encode(e.Body)
		if err != nil {
			return err
		}
		if e.Body, err = thread.Decode(kind, data); err != nil {
			return err
		}
		return f(e)
	})
}

// flaky is a store that can be made to fail, in all that has to do with locks or
// with storing.
type flaky struct {
	harness.Threads
	away  atomic.Bool // Lock and Unlock fail
	full  atomic.Bool // Append fails
	locks atomic.Int32
}

var errAway = errors.New("the database is away")

func (f *flaky) Lock(ctx context.Context, id string, h thread.Holder, ttl time.Duration) error {
	if f.away.Load() {
		return errAway
	}
	f.locks.Add(1)
	return f.Threads.Lock(ctx, id, h, ttl)
}

func (f *flaky) Unlock(ctx context.Context, id, token string) error {
	if f.away.Load() {
		return errAway
	}
	return f.Threads.Unlock(ctx, id, token)
}

func (f *flaky) Append(ctx context.Context, id, turn string, bodies ...thread.Body) ([]thread.Entry, error) {
	if f.full.Load() {
		return nil, errors.New("the disk is full")
	}
	return f.Threads.Append(ctx, id, turn, bodies...)
}

// beside returns a fixture of another process at the same store.
func (f *fixture) beside(ts ...tools.Tool) *fixture {
	g := newFixture(ts...)
	g.threads = f.threads
	return g
}

// load opens a session of a stored thread.
func (f *fixture) load(t *testing.T, id string, change ...func(*harness.Spec)) *harness.Session {
	t.Helper()
	if f.engine == nil {
		f.start(t)
	}
	sp := harness.Spec{ID: id, FS: files{}, Client: prompt.Client{Name: "test", Version: "1"}}
	for _, c := range change {
		c(&sp)
	}
	s, err := f.engine.Load(t.Context(), sp)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// log returns all entries of a thread.
func (f *fixture) log(t *testing.T, id string) []thread.Entry {
	t.Helper()
	var out []thread.Entry
	err := f.threads.Read(context.WithoutCancel(t.Context()), id, 0, func(e thread.Entry) error {
		out = append(out, e)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// store appends what a turn left that nobody finished.
func (f *fixture) store(t *testing.T, id string, bodies ...thread.Body) {
	t.Helper()
	if _, err := f.threads.Append(t.Context(), id, "", bodies...); err != nil {
		t.Fatal(err)
	}
}

func replayed(t *testing.T, s *harness.Session) []event.Event {
	t.Helper()
	rec := &recorder{}
	if err := s.Replay(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	return rec.all()
}

// retry has the last message answered anew.
func retry(t *testing.T, s *harness.Session, sink event.Sink) (harness.Outcome, error) {
	t.Helper()
	slot, err := s.Enter()
	if err != nil {
		t.Fatal(err)
	}
	return slot.Prompt(t.Context(), harness.Input{Retry: true}, sink)
}

// A screen is what a client shows after some events: messages and calls in the
// order in which they began, each as it is now.
type screen struct {
	order []string
	items map[string]any
	meta  map[string]string // of messages that are complete
}

type message struct{ kind, text string }

func show(events []event.Event) screen {
	s := screen{items: map[string]any{}, meta: map[string]string{}}
	for _, e := range events {
		switch e := e.(type) {
		case event.User:
			s.put(e.MessageID, e.Blocks)
		case event.Text:
			s.lengthen(e.MessageID, "text", e.Text)
		case event.Thought:
			s.lengthen(e.MessageID, "thought", e.Text)
		case event.Done:
			s.meta[e.MessageID] = string(e.Meta)
		case event.ToolCall:
			s.change(e)
		}
	}
	return s
}

func (s *screen) put(id string, v any) {
	if _, ok := s.items[id]; !ok {
		s.order = append(s.order, id)
	}
	s.items[id] = v
}

func (s *screen) lengthen(id, kind, text string) {
	m, _ := s.items[id].(message)
	s.put(id, message{kind, m.text + text})
}

// change merges an update: what is empty stays.
func (s *screen) change(up event.ToolCall) {
	c, _ := s.items[up.ID].(event.ToolCall)
	c.ID = up.ID
	c.Name, c.Title, c.Kind = cmp.Or(up.Name, c.Name), cmp.Or(up.Title, c.Title), cmp.Or(up.Kind, c.Kind)
	c.Status, c.Text = cmp.Or(up.Status, c.Status), cmp.Or(up.Text, c.Text)
	if up.Input != nil {
		c.Input = up.Input
	}
	if up.Locations != nil {
		c.Locations = up.Locations
	}
	if up.Diffs != nil {
		c.Diffs = up.Diffs
	}
	if up.Output != nil {
		c.Output = encoded(up.Output)
	}
	if up.Meta != nil {
		c.Meta = up.Meta
	}
	s.put(up.ID, c)
}

// encoded is how a value of any type goes out.
func encoded(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// differs shows how two screens differ.
func (s screen) differs(from screen) string {
	type shown struct {
		Order []string
		Items []any
		Meta  []string
	}
	flat := func(s screen) shown {
		out := shown{Order: s.order}
		for _, id := range s.order {
			out.Items = append(out.Items, s.items[id])
		}
		for _, id := range slices.Sorted(maps.Keys(s.meta)) {
			out.Meta = append(out.Meta, id+" "+s.meta[id])
		}
		return out
	}
	return gocmp.Diff(flat(from), flat(s), gocmp.AllowUnexported(message{}))
}
