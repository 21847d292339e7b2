package mcpbridge_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/mcpbridge"
	"github.com/lorimer-dev/lorimer/mcpbridge/client"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
	"github.com/lorimer-dev/lorimer/tools/server"
)

// load closes the bridge of a session, if there is one, and opens another.
func load(t *testing.T, p *mcpbridge.Pool, old *mcpbridge.Bridge, s mcpbridge.Session, servers ...mcpbridge.Server) *mcpbridge.Bridge {
	t.Helper()
	if old != nil {
		if err := old.Close(t.Context()); err != nil {
			t.Fatalf("Close() failed: %v", err)
		}
	}
	b := p.Open(t.Context(), s, servers)
	b.Begin()
	return b
}

var session = mcpbridge.Session{ID: "s", Dir: "/w"}

func TestReloadsReuseTheConnection(t *testing.T) { // C095
	bubble(t, func(t *testing.T) {
		a := &fake{Tools: toolsNamed("x")}
		w := newWorld(map[string]*fake{"a": a})
		p := w.pool(t)
		var b *mcpbridge.Bridge
		for range 60 {
			b = load(t, p, b, session, address("a"))
			if got := message(t, b).Names; !slices.Equal(got, []string{"a_x"}) {
				t.Fatalf("Tools() = %q", got)
			}
			time.Sleep(time.Second)
		}
		if got := len(w.tries()); got != 1 {
			t.Errorf("%d attempts for 60 loads", got)
		}
		a.set(func() { a.Tools = toolsNamed("y") }, client.Tools)
		if err := b.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(59 * time.Second)
		b = load(t, p, nil, session, address("a"))
		message(t, b) // what has changed meanwhile is read now
		if got := message(t, b).Names; !slices.Equal(got, []string{"a_y"}) {
			t.Errorf("after a change Tools() = %q", got)
		}
		if err := b.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(61 * time.Second)
		if n := a.count(func() int { return a.running }); n != 0 {
			t.Errorf("%d connections after a minute without the session", n)
		}
	})
}

// A session that is closed before it has taken its connection over leaves it behind.
func TestReloadsAtOnce(t *testing.T) { // C095
	bubble(t, func(t *testing.T) {
		w := newWorld(map[string]*fake{"a": {Tools: toolsNamed("x")}})
		p := w.pool(t)
		b := load(t, p, nil, session, address("a"))
		message(t, b)
		for range 1000 {
			b = load(t, p, b, session, address("a"))
		}
		if got := message(t, b).Names; !slices.Equal(got, []string{"a_x"}) {
			t.Errorf("Tools() = %q", got)
		}
		if got := len(w.tries()); got != 1 {
			t.Errorf("%d attempts for 1000 loads", got)
		}
	})
}

func TestReloadsDoNotStorm(t *testing.T) { // C095
	for _, server := range []mcpbridge.Server{address("a"), program("a")} {
		bubble(t, func(t *testing.T) {
			w := newWorld(map[string]*fake{"a": {Fail: failing(always, errExit)}})
			p := w.pool(t)
			var b *mcpbridge.Bridge
			for range 60 {
				b = load(t, p, b, session, server)
				message(t, b)
				time.Sleep(time.Second)
			}
			tries := w.tries()
			if len(tries) > 9 {
				t.Errorf("%d attempts for 60 loads in a minute", len(tries))
			}
			for i := 1; i < len(tries); i++ {
				most := min(time.Second<<(i-1), 30*time.Second)
				if got := tries[i].At - tries[i-1].At; got < most/2 {
					t.Errorf("pause before attempt %d is %v, want %v at least", i+1, got, most/2)
				}
			}
			if got := status(t, b, "a"); got.Attempts < 5 || got.LastError == "" {
				t.Errorf("the status of a new bridge does not tell of the outage: %+v", got)
			}
			time.Sleep(10 * time.Minute) // the outage is forgotten, once nobody is there
			if err := b.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * time.Minute)
			w.servers["a"].set(func() { w.servers["a"].Fail, w.servers["a"].Tools = nil, toolsNamed("x") })
			if got := message(t, p.Open(t.Context(), session, []mcpbridge.Server{server})); len(got.Names) != 1 {
				t.Errorf("after a long time Tools() = %+v", got)
			}
		})
	}
}

