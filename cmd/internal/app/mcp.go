package app

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lorimer-dev/lorimer/acp"
	"github.com/lorimer-dev/lorimer/cmd/internal/config"
	"github.com/lorimer-dev/lorimer/mcpbridge"
	"github.com/lorimer-dev/lorimer/mcpbridge/discover"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport/web"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/server"
)

// approvalsFile is where the state directory keeps which servers of workspaces the user
// has approved.
const approvalsFile = "mcp-approved.json"

// Servers returns the MCP servers of a session in dir that are declared beside those of
// its editor, in their order, for who looks after them: what has no effect in the files
// is told, once.
func (a *App) Servers(dir string) ([]mcpbridge.Server, error) {
	c, err := a.config.read()
	if err != nil {
		return nil, err
	}
	found, warnings := declaredServers(c, a.vars(c, dir))
	a.warn(warnings, discover.Ignored)
	return discover.Join(found, nil), nil
}

// warn tells each warning once that has at least the weight least.
func (a *App) warn(warnings []discover.Warning, least discover.Weight) {
	for _, w := range warnings {
		if w.Weight <= least && a.warned.first(w) {
			a.o.Warn(config.Warning{File: w.File, Line: w.Line, Text: w.Text})
		}
	}
}

// notices are what the user of a session in dir should know of the servers that the
// directory declares.
func notices(dir string, found []discover.Found, warnings []discover.Warning) []string {
	var lines []string
	for _, w := range warnings {
		if w.Weight == discover.Wrong && w.File == filepath.Join(dir, discover.ProjectFile) {
			lines = append(lines, w.String())
		}
	}
	return append(lines, waiting(found)...)
}

// waiting tells the user of servers that are not used before they are approved.
func waiting(found []discover.Found) []string {
	var names []string
	for _, f := range found {
		if f.Waits() {
			names = append(names, strconv.Quote(tools.Line(f.Server.Name, 60)))
		}
	}
	if len(names) == 0 {
		return nil
	}
	const way = `"lorimer mcp approve NAME" in this directory allows one, "lorimer mcp revoke NAME" refuses it.`
	if len(names) == 1 {
		return []string{discover.ProjectFile + " declares the MCP server " + names[0] + ", which is off until you approve it: " + way}
	}
	return []string{discover.ProjectFile + " declares the MCP servers " + tools.Line(strings.Join(names, ", "), 200) +
		", which are off until you approve them: " + way}
}

// vars is what the variables in declarations stand for in a session in dir.
func (a *App) vars(c *config.Config, dir string) discover.Vars { return vars(c, a.o.Environ, dir) }

func vars(c *config.Config, environ []string, dir string) discover.Vars {
	env := make(map[string]string, len(environ))
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		env[name] = value
	}
	return discover.Vars{
		Env:  func(name string) (string, bool) { value, set := env[name]; return value, set },
		Home: c.Paths.Home, Workspace: dir,
	}
}

// declaredServers returns the servers that the configuration declares, then those of the
// files that it names, then those of the workspace (R-MCP-01), and what is wrong with
// any of them.
func declaredServers(c *config.Config, v discover.Vars) ([]discover.Found, []discover.Warning) {
	sources := []discover.Source{configured(c)}
	var warnings []discover.Warning
	failed := func(err error) {
		if e, ok := errors.AsType[*discover.FileError](err); ok {
			warnings = append(warnings, discover.Warning{File: e.File, Line: e.Line, Text: e.Err.Error()})
		}
	}
	for _, file := range c.ServerFiles() {
		s, more, err := discover.Read(file, v)
		sources, warnings = append(sources, s), append(warnings, more...)
		failed(err)
	}
	s, more, err := discover.ReadProject(v)
	sources, warnings = append(sources, s), append(warnings, more...)
	failed(err)
	approved, err := discover.LoadApprovals(approvalsOf(c))
	failed(err)
	found, more := discover.Merge(v, approved, sources...)
	return found, append(warnings, more...)
}

func approvalsOf(c *config.Config) string { return filepath.Join(c.Paths.State, approvalsFile) }

// configured returns the servers of the configuration itself.
func configured(c *config.Config) (s discover.Source) {
	for _, d := range c.Servers() {
		e := discover.Entry{File: c.Paths.Config, Server: mcpbridge.Server{
			Name: d.Name, Kind: mcpbridge.Kind(d.Type), Source: d.At,
			Command: d.Command, Args: d.Args, Env: d.Env, Dir: d.Cwd, URL: d.URL, Headers: d.Headers,
			Timeout: time.Duration(d.Timeout), Connect: time.Duration(d.Connect), Include: d.Include, Exclude: d.Exclude,
			OAuth: mcpbridge.OAuth{
				ClientID: d.OAuth.ClientID, ClientSecret: d.OAuth.ClientSecret, Scopes: d.OAuth.Scopes,
				CallbackPort: d.OAuth.CallbackPort, Metadata: d.OAuth.MetadataURL,
			},
			Silent: d.Instructions != nil && !*d.Instructions,
		}}
		switch {
		case d.Command != "":
			e.Kind = mcpbridge.Stdio
		case d.Type == "":
			e.Kind = mcpbridge.HTTP
		}
		if d.Include != nil && len(d.Include) == 0 { // which is none, where nil is all
			e.Exclude = []string{"*"}
		}
		if err := d.Check(); err != nil {
			e.Trouble = err.Error()
		}
		if d.Disabled {
			e.Off = "switched off in " + d.At
		}
		s.Entries = append(s.Entries, e)
	}
	return s
}

