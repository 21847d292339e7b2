package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lorimer-dev/lorimer/cmd/internal/config"
	"github.com/lorimer-dev/lorimer/harness/model/probe"
)

// A tape is a server of the protocol of OpenAI that has one model, and remembers who
// asked it for what.
type tape struct {
	*httptest.Server
	asked atomic.Int32
	keys  chan string
}

func newTape(t *testing.T, models string) *tape {
	tp := &tape{keys: make(chan string, 100)}
	tp.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/models" {
			http.NotFound(w, r)
			return
		}
		tp.asked.Add(1)
		tp.keys <- r.Header.Get("Authorization") + r.Header.Get("X-Team")
		fmt.Fprint(w, models)
	}))
	t.Cleanup(tp.Close)
	return tp
}

// The first send on a model that nobody knows has its server asked, once in the life
// of the process, by however many; a known model costs no request, nor do options.
func TestServerIsAskedOnce(t *testing.T) {
	s := newTape(t, `{"object":"list","data":[{"id":"new","object":"model","max_model_len":4321}]}`)
	m := newMachine(t, Apart, fmt.Sprintf("[providers.house]\nbase_url = %q\napi_key_command = \"echo the-key\"\nheaders = { X-Team = \"blue\" }\nmodel = \"new\"\n"+
		"[providers.openai]\nbase_url = %q\n", s.URL+"/v1", s.URL+"/v1"))
	if _, err := (&settings{m.App}).Models(t.Context()); err != nil || s.asked.Load() != 0 {
		t.Fatalf("options asked %d times (%v)", s.asked.Load(), err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			snap, err := (&settings{m.App}).Freeze(t.Context(), at(m), choiceFor("house/new"))
			if err != nil || snap.Model.Window != 4321 || snap.Model.Assumed {
				t.Errorf("window = %d, assumed %v (%v), want 4321 of the server", snap.Model.Window, snap.Model.Assumed, err)
			}
		})
	}
	wg.Wait()
	if n := s.asked.Load(); n != 1 {
		t.Errorf("the server was asked %d times, want once", n)
	}
	if key := <-s.keys; key != "Bearer the-keyblue" {
		t.Errorf("it was asked with %q, want the key and the header", key)
	}
	if snap, err := (&settings{m.App}).Freeze(t.Context(), at(m), choiceFor("openai/gpt-5.2")); err != nil || s.asked.Load() != 1 || snap.Model.Window != 400_000 {
		t.Errorf("a known model: asked %d times, window %d (%v)", s.asked.Load(), snap.Model.Window, err)
	}
	if snap, err := (&settings{m.App}).Freeze(t.Context(), at(m), choiceFor("house/none")); err != nil || !snap.Model.Assumed || len(snap.Notices) != 1 {
		t.Errorf("one that the server does not have: assumed %v, told %q (%v)", snap.Model.Assumed, snap.Notices, err)
	}
}

// The options of a session show what the model that it begins with can do: a server on
// this machine that wants no key is asked for that, no other is.
func TestOptionsAskThisMachine(t *testing.T) {
	s := newTape(t, `{"object":"list","data":[{"id":"new","object":"model","max_model_len":4321}]}`)
	m := newMachine(t, Apart, "")
	for _, tt := range []struct {
		more  string
		asked int32
	}{
		{"", 1}, {"api_key_command = \"echo k\"\n", 1}, // which has been asked before
	} {
		m.write(".config/lorimer/config.toml", fmt.Sprintf("model = \"house/new\"\n[providers.house]\nbase_url = %q\n%s", s.URL+"/v1", tt.more))
		all, err := (&settings{m.App}).Models(t.Context())
		if err != nil || all[0].Window != 4321 || s.asked.Load() != tt.asked {
			t.Errorf("%q: window %d, asked %d times (%v), want 4321 and %d", tt.more, all[0].Window, s.asked.Load(), err, tt.asked)
		}
	}
	m.write(".config/lorimer/config.toml", fmt.Sprintf("model = \"keyed/new\"\n[providers.keyed]\nbase_url = %q\napi_key_command = \"echo k\"\n", s.URL+"/v1"))
	if all, err := (&settings{m.App}).Models(t.Context()); err != nil || !all[0].Assumed || s.asked.Load() != 1 {
		t.Errorf("with a key to ask for: assumed %v, asked %d times (%v)", all[0].Assumed, s.asked.Load(), err)
	}
}

