package harness

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/lorimer-dev/lorimer/harness/estimate"
	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/retry"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/tools"
)

// maxAstray is how many steps may call nothing but tools that do not exist or
// are blocked, before the answer is asked for without tools (C114).
const maxAstray = 3

// What the model is told when it should come to an end.
var (
	//go:embed text/nudge.md
	nudgeText string
	//go:embed text/last.md
	lastText string
	//go:embed text/astray.md
	astrayText string
)

// steps asks the model until it answers without calling a tool, or may not call
// one any more (R-HARN-23).
func (t *turn) steps(ctx context.Context) (Stop, error) {
	for {
		t.asked++
		final := t.asked >= t.o.MaxSteps || t.astray >= maxAstray
		if err := t.nudge(ctx, final); err != nil {
			return "", err
		}
		a, err := t.ask(ctx, final)
		if err != nil {
			return "", err
		}
		stop, err := t.follow(ctx, a, final)
		if stop != "" || err != nil {
			return stop, err
		}
	}
}

// nudge tells the model in time that its steps are counted. The notes stay in
// the conversation, so that the prefix of later requests stays too.
func (t *turn) nudge(ctx context.Context, final bool) error {
	text := ""
	switch {
	case final && t.astray >= maxAstray:
		text = astrayText
	case final:
		text = lastText
	case t.asked > 1 && t.asked == t.o.MaxSteps/3+1:
		text = nudgeText
	default:
		return nil
	}
	return t.append(ctx, thread.Note{Text: strings.TrimSpace(text)})
}

// follow does what the answer asks for. It returns why the turn ends, or "" if
// it goes on.
func (t *turn) follow(ctx context.Context, a *answer, final bool) (Stop, error) {
	switch a.stop {
	case model.StopRefusal:
		return Refusal, t.refuse(ctx, a.calls, "The answer was refused; this call was not run.")
	case model.StopLength, model.StopContext:
		return MaxTokens, t.refuse(ctx, a.calls, "The answer reached its limit of tokens; this call was not run.")
	}
	if len(a.calls) > 0 && !final {
		return "", t.runCalls(ctx, a.calls)
	}
	if err := t.refuse(ctx, a.calls, "No tool runs any more for this message; answer with what you have."); err != nil {
		return "", err
	}
	switch {
	case !final && a.stop == model.StopPause:
		return "", nil
	case final && !a.spoke():
		return MaxTurnRequests, nil
	}
	return EndTurn, nil
}

// request returns the next request. The messages are those of the live
// conversation, which begin with all of the last request's (R-HARN-14).
func (t *turn) request(final bool) *model.Request {
	r := &model.Request{
		Kind: "main", Session: t.s.id, Signature: t.sig.Digest(),
		System: t.comp.System, Messages: t.lease.conv.Messages(),
		Tools: t.wire, NoTools: final && len(t.wire) > 0,
		Effort: t.snap.Model.Effort(t.choice.Thinking),
	}
	if len(t.blocked) > 0 {
		r.Callable = []string{}
		for _, w := range t.wire {
			if !t.blocked[w.Name] {
				r.Callable = append(r.Callable, w.Name)
			}
		}
	}
	return r
}

// ask sends one request and stores the answer, as far as it came. With an error
// the answer is cut: what has arrived is stored, and its calls are closed. A request
// that cannot fit into the window is not sent.
func (t *turn) ask(ctx context.Context, final bool) (*answer, error) {
	a := &answer{t: t, started: make(map[int]*call)}
	req := t.request(final)
	rest := estimate.Text(req.System).Add(estimate.Tools(req.Tools))
	t.reader(&t.lease.gauge)
	size := t.lease.gauge.prompt(req.Messages, rest)
	var reply *model.Reply
	cut := fits(t.snap.Model, size)
	if cut == nil {
		m := retry.Wrap(t.lease.model, retry.Policy{Allowance: &t.repeats})
		reply, cut = m.Stream(ctx, req, a.hear)
	}
	if fail, ok := errors.AsType[*model.Error](cut); ok && fail.Kind == model.Empty && final && reply != nil {
		cut = nil // it is the limit of steps that ends this turn without an answer (R-ACP-27)
	}
	if cut == nil && reply == nil {
		cut = &model.Error{Kind: model.Malformed, Provider: t.snap.Model.Provider, Message: "there is no answer in the answer"}
	}
	if cut == nil {
		cut = ctx.Err() // what is complete only after a cancel is not acted on
	}
	a.settle(reply, cut != nil)
	t.count(a.usage)
	t.lease.gauge.counted(req.Messages, rest, a.usage, a.parts)
	used := t.used(a, size)
	err := t.store(ctx, a, used, cut)
	if err == nil && (used.Known || len(a.parts) > 0) {
		t.tell(holds(used, t.snap.Model.Window))
	}
	for _, c := range a.loose {
		t.show(c, event.ToolCall{Status: event.Failed, Text: cutResult(cut).Text})
	}
	return a, errors.Join(cut, err)
}

