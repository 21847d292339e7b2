package harness_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/tools/approve"
	"github.com/lorimer-dev/lorimer/tools/toolstest"
)

func TestSessionIDs(t *testing.T) { // R-HARN-01
	tests := []struct {
		id   string
		want error
	}{
		{"a.b_c-1", nil},
		{"...", nil},
		{strings.Repeat("x", 200), nil},
		{"a", nil},
		{"a", harness.ErrTaken},
		{".", harness.ErrBadID},
		{"..", harness.ErrBadID},
		{"a/b", harness.ErrBadID},
		{"a b", harness.ErrBadID},
		{"ä", harness.ErrBadID},
		{"a\n", harness.ErrBadID},
		{"a\x00", harness.ErrBadID},
		{strings.Repeat("x", 201), harness.ErrBadID},
	}
	f := newFixture()
	f.start(t)
	for _, tt := range tests {
		s, err := f.engine.Open(t.Context(), harness.Spec{ID: tt.id, FS: files{}})
		if !errors.Is(err, tt.want) {
			t.Errorf("Open(%.20q) = %v, want %v", tt.id, err, tt.want)
		}
		if err == nil && s.ID() != tt.id {
			t.Errorf("id = %q, want %q", s.ID(), tt.id)
		}
	}
	a, b := f.open(t), f.open(t)
	if harness.CheckID(a.ID()) != nil || a.ID() == b.ID() {
		t.Errorf("made ids = %q, %q", a.ID(), b.ID())
	}
}

func TestQueue(t *testing.T) { // R-ACP-25, R-ACP-07
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(toolstest.Slow("slow", time.Second))
		f.options.Waiting = 2
		for i := range 3 {
			f.script.steps = append(f.script.steps, wants(want{"", "slow", "{}"}), says(fmt.Sprint("answer ", i)))
		}
		s := f.open(t)
		var slots []*harness.Slot
		for range 3 {
			slot, err := s.Enter()
			if err != nil {
				t.Fatal(err)
			}
			slots = append(slots, slot)
		}
		if _, err := s.Enter(); !errors.Is(err, harness.ErrBusy) {
			t.Errorf("fourth Enter: %v, want ErrBusy", err)
		}
		type end struct {
			text string
			at   time.Duration
		}
		start := time.Now()
		ends := make(chan end, 3)
		for _, slot := range slices.Backward(slots) { // the order of Prompt does not matter
			go func() {
				rec := &recorder{}
				if out, err := slot.Prompt(t.Context(), harness.Input{}, rec); err != nil || out.Stop != harness.EndTurn {
					t.Errorf("outcome = %+v, %v", out, err)
				}
				ends <- end{rec.text(), time.Since(start)}
			}()
			synctest.Wait()
		}
		for i := range 3 {
			want := end{fmt.Sprint("answer ", i), time.Duration(i+1) * time.Second}
			if got := <-ends; got != want {
				t.Errorf("end %d = %v, want %v", i, got, want)
			}
		}
		if _, err := s.Enter(); err != nil {
			t.Errorf("Enter after all: %v", err)
		}
	})
}

func TestNoQueue(t *testing.T) { // R-ACP-25, --no-queue
	f := newFixture()
	f.options.Waiting = -1
	s := f.open(t)
	slot, err := s.Enter()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Enter(); !errors.Is(err, harness.ErrBusy) {
		t.Errorf("second Enter: %v, want ErrBusy", err)
	}
	slot.Leave()
	slot.Leave()
	if _, err := s.Enter(); err != nil {
		t.Errorf("Enter after Leave: %v", err)
	}
	if _, err := slot.Prompt(t.Context(), harness.Input{}, &recorder{}); err == nil {
		t.Error("a slot that was left could be prompted")
	}
}

func TestCancelInTheQueue(t *testing.T) { // R-ACP-25, R-HARN-27
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(toolstest.Slow("slow", time.Minute))
		f.script.steps = []step{wants(want{"", "slow", "{}"}), says("first"), says("third")}
		s := f.open(t)
		first, _ := s.Enter()
		second, _ := s.Enter()
		third, err := s.Enter()
		if err != nil {
			t.Fatal(err)
		}
		texts := [2]chan string{make(chan string, 1), make(chan string, 1)} // the third may tell first
		for i, slot := range []*harness.Slot{first, third} {
			go func() {
				rec := &recorder{}
				if _, err := slot.Prompt(t.Context(), harness.Input{}, rec); err != nil {
					t.Error(err)
				}
				texts[i] <- rec.text()
			}()
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		rec := &recorder{}
		out, err := second.Prompt(ctx, harness.Input{}, rec)
		if err != nil || out.Stop != harness.Cancelled || time.Since(start) != time.Second || len(rec.all()) != 0 {
			t.Errorf("waiting prompt: %+v, %v after %v, want cancelled after 1s", out, err, time.Since(start))
		}
		if a, b := <-texts[0], <-texts[1]; a != "first" || b != "third" {
			t.Errorf("the others answered %q and %q", a, b)
		}
	})
}

