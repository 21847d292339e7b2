package v1_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/acp/v1"
	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/approve"
)

// updates returns the updates of out as JSON, one a line.
func (t *tape) updates(tb testing.TB) []string {
	tb.Helper()
	var list []string
	for _, f := range t.frames {
		var m struct {
			Params struct {
				Update json.RawMessage `json:"update"`
			} `json:"params"`
		}
		if err := json.Unmarshal(f.Append(nil), &m); err != nil {
			tb.Fatal(err)
		}
		list = append(list, string(m.Params.Update))
	}
	return list
}

func emit(tb testing.TB, turn *v1.Turn, events ...event.Event) {
	tb.Helper()
	for _, ev := range events {
		if err := turn.Emit(ev); err != nil {
			tb.Fatal(err)
		}
	}
}

func ptr[T any](v T) *T { return &v }

func TestUpdates(t *testing.T) {
	tests := []struct {
		name   string
		o      v1.Options
		events []event.Event
		want   []string
	}{
		{
			"usage, also of an unknown window, and as it is estimated", v1.Options{},
			[]event.Event{event.Usage{Used: 10, Size: 100}, event.Usage{Used: 3}, event.Usage{Used: 4, Size: 100, Estimated: true}},
			[]string{
				`{"sessionUpdate":"usage_update","used":10,"size":100}`,
				`{"sessionUpdate":"usage_update","used":3,"size":0}`,
				`{"sessionUpdate":"usage_update","used":4,"size":100,"_meta":{"lorimer.dev":{"estimated":true}}}`,
			},
		},
		{
			"metadata of a message end it", v1.Options{},
			[]event.Event{
				event.Text{MessageID: "m1", Text: "hi"},
				event.Done{MessageID: "m1", Meta: json.RawMessage(`{"model":"p/m"}`)},
			},
			[]string{
				`{"sessionUpdate":"agent_message_chunk","messageId":"m1","content":{"type":"text","text":"hi"}}`,
				`{"sessionUpdate":"agent_message_chunk","messageId":"m1","content":{"type":"text","text":""},"_meta":{"lorimer.dev":{"model":"p/m"}}}`,
			},
		},
		{
			"no metadata, or no text to hold them: nothing", v1.Options{},
			[]event.Event{
				event.Done{MessageID: "m1", Meta: json.RawMessage(`{"model":"p/m"}`)},
				event.Text{MessageID: "m2", Text: "hi"},
				event.Done{MessageID: "m2"},
				event.Done{MessageID: "m3", Meta: json.RawMessage(`{"model":"p/m"}`)},
			},
			[]string{`{"sessionUpdate":"agent_message_chunk","messageId":"m2","content":{"type":"text","text":"hi"}}`},
		},
		{
			"messages and thoughts that did not hold", v1.Options{},
			[]event.Event{
				event.Thought{MessageID: "m1", Text: "hm"},
				event.Text{MessageID: "m2", Text: "one"},
				event.Text{MessageID: "m3", Text: "two"},
				event.Done{MessageID: "m1", Thought: true, Meta: json.RawMessage(`{"replaced":true}`)},
				event.Done{MessageID: "m2", Meta: json.RawMessage(`{"replaced":true}`)},
				event.Done{MessageID: "m3", Meta: json.RawMessage(`{"replaced":true}`)},
			},
			[]string{
				`{"sessionUpdate":"agent_thought_chunk","messageId":"m1","content":{"type":"text","text":"hm"}}`,
				`{"sessionUpdate":"agent_message_chunk","messageId":"m2","content":{"type":"text","text":"one"}}`,
				`{"sessionUpdate":"agent_message_chunk","messageId":"m3","content":{"type":"text","text":"two"}}`,
				`{"sessionUpdate":"agent_thought_chunk","messageId":"m1","content":{"type":"text","text":""},"_meta":{"lorimer.dev":{"replaced":true}}}`,
				`{"sessionUpdate":"agent_message_chunk","messageId":"m2","content":{"type":"text","text":""},"_meta":{"lorimer.dev":{"replaced":true}}}`,
				`{"sessionUpdate":"agent_message_chunk","messageId":"m3","content":{"type":"text","text":""},"_meta":{"lorimer.dev":{"replaced":true}}}`,
			},
		},
		{
			"a notice where the client has notices", v1.Options{Notices: true},
			[]event.Event{
				event.Notice{Severity: event.Warning, Text: "One line.\nAnd more."},
				event.Notice{Text: "Info."},
				event.Retry{Reason: "The provider is overloaded.", Wait: 1500 * time.Millisecond, Attempt: 2},
			},
			[]string{
				`{"sessionUpdate":"notice","severity":"warning","title":"One line.","description":"And more."}`,
				`{"sessionUpdate":"notice","severity":"info","title":"Info."}`,
				`{"sessionUpdate":"notice","severity":"warning","title":"The provider is overloaded; asking again in 1.5s (repeat 2)"}`,
			},
		},
		{
			"a title", v1.Options{},
			[]event.Event{event.Title{Text: "Of <it>", Updated: time.Date(2026, 11, 30, 13, 0, 3, 5e8, time.FixedZone("", 3600))}},
			[]string{`{"sessionUpdate":"session_info_update","title":"Of <it>","updatedAt":"2026-11-30T12:00:03Z"}`},
		},
		{
			"what the user wrote is not echoed", v1.Options{},
			[]event.Event{event.User{MessageID: "u1", Blocks: []event.Block{{Text: "hi"}}}},
			nil,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out := &tape{}
			emit(t, v1.New(out, tt.o).Turn(), tt.events...)
			if diff := cmp.Diff(tt.want, out.updates(t)); diff != "" {
				t.Errorf("updates (-want +got):\n%s", diff)
			}
		})
	}
}

