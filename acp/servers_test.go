package acp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/acp"
	"github.com/lorimer-dev/lorimer/acp/acptest"
	"github.com/lorimer-dev/lorimer/harness/store/memory"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/mcpbridge"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/server"
	"github.com/lorimer-dev/lorimer/tools/toolstest"
)

// echoing returns servers as the editor declares them, each with a tool that echoes.
func echoing(sv acp.Servers) *toolstest.Servers {
	set := &toolstest.Servers{}
	for _, s := range sv.Editor {
		address := s.Command + s.URL
		echo := toolstest.Of(s.Name, s.Name, "echo", toolstest.Echo(""))
		echo.Describe.Origin.Address = address
		set.ToolList = append(set.ToolList, echo)
		set.StatusList = append(set.StatusList, server.Status{
			Name: s.Name, Prefix: s.Name, State: server.Connected, Kind: string(s.Kind), Address: address, Source: s.Source,
			Tools: []string{s.Name + "_echo"},
		})
	}
	return set
}

// A switchboard keeps what was asked of it, and the sets that it has given out.
type switchboard struct {
	prepare func(acp.Servers, *toolstest.Servers) // changes a set before it is given out; nil is nothing
	err     error

	mu    sync.Mutex // guards the fields below
	asked []acp.Servers
	sets  []*toolstest.Servers
}

func (b *switchboard) connect(sv acp.Servers) (server.Set, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return nil, b.err
	}
	set := echoing(sv)
	if b.prepare != nil {
		b.prepare(sv, set)
	}
	b.asked, b.sets = append(b.asked, sv), append(b.sets, set)
	return set, nil
}

// last returns the last set that was given out.
func (b *switchboard) last() (acp.Servers, *toolstest.Servers) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.asked[len(b.asked)-1], b.sets[len(b.sets)-1]
}

// state says of each set whether it was contacted, and whether it is closed.
func (b *switchboard) state() (out []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.sets {
		begun, _ := s.Contacts()
		out = append(out, fmt.Sprint(map[bool]string{true: "begun", false: "idle"}[begun > 0], map[bool]string{true: " closed", false: ""}[s.Closed()]))
	}
	return out
}

