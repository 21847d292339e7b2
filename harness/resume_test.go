package harness_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/tools/approve"
	"github.com/lorimer-dev/lorimer/tools/toolstest"
)

// to makes provider name of server the one that answers.
func (f *fixture) to(server *modeltest.Server, name string) {
	f.settings.model.Provider, f.settings.model.ID = name, "test-"+name
	d := f.settings.model
	f.settings.open = func(context.Context) (model.Streamer, error) { return providers(server)[name](d), nil }
}

// lived returns a thread in which all has happened that history can have: thoughts,
// calls beside each other, pictures of both sides, a call that never was whole,
// a cancelled turn, a message that failed and one that was answered anew.
func lived(t *testing.T, server *modeltest.Server, provider string) (*fixture, *harness.Session) {
	t.Helper()
	f := newFixture(toolstest.Echo("look"), drawing())
	f.threads = newCoded()
	f.to(server, provider)
	s := f.open(t)
	server.Add(
		modeltest.Reply{Think: []string{"hm"}, Text: []string{"Both."}, Tools: []modeltest.Tool{
			{ID: "same", Name: "look", Args: `{"n": 12345678901234567890}`}, {ID: "same", Name: "draw", Args: "{}"}, {Name: "look", Args: cut(provider)},
		}},
		modeltest.Reply{Text: []string{"Drawn."}},
		modeltest.Reply{Text: []string{"half"}, Tools: []modeltest.Tool{{Name: "look", Args: cut(provider)}}, Hang: true},
		modeltest.Reply{Status: 400, Error: "no"},
		modeltest.Reply{Text: []string{"Anew."}},
	)
	slot, err := s.Enter()
	if err != nil {
		t.Fatal(err)
	}
	in := harness.Input{Blocks: []event.Block{{Text: "what is"}, {MIME: "image/png", Data: []byte("\x89PNG\r\n\x1a\n0000")}}}
	if _, err := slot.Prompt(t.Context(), in, &recorder{}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	rec := &recorder{hook: func(e event.Event) error {
		if c, ok := e.(event.Text); ok && c.Text == "half" {
			cancel()
		}
		return nil
	}}
	if out, err := prompted(t, s, ctx, "go on", rec); err != nil || out.Stop != harness.Cancelled {
		t.Fatalf("cancelled turn: %+v, %v", out, err)
	}
	if _, err := prompted(t, s, t.Context(), "fails", &recorder{}); err == nil {
		t.Fatal("the provider took what it should not")
	}
	if _, err := retry(t, s, &recorder{}); err != nil {
		t.Fatal(err)
	}
	return f, s
}

// A thread that ends anywhere, as a killed process leaves it, can be gone on with,
// and with any provider (R-ACP-52, R-HARN-15, C049).
func TestResumeAfterAKill(t *testing.T) {
	for _, first := range protocols() {
		for _, then := range protocols() {
			t.Run(first+" then "+then, func(t *testing.T) {
				server := modeltest.New(t)
				f, s := lived(t, server, first)
				log := f.log(t, s.ID())
				before := len(server.Rejected())
				g := f.beside(toolstest.Echo("look"), drawing())
				g.to(server, then)
				server.Add(modeltest.Reply{Text: []string{"whole"}, Repeat: -1})
				for n := 1; n <= len(log); n++ {
					id := fmt.Sprintf("%s-%d", s.ID(), n)
					if err := f.threads.Restore(t.Context(), id, log[:n]); err != nil {
						t.Fatal(err)
					}
					loaded := g.load(t, id)
					replayed(t, loaded)
					for range 2 {
						out, err := prompted(t, loaded, t.Context(), "and now", &recorder{})
						if err != nil || out.Stop != harness.EndTurn {
							t.Fatalf("cut after entry %d (%T): %+v, %v", n, log[n-1].Body, out, err)
						}
					}
				}
				if got := server.Rejected()[before:]; len(got) > 0 {
					t.Errorf("rejected: %q", got)
				}
			})
		}
	}
}

// The request after a load is byte for byte what a process that has lived on would
// have sent (R-HARN-14, R-HARN-15).
func TestLoadKeepsThePrefix(t *testing.T) {
	for name := range providers(nil) {
		t.Run(name, func(t *testing.T) {
			server := modeltest.New(t)
			f, s := lived(t, server, name)
			server.Add(modeltest.Reply{Text: []string{"x"}, Repeat: -1})
			ask(t, s, "once more")
			for range 3 {
				g := f.beside(toolstest.Echo("look"), drawing())
				g.to(server, name)
				ask(t, g.load(t, s.ID()), "and more")
			}
			requests := server.Requests()
			messages := func(i int) []json.RawMessage {
				var body struct{ Messages []json.RawMessage }
				if err := json.Unmarshal(requests[i].Body, &body); err != nil {
					t.Fatal(err)
				}
				return body.Messages
			}
			for i := len(requests) - 3; i < len(requests); i++ {
				last, now := plain(t, messages(i-1)), plain(t, messages(i))
				if diff := cmp.Diff(last, now[:len(last)]); diff != "" {
					t.Errorf("request %d does not begin with the one before (-before +now):\n%s", i+1, diff)
				}
			}
		})
	}
}

// plain returns messages without the marks for the cache, which move.
func plain(t *testing.T, messages []json.RawMessage) []any {
	t.Helper()
	var out []any
	for _, m := range messages {
		var v any
		if err := json.Unmarshal(m, &v); err != nil {
			t.Fatal(err)
		}
		out = append(out, unmarked(v))
	}
	return out
}

func unmarked(v any) any {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "cache_control")
		for _, m := range v {
			unmarked(m)
		}
	case []any:
		for _, m := range v {
			unmarked(m)
		}
	}
	return v
}