func TestClosedSessionEndsItsQueue(t *testing.T) { // R-HARN-10
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		f.script.steps = []step{hangs()}
		s := f.open(t)
		outs := make(chan harness.Outcome, 2)
		run := func() {
			out, err := prompted(t, s, t.Context(), "go", &recorder{})
			if err != nil {
				t.Error(err)
			}
			outs <- out
		}
		go run()
		go run()
		synctest.Wait()
		late, err := s.Enter()
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close with a place taken = %v, want the deadline", err)
		}
		if out, err := late.Prompt(t.Context(), harness.Input{}, &recorder{}); err != nil || out.Stop != harness.Cancelled {
			t.Errorf("place taken before Close: %+v, %v, want cancelled", out, err)
		}
		for range 2 {
			if out := <-outs; out.Stop != harness.Cancelled {
				t.Errorf("outcome = %+v, want cancelled", out)
			}
		}
		if err := s.Close(t.Context()); err != nil {
			t.Errorf("second Close = %v", err)
		}
		if err := s.SetMode(t.Context(), approve.Ask); !errors.Is(err, harness.ErrClosed) {
			t.Errorf("SetMode after Close = %v, want ErrClosed", err)
		}
	})
}

func TestOptionsOfAPlaceAreFrozen(t *testing.T) { // R-ACP-07, R-ACP-18
	f := newFixture()
	f.settings.more = []model.Descriptor{{Provider: "p", ID: "other"}}
	f.script.steps = []step{says("x")}
	s := f.open(t)
	before, err := s.Enter()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SetOption(t.Context(), harness.OptionModel, "p/other"); err != nil {
		t.Fatal(err)
	}
	after, err := s.Enter()
	if err != nil {
		t.Fatal(err)
	}
	for _, slot := range []*harness.Slot{before, after} {
		if _, err := slot.Prompt(t.Context(), harness.Input{}, &recorder{}); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, b := range f.entries(t, s) {
		if a, ok := b.(thread.Assistant); ok {
			got = append(got, a.Model)
		}
	}
	if diff := cmp.Diff([]string{"p/m", "p/other"}, got); diff != "" {
		t.Errorf("models that answered (-want +got):\n%s", diff)
	}
}

func TestSetOption(t *testing.T) { // R-ACP-18
	tests := []struct {
		id, value string
		want      error
	}{
		{harness.OptionMode, "auto", nil},
		{harness.OptionMode, "accept-edits", nil},
		{harness.OptionMode, "read-only", nil},
		{harness.OptionMode, "yolo", harness.ErrOption},
		{harness.OptionMode, "", harness.ErrOption},
		{harness.OptionTools, "off", nil},
		{harness.OptionTools, "sometimes", harness.ErrOption},
		{harness.OptionCitations, "linked", nil},
		{harness.OptionCitations, "footnotes", harness.ErrOption},
		{harness.OptionVoice, "on", nil},
		{harness.OptionVoice, "", harness.ErrOption},
		{harness.OptionThinking, "high", nil},
		{harness.OptionThinking, "default", nil},
		{harness.OptionThinking, "", harness.ErrOption},
		{harness.OptionModel, "p/plain", nil},
		{harness.OptionThinking, "low", harness.ErrOption}, // the model has no such option
		{harness.OptionModel, "p/none", harness.ErrOption},
		{"colour", "red", harness.ErrOption},
	}
	f := newFixture()
	f.settings.more = []model.Descriptor{{Provider: "p", ID: "plain"}}
	s := f.open(t)
	stored := 0
	for _, tt := range tests {
		before := s.Choice()
		err := s.SetOption(t.Context(), tt.id, tt.value)
		if !errors.Is(err, tt.want) {
			t.Errorf("SetOption(%s, %q) = %v, want %v", tt.id, tt.value, err, tt.want)
		}
		if err != nil {
			if s.Choice() != before {
				t.Errorf("SetOption(%s, %q) failed and changed %v to %v", tt.id, tt.value, before, s.Choice())
			}
			continue
		}
		stored++
		entries := f.entries(t, s)
		if len(entries) != stored || entries[stored-1].(thread.Options).Values[tt.id] != tt.value {
			t.Errorf("SetOption(%s, %q) stored %v", tt.id, tt.value, entries)
		}
		for _, o := range s.OptionSet() {
			if o.ID == tt.id && o.Current != tt.value {
				t.Errorf("%s is %q, want %q", o.ID, o.Current, tt.value)
			}
		}
	}
	if diff := cmp.Diff(s.Choice(), f.load(t, s.ID()).Choice()); diff != "" {
		t.Errorf("options of the thread (-chosen +loaded):\n%s", diff)
	}
}

func TestOptionSet(t *testing.T) { // R-ACP-18, C017
	f := newFixture()
	s := f.open(t, func(sp *harness.Spec) { sp.Choice = &harness.Choice{Model: "gone/model"} })
	var got []string
	for _, o := range s.OptionSet() {
		var values []string
		for _, v := range o.Values {
			values = append(values, v.Value)
		}
		got = append(got, fmt.Sprintf("%s[%s]=%s of %s", o.ID, o.Category, o.Current, strings.Join(values, ",")))
	}
	want := []string{
		"mode[mode]=ask of ask,accept-edits,auto,read-only",
		"model[model]=gone/model of gone/model,p/m",
		"tools[]=on of on,auto,off",
		"citations[]=registry of registry,linked",
		"voice[]=off of on,off",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
	_, err := f.engine.Open(t.Context(), harness.Spec{FS: files{}, Choice: &harness.Choice{Mode: "yolo"}})
	if !errors.Is(err, harness.ErrOption) {
		t.Errorf("Open with an unknown mode = %v, want ErrOption", err)
	}
}

func TestSessionsDoNotMix(t *testing.T) { // C024, R-ACP-17
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		f.settings.open = func(context.Context) (model.Streamer, error) {
			return model.Func(func(_ context.Context, r *model.Request, sink func(model.Event) error) (*model.Reply, error) {
				for range 3 {
					time.Sleep(time.Second)
					if err := sink(model.Text(r.Session + " ")); err != nil {
						return nil, err
					}
				}
				return reply(model.StopEnd), nil
			}), nil
		}
		a, b := f.open(t), f.open(t)
		start := time.Now()
		texts := make(chan [2]string, 2)
		for _, s := range []*harness.Session{a, b} {
			go func() {
				_, rec := ask(t, s, "go")
				texts <- [2]string{s.ID(), rec.text()}
			}()
		}
		for range 2 {
			if got := <-texts; got[1] != strings.Repeat(got[0]+" ", 3) {
				t.Errorf("session %s heard %q", got[0], got[1])
			}
		}
		if got := time.Since(start); got != 3*time.Second {
			t.Errorf("two sessions took %v, want 3s", got)
		}
	})
}

