package web

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A stream is what events are read as.
type stream struct {
	Events []string // kind, data, and ! where it was cut off
	Last   string
	Retry  time.Duration
}

func readAll(t *testing.T, r io.Reader, limit int) (stream, error) {
	t.Helper()
	ev := newEvents(r, limit)
	var s stream
	for {
		e, err := ev.next()
		if err != nil {
			s.Last, s.Retry = ev.last, ev.retry
			return s, err
		}
		text := e.kind + "|" + string(e.data)
		if e.cut {
			text += "!"
		}
		s.Events = append(s.Events, text)
	}
}

func TestEvents(t *testing.T) {
	tests := []struct {
		name, text string
		want       stream
	}{
		{"LF", "event: a\ndata: 1\n\ndata: 2\n\n", stream{Events: []string{"a|1", "|2"}}},
		{"CR", "event: a\rdata: 1\r\rdata: 2\r\r", stream{Events: []string{"a|1", "|2"}}},
		{"CRLF", "event: a\r\ndata: 1\r\n\r\ndata: 2\r\n\r\n", stream{Events: []string{"a|1", "|2"}}},
		{"all of them", "data: 1\r\n\rdata: 2\n\r\n", stream{Events: []string{"|1", "|2"}}},
		{"mark of the byte order", "\ufeffdata: 1\n\n", stream{Events: []string{"|1"}}},
		{"comments", ": ping\n\n:\n\ndata: 1\n: in between\n\n", stream{Events: []string{"|1"}}},
		{"lines", "data: a\ndata:b\ndata:  c\ndata\n\n", stream{Events: []string{"|a\nb\n c\n"}}},
		{"no data", "event: a\n\ndata:\n\ndata: 1\n\n", stream{Events: []string{"|1"}}},
		{"ids", "id: 7\ndata:\n\nid: 8\ndata: 1\n\nid\ndata: 2\n\n", stream{Events: []string{"|1", "|2"}}},
		{"an id alone", "id: 7\nretry: 500\n\n", stream{Last: "7", Retry: 500 * time.Millisecond}},
		{"an id that is none", "id: 7\n\nid: a\x00b\n\n", stream{Last: "7"}},
		{"an id of an event that is cut off", "id: 7\n\nid: 8\ndata: half", stream{Events: []string{"|half!"}, Last: "7"}},
		{"a retry that is none", "retry: 5s\nretry: -1\nretry:\n\n", stream{}},
		{"unknown fields", "x: y\nDATA: 1\ndata : 2\n\n", stream{}},
		{"nothing", "", stream{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readAll(t, strings.NewReader(tt.text), 1<<10)
			if err != io.EOF {
				t.Errorf("error = %v", err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEventsTooLong(t *testing.T) {
	for _, text := range []string{
		"data: " + strings.Repeat("x", 100) + "\n\n",
		": " + strings.Repeat("x", 100),
		strings.Repeat("data: xxxxxxxxx\n", 10),
		strings.Repeat("data\n", 100),
	} {
		if got, err := readAll(t, strings.NewReader(text), 64); !errors.Is(err, errTooLong) || got.Events != nil {
			t.Errorf("%.20q: %q, %v", text, got.Events, err)
		}
	}
}

// An event is there with the line end that ends it, not with what comes behind.
func TestEventIsNotLate(t *testing.T) {
	for _, end := range []string{"\n\n", "\r\r", "\r\n\r\n"} {
		r, w := io.Pipe()
		go func() { w.Write([]byte("data: 1" + end)) }()
		if e, err := newEvents(r, 64).next(); err != nil || string(e.data) != "1" {
			t.Errorf("%q: %q, %v", end, e.data, err)
		}
		r.Close()
	}
}

// How a stream is cut into pieces on its way makes no difference.
func FuzzEvents(f *testing.F) {
	for _, text := range []string{"event: a\r\ndata: 1\r\rid: 5\ndata: 2\n\ndata: half", "retry: 10\n\n\ufeff", ":\r\n\r\ndata\ndata\n\n", "id: 1\x00\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		whole, err := readAll(t, bytes.NewReader(text), 256)
		bytewise, errBytewise := readAll(t, iotest.OneByteReader(bytes.NewReader(text)), 256)
		if errors.Is(err, errTooLong) != errors.Is(errBytewise, errTooLong) {
			t.Fatalf("errors %v and %v", err, errBytewise)
		}
		if diff := cmp.Diff(whole, bytewise); diff != "" {
			t.Errorf("%q (-whole +in pieces):\n%s", text, diff)
		}
	})
}

// Whatever is sent as a message is none or has a method or an answer.
func FuzzParse(f *testing.F) {
	for _, text := range []string{`{"id":1,"result":{}}`, `[{"id":"1","error":"x"},{"method":"m"}]`, `[1]`, `{"id":1e0,"result":null}`, ` {"error":null}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, m := range parse(text) {
			if m.IsAnswer() {
				if raw, err := m.Outcome(); raw == nil && err == nil {
					t.Errorf("%q has no outcome", text)
				}
			}
			if m.Number() != 0 && !m.HasID() {
				t.Errorf("%q has the number %d and no id", text, m.Number())
			}
		}
	})
}
