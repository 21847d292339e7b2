package body_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lorimer-dev/lorimer/harness/model/internal/body"
)

func TestWriter(t *testing.T) {
	var w body.Writer
	w.Object().
		Key("z").Array().Int(1).Int(-2).Array().EndArray().Object().EndObject().EndArray().
		Key("a").Raw(`{"b":12345678901234567890, "a":1}`).
		Key("t").Bool(true).Key("n").Null().Key("f").Float(0.5).
		Key("i").Base64("data:image/png;base64,", []byte("png")).
		Key("s").String("<&>[\"\n\x01\xff").
		EndObject()
	want := `{"z":[1,-2,[],{}],"a":{"b":12345678901234567890, "a":1},"t":true,"n":null,"f":0.5,` +
		`"i":"data:image/png;base64,cG5n","s":"<&>[\"\n\u0001` + "\ufffd" + `"}`
	want = strings.ReplaceAll(want, "[\"\n", `[\"\n`)
	if got := string(w.Bytes()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestWriterKeepsTheEndOfAString(t *testing.T) {
	// A string whose last byte opens something must not swallow the next comma.
	var w body.Writer
	w.Array().String("{").String("[").String(":").String(",").EndArray()
	if got, want := string(w.Bytes()), `["{","[",":",","]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestPicture(t *testing.T) {
	for kind, want := range map[string]string{
		"image/png":     `"data:image/png;base64,cG5n"`,
		"":              `"data:application/octet-stream;base64,cG5n"`,
		"image/\"png":   `"data:application/octet-stream;base64,cG5n"`,
		"image/png; é":  `"data:application/octet-stream;base64,cG5n"`,
		"image/svg+xml": `"data:image/svg+xml;base64,cG5n"`,
	} {
		var w body.Writer
		if got := string(w.Picture(kind, []byte("png")).Bytes()); got != want {
			t.Errorf("%q: got %s, want %s", kind, got, want)
		}
	}
}

// A string survives a trip through JSON, apart from bytes that are not UTF-8.
func FuzzString(f *testing.F) {
	for _, s := range []string{"", "plain", "\x00\x1f\"\\\n", "ä\u2028\U0001F600", "\xff\xc3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var w body.Writer
		var got string
		if err := json.Unmarshal(w.String(s).Bytes(), &got); err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		want := s
		if !utf8.ValidString(s) {
			want = string([]rune(s))
		}
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}
