package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/approve"
)

const (
	maxFaults = 3         // equal malformed calls before their tool is blocked (C113)
	maxResult = 128 << 10 // bytes of a result that the model reads
	maxNamed  = 60        // characters of a name that is shown again to the model
)

// A call is a tool call on its way from its name in the stream to its result.
// The goroutine that runs it is the only one to touch it until it has ended.
type call struct {
	thread.Call
	heard   strings.Builder // the arguments as they stream
	settled bool            // it is part of the answer

	tool    tools.Tool // nil for one that cannot be called
	info    tools.Info
	input   json.RawMessage
	refused *tools.Result // instead of running
	unasked bool          // refused because there was nobody to ask
	ran     bool          // it was allowed to run
	used    model.Usage   // by what its server has had the model answer

	shown event.ToolCall // as the watcher last saw it
	last  event.ToolCall // the update that ends it
}

// unique makes the id that goes to the provider one that neither the thread nor
// this answer has given away; some models repeat theirs. p is the call as the
// thread keeps it.
func (t *turn) unique(c *call, p *thread.Call, given map[string]bool) {
	wire := p.WireID
	if wire == "" || given[wire] || t.lease.conv.Sent(wire) {
		wire = c.ID
	}
	given[wire] = true
	p.WireID, c.WireID = wire, wire
}

// announce shows a call for the first time, by its name alone.
func (t *turn) announce(c *call) {
	if tool, ok := t.tools.Lookup(c.Name); ok {
		c.info = tool.Info()
	} else {
		c.info = tools.Info{Name: c.Name}
	}
	if c.info.Kind == "" {
		c.info.Kind = tools.KindOther
	}
	t.show(c, event.ToolCall{
		New: true, Name: c.Name, Title: tools.Title(c.info, nil), Kind: c.info.Kind, Status: event.Pending,
		Meta: mcpTool(c.info.Origin),
	})
}

// show tells an update of a call and remembers what is seen of it now.
func (t *turn) show(c *call, up event.ToolCall) {
	up.ID = c.ID
	c.shown = merge(c.shown, up)
	t.tell(up)
}

// merge returns call as it is after an update: what is empty stays.
func merge(call, up event.ToolCall) event.ToolCall {
	call.ID, call.New = up.ID, false
	set(&call.Name, up.Name)
	set(&call.Title, up.Title)
	set(&call.Kind, up.Kind)
	set(&call.Status, up.Status)
	set(&call.Text, up.Text)
	if up.Input != nil {
		call.Input = up.Input
	}
	if up.Locations != nil {
		call.Locations = up.Locations
	}
	if up.Diffs != nil {
		call.Diffs = up.Diffs
	}
	if up.Output != nil {
		call.Output = up.Output
	}
	if up.Meta != nil {
		call.Meta = up.Meta
	}
	return call
}

func set[T ~string](to *T, v T) {
	if v != "" {
		*to = v
	}
}

// refuse closes calls without running them.
func (t *turn) refuse(ctx context.Context, calls []*call, why string) error {
	var errs []error
	for _, c := range calls {
		t.introduce(c)
		errs = append(errs, t.finish(ctx, c, tools.Failf("%s", why)))
	}
	return errors.Join(errs...)
}

// runCalls runs the calls of one answer. Those that only look run beside each
// other; one that may change something runs alone, so that all calls have the
// effect of running in order. Each call gets its result, whatever happens; after
// a result that could not be stored no further call runs.
func (t *turn) runCalls(ctx context.Context, calls []*call) error {
	strays := 0
	for _, c := range calls {
		t.introduce(c)
		if t.screen(c) {
			strays++
		}
	}
	if strays < len(calls) {
		t.astray = 0
	} else {
		t.astray++
	}
	var errs []error
	for len(calls) > 0 {
		if errors.Join(errs...) != nil {
			for _, c := range calls { // what cannot be recorded is not done
				c.refuse("A result before this call could not be stored; it was not run.")
			}
		}
		n := 1
		for calls[0].looks() && n < len(calls) && calls[n].looks() {
			n++
		}
		errs = append(errs, t.batch(ctx, calls[:n]))
		calls = calls[n:]
	}
	return errors.Join(append(errs, ctx.Err())...)
}

