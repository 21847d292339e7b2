package thread_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/tools"
)

// anew is a retry that sends text instead.
func anew(text string) thread.Retried {
	return thread.Retried{User: 1, Sent: []thread.Part{{Text: text}}}
}

// What a message is sent as when it is answered anew holds once there is an
// answer, and until then while nothing else is said.
func TestMessageSentAnew(t *testing.T) { // R-HARN-26, R-PROMPT-44
	answer := thread.Assistant{Parts: []thread.Part{{Text: "yes"}}}
	tests := []struct {
		name   string
		bodies []thread.Body
		want   []string
	}{
		{
			"with another answer", []thread.Body{user("p"), answer, user("q"), answer, anew("Q"), answer, user("r")},
			[]string{"human|p", "ai|yes", "human|Q", "ai|yes", "human|r"},
		},
		{
			"while there is no answer yet", []thread.Body{user("p"), answer, user("q"), answer, anew("Q")},
			[]string{"human|p", "ai|yes", "human|Q"},
		},
		{
			"without an answer the old pair holds", []thread.Body{user("q"), answer, anew("Q"), thread.Withdrawn{}, user("r")},
			[]string{"human|q", "ai|yes", "human|r"},
		},
		{
			"and is what the next retry goes by", []thread.Body{user("q"), answer, anew("Q"), thread.Withdrawn{}, thread.Retried{User: 1}, answer},
			[]string{"human|q", "ai|yes"},
		},
		{
			"the process died before an answer", []thread.Body{user("q"), calls("1"), result("1"), anew("Q"), user("r")},
			[]string{"human|q", "ai|call w1", "tool|w1 of 1 false", "human|r"},
		},
		{
			"a retry without one keeps the last", []thread.Body{user("q"), answer, anew("Q"), answer, thread.Retried{User: 1}, answer},
			[]string{"human|Q", "ai|yes"},
		},
		{
			"a message that was never answered", []thread.Body{user("p"), answer, user("q"), thread.Withdrawn{}, anew("Q"), thread.Withdrawn{}, user("r")},
			[]string{"human|p", "ai|yes", "human|r"},
		},
		{
			"directories since are told after it", []thread.Body{user("q"), answer, anew("Q"), moved, answer},
			[]string{"human|Q|" + toldMoved, "ai|yes"},
		},
		{
			"two messages in a row", []thread.Body{user("p"), user("q"), answer, anew("Q"), answer},
			[]string{"human|p|Q", "ai|yes"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, lines(fold(tt.bodies...).Messages())); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
		})
	}
}

// The pictures of a message are stored once, however often it is answered anew.
func TestPicturesOfAMessageSentAnew(t *testing.T) {
	part := func(mime string, data ...byte) thread.Part {
		return thread.Part{Image: &tools.Image{MIME: mime, Data: data}}
	}
	c := fold(
		thread.User{Sent: []thread.Part{{Text: "q"}, part("image/png", 1), part("image/gif", 2)}},
		thread.Retried{User: 1, Sent: []thread.Part{part("image/png"), {Text: "Q"}, part("image/gif"), part("image/webp", 3), part("image/png")}},
	)
	want := []llms.ContentPart{
		llms.BinaryContent{MIMEType: "image/png", Data: []byte{1}}, llms.TextContent{Text: "Q"},
		llms.BinaryContent{MIMEType: "image/gif", Data: []byte{2}}, llms.BinaryContent{MIMEType: "image/webp", Data: []byte{3}},
	}
	if diff := cmp.Diff(want, c.Messages()[0].Parts); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
}

// asked is a result with answers of the user.
func asked(id string, questions ...string) thread.Result {
	r := result(id)
	for _, q := range questions {
		r.Answers = append(r.Answers, tools.Answer{Question: q})
	}
	return r
}

