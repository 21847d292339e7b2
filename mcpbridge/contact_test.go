package mcpbridge_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"github.com/lorimer-dev/lorimer/mcpbridge"
	"github.com/lorimer-dev/lorimer/mcpbridge/client"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/server"
)

func TestNothingIsContactedBeforeItIsWanted(t *testing.T) { // R-MCP-01, ACCEPTANCE 50
	bubble(t, func(t *testing.T) {
		w := newWorld(map[string]*fake{"a": {}})
		b := open(t, w.pool(t), program("a"))
		time.Sleep(time.Minute)
		b.Status()
		b.Known()
		if got := w.names(); got != nil {
			t.Errorf("dialed %q before anybody asked", got)
		}
	})
}

func TestServersInOrder(t *testing.T) { // R-MCP-01, R-MCP-04, R-MCP-10
	bubble(t, func(t *testing.T) {
		w := newWorld(map[string]*fake{
			"late":  {Delay: 2 * time.Second, Tools: toolsNamed("z", "a")},
			"early": {Tools: toolsNamed("list")},
			"off":   {Tools: toolsNamed("never")},
		})
		off := program("off")
		off.Off = "disabled in config.toml"
		b := open(t, w.pool(t), program("late"), off, program("early"))
		got := message(t, b)
		want := send{
			Names:   []string{"late_z", "late_a", "early_list"},
			Notices: []string{"Waiting for MCP servers: late."},
			Took:    2 * time.Second,
		}
		if diff := cmp.Diff(want, got, cmpSends); diff != "" {
			t.Errorf("first send (-want +got):\n%s", diff)
		}
		if names := w.names(); slices.Contains(names, "off") {
			t.Errorf("a disabled server was dialed: %q", names)
		}
		if got := status(t, b, "off"); got.State != server.Disabled || got.LastError != "disabled in config.toml" {
			t.Errorf("status of the disabled one = %+v", got)
		}
	})
}

var cmpSends = cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".tools" }, cmp.Ignore())

func TestSendGoesOnWithoutDeadServers(t *testing.T) { // R-MCP-09, R-MCP-10, C094, ACCEPTANCE 87
	bubble(t, func(t *testing.T) {
		w := newWorld(map[string]*fake{
			"dead":  {Fail: failing(always, errExit)},
			"hangs": {Delay: time.Hour},
			"cold":  {Delay: 40 * time.Second, Tools: toolsNamed("x")},
			"fine":  {Tools: toolsNamed("echo")},
		})
		b := open(t, w.pool(t), programs("dead", "hangs", "cold", "fine", "missing")...)
		want := send{
			Names: []string{"fine_echo"},
			Notices: []string{
				"Waiting for MCP servers: hangs, cold.",
				"The MCP server dead did not connect: the program has ended (exit status 1): fatal: missing API_KEY; it is tried again in the background.",
				"The MCP server hangs has not answered yet; its tools join the message after it has.",
				"The MCP server cold has not answered yet; its tools join the message after it has.",
				`The MCP server missing did not connect: there is no program "missing"; it is tried again in the background.`,
			},
			Took: 5 * time.Second,
		}
		if diff := cmp.Diff(want, message(t, b), cmpSends); diff != "" {
			t.Errorf("first send (-want +got):\n%s", diff)
		}
		time.Sleep(20 * time.Second)
		want = send{Names: []string{"fine_echo"}, Notices: []string{"Waiting for MCP servers: hangs, cold."}, Took: 5 * time.Second}
		if diff := cmp.Diff(want, message(t, b), cmpSends); diff != "" {
			t.Errorf("send while they still connect (-want +got):\n%s", diff)
		}
		time.Sleep(30 * time.Second)
		want = send{Names: []string{"cold_x", "fine_echo"}}
		if diff := cmp.Diff(want, message(t, b), cmpSends); diff != "" {
			t.Errorf("send after a minute (-want +got):\n%s", diff)
		}
		if got, want := status(t, b, "hangs").LastError, "no answer within 1m: context deadline exceeded"; got != want {
			t.Errorf("the one that hangs failed with %q, want %q", got, want)
		}
		if got := status(t, b, "dead"); !strings.Contains(got.Stderr, "starting\nfatal: missing API_KEY") {
			t.Errorf("status of the dead one has no stderr: %+v", got)
		}
	})
}