// A client without notices is told as a thought: the answer stays the model's
// (R-ACP-22).
func TestNoticeWithoutCapability(t *testing.T) {
	out := &tape{}
	turn := v1.New(out, v1.Options{}).Turn()
	emit(t, turn, event.Notice{Text: "One."}, event.Retry{Wait: time.Second, Attempt: 1}, event.Text{MessageID: "m1", Text: "x"})
	ms := out.messages(t)
	if len(ms) != 3 {
		t.Fatalf("got %d updates, want 3", len(ms))
	}
	for _, m := range ms[:2] {
		if m.Params.Update.Kind != "agent_thought_chunk" || m.Params.Update.MessageID == "" {
			t.Errorf("notice came as %+v, want a thought with an id", m.Params.Update)
		}
	}
	if ms[0].Params.Update.MessageID == ms[1].Params.Update.MessageID {
		t.Error("two notices have the same message id")
	}
	if got := ms[1].Params.Update.Content.Text; !strings.Contains(got, "asking again in 1s") {
		t.Errorf("retry is told as %q", got)
	}
}

// R-ACP-23, R-ACP-44: the life of a call, with what each state has to say.
func TestToolCall(t *testing.T) {
	huge := "123456789012345678901234567890"
	tests := []struct {
		name   string
		events []event.Event
		want   []string
	}{
		{
			"an edit from name to result keeps its diff",
			[]event.Event{
				event.ToolCall{ID: "c1", New: true, Name: "edit", Title: "edit", Kind: tools.KindEdit, Status: event.Pending},
				event.ToolCall{
					ID: "c1", Title: "/w/a.go", Input: json.RawMessage(`{"path":"a.go","n":` + huge + `}`),
					Locations: []tools.Location{{Path: "/w/a.go", Line: 3}, {Path: "b.go"}},
					Diffs:     []tools.Diff{{Path: "/w/a.go", Old: ptr("a\n"), New: "b\n"}, {Path: "b.go", New: "<n>"}},
				},
				event.ToolCall{ID: "c1", Status: event.InProgress},
				event.ToolCall{ID: "c1", Status: event.Completed, Text: "edited 1 place"},
			},
			[]string{
				`{"sessionUpdate":"tool_call","toolCallId":"c1","title":"edit","name":"edit","kind":"edit","status":"pending"}`,
				`{"sessionUpdate":"tool_call_update","toolCallId":"c1","title":"/w/a.go","content":[` +
					`{"type":"diff","path":"/w/a.go","oldText":"a\n","newText":"b\n"},` +
					`{"type":"diff","path":"/w/b.go","oldText":null,"newText":"<n>"}],` +
					`"locations":[{"path":"/w/a.go","line":3},{"path":"/w/b.go"}],"rawInput":{"path":"a.go","n":` + huge + `}}`,
				`{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"in_progress"}`,
				`{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed","rawOutput":"edited 1 place"}`,
			},
		},
		{
			"a failed edit shows why instead of the diff",
			[]event.Event{
				event.ToolCall{ID: "c1", Name: "edit", Kind: tools.KindEdit, Diffs: []tools.Diff{{Path: "/w/a", New: "x"}}},
				event.ToolCall{ID: "c1", Status: event.Failed, Text: "the old text is not there"},
			},
			[]string{
				`{"sessionUpdate":"tool_call","toolCallId":"c1","title":"edit","name":"edit","kind":"edit","status":"pending",` +
					`"content":[{"type":"diff","path":"/w/a","oldText":null,"newText":"x"}]}`,
				`{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"failed",` +
					`"content":[{"type":"content","content":{"type":"text","text":"the old text is not there"}}],"rawOutput":"the old text is not there"}`,
			},
		},
		{
			"output is shown as it is, whatever marks it has",
			[]event.Event{
				event.ToolCall{ID: "c1", Name: "read", Title: "a.md", Kind: tools.KindRead},
				event.ToolCall{ID: "c1", Status: event.Completed, Text: "# a\n````\n", Output: map[string]any{"n": 1}, Meta: json.RawMessage(`{"mcpTool":"x"}`)},
			},
			[]string{
				`{"sessionUpdate":"tool_call","toolCallId":"c1","title":"a.md","name":"read","kind":"read","status":"pending"}`,
				`{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed",` +
					"\"content\":[{\"type\":\"content\",\"content\":{\"type\":\"text\",\"text\":\"`````\\n# a\\n````\\n`````\"}}]," +
					`"rawOutput":{"n":1},"_meta":{"lorimer.dev":{"mcpTool":"x"}}}`,
			},
		},
		{
			"a call without a name or kind has a title and a kind, one final state, and input that is no JSON",
			[]event.Event{
				event.ToolCall{ID: "c1", Input: json.RawMessage(`{"a":`)},
				event.ToolCall{ID: "c1", Status: event.Failed, Text: "no"},
				event.ToolCall{ID: "c1", Status: event.Completed, Text: "yes"},
			},
			[]string{
				`{"sessionUpdate":"tool_call","toolCallId":"c1","title":"tool call","kind":"other","status":"pending","rawInput":"{\"a\":"}`,
				`{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"failed",` +
					`"content":[{"type":"content","content":{"type":"text","text":"no"}}],"rawOutput":"no"}`,
			},
		},
		{
			"an update that says nothing new is none",
			[]event.Event{
				event.ToolCall{ID: "c1", Name: "bash", Title: "Running...", Kind: tools.KindExecute},
				event.ToolCall{ID: "c1", Title: "Running..."},
				event.ToolCall{ID: "c1", Title: "Running..."},
				event.ToolCall{ID: "c1", Status: event.InProgress},
			},
			[]string{
				`{"sessionUpdate":"tool_call","toolCallId":"c1","title":"Running...","name":"bash","kind":"execute","status":"pending"}`,
				`{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"in_progress"}`,
			},
		},
		{
			"a change that changes nothing is no diff",
			[]event.Event{event.ToolCall{ID: "c1", Name: "write", Kind: tools.KindEdit, Diffs: []tools.Diff{{Path: "/w/a", Old: ptr("x"), New: "x"}}}},
			[]string{`{"sessionUpdate":"tool_call","toolCallId":"c1","title":"write","name":"write","kind":"edit","status":"pending"}`},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out := &tape{}
			emit(t, v1.New(out, v1.Options{Dir: "/w"}).Turn(), tt.events...)
			if diff := cmp.Diff(tt.want, out.updates(t)); diff != "" {
				t.Errorf("updates (-want +got):\n%s", diff)
			}
		})
	}
	if _, ok := new(big.Int).SetString(huge, 10); !ok {
		t.Fatal("the large number of the test is none")
	}
}

