package v1_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lorimer-dev/lorimer/acp/v1"
	"github.com/lorimer-dev/lorimer/acp/wire"
	"github.com/lorimer-dev/lorimer/harness/event"
)

// A tape is an output that keeps what was sent. With merge set the writer is
// always behind, so that everything that can be merged is.
type tape struct {
	merge  bool
	frames []wire.Frame // sent as frames, in order with notes
}

func (t *tape) Send(f wire.Frame) error {
	if n := len(t.frames); t.merge && n > 0 && t.frames[n-1] != nil && t.frames[n-1].Merge(f) {
		return nil
	}
	t.frames = append(t.frames, f)
	return nil
}

func (t *tape) Notify(method string, params any) error {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // as the connection does
	if err := enc.Encode(map[string]any{"jsonrpc": "2.0", "method": method, "params": params}); err != nil {
		return err
	}
	t.frames = append(t.frames, rawFrame(strings.TrimSpace(b.String())))
	return nil
}

type rawFrame string

func (r rawFrame) Append(dst []byte) []byte { return append(dst, r...) }
func (r rawFrame) Merge(wire.Frame) bool    { return false }

// A message is what a client reads of an update.
type message struct {
	Method string `json:"method"`
	Params struct {
		SessionID string `json:"sessionId"`
		Update    struct {
			Kind      string `json:"sessionUpdate"`
			MessageID string `json:"messageId"`
			Content   struct{ Type, Text string }
		} `json:"update"`
	} `json:"params"`
}

func (t *tape) messages(tb testing.TB) []message {
	tb.Helper()
	var list []message
	for _, f := range t.frames {
		line := f.Append(nil)
		var m message
		if err := json.Unmarshal(line, &m); err != nil {
			tb.Fatalf("not JSON: %v\n%s", err, line)
		}
		list = append(list, m)
	}
	return list
}