// What the user is told of servers is not told again on standard error, and steers no
// terminal.
func TestNoticesAreToldOnce(t *testing.T) { // R-ACP-37
	bubble(t, func(t *testing.T) {
		var log strings.Builder
		w := newWorld(map[string]*fake{"dead": {Fail: failing(always, errOops)}, "a\x1b[2J": {Delay: time.Second}})
		b := open(t, w.pool(t, func(o *mcpbridge.Options) { o.Log = logTo(&log).Level(zerolog.InfoLevel) }), programs("dead", "a\x1b[2J")...)
		want := []string{
			`Waiting for MCP servers: a\x1b[2J.`,
			"The MCP server dead did not connect: oops; it is tried again in the background.",
		}
		if got := message(t, b).Notices; !slices.Equal(got, want) {
			t.Errorf("the user was told %q, want %q", got, want)
		}
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if log.Len() > 0 {
			t.Errorf("log: %s", log.String())
		}
	})
}

func TestListThatFailsIsADiscoveryFailure(t *testing.T) { // R-MCP-09
	bubble(t, func(t *testing.T) {
		broken := &transport.Error{Code: transport.CodeInternal, Message: "no database"}
		w := newWorld(map[string]*fake{"a": {
			Tools: toolsNamed("x"), Linger: time.Second,
			ListFail: func(n int) error {
				if n == 1 {
					return broken
				}
				return nil
			},
		}})
		b := open(t, w.pool(t), program("a"))
		if got := message(t, b); got.Names != nil || len(got.Notices) != 2 || !strings.Contains(got.Notices[1], "listing its tools: no database (-32603)") {
			t.Errorf("first send = %+v", got)
		}
		time.Sleep(time.Second)
		if got := message(t, b).Names; !slices.Equal(got, []string{"a_x"}) {
			t.Errorf("after the second attempt Tools() = %q", got)
		}
	})
}

func TestReconnectHasPauses(t *testing.T) { // R-MCP-11
	bubble(t, func(t *testing.T) {
		w := newWorld(map[string]*fake{"a": {Fail: failing(always, errExit)}})
		b := open(t, w.pool(t), program("a"))
		b.Begin()
		time.Sleep(10 * time.Minute)
		tries := w.tries()
		if len(tries) != 10 {
			t.Fatalf("%d attempts in the outage, want 10", len(tries))
		}
		for i := 1; i < len(tries); i++ {
			most := min(time.Second<<(i-1), 30*time.Second)
			if got := tries[i].At - tries[i-1].At; got < most/2 || got > most {
				t.Errorf("pause before attempt %d is %v, want %v to %v", i+1, got, most/2, most)
			}
		}
		if got := status(t, b, "a"); got.State != server.Failed || got.Attempts != 10 {
			t.Errorf("after the last attempt the status is %s with %d attempts", got.State, got.Attempts)
		}

		for range 2 { // each send makes one fresh attempt, and does not wait for it
			if got := message(t, b); got.Took != 0 || got.Names != nil {
				t.Errorf("send = %+v", got)
			}
			time.Sleep(time.Minute)
		}
		if got := len(w.tries()); got != 12 {
			t.Errorf("%d attempts after two sends, want 12", got)
		}
		w.servers["a"].set(func() { w.servers["a"].Fail, w.servers["a"].Tools = nil, toolsNamed("x") })
		if got, err := b.Probe(t.Context(), "a"); err != nil || got.State != server.Connected || got.Attempts != 0 || got.LastError != "" {
			t.Errorf("Probe() = %+v, %v", got, err)
		}
		if got := message(t, b); !slices.Equal(got.Names, []string{"a_x"}) || got.Notices != nil {
			t.Errorf("send after the probe = %+v", got)
		}
	})
}

