package stdio

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/mcpbridge/transport/internal/rpc"
)

// decoded returns the methods or ids of the messages in text, and the junk.
func decoded(text string, limit int) (messages, junk []string) {
	d := &decoder{
		max: limit,
		message: func(f rpc.Frame) {
			if f.Method != "" {
				messages = append(messages, f.Method)
			} else {
				messages = append(messages, string(f.ID))
			}
		},
		junk: func(b []byte) { junk = append(junk, string(b)) },
	}
	for line := range strings.Lines(text) {
		d.line([]byte(line))
	}
	d.end()
	return messages, junk
}

func TestDecoder(t *testing.T) {
	const (
		one = `{"jsonrpc":"2.0","id":1,"result":{"text":"a } b"}}`
		two = `{"jsonrpc":"2.0","method":"note"}`
	)
	pretty := func(text string) string {
		var b bytes.Buffer
		if err := json.Indent(&b, []byte(text), "", "\t"); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	tests := []struct {
		name, text string
		want, junk []string
	}{
		{"a line each", one + "\n" + two + "\n", []string{"1", "note"}, nil},
		{"no line end at the end", one, []string{"1"}, nil},
		{"white space, a byte order mark, line ends of Windows", "\ufeff" + one + " \r\n\r\n\t" + two + "\r\n", []string{"1", "note"}, nil},
		{"lines of a log", "Starting ...\n" + one + "\n[info] {x} done\n", []string{"1"}, []string{"Starting ...", "[info] {x} done"}},
		{"JSON that is no message", "null\n123\n[]\n{}\n\"a\"\n" + `{"level":"info","id":7}` + "\n" + one, []string{"1"}, []string{"null", "123", "[]", "{}", `"a"`, `{"level":"info","id":7}`}},
		{"text in front", "Listening on {port} 3000... " + one + "\n", []string{"1"}, []string{"Listening on {port} 3000..."}},
		{"text behind", one + " done\n", []string{"1"}, []string{"done"}},
		{"two in a line", one + two + "\n", []string{"1", "note"}, nil},
		{"text, and a message on several lines", "ready! " + pretty(one) + "\n" + two, []string{"1", "note"}, []string{"ready!"}},
		{"several lines", pretty(one) + "\n" + pretty(two) + "\n", []string{"1", "note"}, nil},
		{"several lines and another behind", pretty(one) + two + "\n", []string{"1", "note"}, nil},
		{"a blank line inside", strings.Replace(pretty(one), "\n", "\n\n", 2), []string{"1"}, nil},
		{"an array", "[" + one + "," + two + ",null]\n", []string{"1", "note"}, nil},
		{"an array on several lines", pretty("[" + one + "," + two + "]"), []string{"1", "note"}, nil},
		{"an array with a line for each", "[\n" + one + ",\n" + two + "\n]\n", []string{"1", "note"}, []string{"[", ",", "]"}},
		{"an array of what are none", "[1,2]\n" + two, []string{"note"}, []string{"[1,2]"}},
		{"a message that never ends", `{"jsonrpc":"2.0",` + "\n" + one + "\n" + two, []string{"1", "note"}, []string{`{"jsonrpc":"2.0",`}},
		{"half a message at the end", one + "\n" + two[:12], []string{"1"}, []string{two[:12]}},
		{"a text that does not end in its line", `{"jsonrpc": "2.0` + "\n" + two, []string{"note"}, []string{`{"jsonrpc": "2.0`}},
		{"no version", `{"id":5,"error":{"code":1}}`, []string{"5"}, nil},
		{"brackets that do not match", `{"a":]` + "\n" + two, []string{"note"}, []string{`{"a":]`}},
		{"a log of what was read", `debug: got {"jsonrpc":"2.0","id":1,"method":"tools/list"}`, []string{"tools/list"}, []string{"debug: got"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, junk := decoded(tt.text, 1<<20)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.junk, junk); diff != "" {
				t.Errorf("junk (-want +got):\n%s", diff)
			}
		})
	}
}

// What takes several lines is bounded like what takes one.
func TestDecoderBoundsAMessageOnSeveralLines(t *testing.T) {
	long := "{\n" + strings.Repeat("\"a\": 1,\n", 100) + `"b": 2}` + "\n"
	got, junk := decoded(long+`{"jsonrpc":"2.0","method":"note"}`, 200)
	if want := []string{"note"}; !cmp.Equal(got, want) {
		t.Errorf("messages = %q, want %q", got, want)
	}
	if len(junk) == 0 || len(junk[0]) > 200 {
		t.Errorf("%d pieces of junk, the first of %d bytes, want the first within the limit", len(junk), len(junk[0]))
	}
}