func TestChunk(t *testing.T) {
	tests := []struct {
		name, text, want string // want is what the line holds for it
	}{
		{"plain", "hello", `"hello"`},
		{"code is not escaped for HTML", "a<b && c>d", `"a<b && c>d"`},
		{"quotes and controls", "\"\\\n\r\t\x00\x1f", `"\"\\\n\r\t\u0000\u001f"`},
		{"line separators", "a\u2028b\u2029", `"a\u2028b\u2029"`},
		{"other scripts stay", "日本 é 😀", `"日本 é 😀"`},
		{"broken UTF-8 is replaced", "a\xffb\xe2\x82", "\"a\uFFFDb\uFFFD\uFFFD\""},
		{"the replacement character stays", "\uFFFD", "\"\uFFFD\""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out := &tape{}
			turn := v1.New(out, v1.Options{Session: `s"1`}).Turn()
			if err := turn.Emit(event.Text{MessageID: "m1", Text: tt.text}); err != nil {
				t.Fatal(err)
			}
			got := string(out.frames[0].Append(nil))
			want := `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s\"1","update":` +
				`{"sessionUpdate":"agent_message_chunk","messageId":"m1","content":{"type":"text","text":` + tt.want + `}}}}`
			if got != want {
				t.Errorf("chunk =\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// What is merged has the same text as what is not, message by message
// (R-ACP-22).
func TestChunksMerge(t *testing.T) {
	events := []event.Event{
		event.Thought{MessageID: "t1", Text: "hm"},
		event.Thought{MessageID: "t1", Text: "m"},
		event.Text{MessageID: "m1", Text: "a"},
		event.Text{MessageID: "m1", Text: "b"},
		event.Text{MessageID: "m1", Text: ""},
		event.Text{MessageID: "m1", Text: "c"},
		event.Text{MessageID: "m2", Text: "d"},
		event.Usage{Used: 1, Size: 2},
		event.Text{MessageID: "m2", Text: "e"},
	}
	out := &tape{merge: true}
	turn := v1.New(out, v1.Options{Session: "s"}).Turn()
	for _, ev := range events {
		if err := turn.Emit(ev); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, m := range out.messages(t) {
		u := m.Params.Update
		got = append(got, u.Kind+" "+u.MessageID+" "+u.Content.Text)
	}
	want := []string{
		"agent_thought_chunk t1 hmm", "agent_message_chunk m1 abc", "agent_message_chunk m2 d",
		"usage_update  ", "agent_message_chunk m2 e",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("updates =\n%q\nwant\n%q", got, want)
	}
}

// A client that was slow gets lines of a moderate length.
func TestMergeIsBounded(t *testing.T) {
	out := &tape{merge: true}
	turn := v1.New(out, v1.Options{Session: "s"}).Turn()
	piece := strings.Repeat("x", 1000)
	for range 200 {
		if err := turn.Emit(event.Text{MessageID: "m", Text: piece}); err != nil {
			t.Fatal(err)
		}
	}
	total := 0
	for _, m := range out.messages(t) {
		n := len(m.Params.Update.Content.Text)
		if n > 32<<10 {
			t.Errorf("a chunk has %d bytes of text, want at most 32 KiB", n)
		}
		total += n
	}
	if total != 200_000 || len(out.frames) < 2 {
		t.Errorf("%d bytes in %d chunks, want 200000 in a few", total, len(out.frames))
	}
}

// R-ACP-08: one text chunk costs at most two allocations, of which the event
// itself is one.
func TestChunkAllocations(t *testing.T) {
	out := &encodeOut{}
	turn := v1.New(out, v1.Options{Session: "s"}).Turn()
	text := strings.Repeat("word ", 8)
	got := testing.AllocsPerRun(1000, func() {
		if err := turn.Emit(event.Text{MessageID: "m1", Text: text}); err != nil {
			t.Fatal(err)
		}
	})
	if got > 2 {
		t.Errorf("a chunk costs %v allocations, want at most 2", got)
	}
}

// encodeOut encodes what it is sent, as the writer of a connection does.
type encodeOut struct{ buf []byte }

func (o *encodeOut) Send(f wire.Frame) error {
	o.buf = f.Append(o.buf[:0])
	return nil
}

func (o *encodeOut) Notify(string, any) error { return nil }

func BenchmarkChunk(b *testing.B) {
	out := &encodeOut{}
	turn := v1.New(out, v1.Options{Session: "0123456789abcdef"}).Turn()
	text := "a piece of <code> && \"text\"\n"
	b.ReportAllocs()
	for b.Loop() {
		if err := turn.Emit(event.Text{MessageID: "m1-1", Text: text}); err != nil {
			b.Fatal(err)
		}
	}
}

func FuzzChunk(f *testing.F) {
	f.Add("m", "text", "more")
	f.Add("\"\\", "\x00\x7f\u2028", "\xc3")
	f.Fuzz(func(t *testing.T, id, a, b string) {
		out := &tape{merge: true}
		turn := v1.New(out, v1.Options{Session: id}).Turn()
		for _, s := range []string{a, b} {
			if err := turn.Emit(event.Text{MessageID: id, Text: s}); err != nil {
				t.Fatal(err)
			}
		}
		var got string
		for _, fr := range out.frames {
			if line := fr.Append(nil); !utf8.Valid(line) || strings.ContainsAny(string(line), "\n\u2028") {
				t.Errorf("line is not one line of UTF-8: %q", line)
			}
		}
		for _, m := range out.messages(t) {
			got += m.Params.Update.Content.Text
			if want := strings.ToValidUTF8(id, "\uFFFD"); utf8.ValidString(id) && m.Params.SessionID != want {
				t.Errorf("session = %q, want %q", m.Params.SessionID, want)
			}
		}
		if utf8.ValidString(a) && utf8.ValidString(b) && got != a+b {
			t.Errorf("text = %q, want %q", got, a+b)
		}
	})
}
