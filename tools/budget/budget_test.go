package budget_test

import (
	"testing"

	"github.com/lorimer-dev/lorimer/tools/budget"
)

// TestIntentOf is R-WEB-03.
func TestIntentOf(t *testing.T) {
	tests := []struct {
		name   string
		tokens []string
		want   budget.Intent
	}{
		{"none", nil, budget.Auto},
		{"others", []string{"poem", "researching"}, budget.Auto},
		{"the intent that is no token", []string{"auto"}, budget.Auto},
		{"search", []string{"poem", "search"}, budget.Search},
		{"research", []string{"research"}, budget.Research},
		{"research behind", []string{"search", "research"}, budget.Research},
		{"research before", []string{"research", "search"}, budget.Research},
		{"as it is spelled", []string{"Research"}, budget.Auto},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := budget.IntentOf(tt.tokens); got != tt.want {
				t.Errorf("IntentOf(%q) = %q, want %q", tt.tokens, got, tt.want)
			}
		})
	}
}
