package workspace

import (
	"bufio"
	"context"
	"errors"
	"regexp/syntax"
	"strings"
	"testing"
)

func TestRequired(t *testing.T) {
	tests := []struct{ expr, want string }{
		{"needle", "needle"},
		{`^func (\w+)\(`, "func "},
		{"[a-z]+dle", "dle"},
		{"(ab)+c?d", "ab"},
		{"(abc)?d", "d"},
		{"abc|abd", "ab"},
		{"abc|xyz", ""},
		{"a*", ""},
		{"(?i)abc", ""},
		{"(?i:abc)def", "def"},
		{"x{2,3}", "x"},
		{"(abcd){0,3}", ""},
	}
	for _, tt := range tests {
		re, err := syntax.Parse(tt.expr, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		if got := required(re.Simplify()); got != tt.want {
			t.Errorf("required(%s) = %q, want %q", tt.expr, got, tt.want)
		}
	}
}

// Files are searched ahead of the one that is reported, and what was found in
// them waits in memory.
func TestScanKeepsNoMoreThanOneResult(t *testing.T) {
	q, err := newQuery(grepInput{Pattern: "x", Limit: 2000, Context: 20})
	if err != nil {
		t.Fatal(err)
	}
	line := "x" + strings.Repeat("y", 398) + "\n" + strings.Repeat(strings.Repeat("y", 399)+"\n", 40)
	s := scan{query: q}
	if err := s.read(t.Context(), bufio.NewReader(strings.NewReader(strings.Repeat(line, 200)))); err != nil {
		t.Fatal(err)
	}
	if got := len(s.lines) * 399; got <= grepMaxBytes || got > grepMaxBytes+50*399 {
		t.Errorf("%d bytes kept, want a little more than the %d that a result may show", got, grepMaxBytes)
	}
}

// A decoder takes "CONTEXT" for "context", of which the schema knows nothing.
func TestQueryIsBounded(t *testing.T) {
	q, err := newQuery(grepInput{Pattern: "x", Limit: 1 << 40, Context: 1 << 40})
	if err != nil || q.limit != 2000 || q.context != 20 {
		t.Errorf("limit %d, context %d, %v; want 2000 and 20", q.limit, q.context, err)
	}
}

// A line without an end does not keep a cancel waiting.
func TestScanOfOneLineEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	q, err := newQuery(grepInput{Pattern: "x"})
	if err != nil {
		t.Fatal(err)
	}
	s := scan{query: q}
	r := bufio.NewReader(strings.NewReader(strings.Repeat("y", 3*maxGrepLine)))
	if err := s.read(ctx, r); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want canceled", err)
	}
}
