package wire_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/acp/wire"
)

// byQueue takes the queue from the parameters.
func byQueue(r *wire.Request) string {
	var p struct{ Queue string }
	if json.Unmarshal(r.Params, &p) != nil {
		return ""
	}
	return p.Queue
}

func queued(id int, queue string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"m","params":{"queue":%q}}`+"\n", id, queue)
}

// A diary notes what happens, and when.
type diary struct {
	start time.Time

	mu      sync.Mutex // guards entries
	entries []string
}

func (d *diary) note(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.entries = append(d.entries, fmt.Sprintf("%v ", time.Since(d.start))+fmt.Sprintf(format, args...))
}

func (d *diary) expect(t *testing.T, want ...string) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	got := slices.Clone(d.entries)
	slices.SortStableFunc(got, func(a, b string) int { return strings.Compare(before(a), before(b)) })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("diary (-want +got):\n%s", diff)
	}
}

// before returns the time of an entry.
func before(entry string) string { s, _, _ := strings.Cut(entry, " "); return s }

func TestQueues(t *testing.T) {
	tests := []struct {
		name    string
		release bool
		in      string
		want    []string
	}{
		{"one after the other", false, queued(1, "a") + queued(2, "a") + queued(3, "a"),
			[]string{"0s 1 begins", "1s 1 ends", "1s 2 begins", "2s 2 ends", "2s 3 begins", "3s 3 ends"}},
		{"released", true, queued(1, "a") + queued(2, "a"),
			[]string{"0s 1 begins", "0s 2 begins", "1s 1 ends", "1s 2 ends"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &diary{start: time.Now()}
				p := open(t, handler{admit: byQueue, serve: func(_ context.Context, r *wire.Request) (any, error) {
					d.note("%s begins", r.ID)
					if tt.release {
						r.Release()
					}
					time.Sleep(time.Second)
					d.note("%s ends", r.ID)
					return nil, nil
				}}, wire.Options{})
				p.write(tt.in)
				if err := p.hangUp(); err != nil {
					t.Errorf("Serve: %v", err)
				}
				if tt.release { // the two ends come at the same time
					slices.Sort(d.entries)
				}
				d.expect(t, tt.want...)
			})
		})
	}
}

func TestQueuesRunApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		p := open(t, handler{admit: byQueue, serve: func(context.Context, *wire.Request) (any, error) {
			time.Sleep(time.Second)
			return nil, nil
		}}, wire.Options{})
		p.write(queued(1, "a") + queued(2, "b") + queued(3, "") + queued(4, "") + queued(5, "a"))
		if err := p.hangUp(); err != nil {
			t.Errorf("Serve: %v", err)
		}
		if got := time.Since(start); got != 2*time.Second {
			t.Errorf("five requests of a second each, two of them in one queue, took %v, want 2s", got)
		}
		if got := len(p.received()); got != 5 {
			t.Errorf("%d answers, want 5", got)
		}
	})
}

// A request in two queues waits for both, and both wait for it.
func TestFollow(t *testing.T) {
	second := func(id int, queue, further string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"m","params":{"queue":%q,"further":%q}}`+"\n", id, queue, further)
	}
	admit := func(r *wire.Request) string {
		var p struct{ Further string }
		if err := json.Unmarshal(r.Params, &p); err != nil {
			t.Error(err)
		}
		r.Follow(p.Further)
		return byQueue(r)
	}
	tests := []struct {
		name  string
		lines []string
		want  []time.Duration // end of each request
	}{
		{"waits for both", []string{second(0, "a", ""), second(1, "a", ""), second(2, "b", ""), second(3, "b", "a")}, []time.Duration{1, 2, 1, 3}},
		{"both wait", []string{second(0, "a", "b"), second(1, "a", ""), second(2, "b", ""), second(3, "c", "")}, []time.Duration{1, 2, 2, 1}},
		{"one queue twice", []string{second(0, "a", "a"), second(1, "a", "a")}, []time.Duration{1, 2}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				got := make([]time.Duration, len(tt.lines)) // each request has its own slot
				p := open(t, handler{admit: admit, serve: func(_ context.Context, r *wire.Request) (any, error) {
					time.Sleep(time.Second)
					i, err := strconv.Atoi(string(r.ID))
					if err != nil {
						return nil, err
					}
					got[i] = time.Since(start) / time.Second
					return nil, nil
				}}, wire.Options{})
				p.write(strings.Join(tt.lines, ""))
				if err := p.hangUp(); err != nil {
					t.Errorf("Serve: %v", err)
				}
				if !slices.Equal(got, tt.want) {
					t.Errorf("ended after %v seconds, want %v", got, tt.want)
				}
			})
		})
	}
}

// A request that cannot be admitted does not hold up its queue, nor does one
// that panics.
func TestQueueOutlivesPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open(t, handler{admit: byQueue, serve: func(_ context.Context, r *wire.Request) (any, error) {
			if string(r.ID) == "1" {
				panic("first")
			}
			return "fine", nil
		}}, wire.Options{})
		p.write(queued(1, "a") + queued(2, "a"))
		p.expect(failure("1", -32603, hiddenText), `{"jsonrpc":"2.0","id":2,"result":"fine"}`)
		if err := p.hangUp(); err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
}

