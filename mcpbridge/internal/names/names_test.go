package names_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/mcpbridge/internal/names"
)

func TestPrefix(t *testing.T) { // R-MCP-02, SPEC Appendix D
	tests := []struct{ server, want string }{
		{"Render", "render"},
		{"My  Server!", "my_server"},
		{"___", "mcp"},
		{"", "mcp"},
		{"日本", "mcp"},
		{"A--B", "a_b"},
		{"Größe", "gr_e"},
		{"2fa", "2fa"},
		{"a__b", "a_b"},
		{" (x) ", "x"},
	}
	for _, tt := range tests {
		if got := names.Prefix(tt.server); got != tt.want {
			t.Errorf("Prefix(%q) = %q, want %q", tt.server, got, tt.want)
		}
	}
}

func TestPrefixes(t *testing.T) { // R-MCP-03, SPEC Appendix D
	tests := []struct {
		name          string
		servers, want []string
	}{
		{"none", nil, []string{}},
		{"a counted one is taken too", []string{"Render", "render", "Render 2"}, []string{"render", "render_2", "render_2_2"}},
		{"a counted one steps over one that is taken", []string{"Render 2", "Render", "render"}, []string{"render_2", "render", "render_3"}},
		{"nameless ones", []string{"", "!", "mcp"}, []string{"mcp", "mcp_2", "mcp_3"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, names.Prefixes(tt.servers)); diff != "" {
				t.Errorf("Prefixes(%q) (-want +got):\n%s", tt.servers, diff)
			}
		})
	}
}

func TestTool(t *testing.T) { // R-MCP-04, R-MCP-06, C087
	sixty := strings.Repeat("abcdefghij", 6)
	tests := []struct{ name, server, prefix, tool, want string }{
		{"plain", "Render", "render", "list_services", "render_list_services"},
		{"case and hyphens stay", "a", "a", "Get-It", "a_Get-It"},
		{"64 bytes fit", "abc", "abc", sixty, "abc_" + sixty},
		{"65 bytes are cut", "abcd", "abcd", sixty, "abcd_" + sixty[:50] + "_fb89751a"},
		{"dots and slashes", "s", "s", "a.b/c", "s_a_b_c_90bbf8ae"},
		{"a run is one underscore", "s", "s", "a. /c", "s_a_c_2e91bd25"},
		{"nothing legal", "s", "s", "日本", "s__9600fa80"},
		{"nothing at all", "s", "s", "", "s__28a3d6d5"},
		{"a digit of the tool is inside", "s", "s", "2fa", "s_2fa"},
		{"a digit of the prefix leads", "2fa", "2fa", "code", "_2fa_code"},
		{"the leading underscore counts", "2345", "2345", sixty[:59], "_2345_" + sixty[:49] + "_c507e518"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := names.Tool(tt.server, tt.prefix, tt.tool); got != tt.want {
				t.Errorf("Tool(%q, %q, %q) = %q, want %q", tt.server, tt.prefix, tt.tool, got, tt.want)
			}
		})
	}
}

// Two servers of one name have two prefixes, whose beginnings may be all that is left.
func TestToolOfServersWithOneName(t *testing.T) { // R-MCP-06
	server := strings.Repeat("long ", 20)
	p := names.Prefixes([]string{server, server})
	first, second := names.Tool(server, p[0], "echo"), names.Tool(server, p[1], "echo")
	if first == second {
		t.Errorf("both tools are named %q", first)
	}
}

var legal = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`)

// Every name is legal and begins as announced, and tools with different names of their
// own have different ones.
func FuzzTool(f *testing.F) {
	f.Add("My Azure: Tools (prod)", "a.b/c", "a.b c")
	f.Add("2", strings.Repeat("x", 60), strings.Repeat("x", 61))
	f.Add("", "", "_")
	f.Add(strings.Repeat("9", 90), "a", "b")
	f.Fuzz(func(t *testing.T, server, one, other string) {
		prefix := names.Prefix(server)
		a, b := names.Tool(server, prefix, one), names.Tool(server, prefix, other)
		for _, name := range []string{a, b} {
			if !legal.MatchString(name) {
				t.Errorf("Tool(%q, %q, …) = %q, which is not legal", server, prefix, name)
			}
			if !strings.HasPrefix(name, names.Start(prefix)) {
				t.Errorf("%q does not begin with %q", name, names.Start(prefix))
			}
		}
		if one != other && a == b {
			t.Errorf("%q and %q are both named %q", one, other, a)
		}
	})
}
