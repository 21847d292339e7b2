package serve_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/mcpbridge/serve"
	"github.com/lorimer-dev/lorimer/tools"
)

// progress returns a notification of progress.
func progress(token, done, more string) string {
	return `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + token + `,"progress":` + done + more + `}}`
}

// Progress grows, comes no faster than its pace, the newest first, and never after the
// result.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{}
		late := make(chan func(serve.Progress), 1)
		d.add("works", func(_ context.Context, c serve.Call) (serve.Result, error) {
			late <- c.Progress
			c.Progress(serve.Progress{Message: "begun"})
			for i := range 25 {
				time.Sleep(11 * time.Millisecond)
				c.Progress(serve.Progress{Done: float64(i + 1), Total: 25})
			}
			time.Sleep(time.Second)
			c.Progress(serve.Progress{Done: 1, Message: "back"})
			c.Progress(serve.Progress{Done: 30})
			return text("done"), nil
		})
		p := start(t, d, serve.Options{})
		p.hello("2025-11-25")
		p.send(request("1", "tools/call", `{"name":"works","_meta":{"progressToken":"t\u00e9"}}`))
		want := []string{
			progress(`"t\u00e9"`, "0", `,"message":"begun"`),
			progress(`"t\u00e9"`, "9", `,"total":25`),
			progress(`"t\u00e9"`, "18", `,"total":25`),
			progress(`"t\u00e9"`, "25", `,"total":25`),
			progress(`"t\u00e9"`, fmt.Sprint(math.Nextafter(25, 26)), `,"message":"back"`),
			`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done"}]}}`,
		}
		var got []string
		for range want {
			got = append(got, p.next())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("messages (-want +got):\n%s", diff)
		}
		(<-late)(serve.Progress{Done: 99})
		time.Sleep(time.Second)
		p.send(call("2", "works", "{}")) // wants no progress
		if rest, err := p.finish(); err != nil || len(rest) != 1 {
			t.Errorf("at the end: %q, %v, want one result", rest, err)
		}
	})
}

// Nothing is told of a call after its cancel.
func TestNoProgressAfterCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{}
		d.add("works", func(ctx context.Context, c serve.Call) (serve.Result, error) {
			for i := range 100 {
				time.Sleep(time.Second)
				c.Progress(serve.Progress{Done: float64(i)})
				c.Log(serve.Error, "x")
			}
			return text("done"), nil
		})
		p := start(t, d, serve.Options{})
		p.hello("2025-11-25")
		p.send(request("1", "tools/call", `{"name":"works","_meta":{"progressToken":7}}`))
		if got := p.next(); got != progress("7", "0", "") {
			t.Errorf("message %s", got)
		}
		p.next() // what it logged
		p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		if rest, err := p.finish(); len(rest) > 0 || err != nil {
			t.Errorf("at the end: %q, %v", rest, err)
		}
	})
}

