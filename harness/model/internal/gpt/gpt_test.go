package gpt_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/model/internal/gpt"
)

func TestOf(t *testing.T) {
	type facts struct {
		Strict, Thinks, Marks bool
		Off                   string
	}
	tests := []struct {
		id   string
		want facts
	}{
		{"gpt-4.1", facts{}},
		{"gpt-4o-mini", facts{}},
		{"gpt-oss-120b", facts{}},
		{"chatgpt-4o-latest", facts{}},
		{"gpt-5", facts{Strict: true, Thinks: true, Off: "minimal"}},
		{"gpt-5-mini-2025-08-07", facts{Strict: true, Thinks: true, Off: "minimal"}},
		{"gpt-5-chat-latest", facts{Strict: true, Off: "minimal"}},
		{"gpt-5-codex", facts{Strict: true, Thinks: true, Off: "low"}},
		{"gpt-5-pro", facts{Strict: true, Thinks: true}},
		{"ft:gpt-5.1:org::1", facts{Strict: true, Thinks: true, Off: "none"}},
		{"gpt-5.1", facts{Strict: true, Thinks: true, Off: "none"}},
		{"openai/GPT-5.5-2026-04-23", facts{Strict: true, Thinks: true, Off: "none"}},
		{"gpt-5.6-sol", facts{Strict: true, Thinks: true, Marks: true, Off: "none"}},
		{"gpt-6-astra", facts{Strict: true, Thinks: true, Marks: true, Off: "none"}},
		{"gpt-10", facts{Strict: true, Thinks: true, Marks: true, Off: "none"}},
		{"o3", facts{Strict: true, Thinks: true, Off: "low"}},
		{"o4-mini", facts{Strict: true, Thinks: true, Off: "low"}},
		{"codex-mini-latest", facts{Strict: true, Thinks: true, Off: "low"}},
		{"olmo-3", facts{}},
		{"o", facts{}},
		{"", facts{}},
	}
	for _, tt := range tests {
		m := gpt.Of(tt.id)
		got := facts{m.Strict(), m.Thinks(), m.From(5, 6), m.Off()}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.id, diff)
		}
	}
}

func TestHome(t *testing.T) {
	for base, want := range map[string]bool{
		"": true, "https://api.openai.com/v1": true, "https://EU.api.openai.com/v1": true,
		"https://api.openai.com.example/v1": false, "https://notapi.openai.com/v1": false,
		"https://x.openai.azure.com/openai/v1": false, "http://127.0.0.1:8080/v1": false, ":": false,
	} {
		if got := gpt.Home(base); got != want {
			t.Errorf("Home(%q) = %v, want %v", base, got, want)
		}
	}
}
