package doc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/doc"
)

// A shelf is a source that has some bodies. Its zero value has none.
type shelf struct {
	bodies map[string]doc.Body
	looks  map[string]doc.Look
	broken error    // of what is behind it
	asked  []string // keys, in order
}

func (s *shelf) Body(_ context.Context, key string) (doc.Body, error) {
	s.asked = append(s.asked, key)
	if s.broken != nil {
		return doc.Body{}, s.broken
	}
	b, ok := s.bodies[key]
	if !ok {
		return doc.Body{}, tools.Publicf("nothing in this session has the key %s; take one of the tables", key)
	}
	return b, nil
}

func (s *shelf) Look(_ context.Context, key string) doc.Look { return s.looks[key] }

// wrap is a plain wrapper.
func wrap(tag, body string, attributes ...string) string {
	var b strings.Builder
	b.WriteString("<" + tag)
	for i := 0; i < len(attributes); i += 2 {
		fmt.Fprintf(&b, " %s=%q", attributes[i], attributes[i+1])
	}
	return b.String() + ">\n" + strings.TrimSuffix(body, "\n") + "\n</" + tag + ">"
}

// open returns a registry with the tool.
func open(t *testing.T, s doc.Source) *tools.Registry {
	t.Helper()
	r, err := tools.NewRegistry(tools.Allow(tools.Reads), doc.NewReadContext(s, wrap))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func input(t *testing.T, keys ...string) json.RawMessage {
	t.Helper()
	in, err := json.Marshal(map[string][]string{"keys": keys})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func run(t *testing.T, s doc.Source, keys ...string) tools.Result {
	t.Helper()
	res, err := doc.NewReadContext(s, wrap).Run(t.Context(), tools.Call{ID: "1", Input: input(t, keys...)})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// What does not show in a name or a type is for the wrapper to write out.
func TestAttributesAreWhole(t *testing.T) {
	s := &shelf{bodies: map[string]doc.Body{"document:1": {
		Name: "a\u200b\nb.go\u202e", Type: " text/x\u2060" + strings.Repeat("y", 300), Text: "x", Size: 1,
	}}}
	want := fmt.Sprintf("<resource key=%q name=%q type=%q>\n", "document:1", "a\u200b b.go\u202e", "text/x\u2060"+strings.Repeat("y", 190)+"...")
	if got := run(t, s, "document:1").Text; !strings.HasPrefix(got, want) {
		t.Errorf("the model reads %q, want it to begin with %q", got, want)
	}
}

func TestInfo(t *testing.T) {
	info := doc.NewReadContext(&shelf{}, wrap).Info()
	if info.Name != "read-context" || info.Effect != tools.Reads || info.Kind != tools.KindRead {
		t.Errorf("Info = %+v", info)
	}
}

func TestSchema(t *testing.T) { // R-TOOLS-28
	keys := func(n int) string {
		in, err := json.Marshal(map[string][]string{"keys": strings.Split(strings.TrimSuffix(strings.Repeat("k,", n), ","), ",")})
		if err != nil {
			t.Fatal(err)
		}
		return string(in)
	}
	tests := []struct {
		input string
		ok    bool
	}{
		{keys(1), true},
		{keys(10), true},
		{keys(11), false},
		{`{"keys":[]}`, false},
		{`{"keys":[""]}`, false},
		{`{"keys":"document:1"}`, false},
		{`{"keys":[1]}`, false},
		{`{}`, false},
	}
	r := open(t, &shelf{})
	for _, tt := range tests {
		if _, err := r.Check("read-context", json.RawMessage(tt.input)); (err == nil) != tt.ok {
			t.Errorf("Check(%.40s) = %v, want ok %v", tt.input, err, tt.ok)
		}
	}
}

func TestPlan(t *testing.T) {
	const outside = "it is outside the workspace"
	s := &shelf{looks: map[string]doc.Look{
		"resource:1": {"/etc/a", outside}, "resource:2": {"/etc/a", outside}, "resource:3": {"/w/.env", "it may hold passwords"}, "resource:4": {Path: "/w/b"},
	}}
	tests := []struct {
		keys    []string
		title   string
		files   []tools.Location
		caution string
	}{
		{[]string{"document:1"}, "Reading document:1", nil, ""},
		{[]string{"document:1", " `resource:1`\n"}, "Reading document:1, resource:1", []tools.Location{{Path: "/etc/a"}}, outside},
		{
			[]string{"resource:1", "resource:2", "resource:3", "resource:4"}, "Reading resource:1, resource:2, resource:3, resource:4",
			[]tools.Location{{Path: "/etc/a"}, {Path: "/w/.env"}, {Path: "/w/b"}}, outside + "; it may hold passwords",
		},
		{[]string{"a\nb\x1b\u202e"}, `Reading a\nb\x1b\u202e`, nil, ""},
		{[]string{strings.Repeat("x", 200), "y"}, "Reading " + strings.Repeat("x", 189) + "...", nil, ""},
	}
	for _, tt := range tests {
		got, err := doc.NewReadContext(s, wrap).Plan(t.Context(), input(t, tt.keys...))
		want := tools.Plan{Title: tt.title, Effect: tools.Reads, Locations: tt.files, Caution: tt.caution}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("Plan(%q): %v (-want +got):\n%s", tt.keys, err, diff)
		}
	}
	if s.asked != nil {
		t.Errorf("planning read %q", s.asked)
	}
}

func TestReadContext(t *testing.T) { // R-TOOLS-28
	bodies := map[string]doc.Body{
		"resource:1": {Name: "main.go", Type: "text/x-go", Text: "package main\n", Size: 13},
		"document:2": {Name: "notes", Text: "one"},
		"document:3": {Name: "x.png", Type: "image/png", Size: 2048},
		"document:4": {Name: "empty.txt", Type: "text/plain"},
		"document:5": {Text: "a\xffb"},
		"document:6": {Text: "a\x00b", Size: 3},
	}
	main := "<resource key=\"resource:1\" name=\"main.go\" type=\"text/x-go\">\npackage main\n</resource>"
	notes := "<resource key=\"document:2\" name=\"notes\">\none\n</resource>"
	missing := "<resource key=\"document:9\" status=\"error\">\nnothing in this session has the key document:9; take one of the tables\n</resource>"
	tests := []struct {
		name   string
		keys   []string
		want   []string
		failed bool
	}{
		{"in the order of the request", []string{"document:2", "resource:1"}, []string{notes, main}, false},
		{"one is missing, the others hold", []string{"resource:1", "document:9", "document:2"}, []string{main, missing, notes}, false},
		{"all are missing", []string{"document:9", "document:9"}, []string{missing, "<resource key=\"document:9\">\n[The same key as above]\n</resource>"}, true},
		{"twice the same", []string{"document:2", "resource:1", " document:2"},
			[]string{notes, main, "<resource key=\"document:2\">\n[The same key as above]\n</resource>"}, false},
		{"no text", []string{"document:3", "document:6"}, []string{
			"<resource key=\"document:3\" name=\"x.png\" type=\"image/png\">\n[No text, and so not shown: image/png, 2048 bytes]\n</resource>",
			"<resource key=\"document:6\">\n[No text, and so not shown: unknown type, 3 bytes]\n</resource>"}, false},
		{"empty", []string{"document:4"}, []string{"<resource key=\"document:4\" name=\"empty.txt\" type=\"text/plain\">\n[Empty]\n</resource>"}, false},
		{"bytes that are no text", []string{"document:5"}, []string{"<resource key=\"document:5\">\na�b\n</resource>"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := run(t, &shelf{bodies: bodies}, tt.keys...)
			if diff := cmp.Diff(tools.Result{Text: strings.Join(tt.want, "\n"), IsError: tt.failed}, got); diff != "" {
				t.Errorf("Run (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEachKeyIsReadOnce(t *testing.T) {
	s := &shelf{}
	run(t, s, "a", "b", "a", "`a`")
	if diff := cmp.Diff([]string{"a", "b"}, s.asked); diff != "" {
		t.Errorf("keys read (-want +got):\n%s", diff)
	}
}

func TestLongContentIsCut(t *testing.T) { // R-TOOLS-28
	x := func(n int) string { return strings.Repeat("x", n) }
	entry := func(key, text string) string {
		return "<resource key=\"" + key + "\">\n" + text + "\n</resource>"
	}
	const room = 120 << 10
	tests := []struct {
		name   string
		bodies []string // of a, b, c …
		want   []string
	}{
		{"50000 characters are whole", []string{strings.Repeat("é", 50000)}, []string{strings.Repeat("é", 50000)}},
		{"one more is not", []string{strings.Repeat("é", 50001)},
			[]string{strings.Repeat("é", 50000) + "\n[Cut here: 1 of 50001 characters are missing.]"}},
		{"each has its own limit", []string{x(60000), "short", x(50000)},
			[]string{x(50000) + "\n[Cut here: 10000 of 60000 characters are missing.]", "short", x(50000)}},
		{"long ones share the room of a call", []string{x(50000), x(2880), x(60000), x(49000)},
			[]string{
				x(40000) + "\n[Cut here: 10000 of 50000 characters are missing. Read this key alone to see more of it.]",
				x(2880),
				x(40000) + "\n[Cut here: 20000 of 60000 characters are missing. Read this key alone to see more of it.]",
				x(40000) + "\n[Cut here: 9000 of 49000 characters are missing. Read this key alone to see more of it.]",
			}},
		{"alone is no more than the room", []string{strings.Repeat("€", 50000)},
			[]string{strings.Repeat("€", room/3) + fmt.Sprintf("\n[Cut here: %d of 50000 characters are missing.]", 50000-room/3)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := &shelf{bodies: map[string]doc.Body{}}
			var keys, want []string
			for i, text := range tt.bodies {
				key := string(rune('a' + i))
				s.bodies[key] = doc.Body{Text: text, Size: len(text)}
				keys, want = append(keys, key), append(want, entry(key, tt.want[i]))
			}
			if got := run(t, s, keys...).Text; got != strings.Join(want, "\n") {
				t.Errorf("Run gave %d bytes, want %d", len(got), len(strings.Join(want, "\n")))
				for line := range strings.Lines(got) {
					if len(line) < 200 {
						t.Logf("%s", line)
					} else {
						t.Logf("(%d bytes)", len(line))
					}
				}
			}
		})
	}
}

func TestABrokenSourceIsAnError(t *testing.T) { // R-TOOLS-28
	broken := fmt.Errorf("reading documents: %w", errors.ErrUnsupported)
	res, err := doc.NewReadContext(&shelf{broken: broken}, wrap).Run(t.Context(), tools.Call{Input: input(t, "a", "b")})
	if !errors.Is(err, errors.ErrUnsupported) || res.Text != "" {
		t.Errorf("Run = %q, %v; want the error of the source", res.Text, err)
	}
}

func TestCancelledBetweenKeys(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := &stopping{cancel: cancel}
	_, err := doc.NewReadContext(s, wrap).Run(ctx, tools.Call{Input: input(t, "a", "b", "c")})
	if !errors.Is(err, context.Canceled) || s.bodies != 1 {
		t.Errorf("Run = %v after %d bodies, want it cancelled after one", err, s.bodies)
	}
	if _, err := doc.NewReadContext(s, wrap).Plan(ctx, input(t, "a")); !errors.Is(err, context.Canceled) || s.looks != 0 {
		t.Errorf("Plan = %v after %d looks, want it cancelled", err, s.looks)
	}
}

// A stopping source cancels while it gives its first body.
type stopping struct {
	cancel        func()
	bodies, looks int
}

func (s *stopping) Body(context.Context, string) (doc.Body, error) {
	s.bodies++
	s.cancel()
	return doc.Body{Text: "x"}, nil
}

func (s *stopping) Look(context.Context, string) doc.Look {
	s.looks++
	return doc.Look{}
}

// Whatever the bodies are, the result is valid text with an entry for each key, and
// short enough to be read as a whole.
func FuzzReadContext(f *testing.F) {
	f.Add("one", "two", uint16(1))
	f.Add("\xff€", "\x00", uint16(60000))
	f.Add("é\n", "", uint16(20000))
	f.Fuzz(func(t *testing.T, a, b string, times uint16) {
		if len(a)*int(times) > 1<<20 {
			t.Skip()
		}
		s := &shelf{bodies: map[string]doc.Body{"a": {Text: strings.Repeat(a, int(times))}, "b": {Text: b, Name: b, Type: a}}}
		got := run(t, s, "a", "b", "c").Text
		if !utf8.ValidString(got) || len(got) > 128<<10 {
			t.Errorf("result of %d bytes", len(got))
		}
		for _, key := range []string{"a", "b", "c"} {
			if !strings.Contains(got, fmt.Sprintf("<resource key=%q", key)) {
				t.Errorf("no entry for %s", key)
			}
		}
	})
}
