package harness_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/prompt"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/server"
	"github.com/lorimer-dev/lorimer/tools/toolstest"
)

// serving gives a session servers.
func serving(set server.Set) func(*harness.Spec) {
	return func(sp *harness.Spec) { sp.Servers = set }
}

// notices returns the texts of the notices that were told, in order.
func (r *recorder) notices() (texts []string) {
	for _, e := range r.all() {
		if n, ok := e.(event.Notice); ok {
			texts = append(texts, n.Text)
		}
	}
	return texts
}

// metas returns the metadata of the tool calls and then of the messages, as they were
// told.
func (r *recorder) metas() (calls, messages []string) {
	for _, e := range r.all() {
		switch e := e.(type) {
		case event.ToolCall:
			if e.New {
				calls = append(calls, string(e.Meta))
			}
		case event.Done:
			messages = append(messages, string(e.Meta))
		}
	}
	return calls, messages
}

func TestContactBegins(t *testing.T) { // R-ACP-13, R-TOOLS-21
	tests := []struct {
		name   string
		change func(*fixture)
		option string
		want   int
	}{
		{"with tools", func(*fixture) {}, harness.ToolsOn, 1},
		{"with tools switched off", func(*fixture) {}, harness.ToolsOff, 0},
		{"with a model that takes none", func(f *fixture) { f.settings.model.NoTools = true }, harness.ToolsOn, 0},
		{"with a model of which that is not known", func(f *fixture) { f.settings.model.Unsure = true }, harness.ToolsOn, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture()
			tt.change(f)
			set := &toolstest.Servers{}
			s := f.open(t, serving(set))
			setOption(t, s, harness.OptionTools, tt.option)
			if begun, asked := set.Contacts(); begun+asked != 0 {
				t.Errorf("an open session has begun the contact %d times", begun)
			}
			s.Begin()
			if begun, _ := set.Contacts(); begun != tt.want {
				t.Errorf("the contact was begun %d times, want %d", begun, tt.want)
			}
		})
	}
	newFixture().open(t).Begin() // without servers

	set := &toolstest.Servers{}
	newFixture().open(t, serving(set), func(sp *harness.Spec) { sp.Choice = &harness.Choice{Model: "q/other"} }).Begin()
	if begun, _ := set.Contacts(); begun != 0 {
		t.Error("the contact was begun for a model that nobody knows")
	}
}

// What is told while a send waits for servers is told at once, whatever it was told
// before; a look at the next send tells nothing.
func TestServersAreToldAtOnce(t *testing.T) { // R-MCP-09
	f := newFixture()
	f.script.steps = []step{says("x")}
	set := &toolstest.Servers{Notices: []string{"waiting"}}
	rec := &recorder{}
	set.OnTools = func(context.Context) error {
		if slices.Equal(rec.notices(), nil) {
			t.Error("the notice is not told while the send waits")
		}
		return nil
	}
	s := f.open(t, serving(set))
	for range 2 {
		if _, err := prompted(t, s, t.Context(), "go", rec); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"waiting", "waiting"}, rec.notices()); diff != "" {
		t.Errorf("notices (-want +got):\n%s", diff)
	}
	if _, err := s.Preview(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestCancelWhileServersAreAwaited(t *testing.T) { // R-ACP-26
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		f.script.steps = []step{says("x")}
		set := &toolstest.Servers{OnTools: func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}}
		s := f.open(t, serving(set))
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		start := time.Now()
		out, err := prompted(t, s, ctx, "go", &recorder{})
		if err != nil || out.Stop != harness.Cancelled || time.Since(start) != time.Second {
			t.Errorf("outcome = %+v, %v after %v; want cancelled after 1s", out, err, time.Since(start))
		}
		set.OnTools = nil
		if _, rec := ask(t, s, "again"); rec.text() != "x" {
			t.Errorf("the next answer is %q", rec.text())
		}
	})
}

