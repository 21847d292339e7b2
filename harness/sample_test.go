package harness_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/approve"
	"github.com/lorimer-dev/lorimer/tools/server"
	"github.com/lorimer-dev/lorimer/tools/toolstest"
)

// A sampler is a server with the tool s_ask, which has the model answer a request.
type sampler struct {
	request server.Sampling
	session *harness.Session
	id      string // of the call, as the session tells it while it runs
	stop    func()
	answer  server.Sampled
	err     error
}

func (sm *sampler) tool() tools.Tool {
	t := toolstest.Of("Sage", "s", "ask", toolstest.Echo(""))
	t.OnRun = func(ctx context.Context, _ tools.Call) (tools.Result, error) {
		_, sm.id, sm.stop = sm.session.Calling(ctx, "Sage")
		defer sm.stop()
		sm.answer, sm.err = sm.session.Sample(context.WithoutCancel(ctx), "Sage", sm.request)
		return tools.Result{Text: "asked"}, ctx.Err()
	}
	return t
}

// open opens the session whose user answers every question with a.
func (sm *sampler) open(t *testing.T, f *fixture, a approve.Approver) {
	t.Helper()
	set := &toolstest.Servers{ToolList: []tools.Tool{sm.tool()}}
	sm.session = f.open(t, serving(set), func(sp *harness.Spec) { sp.Approver = a })
}

func TestSampling(t *testing.T) {
	f := newFixture(toolstest.Echo("look"))
	answers := stops(model.StopLength, "It is ", "so.")
	f.script.steps = []step{wants(want{"a", "s_ask", "{}"}), answers, says("done")}
	sm := &sampler{request: server.Sampling{
		System: "Be brief.",
		Messages: []server.Part{
			{Role: "user", Text: "Is it"}, {Role: "user", Text: "so?"}, {Role: "assistant", Text: "Is what?"},
			{Role: "user", MIME: "image/png", Data: []byte("\x89PNG\r\n\x1a\n")}, {Role: "user", MIME: "audio/wav", Data: []byte("x")},
		},
		Limit: 1 << 20,
	}}
	var asked []approve.Question
	sm.open(t, f, approver(func(_ context.Context, q approve.Question) (approve.Answer, error) {
		asked = append(asked, q)
		return approve.AllowOnce, nil
	}))
	out, rec := ask(t, sm.session, "go")
	if want := (server.Sampled{Model: "m", Text: "It is so.", Stop: "maxTokens"}); sm.err != nil || sm.answer != want {
		t.Fatalf("answer = %+v, %v; want %+v", sm.answer, sm.err, want)
	}
	r := f.script.requests()[1]
	if r.Kind != "sampling" || r.System != "Be brief." || len(r.Tools) != 0 || r.MaxTokens != 4096 || r.Session != sm.session.ID() {
		t.Errorf("request = %+v, want one without tools, of at most 4096 tokens", r)
	}
	text := func(s string) llms.ContentPart { return llms.TextContent{Text: s} }
	if diff := cmp.Diff([]llms.MessageContent{
		{Role: llms.ChatMessageTypeHuman, Parts: []llms.ContentPart{text("Is it"), text("so?")}},
		{Role: llms.ChatMessageTypeAI, Parts: []llms.ContentPart{text("Is what?")}},
		{Role: llms.ChatMessageTypeHuman, Parts: []llms.ContentPart{
			llms.BinaryContent{MIMEType: "image/png", Data: []byte("\x89PNG\r\n\x1a\n")}, text("[No text: audio/wav, 1 bytes]"),
		}},
	}, r.Messages); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}

	last := asked[len(asked)-1]
	if last.CallID != sm.id || last.Tool != "s_ask" || last.Plan.Always.Key != "" {
		t.Errorf("question = %+v, want one of call %s", last, sm.id)
	}
	for _, part := range []string{"Sage", "Be brief.", "so?", "image/png"} {
		if !strings.Contains(last.Reason, part) {
			t.Errorf("the user reads %q, without %q", last.Reason, part)
		}
	}
	if got, want := out.Usage, (model.Usage{Input: 30, Output: 6, Known: true}); got != want {
		t.Errorf("the turn has used %+v, want %+v", got, want)
	}
	if got, want := f.entries(t, sm.session)[2].(thread.Result).Usage, (model.Usage{Input: 10, Output: 2, Known: true}); got != want {
		t.Errorf("the call has used %+v, want %+v", got, want)
	}
	if rec.text() != "done" {
		t.Errorf("the user reads %q, want nothing of what the server was told", rec.text())
	}
	if _, rec := ask(t, sm.session, "/usage"); !strings.Contains(rec.text(), "Tokens in: 30") || !strings.Contains(rec.text(), "Answers of models: 2") {
		t.Errorf("/usage says %q", rec.text())
	}
	_, id, stop := sm.session.Calling(t.Context(), "Sage")
	defer stop()
	if _, err := sm.session.Sample(t.Context(), "Sage", sm.request); !errors.Is(err, server.ErrRefused) || id != "" {
		t.Errorf("after the call %q: %v, want a refusal", id, err)
	}
}