func TestClosedEngineOpensNothing(t *testing.T) {
	f := newFixture()
	f.start(t)
	if err := f.engine.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := f.engine.Open(t.Context(), harness.Spec{FS: files{}}); !errors.Is(err, harness.ErrClosed) {
		t.Errorf("Open = %v, want ErrClosed", err)
	}
}

// closing is a store that has made a thread just when the engine ends.
type closing struct {
	harness.Threads
	f *fixture
}

func (c closing) Create(ctx context.Context, id string, b thread.Created, more ...thread.Body) error {
	return errors.Join(c.Threads.Create(ctx, id, b, more...), c.f.engine.Close(ctx))
}

func (c closing) Copy(ctx context.Context, from string, last int64, id string, b thread.Created, more ...thread.Body) error {
	return errors.Join(c.Threads.Copy(ctx, from, last, id, b, more...), c.f.engine.Close(ctx))
}

// A session that cannot be leaves no thread behind.
func TestNoThreadWithoutASession(t *testing.T) {
	for name, open := range map[string]func(*harness.Engine) error{
		"new": func(e *harness.Engine) error {
			_, err := e.Open(t.Context(), harness.Spec{ID: "n", FS: files{}})
			return err
		},
		"fork": func(e *harness.Engine) error {
			_, err := e.Fork(t.Context(), "old", "", harness.Spec{ID: "n", FS: files{}})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture()
			if err := f.threads.Create(t.Context(), "old", thread.Created{Cwd: "/space"}); err != nil {
				t.Fatal(err)
			}
			f.threads = closing{f.threads, f}
			f.start(t)
			if err := open(f.engine); !errors.Is(err, harness.ErrClosed) {
				t.Errorf("error = %v, want ErrClosed", err)
			}
			if _, err := f.threads.Info(t.Context(), "n"); !errors.Is(err, harness.ErrNotFound) {
				t.Errorf("the thread = %v, want ErrNotFound", err)
			}
			for _, w := range f.settings.watches {
				if !w.stopped {
					t.Error("its skills are still watched")
				}
			}
		})
	}
}