// A server that wants to be left alone is, by one session as by many in a row.
func TestServersAreLeftAlone(t *testing.T) { // R-MCP-11, C095
	tests := []struct {
		name        string
		wants       time.Duration
		least, most time.Duration // between the first attempt and the second
	}{
		{"for less than the pause", 100 * time.Millisecond, 500 * time.Millisecond, 2 * time.Second},
		{"for longer", 42 * time.Second, 42 * time.Second, 43 * time.Second},
		{"for ages", 24 * time.Hour, 5 * time.Minute, 5*time.Minute + time.Second},
	}
	for _, tt := range tests {
		for _, reload := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, reload %v", tt.name, reload), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					busy := fmt.Errorf("initialize: %w", &transport.StatusError{Status: 503, RetryAfter: tt.wants})
					w := newWorld(map[string]*fake{"a": {Fail: failing(1, busy), Tools: toolsNamed("x")}})
					p := w.pool(t)
					b := load(t, p, nil, session, address("a"))
					for range 6 * 60 {
						message(t, b) // which does not hurry it
						if time.Sleep(time.Second); reload {
							b = load(t, p, b, session, address("a"))
						}
					}
					tries := w.tries()
					if len(tries) != 2 {
						t.Fatalf("%d attempts, want 2", len(tries))
					}
					if got := tries[1].At - tries[0].At; got < tt.least || got > tt.most {
						t.Errorf("the second attempt came after %v, want %v to %v", got, tt.least, tt.most)
					}
					if got := message(t, b).Names; !slices.Equal(got, []string{"a_x"}) {
						t.Errorf("then Tools() = %q", got)
					}
				})
			})
		}
	}
}

func TestOutageOfAnotherSession(t *testing.T) { // R-MCP-10, C095
	bubble(t, func(t *testing.T) {
		a := &fake{Delay: time.Second, Fail: failing(1, errExit), Tools: toolsNamed("x")}
		w := newWorld(map[string]*fake{"a": a})
		p := w.pool(t)
		b := load(t, p, nil, session, program("a"))
		message(t, b)
		b = load(t, p, b, session, program("a"))
		if got := message(t, b); got.Took != 0 || got.Names != nil || len(got.Notices) != 1 {
			t.Errorf("a send in the pause of the outage = %+v", got)
		}
		if err := b.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		b = load(t, p, nil, session, program("a"))
		if got := message(t, b); got.Took != time.Second || len(got.Names) != 1 {
			t.Errorf("a send after the pause = %+v, want one that waits", got)
		}
	})
}

// A session that comes and goes faster than its server fails makes the attempts of one
// that stays: those that its end cuts short count too, but for the first.
func TestReloadsInAnAttempt(t *testing.T) { // C095
	bubble(t, func(t *testing.T) {
		w := newWorld(map[string]*fake{"a": {Delay: 300 * time.Millisecond, Fail: failing(always, errExit)}})
		p := w.pool(t)
		var b *mcpbridge.Bridge
		for range 3 {
			b = load(t, p, b, session, program("a"))
			time.Sleep(200 * time.Millisecond)
		}
		if got := status(t, b, "a"); len(w.tries()) != 3 || got.LastError != "" {
			t.Errorf("%d attempts, status %+v; want 3 that say nothing", len(w.tries()), got)
		}
		time.Sleep(200 * time.Millisecond)
		for range 300 {
			b = load(t, p, b, session, program("a"))
			time.Sleep(200 * time.Millisecond)
		}
		tries := w.tries()[2:]
		if len(tries) > 9 {
			t.Errorf("%d attempts for 300 loads in a minute", len(tries))
		}
		for i := 1; i < len(tries); i++ {
			most := min(time.Second<<(i-1), 30*time.Second)
			if got := tries[i].At - tries[i-1].At; got < most/2 {
				t.Errorf("pause before attempt %d is %v, want %v at least", i+1, got, most/2)
			}
		}
		if got := status(t, b, "a"); got.Attempts < 5 || got.LastError == "" {
			t.Errorf("the status of a new bridge does not tell of the outage: %+v", got)
		}
	})
}