// A client hears messages from the level on that it has set, and of the newest
// revision those that its request wants.
func TestLog(t *testing.T) {
	d := &desk{}
	d.add("logs", func(_ context.Context, c serve.Call) (serve.Result, error) {
		for _, l := range []serve.Level{serve.Debug, serve.Info, serve.Warning, serve.Error} {
			c.Log(l, "text")
		}
		return serve.Result{}, nil
	})
	level := func(l string) string { return request(`"l"`, "logging/setLevel", `{"level":"`+l+`"}`) }
	wants := func(l string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"logs","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":"` + l + `"}}}`
	}
	tests := []struct {
		name, set, ask string
		want           string
	}{
		{"nothing set", "", call("1", "logs", "{}"), "info warning error"},
		{"warning", level("warning"), call("1", "logs", "{}"), "warning error"},
		{"debug", level("debug"), call("1", "logs", "{}"), "debug info warning error"},
		{"emergency", level("emergency"), call("1", "logs", "{}"), ""},
		{"new revision", level("debug"), modern("1", "tools/call", `"name":"logs"`), ""},
		{"new revision, info", "", wants("info"), "info warning error"},
		{"new revision, nonsense", "", wants("loud"), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := start(t, d, serve.Options{})
			p.hello("2025-11-25")
			if tt.set != "" {
				p.ask(tt.set)
			}
			p.send(tt.ask)
			rest, err := p.finish()
			if err != nil {
				t.Error(err)
			}
			var got []string
			for _, line := range rest[:len(rest)-1] {
				for _, l := range []string{"debug", "info", "warning", "error"} {
					if line == `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"`+l+`","logger":"test","data":"text"}}` {
						got = append(got, l)
					}
				}
			}
			if strings.Join(got, " ") != tt.want || len(rest) != len(got)+1 {
				t.Errorf("messages %q, want those of %q and the result", rest, tt.want)
			}
		})
	}
}

// A changing desk changes when it is told to.
type changing struct {
	desk
	changed chan func() // that Watch was given
	stopped bool
}

func newChanging() *changing { return &changing{changed: make(chan func(), 1)} }

func (c *changing) watch(changed func()) (stop func()) {
	c.changed <- changed
	return func() { c.stopped = true }
}

func (c *changing) add(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.more = append(c.more, serve.Tool{Name: name})
}

// A client that has seen the tools is told once when they are others, and not of what
// only might have changed.
func TestListChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChanging()
		p := start(t, c, serve.Options{Watch: c.watch, Prompts: books{}})
		p.hello("2025-11-25")
		changed := <-c.changed
		c.add("unseen")
		changed()
		time.Sleep(time.Second) // nobody has seen the list
		p.ask(request("1", "tools/list", "{}"))
		p.ask(request("1", "prompts/list", "{}"))
		changed()
		time.Sleep(time.Second) // it is the same
		for i := range 5 {
			c.add(fmt.Sprint("more", i))
			changed()
		}
		const told = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
		if got := p.next(); got != told {
			t.Errorf("message %s, want %s", got, told)
		}
		if got := p.ask(request("2", "tools/list", "{}")); !strings.Contains(got, `"more4"`) {
			t.Errorf("tools %s", got)
		}
		changed()
		time.Sleep(time.Second)
		if rest, err := p.finish(); len(rest) > 0 || err != nil || !c.stopped {
			t.Errorf("at the end: %q, %v, stopped %v", rest, err, c.stopped)
		}
	})
}

// A change while the list is on its way is told after it.
func TestListChangedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChanging()
		slow := slowList{c, make(chan struct{})}
		p := start(t, slow, serve.Options{Watch: c.watch})
		p.hello("2025-11-25")
		changed := <-c.changed
		p.send(request("1", "tools/list", "{}"))
		synctest.Wait() // the list is made and waits
		c.add("late")
		changed()
		time.Sleep(time.Second)
		close(slow.free)
		if got := p.next(); !strings.Contains(got, `"id":1`) || strings.Contains(got, "late") {
			t.Errorf("list %s", got)
		}
		if got := p.next(); !strings.Contains(got, "tools/list_changed") {
			t.Errorf("message %s", got)
		}
		p.finish()
	})
}

// A slowList gives its list only when it is free.
type slowList struct {
	*changing
	free chan struct{}
}

func (s slowList) Tools(ctx context.Context) ([]serve.Tool, error) {
	all, err := s.changing.Tools(ctx)
	<-s.free
	return all, err
}

// Listeners of the newest revision hear what they want, each by its id, and are told
// of the end.
func TestListen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChanging()
		p := start(t, c, serve.Options{Watch: c.watch, Prompts: books{}})
		p.ask(modern("1", "tools/list", ""))
		acknowledged := func(id, what string) string {
			return `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":` + id + `},"notifications":{` + what + `}}}`
		}
		c.add("before") // and after the list
		for id, wants := range map[string][2]string{
			`"a"`: {`"toolsListChanged":true,"resourcesListChanged":true`, `"toolsListChanged":true`},
			`2`:   {`"promptsListChanged":true`, `"promptsListChanged":true`},
		} {
			if got := p.ask(modern(id, "subscriptions/listen", `"notifications":{`+wants[0]+`}`)); got != acknowledged(id, wants[1]) {
				t.Errorf("message %s, want %s", got, acknowledged(id, wants[1]))
			}
		}
		changed := <-c.changed
		told := func(id string) string {
			return `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":` + id + `}}}`
		}
		if got := p.next(); got != told(`"a"`) {
			t.Errorf("message %s, want %s", got, told(`"a"`))
		}
		p.send(modern("3", "subscriptions/listen", `"notifications":{"toolsListChanged":true}`), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}`)
		p.next() // the acknowledgement
		synctest.Wait()
		c.add("after")
		changed()
		if got := p.next(); got != told("3") {
			t.Errorf("message %s, want %s", got, told("3"))
		}
		about := `"io.modelcontextprotocol/serverInfo":{"name":"test","version":"1"}`
		if got, want := p.ask(modern("4", "subscriptions/listen", `"notifications":{"resourcesListChanged":true}`)), acknowledged("4", ""); got != want {
			t.Errorf("message %s, want %s", got, want)
		}
		ended := func(id string) string {
			return `{"jsonrpc":"2.0","id":` + id + `,"result":{"resultType":"complete","_meta":{` + about + `,"io.modelcontextprotocol/subscriptionId":` + id + `}}}`
		}
		if got := p.next(); got != ended("4") {
			t.Errorf("message %s, want %s", got, ended("4"))
		}
		rest, err := p.finish()
		want := map[string]bool{ended("2"): true, ended("3"): true}
		for _, id := range []string{"2", "3"} {
			want[`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`}}`] = true
		}
		got := map[string]bool{}
		for _, line := range rest {
			got[line] = true
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("at the end: %v (-want +got):\n%s", err, diff)
		}
	})
}