// Some readers of lines split at the line separators of Unicode, and all want
// UTF-8, so no update holds one or breaks the other.
func TestTransportable(t *testing.T) {
	out := &tape{}
	emit(t, v1.New(out, v1.Options{}).Turn(),
		event.ToolCall{ID: "c1", Name: "x", Title: "a\u2028b", Input: json.RawMessage("{\"a\":\"b\u2028c\u2029\xff\"}")},
		event.ToolCall{ID: "c1", Status: event.Completed, Text: "d\u2028", Output: json.RawMessage("\"e\u2029\"")})
	for _, u := range out.updates(t) {
		if strings.ContainsAny(u, "\u2028\u2029") || !utf8.ValidString(u) {
			t.Errorf("update holds a line separator or is not UTF-8: %q", u)
		}
	}
	if got := out.updates(t)[0]; !strings.Contains(got, `"rawInput":{"a":"b\u2028c\u2029`+"\uFFFD") {
		t.Errorf("update = %s, want the input with escapes", got)
	}
}

// R-ACP-23, C030: what a turn leaves open is closed in the order in which it was
// announced, and no other turn's calls.
func TestTurnEnd(t *testing.T) {
	out := &tape{}
	enc := v1.New(out, v1.Options{})
	one, two := enc.Turn(), enc.Turn()
	emit(t, one, event.ToolCall{ID: "a", Name: "x"}, event.ToolCall{ID: "a", Status: event.Completed})
	var want []string
	for i := range 20 {
		id := fmt.Sprintf("b%d", i)
		emit(t, one, event.ToolCall{ID: id, Name: "y"})
		want = append(want, `{"sessionUpdate":"tool_call_update","toolCallId":"`+id+`","status":"failed"}`)
	}
	emit(t, two, event.ToolCall{ID: "c", Name: "z"})
	out.frames = nil
	if err := one.End(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, out.updates(t)); diff != "" {
		t.Errorf("updates (-want +got):\n%s", diff)
	}
}

