package mcpbridge_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/mcpbridge"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport/web"
	"github.com/lorimer-dev/lorimer/tools/server"
)

// An office is where somebody logs in at all servers of a test.
type office struct{ token atomic.Value }

func (o *office) login(token string) { o.token.Store("Bearer " + token) }

func (o *office) Token(context.Context) (string, error) {
	token, _ := o.token.Load().(string)
	return token, nil
}

func (o *office) Refused(context.Context, string, int, string) (bool, error) { return false, nil }

// wants has a fake want the credential "good".
func (o *office) wants(f *fake) *fake {
	f.Fail = func(int) error {
		switch token, _ := o.Token(context.Background()); token {
		case "Bearer good":
			return nil
		case "":
			return &transport.StatusError{Status: 401, Challenge: "Bearer"}
		}
		return &transport.StatusError{Status: 401, Rejected: true}
	}
	return f
}

func (o *office) pool(t *testing.T, w *world) *mcpbridge.Pool {
	return w.pool(t, func(set *mcpbridge.Options) { set.Auth = func(mcpbridge.Server) web.Authorizer { return o } })
}

// Whoever has to log in is told so, and what to run, whether the attempt ends before the
// first message or within it, and in a session that is opened again too.
func TestLoginNotice(t *testing.T) { // R-MCP-19
	named := func(name string) mcpbridge.Server { s := address("a"); s.Name = name; return s }
	sent := func(name, url string) mcpbridge.Server { s := named(name); s.Editor, s.URL = true, url; return s }
	for _, tt := range []struct {
		name   string
		server mcpbridge.Server
		want   string
	}{
		{"a word", named("house"), "The MCP server house needs a login; run lorimer mcp login house."},
		{"words", named("my house"), `The MCP server my house needs a login; run lorimer mcp login "my house".`},
		{"something for a shell", named("$(rm x)"), "The MCP server $(rm x) needs a login; run lorimer mcp login with its name."},
		{"of the editor", sent("my house", "https://mcp.example/mcp"), "The MCP server my house needs a login; run lorimer mcp login https://mcp.example/mcp."},
		{"of the editor, secret", sent("house", "https://mcp.example/mcp?key=sesame"), "The MCP server house needs a login; run lorimer mcp login with its address."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var o office
				w := newWorld(map[string]*fake{tt.server.URL: o.wants(&fake{})})
				p := o.pool(t, w)
				b := open(t, p, tt.server)
				b.Begin()
				synctest.Wait() // the attempt is over
				for _, want := range [][]string{{tt.want}, nil} {
					if diff := cmp.Diff(send{Notices: want}, message(t, b), cmpSends); diff != "" {
						t.Errorf("send (-want +got):\n%s", diff)
					}
				}
				again := open(t, p, tt.server)
				if diff := cmp.Diff(send{Notices: []string{tt.want}}, message(t, again), cmpSends); diff != "" {
					t.Errorf("send of the next session (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// The first message after a login has the tools, or is told why not.
func TestFirstMessageAfterLogin(t *testing.T) { // C096
	for _, tt := range []struct {
		name  string
		token string
		delay time.Duration
		want  send
	}{
		{"quick", "good", 0, send{Names: []string{"a_x"}}},
		{"slow", "good", 3 * time.Second, send{Names: []string{"a_x"}, Notices: []string{"Waiting for MCP servers: a."}, Took: 3 * time.Second}},
		{"too slow", "good", time.Minute, send{Took: 5 * time.Second, Notices: []string{
			"Waiting for MCP servers: a.", "The MCP server a has not answered yet; its tools join the message after it has.",
		}}},
		{"in vain", "bad", 0, send{Notices: []string{"The MCP server a did not connect: credential rejected (HTTP 401); the next message tries again."}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var o office
				a := o.wants(&fake{Tools: toolsNamed("x")})
				w := newWorld(map[string]*fake{"a": a})
				b := open(t, o.pool(t, w), address("a"))
				message(t, b)
				a.set(func() { a.Delay = 20 * time.Second })
				if got := message(t, b); got.Took != 0 {
					t.Errorf("a message without a login took %v", got.Took)
				}
				time.Sleep(time.Minute) // that attempt has failed
				if got := status(t, b, "a"); got.State != server.NeedsLogin {
					t.Fatalf("status = %+v", got)
				}
				a.set(func() { a.Delay = tt.delay })
				o.login(tt.token)
				if diff := cmp.Diff(tt.want, message(t, b), cmpSends); diff != "" {
					t.Errorf("send (-want +got):\n%s", diff)
				}
				if n := len(w.tries()); n != 3 {
					t.Errorf("%d attempts, want 3", n)
				}
			})
		})
	}
}
