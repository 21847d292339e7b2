package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/place"
)

func testDocuments(t *testing.T, open func(*testing.T) place.Places) {
	t.Run("a content comes back byte for byte", func(t *testing.T) {
		p := open(t)
		for _, content := range [][]byte{nil, {0}, []byte("text\r\n"), {0xff, 0xfe, 0}, bytes.Repeat([]byte("large "), 1<<19)} {
			before := bytes.Clone(content)
			d, err := p.Keep(t.Context(), "a.bin", "application/x", content)
			if err != nil {
				t.Fatal(err)
			}
			want := place.Document{Key: d.Key, Name: "a.bin", Type: "application/x", Size: int64(len(content))}
			if diff := cmp.Diff(want, d); diff != "" || !strings.HasPrefix(d.Key, "document:") {
				t.Errorf("Keep = %+v (-want +got):\n%s", d, diff)
			}
			if got, err := p.Document(t.Context(), d.Key); err != nil || got != d {
				t.Errorf("Document = %+v (%v), want %+v", got, err, d)
			}
			if len(content) > 0 {
				content[0]++ // by the caller
			}
			got, err := p.Content(t.Context(), d.Key)
			if err != nil || !bytes.Equal(got, before) {
				t.Errorf("Content = %d bytes (%v), want the %d that were kept", len(got), err, len(before))
			}
			if len(got) > 0 {
				got[0]++
			}
			if got, err := p.Content(t.Context(), d.Key); err != nil || !bytes.Equal(got, before) {
				t.Errorf("a reader has changed the content (%v)", err)
			}
		}
	})
	t.Run("equal contents have one key", func(t *testing.T) {
		p := open(t)
		first := keep(t, p, "x")
		second, err := p.Keep(t.Context(), "other", "text/other", []byte("x"))
		if err != nil || second.Key != first.Key || second.Name != "other" {
			t.Errorf("the same content is %+v (%v), want it by the key %s under its new name", second, err, first.Key)
		}
		if got, err := p.Document(t.Context(), first.Key); err != nil || got != second {
			t.Errorf("Document = %+v (%v), want what came last, %+v", got, err, second)
		}
		if other := keep(t, p, "y"); other.Key == first.Key {
			t.Errorf("another content has the key %s too", other.Key)
		}
	})
	t.Run("a name may be anything", func(t *testing.T) {
		p := open(t)
		for _, name := range []string{"", "a\x00b", "\xff", "two\nlines", "\u202e", "../../etc/passwd", strings.Repeat("ä", 5000)} {
			d, err := p.Keep(t.Context(), name, name, []byte("named "+name))
			if err != nil {
				t.Fatalf("%q: %v", name, err)
			}
			for _, got := range []string{d.Name, d.Type} {
				if !utf8.ValidString(got) || strings.ContainsAny(got, "\x00\n\u202e") || utf8.RuneCountInString(got) > place.MaxName {
					t.Errorf("%.40q is kept as %q", name, got)
				}
			}
			if got, err := p.Document(t.Context(), d.Key); err != nil || got != d {
				t.Errorf("Document = %+v (%v), want %+v", got, err, d)
			}
		}
	})
	t.Run("what was not kept is ErrNoDocument", func(t *testing.T) {
		p := open(t)
		for _, key := range []string{"", "document:", "document:0123456789abcdef", "\x00", "\xff", "resource:x", "../x"} {
			if d, err := p.Document(t.Context(), key); !errors.Is(err, place.ErrNoDocument) {
				t.Errorf("Document(%q) = %+v (%v), want ErrNoDocument", key, d, err)
			}
			if c, err := p.Content(t.Context(), key); !errors.Is(err, place.ErrNoDocument) {
				t.Errorf("Content(%q) = %q (%v), want ErrNoDocument", key, c, err)
			}
		}
	})
	t.Run("many keep at once", func(t *testing.T) {
		const many = 16
		p := open(t)
		var wg sync.WaitGroup
		for i := range many {
			wg.Go(func() {
				content := []byte(strings.Repeat(fmt.Sprint("content ", i%3), 10000))
				d, err := p.Keep(t.Context(), fmt.Sprint(i), "", content)
				if err != nil {
					t.Error(err)
					return
				}
				if got, err := p.Content(t.Context(), d.Key); err != nil || !bytes.Equal(got, content) {
					t.Errorf("Content = %d bytes (%v), want what was kept", len(got), err)
				}
			})
		}
		wg.Wait()
	})
}

func keep(t *testing.T, p place.Documents, content string) place.Document {
	t.Helper()
	d, err := p.Keep(t.Context(), "name of "+content, "text/plain", []byte(content))
	if err != nil {
		t.Fatal(err)
	}
	return d
}
