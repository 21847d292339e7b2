package discover

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lorimer-dev/lorimer/tools"
)

// fields reads the fields of a declaration. What was read is taken out, so that what
// is left at the end is what nobody knows.
type fields struct {
	values   map[string]any
	trouble  string // the first
	warnings []Warning
}

func (f *fields) fail(format string, args ...any) {
	if f.trouble == "" {
		f.trouble = line(format, args...)
	}
}

func (f *fields) warn(w Weight, format string, args ...any) {
	f.warnings = append(f.warnings, Warning{Text: line(format, args...), Weight: w})
}

// maxLine is how many characters of what is wrong are shown.
const maxLine = 400

// line is what is shown of what is wrong: a file may hold anything.
func line(format string, args ...any) string {
	return tools.Line(fmt.Sprintf(format, args...), maxLine)
}

// take takes the first of names that is there. One that is null is not.
func (f *fields) take(names ...string) (name string, value any) {
	for _, n := range names {
		v, ok := f.values[n]
		delete(f.values, n)
		if ok && v != nil && value == nil {
			name, value = n, v
		}
	}
	return name, value
}

// text reads a string, "" where there is none.
func (f *fields) text(names ...string) string {
	name, v := f.take(names...)
	if v == nil {
		return ""
	}
	s, ok := v.(string)
	if !ok {
		f.fail("%s must be a string", name)
	}
	return s
}

// list reads an array of strings; given is false where there is none.
func (f *fields) list(names ...string) (list []string, given bool) {
	name, v := f.take(names...)
	if v == nil {
		return nil, false
	}
	return f.strings(name, v), true
}

// strings reads v as an array of strings. Numbers and truth values count as they are
// written.
func (f *fields) strings(name string, v any) []string {
	array, ok := v.([]any)
	if !ok {
		f.fail("%s must be an array of strings", name)
		return nil
	}
	list := make([]string, 0, len(array))
	for _, v := range array {
		s, ok := scalar(v)
		if !ok {
			f.fail("%s must be an array of strings", name)
			return nil
		}
		list = append(list, s)
	}
	return list
}

// table reads an object of strings into to.
func (f *fields) table(to map[string]string, names ...string) map[string]string {
	name, v := f.take(names...)
	if v == nil {
		return to
	}
	object, ok := v.(map[string]any)
	if !ok {
		f.fail("%s must be an object of strings by their names", name)
		return to
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if object[key] == nil {
			continue
		}
		s, ok := scalar(object[key])
		if !ok {
			f.fail("%s.%.100s must be a string", name, key)
			continue
		}
		to = put(to, key, s)
	}
	return to
}

func put(m map[string]string, key, value string) map[string]string {
	if m == nil {
		m = make(map[string]string)
	}
	m[key] = value
	return m
}

// scalar returns a value as it is written where text is wanted.
func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), true
	}
	return "", false
}

// flag reads a truth value; given is false where there is none.
func (f *fields) flag(names ...string) (on, given bool) {
	name, v := f.take(names...)
	if v == nil {
		return false, false
	}
	on, ok := v.(bool)
	if !ok {
		f.fail("%s must be true or false", name)
	}
	return on, ok
}

const (
	longest  = 24 * time.Hour
	inMillis = 1000 // a number without a unit from which on it counts milliseconds
)

// span reads a span of time: a text like "30s", or a number in unit. Where unit is 0
// programs mean different things by a number: a large one counts milliseconds and a
// small one seconds, which is told to who asks.
func (f *fields) span(unit time.Duration, names ...string) time.Duration {
	name, v := f.take(names...)
	if v == nil {
		return 0
	}
	s, _ := scalar(v)
	n, err := strconv.ParseFloat(s, 64)
	var d time.Duration
	switch {
	case err != nil:
		d, err = time.ParseDuration(s)
		if err != nil {
			f.fail(`%s is no span of time; write it like "90s" or "2m"`, name)
			return 0
		}
	case math.IsNaN(n) || n < 0:
		d = -1
	case unit != 0:
		d = times(n, unit)
	default:
		unit = time.Second
		if n >= inMillis {
			unit = time.Millisecond
		}
		d = times(n, unit)
		f.warn(Hint, "%s = %s is read as %v", name, s, d)
	}
	if d < 0 {
		f.fail("%s must not be negative", name)
		return 0
	}
	return min(d, longest)
}

// times returns n units, at most as many as are of use.
func times(n float64, unit time.Duration) time.Duration {
	return time.Duration(min(n*float64(unit), float64(longest)))
}

// port reads the number of a port, 0 where there is none.
func (f *fields) port(names ...string) int {
	name, v := f.take(names...)
	if v == nil {
		return 0
	}
	s, _ := scalar(v)
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil {
		f.fail("%s must be a number up to 65535", name)
	}
	return int(n)
}

// sub reads an object as fields of its own; nil where there is none.
func (f *fields) sub(name string) *fields {
	_, v := f.take(name)
	object, ok := v.(map[string]any)
	if !ok {
		if v != nil && v != false { // false is to do without
			f.fail("%s must be an object", name)
		}
		return nil
	}
	return &fields{values: object}
}

// join adds what was found in the fields of name.
func (f *fields) join(name string, in *fields) {
	in.rest(name + ".")
	f.warnings = append(f.warnings, in.warnings...)
	if in.trouble != "" {
		f.fail("%s.%s", name, in.trouble)
	}
}

// rest warns of what is left.
func (f *fields) rest(prefix string) {
	for _, name := range slices.Sorted(maps.Keys(f.values)) {
		if f.values[name] != nil {
			f.warn(Ignored, "unknown field %s%.100s has no effect", prefix, strings.TrimSpace(name))
		}
	}
}