// The first that is registered has the name, and that is this program.
func TestNameOfABuiltInTool(t *testing.T) { // R-MCP-05
	f := newFixture(toolstest.Answer("s_look", tools.Result{Text: "ours"}))
	f.script.steps = []step{wants(want{"a", "s_look", "{}"}, want{"b", "s_more", "{}"}), says("x")}
	theirs := toolstest.Of("Their server", "s", "look", toolstest.Answer("", tools.Result{Text: "theirs"}))
	set := &toolstest.Servers{ToolList: []tools.Tool{theirs, toolstest.Of("Their server", "s", "more", toolstest.Echo(""))}}
	s := f.open(t, serving(set))
	_, rec := ask(t, s, "go")
	ask(t, s, "again")
	if got := resultsOf(f.script.requests()[1]); !slices.Equal(got, []string{"ours", "{}"}) {
		t.Errorf("results = %q", got)
	}
	notices := rec.notices()
	if len(notices) != 1 || !strings.Contains(notices[0], "Their server") || !strings.Contains(notices[0], "s_look") || !strings.Contains(notices[0], "lorimer has") {
		t.Errorf("notices = %q, want one with both owners", notices)
	}
}

func TestServersInThePrompt(t *testing.T) { // R-MCP-15
	f := newFixture(toolstest.Echo("look"))
	f.script.steps = []step{says("x")}
	writes := mutating(toolstest.Echo(""))
	set := &toolstest.Servers{ToolList: []tools.Tool{
		toolstest.Of("Zoo", "zoo", "a", toolstest.Echo("")), toolstest.Of("Zoo", "zoo", "b", toolstest.Echo("")), toolstest.Of("Zoo", "zoo", "c", toolstest.Echo("")),
		toolstest.Of("Ant", "ant", "a", toolstest.Echo("")), toolstest.Of("Pen", "pen", "write", writes),
	}}
	s := f.open(t, serving(set))
	ask(t, s, "go")
	if err := s.SetMode(t.Context(), "read-only"); err != nil {
		t.Fatal(err)
	}
	ask(t, s, "go")
	set.ToolList = nil
	ask(t, s, "go")
	want := []string{"- ant (1 tool)\n- pen (1 tool)\n- zoo (3 tools)\n", "- ant (1 tool)\n- zoo (3 tools)\n", ""}
	for i, r := range f.script.requests() {
		_, section, told := strings.Cut(r.System+"\n\n", "# Connected MCP servers")
		if want[i] == "" {
			if told {
				t.Errorf("request %d tells of servers without tools", i)
			}
			continue
		}
		if !strings.Contains(section, "\n\n"+want[i]) {
			t.Errorf("request %d says %.400q, want the lines %q", i, section, want[i])
		}
	}
	if tr := f.traces[1]; tr.Harness != "reused" {
		t.Errorf("the mode has rebuilt the harness: %v", tr.Changed)
	}
}

func TestReconnectedServersAreNotInTheSignature(t *testing.T) { // R-MCP-21, R-HARN-03
	f := newFixture()
	f.script.steps = []step{says("x")}
	list := func() []tools.Tool {
		return []tools.Tool{toolstest.Of("s", "s", "a", toolstest.Echo("")), toolstest.Of("s", "s", "b", toolstest.Echo(""))}
	}
	set := &toolstest.Servers{ToolList: list()}
	s := f.open(t, serving(set))
	ask(t, s, "one")
	set.ToolList = list() // other handles of the same tools
	slices.Reverse(set.ToolList)
	ask(t, s, "two")
	if f.traces[0].Signature != f.traces[1].Signature || f.traces[1].Harness != "reused" {
		t.Errorf("traces = %+v, want one signature", f.traces)
	}
}

func TestOrderNamesToolsOfAbsentServers(t *testing.T) { // R-MCP-16, C-03, R-PROMPT-20e
	tests := []struct {
		name    string
		listed  string
		noTools bool
		ok      bool
	}{
		{"of a server that was lost", "lost_tool", false, true},
		{"of a server that nobody has reached", "dead_any", false, true},
		{"of no server", "gone_tool", false, false},
		{"for a model without tools", "dead_any", true, true},
		{"of no server for a model without tools", "gone_tool", true, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(toolstest.Echo("look"))
			f.script.steps = []step{says("x")}
			f.settings.model.NoTools = tt.noTools
			f.settings.facts.ToolOrder = &[]string{tt.listed, "look", prompt.Unlisted}
			set := &toolstest.Servers{KnownNames: []string{"lost_tool"}, KnownPrefixes: []string{"dead_"}}
			_, err := prompted(t, f.open(t, serving(set)), t.Context(), "go", &recorder{})
			if (err == nil) != tt.ok {
				t.Errorf("error = %v, want ok %v", err, tt.ok)
			}
		})
	}
}

