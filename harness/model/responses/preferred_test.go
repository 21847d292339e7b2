package responses_test

import (
	"testing"

	"github.com/lorimer-dev/lorimer/harness/model/responses"
)

func TestPreferred(t *testing.T) {
	const home = "https://api.openai.com/v1"
	tests := []struct {
		base, id string
		want     bool
	}{
		{home, "gpt-5.2", true},
		{home, "GPT-12-mini", true},
		{home, "o4-mini", true},
		{home, "ft:o4-mini-2025-04-16:acme::1", true},
		{home, "codex-mini-latest", true},
		{home, "computer-use-preview", true},
		{"https://eu.api.openai.com/v1", "gpt-5", true},
		{home, "gpt-4.1-mini", false},
		{home, "gpt-oss-120b", false},
		{home, "omni-moderation-latest", false},
		{"https://gate.example.org/v1", "gpt-5.2", false},
		{"https://api.openai.com.example.org/v1", "gpt-5.2", false},
	}
	for _, tt := range tests {
		if got := responses.Preferred(tt.base, tt.id); got != tt.want {
			t.Errorf("Preferred(%s, %s) = %v, want %v", tt.base, tt.id, got, tt.want)
		}
	}
}
