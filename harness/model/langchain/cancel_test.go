package langchain_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/langchain"
	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// deaf heeds nothing for a minute.
func deaf(_ context.Context, _ []llms.MessageContent, o llms.CallOptions) (*llms.ContentResponse, error) {
	for range 60 {
		time.Sleep(time.Second)
		if err := o.StreamingFunc(context.Background(), []byte("x")); err != nil {
			return nil, err
		}
	}
	return choices(&llms.ContentChoice{Content: "x"}), nil
}

func TestCancel(t *testing.T) {
	tests := []struct {
		name string
		m    foreign
		took time.Duration // after the cancel
	}{
		{"a model that says so in words", func(ctx context.Context, _ []llms.MessageContent, _ llms.CallOptions) (*llms.ContentResponse, error) {
			<-ctx.Done()
			return nil, errors.New("some words about a closed connection")
		}, 0},
		{"a model that returns what it has", func(ctx context.Context, _ []llms.MessageContent, o llms.CallOptions) (*llms.ContentResponse, error) {
			<-ctx.Done()
			return choices(&llms.ContentChoice{Content: "half"}), nil
		}, 0},
		{"a model that goes on", func(_ context.Context, _ []llms.MessageContent, o llms.CallOptions) (*llms.ContentResponse, error) {
			time.Sleep(time.Hour)
			return choices(&llms.ContentChoice{Content: "late"}), nil
		}, 250 * time.Millisecond},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				start := time.Now()
				events, r, err := modeltest.Collect(ctx, langchain.Wrap(tt.m, langchain.Options{}), modeltest.Ask("go"))
				e, ok := errors.AsType[*model.Error](err)
				if !ok || !errors.Is(err, context.Canceled) || e.Temporary() || e.Partial || r != nil || len(events) > 0 {
					t.Errorf("%v with %+v and %v, want a cancelled request", err, r, events)
				}
				if got := time.Since(start); got != time.Second+tt.took {
					t.Errorf("took %v, want %v", got, time.Second+tt.took)
				}
				time.Sleep(time.Hour) // until the last one has ended
			})
		})
	}
}

// A model that does not end is left behind, and comes to its end by itself.
func TestLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		var left langchain.Left
		a := langchain.Wrap(foreign(deaf), langchain.Options{Provider: "p", Deaf: true, Left: &left})
		events, r, err := modeltest.Collect(ctx, a, modeltest.Ask("go"))
		if want := []model.Event{model.Text("x"), model.Text("x")}; !errors.Is(err, context.Canceled) || !cmp.Equal(want, events) || r == nil {
			t.Errorf("%v with %v and %+v, want what came before the cancel", err, events, r)
		}
		wait := func() int {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			return left.Wait(ctx)
		}
		start := time.Now()
		if n := wait(); n != 1 || time.Since(start) != time.Second {
			t.Errorf("%d requests go on after %v, want 1 after 1s", n, time.Since(start))
		}
		time.Sleep(time.Minute)
		start = time.Now()
		if n := wait(); n != 0 || time.Since(start) != 0 {
			t.Errorf("after the end %d requests go on after %v, want none at once", n, time.Since(start))
		}
		// synctest ends the test only if the model's goroutine has ended.
	})
}

// Requests that never seem to end do not pile up, also where each has an adapter of
// its own.
func TestLeftBehindAreFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var left langchain.Left
		var a *langchain.Adapter
		for i := range 20 {
			a = langchain.Wrap(foreign(deaf), langchain.Options{Deaf: true, Left: &left})
			_, _, err := modeltest.Collect(ctx, a, modeltest.Ask("go"))
			want := model.Canceled
			if i >= 16 {
				want = model.Unavailable
			}
			if e, ok := errors.AsType[*model.Error](err); !ok || e.Kind != want {
				t.Errorf("request %d: %v, want %s", i, err, want)
			}
		}
		time.Sleep(2 * time.Minute)
		if _, _, err := modeltest.Collect(t.Context(), a, modeltest.Ask("go")); err != nil {
			t.Errorf("after their end: %v", err)
		}
	})
}

// What nobody waits for any more is no news to anybody.
func TestLeftBehindEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var left langchain.Left
		a := langchain.Wrap(foreign(func(context.Context, []llms.MessageContent, llms.CallOptions) (*llms.ContentResponse, error) {
			time.Sleep(300 * time.Millisecond)
			return nil, errors.New("late")
		}), langchain.Options{Left: &left})
		if _, _, err := modeltest.Collect(ctx, a, modeltest.Ask("go")); !errors.Is(err, context.Canceled) {
			t.Errorf("error = %v", err)
		}
		start := time.Now()
		if n := left.Wait(t.Context()); n != 0 || time.Since(start) != 50*time.Millisecond {
			t.Errorf("%d requests go on after %v, want none after 50ms", n, time.Since(start))
		}
	})
}

// A sink that has had enough ends a model that cannot be told so, and hears no more.
func TestSinkEndsADeafModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone, n := errors.New("nobody watches"), 0
		_, err := langchain.Wrap(foreign(deaf), langchain.Options{Deaf: true}).Stream(t.Context(), modeltest.Ask("go"), func(model.Event) error {
			n++
			return gone
		})
		if err != gone {
			t.Errorf("error = %v, want the sink's", err)
		}
		time.Sleep(2 * time.Minute)
		if n != 1 {
			t.Errorf("the sink heard %d events, want 1", n)
		}
	})
}

func TestSilence(t *testing.T) {
	silent := foreign(func(ctx context.Context, _ []llms.MessageContent, o llms.CallOptions) (*llms.ContentResponse, error) {
		if o.StreamingFunc != nil {
			if err := o.StreamingFunc(ctx, nil); err != nil { // a sign of life
				return nil, err
			}
		}
		<-ctx.Done()
		return nil, ctx.Err()
	})
	tests := []struct {
		name string
		m    foreign
		o    langchain.Options
		want time.Duration
	}{
		{"from the start", failingLate, langchain.Options{First: 3 * time.Second}, 3 * time.Second},
		{"after a piece", silent, langchain.Options{First: 3 * time.Second, Idle: 5 * time.Second}, 5 * time.Second},
		{"an answer in one piece", silent, langchain.Options{First: 3 * time.Second, Idle: 5 * time.Second, Whole: true}, 8 * time.Second},
		{"without being told", silent, langchain.Options{}, 300 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				_, _, err := modeltest.Collect(t.Context(), langchain.Wrap(tt.m, tt.o), modeltest.Ask("go"))
				if e, ok := errors.AsType[*model.Error](err); !ok || e.Kind != model.Idle || time.Since(start) != tt.want {
					t.Errorf("%v after %v, want silence after %v", err, time.Since(start), tt.want)
				}
			})
		})
	}
}

// failingLate says nothing until it is told to stop.
func failingLate(ctx context.Context, _ []llms.MessageContent, _ llms.CallOptions) (*llms.ContentResponse, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}
