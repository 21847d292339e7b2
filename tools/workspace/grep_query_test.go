package workspace

import (
	"regexp/syntax"
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