func TestOneFreshAttemptForManySends(t *testing.T) { // R-MCP-11, coalesced
	bubble(t, func(t *testing.T) {
		w := newWorld(map[string]*fake{"a": {Delay: 20 * time.Second, Fail: failing(always, &transport.StatusError{Status: 401})}})
		b := open(t, w.pool(t), address("a"))
		b.Begin()
		time.Sleep(time.Minute)
		for range 10 {
			message(t, b)
			time.Sleep(time.Second)
		}
		time.Sleep(time.Minute)
		if got := len(w.tries()); got != 2 {
			t.Errorf("%d attempts, want the first and one for ten sends", got)
		}
	})
}

func TestAttemptsAtATime(t *testing.T) { // R-MCP-11: at most 2, the first ones apart
	bubble(t, func(t *testing.T) {
		servers := make(map[string]*fake)
		var names []string
		for i := range 8 {
			name := fmt.Sprintf("s%d", i)
			names = append(names, name)
			servers[name] = &fake{Delay: 3 * time.Second, Fail: failing(3, errExit)}
		}
		w := newWorld(servers)
		p := w.pool(t)
		open(t, p, programs(names[:4]...)...).Begin()
		p.Open(t.Context(), mcpbridge.Session{ID: "other", Dir: "/w"}, programs(names[4:]...)).Begin()
		synctest.Wait()
		if got := w.peak(); got != 8 {
			t.Errorf("%d first attempts at a time, want all 8", got)
		}
		time.Sleep(3200 * time.Millisecond) // the shortest pause is longer
		w.peak()
		time.Sleep(5 * time.Minute)
		if got := w.peak(); got != 2 {
			t.Errorf("%d attempts at a time, want 2", got)
		}
		for name, f := range servers {
			if n := f.count(func() int { return f.attempts }); n != 4 {
				t.Errorf("%s: %d attempts, want 4", name, n)
			}
		}
	})
}

func TestToolsComeBack(t *testing.T) { // R-MCP-11, R-MCP-13, R-MCP-14, ACCEPTANCE 88
	bubble(t, func(t *testing.T) {
		a := &fake{Tools: toolsNamed("x.y", "z"), Linger: 2 * time.Second}
		w := newWorld(map[string]*fake{"a": a})
		b := open(t, w.pool(t), program("a"))
		before := message(t, b).Names
		a.die(errExit)
		synctest.Wait()
		if got := message(t, b); got.Names != nil || len(got.Notices) != 1 || got.Took != 0 {
			t.Errorf("send in the outage = %+v", got)
		}
		if got := message(t, b); got.Notices != nil {
			t.Errorf("the second send of the outage tells %q again", got.Notices)
		}
		time.Sleep(time.Minute) // the old one takes two seconds to go
		if got := message(t, b).Names; !slices.Equal(got, before) {
			t.Errorf("names after the outage %q, before %q", got, before)
		}
		if most := a.count(func() int { return a.most }); most != 1 {
			t.Errorf("%d programs at a time", most)
		}
		a.die(errExit)
		synctest.Wait()
		if got := message(t, b).Notices; len(got) != 1 {
			t.Errorf("the second outage tells %q", got)
		}
	})
}

func TestUptimeEndsAnOutage(t *testing.T) { // R-MCP-11: 30 s
	tests := []struct {
		name   string
		uptime time.Duration
		want   int // attempts
	}{
		{"a server that keeps dying is given up", 5 * time.Second, 10},
		{"one that works for a while is not", 31 * time.Second, 21},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				a := &fake{}
				w := newWorld(map[string]*fake{"a": a})
				b := open(t, w.pool(t), program("a"))
				b.Begin()
				for range 20 {
					for range 320 { // no pause is longer
						if time.Sleep(100 * time.Millisecond); status(t, b, "a").State == server.Connected {
							break
						}
					}
					time.Sleep(tt.uptime)
					a.die(errExit)
					synctest.Wait()
				}
				time.Sleep(time.Minute)
				if got := len(w.tries()); got != tt.want {
					t.Errorf("%d attempts, want %d", got, tt.want)
				}
			})
		})
	}
}