// looks reports whether a call changes nothing.
func (c *call) looks() bool { return c.refused != nil || !c.info.Effect.Mutates() }

// introduce shows what is known of a call when its arguments are complete.
func (t *turn) introduce(c *call) {
	up := event.ToolCall{Title: tools.Title(c.info, json.RawMessage(c.Args))}
	if json.Valid([]byte(c.Args)) {
		up.Input = json.RawMessage(c.Args)
	}
	t.show(c, up)
}

// screen decides what can be decided before anything runs, in call order. It
// reports whether the call is of a tool that cannot be called.
func (t *turn) screen(c *call) (stray bool) {
	tool, ok := t.tools.Lookup(c.Name)
	if !ok || !t.declared(c.Name) {
		c.refuse("%s", t.unknown(c.Name))
		return true
	}
	if t.blocked[c.Name] {
		c.refuse("%s is blocked for the rest of this turn, because the same faulty call came %d times. Go on without it.",
			c.Name, maxFaults)
		return true
	}
	input, err := t.tools.Check(c.Name, json.RawMessage(c.Args))
	if err != nil {
		t.fault(c, err)
		return false
	}
	if t.calls[c.Name]++; c.info.Limit > 0 && t.calls[c.Name] > c.info.Limit {
		c.refuse("%s may be called %d times for one message, and it has been. Answer with what you have.", c.Name, c.info.Limit)
		return false
	}
	c.tool, c.input = tool, input
	return false
}

func (c *call) refuse(format string, args ...any) {
	r := tools.Failf(format, args...)
	c.refused = &r
}

// unknown tells the model that it cannot call name (R-TOOLS-23, C114).
func (t *turn) unknown(name string) string {
	shown := tools.Line(name, maxNamed)
	if slices.Contains(t.away.names, name) {
		return fmt.Sprintf("%s is not available for this message.", shown)
	}
	near := slices.DeleteFunc(t.tools.Suggest(name), func(n string) bool { return !t.declared(n) })
	if len(near) == 0 {
		return fmt.Sprintf("There is no tool %q. Call only tools that are offered, by their exact names.", shown)
	}
	return fmt.Sprintf("There is no tool %q. Near names: %s.", shown, strings.Join(near, ", "))
}

// fault tells the model what is wrong with the arguments. A model that does not
// learn from it loses the tool (C101, C113).
func (t *turn) fault(c *call, err error) {
	key := c.Name + "\x00" + c.Args
	t.faulty[key]++
	text := tools.ErrorText(err)
	if t.faulty[key] >= maxFaults {
		t.blocked[c.Name] = true
		text += fmt.Sprintf("\nThis same call came %d times, so %s is blocked for the rest of this turn. Go on without it.",
			maxFaults, c.Name)
	}
	c.refuse("%s", text)
}

// batch runs calls beside each other, a limited number at a time, and stores
// each result as it comes. It returns when all have ended.
func (t *turn) batch(ctx context.Context, calls []*call) error {
	type done struct {
		c *call
		r tools.Result
	}
	var errs []error
	ended := make(chan done)
	for next, running := 0, 0; next < len(calls) || running > 0; {
		if next < len(calls) && running < t.o.Parallel {
			c := calls[next]
			go func() { ended <- done{c, t.perform(ctx, c)} }()
			next, running = next+1, running+1
			continue
		}
		d := <-ended
		running--
		errs = append(errs, t.finish(ctx, d.c, d.r))
	}
	return errors.Join(errs...)
}

