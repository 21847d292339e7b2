package acp

import (
	"strings"
	"testing"
	"unicode/utf8"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/lorimer-dev/lorimer/tools"
)

// R-ACP-37, R-ACP-41, C038: ids are kinds, each kind occurs once, and no label is
// longer than a button.
func TestPermissionOptions(t *testing.T) {
	tests := []struct {
		name   string
		always tools.Grant
		want   string
	}{
		{"nothing to allow for good", tools.Grant{}, "allow_once reject_once"},
		{"a scope", tools.Grant{Key: "k", Label: "edits in this session"}, "allow_once allow_always reject_once"},
		{"a scope of many words", tools.Grant{Key: "k", Label: strings.Repeat("many\n", 100)}, "allow_once allow_always reject_once"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var ids []string
			for _, o := range permissionOptions(tt.always) {
				ids = append(ids, string(o.OptionId))
				if string(o.OptionId) != string(o.Kind) {
					t.Errorf("option %q is of kind %q", o.OptionId, o.Kind)
				}
				if n := utf8.RuneCountInString(o.Name); n == 0 || n >= 80 || strings.Contains(o.Name, "\n") {
					t.Errorf("label %q has %d characters, want one line of less than 80", o.Name, n)
				}
				if _, yes := answers[o.Kind]; yes != strings.HasPrefix(string(o.Kind), "allow") {
					t.Errorf("option %q counts as a yes: %t", o.Kind, yes)
				}
			}
			if got := strings.Join(ids, " "); got != tt.want {
				t.Errorf("options = %s, want %s", got, tt.want)
			}
		})
	}
	if _, yes := answers[acpsdk.PermissionOptionKindRejectAlways]; yes {
		t.Error("reject_always counts as a yes")
	}
}