func TestCloseEndsEverything(t *testing.T) { // R-MCP-11, R-MCP-12, R-MCP-23, ACCEPTANCE 89
	bubble(t, func(t *testing.T) {
		w := newWorld(map[string]*fake{
			"paused": {Fail: failing(always, errExit)},
			"dials":  {Delay: 30 * time.Second},
			"deaf":   {Delay: 30 * time.Second, Deaf: true},
			"slow":   {Linger: 4 * time.Second},
			"slower": {Linger: 5 * time.Second},
		})
		b := open(t, w.pool(t), programs("paused", "dials", "deaf", "slow", "slower")...)
		b.Begin()
		time.Sleep(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
		defer cancel()
		start := time.Now()
		err := b.Close(ctx)
		if got := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || got != 8*time.Second {
			t.Errorf("Close() = %v after %v, want the bound, for the deaf one", err, got)
		}
		dialed := len(w.tries())
		time.Sleep(time.Hour)
		for name, f := range w.servers {
			if f.count(func() int { return f.running }) != 0 {
				t.Errorf("%s is left", name)
			}
		}
		if got := len(w.tries()); got != dialed {
			t.Errorf("dialed %d times after the end", got-dialed)
		}
		if got := b.Prompts(); got != nil {
			t.Errorf("a closed bridge has prompts: %v", got)
		}
		if ts, err := b.Tools(t.Context(), nil); err == nil {
			t.Errorf("Tools() of a closed bridge = %v", ts)
		}
	})
}

func TestServersCloseBesideEachOther(t *testing.T) { // R-MCP-23
	bubble(t, func(t *testing.T) {
		servers := make(map[string]*fake)
		var names []string
		for i := range 20 {
			name := fmt.Sprintf("s%d", i)
			servers[name], names = &fake{Linger: 2 * time.Second}, append(names, name)
		}
		w := newWorld(servers)
		p := w.pool(t)
		for i := range 4 { // sessions
			b := p.Open(t.Context(), mcpbridge.Session{ID: fmt.Sprint(i), Dir: "/w"}, programs(names[5*i:5*i+5]...))
			message(t, b)
		}
		start := time.Now()
		if err := p.Close(t.Context()); err != nil || time.Since(start) != 2*time.Second {
			t.Errorf("Close() = %v after %v, want 2s", err, time.Since(start))
		}
		late := p.Open(t.Context(), mcpbridge.Session{ID: "late", Dir: "/w"}, programs("s0"))
		late.Begin()
		synctest.Wait()
		if got := len(w.tries()); got != 20 {
			t.Errorf("%d attempts, want none after the end of the pool", got-20)
		}
	})
}

func TestSendDoesNotEndTheContact(t *testing.T) { // R-MCP-23
	bubble(t, func(t *testing.T) {
		a := &fake{Delay: time.Second, Tools: toolsNamed("x")}
		w := newWorld(map[string]*fake{"a": a})
		b := open(t, w.pool(t), program("a"))
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := b.Tools(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Tools() of a send that ended = %v", err)
		}
		time.Sleep(time.Minute)
		if got := message(t, b); !slices.Equal(got.Names, []string{"a_x"}) || len(w.tries()) != 1 {
			t.Errorf("next send = %+v after %d attempts", got, len(w.tries()))
		}
	})
}

func TestManyServersAreListedTogether(t *testing.T) { // R-MCP-10; the figure of the issue
	bubble(t, func(t *testing.T) {
		servers := make(map[string]*fake)
		var names, want []string
		for i := range 20 {
			name := fmt.Sprintf("s%02d", i)
			servers[name] = &fake{Delay: time.Second, Tools: toolsNamed("x")}
			names, want = append(names, name), append(want, name+"_x")
		}
		w := newWorld(servers)
		got := message(t, open(t, w.pool(t), programs(names...)...))
		if !slices.Equal(got.Names, want) || got.Took > 1500*time.Millisecond {
			t.Errorf("listed %q in %v", got.Names, got.Took)
		}
	})
}

func TestErasAreRemembered(t *testing.T) { // MCP.md 2.5
	bubble(t, func(t *testing.T) {
		w := newWorld(map[string]*fake{"a": {About: client.About{Era: client.Handshake}}})
		p := w.pool(t)
		for _, key := range []string{"one", "other"} {
			s := program("a")
			s.Env = map[string]string{"TOKEN": key} // which is not what makes the era
			b := p.Open(t.Context(), mcpbridge.Session{ID: key, Dir: "/w"}, []mcpbridge.Server{s})
			message(t, b)
		}
		if diff := cmp.Diff([]dial{{Server: "a"}, {Server: "a", Era: client.Handshake}}, w.tries()); diff != "" {
			t.Errorf("attempts (-want +got):\n%s", diff)
		}
	})
}

func TestLoginStates(t *testing.T) { // R-MCP-19, C096
	bubble(t, func(t *testing.T) {
		in := func() error { return nil }
		login, rejected := &fake{Tools: toolsNamed("x")}, &fake{}
		login.Fail = func(int) error { return in() }
		rejected.Fail = failing(always, fmt.Errorf("initialize: %w", &transport.StatusError{Status: 401, Rejected: true}))
		in = func() error { return &transport.StatusError{Status: 401, Challenge: "Bearer"} }
		w := newWorld(map[string]*fake{"login": login, "rejected": rejected, "fine": {Tools: toolsNamed("y")}})
		b := open(t, w.pool(t), address("login"), address("rejected"), address("fine"))
		got := message(t, b)
		want := send{
			Names: []string{"fine_y"},
			Notices: []string{
				"The MCP server login needs a login; run lorimer mcp login login.",
				"The MCP server rejected did not connect: initialize: credential rejected (HTTP 401); the next message tries again.",
			},
		}
		if diff := cmp.Diff(want, got, cmpSends); diff != "" {
			t.Errorf("send (-want +got):\n%s", diff)
		}
		if s := status(t, b, "login"); s.State != server.NeedsLogin || s.LastError != "needs authorization (HTTP 401)" {
			t.Errorf("status without a login = %+v", s)
		}
		if s := status(t, b, "rejected"); s.State != server.Failed || s.LastError != "initialize: credential rejected (HTTP 401)" {
			t.Errorf("status with a bad one = %+v", s)
		}
		time.Sleep(time.Hour)
		if got := len(w.tries()); got != 3 {
			t.Errorf("%d attempts, want no more than the first ones", got)
		}
		in = func() error { return nil }
		message(t, b) // starts the attempt
		synctest.Wait()
		if got := message(t, b).Names; !slices.Equal(got, []string{"login_x", "fine_y"}) {
			t.Errorf("after the login Tools() = %q", got)
		}
	})
}

func TestTroubleIsNotContacted(t *testing.T) { // MCP.md 8.3
	bubble(t, func(t *testing.T) {
		w := newWorld(map[string]*fake{"a": {}})
		s := program("a")
		s.Trouble = "the variable X_TOKEN is not set"
		b := open(t, w.pool(t), s)
		got := message(t, b)
		if want := []string{"The MCP server a is not used: the variable X_TOKEN is not set."}; !slices.Equal(got.Notices, want) || got.Took != 0 {
			t.Errorf("send = %+v", got)
		}
		if got := status(t, b, "a"); got.State != server.Failed || got.LastError != s.Trouble {
			t.Errorf("status = %+v", got)
		}
		if got, err := b.Probe(t.Context(), "a"); err != nil || got.State != server.Failed || w.tries() != nil {
			t.Errorf("Probe() = %+v, %v, and %d attempts", got, err, len(w.tries()))
		}
	})
}

func TestProbe(t *testing.T) { // R-MCP-11
	bubble(t, func(t *testing.T) {
		a := &fake{
			Delay: time.Second, Tools: toolsNamed("x"), Prompts: []client.Prompt{{Name: "p"}}, Resources: make([]server.Resource, 2),
			About: client.About{Name: "stub", Version: "2.1", Revision: "2025-11-25"},
		}
		w := newWorld(map[string]*fake{"a": a, "b": {Fail: failing(2, errExit), Delay: time.Second, Tools: toolsNamed("y")}})
		br := open(t, w.pool(t), programs("a", "b")...)
		got, err := br.Probe(t.Context(), "a")
		want := server.Status{
			Name: "a", Prefix: "a", State: server.Connected, Kind: "stdio", Address: "a", Program: "stub 2.1", Revision: "2025-11-25",
			Tools: []string{"a_x"}, Prompts: 1, Resources: 2,
		}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("Probe() failed with %v, or (-want +got):\n%s", err, diff)
		}
		if got := w.names(); !slices.Equal(got, []string{"a"}) {
			t.Errorf("a probe of a has dialed %q", got)
		}
		a.set(func() { a.Tools = toolsNamed("x", "z") }) // silently
		if got, err := br.Probe(t.Context(), "a"); err != nil || len(got.Tools) != 2 {
			t.Errorf("Probe() of a connected one = %+v, %v", got, err)
		}
		for try := 2; try < 5; try++ { // without the pauses
			start := time.Now()
			got, err := br.Probe(t.Context(), "b")
			if err != nil || time.Since(start) > 2*time.Second {
				t.Fatalf("Probe() = %v after %v", err, time.Since(start))
			}
			if got.State == server.Connected {
				break
			}
		}
		if got := status(t, br, "b"); got.State != server.Connected {
			t.Errorf("status of b = %+v", got)
		}
		if _, err := br.Probe(t.Context(), "c"); err == nil || !strings.Contains(err.Error(), `there is no MCP server "c"`) {
			t.Errorf("Probe() of an unknown one = %v", err)
		}
	})
}