func TestAnswers(t *testing.T) { // R-PROMPT-32, R-PROMPT-35
	ok := thread.Assistant{Parts: []thread.Part{{Text: "ok"}}}
	turn := func(q string) []thread.Body { return []thread.Body{user("q"), calls(q), asked(q, q), ok} }
	var many []string
	for i := range 25 {
		many = append(many, fmt.Sprint(i))
	}
	tests := []struct {
		name                string
		bodies              []thread.Body
		all, recent, before []string // before: recent, for the last message again
	}{
		{"nothing", nil, nil, nil, nil},
		{"one", turn("a"), []string{"a"}, []string{"a"}, nil},
		{"of two turns", slices.Concat(turn("a"), turn("b")), []string{"a", "b"}, []string{"b"}, []string{"a"}},
		{"nobody was asked last", append(turn("a"), user("q"), ok), []string{"a"}, nil, []string{"a"}},
		{"a message that was taken back", append(turn("a"), user("q"), thread.Withdrawn{}), []string{"a"}, []string{"a"}, []string{"a"}},
		{"replaced", append(turn("a"), thread.Retried{User: 1}, calls("b"), asked("b", "b")), []string{"b"}, []string{"b"}, nil},
		{"replaced with other words", append(turn("a"), anew("Q"), ok), nil, nil, nil},
		{"not replaced after all", append(turn("a"), anew("Q"), thread.Withdrawn{}), []string{"a"}, []string{"a"}, nil},
		{"a retry that was cut off", append(turn("a"), thread.Retried{User: 1}), []string{"a"}, []string{"a"}, nil},
		{"a retry that was cut off in an answer", append(turn("a"), thread.Retried{User: 1}, void(ok)), []string{"a"}, []string{"a"}, nil},
		{"a result without a call", []thread.Body{user("q"), asked("a", "a")}, nil, nil, nil},
		{"a call that is still open", []thread.Body{user("q"), calls("a", "b"), asked("b", "b")}, []string{"b"}, []string{"b"}, nil},
		{"a result that comes twice", []thread.Body{user("q"), calls("a", "b"), asked("b", "b"), asked("b", "b")}, []string{"b"}, []string{"b"}, nil},
		{"more than are kept", append(turn("a"), calls("m"), asked("m", many...)), many[5:], many[5:], nil},
	}
	questions := func(as []tools.Answer) []string {
		var out []string
		for _, a := range as {
			out = append(out, a.Question)
		}
		return out
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := fold(tt.bodies...)
			all, recent := c.Answers(false)
			_, before := c.Answers(true)
			got := [][]string{questions(all), questions(recent), questions(before)}
			if diff := cmp.Diff([][]string{tt.all, tt.recent, tt.before}, got); diff != "" {
				t.Errorf("all, recent, before the last message (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTold(t *testing.T) { // R-HARN-14
	telling := func(id, path string) thread.Result {
		r := result(id)
		r.Told = []string{path}
		return r
	}
	ok := thread.Assistant{Parts: []thread.Part{{Text: "ok"}}}
	first := []thread.Body{user("q"), calls("a", "b"), telling("b", "/w/x")}
	for _, tt := range []struct {
		name   string
		bodies []thread.Body
		want   bool
	}{
		{"nothing", nil, false},
		{"in a step that still runs", first, true},
		{"in an answer that was replaced", append(first, ok, thread.Retried{User: 1}, ok), false},
		{"in an answer that holds", append(first, ok, thread.Retried{User: 1}, thread.Withdrawn{}), true},
		{"in a turn before", append(first, ok, user("r"), ok, thread.Retried{User: 6}), true},
		{"by an attempt that did not hold", []thread.Body{user("q"), void(calls("b")), telling("b", "/w/x"), ok}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := fold(tt.bodies...).Told("/w/x"); got != tt.want {
				t.Errorf("told = %v, want %v", got, tt.want)
			}
		})
	}
}

// What a message tells once goes back with the message.
func TestLastTold(t *testing.T) { // R-HARN-14
	telling := func(text, key string) thread.User {
		u := user(text)
		u.Told = []string{key}
		return u
	}
	ok := thread.Assistant{Parts: []thread.Part{{Text: "ok"}}}
	retelling := anew("Q")
	retelling.Told = []string{"k:1"}
	for _, tt := range []struct {
		name        string
		bodies      []thread.Body
		next, again string // told before the next message, and before the last one that is sent again
	}{
		{"nothing", nil, "", ""},
		{"in the message before", []thread.Body{telling("q", "k:1"), ok}, "k:1", ""},
		{"in one before that", []thread.Body{telling("q", "k:1"), ok, user("r"), ok}, "k:1", "k:1"},
		{"otherwise, later", []thread.Body{telling("q", "k:1"), ok, telling("r", "k:2"), ok}, "k:2", "k:1"},
		{"before another key", []thread.Body{telling("q", "k:1"), ok, telling("r", "l:1"), ok}, "k:1", "k:1"},
		{"in another key", []thread.Body{telling("q", "l:1"), ok}, "", ""},
		{"in a message that was taken back", []thread.Body{telling("q", "k:1"), thread.Withdrawn{}}, "", ""},
		{"in a message that is answered anew", []thread.Body{telling("q", "k:1"), ok, thread.Retried{User: 1}, ok}, "k:1", ""},
		{"when it was sent again", []thread.Body{user("q"), ok, retelling, ok}, "k:1", ""},
		{"when it was sent again in vain", []thread.Body{user("q"), ok, retelling, thread.Withdrawn{}}, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := fold(tt.bodies...)
			if next, again := c.LastTold("k:", false), c.LastTold("k:", true); next != tt.next || again != tt.again {
				t.Errorf("told = %q, again %q; want %q, %q", next, again, tt.next, tt.again)
			}
		})
	}
}

func TestAttached(t *testing.T) { // R-PROMPT-52
	with := func(text string, as ...thread.Attached) thread.User {
		u := user(text)
		u.Attached = as
		return u
	}
	a, b := thread.Attached{Key: "document:a", Name: "a"}, thread.Attached{Key: "resource:b", Name: "b"}
	retried := anew("Q")
	retried.Attached = []thread.Attached{b}
	c := fold(with("q", a), thread.Withdrawn{}, retried)
	for _, want := range []thread.Attached{a, b} {
		if got, ok := c.Attached(want.Key); !ok || got != want {
			t.Errorf("Attached(%s) = %+v, %v", want.Key, got, ok)
		}
	}
	if got, ok := c.Attached("document:c"); ok {
		t.Errorf("a key that nobody has attached is %+v", got)
	}
}
