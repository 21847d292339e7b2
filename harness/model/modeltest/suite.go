package modeltest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// TestStreamer checks that streamers keep the contract of [model.Streamer]. Each
// open returns one that gives the replies in order. What a protocol lacks is not
// asked for.
func TestStreamer(t *testing.T, open func(t *testing.T, replies ...Reply) model.Streamer, lack ...Lack) {
	t.Run("events tell the reply in order", func(t *testing.T) { testEvents(t, open, lack) })
	t.Run("an answer can be sent back with its results", func(t *testing.T) { testRoundTrip(t, open) })
	t.Run("stop reasons", func(t *testing.T) { testStops(t, open, lack) })
	t.Run("usage", func(t *testing.T) { testUsage(t, open, lack) })
	t.Run("a refused request is a typed error", func(t *testing.T) { testFaults(t, open) })
	t.Run("a broken answer is partial and has no calls", func(t *testing.T) { testBroken(t, open) })
	t.Run("an error of the sink ends the request unchanged", func(t *testing.T) { testSink(t, open) })
	t.Run("a cancelled request says so", func(t *testing.T) { testCancel(t, open) })
	t.Run("GenerateContent streams text alone", func(t *testing.T) { testGenerate(t, open, lack) })
}

// Ask is a request with one message of the user and two tools.
func Ask(text string) *model.Request {
	schema := []byte(`{"type":"object","properties":{"path":{"type":"string"}}}`)
	return &model.Request{
		Kind: "main", Session: "s1", System: "You are under test.",
		Messages: []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, text)},
		Tools: []model.Tool{
			{Name: "grep", Description: "Finds text.", Schema: schema},
			{Name: "read", Description: "Reads a file.", Schema: schema},
		},
	}
}

// Results answers the calls of a reply: the messages to append to the history.
func Results(r *model.Reply, contents ...string) []llms.MessageContent {
	out := []llms.MessageContent{{Role: llms.ChatMessageTypeAI, Parts: r.Parts}}
	var results []llms.ContentPart
	for _, p := range r.Parts {
		if x, ok := p.(model.Extra); ok {
			p = x.ToolCall
		}
		if c, ok := p.(llms.ToolCall); ok {
			results = append(results, model.ToolResult{ToolCallResponse: llms.ToolCallResponse{
				ToolCallID: c.ID, Name: c.FunctionCall.Name, Content: contents[len(results)]}})
		}
	}
	return append(out, llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: results})
}

// Collect streams req and returns its events beside the outcome.
func Collect(ctx context.Context, s model.Streamer, req *model.Request) ([]model.Event, *model.Reply, error) {
	var events []model.Event
	r, err := s.Stream(ctx, req, func(e model.Event) error { events = append(events, e); return nil })
	return events, r, err
}

func full() Reply {
	return Reply{
		Think: []string{"Let me ", "think."}, Text: []string{"I ", "look."},
		Tools: []Tool{{ID: "call_a", Name: "read", Args: `{"path":"ä.go", "n":12345678901234567890}`}, {ID: "call_b", Name: "grep", Args: `{"path":"<&>"}`}},
	}
}

// told is what events say, without regard to how they are cut.
type told struct {
	Text, Think string
	Calls       []Tool
}

// forget takes the ids out of the calls.
func (o *told) forget() {
	o.Calls = slices.Clone(o.Calls)
	for i := range o.Calls {
		o.Calls[i].ID = ""
	}
}

func tell(t *testing.T, events []model.Event) told {
	t.Helper()
	var out told
	for _, e := range events {
		switch e := e.(type) {
		case model.Text:
			out.Text += string(e)
		case model.Think:
			out.Think += string(e)
		case model.ToolStart:
			if e.Index != len(out.Calls) {
				t.Fatalf("ToolStart of index %d where %d is due", e.Index, len(out.Calls))
			}
			out.Calls = append(out.Calls, Tool{ID: e.ID, Name: e.Name})
		case model.ToolArgs:
			if e.Index >= len(out.Calls) {
				t.Fatalf("ToolArgs of index %d before its ToolStart", e.Index)
			}
			out.Calls[e.Index].Args += e.Fragment
		}
	}
	return out
}

