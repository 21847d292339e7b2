package oauth_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/mcpbridge/oauth"
)

func TestParseChallenge(t *testing.T) {
	const at = "https://mcp.example/.well-known/oauth-protected-resource"
	tests := []struct {
		name   string
		header string
		want   oauth.Challenge
		ok     bool
	}{
		{"nothing", "", oauth.Challenge{}, false},
		{"scheme alone", "Bearer", oauth.Challenge{}, true},
		{"other scheme", `Basic realm="x", error="y"`, oauth.Challenge{}, false},
		{"metadata", `Bearer resource_metadata="` + at + `"`, oauth.Challenge{Metadata: at}, true},
		{"all of it", `Bearer realm="a", resource_metadata="` + at + `", scope="b c", error="insufficient_scope", error_description="not \"you\", now"`,
			oauth.Challenge{Metadata: at, Scopes: []string{"b", "c"}, Error: "insufficient_scope", Description: `not "you", now`}, true},
		{"over lines and without blanks", "bearer\tscope=\"b\",\t error=invalid_token", oauth.Challenge{Scopes: []string{"b"}, Error: "invalid_token"}, true},
		{"blanks around =", `Bearer error = "a" , scope = b`, oauth.Challenge{Error: "a", Scopes: []string{"b"}}, true},
		{"URL without quotes", "Bearer resource_metadata=" + at + ", scope=b", oauth.Challenge{Metadata: at, Scopes: []string{"b"}}, true},
		{"after another scheme", `Negotiate abc+/d==, Bearer scope="b"`, oauth.Challenge{Scopes: []string{"b"}}, true},
		{"before another scheme", `Bearer scope="b", Basic realm="scope=\"c\""`, oauth.Challenge{Scopes: []string{"b"}}, true},
		{"the one with metadata", `Bearer realm="a", Bearer resource_metadata="` + at + `"`, oauth.Challenge{Metadata: at}, true},
		{"name in capitals", `BEARER Scope="b"`, oauth.Challenge{Scopes: []string{"b"}}, true},
		{"first of two equal names", `Bearer scope="b", scope="c"`, oauth.Challenge{Scopes: []string{"b"}}, true},
		{"quotes without an end", `Bearer scope="b c`, oauth.Challenge{Scopes: []string{"b", "c"}}, true},
		{"rubbish between", `Bearer scope="b", ?? "x, error=no", error="a"`, oauth.Challenge{Scopes: []string{"b"}, Error: "a"}, true},
		{"scopes that are none", "Bearer scope=\"b  b \x01 \\\" ä c\"", oauth.Challenge{Scopes: []string{"b", "c"}}, true},
		{"empty scope", `Bearer scope=""`, oauth.Challenge{}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := oauth.ParseChallenge(tt.header)
			if diff := cmp.Diff(tt.want, got); diff != "" || ok != tt.ok {
				t.Errorf("ParseChallenge(%q) = %v, want %v (-want +got):\n%s", tt.header, ok, tt.ok, diff)
			}
		})
	}
}

// A challenge that was understood is understood again when it is written out, and asks
// for nothing that could break a request.
func FuzzParseChallenge(f *testing.F) {
	f.Add(`Bearer resource_metadata="https://a/b", scope="c d", error="e"`)
	f.Add(`Negotiate abc==, Bearer scope=b,error = "\"x"`)
	f.Add("Bearer,,=\"\\")
	f.Fuzz(func(t *testing.T, header string) {
		c, ok := oauth.ParseChallenge(header)
		if !ok {
			return
		}
		for _, s := range c.Scopes {
			if strings.ContainsAny(s, " \"\\\r\n\t") || s == "" {
				t.Errorf("ParseChallenge(%q) has the scope %q", header, s)
			}
		}
		var written []string
		for _, p := range [][2]string{
			{"resource_metadata", c.Metadata}, {"scope", strings.Join(c.Scopes, " ")}, {"error", c.Error}, {"error_description", c.Description},
		} {
			quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(p[1])
			written = append(written, fmt.Sprintf(`%s="%s"`, p[0], quoted))
		}
		slices.Reverse(written)
		again, ok := oauth.ParseChallenge("Digest a=b, Bearer " + strings.Join(written, ", "))
		if diff := cmp.Diff(c, again); diff != "" || !ok {
			t.Errorf("ParseChallenge(%q), written out and read again: %v (-want +got):\n%s", header, ok, diff)
		}
	})
}