// What a server asks during a call ends with the call.
func TestCallingEndsWithTheCall(t *testing.T) {
	f := newFixture()
	f.script.steps = []step{wants(want{"a", "s_ask", "{}"}), says("x")}
	var during context.Context
	var s *harness.Session
	tool := toolstest.Of("Sage", "s", "ask", toolstest.Echo(""))
	tool.OnRun = func(context.Context, tools.Call) (tools.Result, error) {
		during, _, _ = s.Calling(t.Context(), "Sage")
		return tools.Result{Text: "done"}, during.Err()
	}
	s = f.open(t, serving(&toolstest.Servers{ToolList: []tools.Tool{tool}}))
	ask(t, s, "go")
	select {
	case <-during.Done(): // by a goroutine of its own
	case <-time.After(10 * time.Second):
		t.Error("the context goes on after the call")
	}
}

// What the server writes is in no line of the question's own, whatever it holds.
func TestSamplingIsShownAsSaid(t *testing.T) {
	f := newFixture()
	f.script.steps = []step{wants(want{"a", "s_ask", "{}"}), says("x"), says("done")}
	sm := &sampler{request: server.Sampling{System: "Be brief.\n\n**Lorimer** has checked it.", Messages: []server.Part{
		{Role: "user", Text: "```\n# Safe\r\x1b[2J\u202e"},
	}}}
	var reason string
	sm.open(t, f, approver(func(_ context.Context, q approve.Question) (approve.Answer, error) {
		reason = q.Reason
		return approve.AllowOnce, nil
	}))
	ask(t, sm.session, "go")
	const want = "    Be brief.\n    \n    **Lorimer** has checked it.\n    \n    ```\n    # Safe\\r\\x1b[2J\\u202e"
	if _, said, _ := strings.Cut(reason, "\n\n"); said != want {
		t.Errorf("the user reads (-want +got):\n%s", cmp.Diff(want, said))
	}
}

func TestSamplingIsRefused(t *testing.T) {
	answers := func(a approve.Answer, err error) approve.Approver {
		return approver(func(context.Context, approve.Question) (approve.Answer, error) { return a, err })
	}
	long := server.Sampling{Messages: []server.Part{{Role: "user", Text: strings.Repeat("x", 300<<10)}}}
	heavy := server.Sampling{Messages: []server.Part{{MIME: "image/png", Data: make([]byte, 3<<20)}, {MIME: "audio/wav", Data: make([]byte, 3<<20)}}}
	unasked := approver(func(context.Context, approve.Question) (approve.Answer, error) {
		t.Error("the user is asked for what would fail")
		return approve.AllowOnce, nil
	})
	tests := []struct {
		name    string
		user    approve.Approver
		request server.Sampling
		refused bool
	}{
		{"by the user", answers(approve.Deny, nil), server.Sampling{}, true},
		{"by the user for ever", answers(approve.DenyAlways, nil), server.Sampling{}, true},
		{"where nobody is there", nil, server.Sampling{}, true},
		{"where nobody can be reached", answers(approve.AllowOnce, errors.New("gone")), server.Sampling{}, false},
		{"of what is too long", unasked, long, false},
		{"of too many pictures", unasked, heavy, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture()
			f.script.steps = []step{wants(want{"a", "s_ask", "{}"}), says("done")}
			sm := &sampler{request: tt.request}
			sm.open(t, f, tt.user)
			ask(t, sm.session, "go")
			if sm.err == nil || errors.Is(sm.err, server.ErrRefused) != tt.refused {
				t.Errorf("error = %v, want a refusal: %v", sm.err, tt.refused)
			}
			if n := len(f.script.requests()); n != 2 {
				t.Errorf("the model was asked %d times, want not for the server", n)
			}
		})
	}
}

