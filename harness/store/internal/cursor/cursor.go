// Package cursor names places in the list of threads, which is sorted by the time
// of the last message and, where that is the same, by id. A place is a key and no
// number of rows: threads that come, go and change between two pages do not move
// the others.
package cursor

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/thread"
)

// A Cursor is the place of a thread in a list.
type Cursor struct {
	Updated int64 // microseconds since 1970
	ID      string
}

// Of returns the place of a thread.
func Of(i thread.Info) Cursor { return Cursor{i.Updated.UnixMicro(), i.ID} }

// Below reports whether c is the older one, which stands further down.
func (c Cursor) Below(d Cursor) bool {
	return c.Updated < d.Updated || c.Updated == d.Updated && c.ID < d.ID
}

// String returns c as a client sees it.
func (c Cursor) String() string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(c.Updated, 10) + " " + c.ID))
}

// Parse returns the place that [Cursor.String] names, or [harness.ErrCursor]; ""
// is above all threads.
func Parse(s string) (Cursor, error) {
	if s == "" {
		return Cursor{Updated: math.MaxInt64}, nil
	}
	data, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return Cursor{}, harness.ErrCursor
	}
	number, id, _ := strings.Cut(string(data), " ")
	updated, err := strconv.ParseInt(number, 10, 64)
	if err != nil || harness.CheckID(id) != nil {
		return Cursor{}, harness.ErrCursor
	}
	return Cursor{updated, id}, nil
}