// R-ACP-20: nothing of a turn is told after its end, whoever still tries.
func TestNothingAfterTheEnd(t *testing.T) {
	out := &tape{}
	enc := v1.New(out, v1.Options{})
	turn := enc.Turn()
	emit(t, turn, event.ToolCall{ID: "a", Name: "x"})
	if err := turn.End(); err != nil {
		t.Fatal(err)
	}
	out.frames = nil
	for _, ev := range []event.Event{
		event.Text{MessageID: "m", Text: "late"},
		event.ToolCall{ID: "a", Status: event.Completed},
		event.ToolCall{ID: "b", Name: "y"},
		event.Output{ID: "a", Data: "late"},
	} {
		if err := turn.Emit(ev); err == nil {
			t.Errorf("Emit(%T) = nil after the end", ev)
		}
	}
	if got := out.updates(t); len(got) > 0 {
		t.Errorf("told after the end: %q", got)
	}
}

// R-MCP-17: pictures of a result are shown as such, up to what clients read in a line.
func TestPicturesOfAResult(t *testing.T) {
	png := func(n int) tools.Image { return tools.Image{MIME: "image/png", Data: bytes.Repeat([]byte{1}, n)} }
	tests := []struct {
		name string
		call event.ToolCall
		want []string // types of the content, and texts
	}{
		{"beside a text", event.ToolCall{Text: "drawn", Images: []tools.Image{png(3)}}, []string{"text drawn", "image AQEB"}},
		{"alone", event.ToolCall{Images: []tools.Image{png(3), png(3)}}, []string{"image AQEB", "image AQEB"}},
		{"too large together", event.ToolCall{Images: []tools.Image{png(3 << 20), png(3 << 20)}}, []string{"image", "text A picture (image/png, 3072 KiB) is not shown."}},
		{"too large before a small one", event.ToolCall{Images: []tools.Image{png(6 << 20), png(3)}}, []string{"text A picture (image/png, 6144 KiB) is not shown.", "image AQEB"}},
		{"no picture", event.ToolCall{Images: []tools.Image{{MIME: "text/html", Data: []byte("<")}}}, []string{"text A picture (text/html, 1 KiB) is not shown."}},
		{"beside changes", event.ToolCall{Text: "x", Diffs: []tools.Diff{{Path: "/w/a", New: "x"}}, Images: []tools.Image{png(3)}}, []string{"diff"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out := &tape{}
			turn := v1.New(out, v1.Options{Dir: "/w"}).Turn()
			tt.call.ID, tt.call.Status = "c1", event.Completed
			emit(t, turn, event.ToolCall{ID: "c1", Name: "draw"}, tt.call)
			var u struct {
				Content []struct {
					Type    string
					Content struct{ Type, Text, Data string }
				}
			}
			if err := json.Unmarshal([]byte(out.updates(t)[1]), &u); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, c := range u.Content {
				line := c.Type
				if line == "content" {
					line = c.Content.Type + " " + c.Content.Text
					if len(c.Content.Data) < 10 {
						line += c.Content.Data
					}
				}
				got = append(got, strings.TrimSpace(line))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("content (-want +got):\n%s", diff)
			}
		})
	}
}