// Sends, calls, changes, deaths and the end, all at once: nothing is left, and nothing is
// run twice at a time.
// An attempt that is wanted while one waits for its turn is that one.
func TestProbeOfAServerThatWaitsForItsTurn(t *testing.T) { // R-MCP-11
	bubble(t, func(t *testing.T) {
		slow := func(n int) error {
			if n > 1 {
				time.Sleep(20 * time.Second)
			}
			return errOops
		}
		w := newWorld(map[string]*fake{"s": {Fail: slow}, "t": {Fail: slow}, "a": {Fail: failing(always, errOops), Delay: time.Second}})
		a := w.servers["a"]
		b := open(t, w.pool(t), programs("s", "t", "a")...)
		message(t, b)
		time.Sleep(2 * time.Second) // all pauses are over
		if n := a.count(func() int { return a.attempts }); n != 1 {
			t.Fatalf("%d attempts before its turn", n)
		}
		if _, err := b.Probe(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		time.Sleep(200 * time.Millisecond)
		if n := a.count(func() int { return a.attempts }); n != 2 {
			t.Errorf("%d attempts, want 2", n)
		}
	})
}

func TestEverythingAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		servers := make(map[string]*fake)
		var declared []mcpbridge.Server
		for i := range 6 {
			name := fmt.Sprintf("s%d", i)
			servers[name] = &fake{Linger: time.Millisecond, Tools: toolsNamed("x", "y"), Prompts: []client.Prompt{{Name: "p"}}}
			declared = append(declared, program(name))
		}
		w := newWorld(servers)
		b := open(t, w.pool(t), declared...)
		var wg sync.WaitGroup
		stop := b.Watch(func() { b.Prompts() })
		for i, d := range declared {
			f := servers[d.Command]
			wg.Go(func() {
				for n := range 50 {
					time.Sleep(time.Duration(i+n) * 10 * time.Millisecond)
					f.set(func() { f.Tools = toolsNamed("x", fmt.Sprint("n", n)) }, client.Tools)
					if n%7 == 0 {
						f.die(errExit)
					}
				}
			})
			wg.Go(func() {
				for range 50 {
					for _, tool := range message(t, b).tools {
						if _, err := tool.Run(t.Context(), tools.Call{ID: "c"}); err != nil {
							t.Errorf("Run() failed: %v", err)
						}
					}
					b.Status()
					time.Sleep(100 * time.Millisecond)
				}
			})
		}
		wg.Wait()
		stop()
		if err := b.Close(t.Context()); err != nil {
			t.Errorf("Close() failed: %v", err)
		}
		if names, _ := b.Known(); len(names) < 2*len(declared) {
			t.Errorf("known names %q", names)
		}
	})
}
