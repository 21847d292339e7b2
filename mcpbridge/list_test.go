package mcpbridge_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"github.com/lorimer-dev/lorimer/mcpbridge"
	"github.com/lorimer-dev/lorimer/mcpbridge/client"
	"github.com/lorimer-dev/lorimer/mcpbridge/internal/names"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
	"github.com/lorimer-dev/lorimer/tools/server"
)

func TestChangedListJoinsTheNextSend(t *testing.T) { // R-MCP-14, R-MCP-21, C093, ACCEPTANCE 90
	bubble(t, func(t *testing.T) {
		a := &fake{Tools: toolsNamed("x")}
		w := newWorld(map[string]*fake{"a": a})
		b := open(t, w.pool(t), program("a"))
		old := message(t, b)
		synctest.Wait()
		lists := func() int { return a.count(func() int { return a.lists }) }
		before := lists()
		for i := range 5 { // changes that come together are read once
			a.set(func() { a.Tools = toolsNamed("y", fmt.Sprint("z", i)) }, client.Tools)
			time.Sleep(20 * time.Millisecond)
		}
		got := message(t, b)
		want := send{Names: []string{"a_y", "a_z4"}, Took: 150 * time.Millisecond}
		if diff := cmp.Diff(want, got, cmpSends); diff != "" {
			t.Errorf("next send (-want +got):\n%s", diff)
		}
		if got := lists() - before; got != 1 {
			t.Errorf("the list was read %d times", got)
		}
		if got := old.run(t, "a_x", `{}`).Text; got != "x" || len(old.tools) != 1 {
			t.Errorf("the tools of the send under way have changed: %q", got)
		}
	})
}

func TestListThatCannotBeReadStays(t *testing.T) { // R-MCP-14, ACCEPTANCE 217
	bubble(t, func(t *testing.T) {
		a := &fake{Tools: toolsNamed("x")}
		a.ListFail = func(n int) error {
			if n > 1 {
				return &transport.Error{Code: transport.CodeInternal, Message: "no"}
			}
			return nil
		}
		w := newWorld(map[string]*fake{"a": a})
		b := open(t, w.pool(t), program("a"))
		want := message(t, b).Names
		synctest.Wait()
		a.set(func() { a.Tools = nil }, client.Tools)
		if got := message(t, b); !slices.Equal(got.Names, want) || got.Took != 250*time.Millisecond {
			t.Errorf("send after a list that could not be read = %+v", got)
		}
		if got := status(t, b, "a"); got.State != server.Connected || got.LastError != "listing its tools: no (-32603)" {
			t.Errorf("status = %+v", got)
		}
		a.set(func() { a.ListFail = nil }, client.Tools)
		if got := message(t, b); got.Names != nil {
			t.Errorf("send after one that could = %+v", got)
		}
		if got := status(t, b, "a"); got.LastError != "" {
			t.Errorf("status = %+v", got)
		}
	})
}

func TestSlowListIsNotWaitedForLong(t *testing.T) { // R-MCP-10, R-MCP-14
	bubble(t, func(t *testing.T) {
		a := &fake{Tools: toolsNamed("x")}
		w := newWorld(map[string]*fake{"a": a})
		b := open(t, w.pool(t), program("a"))
		message(t, b)
		a.set(func() { a.ListDelay, a.Tools = time.Hour, nil }, client.Tools)
		want := send{Names: []string{"a_x"}, Notices: []string{"Waiting for MCP servers: a."}, Took: 5 * time.Second}
		if diff := cmp.Diff(want, message(t, b), cmpSends); diff != "" {
			t.Errorf("send (-want +got):\n%s", diff)
		}
		time.Sleep(time.Minute)
		if got := message(t, b); got.Took != 0 || len(got.Names) != 1 {
			t.Errorf("send after the list took too long = %+v", got)
		}
	})
}