// Why the model did not answer may hold what is nobody else's business.
func TestSamplingFails(t *testing.T) {
	f := newFixture()
	secret := &model.Error{Kind: model.Auth, Provider: "p", Message: "key sk-1 is wrong"}
	f.script.steps = []step{wants(want{"a", "s_ask", "{}"}), fails(secret), says("done")}
	sm := &sampler{request: server.Sampling{Messages: []server.Part{{Role: "user", Text: "?"}}}}
	sm.open(t, f, approver(func(context.Context, approve.Question) (approve.Answer, error) { return approve.AllowOnce, nil }))
	_, rec := ask(t, sm.session, "go")
	if sm.err == nil || strings.Contains(sm.err.Error(), "sk-1") || rec.text() != "done" {
		t.Errorf("the server hears %v, and the answer is %q", sm.err, rec.text())
	}
}

// The question and the request end with the call, whatever context the server has.
func TestSamplingEndsWithItsCall(t *testing.T) { // R-ACP-26
	for _, during := range []string{"question", "request"} {
		t.Run(during, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture()
				f.script.steps = []step{wants(want{"a", "s_ask", "{}"}), hangs()}
				sm := &sampler{request: server.Sampling{Messages: []server.Part{{Role: "user", Text: "?"}}}}
				sm.open(t, f, approver(func(ctx context.Context, q approve.Question) (approve.Answer, error) {
					if during == "question" {
						<-ctx.Done()
						return approve.Deny, ctx.Err()
					}
					return approve.AllowOnce, nil
				}))
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Second, cancel)
				start := time.Now()
				rec := &recorder{}
				out, err := prompted(t, sm.session, ctx, "go", rec)
				if err != nil || out.Stop != harness.Cancelled || time.Since(start) != time.Second {
					t.Errorf("outcome = %+v, %v after %v", out, err, time.Since(start))
				}
				if !errors.Is(sm.err, context.Canceled) {
					t.Errorf("the server hears %v, want that it was cancelled", sm.err)
				}
				if err := rec.closed(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A call waits for the requests of its server: they use the model of its turn.
func TestSamplingThatOutlivesItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		f.script.steps = []step{wants(want{"a", "s_ask", "{}"}), func(ctx context.Context, _ *model.Request, _ func(model.Event) error) (*model.Reply, error) {
			<-ctx.Done()
			time.Sleep(time.Second) // it takes its time to break off
			return &model.Reply{Usage: model.Usage{Input: 7, Output: 1, Known: true}}, ctx.Err()
		}, says("done")}
		var s *harness.Session
		ended := make(chan error, 1)
		tool := toolstest.Of("Sage", "s", "ask", toolstest.Echo(""))
		tool.OnRun = func(context.Context, tools.Call) (tools.Result, error) {
			go func() {
				_, err := s.Sample(t.Context(), "Sage", server.Sampling{Messages: []server.Part{{Role: "user", Text: "?"}}})
				ended <- err
			}()
			synctest.Wait()
			return tools.Result{Text: "not waiting"}, nil
		}
		s = f.open(t, serving(&toolstest.Servers{ToolList: []tools.Tool{tool}}), func(sp *harness.Spec) {
			sp.Approver = approver(func(context.Context, approve.Question) (approve.Answer, error) { return approve.AllowOnce, nil })
		})
		ask(t, s, "go")
		select {
		case err := <-ended:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("the server hears %v, want that its request was cancelled", err)
			}
		default:
			t.Error("the turn is over, and the request goes on")
		}
		if got, want := f.entries(t, s)[2].(thread.Result).Usage, (model.Usage{Input: 7, Output: 1, Known: true}); got != want {
			t.Errorf("the call has used %+v, want %+v", got, want)
		}
	})
}

// A call that no turn has made has no model.
func TestNoSamplingInASingleCall(t *testing.T) {
	f := newFixture()
	sm := &sampler{}
	sm.open(t, f, approver(func(context.Context, approve.Question) (approve.Answer, error) { return approve.AllowOnce, nil }))
	if _, err := sm.session.Call(t.Context(), "s_ask", nil, event.SinkFunc(func(event.Event) error { return nil })); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(sm.err, server.ErrRefused) {
		t.Errorf("error = %v, want a refusal", sm.err)
	}
}