// sessions is an agent with one session: a prompt waits until it is cancelled,
// and session/cancel cancels the prompts admitted before it.
type sessions struct {
	mu   sync.Mutex // guards open
	open []*wire.Request
}

var errCancelled = errors.New("session/cancel")

func (s *sessions) Admit(r *wire.Request) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = append(s.open, r)
	return "session"
}

func (s *sessions) Serve(ctx context.Context, r *wire.Request) (any, error) {
	<-ctx.Done()
	return context.Cause(ctx).Error(), nil
}

func (s *sessions) Notify(string, json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.open {
		r.Cancel(errCancelled)
	}
	s.open = nil
}

// C028, R-ACP-08: a cancel right behind its prompt always hits it.
func TestPromptAndCancelInOneWrite(t *testing.T) {
	const rounds = 300
	cancels := map[string]string{
		"session/cancel":   `{"jsonrpc":"2.0","method":"session/cancel","params":{}}` + "\n",
		"$/cancel_request": `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":%d}}` + "\n",
	}
	for name, cancel := range cancels {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cause := errCancelled
				if strings.Contains(cancel, "%d") {
					cause = wire.ErrCancelRequest
				}
				p := open(t, &sessions{}, wire.Options{})
				var in strings.Builder
				var want []string
				for id := range rounds {
					in.WriteString(request(id, "session/prompt"))
					in.WriteString(strings.ReplaceAll(cancel, "%d", fmt.Sprint(id)))
					want = append(want, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%q}`, id, cause))
				}
				start := time.Now()
				p.write(in.String())
				p.expect(want...)
				if took := time.Since(start); took != 0 {
					t.Errorf("took %v, want no time", took)
				}
				if err := p.hangUp(); err != nil {
					t.Errorf("Serve: %v", err)
				}
			})
		})
	}
}

func TestCancelRequest(t *testing.T) {
	tests := []struct {
		name   string
		params string
		hits   bool
	}{
		{"its id", `{"requestId":"a"}`, true},
		{"its id in other letters", `{"requestId":"\u0061"}`, true},
		{"another id", `{"requestId":"b"}`, false},
		{"another type", `{"requestId":1}`, false},
		{"null", `{"requestId":null}`, false},
		{"nothing", `{}`, false},
		{"an array", `["a"]`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := open(t, handler{serve: untilCancelled}, wire.Options{})
				p.write(`{"jsonrpc":"2.0","id":"a","method":"m"}` + "\n")
				p.write(`{"jsonrpc":"2.0","method":"$/cancel_request","params":` + tt.params + "}\n")
				var want []string
				if tt.hits {
					want = append(want, failure(`"a"`, -32800, "request cancelled"))
				}
				p.expect(want...)
				p.write(echo)
				p.expect(echoed)
				p.cancel(nil)
				<-p.served
				p.out.Close()
			})
		})
	}
}

func TestAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p *peer
		p = connect(t, handler{admit: byQueue, serve: func(_ context.Context, r *wire.Request) (any, error) {
			if err := p.Notify("during", json.RawMessage(r.ID)); err != nil {
				t.Errorf("Notify: %v", err)
			}
			for _, when := range []string{"after", "later"} {
				r.After(func() {
					if err := p.Notify(when, json.RawMessage(r.ID)); err != nil {
						t.Errorf("Notify: %v", err)
					}
				})
			}
			return "done", nil
		}}, wire.Options{})
		p.write(queued(1, "a") + queued(2, "a"))
		synctest.Wait() // nothing is read yet, so nothing has been written
		p.listen()
		note := func(method string, id int) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%d}`, method, id)
		}
		p.expect(
			note("during", 1), `{"jsonrpc":"2.0","id":1,"result":"done"}`, note("after", 1), note("later", 1),
			note("during", 2), `{"jsonrpc":"2.0","id":2,"result":"done"}`, note("after", 2), note("later", 2),
		)
		if err := p.hangUp(); err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
}

func TestAfterDoesNotRunIfNothingWasWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ran := false
		p := connect(t, handler{serve: func(_ context.Context, r *wire.Request) (any, error) {
			r.After(func() { ran = true })
			return nil, nil
		}}, wire.Options{})
		p.write(request(1, "m"))
		synctest.Wait()
		p.out.Close()
		if err := <-p.served; !errors.Is(err, wire.ErrClosed) {
			t.Errorf("Serve: %v, want %v", err, wire.ErrClosed)
		}
		if ran {
			t.Error("hook ran")
		}
	})
}

// Notifications and requests are told in the order in which they came.
func TestOrderOfArrival(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string // only the reader's goroutine writes it
		p := open(t, handler{
			admit:  func(r *wire.Request) string { got = append(got, string(r.ID)); return "" },
			notify: func(_ string, params json.RawMessage) { got = append(got, string(params)) },
		}, wire.Options{})
		p.write(request(1, "m") +
			`{"jsonrpc":"2.0","method":"n","params":[2]}` + "\n" +
			request(3, "m") + request(4, "m") +
			`{"jsonrpc":"2.0","method":"n","params":null}` + "\n")
		if err := p.hangUp(); err != nil {
			t.Errorf("Serve: %v", err)
		}
		if diff := cmp.Diff([]string{"1", "[2]", "3", "4", ""}, got); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
	})
}