// A session that ends while its server is lost leaves what is known of the outage.
func TestOutageOfASessionThatEnds(t *testing.T) { // C095
	for i := range 200 { // the two come together, in either order
		bubble(t, func(t *testing.T) {
			a := &fake{Tools: toolsNamed("x"), Fail: failing(2, errOops)}
			a.OnCall = func(context.Context, *peer, call) (client.Result, error) { return client.Result{}, errOops }
			w := newWorld(map[string]*fake{"a": a})
			p := w.pool(t)
			b := open(t, p, program("a"))
			message(t, b)
			time.Sleep(10 * time.Second)
			s := message(t, b)
			a.set(func() { a.Fail = failing(always, errOops) })
			ended := make(chan error, 1)
			go func() { ended <- b.Close(background(t)) }()
			s.run(t, "a_x", `{}`)
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			b = open(t, p, program("a"))
			b.Begin()
			synctest.Wait()
			if got := status(t, b, "a"); got.Attempts < 3 {
				t.Fatalf("%d: the outage is forgotten: %+v", i, got)
			}
		})
	}
}

func TestProgramsEndWithTheirSession(t *testing.T) { // C085
	bubble(t, func(t *testing.T) {
		a := &fake{Tools: toolsNamed("x"), Linger: time.Second}
		w := newWorld(map[string]*fake{"a": a})
		p := w.pool(t)
		var b *mcpbridge.Bridge
		for n := range 3 {
			b = load(t, p, b, session, program("a"))
			for range 20 {
				message(t, b).run(t, "a_x", `{}`)
			}
			if got := a.count(func() int { return a.running }); got != 1 || len(w.tries()) != n+1 {
				t.Errorf("%d programs, %d starts in session %d", got, len(w.tries()), n)
			}
		}
		if err := b.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := a.count(func() int { return a.running }); got != 0 {
			t.Errorf("%d programs after the session", got)
		}
	})
}

func TestWhatIsDialedAnew(t *testing.T) { // R-MCP-12, C097
	same := address("a")
	same.Headers = map[string]string{"Authorization": "Bearer one"}
	change := func(f func(s *mcpbridge.Server)) mcpbridge.Server {
		s := same
		f(&s)
		return s
	}
	tests := []struct {
		name  string
		next  mcpbridge.Server
		id    string
		offer server.Offers
		anew  bool
		want  []string
	}{
		{"the same", same, "s", server.Offers{Form: true}, false, []string{"a_x", "a_y"}},
		{"another name", change(func(s *mcpbridge.Server) { s.Name = "Other" }), "s", server.Offers{Form: true}, false, []string{"other_x", "other_y"}},
		{"other patterns", change(func(s *mcpbridge.Server) { s.Include = []string{"y"} }), "s", server.Offers{Form: true}, false, []string{"a_y"}},
		{"another address", change(func(s *mcpbridge.Server) { s.URL = "b" }), "s", server.Offers{Form: true}, true, []string{"a_z"}},
		{"another credential", change(func(s *mcpbridge.Server) { s.Headers = map[string]string{"Authorization": "Bearer two"} }), "s", server.Offers{Form: true}, true, []string{"a_x", "a_y"}},
		{"another session", same, "t", server.Offers{Form: true}, true, []string{"a_x", "a_y"}},
		{"another editor", same, "s", server.Offers{}, true, []string{"a_x", "a_y"}},
		{"switched off", change(func(s *mcpbridge.Server) { s.Off = "disabled" }), "s", server.Offers{Form: true}, false, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(map[string]*fake{"a": {Tools: toolsNamed("x", "y")}, "b": {Tools: toolsNamed("z")}})
				p := w.pool(t)
				first := session
				first.Host = &host{offers: server.Offers{Form: true}}
				b := load(t, p, nil, first, same)
				message(t, b)
				second := mcpbridge.Session{ID: tt.id, Dir: "/w", Host: &host{offers: tt.offer}}
				b = load(t, p, b, second, tt.next)
				if got := message(t, b).Names; !slices.Equal(got, tt.want) {
					t.Errorf("Tools() = %q, want %q", got, tt.want)
				}
				if anew := len(w.tries()) > 1; anew != tt.anew {
					t.Errorf("dialed anew: %v, want %v", anew, tt.anew)
				}
			})
		})
	}
}