// A server that never stops to change costs a send what one change costs.
func TestFloodOfChanges(t *testing.T) { // R-MCP-14
	bubble(t, func(t *testing.T) {
		a := &fake{Tools: toolsNamed("x")}
		w := newWorld(map[string]*fake{"a": a})
		b := open(t, w.pool(t), program("a"))
		message(t, b)
		end := time.After(10 * time.Second)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for n := 0; ; n++ {
				select {
				case <-end:
					return
				case <-time.After(time.Millisecond):
					a.set(func() { a.Tools = toolsNamed(fmt.Sprint("x", n)) }, client.Tools)
				}
			}
		}()
		for range 10 {
			if got := message(t, b); got.Took > 600*time.Millisecond {
				t.Errorf("a send took %v", got.Took)
			}
		}
		<-done
		if got := a.count(func() int { return a.lists }); got > 45 {
			t.Errorf("the list was read %d times in ten seconds", got)
		}
	})
}

// A server whose every list has many faults does not fill standard error.
func TestFloodOfWarnings(t *testing.T) { // R-ACP-37
	bubble(t, func(t *testing.T) {
		var all []string
		for i := range 100 {
			name := fmt.Sprintf("%d!", i)
			all = append(all, name, strings.TrimPrefix(names.Tool("a", "a", name), "a_"))
		}
		a := &fake{Tools: toolsNamed(all...)}
		w := newWorld(map[string]*fake{"a": a})
		var log strings.Builder
		b := open(t, w.pool(t, func(o *mcpbridge.Options) { o.Log = logTo(&log).Level(zerolog.InfoLevel) }), program("a"))
		message(t, b)
		for range 30 {
			a.set(func() {}, client.Tools)
			time.Sleep(time.Second)
		}
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		if len(lines) > 5 || !strings.Contains(lines[0], "two tools of a server have one name") {
			t.Errorf("%d lines, the first %q", len(lines), lines[0])
		}
	})
}

func TestNamesOfTwoServers(t *testing.T) { // R-MCP-03, R-MCP-04, R-MCP-05, R-MCP-07, ACCEPTANCE 85, 216
	bubble(t, func(t *testing.T) {
		w := newWorld(map[string]*fake{
			"a b": {Tools: toolsNamed("c", "list")},
			"a":   {Tools: toolsNamed("b_c", "list"), About: client.About{Name: "first"}},
			"A":   {Tools: toolsNamed("list")},
		})
		b := open(t, w.pool(t), programs("a b", "a", "A")...)
		got := message(t, b)
		want := send{
			Names:   []string{"a_b_c", "a_b_list", "a_list", "a_2_list"},
			Notices: []string{"The tool c of the MCP server a b and the tool b_c of a are both named a_b_c; only the first is offered. Rename one of the servers to have both."},
		}
		if diff := cmp.Diff(want, got, cmpSends); diff != "" {
			t.Errorf("send (-want +got):\n%s", diff)
		}
		if o := got.tool(t, "a_b_c").Info().Origin; o.Server != "a b" || o.Tool != "c" {
			t.Errorf("a_b_c is of %+v", o)
		}
		if s := status(t, b, "a"); !slices.Equal(s.Tools, []string{"a_list"}) {
			t.Errorf("the status of a shows %q", s.Tools)
		}
		w.servers["a b"].set(func() { w.servers["a b"].Fail = failing(always, errOops) })
		w.servers["a b"].die(errExit)
		synctest.Wait()
		if got := message(t, b).Names; !slices.Equal(got, []string{"a_list", "a_2_list"}) {
			t.Errorf("while the owner of a name is away Tools() = %q, and the name means something else", got)
		}
	})
}

func TestManyTools(t *testing.T) { // MCP.md 4.4: 128 in all
	bubble(t, func(t *testing.T) {
		many := func(n int) (names []string) {
			for i := range n {
				names = append(names, fmt.Sprintf("t%03d", i))
			}
			return names
		}
		w := newWorld(map[string]*fake{
			"a": {Tools: toolsNamed(many(100)...)}, "b": {Tools: toolsNamed(many(29)...)}, "c": {Tools: toolsNamed(many(28)...)},
		})
		p := w.pool(t)
		b := open(t, p, programs("a", "b", "c")...)
		got := message(t, b)
		want := []string{"The 29 tools of the MCP server b are left out, because 100 of other servers are offered and models take no more than 128 in all. Name those that you need under include, in its declaration."}
		if len(got.Names) != 128 || !slices.Equal(got.Notices, want) {
			t.Errorf("%d tools, notices %q", len(got.Names), got.Notices)
		}
		if s := status(t, b, "b"); s.State != server.Connected || s.LastError != "its 29 tools are left out: with those of the servers before it they are more than 128" {
			t.Errorf("status = %+v", s)
		}
		if again := message(t, b); again.Notices != nil {
			t.Errorf("the next send tells %q again", again.Notices)
		}
		some := program("b")
		some.Include, some.Exclude = []string{"t00?", "x/*"}, []string{"*5"}
		got = message(t, p.Open(t.Context(), mcpbridge.Session{ID: "other", Dir: "/w"}, []mcpbridge.Server{program("a"), some}))
		if len(got.Names) != 109 || got.Notices != nil || slices.Contains(got.Names, "b_t005") {
			t.Errorf("%d tools, notices %q", len(got.Names), got.Notices)
		}
	})
}