// A server that is slow or has nothing to say is not asked again; one that is not
// there yet is.
func TestAskRemembers(t *testing.T) {
	near := config.Endpoint{Name: "near", Local: true}
	refused := fmt.Errorf("asking: %w", &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)})
	tests := []struct {
		name  string
		f     func(context.Context) (probe.Model, error)
		again bool
		took  time.Duration
	}{
		{"an answer", func(context.Context) (probe.Model, error) { return probe.Model{Window: 1}, nil }, false, 0},
		{"a mistake", func(context.Context) (probe.Model, error) { return probe.Model{}, errors.New("no") }, false, 0},
		{"silence", func(ctx context.Context) (probe.Model, error) { <-ctx.Done(); return probe.Model{}, ctx.Err() }, false, askNear},
		{"nobody there", func(context.Context) (probe.Model, error) { return probe.Model{}, refused }, true, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var s servers
				asked := 0
				ask := func() {
					s.ask(t.Context(), near, "m", func(ctx context.Context) (probe.Model, error) { asked++; return tt.f(ctx) })
				}
				start := time.Now()
				ask()
				if took := time.Since(start); took != tt.took {
					t.Errorf("it took %v, want %v", took, tt.took)
				}
				ask()
				if again := asked == 2; again != tt.again {
					t.Errorf("asked %d times, want again: %v", asked, tt.again)
				}
			})
		})
	}
}

// Whoever waits for the answer of one who leaves asks in their place.
func TestAskGoesOnWithoutWhoAskedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s servers
		e := config.Endpoint{Name: "far"}
		first, leave := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			s.ask(first, e, "m", func(ctx context.Context) (probe.Model, error) { <-ctx.Done(); return probe.Model{}, ctx.Err() })
		})
		synctest.Wait()
		wg.Go(func() {
			s.ask(t.Context(), e, "m", func(context.Context) (probe.Model, error) { return probe.Model{Window: 5}, nil })
		})
		synctest.Wait()
		leave()
		wg.Wait()
		if m, _, ok := s.said(e, "m"); !ok || m.Window != 5 {
			t.Errorf("the server said %+v, %v", m, ok)
		}
	})
}

// Servers are asked at once; one that fails is told, and the others are listed.
func TestListAsks(t *testing.T) {
	good := newTape(t, `{"object":"list","data":[{"id":"b","max_model_len":10},{"id":"a"}]}`)
	bad := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(bad.Close)
	m := newMachine(t, Apart, fmt.Sprintf("[providers.good]\nbase_url = %q\n[providers.bad]\nbase_url = %q\n[providers.ibm]\nkind = \"langchain/watsonx\"\napi_key_command = \"echo k\"\n",
		good.URL+"/v1", bad.URL+"/v1"))
	all, failures, err := m.List(t.Context(), Query{Ask: true})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"good/b", "good/a", "offline"}; !slices.Equal(refsOf(all), want) {
		t.Errorf("listed %q, want %q", refsOf(all), want)
	}
	if all[0].Window != 10 || all[0].Assumed || !all[1].Assumed {
		t.Errorf("windows %d and %d", all[0].Window, all[1].Window)
	}
	if len(failures) != 1 || !strings.Contains(failures[0].Error(), "asking bad for its models: ") {
		t.Errorf("failures = %v, want that of one server", failures)
	}
	_, failures, err = m.List(t.Context(), Query{Provider: "ibm", Ask: true})
	if err != nil || len(failures) != 1 || !errors.Is(failures[0], errors.ErrUnsupported) {
		t.Errorf("failures = %v (%v), want that nobody can be asked", failures, err)
	}
}