// parts is what the parts of a reply say.
func parts(r *model.Reply) told {
	var out told
	for _, p := range r.Parts {
		switch p := p.(type) {
		case llms.TextContent:
			out.Text += p.Text
		case model.SignedText:
			out.Text += p.Text
		case model.Reasoning:
			out.Think += p.Text
		case llms.ToolCall:
			out.Calls = append(out.Calls, Tool{ID: p.ID, Name: p.FunctionCall.Name, Args: p.FunctionCall.Arguments})
		case model.Extra:
			out.Calls = append(out.Calls, Tool{ID: p.ID, Name: p.FunctionCall.Name, Args: p.FunctionCall.Arguments})
		}
	}
	return out
}

type opener = func(t *testing.T, replies ...Reply) model.Streamer

func testEvents(t *testing.T, open opener, lack lacks) {
	r := full()
	events, reply, err := Collect(t.Context(), open(t, r), Ask("go"))
	if err != nil {
		t.Fatal(err)
	}
	want, heard, kept := told{Text: "I look.", Think: "Let me think.", Calls: r.Tools}, tell(t, events), parts(reply)
	if lack.has(NoThink) {
		want.Think = ""
	}
	if lack.has(NoIDs) {
		want.forget()
		heard.forget()
		kept.forget()
	}
	if diff := cmp.Diff(want, heard); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, kept); diff != "" {
		t.Errorf("reply (-want +got):\n%s", diff)
	}
	if reply.Stop != model.StopTools {
		t.Errorf("Stop = %q, want %q", reply.Stop, model.StopTools)
	}
}

func testRoundTrip(t *testing.T, open opener) {
	s := open(t, full(), Reply{Text: []string{"Done."}})
	req := Ask("go")
	_, reply, err := Collect(t.Context(), s, req)
	if err != nil {
		t.Fatal(err)
	}
	before := append([]llms.MessageContent(nil), append(req.Messages, Results(reply, "package ä", "")...)...)
	req.Messages = before
	copied := append([]llms.MessageContent(nil), before...)
	_, reply, err = Collect(t.Context(), s, req)
	if err != nil {
		t.Fatal(err)
	}
	if got := parts(reply).Text; got != "Done." {
		t.Errorf("second answer = %q", got)
	}
	if diff := cmp.Diff(copied, req.Messages); diff != "" {
		t.Errorf("the request was changed (-want +got):\n%s", diff)
	}
}

func testStops(t *testing.T, open opener, lack lacks) {
	for _, want := range []model.Stop{model.StopEnd, model.StopLength, model.StopRefusal} {
		if want == model.StopRefusal && lack.has(NoRefusal) {
			continue
		}
		_, reply, err := Collect(t.Context(), open(t, Reply{Text: []string{"x"}, Stop: want}), Ask("go"))
		if err != nil || reply.Stop != want {
			t.Errorf("Stop = %q (%v), want %q", reply.Stop, err, want)
		}
	}
}

func testUsage(t *testing.T, open opener, lack lacks) {
	want := model.Usage{Input: 2006, Output: 300, CacheRead: 1920, CacheWrite: 64, Reasoning: 192, Known: true}
	sent := want
	_, reply, err := Collect(t.Context(), open(t, Reply{Text: []string{"x"}, Usage: &sent}), Ask("go"))
	if err != nil {
		t.Fatal(err)
	}
	for l, n := range map[Lack]*int{NoCacheRead: &want.CacheRead, NoCacheWrite: &want.CacheWrite, NoReasoningUsage: &want.Reasoning} {
		if lack.has(l) {
			*n = 0
		}
	}
	if diff := cmp.Diff(want, reply.Usage); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
	_, reply, err = Collect(t.Context(), open(t, Reply{Text: []string{"x"}, Usage: &model.Usage{}}), Ask("go"))
	if err != nil || reply.Usage.Known {
		t.Errorf("usage that was not reported = %+v (%v)", reply.Usage, err)
	}
}