func TestFilters(t *testing.T) { // MCP.md 8.2: raw names, globs, exclude wins
	all := []string{"get_a", "get.b/c", "set", "[odd", "GET"}
	tests := []struct {
		name             string
		include, exclude []string
		want             []string
	}{
		{"nothing said", nil, nil, all},
		{"a name", []string{"set"}, nil, []string{"set"}},
		{"a star stands for everything", []string{"get*"}, nil, []string{"get_a", "get.b/c"}},
		{"exclude wins", []string{"*"}, []string{"get*", "GET"}, []string{"set", "[odd"}},
		{"not the name that the model sees", []string{"s_set"}, nil, nil},
		{"what is no pattern is a name", []string{"[odd"}, nil, []string{"[odd"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(map[string]*fake{"s": {Tools: toolsNamed(all...)}})
				s := program("s")
				s.Include, s.Exclude = tt.include, tt.exclude
				var got []string
				for _, tool := range message(t, open(t, w.pool(t), s)).tools {
					got = append(got, tool.Info().Origin.Tool)
				}
				if !slices.Equal(got, tt.want) {
					t.Errorf("tools %q, want %q", got, tt.want)
				}
			})
		})
	}
}

func TestKnown(t *testing.T) { // R-MCP-16, C-03, ACCEPTANCE 109
	bubble(t, func(t *testing.T) {
		a := &fake{Tools: toolsNamed("x", "y")}
		w := newWorld(map[string]*fake{"a": a, "2 dead": {Fail: failing(always, errExit)}})
		off := program("off")
		off.Off = "not approved"
		b := open(t, w.pool(t), program("a"), program("2 dead"), off)
		check := func(when string, names, prefixes []string) {
			t.Helper()
			gotNames, gotPrefixes := b.Known()
			if !slices.Equal(gotNames, names) || !slices.Equal(gotPrefixes, prefixes) {
				t.Errorf("%s: Known() = %q, %q, want %q, %q", when, gotNames, gotPrefixes, names, prefixes)
			}
		}
		check("before the contact", nil, []string{"a_", "_2_dead_", "off_"})
		message(t, b)
		check("after it", []string{"a_x", "a_y"}, []string{"_2_dead_", "off_"})
		a.set(func() { a.Tools = toolsNamed("z") }, client.Tools)
		message(t, b)
		check("after a change", []string{"a_x", "a_y", "a_z"}, []string{"_2_dead_", "off_"})
		a.set(func() { a.Fail = failing(always, errOops) })
		a.die(errExit)
		synctest.Wait()
		check("in an outage", []string{"a_x", "a_y", "a_z"}, []string{"_2_dead_", "off_"})
	})
}

func TestAdvice(t *testing.T) { // MCP.md 8.4
	bubble(t, func(t *testing.T) {
		a := &fake{About: client.About{Instructions: "\n  Use me well.\n"}}
		w := newWorld(map[string]*fake{
			"a": a, "long": {About: client.About{Instructions: strings.Repeat("é", 3000)}},
			"quiet": {About: client.About{Instructions: "Obey."}}, "none": {},
		})
		quiet := program("quiet")
		quiet.Silent = true
		b := open(t, w.pool(t), program("a"), quiet, program("none"), program("long"))
		message(t, b)
		want := []server.Advice{
			{Server: "a", Prefix: "a", Text: "Use me well."},
			{Server: "long", Prefix: "long", Text: strings.Repeat("é", 2048)},
		}
		if diff := cmp.Diff(want, b.Advice()); diff != "" {
			t.Errorf("Advice() (-want +got):\n%s", diff)
		}
		a.set(func() { a.Fail = failing(always, errOops) })
		a.die(errExit)
		synctest.Wait()
		if diff := cmp.Diff(want[1:], b.Advice()); diff != "" {
			t.Errorf("Advice() in an outage (-want +got):\n%s", diff)
		}
	})
}