func TestResumeWithAnOpenTail(t *testing.T) { // C049
	call := func(ids ...string) thread.Assistant {
		var a thread.Assistant
		for _, id := range ids {
			a.Parts = append(a.Parts, thread.Part{Call: &thread.Call{ID: id, WireID: id, Name: "look", Args: `{"a":1}`}})
		}
		return a
	}
	user := thread.User{MessageID: "u", Sent: []thread.Part{{Text: "look"}}}
	tests := []struct {
		name string
		tail []thread.Body
		want []string // results that the next request has
	}{
		{"a bare message", []thread.Body{user}, nil},
		{"an open call", []thread.Body{user, call("c1")}, []string{"Interrupted"}},
		{"one of two results", []thread.Body{user, call("c1", "c2"), thread.Result{CallID: "c2", Text: "seen"}}, []string{"Interrupted", "seen"}},
		{"all results", []thread.Body{user, call("c1"), thread.Result{CallID: "c1", Text: "seen"}}, []string{"seen"}},
		{"half an answer", []thread.Body{user, thread.Assistant{Partial: true, Parts: []thread.Part{{Text: "ha"}}}}, nil},
	}
	for _, tt := range tests {
		for provider := range providers(nil) {
			t.Run(tt.name+", "+provider, func(t *testing.T) {
				server := modeltest.New(t, modeltest.Reply{Text: []string{"ok"}})
				f := newFixture(toolstest.Echo("look"))
				f.threads = newCoded()
				f.to(server, provider)
				id := f.open(t).ID()
				f.store(t, id, tt.tail...)
				g := f.beside(toolstest.Echo("look"))
				seen := &requests{}
				g.to(server, provider)
				g.settings.open = seen.watch(g.settings.open)
				s := g.load(t, id)
				ask(t, s, "go on")
				if got := server.Rejected(); len(got) > 0 {
					t.Errorf("rejected: %q", got)
				}
				var got []string
				for _, r := range resultsOf(seen.all[0]) {
					word, _, _ := strings.Cut(r, ":")
					got = append(got, word)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("results (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// requests remembers the requests that pass on their way to a model.
type requests struct{ all []*model.Request }

func (r *requests) watch(open func(context.Context) (model.Streamer, error)) func(context.Context) (model.Streamer, error) {
	return func(ctx context.Context) (model.Streamer, error) {
		m, err := open(ctx)
		return model.Func(func(ctx context.Context, req *model.Request, sink func(model.Event) error) (*model.Reply, error) {
			r.all = append(r.all, req)
			return m.Stream(ctx, req, sink)
		}), err
	}
}

func TestDeniedCallIsAPair(t *testing.T) { // C050
	for provider := range providers(nil) {
		t.Run(provider, func(t *testing.T) {
			server := modeltest.New(t,
				modeltest.Reply{Tools: []modeltest.Tool{{Name: "write", Args: "{}"}}}, modeltest.Reply{Text: []string{"Then not."}},
				modeltest.Reply{Text: []string{"ok"}},
			)
			write := mutating(toolstest.Echo("write"))
			f := newFixture(write)
			f.threads = newCoded()
			f.to(server, provider)
			s := f.open(t, func(sp *harness.Spec) { sp.Choice = &harness.Choice{Model: f.settings.model.Ref(), Mode: approve.Ask} })
			if out, _ := ask(t, s, "write"); out.Unasked != 1 {
				t.Errorf("outcome = %+v, want a call for which nobody was asked", out)
			}
			if err := paired(f.entries(t, s)); err != nil {
				t.Error(err)
			}
			g := f.beside(write)
			g.to(server, provider)
			ask(t, g.load(t, s.ID()), "go on")
			if got := server.Rejected(); len(got) > 0 || len(write.Calls()) > 0 {
				t.Errorf("rejected: %q; the call ran %d times", got, len(write.Calls()))
			}
		})
	}
}

// A change of the instructions rebuilds with all that tools have said (C125).
func TestRebuildKeepsResults(t *testing.T) {
	f := newFixture(toolstest.Echo("look"), drawing())
	f.threads = newCoded()
	for i := range 3 {
		f.script.steps = append(f.script.steps, wants(want{"a", "look", fmt.Sprintf(`{"n":%d}`, i)}, want{"b", "draw", "{}"}), says("done"))
	}
	f.script.steps = append(f.script.steps, says("end"))
	s := f.open(t)
	for range 3 {
		ask(t, s, "go")
	}
	persona := "You are a pirate."
	f.settings.facts.Persona = &persona
	ask(t, s, "what was in the file?")
	reqs := f.script.requests()
	live, seeded := reqs[5], reqs[6]
	if live.System == seeded.System || f.traces[3].Harness != "rebuilt" {
		t.Errorf("the harness was not rebuilt: %+v", f.traces[3])
	}
	if diff := cmp.Diff(live.Messages, seeded.Messages[:len(live.Messages)]); diff != "" {
		t.Errorf("history after the change (-before +after):\n%s", diff)
	}
	if got := strings.Join(resultsOf(seeded), " "); got != `{"n":0} drawn {"n":1} drawn {"n":2} drawn` {
		t.Errorf("results = %s", got)
	}
}

// A mistake in what reads a thread, or sets a model up, ends a send and nothing
// else.
func TestPanicInABuild(t *testing.T) { // R-HARN-05
	f := newFixture()
	f.script.steps = []step{says("x")}
	s := f.open(t)
	open := f.settings.open
	f.settings.open = func(context.Context) (model.Streamer, error) { panic("oops") }
	if _, err := prompted(t, s, t.Context(), "go", &recorder{}); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want that of a build that broke off", err)
	}
	f.settings.open = open
	ask(t, s, "again")
}