// A model may remember a tool whose server is away.
func TestCallOfAToolThatIsAway(t *testing.T) { // C114, R-TOOLS-23
	f := newFixture()
	f.script.steps = []step{wants(want{"a", "lost_tool", "{}"}), says("x")}
	s := f.open(t, serving(&toolstest.Servers{KnownNames: []string{"lost_tool"}}))
	ask(t, s, "go")
	if got, want := results(f.entries(t, s))[0], "lost_tool is not available for this message."; got != want {
		t.Errorf("the model reads %q, want %q", got, want)
	}
}

// Only what was invoked is told, with the call and with its message, and all the same
// when the server is gone.
func TestWhoseToolACallIsOf(t *testing.T) { // R-MCP-07, R-MCP-08
	f := newFixture(toolstest.Echo("look"))
	f.script.steps = []step{wants(want{"a", "my_server_x_say", "{}"}, want{"b", "look", "{}"}), says("done")}
	say := toolstest.Of("My server", "my_server", "x.say", toolstest.Echo(""))
	say.Describe.Name, say.Describe.Origin.Icon = "my_server_x_say", "https://s.test/i.png"
	set := &toolstest.Servers{ToolList: []tools.Tool{say, toolstest.Of("Other", "other", "x", toolstest.Echo(""))}}
	s := f.open(t, serving(set))
	_, rec := ask(t, s, "go")
	const origin = `{"server":"My server","prefix":"my_server","address":"/bin/My server","icon":"https://s.test/i.png","tool":"x.say"}`
	wantCalls := []string{`{"mcpTool":` + origin + `}`, ""}
	calls, messages := rec.metas()
	if diff := cmp.Diff(wantCalls, calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if want := []string{`{"model":"p/m","harness":"built"}`}; !slices.Equal(messages, want) {
		t.Errorf("messages = %q, want %q", messages, want)
	}
	calling := f.entries(t, s)[1].(thread.Assistant)
	if want := `{"model":"p/m","harness":"built","mcpTools":{"my_server_x_say":` + origin + `}}`; string(calling.Meta) != want {
		t.Errorf("the message that calls has %s, want %s", calling.Meta, want)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}

	gone, err := f.engine.Load(t.Context(), harness.Spec{ID: s.ID(), FS: files{}})
	if err != nil {
		t.Fatal(err)
	}
	again := &recorder{}
	if err := gone.Replay(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	if calls, _ := again.metas(); !cmp.Equal(wantCalls, calls) {
		t.Errorf("after a load %q, want %q", calls, wantCalls)
	}
}

// A call that was cut off is known by the metadata of the message that has made it, and
// by its exact name.
func TestWhoseToolACutCallWasOf(t *testing.T) { // R-MCP-08, R-HARN-29
	const origin = `{"server":"s","prefix":"s","address":"/bin/s","tool":"die"}`
	f := newFixture()
	err := f.threads.Create(t.Context(), "cut", thread.Created{Cwd: "/space"},
		thread.User{MessageID: "u", Blocks: []event.Block{{Text: "go"}}, Sent: []thread.Part{{Text: "go"}}},
		thread.Assistant{
			Parts: []thread.Part{{Call: &thread.Call{ID: "c1", Name: "s_die", Args: "{}"}}, {Call: &thread.Call{ID: "c2", Name: "s_die_2", Args: "{}"}}},
			Meta:  json.RawMessage(`{"model":"p/m","mcpTools":{"s_die":` + origin + `}}`),
		})
	if err != nil {
		t.Fatal(err)
	}
	f.start(t)
	s, err := f.engine.Load(t.Context(), harness.Spec{ID: "cut", FS: files{}})
	if err != nil {
		t.Fatal(err)
	}
	rec := &recorder{}
	if err := s.Replay(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	calls, _ := rec.metas()
	if want := []string{`{"mcpTool":` + origin + `}`, ""}; !slices.Equal(calls, want) {
		t.Errorf("calls = %q, want %q", calls, want)
	}
}

// The pictures of a result go to the model, and to the client with the end of the call
// and with a replay.
func TestPicturesOfAResult(t *testing.T) { // R-MCP-17
	picture := tools.Image{MIME: "image/png", Data: []byte("\x89PNG\r\n\x1a\n")}
	f := newFixture()
	f.script.steps = []step{wants(want{"a", "s_draw", "{}"}), says("x")}
	draw := toolstest.Of("s", "s", "draw", toolstest.Answer("", tools.Result{Images: []tools.Image{picture}}))
	s := f.open(t, serving(&toolstest.Servers{ToolList: []tools.Tool{draw}}))
	_, live := ask(t, s, "go")
	again := &recorder{}
	if err := s.Replay(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	for name, rec := range map[string]*recorder{"live": live, "replayed": again} {
		var got [][]tools.Image
		for _, e := range rec.all() {
			if c, ok := e.(event.ToolCall); ok && c.Status == event.Completed {
				got = append(got, c.Images)
			}
		}
		if diff := cmp.Diff([][]tools.Image{{picture}}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if shown := f.entries(t, s)[2].(thread.Result).Shown; shown.Images != nil {
		t.Error("a picture is kept twice")
	}
}

func TestProgressIsLiveOutput(t *testing.T) { // R-MCP-18
	f := newFixture()
	f.script.steps = []step{wants(want{"a", "s_sleep", "{}"}), says("x")}
	set := &toolstest.Servers{ToolList: []tools.Tool{toolstest.Of("s", "s", "sleep", toolstest.Chatty("", "1 of 2\n", "2 of 2\n"))}}
	_, rec := ask(t, f.open(t, serving(set)), "go")
	var live string
	for _, e := range rec.all() {
		if o, ok := e.(event.Output); ok {
			live += o.Data
		}
	}
	if live != "1 of 2\n2 of 2\n" {
		t.Errorf("live output = %q", live)
	}
}

func TestSessionClosesItsServers(t *testing.T) { // R-MCP-11, R-ACP-05
	t.Run("beside what runs", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(toolstest.Block("block"))
			f.script.steps = []step{wants(want{"a", "block", "{}"})}
			set := &toolstest.Servers{}
			s := f.open(t, serving(set))
			slot, err := s.Enter()
			if err != nil {
				t.Fatal(err)
			}
			go slot.Prompt(t.Context(), harness.Input{Blocks: []event.Block{{Text: "go"}}}, &recorder{})
			synctest.Wait()
			if err := s.Close(t.Context()); err != nil || !set.Closed() || set.Watched() != 0 {
				t.Errorf("Close = %v, closed %v, %d watch", err, set.Closed(), set.Watched())
			}
		})
	})
	t.Run("not longer than the context", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture()
			set := &toolstest.Servers{OnClose: func(ctx context.Context) error {
				<-ctx.Done()
				return ctx.Err()
			}}
			s := f.open(t, serving(set))
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			start := time.Now()
			if err := s.Close(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 5*time.Second {
				t.Errorf("Close = %v after %v, want the end of the context after 5s", err, time.Since(start))
			}
			set.OnClose = nil
			if err := s.Close(t.Context()); err != nil {
				t.Errorf("closed again: %v", err)
			}
		})
	})
}

func TestAdvice(t *testing.T) { // R-HARN-14
	f := newFixture()
	f.script.steps = []step{says("x")}
	advice := func(texts ...string) (all []server.Advice) {
		for i, text := range texts {
			all = append(all, server.Advice{Server: string(rune('a' + i)), Prefix: string(rune('a' + i)), Text: text})
		}
		return all
	}
	set := &toolstest.Servers{}
	s := f.open(t, serving(set))
	for _, now := range [][]server.Advice{nil, advice("one", " "), advice("one"), nil, advice("one", "two"), advice("ONE", "two"), advice("one", "two")} {
		set.AdviceList = now
		ask(t, s, "go")
	}
	if _, err := retry(t, s, &recorder{}); err != nil {
		t.Fatal(err)
	}
	note := func(server, text string) string {
		return prompt.AdviceNote([]prompt.Advice{{Server: server, Prefix: server, Text: text}}).Text
	}
	want := []string{"", note("a", "one"), "", "", note("b", "two"), note("a", "ONE"), note("a", "one"), note("a", "one")}
	reqs := f.script.requests()
	for i, r := range reqs {
		got := lastText(r)
		if before, _, _ := strings.Cut(got, "go\n"); before != strings.TrimPrefix(want[i]+"\n\n", map[bool]string{true: "\n\n"}[want[i] == ""]) {
			t.Errorf("message %d begins %q, want %q", i, before, want[i])
		}
		if i > 0 && i < len(reqs)-1 && reuse(t, reqs[i-1], r) != 1 {
			t.Errorf("request %d does not begin with the one before", i)
		}
		if strings.Contains(r.System, "one") && strings.Contains(r.System, "server-advice") {
			t.Error("the advice of a stranger is in the system string")
		}
	}

	// A process that reads the thread repeats it byte for byte, and does not tell again.
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	again, err := f.engine.Load(t.Context(), harness.Spec{ID: s.ID(), FS: files{}, Servers: set, Client: prompt.Client{Name: "test", Version: "1"}})
	if err != nil {
		t.Fatal(err)
	}
	ask(t, again, "go")
	loaded := f.script.requests()[len(reqs)]
	if got := reuse(t, reqs[len(reqs)-1], loaded); got != 1 || strings.Contains(lastText(loaded), "server-advice") {
		t.Errorf("after a load %.2f of the request is the same, and it ends with %q", got, lastText(loaded))
	}
}

func TestStatusCommands(t *testing.T) { // R-ACP-29, R-MCP-20
	f := newFixture()
	set := &toolstest.Servers{
		StatusList: []server.Status{
			{Name: "Docs", Prefix: "docs", State: server.Connected, Kind: "stdio", Address: "docs-mcp", Source: "config.toml:3", Tools: []string{"docs_find"}, Prompts: 2},
			{Name: "dead", Prefix: "dead", State: server.Failed, Kind: "http", Address: "https://d.test", Source: "editor", Attempts: 10, LastError: "no route"},
		},
		ResourceList: []server.Resource{{Server: "Docs", URI: "memo://{n}", Name: "memo", MIME: "text/plain", Description: "A memo", Template: true}},
	}
	s := f.open(t, serving(set))
	_, rec := ask(t, s, "/mcp")
	for _, line := range []string{
		"- `Docs` (stdio `docs-mcp`, from config.toml:3): connected, 1 tool, 2 prompts, 0 resources\n  - `docs_find`",
		"- `dead` (http `https://d.test`, from editor): failed, 10 attempts. no route",
	} {
		if !strings.Contains(rec.text(), line) {
			t.Errorf("/mcp says %q, without %q", rec.text(), line)
		}
	}
	_, rec = ask(t, s, "/resources")
	if want := "- `@docs:memo://{n}` memo (text/plain): A memo"; !strings.Contains(rec.text(), want) {
		t.Errorf("/resources says %q, without %q", rec.text(), want)
	}
	if n := len(f.script.requests()); n != 0 {
		t.Errorf("the model was asked %d times", n)
	}
	status, err := json.Marshal(s.Servers())
	if err != nil || !strings.Contains(string(status), `"state":"failed"`) {
		t.Errorf("Servers = %s, %v", status, err)
	}

	f = newFixture()
	f.script.steps = []step{says("x")}
	for _, sp := range []func(*harness.Spec){serving(&toolstest.Servers{}), func(*harness.Spec) {}} {
		s := f.open(t, sp)
		if slices.ContainsFunc(s.Commands(), func(c harness.Command) bool { return c.Name == "mcp" || c.Name == "resources" }) {
			t.Error("a session without servers has commands for them")
		}
		if _, rec := ask(t, s, "/mcp"); rec.text() != "x" {
			t.Errorf("/mcp without servers says %q", rec.text())
		}
	}
}