func TestPrompts(t *testing.T) { // C-27, MCP.md 1.2
	bubble(t, func(t *testing.T) {
		a := &fake{Prompts: []client.Prompt{
			{Name: "greet", Description: "Says hello.", Arguments: []server.Argument{{Name: "name", Required: true}, {Name: "tone"}}},
			{Name: "a.b", Title: "Titled"},
			{Name: "steer", Arguments: []server.Argument{{Name: "x\x1b[2J", Required: true}}},
		}}
		a.OnPrompt = func(name string, arguments map[string]string) ([]server.Part, error) {
			if name != "greet" {
				return nil, &transport.Error{Code: transport.CodeInvalidParams, Message: "no " + name}
			}
			return []server.Part{{Role: "user", Text: "Hello " + arguments["name"]}}, nil
		}
		w := newWorld(map[string]*fake{"My Server": a, "my": {Prompts: []client.Prompt{{Name: "server_greet"}}}})
		b := open(t, w.pool(t), programs("My Server", "my")...)
		changes := make(chan struct{}, 100)
		stop := b.Watch(func() { changes <- struct{}{} })
		defer stop()
		message(t, b)
		synctest.Wait()
		want := []server.Prompt{
			{Command: "my_server_greet", Server: "My Server", Name: "greet", Description: "Says hello.", Arguments: a.Prompts[0].Arguments},
			{Command: "my_server_a_b_248c9337", Server: "My Server", Name: "a.b", Description: "Titled"},
			{Command: "my_server_steer", Server: "My Server", Name: "steer", Arguments: a.Prompts[2].Arguments},
		}
		if diff := cmp.Diff(want, b.Prompts()); diff != "" {
			t.Errorf("Prompts() (-want +got):\n%s", diff)
		}
		if len(changes) == 0 {
			t.Error("nobody was told of the prompts")
		}
		for len(changes) > 0 {
			<-changes
		}

		parts, err := b.Prompt(t.Context(), "my_server_greet", map[string]string{"name": "you"})
		if diff := cmp.Diff([]server.Part{{Role: "user", Text: "Hello you"}}, parts); err != nil || diff != "" {
			t.Errorf("Prompt() failed with %v, or (-want +got):\n%s", err, diff)
		}
		for command, want := range map[string]string{
			"my_server_greet":        "/my_server_greet needs the argument name: write /my_server_greet name=…",
			"my_server_a_b_248c9337": "the MCP server My Server: no a.b (-32602)",
			"my_server_steer":        `/my_server_steer needs the argument x\x1b[2J: write /my_server_steer x\x1b[2J=…`,
			"other":                  "no MCP server that is connected has the prompt /other",
		} {
			if _, err := b.Prompt(t.Context(), command, nil); err == nil || err.Error() != want {
				t.Errorf("Prompt(%s) = %v, want %q", command, err, want)
			}
		}

		a.set(func() { a.Prompts = nil }, client.Prompts)
		time.Sleep(time.Second)
		if got := b.Prompts(); len(got) != 1 || got[0].Server != "my" {
			t.Errorf("after a change Prompts() = %+v", got)
		}
		a.die(errExit)
		synctest.Wait()
		if len(changes) < 2 {
			t.Errorf("told %d times of a change and an outage", len(changes))
		}
	})
}

func TestWatchEnds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a := &fake{}
		w := newWorld(map[string]*fake{"a": a})
		b := open(t, w.pool(t), program("a"))
		running := false
		stop := b.Watch(func() { running = true; time.Sleep(time.Second); running = false })
		message(t, b)
		synctest.Wait()
		stop()
		stop()
		if running {
			t.Error("stop did not wait")
		}
		a.set(func() {}, client.Prompts)
		time.Sleep(time.Minute)
	})
}