// serversLine is a session/new or a load of the session s with MCP servers.
func serversLine(id int, method, dir, servers string) string {
	session := `"sessionId":"s"`
	if method == "session/new" {
		session = `"_meta":{"lorimer.dev":{"sessionId":"s"}}`
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s,"cwd":%q,"mcpServers":%s}}`, id, method, session, dir, servers)
}

func TestServersOfTheEditor(t *testing.T) { // R-MCP-01, R-ACP-13, C023
	tests := []struct {
		name    string
		servers string
		want    []mcpbridge.Server // without their source
		field   string             // that is wrong
	}{
		{"none", `null`, nil, ""},
		{"an empty list", `[]`, nil, ""},
		{"a program without a type and without variables", `[{"name":"a","command":"/bin/a","args":[]}]`,
			[]mcpbridge.Server{{Name: "a", Kind: mcpbridge.Stdio, Command: "/bin/a"}}, ""},
		{"a program with all", `[{"type":"stdio","name":"a b","command":"a","args":["-x","y z"],"env":[{"name":"K","value":"1"},{"name":"L","value":""},{"name":"K","value":"2"}]}]`,
			[]mcpbridge.Server{{Name: "a b", Kind: mcpbridge.Stdio, Command: "a", Args: []string{"-x", "y z"}, Env: map[string]string{"K": "2", "L": ""}}}, ""},
		{"addresses", `[{"type":"http","name":"d","url":"https://d.test/","headers":[{"name":"Authorization","value":"Bearer x"}]},{"type":"sse","name":"e","url":"https://e.test/","headers":null,"_meta":{}}]`,
			[]mcpbridge.Server{
				{Name: "d", Kind: mcpbridge.HTTP, URL: "https://d.test/", Headers: map[string]string{"Authorization": "Bearer x"}},
				{Name: "e", Kind: mcpbridge.SSE, URL: "https://e.test/"},
			}, ""},
		{"an empty name", `[{"name":"","command":"a"}]`, []mcpbridge.Server{{Kind: mcpbridge.Stdio, Command: "a"}}, ""},
		{"no list", `{}`, nil, "mcpServers"},
		{"no object", `["a"]`, nil, "mcpServers[0]"},
		{"no name", `[{"command":"a"}]`, nil, "mcpServers[0].name"},
		{"no command", `[{"name":"a"}]`, nil, "mcpServers[0].command"},
		{"no address", `[{"name":"b","command":"b"},{"name":"a","type":"http"}]`, nil, "mcpServers[1].url"},
		{"another type", `[{"name":"a","type":"websocket","url":"wss://a.test"}]`, nil, "mcpServers[0].type"},
		{"arguments that are none", `[{"name":"a","command":"a","args":"-x"}]`, nil, "mcpServers[0].args"},
		{"an argument that is none", `[{"name":"a","command":"a","args":["-x",1]}]`, nil, "mcpServers[0].args[1]"},
		{"variables in an object", `[{"name":"a","command":"a","env":{"K":"1"}}]`, nil, "mcpServers[0].env"},
		{"a variable without a value", `[{"name":"a","command":"a","env":[{"name":"K","value":"1"},{"name":"L"}]}]`, nil, "mcpServers[0].env[1].value"},
		{"a header that is none", `[{"name":"a","type":"http","url":"https://a.test","headers":["x"]}]`, nil, "mcpServers[0].headers[0].name"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &switchboard{}
				e := acptest.Open(t, rig{model: `{"text":"x"}`, connect: b.connect}.serve(t))
				dir := t.TempDir()
				e.Say(initialize, serversLine(1, "session/new", dir, tt.servers))
				answer := acptest.Answer(t, acptest.Messages(t, e.Hear()), "1")
				if tt.field != "" {
					if answer.Error == nil || answer.Error.Code != -32602 || answer.Error.Data["field"] != tt.field {
						t.Errorf("answer = %+v, want -32602 of %s", answer.Error, tt.field)
					}
					return
				}
				if answer.Error != nil {
					t.Fatal(answer.Error)
				}
				sv, _ := b.last()
				if sv.Session != "s" || sv.Dirs.Cwd != dir || sv.Host == nil {
					t.Errorf("servers are wanted for %+v", sv)
				}
				for i, s := range sv.Editor {
					if s.Source == "" || !s.Editor {
						t.Errorf("nobody has declared %s", s.Name)
					}
					sv.Editor[i].Source, sv.Editor[i].Editor = "", false
				}
				if diff := cmp.Diff(tt.want, sv.Editor); diff != "" {
					t.Errorf("servers (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// The servers are those of the latest request. The same ones stay connected; others take
// their place when they have ended.
func TestServersOfALoad(t *testing.T) { // C097, R-ACP-15
	const (
		one   = `[{"name":"a","command":"a","env":[{"name":"KEY","value":"sk-secret"}]}]`
		again = `[{"env":[{"value":"sk-secret","name":"KEY"}],"command":"a","args":[],"name":"a"}]`
		other = `[{"name":"a","command":"a","env":[{"name":"KEY","value":"sk-other"}]}]`
	)
	for _, method := range []string{"session/load", "session/resume"} {
		t.Run(method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &switchboard{}
				threads := memory.New(nil)
				e := acptest.Open(t, rig{model: `{"text":"x","repeat":true}`, connect: b.connect, threads: threads}.serve(t))
				dir := t.TempDir()
				step := func(line string, want ...string) {
					t.Helper()
					e.Say(line)
					for _, m := range acptest.Messages(t, e.Hear()) {
						if m.Error != nil {
							t.Fatal(m.Error)
						}
					}
					if got := b.state(); !slices.Equal(got, want) {
						t.Errorf("after %.60s: %q, want %q", line, got, want)
					}
				}
				e.Say(initialize)
				step(serversLine(1, "session/new", dir, one), "begun")
				step(serversLine(2, method, dir, one), "begun")
				step(serversLine(3, method, dir, again), "begun")
				step(serversLine(4, method, dir, other), "begun closed", "begun")
				step(serversLine(5, method, dir, `[]`), "begun closed", "begun closed", "begun")
				step(closeLine(6), "begun closed", "begun closed", "begun closed")
				step(serversLine(7, method, dir, one), "begun closed", "begun closed", "begun closed", "begun")
				if sv, _ := b.last(); sv.Editor[0].Env["KEY"] != "sk-secret" {
					t.Errorf("the last servers are %+v", sv.Editor)
				}
				e.Say(promptLine(8, "s", "go"))
				e.Hear()
				err := threads.Read(t.Context(), "s", 0, func(en thread.Entry) error {
					_, data, err := thread.Encode(en.Body)
					if bytes.Contains(data, []byte("sk-")) {
						t.Errorf("the thread keeps a secret: %s", data)
					}
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

// No server is contacted while one of the session before still runs.
func TestServersEndBeforeOthersBegin(t *testing.T) { // C085
	synctest.Test(t, func(t *testing.T) {
		b := &switchboard{}
		b.prepare = func(_ acp.Servers, set *toolstest.Servers) {
			set.OnClose = func(context.Context) error {
				time.Sleep(time.Second)
				if got := b.state(); !slices.Equal(got, []string{"begun closed", "idle"}) {
					t.Errorf("while the first ends: %q", got)
				}
				return nil
			}
		}
		e := acptest.Open(t, rig{model: `{"text":"x"}`, connect: b.connect}.serve(t))
		dir := t.TempDir()
		e.Say(initialize, serversLine(1, "session/new", dir, `[]`))
		e.Hear()
		b.prepare = nil
		e.Say(serversLine(2, "session/load", dir, `[{"name":"b","command":"b"}]`))
		e.Hear()
		time.Sleep(2 * time.Second)
		acptest.Answer(t, acptest.Messages(t, e.Hear()), "2")
		if got := b.state(); !slices.Equal(got, []string{"begun closed", "begun"}) {
			t.Errorf("after the load: %q", got)
		}
	})
}

// However the contact with the client ends, no server is left.
func TestServersEndWithTheirSession(t *testing.T) { // R-ACP-05, R-MCP-11
	tests := []struct {
		name string
		end  func(*acptest.Editor)
		left bool // the agent goes on
	}{
		{"session/close", func(e *acptest.Editor) { e.Say(closeLine(9)) }, true},
		{"session/delete", func(e *acptest.Editor) {
			e.Say(`{"jsonrpc":"2.0","id":9,"method":"session/delete","params":{"sessionId":"s"}}`)
		}, true},
		{"end of input", (*acptest.Editor).End, false},
		{"a reader that is gone", func(e *acptest.Editor) { e.HangUp(); e.End() }, false},
		{"a signal", (*acptest.Editor).Stop, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &switchboard{}
				e := acptest.Open(t, rig{model: `{"text":"x"}`, connect: b.connect}.serve(t))
				e.Say(initialize, serversLine(1, "session/new", t.TempDir(), `[]`))
				e.Hear()
				tt.end(e)
				if !tt.left {
					if err := e.Wait(); err != nil {
						t.Error(err)
					}
				}
				e.Hear()
				if got := b.state(); !slices.Equal(got, []string{"begun closed"}) {
					t.Errorf("the servers are %q", got)
				}
			})
		})
	}
}

// A session that does not open leaves nothing behind.
func TestServersOfASessionThatDoesNotOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, s := &switchboard{}, &spaces{}
		e := acptest.Open(t, rig{model: `{"text":"x"}`, connect: b.connect, spaces: s}.serve(t))
		dir := t.TempDir()
		e.Say(initialize, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":%q,"_meta":{"lorimer.dev":{"project":"none"}}}}`, dir))
		answer := acptest.Answer(t, acptest.Messages(t, e.Hear()), "1")
		if answer.Error == nil || !slices.Equal(b.state(), []string{"idle closed"}) || s.left.Load() != 0 {
			t.Errorf("answer %v, servers %q, %d workspaces are left", answer.Error, b.state(), s.left.Load())
		}
		b.err = errors.New("config.toml:3: no such thing")
		e.Say(newSession("s", dir))
		answer = acptest.Answer(t, acptest.Messages(t, e.Hear()), `"s"`)
		if answer.Error == nil || s.left.Load() != 0 {
			t.Errorf("answer %v, %d workspaces are left", answer.Error, s.left.Load())
		}
	})
}

