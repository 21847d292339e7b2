package v1_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/acp/v1"
	"github.com/lorimer-dev/lorimer/acp/wire"
	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/tools"
)

// R-ACP-15: a replay tells what the user sent, block by block, and each tool
// call in its final state.
func TestReplay(t *testing.T) {
	tests := []struct {
		name   string
		o      v1.Options
		events []event.Event
		want   []string
	}{
		{
			"blocks of the user", v1.Options{},
			[]event.Event{event.User{MessageID: "u1", Blocks: []event.Block{
				{Text: "look"},
				{Text: "at <this>"},
				{MIME: "image/png", Data: []byte("png"), URI: "file:///a.png", Name: "a.png"},
				{MIME: "audio/wav", Data: []byte("wav")},
				{URI: "file:///b.go", Name: "b.go"},
				{URI: "zed:///x", MIME: "text/plain"},
				{URI: "file:///c.txt", Name: "c.txt", MIME: "text/plain", Text: "text"},
				{URI: "file:///d.bin", Name: "d.bin", MIME: "application/octet-stream", Data: []byte("blob")},
				{URI: "file:///e.txt", Name: "e.txt", MIME: "text/plain", Embedded: true},
			}}},
			[]string{
				`{"sessionUpdate":"user_message_chunk","messageId":"u1","content":{"type":"text","text":"look"}}`,
				`{"sessionUpdate":"user_message_chunk","messageId":"u1","content":{"type":"text","text":"at <this>"}}`,
				`{"sessionUpdate":"user_message_chunk","messageId":"u1","content":{"type":"image","data":"cG5n","mimeType":"image/png","uri":"file:///a.png"}}`,
				`{"sessionUpdate":"user_message_chunk","messageId":"u1","content":{"type":"audio","data":"d2F2","mimeType":"audio/wav"}}`,
				`{"sessionUpdate":"user_message_chunk","messageId":"u1","content":{"type":"resource_link","uri":"file:///b.go","name":"b.go"}}`,
				`{"sessionUpdate":"user_message_chunk","messageId":"u1","content":{"type":"resource_link","uri":"zed:///x","name":"zed:///x","mimeType":"text/plain"}}`,
				`{"sessionUpdate":"user_message_chunk","messageId":"u1","content":{"type":"resource","resource":{"uri":"file:///c.txt","mimeType":"text/plain","text":"text"}}}`,
				`{"sessionUpdate":"user_message_chunk","messageId":"u1","content":{"type":"resource","resource":{"uri":"file:///d.bin","mimeType":"application/octet-stream","blob":"YmxvYg=="}}}`,
				`{"sessionUpdate":"user_message_chunk","messageId":"u1","content":{"type":"resource","resource":{"uri":"file:///e.txt","mimeType":"text/plain","text":""}}}`,
			},
		},
		{
			"a call that is over", v1.Options{Dir: "/w"},
			[]event.Event{event.ToolCall{
				ID: "c1", New: true, Name: "edit", Title: "edit f", Kind: tools.KindEdit, Status: event.Completed,
				Input: json.RawMessage(`{"path":"f"}`), Text: "done", Output: json.RawMessage(`{"n":9007199254740993}`),
				Locations: []tools.Location{{Path: "f", Line: 3}}, Diffs: []tools.Diff{{Path: "f", Old: ptr("a"), New: "b"}},
			}},
			[]string{`{"sessionUpdate":"tool_call","toolCallId":"c1","title":"edit f","name":"edit","kind":"edit","status":"completed","content":[{"type":"diff","path":"/w/f","oldText":"a","newText":"b"}],"locations":[{"path":"/w/f","line":3}],"rawInput":{"path":"f"},"rawOutput":{"n":9007199254740993}}`},
		},
		{
			"a command in a terminal of ours", v1.Options{Dir: "/w", Terminal: true},
			[]event.Event{event.ToolCall{
				ID: "c1", New: true, Name: "bash", Title: "ls", Kind: tools.KindExecute, Status: event.Completed,
				Text: "f\n", Output: json.RawMessage(`{"exitCode":0}`),
			}},
			[]string{`{"sessionUpdate":"tool_call","toolCallId":"c1","title":"ls","name":"bash","kind":"execute","status":"completed","content":[{"type":"terminal","terminalId":"c1"}],"rawOutput":{"exitCode":0},"_meta":{"terminal_exit":{"exit_code":0,"signal":null,"terminal_id":"c1"},"terminal_info":{"cwd":"/w","terminal_id":"c1"},"terminal_output":{"data":"f\n","terminal_id":"c1"}}}`},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out := &tape{}
			sink := v1.New(out, tt.o).Replay()
			emit(t, sink, tt.events...)
			if err := sink.End(); err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(tt.want, out.updates(t)); diff != "" {
				t.Errorf("updates (-want +got):\n%s", diff)
			}
		})
	}
}

// A long message comes in chunks of a moderate length that add up to it, cut
// between characters.
func TestLongTexts(t *testing.T) {
	long := strings.Repeat("some words, ünd mehr 😀; ", 8000)
	const most = 3 * 32 << 10                 // a byte that is no text grows threefold
	broken := strings.Repeat("\x80", 100_000) // no character begins anywhere
	tests := []struct {
		name string
		ev   event.Event
		want string
	}{
		{"answer", event.Text{MessageID: "m", Text: long}, long},
		{"thought", event.Thought{MessageID: "m", Text: long}, long},
		{"user", event.User{MessageID: "m", Blocks: []event.Block{{Text: long}}}, long},
		{"no text at all", event.User{MessageID: "m", Blocks: []event.Block{{Text: broken}}}, strings.Repeat("\uFFFD", 100_000)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out := &tape{}
			emit(t, v1.New(out, v1.Options{}).Replay(), tt.ev)
			var got strings.Builder
			for _, u := range out.updates(t) {
				var p struct{ Content struct{ Text string } }
				if err := json.Unmarshal([]byte(u), &p); err != nil {
					t.Fatal(err)
				}
				if n := len(p.Content.Text); n > most || !utf8.ValidString(p.Content.Text) {
					t.Errorf("a chunk has %d bytes of text", n)
				}
				got.WriteString(p.Content.Text)
			}
			if got.String() != tt.want {
				t.Errorf("the chunks add up to %d bytes, want %d", got.Len(), len(tt.want))
			}
		})
	}
}

// nowhere is where nobody looks.
type nowhere struct{}

func (nowhere) Send(wire.Frame) error    { return nil }
func (nowhere) Notify(string, any) error { return nil }

// A replay holds nothing of what it has told, however long the thread is.
func TestReplayForgets(t *testing.T) {
	const calls = 20_000
	sink := v1.New(nowhere{}, v1.Options{}).Replay()
	held := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := held()
	for i := range calls {
		emit(t, sink, event.ToolCall{ID: fmt.Sprint("c", i), New: true, Name: "read", Title: strings.Repeat("x", 100), Status: event.Completed})
	}
	if after := held(); after > before+calls*20 {
		t.Errorf("%d bytes are held of %d calls", after-before, calls)
	}
	if err := sink.End(); err != nil {
		t.Error(err)
	}
}
