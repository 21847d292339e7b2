package harness_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/store/memory"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/prompt"
	"github.com/lorimer-dev/lorimer/tools"
)

// A fixture is an engine with everything around it, to be changed before the
// first session is opened.
type fixture struct {
	settings settings
	threads  harness.Threads
	script   script
	options  harness.Options
	tools    []tools.Tool
	scopes   func(harness.Scope) // hears of each turn whose tools are made; may be nil
	engine   *harness.Engine

	mu     sync.Mutex // guards traces while turns run
	traces []harness.TurnTrace
}

func newFixture(ts ...tools.Tool) *fixture {
	f := &fixture{tools: ts, threads: memory.New(nil)}
	f.settings.model = model.Descriptor{
		Kind: "fake", Provider: "p", ID: "m", KeyDigest: "k", Window: 100_000, Images: true, Thinks: true,
	}
	f.settings.open = func(context.Context) (model.Streamer, error) { return model.Func(f.script.stream), nil }
	return f
}

// open opens a session; the choice is mode auto with tools.
func (f *fixture) open(t *testing.T, change ...func(*harness.Spec)) *harness.Session {
	t.Helper()
	if f.engine == nil {
		f.start(t)
	}
	sp := harness.Spec{FS: files{}, Client: prompt.Client{Name: "test", Version: "1"}}
	for _, c := range change {
		c(&sp)
	}
	s, err := f.engine.Open(t.Context(), sp)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (f *fixture) start(t testing.TB) {
	t.Helper()
	prompts, err := prompt.Standard(prompt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := f.options
	o.Threads, o.Settings = f.threads, &f.settings
	if o.Prompts == nil {
		o.Prompts = prompts
	}
	o.Tools = func(sc harness.Scope) []tools.Tool {
		if f.scopes != nil {
			f.scopes(sc)
		}
		return slices.Clone(f.tools)
	}
	o.Trace = func(tr harness.TurnTrace) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.traces = append(f.traces, tr)
	}
	f.engine = harness.New(o)
}

// ask prompts a session and waits for the outcome.
func ask(t *testing.T, s *harness.Session, text string) (harness.Outcome, *recorder) {
	t.Helper()
	rec := new(recorder)
	out, err := prompted(t, s, t.Context(), text, rec)
	if err != nil {
		t.Fatal(err)
	}
	return out, rec
}

func prompted(t *testing.T, s *harness.Session, ctx context.Context, text string, sink event.Sink) (harness.Outcome, error) {
	t.Helper()
	slot, err := s.Enter()
	if err != nil {
		t.Fatal(err)
	}
	return slot.Prompt(ctx, harness.Input{Blocks: []event.Block{{Text: text}}}, sink)
}

// entries returns the thread of a session without its opening entries.
func (f *fixture) entries(t *testing.T, s *harness.Session) []thread.Body {
	t.Helper()
	var out []thread.Body
	err := f.threads.Read(context.WithoutCancel(t.Context()), s.ID(), 2, func(e thread.Entry) error {
		out = append(out, e.Body)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// paired reports the first call of a thread without a result after it, or the
// first result without a call before it.
func paired(bodies []thread.Body) error {
	open := map[string]bool{}
	for _, b := range bodies {
		switch b := b.(type) {
		case thread.Assistant:
			for _, p := range b.Parts {
				if p.Call != nil {
					open[p.Call.ID] = true
				}
			}
		case thread.Result:
			if !open[b.CallID] {
				return fmt.Errorf("result of %s has no call", b.CallID)
			}
			delete(open, b.CallID)
		}
	}
	for id := range open {
		return fmt.Errorf("call %s has no result", id)
	}
	return nil
}

// A script is a model that answers each request with its next step, and the
// last step again when there is no other.
type script struct {
	mu    sync.Mutex
	steps []step
	reqs  []*model.Request
}

type step func(ctx context.Context, req *model.Request, sink func(model.Event) error) (*model.Reply, error)

func (s *script) stream(ctx context.Context, req *model.Request, sink func(model.Event) error) (*model.Reply, error) {
	s.mu.Lock()
	if len(s.steps) == 0 {
		s.mu.Unlock()
		return nil, errors.New("the script is empty")
	}
	next := s.steps[min(len(s.reqs), len(s.steps)-1)]
	s.reqs = append(s.reqs, req)
	s.mu.Unlock()
	return next(ctx, req, sink)
}

func (s *script) requests() []*model.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.reqs)
}

// says answers with text in the given pieces.
func says(pieces ...string) step { return stops(model.StopEnd, pieces...) }

func stops(stop model.Stop, pieces ...string) step {
	return func(_ context.Context, _ *model.Request, sink func(model.Event) error) (*model.Reply, error) {
		for _, p := range pieces {
			if err := sink(model.Text(p)); err != nil {
				return nil, err
			}
		}
		r := reply(stop)
		if len(pieces) > 0 {
			r.Parts = append(r.Parts, llms.TextContent{Text: strings.Join(pieces, "")})
		}
		return r, nil
	}
}

// want is a call as a script makes it.
type want struct{ id, name, args string }

// wants answers with calls.
func wants(calls ...want) step {
	return func(_ context.Context, _ *model.Request, sink func(model.Event) error) (*model.Reply, error) {
		r := reply(model.StopTools)
		for i, c := range calls {
			if err := sink(model.ToolStart{Index: i, ID: c.id, Name: c.name}); err != nil {
				return nil, err
			}
			if err := sink(model.ToolArgs{Index: i, Fragment: c.args}); err != nil {
				return nil, err
			}
			r.Parts = append(r.Parts, llms.ToolCall{
				ID: c.id, Type: "function", FunctionCall: &llms.FunctionCall{Name: c.name, Arguments: c.args},
			})
		}
		return r, nil
	}
}

func reply(stop model.Stop) *model.Reply {
	return &model.Reply{Stop: stop, Usage: model.Usage{Input: 10, Output: 2, Known: true}}
}

// hangs tells events and then waits for the end of the request.
func hangs(events ...model.Event) step {
	return func(ctx context.Context, _ *model.Request, sink func(model.Event) error) (*model.Reply, error) {
		for _, e := range events {
			if err := sink(e); err != nil {
				return nil, err
			}
		}
		<-ctx.Done()
		return nil, &model.Error{Kind: model.Canceled, Provider: "p", Err: ctx.Err()}
	}
}

// fails tells events and then fails.
func fails(err error, events ...model.Event) step {
	return func(_ context.Context, _ *model.Request, sink func(model.Event) error) (*model.Reply, error) {
		for _, e := range events {
			if err := sink(e); err != nil {
				return nil, err
			}
		}
		return nil, err
	}
}

// A recorder is a sink that remembers.
type recorder struct {
	mu     sync.Mutex
	events []event.Event
	hook   func(event.Event) error // may be nil
}

func (r *recorder) Emit(e event.Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
	if r.hook != nil {
		return r.hook(e)
	}
	return nil
}

func (r *recorder) all() []event.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

// text returns the messages joined.
func (r *recorder) text() string {
	var b strings.Builder
	for _, e := range r.all() {
		if e, ok := e.(event.Text); ok {
			b.WriteString(e.Text)
		}
	}
	return b.String()
}

// statuses returns the states that each tool call went through, by id in order
// of their creation.
func (r *recorder) statuses() (ids []string, states map[string][]event.Status) {
	states = map[string][]event.Status{}
	for _, e := range r.all() {
		e, ok := e.(event.ToolCall)
		if !ok {
			continue
		}
		if e.New {
			ids = append(ids, e.ID)
		}
		if e.Status != "" {
			states[e.ID] = append(states[e.ID], e.Status)
		}
	}
	return ids, states
}

// closed reports the first tool call that has not reached exactly one final
// state, as its last (R-ACP-23).
func (r *recorder) closed() error {
	ids, states := r.statuses()
	for _, id := range ids {
		final := 0
		for _, s := range states[id] {
			if s == event.Completed || s == event.Failed {
				final++
			}
		}
		last := states[id][len(states[id])-1]
		if final != 1 || last != event.Completed && last != event.Failed {
			return fmt.Errorf("call %s went through %q", id, states[id])
		}
	}
	return nil
}

// results returns the texts of the results of a thread, in order.
func results(bodies []thread.Body) []string {
	var out []string
	for _, b := range bodies {
		if r, ok := b.(thread.Result); ok {
			out = append(out, r.Text)
		}
	}
	return out
}

// canonical returns a request in the order in which providers cache it, cut
// into the segments that can be shared.
func canonical(t *testing.T, r *model.Request) []string {
	t.Helper()
	encode := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	out := []string{encode(r.Tools), r.System}
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			out = append(out, string(m.Role)+fmt.Sprintf("%T", p)+encode(p))
		}
	}
	return out
}

// reuse returns the share of the earlier request that the later one begins with.
func reuse(t *testing.T, earlier, later *model.Request) float64 {
	t.Helper()
	a, b := canonical(t, earlier), canonical(t, later)
	common, total := 0, 0
	same := true
	for i, s := range a {
		total += len(s)
		same = same && i < len(b) && b[i] == s
		if same {
			common += len(s)
		}
	}
	return float64(common) / float64(total)
}

// resultsOf returns the texts of the tool results in a request, in order.
func resultsOf(r *model.Request) []string {
	var out []string
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if res, ok := p.(model.ToolResult); ok {
				out = append(out, res.Content)
			}
		}
	}
	return out
}
