package modeltest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// TestQuirks checks that the client of a protocol, which bears its name in
// [Protocols], reads every quirk as it reads the plain stream, and that what it
// makes of one can be sent back. Each open returns a streamer that gives the
// replies in order.
func TestQuirks(t *testing.T, protocol string, open func(t *testing.T, replies ...Reply) model.Streamer, lack ...Lack) {
	plain := assemble(t, open(t, full()))
	for _, q := range Quirks(protocol) {
		t.Run(string(q), func(t *testing.T) {
			r := full()
			r.Quirk = q
			s := open(t, r, Reply{Text: []string{"Done."}})
			plain.compare(t, q, assemble(t, s), lacks(lack))
		})
	}
	t.Run(string(MalformedEvent), func(t *testing.T) { testMalformed(t, open) })
	t.Run(string(HugeArgument), func(t *testing.T) { testHuge(t, open) })
	t.Run(string(OnlyKeepAlive), func(t *testing.T) { testKeepAlive(t, open) })
	switch protocol {
	case "openai-chat":
		t.Run(string(Refusal), func(t *testing.T) { testEnding(t, open, Refusal, model.StopRefusal) })
	case "openai-responses":
		t.Run(string(Refusal), func(t *testing.T) { testEnding(t, open, Refusal, model.StopRefusal) })
		t.Run(string(IncompleteItem), func(t *testing.T) { testEnding(t, open, IncompleteItem, model.StopLength) })
		t.Run(string(ErrorEvent), func(t *testing.T) { testErrorEvent(t, open) })
	}
}

// An assembled answer is what a client made of a stream.
type assembled struct {
	events, parts told
	stop          model.Stop
	usage         model.Usage
	redacted      bool // a thought came in opaque form
}

// assemble asks once, and if the streamer has a second reply sends the answer back
// with results, to see that it is accepted.
func assemble(t *testing.T, s model.Streamer) assembled {
	t.Helper()
	req := Ask("go")
	events, reply, err := Collect(t.Context(), s, req)
	if err != nil {
		t.Fatal(err)
	}
	out := assembled{events: tell(t, events), parts: parts(reply), stop: reply.Stop, usage: reply.Usage}
	for _, p := range reply.Parts {
		if r, ok := p.(model.Reasoning); ok && r.Redacted != "" {
			out.redacted = true
		}
	}
	if len(out.parts.Calls) != 2 {
		t.Fatalf("calls = %+v, want 2", out.parts.Calls)
	}
	req.Messages = append(req.Messages, Results(reply, "package ä", "found")...)
	_, reply, err = Collect(t.Context(), s, req)
	switch e, typed := errors.AsType[*model.Error](err); {
	case typed && strings.Contains(e.Message, "no reply is left"):
	case err != nil:
		t.Fatalf("the answer was sent back: %v", err)
	case parts(reply).Text != "Done.":
		t.Errorf("second answer = %q", parts(reply).Text)
	}
	return out
}

// compare checks that got says the same as a.
func (a assembled) compare(t *testing.T, q Quirk, got assembled, lack lacks) {
	t.Helper()
	if q == SummaryParts { // how the parts are joined is the client's
		for _, s := range []*string{&a.events.Think, &a.parts.Think, &got.events.Think, &got.parts.Think} {
			*s = strings.Join(strings.Fields(*s), " ")
		}
	}
	if diff := cmp.Diff(got.events.Calls, got.parts.Calls); diff != "" {
		t.Errorf("calls (-in events +in the reply):\n%s", diff)
	}
	if q == WithoutIDs || q == EmptyID || q == LateID || lack.has(NoIDs) {
		if c := got.parts.Calls; c[0].ID == "" || c[1].ID == "" || c[0].ID == c[1].ID {
			t.Errorf("ids = %q, %q, want two that were made up", c[0].ID, c[1].ID)
		}
		for _, o := range []*told{&a.events, &a.parts, &got.events, &got.parts} {
			o.forget()
		}
	}
	if (q == RedactedThinking) != got.redacted {
		t.Errorf("a redacted thought in the reply: %v", got.redacted)
	}
	got.redacted = a.redacted
	if diff := cmp.Diff(a, got, cmp.AllowUnexported(assembled{})); diff != "" {
		t.Errorf("answer (-plain +with the quirk):\n%s", diff)
	}
}

func testMalformed(t *testing.T, open opener) {
	r := full()
	r.Quirk = MalformedEvent
	_, reply, err := Collect(t.Context(), open(t, r), Ask("go"))
	e, ok := errors.AsType[*model.Error](err)
	if !ok || e.Kind != model.Malformed || !e.Partial || !e.Temporary() {
		t.Errorf("error = %v (%+v), want a malformed answer, partial and temporary", err, e)
	}
	if reply == nil || parts(reply).Text != "I look." || len(parts(reply).Calls) > 0 {
		t.Errorf("reply = %+v, want the text and no calls", reply)
	}
}

func testHuge(t *testing.T, open opener) {
	if testing.Short() {
		t.Skip("40 MB take their time")
	}
	got := 0
	_, err := open(t, Reply{Tools: []Tool{{ID: "call_a", Name: "read"}}, Quirk: HugeArgument}).Stream(t.Context(), Ask("go"), func(e model.Event) error {
		if a, ok := e.(model.ToolArgs); ok {
			got += len(a.Fragment)
		}
		return nil
	})
	if want := len(hugeArguments()); err != nil || got != want {
		t.Errorf("%d bytes of arguments (%v), want %d", got, err, want)
	}
}

func testKeepAlive(t *testing.T, open opener) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	events, _, err := Collect(ctx, open(t, Reply{Quirk: OnlyKeepAlive}), Ask("go"))
	if e, ok := errors.AsType[*model.Error](err); !ok || e.Kind != model.Canceled || len(events) > 0 {
		t.Errorf("error = %v after %d events, want a cancelled request without any", err, len(events))
	}
}

func testEnding(t *testing.T, open opener, q Quirk, want model.Stop) {
	_, reply, err := Collect(t.Context(), open(t, Reply{Text: []string{"I ", "see."}, Quirk: q}), Ask("go"))
	if err != nil {
		t.Fatal(err)
	}
	if got := parts(reply).Text; reply.Stop != want || got != "I see." {
		t.Errorf("Stop = %q after %q, want %q after the text", reply.Stop, got, want)
	}
}

func testErrorEvent(t *testing.T, open opener) {
	r := Reply{Text: []string{"x"}, Error: "busy", Code: "server_error"}
	_, _, plain := Collect(t.Context(), open(t, r), Ask("go"))
	r.Quirk = ErrorEvent
	_, _, err := Collect(t.Context(), open(t, r), Ask("go"))
	want, _ := errors.AsType[*model.Error](plain)
	got, _ := errors.AsType[*model.Error](err)
	if want == nil || got == nil || got.Kind != want.Kind || !got.Partial || !got.Temporary() || !strings.Contains(got.Message, "busy") {
		t.Errorf("error = %v (%+v), want that of response.failed, %v", err, got, plain)
	}
}
