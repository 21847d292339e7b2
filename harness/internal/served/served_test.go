package served_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/internal/served"
	"github.com/lorimer-dev/lorimer/tools/server"
)

// needs are arguments by their names; one that ends with "?" is not required.
func needs(names ...string) (all []server.Argument) {
	for _, n := range names {
		name, optional := strings.CutSuffix(n, "?")
		all = append(all, server.Argument{Name: name, Required: !optional})
	}
	return all
}

func TestArguments(t *testing.T) {
	two := needs("city", "day?")
	tests := []struct {
		words   string
		want    []server.Argument
		given   map[string]string
		missing string
	}{
		{"", two, nil, "city"},
		{"Rome", two, map[string]string{"city": "Rome"}, ""},
		{"Rome monday", two, map[string]string{"city": "Rome", "day": "monday"}, ""},
		{"Rome next monday", two, map[string]string{"city": "Rome", "day": "next monday"}, ""},
		{`"New York" monday`, two, map[string]string{"city": "New York", "day": "monday"}, ""},
		{"'New York'\tmonday", two, map[string]string{"city": "New York", "day": "monday"}, ""},
		{"day=monday", two, map[string]string{"day": "monday"}, "city"},
		{"day=monday Rome", two, map[string]string{"city": "Rome", "day": "monday"}, ""},
		{`day="next monday" city='New York'`, two, map[string]string{"city": "New York", "day": "next monday"}, ""},
		{"city=", two, map[string]string{"city": ""}, ""},
		{"city=a=b", two, map[string]string{"city": "a=b"}, ""},
		{"town=Rome", two, map[string]string{"city": "town=Rome"}, ""}, // no argument of this one
		{`"city=Rome"`, two, map[string]string{"city": "city=Rome"}, ""},
		{"city=Rome city=Oslo", two, map[string]string{"city": "Rome", "day": "city=Oslo"}, ""},
		{"don't say \"never\"", needs("text"), map[string]string{"text": `don't say never`}, ""},
		{`it's "so`, needs("text"), map[string]string{"text": `it's "so`}, ""},
		{`"a"b`, needs("text"), map[string]string{"text": `"a"b`}, ""},
		{`""`, needs("text"), map[string]string{"text": ""}, ""},
		{`C:\dir\x`, needs("text"), map[string]string{"text": `C:\dir\x`}, ""},
		{"more than it takes", nil, nil, ""},
		{"city=Rome extra", needs("city"), map[string]string{"city": "Rome"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.words, func(t *testing.T) {
			got := served.Arguments(tt.words, tt.want)
			if len(got)+len(tt.given) > 0 && !cmp.Equal(tt.given, got) {
				t.Errorf("Arguments = %q, want %q", got, tt.given)
			}
			if got := served.Missing(got, tt.want); got != tt.missing {
				t.Errorf("Missing = %q, want %q", got, tt.missing)
			}
		})
	}
	if got, want := served.Hint(two), "city=… [day=…]"; got != want {
		t.Errorf("Hint = %q, want %q", got, want)
	}
}

// Whatever is written, each argument gets something of it, and nothing that nobody
// knows is given.
func FuzzArguments(f *testing.F) {
	f.Add(`a b=c "d e" 'f`)
	f.Add("b='x")
	f.Add("\u00a0=\x00\"\" '")
	f.Fuzz(func(t *testing.T, words string) {
		want := needs("a", "b", "c")
		for name, value := range served.Arguments(words, want) {
			if !slices.ContainsFunc(want, func(a server.Argument) bool { return a.Name == name }) {
				t.Errorf("%q gives %q", words, name)
			}
			for word := range strings.FieldsSeq(value) {
				if !strings.Contains(words, word) {
					t.Errorf("%q gives %q, which is not in it", words, value)
				}
			}
		}
	})
}

func TestTokens(t *testing.T) {
	var many []string
	for i := range 20 {
		many = append(many, fmt.Sprintf("memo://%d", i))
	}
	tests := []struct {
		text string
		want []string
	}{
		{"", nil},
		{"see @memo:memo://1", []string{"memo://1"}},
		{"@memo:memo://1 and\n@docs:docs:x, please.", []string{"memo://1", "docs:x"}},
		{"(it is in @memo:memo://1).", []string{"memo://1"}},
		{"@memo:memo://1 @memo:memo://1", []string{"memo://1"}},
		{"@memo:memo://a?b=c#d", []string{"memo://a?b=c#d"}},
		{"@other:memo://1 @memo: @memo @memo:nothing", nil},
		{"me@memo:memo://1", nil},
		{"ann@example.org @ann", nil},
		{"@memo:" + strings.Join(many, " @memo:"), many[:16]},
	}
	for _, tt := range tests {
		if got := served.Tokens(tt.text, []string{"memo", "docs"}); !slices.Equal(got, tt.want) {
			t.Errorf("Tokens(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
}

// What servers call themselves and their things cannot pose as another line.
func TestForeignNames(t *testing.T) {
	states := served.States([]server.Status{{
		Name: "a`\n- `b", Kind: "stdio", Address: "x\ny", Source: "s\nt", State: server.Failed, LastError: "no\nyes",
	}})
	resources := served.Resources([]server.Resource{{Server: "a", URI: "u`\n- `v", Name: "n\nm", Description: "d\ne", MIME: "m\nn"}}, nil)
	foreign := needs("a\nb\x1b[2J")
	if got, want := served.Hint(foreign)+served.Missing(nil, foreign), `a\nb\x1b[2J=…a\nb\x1b[2J`; got != want {
		t.Errorf("an argument is shown as %q, want %q", got, want)
	}
	for _, text := range []string{states, resources} {
		if n := strings.Count(text, "\n- "); n != 1 {
			t.Errorf("%d lines of a list, want one:\n%s", n, text)
		}
	}
}

func TestManyResources(t *testing.T) {
	text := served.Resources(make([]server.Resource, 250), nil)
	if got := strings.Count(text, "\n- "); got != 201 || !strings.HasSuffix(text, "- and 50 more") {
		t.Errorf("%d lines, ending with %q", got, text[len(text)-20:])
	}
	if text := served.Resources(nil, nil); !strings.Contains(text, "none") {
		t.Errorf("without resources: %q", text)
	}
}
