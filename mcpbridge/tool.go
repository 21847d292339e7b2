package mcpbridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lorimer-dev/lorimer/mcpbridge/client"
	"github.com/lorimer-dev/lorimer/mcpbridge/internal/names"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
	"github.com/lorimer-dev/lorimer/tools"
)

const (
	patient    = 10                     // times its time limit a call may take that shows progress
	maxDisplay = 60                     // characters of a tool's title
	maxLine    = 200                    // characters of a line of progress
	maxLines   = 200                    // lines of progress of one call
	everyLine  = 100 * time.Millisecond // at most
)

// A tool is a tool of a server. It stays what it was when its list was read, and goes to
// whatever connection the server has when it runs.
type tool struct {
	l    *link
	spec client.Tool
	info tools.Info
}

var _ tools.Tool = (*tool)(nil)

// newTool returns the tool that spec describes. Icon is that of the server, "" is none.
func newTool(l *link, spec client.Tool, icon string) *tool {
	t := &tool{l: l, spec: spec}
	if spec.Icon != "" {
		icon = spec.Icon
	}
	t.info = tools.Info{
		Name:        names.Tool(l.s.Name, l.prefix, spec.Name),
		Description: spec.Description,
		Schema:      spec.Input,
		Verb:        strings.NewReplacer("{", "(", "}", ")").Replace(t.label()),
		Kind:        tools.KindOther,
		Effect:      tools.Acts,
		Origin: &tools.Origin{
			Server: l.s.Name, Prefix: l.prefix, Address: l.address, Icon: icon, Tool: spec.Name,
		},
	}
	if t.looks() {
		t.info.Kind, t.info.Effect = tools.KindRead, tools.Fetches|tools.Reads
	}
	if len(t.info.Schema) == 0 {
		t.info.Schema = json.RawMessage(`{"type":"object"}`)
	}
	return t
}

// looks reports whether the tool is said to change nothing, and nothing else is said.
func (t *tool) looks() bool {
	h := t.spec.Hints
	return said(h.ReadOnly) && !said(h.Destructive)
}

// repeatable reports whether running the tool twice is said to be running it once.
func (t *tool) repeatable() bool { return t.looks() || said(t.spec.Hints.Idempotent) }

func said(hint *bool) bool { return hint != nil && *hint }

// label is what the user reads of the tool: what it is called, and whose it is.
func (t *tool) label() string {
	title := t.spec.Title
	if title == "" {
		title = t.spec.Name
	}
	return tools.Line(title, maxDisplay) + " — " + show(t.l.s.Name)
}

// Info describes the tool. Its origin is the only thing that tells whose it is
// (R-MCP-07).
func (t *tool) Info() tools.Info { return t.info }

// Plan shows the input. A grant is for this tool of this server, whatever the two are
// called here (R-ACP-41).
func (t *tool) Plan(_ context.Context, in json.RawMessage) (tools.Plan, error) {
	return tools.Plan{
		Title:  tools.Title(tools.Info{Name: t.label()}, in),
		Effect: t.info.Effect,
		Always: tools.Grant{
			Key:   "mcp:" + t.l.fingerprint + ":" + t.spec.Name,
			Label: fmt.Sprintf("%s of %s, in this session", tools.Line(t.spec.Name, 30), tools.Line(t.l.s.Name, 26)),
		},
	}, nil
}

// Run calls the tool by the server's own name (R-MCP-18). It returns with an error only
// where ctx has ended: whatever the server does is for the model to know.
func (t *tool) Run(ctx context.Context, call tools.Call) (tools.Result, error) {
	limit := t.l.s.timeout()
	o := client.CallOptions{Timeout: limit, Limit: patient * limit}
	if call.Output != nil {
		o.Progress = (&progress{out: call.Output}).tell
	}
	var got client.Result
	err := t.l.do(ctx, t.repeatable(), func(ctx context.Context, p client.Peer) (err error) {
		got, err = p.Call(ctx, t.spec, call.Input, o)
		return err
	})
	switch {
	case ctx.Err() != nil:
		return tools.Result{}, ctx.Err()
	case err != nil:
		t.l.log.Debug().Str("tool", t.info.Name).Str("error", t.l.reason(err)).Msg("call of a server's tool failed")
		return tools.Failf("%s", t.fault(err)), nil
	}
	return t.result(got), nil
}

// fault tells the model why a call has no result, and whether it may be made again.
func (t *tool) fault(err error) string {
	name, why := show(t.l.s.Name), t.l.reason(err)
	answer, answered := errors.AsType[*transport.Error](err)
	status, refused := errors.AsType[*transport.StatusError](err)
	_, unanswered := errors.AsType[*client.UnansweredError](err)
	switch {
	case errors.Is(err, errClosed):
		return "The session was closed before the call ended."
	case errors.Is(err, errDown):
		return fmt.Sprintf("The MCP server %s is %s. Nothing was sent; it is tried again in the background. Go on without it, or call again later.", name, why)
	case errors.Is(err, errAnew):
		return fmt.Sprintf("The MCP server %s had forgotten the session, and the call was not run. It is reconnected: call again.", name)
	case errors.Is(err, transport.ErrSession):
		return fmt.Sprintf("The MCP server %s had forgotten the session, and the call was not run. It is being reconnected: call again later.", name)
	case unanswered:
		return fmt.Sprintf("The MCP server %s gave no result: %s. It may have done a part of the call: look before it is made again.", name, why)
	case errors.Is(err, client.ErrTimeout):
		return fmt.Sprintf("The MCP server %s gave no result within %v and was told that nobody waits any more. The call may have had effects: look before it is made again.", name, span(t.l.s.timeout()))
	case answered:
		return t.l.shorten(fmt.Sprintf("The MCP server %s answered with an error: %s", name, t.l.hidden.hide(answer.Error())))
	case refused && status.Status < 500:
		return fmt.Sprintf("The MCP server %s refused the call: %s.", name, why)
	}
	return fmt.Sprintf("The MCP server %s was lost during the call: %s. The call is not repeated, since it may have had effects: look before it is made again. The server is being reconnected.", name, why)
}

// progress shows how far a call is, a short line at a time. Its methods are called by one
// goroutine.
type progress struct {
	out   func([]byte)
	last  time.Time
	lines int
}

func (p *progress) tell(at client.Progress) {
	if time.Since(p.last) < everyLine || p.lines >= maxLines {
		return
	}
	line := number(at.Done)
	if at.Total > 0 {
		line += "/" + number(at.Total)
	}
	if at.Message != "" {
		line += " " + at.Message
	}
	p.last, p.lines = time.Now(), p.lines+1
	p.out([]byte(tools.Line(line, maxLine) + "\n"))
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
