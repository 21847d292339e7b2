package serve_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lorimer-dev/lorimer/mcpbridge/serve"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/server"
)

// A desk has tools that do what their names say.
type desk struct {
	mu   sync.Mutex // guards the fields below
	more []serve.Tool
	runs int // calls that run
	most int // that ran at once

	calls map[string]func(context.Context, serve.Call) (serve.Result, error) // beside those of every desk
}

func text(s string) serve.Result {
	return serve.Result{Blocks: []serve.Block{{Type: serve.Text, Text: s}}}
}

// Tools implements [serve.Desk].
func (d *desk) Tools(context.Context) ([]serve.Tool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]serve.Tool{
		{Name: "echo", Description: "Says it again", Input: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}}}`), Effect: tools.Reads},
		{Name: "sleep", Title: "Sleep", Effect: tools.Executes},
	}, d.more...), nil
}

// Call implements [serve.Desk].
func (d *desk) Call(ctx context.Context, c serve.Call) (serve.Result, error) {
	d.mu.Lock()
	d.runs++
	d.most = max(d.most, d.runs)
	own := d.calls[c.Tool]
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		d.runs--
		d.mu.Unlock()
	}()
	switch {
	case own != nil:
		return own(ctx, c)
	case c.Tool == "echo":
		return text(string(c.Arguments)), nil
	case c.Tool == "sleep":
		var in struct{ MS int }
		if err := json.Unmarshal(c.Arguments, &in); err != nil {
			return serve.Result{}, tools.Publicf("ms must be a number")
		}
		select {
		case <-time.After(time.Duration(in.MS) * time.Millisecond):
			return text("slept"), nil
		case <-ctx.Done():
			return serve.Result{}, ctx.Err()
		}
	}
	return serve.Result{}, serve.ErrNone
}

// add adds a call.
func (d *desk) add(name string, call func(context.Context, serve.Call) (serve.Result, error)) {
	if d.calls == nil {
		d.calls = make(map[string]func(context.Context, serve.Call) (serve.Result, error))
	}
	d.calls[name] = call
}

// books has prompts and resources.
type books struct{}

// Prompts implements [serve.Prompter].
func (books) Prompts(context.Context) ([]serve.Prompt, error) {
	return []serve.Prompt{{Name: "greet", Title: "Greet", Description: "Greets", Arguments: []server.Argument{{Name: "name", Required: true}}}}, nil
}

// Prompt implements [serve.Prompter].
func (books) Prompt(_ context.Context, name string, arguments map[string]string) ([]server.Part, error) {
	switch {
	case name != "greet":
		return nil, fmt.Errorf("%w: %s", serve.ErrNone, name)
	case arguments["name"] == "":
		return nil, tools.Publicf("greet needs a name")
	}
	return []server.Part{
		{Text: "Greet " + arguments["name"]},
		{Role: "assistant", MIME: "image/png", Data: []byte("png")},
		{URI: "memo://1", MIME: "text/plain", Text: "memo"},
	}, nil
}

// Resources implements [serve.Library].
func (books) Resources(context.Context) ([]server.Resource, error) {
	return []server.Resource{
		{URI: "memo://1", Name: "one", MIME: "text/plain"},
		{URI: "memo://{n}", Name: "any", Template: true},
	}, nil
}

// Read implements [serve.Library].
func (books) Read(_ context.Context, uri string) ([]server.Part, error) {
	if uri != "memo://1" {
		return nil, serve.ErrNone
	}
	return []server.Part{{MIME: "text/plain", Text: "memo"}, {URI: "memo://1#b", Data: []byte{0, 1}}}, nil
}

// A peer is a client that writes lines and reads lines.
type peer struct {
	t     *testing.T
	in    *io.PipeWriter
	out   *bufio.Reader
	pipe  *io.PipeReader
	ended chan error // what Serve returned
	end   context.CancelFunc
}

// start serves a desk for a peer. The test must let it end.
func start(t *testing.T, d serve.Desk, o serve.Options) *peer {
	t.Helper()
	if o.Name == "" {
		o.Name, o.Version = "test", "1"
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	p := &peer{t: t, in: inW, pipe: outR, out: bufio.NewReaderSize(outR, 1<<20), ended: make(chan error, 1), end: cancel}
	go func() {
		err := serve.New(d, o).Serve(ctx, inR, outW)
		outW.Close()
		p.ended <- err
	}()
	return p
}

// send writes lines.
func (p *peer) send(lines ...string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, strings.Join(lines, "\n")+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

// next returns the next line.
func (p *peer) next() string {
	p.t.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil {
		p.t.Fatalf("reading the next message: %v", err)
	}
	return strings.TrimSuffix(line, "\n")
}

// ask sends a request and returns the next line.
func (p *peer) ask(line string) string {
	p.t.Helper()
	p.send(line)
	return p.next()
}

// hello makes the handshake of a revision.
func (p *peer) hello(revision string) {
	p.t.Helper()
	got := p.ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, revision))
	if !strings.Contains(got, `"id":"hello","result":{"protocolVersion":"`+revision+`"`) {
		p.t.Fatalf("initialize answers %s", got)
	}
	p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// finish ends the input and returns what still came, and what Serve returned.
func (p *peer) finish() (rest []string, err error) {
	p.t.Helper()
	p.in.Close()
	data, readErr := io.ReadAll(p.out)
	if readErr != nil {
		p.t.Fatal(readErr)
	}
	for line := range bytes.Lines(data) {
		rest = append(rest, strings.TrimSuffix(string(line), "\n"))
	}
	return rest, <-p.ended
}

// request returns a request of a revision with a handshake.
func request(id, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params)
}

// modern returns a request of revision 2026-07-28; params are members.
func modern(id, method, params string) string {
	if params != "" {
		params += ","
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, id, method, params)
}

// call returns a call of a tool.
func call(id, tool, arguments string) string {
	return request(id, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, arguments))
}