func TestCommandsFollowServers(t *testing.T) { // R-ACP-14
	synctest.Test(t, func(t *testing.T) {
		b := &switchboard{}
		e := acptest.Open(t, rig{model: `{"text":"x"}`, connect: b.connect}.serve(t))
		e.Say(initialize, serversLine(1, "session/new", t.TempDir(), `[{"name":"a","command":"a"}]`))
		if got, want := told(t, acptest.Messages(t, e.Hear())), []string{"retry usage mcp resources help"}; !slices.Equal(got, want) {
			t.Errorf("commands = %q, want %q", got, want)
		}
		_, set := b.last()
		set.PromptList = []server.Prompt{{Command: "a_greet", Server: "a", Name: "greet"}}
		set.Change()
		if got, want := told(t, acptest.Messages(t, e.Hear())), []string{"retry usage mcp resources help a_greet"}; !slices.Equal(got, want) {
			t.Errorf("commands = %q, want %q", got, want)
		}
	})
}

func TestStatusOfServers(t *testing.T) { // R-MCP-20, R-ACP-46
	status := func(e *acptest.Editor, id int) json.RawMessage {
		t.Helper()
		e.Say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"_lorimer.dev/mcp_status","params":{"sessionId":"s"}}`, id))
		a := acptest.Answer(t, acptest.Messages(t, e.Hear()), fmt.Sprint(id))
		if a.Error != nil {
			t.Fatal(a.Error)
		}
		return a.Result
	}
	synctest.Test(t, func(t *testing.T) {
		b := &switchboard{}
		e := acptest.Open(t, rig{model: `{"text":"x"}`, connect: b.connect}.serve(t))
		e.Say(initialize, serversLine(1, "session/new", t.TempDir(), `[{"name":"a","command":"/bin/a"}]`))
		e.Hear()
		const before = `{"servers":[{"name":"a","prefix":"a","state":"connected","kind":"stdio","address":"/bin/a","source":"the editor","attempts":0,"lastError":"","tools":["a_echo"],"prompts":0,"resources":0}]}`
		if got := status(e, 2); string(got) != before {
			t.Errorf("status = %s, want %s", got, before)
		}
		_, set := b.last()
		set.StatusList[0].State, set.StatusList[0].Attempts, set.StatusList[0].LastError, set.StatusList[0].Tools = server.Connecting, 2, "exited with 1", nil
		const after = `{"servers":[{"name":"a","prefix":"a","state":"connecting","kind":"stdio","address":"/bin/a","source":"the editor","attempts":2,"lastError":"exited with 1","tools":[],"prompts":0,"resources":0}]}`
		if got := status(e, 3); string(got) != after {
			t.Errorf("after an outage %s, want %s", got, after)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		e := acptest.Open(t, rig{model: `{"text":"x"}`}.serve(t))
		e.Say(initialize, newSession("s", t.TempDir()))
		e.Hear()
		if got := status(e, 2); string(got) != `{"servers":[]}` {
			t.Errorf("without servers: %s", got)
		}
		e.Say(`{"jsonrpc":"2.0","id":3,"method":"_lorimer.dev/mcp_state","params":{"sessionId":"s"}}`)
		if a := acptest.Answer(t, acptest.Messages(t, e.Hear()), "3"); a.Error == nil || a.Error.Code != -32601 {
			t.Errorf("an unknown method is answered by %+v", a)
		}
	})
}

// An asker is the tool a_ask, in whose calls a server asks the host of its session.
type asker struct {
	ask func(context.Context, server.Host)
}

func (a *asker) prepare(sv acp.Servers, set *toolstest.Servers) {
	tool := toolstest.Of("a", "a", "ask", toolstest.Echo(""))
	tool.OnRun = func(ctx context.Context, _ tools.Call) (tools.Result, error) {
		a.ask(ctx, sv.Host)
		return tools.Result{Text: "asked"}, nil
	}
	set.ToolList = append(set.ToolList, tool)
}

// calls is a model that calls the tool a_ask.
const calls = `{"match":{"kind":"sampling"},"text":"sampled"}` + "\n" + `{"tools":[{"name":"a_ask","args":{}}]}` + "\n" + `{"text":"done","repeat":true}`

func decoded(t *testing.T, text string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestElicitationOfServers(t *testing.T) { // R-ACP-45
	const schema = `{"type":"object","properties":{"name":{"type":"string","enum":["<a>","b"]}},"required":["name"]}`
	form := server.Elicitation{Message: "Who?", Schema: json.RawMessage(schema)}
	visit := server.Elicitation{Message: "Log in", URL: "https://a.test/login?x=1&y", ID: "e1"}
	formParams := `{"mode":"form","sessionId":"s","toolCallId":"c3-1","message":"The MCP server a asks: Who?","requestedSchema":` + schema + `}`
	visitParams := `{"mode":"url","sessionId":"s","toolCallId":"c3-1","message":"The MCP server a asks: Log in","elicitationId":"e1","url":"https://a.test/login?x=1&y"}`
	tests := []struct {
		name   string
		asks   server.Elicitation
		params string
		reply  string // "" is an error of that code
		code   int
		want   server.Reply
	}{
		{"a form that is filled in", form, formParams, `{"action":"accept","content":{"name":"b"}}`, 0, server.Reply{Action: "accept", Content: json.RawMessage(`{"name":"b"}`)}},
		{"a form that is accepted empty", form, formParams, `{"action":"accept","content":null}`, 0, server.Reply{Action: "accept"}},
		{"a form that is declined", form, formParams, `{"action":"decline","content":{"name":"b"}}`, 0, server.Reply{Action: "decline"}},
		{"a form that is closed", form, formParams, `{"action":"cancel"}`, 0, server.Reply{Action: "cancel"}},
		{"an action of its own", form, formParams, `{"action":"_later"}`, 0, server.Reply{Action: "cancel"}},
		{"no object", form, formParams, `[]`, 0, server.Reply{Action: "cancel"}},
		{"a method that is not known after all", form, formParams, "", -32601, server.Reply{Action: "decline"}},
		{"an error", form, formParams, "", -32603, server.Reply{Action: "cancel"}},
		{"an address", visit, visitParams, `{"action":"accept"}`, 0, server.Reply{Action: "accept"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var got server.Reply
				a := &asker{ask: func(ctx context.Context, h server.Host) {
					var err error
					if got, err = h.Elicit(ctx, "a", tt.asks); err != nil {
						t.Error(err)
					}
				}}
				b := &switchboard{prepare: a.prepare}
				e := acptest.Open(t, rig{model: calls, connect: b.connect}.serve(t))
				e.Say(eliciting, newSession("s", t.TempDir()), promptLine(2, "s", "go"))
				q := acptest.Request(t, acptest.Messages(t, e.Hear()), elicit)
				if diff := cmp.Diff(decoded(t, tt.params), decoded(t, string(q.Params))); diff != "" {
					t.Errorf("params (-want +got):\n%s", diff)
				}
				if tt.reply == "" {
					e.Refuse(q, tt.code)
				} else {
					e.Reply(q, tt.reply)
				}
				if got := stopReason(t, acptest.Messages(t, e.Hear()), "2"); got != "end_turn" {
					t.Errorf("the turn ends with %s", got)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("reply (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// No server can make a line that the editor does not read.
func TestLongElicitationIsDeclined(t *testing.T) {
	long := strings.Repeat("x", 300<<10)
	for _, asks := range []server.Elicitation{
		{Message: long, Schema: json.RawMessage(`{}`)}, {Schema: json.RawMessage(`{"title":"` + long + `"}`)}, {URL: "https://a.test/" + long}, {URL: "https://a.test", ID: long},
	} {
		synctest.Test(t, func(t *testing.T) {
			a := &asker{ask: func(ctx context.Context, h server.Host) {
				if got, err := h.Elicit(ctx, "a", asks); got.Action != "decline" || err != nil {
					t.Errorf("reply = %+v, %v; want that it is declined", got, err)
				}
			}}
			b := &switchboard{prepare: a.prepare}
			e := acptest.Open(t, rig{model: calls, connect: b.connect}.serve(t))
			e.Say(eliciting, newSession("s", t.TempDir()), promptLine(2, "s", "go"))
			if got := stopReason(t, acptest.Messages(t, e.Hear()), "2"); got != "end_turn" {
				t.Errorf("the turn ends with %s", got)
			}
		})
	}
}

// A cancel ends a question of a server with its call, and the turn at once.
func TestElicitationEndsWithTheTurn(t *testing.T) { // R-ACP-37, R-ACP-26
	synctest.Test(t, func(t *testing.T) {
		var got server.Reply
		a := &asker{ask: func(ctx context.Context, h server.Host) {
			got, _ = h.Elicit(context.WithoutCancel(ctx), "a", server.Elicitation{Message: "Who?", Schema: json.RawMessage(`{"type":"object"}`)})
		}}
		b := &switchboard{prepare: a.prepare}
		e := acptest.Open(t, rig{model: calls, connect: b.connect}.serve(t))
		e.Say(eliciting, newSession("s", t.TempDir()), promptLine(2, "s", "go"))
		acptest.Request(t, acptest.Messages(t, e.Hear()), elicit)
		e.Say(cancelLine("s"))
		if stop := stopReason(t, acptest.Messages(t, e.Hear()), "2"); stop != "cancelled" || got.Action != "cancel" {
			t.Errorf("the turn ends with %s, and the server hears %+v", stop, got)
		}
	})
}

func TestWhatAServerIsOffered(t *testing.T) { // R-ACP-11
	for capabilities, want := range map[string]server.Offers{
		`{}`:                                   {Sampling: true},
		`{"elicitation":{}}`:                   {Sampling: true},
		`{"elicitation":{"form":{}}}`:          {Form: true, Sampling: true},
		`{"elicitation":{"form":{},"url":{}}}`: {Form: true, URL: true, Sampling: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := &switchboard{}
			e := acptest.Open(t, rig{model: `{"text":"x"}`, connect: b.connect}.serve(t))
			dir, more := t.TempDir(), t.TempDir()
			e.Say(fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":%s}}`, capabilities),
				fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":%q,"additionalDirectories":[%q]}}`, dir, more))
			e.Hear()
			sv, _ := b.last()
			if got := sv.Host.Offers(); got != want {
				t.Errorf("%s: offers %+v, want %+v", capabilities, got, want)
			}
			if got, want := sv.Host.Roots(), []string{dir, more}; !slices.Equal(got, want) {
				t.Errorf("roots = %q, want %q", got, want)
			}
		})
	}
}

