package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// lines reads all of r; a line that is too long is shown as its beginning and
// an ellipsis.
func lines(t *testing.T, r io.Reader, limit int) []string {
	t.Helper()
	var got []string
	for f := newFrameReader(r, limit); ; {
		line, err := f.next()
		switch {
		case err == nil:
			got = append(got, string(line))
		case errors.Is(err, errTooLong):
			got = append(got, string(line)+"…")
		case err == io.EOF:
			return got
		default:
			t.Fatal(err)
		}
	}
}

func TestFrameReader(t *testing.T) {
	big := strings.Repeat("x", 3*readSize)
	tests := []struct {
		name  string
		in    string
		limit int
		want  []string
	}{
		{"nothing", "", 9, nil},
		{"two lines", "a\nb\n", 9, []string{"a", "b"}},
		{"no line feed at the end", "a\nb", 9, []string{"a", "b"}},
		{"carriage returns and blank lines", "\r\na\r\n \t\r\n\nb\r\n", 9, []string{"a", "b"}},
		{"byte order mark at the start", "\ufeffa\nb\n", 9, []string{"a", "b"}},
		{"byte order mark later is content", "a\n\ufeffb\n", 9, []string{"a", "\ufeffb"}},
		{"longer than the buffer", big + "\nb\n", len(big), []string{big, "b"}},
		{"as long as allowed", "123\r\nb\n", 3, []string{"123", "b"}},
		{"too long", "1234\nb\n", 3, []string{"1234…", "b"}},
		{"too long at the end", "a\n1234", 3, []string{"a", "1234…"}},
		{"much too long", big + "\nb\n", 3, []string{big[:prefixLen] + "…", "b"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, lines(t, strings.NewReader(tt.in), tt.limit)); diff != "" {
				t.Errorf("at once (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.want, lines(t, iotest.OneByteReader(strings.NewReader(tt.in)), tt.limit)); diff != "" {
				t.Errorf("byte by byte (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFrameReaderError(t *testing.T) {
	broken := errors.New("broken")
	f := newFrameReader(io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)), 9)
	for _, want := range []string{"a", "b"} {
		if line, err := f.next(); string(line) != want || err != nil {
			t.Fatalf("next() = %q, %v, want %q", line, err, want)
		}
	}
	if _, err := f.next(); !errors.Is(err, broken) {
		t.Errorf("next() after the lines: %v, want %v", err, broken)
	}
}

// A line that is kept by its receiver is not changed by the next one.
func TestFrameReaderGivesLinesAway(t *testing.T) {
	f := newFrameReader(strings.NewReader("first\nother\n"), 9)
	first, err := f.next()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.next(); err != nil {
		t.Fatal(err)
	}
	if string(first) != "first" {
		t.Errorf("first line became %q", first)
	}
}

func FuzzFrameReader(f *testing.F) {
	f.Add([]byte("a\r\n\nb"), 4)
	f.Add([]byte("\ufeff{}\n123456\n"), 4)
	f.Add([]byte("\x00\xff\n\r"), 1)
	f.Fuzz(func(t *testing.T, in []byte, limit int) {
		limit = max(1, limit)
		// What is read is what lies between the line feeds, without the blanks,
		// however the input arrives.
		var want []string
		for i, line := range bytes.Split(in, []byte("\n")) {
			tooLong := len(bytes.TrimSuffix(line, []byte("\r"))) > limit
			if i == 0 {
				line = bytes.TrimPrefix(line, []byte("\ufeff"))
			}
			line = bytes.Trim(line, " \t\r\n")
			switch {
			case tooLong:
				want = append(want, "…")
			case len(line) > 0:
				want = append(want, string(line))
			}
		}
		for _, r := range []io.Reader{bytes.NewReader(in), iotest.HalfReader(bytes.NewReader(in))} {
			got := lines(t, r, limit)
			for i, line := range got {
				if strings.HasSuffix(line, "…") && i < len(want) && want[i] == "…" {
					got[i] = "…"
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%q, limit %d (-want +got):\n%s", in, limit, diff)
			}
		}
	})
}

func TestScanBeginning(t *testing.T) {
	tests := []struct {
		name, in string
		want     envelope
	}{
		{"within the parameters", `{"jsonrpc":"2.0","id":7,"method":"m","params":{"a":[1,"]`,
			envelope{version: []byte(`"2.0"`), id: []byte("7"), method: []byte(`"m"`), params: []byte(`{"a":[1,"]`)}},
		{"within the id", `{"id":12`, envelope{}},
		{"within an escape", `{"id":1,"result":"\`, envelope{id: []byte("1"), result: []byte(`"\`)}},
		{"within a name", `{"id":1,"resul`, envelope{id: []byte("1")}},
		{"after a colon", `{"id":1,"error":`, envelope{id: []byte("1"), err: []byte{}}},
		{"not an object", `[{"id":1`, envelope{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got envelope
			if got.scan([]byte(tt.in)) {
				t.Error("scan reports the end of the object")
			}
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(envelope{})); diff != "" {
				t.Errorf("envelope (-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzScan(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":["}\"",1e3]}}`))
	f.Add([]byte(` { "i\u0064" : "\\\"" , "id" : null , "result":{}, "error" :{} } `))
	f.Add([]byte(`{"id":1`))
	f.Add([]byte(`{:}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		var got envelope
		whole := got.scan(in)
		var want map[string]json.RawMessage
		if json.Unmarshal(in, &want) != nil || want == nil {
			return // what is seen in it does not matter, as long as scan returns
		}
		// Of a valid object, scan sees what encoding/json sees.
		if !whole {
			t.Fatalf("scan(%q) did not see the end", in)
		}
		for name, value := range map[string][]byte{
			"jsonrpc": got.version, "id": got.id, "method": got.method,
			"params": got.params, "result": got.result, "error": got.err,
		} {
			if !bytes.Equal(value, want[name]) {
				t.Errorf("scan(%q): %s = %q, want %q", in, name, value, want[name])
			}
		}
	})
}
