package cursor_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/store/internal/cursor"
	"github.com/lorimer-dev/lorimer/harness/thread"
)

func TestBelow(t *testing.T) {
	tests := []struct {
		c, d cursor.Cursor
		want bool
	}{
		{cursor.Cursor{Updated: 1, ID: "b"}, cursor.Cursor{Updated: 2, ID: "a"}, true},
		{cursor.Cursor{Updated: 2, ID: "a"}, cursor.Cursor{Updated: 2, ID: "b"}, true},
		{cursor.Cursor{Updated: 2, ID: "a"}, cursor.Cursor{Updated: 2, ID: "a"}, false},
		{cursor.Cursor{Updated: 3, ID: "a"}, cursor.Cursor{Updated: 2, ID: "b"}, false},
	}
	for _, tt := range tests {
		if got := tt.c.Below(tt.d); got != tt.want {
			t.Errorf("%v below %v = %v, want %v", tt.c, tt.d, got, tt.want)
		}
	}
}

func TestBeginning(t *testing.T) {
	top, err := cursor.Parse("")
	if err != nil {
		t.Fatal(err)
	}
	newest := cursor.Of(thread.Info{ID: "z", Updated: time.UnixMicro(math.MaxInt64 - 1)})
	if !newest.Below(top) {
		t.Errorf("%v is not below the beginning %v", newest, top)
	}
}

// FuzzParse: a cursor is what a place is shown as, or ErrCursor.
func FuzzParse(f *testing.F) {
	f.Add(cursor.Cursor{Updated: 1764510650123456, ID: "a.b_c-D"}.String())
	f.Add(cursor.Cursor{Updated: math.MinInt64, ID: "x"}.String())
	f.Add("MSAuLi8uLg")
	f.Add("")
	f.Fuzz(func(t *testing.T, s string) {
		c, err := cursor.Parse(s)
		if err != nil {
			if !errors.Is(err, harness.ErrCursor) {
				t.Errorf("error = %v, want ErrCursor", err)
			}
			return
		}
		if s == "" {
			return
		}
		if harness.CheckID(c.ID) != nil {
			t.Errorf("%q names the thread %q", s, c.ID)
		}
		if again, err := cursor.Parse(c.String()); err != nil || again != c {
			t.Errorf("%v was shown as %s, which is %v (%v)", c, c, again, err)
		}
	})
}