func TestQuestion(t *testing.T) {
	out := &tape{}
	enc := v1.New(out, v1.Options{Dir: "/w"})
	turn := enc.Turn()
	emit(t, turn, event.ToolCall{ID: "c1", Name: "bash", Title: "running", Kind: tools.KindExecute})
	got, err := json.Marshal(enc.Question(approve.Question{
		CallID: "c1", Tool: "bash", Input: json.RawMessage(`{"command":"rm -r build\nmake"}`), Kind: tools.KindExecute,
		Plan:   tools.Plan{Title: "rm -r build\nmake", Diffs: []tools.Diff{{Path: "/w/x", New: "y"}}},
		Reason: "It deletes a directory.",
	}))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"toolCallId":"c1","title":"rm -r build\\nmake","kind":"execute","status":"pending","content":[` +
		`{"type":"diff","path":"/w/x","oldText":null,"newText":"y"},` +
		`{"type":"content","content":{"type":"text","text":"It deletes a directory."}}],` +
		`"rawInput":{"command":"rm -r build\nmake"}}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("question (-want +got):\n%s", diff)
	}
	if got := enc.Question(approve.Question{CallID: "c1", Tool: "bash"}).Title; got != "running" {
		t.Errorf("title = %q, want the one that the call has", got)
	}
	emit(t, turn, event.ToolCall{ID: "c1", Status: event.InProgress})
	if got := enc.Question(approve.Question{CallID: "c1", Tool: "bash"}).Status; got != event.InProgress {
		t.Errorf("status = %s, though the call is under way", got)
	}
}

// R-ACP-43: where the client shows terminals it gets what is new, at once and
// then a few times a second, and how the command ended.
func TestLiveTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &tape{}
		turn := v1.New(out, v1.Options{Dir: "/w", Terminal: true}).Turn()
		emit(t, turn, event.ToolCall{ID: "c1", Name: "bash", Title: "make", Kind: tools.KindExecute})
		emit(t, turn, event.Output{ID: "c1", Data: "one\n"}, event.Output{ID: "c1", Data: "two\n"}, event.Output{ID: "c1", Data: "three\n"})
		time.Sleep(150 * time.Millisecond)
		synctest.Wait()
		emit(t, turn, event.Output{ID: "c1", Data: "four\n"})
		emit(t, turn, event.ToolCall{
			ID: "c1", Status: event.Completed, Text: "one\ntwo\nthree\nfour\n[exit code 2]",
			Output: map[string]any{"exitCode": 2},
		})
		emit(t, turn, event.Output{ID: "c1", Data: "late"})
		if err := turn.End(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		want := []string{
			`{"sessionUpdate":"tool_call","toolCallId":"c1","title":"make","name":"bash","kind":"execute","status":"pending",` +
				`"content":[{"type":"terminal","terminalId":"c1"}],"_meta":{"terminal_info":{"cwd":"/w","terminal_id":"c1"}}}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"c1","_meta":{"terminal_output":{"data":"one\n","terminal_id":"c1"}}}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"c1","_meta":{"terminal_output":{"data":"two\nthree\n","terminal_id":"c1"}}}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"c1","_meta":{"terminal_output":{"data":"four\n","terminal_id":"c1"}}}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed","rawOutput":{"exitCode":2},` +
				`"_meta":{"terminal_exit":{"exit_code":2,"signal":null,"terminal_id":"c1"}}}`,
		}
		if diff := cmp.Diff(want, out.updates(t)); diff != "" {
			t.Errorf("updates (-want +got):\n%s", diff)
		}
	})
}

