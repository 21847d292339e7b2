package catalog_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/catalog"
)

func TestDescribe(t *testing.T) {
	tests := []struct {
		provider, id string
		want         model.Descriptor
	}{
		{"anthropic", "claude-sonnet-4-5-20250929", model.Descriptor{Window: 200000, Images: true, Thinks: true}},
		{"anthropic", "claude-3-5-haiku-latest", model.Descriptor{Window: 200000, Images: true}},
		{"anthropic", "claude-opus-5-5", model.Descriptor{Window: 1000000, Images: true, Thinks: true}},
		{"openrouter", "anthropic/Claude-Sonnet-5", model.Descriptor{Window: 1000000, Images: true, Thinks: true}},
		{"openai", "gpt-4o-mini", model.Descriptor{Window: 128000, Images: true}},
		{"openai", "gpt-5.4-nano", model.Descriptor{Window: 400000, Images: true, Thinks: true}},
		{"deepseek", "deepseek-v4-pro", model.Descriptor{Window: 1000000, Thinks: true}},
		{"groq", "moonshotai/kimi-k2-instruct-0905", model.Descriptor{Window: 131072}},
		{"ollama", "gemma3:4b", model.Descriptor{Assumed: true, Window: 8192, Images: true, NoTools: true}},
		{"ollama", "something-new", model.Descriptor{Assumed: true, Window: 8192}},
		{"acme", "something-new", model.Descriptor{Assumed: true, Window: 128000}},
	}
	for _, tt := range tests {
		t.Run(tt.id, func(t *testing.T) {
			tt.want.Provider, tt.want.ID = tt.provider, tt.id
			if diff := cmp.Diff(tt.want, catalog.Describe(tt.provider, tt.id, tt.provider == "ollama")); diff != "" {
				t.Errorf("Describe (-want +got):\n%s", diff)
			}
		})
	}
}

// TestData checks that the file has no entry that can never count.
func TestData(t *testing.T) {
	data, err := os.ReadFile("families.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []struct {
		Prefix string `json:"prefix"`
		Window int    `json:"window"`
	}
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for _, f := range all {
		if seen[f.Prefix] || f.Window < 4096 {
			t.Errorf("%q: prefix given twice, or a window of %d", f.Prefix, f.Window)
		}
		seen[f.Prefix] = true
		if got := catalog.Describe("acme", f.Prefix, false).Window; got != f.Window {
			t.Errorf("%q has a window of %d, want %d", f.Prefix, got, f.Window)
		}
	}
}