// used is what the provider has counted of a request whose prompt had the given size,
// and what is likely where it has counted nothing.
func (t *turn) used(a *answer, prompt estimate.Size) model.Usage {
	if a.usage.Known {
		return a.usage
	}
	return model.Usage{Input: prompt.Likely, Output: t.lease.gauge.answered(a.parts)}
}

// store appends the answer and what it has used, with the results of its calls if
// it was cut, and tells that it is complete. Before it goes what attempts before have
// left. An answer that says nothing leaves no entry.
func (t *turn) store(ctx context.Context, a *answer, used model.Usage, cut error) error {
	bodies := a.leftovers()
	if len(a.parts) == 0 {
		if len(bodies) == 0 {
			return nil
		}
		return t.append(ctx, bodies...)
	}
	entry := thread.Assistant{
		MessageID: lastMessage(a.parts), Parts: a.parts, Usage: used, Stop: a.stop,
		Model: t.snap.Model.Ref(), Partial: cut != nil, Meta: t.meta(a),
	}
	bodies = append(bodies, entry)
	if cut != nil {
		for _, c := range a.calls {
			bodies = append(bodies, c.conclude(cutResult(cut)))
		}
	}
	if err := t.append(ctx, bodies...); err != nil {
		a.loose, a.calls = append(a.loose, a.calls...), nil
		return err
	}
	t.answered = true
	if cut != nil {
		for _, c := range a.calls {
			t.reveal(c)
		}
	}
	if entry.MessageID != "" {
		t.tell(event.Done{MessageID: entry.MessageID, Meta: entry.Meta})
	}
	return nil
}

// holds tells what the conversation holds after a request that has used u, of a
// window of size tokens. What is estimated is no more than the window, since there
// was an answer.
func holds(u model.Usage, size int) event.Usage {
	e := event.Usage{Used: u.Input + u.Output, Size: size, Estimated: !u.Known}
	if e.Estimated && size > 0 {
		e.Used = min(e.Used, size)
	}
	return e
}

// tell emits e. When nobody watches any more the watcher has cancelled the turn,
// which its next step notices.
func (t *turn) tell(e event.Event) { _ = t.out.emit(e) }

// cutResult is the result of a call whose answer or turn ended before it ran.
func cutResult(cut error) tools.Result {
	if errors.Is(cut, context.Canceled) {
		return tools.Failf("%s", tools.ErrorText(context.Canceled))
	}
	return tools.Failf("The answer broke off before this call was complete; it was not run.")
}

// meta is the metadata of a message (R-HARN-29).
func (t *turn) meta(a *answer) json.RawMessage {
	meta, err := json.Marshal(struct {
		Model   string                   `json:"model"`
		Harness string                   `json:"harness"`
		Tools   map[string]*tools.Origin `json:"mcpTools,omitempty"`
	}{t.snap.Model.Ref(), t.lease.how, a.mcpTools()})
	if err != nil {
		return nil // texts always encode
	}
	return meta
}

func (t *turn) count(u model.Usage) { t.usage = plus(t.usage, u) }

// plus adds two usages, of which nothing is as good as none.
func plus(a, b model.Usage) model.Usage {
	switch (model.Usage{}) {
	case a:
		return b
	case b:
		return a
	}
	return a.Add(b)
}

// lastMessage returns the id of the last text, "" without one.
func lastMessage(parts []thread.Part) string {
	for _, p := range slices.Backward(parts) {
		if p.Text != "" {
			return p.ID
		}
	}
	return ""
}
