package thread_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/tools"
)

func fold(bodies ...thread.Body) *thread.Conversation {
	c := new(thread.Conversation)
	for i, b := range bodies {
		c.Add(thread.Entry{Seq: int64(i) + 1, Body: b})
	}
	return c
}

func user(text string) thread.User { return thread.User{Sent: []thread.Part{{Text: text}}} }

func calls(ids ...string) thread.Assistant {
	var a thread.Assistant
	for _, id := range ids {
		a.Parts = append(a.Parts, thread.Part{Call: &thread.Call{ID: id, WireID: "w" + id, Name: "read", Args: "{}"}})
	}
	return a
}

func result(id string) thread.Result { return thread.Result{CallID: id, Text: "of " + id} }

// lines shows messages as one line each: the role, then each part.
func lines(ms []llms.MessageContent) []string {
	var out []string
	for _, m := range ms {
		line := []string{string(m.Role)}
		for _, p := range m.Parts {
			switch p := p.(type) {
			case llms.TextContent:
				line = append(line, p.Text)
			case llms.ToolCall:
				line = append(line, "call "+p.ID)
			case model.Author:
				line = append(line, "by "+p.Ref)
			case model.ToolResult:
				first, _, _ := strings.Cut(p.Content, ":")
				line = append(line, fmt.Sprintf("%s %s %v", p.ToolCallID, first, p.IsError))
			default:
				line = append(line, fmt.Sprintf("%T", p))
			}
		}
		out = append(out, strings.Join(line, "|"))
	}
	return out
}

var moved = thread.Moved{Cwd: "/new\nline", Roots: []string{"/more", "/still"}}

const toldMoved = `The user has opened this conversation in another directory: from here on the tools work in /new\nline, and ` +
	`relative paths start there. What was said of files before this point was said of the directory before; look again before ` +
	`you rely on it. Further directories that the tools may use: /more, /still.`

// void is a as an answer that another follows in its place.
func void(a thread.Assistant) thread.Assistant {
	a.Void = true
	return a
}