// A server may have the model answer where the user says yes to that very request, which
// is asked at the call that runs.
func TestSamplingOfServers(t *testing.T) { // R-ACP-42
	tests := []struct {
		name    string
		outcome string
		refused bool
	}{
		{"allowed", `{"outcome":{"outcome":"selected","optionId":"allow_once"}}`, false},
		{"rejected", `{"outcome":{"outcome":"selected","optionId":"reject_once"}}`, true},
		{"another option", `{"outcome":{"outcome":"selected","optionId":"allow_always"}}`, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var got server.Sampled
				var err error
				a := &asker{ask: func(ctx context.Context, h server.Host) {
					got, err = h.Sample(ctx, "a", server.Sampling{Messages: []server.Part{{Role: "user", Text: "What is it?"}}})
				}}
				b := &switchboard{prepare: a.prepare}
				e := acptest.Open(t, rig{model: calls, connect: b.connect}.serve(t))
				e.Say(initialize, newSession("s", t.TempDir()), promptLine(2, "s", "go"))
				q := acptest.Request(t, acptest.Messages(t, e.Hear()), "session/request_permission")
				for _, part := range []string{`"toolCallId":"c3-1"`, `"status":"in_progress"`, "What is it?", `"optionId":"allow_once"`} {
					if !strings.Contains(string(q.Params), part) {
						t.Errorf("the question is without %s: %s", part, q.Params)
					}
				}
				if strings.Contains(string(q.Params), "allow_always") {
					t.Errorf("the question offers an always: %s", q.Params)
				}
				e.Reply(q, tt.outcome)
				if got := stopReason(t, acptest.Messages(t, e.Hear()), "2"); got != "end_turn" {
					t.Errorf("the turn ends with %s", got)
				}
				if refused := errors.Is(err, server.ErrRefused); refused != tt.refused || !refused && (err != nil || got.Text != "sampled") {
					t.Errorf("the server hears %+v, %v; want a refusal: %v", got, err, tt.refused)
				}
			})
		})
	}
}
