package workspace_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/workspace"
)

func TestRead(t *testing.T) {
	tests := []struct {
		name    string
		content string
		input   args
		want    string
	}{
		{"lines have numbers", "a\n\nc\n", nil, "1\ta\n2\t\n3\tc\n"},
		{"a piece", "a\nb\nc\nd\n", args{"offset": 2, "limit": 2}, "2\tb\n3\tc\n\n(lines 2-3 of 4; go on with offset 4)\n"},
		{"the last piece", "a\nb\nc\n", args{"offset": 3}, "3\tc\n"},
		{"numbers as models write them", "a\nb\n", args{"offset": 2.0}, "2\tb\n"},
		{"CRLF", "a\r\nb\r\n", nil, "1\ta\n2\tb\n"},
		{"C057 byte order mark", "\xef\xbb\xbfé\n", nil, "1\té\n"},
		{"C069 empty", "", nil, "(the file is empty)\n"},
		{"C069 only a mark", "\xef\xbb\xbf", nil, "(the file is empty)\n"},
		{"C069 past the end", "a\nb\n", args{"offset": 9}, "(offset 9 is past the end; the file has 2 lines)\n"},
		{"C069 limit 0", "a\n", args{"limit": 0}, "(limit 0 asks for no lines; give at least 1)\n"},
		{"C069 offset 0", "a\n", args{"offset": 0}, "1\ta\n"},
		{"C069 no line break at the end", "a\nb", nil, "1\ta\n2\tb\n\n(the last line does not end with a line break)\n"},
		{"C069 numbers beyond all files", "a\n", args{"offset": 1e300, "limit": 1e300}, "(offset 9007199254740992 is past the end; the file has 1 lines)\n"},
		{"UTF-16 little endian", "\xff\xfea\x00\n\x00\xe9\x00\n\x00", nil, "1\ta\n2\té\n\n(the file is UTF-16 (little endian), shown as UTF-8; edit and write keep that)\n"},
		{"UTF-16 big endian", "\xfe\xff\x00a\x00\n", nil, "1\ta\n\n(the file is UTF-16 (big endian), shown as UTF-8; edit and write keep that)\n"},
		{"an East Asian encoding", "x\n\xd6\xd0\xce\xc4\n", nil, "1\tx\n2\t�\n\n(some bytes are not UTF-8 and shown as �, 1 times; the file is in an East Asian encoding such as GB18030, Big5 or Shift_JIS; edit keeps them)\n"},
		{"Shift_JIS, whose second bytes may be letters", "\x93\xfa\x96\x7b\n", nil, "1\t�{\n\n(some bytes are not UTF-8 and shown as �, 1 times; the file is in an East Asian encoding such as GB18030, Big5 or Shift_JIS; edit keeps them)\n"},
		{"a western encoding with a letter behind the accent", "gr\xfcn, sch\xf6n\n", nil, "1\tgr�n, sch�n\n\n(some bytes are not UTF-8 and shown as �, 2 times; the file is in a single-byte encoding such as Windows-1252 or ISO-8859-1; edit keeps them)\n"},
		{"a western encoding", "caf\xe9\n", nil, "1\tcaf�\n\n(some bytes are not UTF-8 and shown as �, 1 times; the file is in a single-byte encoding such as Windows-1252 or ISO-8859-1; edit keeps them)\n"},
		{"binary", "\x7fELF\x00\x01", nil, "(f is a binary file of 6 bytes; it is not shown)\n"},
		{"bytes", "abcdef", args{"byte_offset": 2, "byte_limit": 3}, "cde\n\n(bytes 2-4; go on with byte_offset 5)\n"},
		{"bytes to the end", "abcdef", args{"byte_offset": 2}, "cdef"},
		{"bytes between characters", "aéb", args{"byte_offset": 2, "byte_limit": 1}, "b"},
		{"bytes of one character at least", "éb", args{"byte_offset": 0, "byte_limit": 1}, "é\n\n(bytes 0-1; go on with byte_offset 2)\n"},
		{"bytes past the end", "abc", args{"byte_offset": 3}, "(byte_offset 3 is past the end)\n"},
		{"bytes after a mark", "\xef\xbb\xbfab", args{"byte_offset": 1}, "b"},
		{"bytes of UTF-16 are counted as shown", "\xff\xfea\x00\xe9\x00b\x00", args{"byte_offset": 3}, "b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k := newKit(t)
			k.put(t, "f", tt.content)
			input := args{"path": "f"}
			for key, v := range tt.input {
				input[key] = v
			}
			got := k.ok(t, "read", input)
			if diff := cmp.Diff(strings.TrimSuffix(tt.want, "\n"), strings.TrimSuffix(got, "\n")); diff != "" {
				t.Errorf("read(%v) (-want +got):\n%s", input, diff)
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	k := newKit(t)
	k.put(t, "d/f", "a\n")
	tests := []struct {
		name  string
		input args
		want  string
	}{
		{"missing", args{"path": "nope"}, "nope does not exist; look for it with glob"},
		{"below a file", args{"path": "d/f/x"}, "not a directory"},
		{"C070 directory", args{"path": "d"}, "is a directory; list its files with glob"},
		{"C069 negative offset", args{"path": "d/f", "offset": -5}, "lines count from 1"},
		{"negative byte offset", args{"path": "d/f", "byte_offset": -1}, "count from 0"},
		{"not a whole number", args{"path": "d/f", "offset": 1.5}, "offset"},
		{"no path", args{}, "missing property 'path'"},
		{"empty path", args{"path": ""}, "not a usable path"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { k.fails(t, "read", tt.input, tt.want) })
	}
}

func TestReadCaps(t *testing.T) {
	k := newKit(t)
	t.Run("lines", func(t *testing.T) {
		k.put(t, "many", strings.Repeat("x\n", 5000))
		got := k.ok(t, "read", args{"path": "many"})
		if !strings.HasSuffix(got, "2000\tx\n\n(lines 1-2000 of 5000; go on with offset 2001)\n") {
			t.Errorf("ends with %q", got[len(got)-80:])
		}
		if got := k.ok(t, "read", args{"path": "many", "offset": 2001, "limit": 9999}); !strings.HasPrefix(got, "2001\tx\n") || !strings.Contains(got, "lines 2001-4000 of 5000") {
			t.Errorf("the next piece is %.20q … %q", got, got[len(got)-80:])
		}
	})
	t.Run("bytes", func(t *testing.T) {
		k.put(t, "wide", strings.Repeat(strings.Repeat("x", 999)+"\n", 200))
		got := k.ok(t, "read", args{"path": "wide"})
		if len(got) > 68<<10 || !strings.Contains(got, "of 200; go on with offset ") {
			t.Errorf("%d bytes, ending with %q; want about 64 KiB and how to go on", len(got), got[len(got)-80:])
		}
	})
}

// C069: the hint of a line that is cut leads to the rest of it.
func TestReadLongLine(t *testing.T) {
	k := newKit(t)
	body := strings.Repeat("αβγδ", 700_000) // 5.6 MB in one line
	k.put(t, "long.json", "first\n"+body+"\nlast\n")
	got := k.ok(t, "read", args{"path": "long.json"})
	if len(got) > 5000 || !strings.Contains(got, "\n3\tlast\n") || !utf8.ValidString(got) {
		t.Errorf("read gives %d bytes, want the beginning of the line and the next one", len(got))
	}
	m := regexp.MustCompile(`\n2\t(.*) \(line cut: \d+ of its 5600000 bytes are shown; go on with byte_offset (\d+)\)`).FindStringSubmatch(got)
	if m == nil {
		t.Fatalf("no hint in %.100q … %q", got, got[len(got)-200:])
	}
	shown := m[1]
	var at int
	for fmt.Sscan(m[2], &at); len(shown) < 200_000; {
		piece := k.ok(t, "read", args{"path": "long.json", "byte_offset": at})
		text, note, _ := strings.Cut(piece, "\n\n(bytes ")
		shown += text
		if _, err := fmt.Sscanf(note[strings.Index(note, "byte_offset"):], "byte_offset %d", &at); err != nil {
			t.Fatalf("no way on in %q", note)
		}
	}
	if !strings.HasPrefix(body, shown) {
		t.Error("the pieces do not make up the line")
	}
}

// C069: a file above the size that is read whole is streamed.
func TestReadHuge(t *testing.T) {
	if testing.Short() {
		t.Skip("writes a file of 30 MB")
	}
	k := newKit(t)
	f, err := os.Create(filepath.Join(k.fs.Dir(), "huge.log"))
	if err != nil {
		t.Fatal(err)
	}
	block := bytes.Repeat([]byte(strings.Repeat("x", 99)+"\n"), 10_000)
	for range 30 {
		if _, err := f.Write(block); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := k.ok(t, "read", args{"path": "huge.log", "offset": 299_999, "limit": 1})
	tail := k.ok(t, "read", args{"path": "huge.log", "byte_offset": 29_999_990})
	runtime.ReadMemStats(&after)
	if want := "299999\t" + strings.Repeat("x", 99) + "\n\n(lines 299999-299999, more follow; go on with offset 300000)\n"; got != want {
		t.Errorf("read = %.150q, want %.150q", got, want)
	}
	if want := strings.Repeat("x", 9) + "\n"; tail != want {
		t.Errorf("the last bytes are %q, want %q", tail, want)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 4<<20 {
		t.Errorf("reading took %d bytes of memory, want at most 4 MiB", used)
	}
}

func TestReadEndsWithContext(t *testing.T) {
	k := newKit(t)
	k.put(t, "f", "x")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	tool, _ := k.reg.Lookup("read")
	if _, err := tool.Run(ctx, tools.Call{Input: json.RawMessage(`{"path":"f"}`)}); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want context.Canceled", err)
	}
}

func TestReadImage(t *testing.T) {
	k := newKit(t)
	for mime, data := range map[string]string{
		"image/png":  "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
		"image/jpeg": "\xff\xd8\xff\xe0\x00\x10JFIF",
		"image/gif":  "GIF89a\x01\x00\x01\x00",
		"image/webp": "RIFF\x24\x00\x00\x00WEBPVP8 ",
	} {
		k.put(t, "image", data)
		_, res := k.call(t, "read", args{"path": "image"})
		want := tools.Result{
			Text:   fmt.Sprintf("(image, an image, %s, of %d bytes)", mime, len(data)),
			Images: []tools.Image{{MIME: mime, Data: []byte(data)}},
		}
		if diff := cmp.Diff(want, res); diff != "" {
			t.Errorf("read of %s (-want +got):\n%s", mime, diff)
		}
		k.put(t, "image", data+strings.Repeat("\x00", 4<<20))
		k.fails(t, "read", args{"path": "image"}, "make a smaller copy")
	}
}

// failing is a file system whose files break off.
type failing struct{ workspace.FS }

func (failing) ReadFile(context.Context, string, int64) ([]byte, error) {
	return nil, io.ErrUnexpectedEOF
}

func TestReadFaultStaysPrivate(t *testing.T) {
	k := newKit(t)
	k.put(t, "f", "x")
	var seen workspace.Seen
	res, err := workspace.NewRead(failing{k.fs}, &seen).Run(t.Context(), tools.Call{Input: json.RawMessage(`{"path":"f"}`)})
	if !errors.Is(err, io.ErrUnexpectedEOF) || res.Text != "" {
		t.Errorf("Run = %+v, %v; want the error alone", res, err)
	}
}

func BenchmarkRead(b *testing.B) {
	text := []byte(strings.Repeat("\tfor i := range lines {\n\t\tuse(i)\n\t}\n", 700))
	var seen workspace.Seen
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), text, 0o644); err != nil {
		b.Fatal(err)
	}
	tool := workspace.NewRead(openDir(b, dir), &seen)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := tool.Run(b.Context(), tools.Call{Input: json.RawMessage(`{"path":"f"}`)}); err != nil {
			b.Fatal(err)
		}
	}
}