func TestResources(t *testing.T) { // C-27
	bubble(t, func(t *testing.T) {
		reads := func(owner string) func(string) ([]server.Part, error) {
			return func(uri string) ([]server.Part, error) {
				if uri == "memo://gone" {
					return nil, errors.New("reading " + uri + ": no such memo")
				}
				return []server.Part{{URI: uri, Text: owner}}, nil
			}
		}
		b1 := &fake{Resources: []server.Resource{{URI: "memo://{+path}", Template: true}, {URI: "memo://{n}", Template: true}}, OnRead: reads("general")}
		b2 := &fake{Resources: []server.Resource{{URI: "memo://7", Name: "seven"}, {URI: "{broken", Template: true}}, OnRead: reads("particular")}
		w := newWorld(map[string]*fake{"general": b1, "particular": b2})
		b := open(t, w.pool(t), programs("general", "particular")...)
		message(t, b)
		synctest.Wait()
		got := b.Resources()
		if len(got) != 4 || got[2] != (server.Resource{Server: "particular", URI: "memo://7", Name: "seven"}) {
			t.Errorf("Resources() = %+v", got)
		}
		tests := []struct {
			uri, want string
			owned     bool
			err       string
		}{
			{"memo://7", "particular", true, ""},
			{"memo://8", "general", true, ""},
			{"memo://a/b", "general", true, ""},
			{"file:///etc/passwd", "", false, ""},
			{"memo://gone", "", true, "the MCP server general: reading memo://gone: no such memo"},
		}
		for _, tt := range tests {
			parts, owned, err := b.Read(t.Context(), tt.uri)
			text := ""
			if len(parts) > 0 {
				text = parts[0].Text
			}
			if text != tt.want || owned != tt.owned || fmt.Sprint(err) != fmt.Sprint(orNil(tt.err)) {
				t.Errorf("Read(%s) = %q, %v, %v", tt.uri, text, owned, err)
			}
		}
	})
}

// Templates that an address would be held against for minutes do not hold up a message.
func TestTemplatesCostLittle(t *testing.T) {
	crowd := func(before int) []string {
		return append(slices.Repeat([]string{"other://{a}"}, before), "memo://{a}")
	}
	tests := []struct {
		name      string
		templates []string
		uri       string
		want      bool // is of the server
	}{
		{"several variables", []string{"memo://{a}/{b}/{c}{?d,e,f}"}, "memo://1/2/3?d=4&e=5&f=6", true},
		{"another beginning", []string{"memo://{a}"}, "file://1", false},
		{"another end", []string{"memo://{a}/x"}, "memo://1/y", false},
		{"a directory is no name", []string{"memo://{a}"}, "memo://1/2", false},
		{"a reserved value", []string{"memo://{+a}"}, "memo://1/2?3#4", true},
		{"a path", []string{"memo://x{/a*}"}, "memo://x/1/2", true},
		{"a point is no pattern", []string{"memo://a.b/{c}"}, "memo://axb/1", false},
		{"no value", []string{"memo://x{?q}"}, "memo://x", true},
		{"no end", []string{"memo://{a"}, "memo://1", false},
		{"no variable", []string{"memo://{}"}, "memo://1", false},
		{"many expressions", []string{strings.Repeat("{+a}", 17)}, "memo://1", false},
		{"one that is cut late", []string{"memo://" + strings.Repeat("{+a:9999}", 8) + "!"}, "memo://1!", true},
		{"a long template", []string{"memo://" + strings.Repeat("x", 1024) + "{a}"}, "memo://" + strings.Repeat("x", 1025), false},
		{"a long address", []string{"memo://{a}"}, "memo://" + strings.Repeat("x", 2048), false},
		{"64 templates", crowd(63), "memo://1", true},
		{"more", crowd(64), "memo://1", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				a := &fake{OnRead: func(uri string) ([]server.Part, error) { return []server.Part{{URI: uri}}, nil }}
				for _, template := range tt.templates {
					a.Resources = append(a.Resources, server.Resource{URI: template, Template: true})
				}
				w := newWorld(map[string]*fake{"a": a})
				b := open(t, w.pool(t), program("a"))
				message(t, b)
				synctest.Wait()
				if _, got, err := b.Read(t.Context(), tt.uri); got != tt.want || err != nil {
					t.Errorf("it is of the server: %v, want %v; %v", got, tt.want, err)
				}
			})
		})
	}
}

func orNil(text string) error {
	if text == "" {
		return nil
	}
	return errors.New(text)
}