// A call that was refused printed nothing; its terminal shows the reason.
func TestTerminalOfRefusedCall(t *testing.T) {
	out := &tape{}
	turn := v1.New(out, v1.Options{Terminal: true}).Turn()
	emit(t, turn, event.ToolCall{ID: "c1", Name: "bash", Kind: tools.KindExecute})
	out.frames = nil
	emit(t, turn, event.ToolCall{ID: "c1", Status: event.Failed, Text: "not allowed"})
	want := []string{
		`{"sessionUpdate":"tool_call_update","toolCallId":"c1","_meta":{"terminal_output":{"data":"not allowed","terminal_id":"c1"}}}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"failed","rawOutput":"not allowed",` +
			`"_meta":{"terminal_exit":{"exit_code":null,"signal":null,"terminal_id":"c1"}}}`,
	}
	if diff := cmp.Diff(want, out.updates(t)); diff != "" {
		t.Errorf("updates (-want +got):\n%s", diff)
	}
}

// C082: a flood costs the client a few updates of limited size, and what stands
// still is shown although nothing follows it.
func TestLiveContentIsThrottled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &tape{}
		turn := v1.New(out, v1.Options{}).Turn()
		emit(t, turn, event.ToolCall{ID: "c1", Name: "bash", Kind: tools.KindExecute})
		out.frames = nil
		for i := range 100_000 {
			if i%1000 == 0 {
				time.Sleep(10 * time.Millisecond)
			}
			emit(t, turn, event.Output{ID: "c1", Data: fmt.Sprintf("line %d é\n", i)})
		}
		time.Sleep(time.Second)
		synctest.Wait()
		got := out.updates(t)
		if len(got) > 6 {
			t.Errorf("a second of output made %d updates, want at most one each 250 ms", len(got))
		}
		for _, u := range got {
			if len(u) > 9<<10 {
				t.Errorf("an update has %d bytes, want at most about 8 KiB", len(u))
			}
		}
		if last := got[len(got)-1]; !strings.Contains(last, `line 99999 é\n`) || !strings.Contains(last, "bytes before this are not shown") {
			t.Errorf("the last update is %.80q…, want the end of the output and what is missing", last)
		}
		emit(t, turn, event.ToolCall{ID: "c1", Status: event.Failed, Text: "done"})
		if err := turn.End(); err != nil {
			t.Fatal(err)
		}
	})
}

// brokenOut is an output that is closed.
type brokenOut struct{ tape }

var errBroken = errors.New("closed")

func (*brokenOut) Notify(string, any) error { return errBroken }

// An update that a timer could not send ends the turn with the next event.
func TestLateErrorIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &brokenOut{}
		turn := v1.New(out, v1.Options{}).Turn()
		if err := turn.Emit(event.ToolCall{ID: "c1", Name: "bash"}); !errors.Is(err, errBroken) {
			t.Fatalf("error = %v, want that of the output", err)
		}
		if err := turn.Emit(event.Output{ID: "c1", Data: "a"}); !errors.Is(err, errBroken) {
			t.Fatalf("error = %v, want that of the output", err)
		}
		if err := turn.Emit(event.Output{ID: "c1", Data: "b"}); err != nil {
			t.Fatalf("error = %v before the timer ran", err)
		}
		time.Sleep(time.Second)
		if err := turn.Emit(event.Text{MessageID: "m", Text: "x"}); !errors.Is(err, errBroken) {
			t.Errorf("error = %v, want the one of the timer", err)
		}
	})
}