// Connect returns the MCP servers of a session, none of which it contacts: the declared
// ones, then those of the editor. Nil is none.
func (a *App) Connect(ctx context.Context, s acp.Servers) (server.Set, error) {
	c, err := a.config.read()
	if err != nil {
		return nil, faulty(err)
	}
	found, warnings := declaredServers(c, a.vars(c, s.Dirs.Cwd))
	a.warn(warnings, discover.Wrong)
	all, lines := discover.Join(found, s.Editor), notices(s.Dirs.Cwd, found, warnings)
	if len(all) == 0 && len(lines) == 0 {
		return nil, nil
	}
	b, err := a.open(ctx, mcpbridge.Session{ID: cmp.Or(s.Session, rand.Text()), Dir: s.Dirs.Cwd, Scratch: s.Scratch, Host: s.Host}, all)
	if err != nil {
		return nil, faulty(err)
	}
	return &noticing{Set: b, notices: lines}, nil
}

// open returns the bridge to servers, whose secrets the trace does not show.
func (a *App) open(ctx context.Context, s mcpbridge.Session, all []mcpbridge.Server) (*mcpbridge.Bridge, error) {
	p, err := a.bridges()
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		a.trace.Redact(m.Credentials()...)
	}
	return p.Open(ctx, s, all), nil
}

// bridges are those of all sessions. The zero value is ready.
type bridges struct {
	mu   sync.Mutex      // guards the field below
	pool *mcpbridge.Pool // nil until a session has servers
}

// bridges returns the pool of MCP servers, which is made by the first session that has
// any.
func (a *App) bridges() (*mcpbridge.Pool, error) {
	c, err := a.config.read()
	if err != nil {
		return nil, err
	}
	a.mcp.mu.Lock()
	defer a.mcp.mu.Unlock()
	if a.mcp.pool == nil {
		way := route{a}
		a.mcp.pool = mcpbridge.NewPool(mcpbridge.Options{
			Name: "lorimer", Version: a.o.Version,
			Environ: a.login.Environ,
			Limit:   serverTools,
			HTTP:    way,
			Auth:    func(s mcpbridge.Server) web.Authorizer { return a.authorizer(c, s, way) },
			Eras:    &eras{file: filepath.Join(c.Paths.Cache, erasFile)},
			Log:     a.o.Log,
		})
	}
	return a.mcp.pool, nil
}

// serverTools is how many tools of servers a send offers. With our own they stay below
// the 128 that OpenAI takes in a request.
const serverTools = 100

// close ends the contact with all servers, within ctx.
func (b *bridges) close(ctx context.Context) error {
	b.mu.Lock()
	p := b.pool
	b.mu.Unlock()
	if p == nil {
		return nil
	}
	return p.Close(ctx)
}

// A route takes requests the way that the configuration has at the moment.
type route struct{ a *App }

// RoundTrip sends r through the proxy and with the certificates of the configuration.
func (r route) RoundTrip(req *http.Request) (*http.Response, error) {
	next, err := r.a.way()
	if err != nil {
		if req.Body != nil {
			req.Body.Close()
		}
		return nil, err
	}
	return next.RoundTrip(req)
}

func (a *App) way() (http.RoundTripper, error) {
	c, err := a.config.read()
	if err != nil {
		return nil, err
	}
	return a.transports.get(c.Proxy, c.Certificates())
}

// noticing tells, the first time that tools are asked for, what the user should know of
// the servers of the session.
type noticing struct {
	server.Set
	once    sync.Once
	notices []string
}

// Tools tells of what there is to tell, and returns the tools of the set.
func (n *noticing) Tools(ctx context.Context, tell func(string)) ([]tools.Tool, error) {
	if tell != nil {
		n.once.Do(func() {
			for _, line := range n.notices {
				tell(line)
			}
		})
	}
	return n.Set.Tools(ctx, tell)
}

// Alone is the host of a session that nobody sits at: it has its directories, and
// refuses what would have to be asked for.
type Alone struct{ Dirs []string }

var _ server.Host = Alone{}

// Roots returns the directories.
func (h Alone) Roots() []string { return h.Dirs }

// Offers is nothing.
func (Alone) Offers() server.Offers { return server.Offers{} }

// Elicit declines for the user who is not there.
func (Alone) Elicit(context.Context, string, server.Elicitation) (server.Reply, error) {
	return server.Reply{Action: "decline"}, nil
}

// Sample is refused.
func (Alone) Sample(context.Context, string, server.Sampling) (server.Sampled, error) {
	return server.Sampled{}, server.ErrRefused
}