func TestLateConnectionIsClosed(t *testing.T) { // R-MCP-12
	bubble(t, func(t *testing.T) {
		a := &fake{Delay: 10 * time.Second, Deaf: true, Tools: toolsNamed("x")}
		w := newWorld(map[string]*fake{"a": a})
		p := w.pool(t)
		b := load(t, p, nil, session, address("a"))
		time.Sleep(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := b.Close(ctx); err == nil {
			t.Error("Close() did not say that an attempt is left")
		}
		time.Sleep(time.Minute)
		if n := a.count(func() int { return a.running }); n != 0 {
			t.Errorf("%d connections are left", n)
		}
		a.set(func() { a.Delay = 0 })
		b = load(t, p, nil, session, address("a"))
		message(t, b)
		if got := len(w.tries()); got != 2 {
			t.Errorf("%d attempts, want a new one: the late one is not kept", got)
		}
	})
}

func TestParkedConnectionThatDies(t *testing.T) { // C095
	bubble(t, func(t *testing.T) {
		a := &fake{Tools: toolsNamed("x")}
		w := newWorld(map[string]*fake{"a": a})
		p := w.pool(t)
		b := load(t, p, nil, session, address("a"))
		message(t, b)
		if err := b.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		a.die(errOops)
		synctest.Wait()
		if n := a.count(func() int { return a.running }); n != 0 {
			t.Errorf("%d connections are left", n)
		}
		if got := message(t, load(t, p, nil, session, address("a"))).Names; len(got) != 1 {
			t.Errorf("Tools() = %q", got)
		}
	})
}

// A host is an editor with a user.
type host struct {
	offers server.Offers
	asked  []string // names of servers
}

func (h *host) Roots() []string       { return []string{"/w"} }
func (h *host) Offers() server.Offers { return h.offers }

func (h *host) Elicit(_ context.Context, name string, _ server.Elicitation) (server.Reply, error) {
	h.asked = append(h.asked, name)
	return server.Reply{Action: "accept"}, nil
}

func (h *host) Sample(_ context.Context, name string, _ server.Sampling) (server.Sampled, error) {
	h.asked = append(h.asked, name)
	return server.Sampled{Text: "yes"}, nil
}

func TestServersAskTheSessionThatHasThem(t *testing.T) { // C095
	bubble(t, func(t *testing.T) {
		var told client.Options
		w := newWorld(map[string]*fake{"a": {Tools: toolsNamed("x")}})
		p := w.pool(t, func(o *mcpbridge.Options) {
			o.Connect = func(ctx context.Context, s mcpbridge.Server, c client.Options) (client.Peer, error) {
				told = c
				return w.connect(ctx, s, c)
			}
		})
		one, other := &host{offers: server.Offers{Form: true}}, &host{offers: server.Offers{Form: true}}
		b := load(t, p, nil, mcpbridge.Session{ID: "s", Dir: "/w", Host: one}, address("a"))
		message(t, b)
		ask := func() []any {
			reply, err := told.Host.Elicit(t.Context(), "whatever", server.Elicitation{})
			sampled, sampleErr := told.Host.Sample(t.Context(), "whatever", server.Sampling{})
			return []any{told.Host.Roots(), told.Host.Offers(), reply.Action, err != nil, sampled.Text, sampleErr != nil}
		}
		offers := server.Offers{Form: true}
		if diff := cmp.Diff([]any{[]string{"/w"}, offers, "accept", false, "yes", false}, ask()); diff != "" {
			t.Errorf("with a session (-want +got):\n%s", diff)
		}
		if err := b.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]any{[]string(nil), offers, "", true, "", true}, ask()); diff != "" {
			t.Errorf("without one (-want +got):\n%s", diff)
		}
		renamed := address("a")
		renamed.Name = "b"
		message(t, load(t, p, nil, mcpbridge.Session{ID: "s", Dir: "/w", Host: other}, renamed))
		ask()
		if diff := cmp.Diff([][]string{{"a", "a"}, {"b", "b"}}, [][]string{one.asked, other.asked}); diff != "" {
			t.Errorf("who was asked by whom (-want +got):\n%s", diff)
		}
		if told.Label != "a" || told.Name != "lorimer" || told.Version != "1" || !told.HTTP {
			t.Errorf("options of the connection: %+v", told)
		}
	})
}