func testFaults(t *testing.T, open opener) {
	tests := []struct {
		reply Reply
		kind  model.Kind
		again bool
	}{
		{Reply{Status: 401, Error: "bad key"}, model.Auth, false},
		{Reply{Status: 402, Error: "pay"}, model.Quota, false},
		{Reply{Status: 404, Error: "no such model"}, model.NotFound, false},
		{Reply{Status: 400, Error: "bad field"}, model.Invalid, false},
		{Reply{Status: 400, Error: "prompt is too long: 210000 tokens > 200000 maximum"}, model.TokenLimit, false},
		{Reply{Status: 429, Error: "slow down", Header: map[string]string{"Retry-After": "7"}}, model.RateLimit, true},
		{Reply{Status: 503, Error: "busy"}, model.Overloaded, true},
		{Reply{Status: 529, Error: "Overloaded", Header: map[string]string{"X-Should-Retry": "false"}}, model.Overloaded, false},
		{Reply{Error: "Overloaded", Code: "overloaded_error"}, model.Overloaded, true},
	}
	for _, tt := range tests {
		events, _, err := Collect(t.Context(), open(t, tt.reply), Ask("go"))
		e, ok := errors.AsType[*model.Error](err)
		if !ok || e.Kind != tt.kind || e.Temporary() != tt.again || e.Partial || len(events) > 0 {
			t.Errorf("%d %s: error = %v (%+v) after %d events, want %s, again %v", tt.reply.Status, tt.reply.Error, err, e, len(events), tt.kind, tt.again)
		}
		if ok && tt.reply.Status == 429 && e.RetryAfter.Seconds() != 7 {
			t.Errorf("RetryAfter = %v, want 7s", e.RetryAfter)
		}
	}
}

func testBroken(t *testing.T, open opener) {
	for name, r := range map[string]Reply{"cut": {Cut: true}, "end of file": {EOF: true}, "error in the stream": {Error: "boom", Code: "server_error"}} {
		f := full()
		r.Think, r.Text, r.Tools = f.Think, f.Text, f.Tools
		_, reply, err := Collect(t.Context(), open(t, r), Ask("go"))
		e, ok := errors.AsType[*model.Error](err)
		if !ok || !e.Partial || !e.Temporary() {
			t.Errorf("%s: error = %v (%+v), want a partial, temporary one", name, err, e)
		}
		if reply == nil || parts(reply).Text != "I look." || len(parts(reply).Calls) > 0 {
			t.Errorf("%s: reply = %+v, want the text and no calls", name, reply)
		}
	}
}

func testSink(t *testing.T, open opener) {
	own := errors.New("enough")
	calls := 0
	_, err := open(t, Reply{Text: []string{"a", "b", "c"}}).Stream(t.Context(), Ask("go"), func(model.Event) error {
		calls++
		return own
	})
	if err != own || calls != 1 {
		t.Errorf("error = %v after %d events, want %v after 1", err, calls, own)
	}
	typed := model.Error{Kind: model.Invalid, Message: "not mine to change"}
	before := typed
	_, err = open(t, Reply{Text: []string{"a"}}).Stream(t.Context(), Ask("go"), func(model.Event) error { return &typed })
	if err != error(&typed) || typed != before {
		t.Errorf("error = %+v, want %+v", err, before)
	}
}

func testCancel(t *testing.T, open opener) {
	for name, r := range map[string]Reply{"before the first event": {Hang: true}, "in the middle": {Text: []string{"a"}, Hang: true}} {
		ctx, cancel := context.WithCancel(t.Context())
		s := open(t, r)
		if len(r.Text) == 0 {
			cancel()
		}
		_, err := s.Stream(ctx, Ask("go"), func(model.Event) error { cancel(); return nil })
		cancel()
		e, ok := errors.AsType[*model.Error](err)
		if !ok || e.Kind != model.Canceled || !errors.Is(err, context.Canceled) || e.Temporary() {
			t.Errorf("%s: error = %v (%+v), want a cancelled request", name, err, e)
		}
	}
}

func testGenerate(t *testing.T, open opener, lack lacks) {
	r := full()
	s := open(t, r, Reply{Status: 401, Error: "bad key"})
	var heard []string
	msgs := []llms.MessageContent{
		llms.TextParts(llms.ChatMessageTypeSystem, "You are under test."),
		llms.TextParts(llms.ChatMessageTypeHuman, "go"),
	}
	res, err := s.GenerateContent(t.Context(), msgs, llms.WithStreamingFunc(func(_ context.Context, b []byte) error {
		heard = append(heard, string(b))
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	c := res.Choices[0]
	thought := "Let me think."
	if lack.has(NoThink) {
		thought = ""
	}
	if got := strings.Join(heard, ""); got != "I look." || c.Content != got || c.ReasoningContent != thought || len(c.ToolCalls) != len(r.Tools) {
		t.Errorf("heard %q, choice %+v", heard, c)
	}
	_, err = s.GenerateContent(t.Context(), msgs)
	want := &llms.Error{Code: llms.ErrCodeAuthentication}
	if diff := cmp.Diff(error(want), err, cmpopts.IgnoreFields(llms.Error{}, "Message", "Provider", "Details", "Cause")); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
}
