package stream

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func readAll(r io.Reader) ([]string, error) { return drain(newReader(r)) }

func drain(rd *reader) (events []string, err error) {
	for {
		data, err := rd.next()
		if err == io.EOF {
			return events, nil
		}
		if err != nil {
			return events, err
		}
		events = append(events, string(data))
	}
}

func TestReader(t *testing.T) {
	long := strings.Repeat("x", 200<<10)
	tests := []struct {
		name, in string
		want     []string
	}{
		{"two events", "data: a\n\ndata: b\n\n", []string{"a", "b"}},
		{"line ends of Windows", "data: a\r\n\r\ndata: b\r\n\r\n", []string{"a", "b"}},
		{"a byte order mark", "\ufeffdata: a\n\ndata: \ufeffb\n\n", []string{"a", "\ufeffb"}},
		{"names, ids and comments are skipped", ": hi\n\nevent: x\nid: 1\nretry: 5\ndata: a\n\n", []string{"a"}},
		{"without a space", "data:a\n\n", []string{"a"}},
		{"one space is dropped", "data:  a\n\n", []string{" a"}},
		{"several lines", "data: a\ndata: b\n\n", []string{"a\nb"}},
		{"an empty line of data", "data\ndata:\n\n", []string{"\n"}},
		{"events without data", "data:\n\nevent: x\ndata\n\ndata: a\n\ndata:", []string{"a"}},
		{"a field that only begins like data", "database: a\n\n", nil},
		{"the last empty line is missing", "data: a\n\ndata: b", []string{"a", "b"}},
		{"longer than the buffer", "data: " + long + "\n\ndata: b\n\n", []string{long, "b"}},
		{"an error that is no event", "data: a\n\n{\n \"error\": {\n  \"code\": 503\n }\n}\n", []string{"a", "{\n \"error\": {\n  \"code\": 503\n }\n}\n"}},
		{"an error and nothing else", `[{"error":{}}]`, []string{"[{\"error\":{}}]\n"}},
		{"an error that is cut", "data: a\n\n{\"error\":", []string{"a"}},
		{"what stands between events is no error", "{}\ndata: a\n\n", []string{"a"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readAll(strings.NewReader(tt.in))
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
				t.Errorf("(-want +got):\n%s%v", diff, err)
			}
		})
	}
}

func TestReaderOfLines(t *testing.T) {
	long := strings.Repeat("x", 200<<10)
	tests := []struct {
		name, in string
		want     []string
	}{
		{"two", "{\"a\":1}\n{\"b\":2}\n", []string{`{"a":1}`, `{"b":2}`}},
		{"line ends of Windows and blank lines", "a\r\n\r\n \nb\n", []string{"a", "b"}},
		{"without a last line end", "a\nb", []string{"a", "b"}},
		{"a field of events is none of lines", "data: a\n", []string{"data: a"}},
		{"longer than the buffer", long + "\nb\n", []string{long, "b"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newReader(strings.NewReader(tt.in))
			r.lines = true
			got, err := drain(r)
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
				t.Errorf("(-want +got):\n%s%v", diff, err)
			}
		})
	}
}

func TestReaderRefusesWhatNeverEnds(t *testing.T) {
	for name, part := range map[string]string{"one line": "x", "one event": "\ndata: y", "many events": "\n\ndata: z"} {
		r := newReader(io.MultiReader(strings.NewReader("data: "), &repeat{part: []byte(part)}))
		r.maxEvent, r.maxAnswer = 100<<10, 1<<20
		if _, err := drain(r); !errors.Is(err, errTooLong) {
			t.Errorf("%s: error = %v, want %v", name, err, errTooLong)
		}
	}
}

// repeat is a part without end.
type repeat struct {
	part []byte
	at   int
}

func (r *repeat) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = r.part[r.at]
		r.at = (r.at + 1) % len(r.part)
	}
	return len(p), nil
}

// How a stream is cut into packets does not change its events.
func FuzzReader(f *testing.F) {
	f.Add([]byte("data: a\r\n\r\n: c\ndata:b\ndata: c"))
	f.Add([]byte("data\n\ndata:\n\r\n\n"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		whole, err1 := readAll(bytes.NewReader(stream))
		bytewise, err2 := readAll(iotest.OneByteReader(bytes.NewReader(stream)))
		if diff := cmp.Diff(whole, bytewise); diff != "" || err1 != nil || err2 != nil {
			t.Errorf("%q: (-whole +bytewise):\n%s%v %v", stream, diff, err1, err2)
		}
	})
}
