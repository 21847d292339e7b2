package harness_test

import (
	"context"
	"errors"
	"testing"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/thread"
)

// unread is a store that cannot be read for a while.
type unread struct {
	harness.Threads
	read  bool // Read fails
	infos int  // calls of Info that work before they fail; negative is all
}

func (u *unread) Read(ctx context.Context, id string, after int64, f func(thread.Entry) error) error {
	if u.read {
		return errAway
	}
	return u.Threads.Read(ctx, id, after, f)
}

func (u *unread) Info(ctx context.Context, id string) (thread.Info, error) {
	if u.infos == 0 {
		return thread.Info{}, errAway
	}
	u.infos--
	return u.Threads.Info(ctx, id)
}

// A message is kept for a model that can be set up later (R-HARN-22), not for a
// thread that cannot be read: each further try would add one.
func TestMessageIsNotKeptForAThreadThatCannotBeRead(t *testing.T) {
	f := newFixture()
	f.script.steps = []step{says("x")}
	db := &unread{Threads: f.threads, infos: -1}
	f.threads = db
	s := f.open(t)
	before := len(f.entries(t, s))
	db.read = true
	if _, err := prompted(t, s, t.Context(), "go", &recorder{}); !errors.Is(err, errAway) {
		t.Errorf("error = %v, want %v", err, errAway)
	}
	db.read = false
	if got := len(f.entries(t, s)); got != before {
		t.Errorf("%d entries were added, want none", got-before)
	}
}

// A title that cannot be told leaves the message its answer.
func TestTitleThatCannotBeRead(t *testing.T) {
	f := newFixture()
	f.script.steps = []step{says("x")}
	f.threads = &unread{Threads: f.threads, infos: 1}
	s := f.open(t)
	if out, _ := ask(t, s, "go"); out.Stop != harness.EndTurn {
		t.Errorf("stop = %q, want an answer", out.Stop)
	}
}