// Who listens before it has seen a list hears of the first change of it.
func TestListenFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChanging()
		p := start(t, c, serve.Options{Watch: c.watch})
		p.ask(modern("1", "subscriptions/listen", `"notifications":{"toolsListChanged":true}`))
		c.add("new")
		(<-c.changed)()
		if got := p.next(); !strings.Contains(got, "tools/list_changed") {
			t.Errorf("message %s", got)
		}
		p.finish()
	})
}

// An agent answers, tells of its turn while that runs, and is cancelled with its call.
func TestAskAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := serve.Options{Agent: agent{}, Pace: time.Millisecond}
		p := start(t, &desk{}, o)
		p.hello("2025-11-25")
		if got := p.ask(request("1", "tools/list", "{}")); !strings.Contains(got, `"name":"ask_agent"`) || !strings.Contains(got, `"outputSchema":{"type":"object"`) || strings.Count(got, `"readOnlyHint":true`) != 2 {
			t.Errorf("tools %s", got)
		}
		p.send(request("2", "tools/call", `{"name":"ask_agent","arguments":{"prompt":"go","session":"s1"},"_meta":{"progressToken":1}}`))
		long := strings.Repeat("é", 2048)
		want := []string{
			progress("1", "1", `,"message":"Reading a.txt"`),
			progress("1", "2", `,"message":"go"`),
			progress("1", "3", `,"message":"…`+long+`"`),
			`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","logger":"test","data":"slow"}}`,
			`{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"go!"},{"type":"text","text":"session: s1\nstop reason: end_turn"}],` +
				`"structuredContent":{"answer":"go!","session":"s1","stopReason":"end_turn"}}}`,
		}
		var got []string
		for range want {
			got = append(got, p.next())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("messages (-want +got):\n%s", diff)
		}
		if got := p.ask(call("3", "ask_agent", `{"prompt":" "}`)); !strings.Contains(got, `ask_agent needs \"prompt\"`) || !strings.Contains(got, `"isError":true`) {
			t.Errorf("without a prompt: %s", got)
		}
		if got := p.ask(call("3", "ask_agent", `{"prompt":"x","session":"none"}`)); !strings.Contains(got, `no session none`) {
			t.Errorf("without a session: %s", got)
		}
		p.send(call("4", "ask_agent", `{"prompt":"hang"}`), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}`)
		if rest, err := p.finish(); len(rest) > 0 || err != nil {
			t.Errorf("at the end: %q, %v", rest, err)
		}
	})
}

type agent struct{}

func (agent) Effect(context.Context) (tools.Effect, error) { return tools.Reads, nil }

func (agent) Ask(ctx context.Context, q serve.Question, w serve.Watcher) (serve.Answer, error) {
	switch {
	case q.Session == "none":
		return serve.Answer{}, tools.Publicf("there is no session none")
	case q.Prompt == "hang":
		<-ctx.Done()
		return serve.Answer{}, ctx.Err()
	}
	for _, tell := range []func(){
		func() { w.Does("Reading a.txt") },
		func() { w.Text(q.Prompt) },
		func() { w.Text(q.Prompt + strings.Repeat("é", 3000)) },
		func() { w.Log(serve.Warning, "slow") },
	} {
		tell()
		time.Sleep(2 * time.Millisecond)
	}
	return serve.Answer{Text: q.Prompt + "!", Session: q.Session, Stop: "end_turn"}, nil
}