// perform takes one call from its plan to its result. A panic in the tool
// becomes its result (R-TOOLS-07).
func (t *turn) perform(ctx context.Context, c *call) (r tools.Result) {
	defer func() {
		if p := recover(); p != nil {
			t.log.Error().Str("tool", c.Name).Str("call", c.ID).Interface("panic", p).Bytes("stack", debug.Stack()).Msg("tool panicked")
			r = tools.Failf("%s", tools.ErrorText(errors.New("panic")))
		}
	}()
	if c.refused != nil {
		return *c.refused
	}
	if ctx.Err() != nil {
		return cutResult(ctx.Err())
	}
	plan, err := c.tool.Plan(ctx, c.input)
	if err != nil {
		return t.broken(ctx, c, err)
	}
	if r, ok := t.approve(ctx, c, plan); !ok {
		return r
	}
	t.show(c, event.ToolCall{Status: event.InProgress})
	out := &live{id: c.ID, out: t.out}
	defer out.end()
	c.ran = true
	if r, err = t.execute(ctx, c, tools.Call{ID: c.ID, Input: c.input, Output: out.write}); err != nil {
		return t.broken(ctx, c, err)
	}
	return r
}

// approve shows the plan of a call and decides whether it may run. If not, the
// result says why.
func (t *turn) approve(ctx context.Context, c *call, plan tools.Plan) (tools.Result, bool) {
	if plan.Title != "" {
		plan.Title = tools.Line(plan.Title, tools.MaxTitle)
	} else {
		plan.Title = c.shown.Title
	}
	if plan.Title != c.shown.Title || plan.Locations != nil || plan.Diffs != nil {
		t.show(c, event.ToolCall{Title: plan.Title, Locations: plan.Locations, Diffs: plan.Diffs})
	}
	v, err := t.s.rules.Decide(ctx, t.mode(), c.info, approve.Question{
		CallID: c.ID, Tool: c.Name, Input: c.input, Plan: plan, Kind: c.info.Kind,
	}, t.s.spec.Approver)
	switch {
	case err != nil:
		return t.broken(ctx, c, err), false
	case !v.Allowed:
		c.unasked = v.Refused == approve.Nobody
		return tools.Failf("%s", v.Text), false
	}
	return tools.Result{}, true
}

// broken is the result of a call that ended with an error (R-TOOLS-06). What the
// model does not read of it is in the log.
func (t *turn) broken(ctx context.Context, c *call, err error) tools.Result {
	if ctx.Err() != nil {
		return cutResult(ctx.Err())
	}
	if _, ok := errors.AsType[*tools.PublicError](err); !ok {
		t.log.Error().Err(err).Str("tool", c.Name).Str("call", c.ID).Msg("tool failed")
	}
	return tools.Failf("%s", tools.ErrorText(err))
}

// finish stores the result of a call and then tells it (R-ACP-50). A call whose
// result cannot be stored is closed for the watcher all the same.
func (t *turn) finish(ctx context.Context, c *call, r tools.Result) error {
	if c.unasked {
		t.unasked++
	}
	t.count(c.used)
	result := c.conclude(r)
	t.annotate(ctx, c, &result)
	err := t.append(ctx, result)
	t.reveal(c)
	return err
}

// conclude gives a call its result, as the thread keeps it.
func (c *call) conclude(r tools.Result) thread.Result {
	text := shorten(valid(r.Text), maxResult)
	if text == "" && len(r.Images) == 0 {
		text = "The tool gave no output." // no provider takes an empty result (C079)
	}
	c.last = event.ToolCall{
		ID: c.ID, Status: event.Completed, Locations: r.Locations, Diffs: r.Diffs, Text: text, Output: r.Raw,
	}
	if r.Display != "" {
		c.last.Text = shorten(valid(r.Display), maxResult)
	} else if len(r.Diffs) > 0 {
		c.last.Text = ""
	}
	if r.IsError {
		c.last.Status = event.Failed
	}
	if c.last.Output == nil {
		c.last.Output = text
	}
	c.shown = merge(c.shown, c.last)
	c.last.Images = r.Images
	return thread.Result{CallID: c.ID, Text: text, IsError: r.IsError, Images: r.Images, Shown: c.shown, Answers: r.Answers, Usage: c.used}
}

// reveal tells the result of a call.
func (t *turn) reveal(c *call) { t.tell(c.last) }

// shorten cuts the middle out of a text that is longer than limit bytes.
func shorten(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	head := s[:limit*3/4]
	head = head[:len(head)-cutRune([]byte(head))]
	tail := s[len(s)-limit/4:]
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	return fmt.Sprintf("%s\n[%d bytes cut]\n%s", head, len(s)-len(head)-len(tail), tail)
}