// FuzzDecoder: a message on a line of its own is found, whatever stands in the lines
// before it, and nothing is made of nothing.
func FuzzDecoder(f *testing.F) {
	for _, seed := range []string{
		"", "{", "[{", "{\n\"a\": [", "x {\"jsonrpc\":\"2.0\",", "[\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}},", "\"\\", "{\"jsonrpc\":\"2.0\",\"id\":1}}}", "\ufeff{}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, before []byte) {
		messages, junk := decoded(string(before)+"\n"+`{"jsonrpc":"2.0","method":"the last"}`+"\n", 1<<16)
		if len(messages) == 0 || messages[len(messages)-1] != "the last" {
			t.Errorf("messages behind %q = %q, want the last one", before, messages)
		}
		size := 0
		for _, j := range junk {
			size += len(j)
		}
		if limit := len(before) + bytes.Count(before, []byte("\n")) + 2; size > limit {
			t.Errorf("%d bytes of junk in %d bytes", size, len(before))
		}
	})
}

func TestLines(t *testing.T) {
	long := strings.Repeat("a", 3*readSize) + "\n"
	tests := []struct {
		name, text string
		limit      int
		want       []string
		err        error
	}{
		{"lines", "a\n\nb\n", 10, []string{"a\n", "\n", "b\n", ""}, io.EOF},
		{"no end", "a\nb", 10, []string{"a\n", "b"}, io.EOF},
		{"longer than the buffer", long + "b\n", 1 << 20, []string{long, "b\n", ""}, io.EOF},
		{"as long as it may be", "aaa\nb", 4, []string{"aaa\n", "b"}, io.EOF},
		{"too long", "a\naaaaa\n", 4, []string{"a\n", ""}, errLine},
		{"too long without an end", "a\n" + long, 2 * readSize, []string{"a\n", ""}, errLine},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ls := newLines(iotest.HalfReader(strings.NewReader(tt.text)), tt.limit)
			var got []string
			for {
				line, err := ls.next()
				got = append(got, string(line))
				if err == nil {
					continue
				}
				if !errors.Is(err, tt.err) {
					t.Errorf("error = %v, want %v", err, tt.err)
				}
				break
			}
			if !cmp.Equal(got, tt.want) {
				t.Errorf("lines = %s", cmp.Diff(tt.want, got))
			}
		})
	}
}

func TestTail(t *testing.T) {
	key := "sk-0123456789"
	pem := "-----BEGIN KEY-----\nMIIabcdef\nab\n-----END KEY-----"
	s := newSecrets([]string{key, "short", "", pem, key + "-long"})
	lines := strings.Repeat("a line\n", tailSize/7+100)
	tests := []struct {
		name   string
		writes []string
		want   func(string) bool
	}{
		{"as it is", []string{"one\n", "two\n"}, func(got string) bool { return got == "one\ntwo" }},
		{"plain", []string{"\x1b[31mred\x1b[0m\r\n\x00two"}, func(got string) bool { return got == "red\ntwo" }},
		{"secrets", []string{"key " + key + "-long, " + key + ", short, MIIabcdef ab"}, func(got string) bool {
			return got == "key [secret], [secret], short, [secret] ab"
		}},
		{"a secret in two writes", []string{"key sk-0123", "456789 is wrong"}, func(got string) bool { return got == "key [secret] is wrong" }},
		{"whole lines of the end", []string{lines, "the last\n"}, func(got string) bool {
			return len(got) <= tailSize && len(got) > tailSize/2 && strings.HasPrefix(got, "a line\n") && strings.HasSuffix(got, "the last")
		}},
		{"a secret where it is cut", []string{lines, key, strings.Repeat("x", tailSize-5)}, func(got string) bool {
			return !strings.Contains(got, "9") && len(got) <= tailSize
		}},
		{"a secret where it was cut", []string{strings.Repeat("\x1b[0m", tailSize), key, strings.Repeat("y", 2*tailSize)}, func(got string) bool {
			return !strings.Contains(got, "9") && len(got) <= tailSize
		}},
		{"no character is cut", []string{strings.Repeat("é", tailSize) + "x"}, func(got string) bool {
			return strings.Trim(got, "é") == "x" && len(got) <= tailSize
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tail := &tail{secrets: s}
			for _, w := range tt.writes {
				fmt.Fprint(tail, w)
			}
			if got := tail.String(); !tt.want(got) {
				t.Errorf("tail = %.200q (%d bytes)", got, len(got))
			}
		})
	}
}

func TestJunkHasNoSecret(t *testing.T) {
	key := "sk-0123456789"
	for at := range 2 * junkShown {
		j := newJunk(Options{}.Log, newSecrets([]string{key}))
		j.note([]byte(strings.Repeat(" ", at) + key + strings.Repeat(" ", 400)))
		if got := j.text.String(); got != "" && !strings.HasPrefix(hidden, got) {
			t.Errorf("junk with a secret at %d = %q", at, got)
		}
	}
}