func TestMessages(t *testing.T) { // R-HARN-08
	answer := thread.Assistant{Parts: []thread.Part{{Text: "yes"}}}
	tests := []struct {
		name   string
		bodies []thread.Body
		want   []string
	}{
		{"an empty thread", []thread.Body{thread.Created{}}, nil},
		{"a question and its answer", []thread.Body{user("q"), answer}, []string{"human|q", "ai|yes"}},
		{
			"neighbours of one role are one message, R-HARN-08", []thread.Body{user("a"), user("b"), answer, answer, user("c")},
			[]string{"human|a|b", "ai|yes|yes", "human|c"},
		},
		{
			"results come in call order", []thread.Body{user("q"), calls("1", "2"), result("2"), result("1")},
			[]string{"human|q", "ai|call w1|call w2", "tool|w1 of 1 false|w2 of 2 false"},
		},
		{
			"a note follows the results", []thread.Body{user("q"), calls("1"), result("1"), thread.Note{Text: "n"}},
			[]string{"human|q", "ai|call w1", "tool|w1 of 1 false", "human|n"},
		},
		{
			"a call that was cut off at the end, C049", []thread.Body{user("q"), calls("1")},
			[]string{"human|q", "ai|call w1", "tool|w1 Interrupted true"},
		},
		{
			"one of two calls was cut off, C049", []thread.Body{user("q"), calls("1", "2"), result("2"), user("r")},
			[]string{"human|q", "ai|call w1|call w2", "tool|w1 Interrupted true|w2 of 2 false", "human|r"},
		},
		{
			"a result without a call is dropped, C050", []thread.Body{user("q"), result("9"), answer, result("1")},
			[]string{"human|q", "ai|yes"},
		},
		{
			"a late result is dropped", []thread.Body{calls("1"), user("q"), result("1")},
			[]string{"ai|call w1", "tool|w1 Interrupted true", "human|q"},
		},
		{
			"a result that comes twice counts once", []thread.Body{calls("1", "2"), result("1"), result("1"), result("2")},
			[]string{"ai|call w1|call w2", "tool|w1 of 1 false|w2 of 2 false"},
		},
		{
			"a message that failed is taken back", []thread.Body{user("q"), answer, user("bad"), thread.Withdrawn{}, user("r")},
			[]string{"human|q", "ai|yes", "human|r"},
		},
		{
			"of two messages the one that failed is taken back",
			[]thread.Body{user("cancelled"), user("bad"), thread.Note{Text: "n"}, thread.Withdrawn{}, user("r")},
			[]string{"human|cancelled|r"},
		},
		{
			"what was answered stays", []thread.Body{user("q"), answer, thread.Withdrawn{}},
			[]string{"human|q", "ai|yes"},
		},
		{
			"entries that say nothing to the model", []thread.Body{
				user("q"), thread.Assistant{}, thread.Options{}, thread.Title{Text: "t"}, thread.Archived{On: true}, answer,
			},
			[]string{"human|q", "ai|yes"},
		},
		{
			"what was given anew is no part, R-HARN-28", []thread.Body{user("q"), void(calls("1")), result("1"), answer},
			[]string{"human|q", "ai|yes"},
		},
		{
			"an answer given anew, R-HARN-26",
			[]thread.Body{user("p"), answer, user("q"), calls("1"), result("1"), answer, thread.Retried{User: 3}, answer},
			[]string{"human|p", "ai|yes", "human|q", "ai|yes"},
		},
		{
			"an answer given anew while calls are open",
			[]thread.Body{user("q"), calls("1", "2"), result("2"), thread.Retried{User: 1}, result("1")},
			[]string{"human|q"},
		},
		{
			"a message that was taken back is tried anew",
			[]thread.Body{user("p"), answer, user("q"), thread.Withdrawn{}, thread.Retried{User: 3}, answer},
			[]string{"human|p", "ai|yes", "human|q", "ai|yes"},
		},
		{
			"an answer that could not be given anew holds, however often it is tried",
			[]thread.Body{
				user("p"), answer, user("q"), answer, thread.Retried{User: 3}, thread.Withdrawn{}, thread.Retried{User: 3},
				thread.Note{Text: "n"}, thread.Withdrawn{}, user("r"),
			},
			[]string{"human|p", "ai|yes", "human|q", "ai|yes", "human|r"},
		},
		{
			"an answer holds when the process died before another",
			[]thread.Body{user("q"), calls("1"), result("1"), answer, thread.Retried{User: 1}, void(calls("2")), user("r")},
			[]string{"human|q", "ai|call w1", "tool|w1 of 1 false", "ai|yes", "human|r"},
		},
		{
			"a message that was never answered is tried anew and fails again",
			[]thread.Body{user("p"), answer, user("q"), thread.Withdrawn{}, thread.Retried{User: 3}, thread.Withdrawn{}, user("r")},
			[]string{"human|p", "ai|yes", "human|r"},
		},
		{"nothing to try anew", []thread.Body{thread.Note{Text: "n"}, thread.Retried{User: 1}}, []string{"human|n"}},
		{
			"other directories before a message that is taken back", []thread.Body{user("p"), answer, moved, user("q"), thread.Withdrawn{}},
			[]string{"human|p", "ai|yes", "human|" + toldMoved},
		},
		{
			"other directories in a turn that is tried anew and fails",
			[]thread.Body{user("p"), answer, thread.Retried{User: 1}, moved, answer, thread.Retried{User: 1}, thread.Withdrawn{}, user("q")},
			[]string{"human|p|" + toldMoved, "ai|yes", "human|q"},
		},
		{
			"other directories since an answer that holds",
			[]thread.Body{user("p"), answer, thread.Retried{User: 1}, moved, thread.Withdrawn{}, user("q")},
			[]string{"human|p", "ai|yes", "human|" + toldMoved + "|q"},
		},
		{"other directories before there was anything", []thread.Body{moved, user("q")}, []string{"human|q"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, lines(fold(tt.bodies...).Messages())); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPartsKeepTheirTypes(t *testing.T) { // R-HARN-15, R-HARN-31
	call := llms.ToolCall{
		ID: "w", Type: "function", FunctionCall: &llms.FunctionCall{Name: "read", Arguments: `{"n": 12345678901234567890}`},
	}
	think := model.Reasoning{
		TextContent: llms.TextContent{Text: "hm"}, Provider: "p/m", Signature: "s", Redacted: "r", Field: "f",
	}
	want := []llms.ContentPart{
		think, llms.TextContent{Text: "so"}, call,
		model.SignedText{TextContent: llms.TextContent{Text: "so"}, Provider: "p/m", Content: json.RawMessage(`{"phase":"x"}`)},
		model.SignedText{Provider: "p/m", Content: json.RawMessage(`{"signature":"x"}`)},
		model.Extra{ToolCall: call, Provider: "p/m", Content: json.RawMessage(`{"a":1}`)},
	}
	var a thread.Assistant
	for i, p := range want {
		part, ok := thread.FromModel(p)
		if !ok {
			t.Fatalf("no part for %T", p)
		}
		if part.Call != nil {
			part.Call.ID = fmt.Sprint(i)
		}
		a.Parts = append(a.Parts, part)
	}
	raw, err := json.Marshal(a.Parts)
	if err != nil {
		t.Fatal(err)
	}
	a.Parts = nil
	if err := json.Unmarshal(raw, &a.Parts); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, fold(a).Messages()[0].Parts); diff != "" {
		t.Errorf("parts after a trip through JSON (-want +got):\n%s", diff)
	}
}

// An answer says who wrote it, once for what one model wrote (R-TASK-40).
func TestAuthors(t *testing.T) {
	by := func(ref string, a thread.Assistant) thread.Assistant {
		a.Model = ref
		return a
	}
	says := func(text string) thread.Assistant { return thread.Assistant{Parts: []thread.Part{{Text: text}}} }
	got := lines(fold(user("q"), by("p/m", calls("1")), result("1"), by("p/m", says("a")), by("p/m", says("b")), by("q/n", says("c")),
		says("d"), by("q/n", thread.Assistant{}), user("r"), says("e"), by("p/m", says("f")), user("s"), by("p/m", thread.Assistant{})).Messages())
	want := []string{
		"human|q", "ai|by p/m|call w1", "tool|w1 of 1 false", "ai|by p/m|a|b|by q/n|c|by |d", "human|r", "ai|e|by p/m|f", "human|s",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestImages(t *testing.T) {
	png := tools.Image{MIME: "image/png", Data: []byte{1}}
	r := result("1")
	r.Images = []tools.Image{png}
	ms := fold(thread.User{Sent: []thread.Part{{Text: "q"}, {Image: &png}}}, calls("1"), r).Messages()
	want := llms.BinaryContent{MIMEType: "image/png", Data: []byte{1}}
	if diff := cmp.Diff(want, ms[0].Parts[1]); diff != "" {
		t.Errorf("picture of the user (-want +got):\n%s", diff)
	}
	named := fold(thread.User{Sent: []thread.Part{{Image: &png, Name: "a.png"}}}).Messages()[0].Parts[0]
	if diff := cmp.Diff(llms.ContentPart(model.Picture{BinaryContent: want, Name: "a.png"}), named); diff != "" {
		t.Errorf("picture with a name (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]llms.BinaryContent{want}, ms[2].Parts[0].(model.ToolResult).Images); diff != "" {
		t.Errorf("picture of a result (-want +got):\n%s", diff)
	}
}

// FuzzMessages reads letters as entries. Whatever they are, the messages are what
// strict providers take, those of a longer log begin with those of a shorter one
// unless the last entry goes back, and what was handed out never changes. The
// conversation is that of the same log as a store keeps it.
func FuzzMessages(f *testing.F) {
	f.Add("uaur")
	f.Add("u2AaBun1r")
	f.Add("2ba2u3cba")
	f.Add("ur1aRrWumruvr2aRmrRWRu")
	f.Add("urururuWuruWuRrRn")
	f.Add("urururuRrRrWu")
	f.Add("mu2bRaW1unWRvrmotxu")
	f.Add("ur1aSrWSmrurSWSWRrS1aSW")
	f.Add("p2baSrpSrWEurR")
	f.Add("p1arEr")
	f.Fuzz(func(t *testing.T, log string) {
		if len(log) > 200 {
			return
		}
		c := new(thread.Conversation)
		var before []llms.MessageContent
		retrying := false // an answer anew is asked for, and none has come
		var handed [][]llms.MessageContent
		var kept [][]string
		for i, b := range log {
			c.Add(thread.Entry{Seq: int64(i) + 1, Body: body(i, b)})
			now := c.Messages()
			if err := strict(now); err != nil {
				t.Fatalf("after %q: %v", log[:i+1], err)
			}
			handed, kept = append(handed, now), append(kept, lines(now))
			_, asks := body(i, b).(thread.User)
			if strings.ContainsRune("WRSE", b) || asks && retrying {
				before = nil
			}
			retrying = strings.ContainsRune("RSE", b) || retrying && !asks && b != 'W' && !strings.ContainsRune("123r", b)
			if n := len(now); n > 0 && now[n-1].Role == llms.ChatMessageTypeTool {
				continue // the tail may be a repair, which a real result replaces
			}
			if err := begins(now, before); err != nil {
				t.Fatalf("after %q: %v", log[:i+1], err)
			}
			before = now
		}
		var stored []thread.Body
		for i, b := range log {
			stored = append(stored, decoded(t, body(i, b)))
		}
		if diff := cmp.Diff(all(fold(stored...)), all(c)); diff != "" {
			t.Fatalf("the conversation of %q (-read +lived):\n%s", log, diff)
		}
		for i, ms := range handed {
			if diff := cmp.Diff(kept[i], lines(ms)); diff != "" {
				t.Fatalf("messages after %q have changed (-then +now):\n%s", log[:i+1], diff)
			}
		}
		if got := c.Last(); got > int64(len(log)) || len(log) > 0 && got == 0 {
			t.Errorf("last entry = %d of %d", got, len(log))
		}
	})
}

// decoded returns b as it comes back from a store.
func decoded(t *testing.T, b thread.Body) thread.Body {
	t.Helper()
	kind, data, err := thread.Encode(b)
	if err != nil {
		t.Fatal(err)
	}
	back, err := thread.Decode(kind, data)
	if err != nil {
		t.Fatal(err)
	}
	return back
}

// all is what a conversation knows.
func all(c *thread.Conversation) map[string]any {
	out := map[string]any{"messages": c.Messages()}
	for _, again := range []bool{false, true} {
		all, recent := c.Answers(again)
		out[fmt.Sprint("answers ", again)] = []string{fmt.Sprint(all), fmt.Sprint(recent)}
	}
	for _, id := range []string{"a", "b", "c"} {
		_, attached := c.Attached("document:" + id)
		out[id] = []bool{c.Told("/" + id), attached, c.Sent("w" + id)}
	}
	return out
}

// body is the entry that a letter stands for. Calls have the letters a, b, c as
// ids.
func body(i int, b rune) thread.Body {
	switch b {
	case '1':
		return calls("a")
	case '2':
		return calls("a", "b")
	case '3':
		return calls("a", "b", "c")
	case 'a', 'b', 'c':
		r := asked(string(b), fmt.Sprint("question ", i))
		r.Told = []string{"/" + string(b)}
		return r
	case 'n':
		return thread.Note{Text: fmt.Sprint("note ", i)}
	case 'r':
		return thread.Assistant{Parts: []thread.Part{{Text: fmt.Sprint("answer ", i)}}}
	case 'v':
		return void(calls("a"))
	case 'm':
		return thread.Moved{Cwd: fmt.Sprint("/", i)}
	case 'W':
		return thread.Withdrawn{}
	case 'R':
		return thread.Retried{User: 1}
	case 'S':
		r := anew(fmt.Sprint("anew ", i))
		r.Sent = append(r.Sent, thread.Part{Image: &tools.Image{MIME: "image/png"}})
		r.Attached = []thread.Attached{{Key: "document:b"}}
		r.Told = []string{"/b"}
		return r
	case 'E': // there is nothing to send, which is not the same in memory as none
		return thread.Retried{User: 1, Sent: []thread.Part{}, Attached: []thread.Attached{}}
	case 'p':
		u := user(fmt.Sprint("picture ", i))
		u.Blocks = []event.Block{{MIME: "image/png", Data: []byte{byte(i)}}}
		u.Sent = append(u.Sent, thread.Part{Image: &tools.Image{MIME: "image/png", Data: []byte{byte(i)}}})
		u.Attached = []thread.Attached{{Key: "document:a"}}
		u.Told = []string{"/c"}
		return u
	case 'o':
		return thread.Options{}
	case 't':
		return thread.Title{Text: "t"}
	case 'x':
		return thread.Archived{On: true}
	}
	return user(fmt.Sprint("question ", i))
}

// strict reports what a provider would refuse: two messages of one role in a
// row, an empty one, a call whose result is not in the next message.
func strict(ms []llms.MessageContent) error {
	var open []string
	for i, m := range ms {
		if len(m.Parts) == 0 {
			return fmt.Errorf("message %d is empty", i)
		}
		if i > 0 && ms[i-1].Role == m.Role {
			return fmt.Errorf("messages %d and %d are both %s", i-1, i, m.Role)
		}
		if (m.Role == llms.ChatMessageTypeTool) != (len(open) > 0) {
			return fmt.Errorf("message %d is %s with %d calls open", i, m.Role, len(open))
		}
		var answered []string
		for _, p := range m.Parts {
			if r, ok := p.(model.ToolResult); ok {
				answered = append(answered, r.ToolCallID)
			}
		}
		if !cmp.Equal(open, answered) {
			return fmt.Errorf("calls %v have the results %v", open, answered)
		}
		open = nil
		for _, p := range m.Parts {
			if c, ok := p.(llms.ToolCall); ok {
				open = append(open, c.ID)
			}
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("calls %v are open at the end", open)
	}
	return nil
}

// begins reports where the messages long do not begin with those of short, whose
// last one may have grown.
func begins(long, short []llms.MessageContent) error {
	for i, m := range short {
		if i >= len(long) || long[i].Role != m.Role || len(long[i].Parts) < len(m.Parts) {
			return fmt.Errorf("message %d is gone or shorter", i)
		}
		if i < len(short)-1 && len(long[i].Parts) != len(m.Parts) {
			return fmt.Errorf("message %d has grown", i)
		}
		if diff := cmp.Diff(m.Parts, long[i].Parts[:len(m.Parts)]); diff != "" {
			return fmt.Errorf("message %d has changed: %s", i, diff)
		}
	}
	return nil
}

// C101, C102: what is no object runs nothing and goes back to nobody.
func TestArgumentsAreAnObject(t *testing.T) {
	for args, want := range map[string]string{
		`{"n": 12345678901234567890}`: `{"n": 12345678901234567890}`, " {}\n": " {}\n",
		"": "{}", "null": "{}", "[1]": "{}", `"x"`: "{}", `{"path":"a`: "{}", `{"a":1}{"a":1}`: "{}",
	} {
		a := thread.Assistant{Parts: []thread.Part{{Call: &thread.Call{ID: "a", WireID: "a", Name: "read", Args: args}}}}
		ms := fold(user("go"), a, result("a")).Messages()
		for _, p := range ms[1].Parts {
			if c, ok := p.(llms.ToolCall); ok && c.FunctionCall.Arguments != want {
				t.Errorf("arguments %q became %q, want %q", args, c.FunctionCall.Arguments, want)
			}
		}
	}
}
