package app

import (
	"slices"
	"testing"

	"github.com/lorimer-dev/lorimer/harness/model/catalog"
)

func TestNewest(t *testing.T) {
	tests := []struct {
		name string
		ids  []string
		n    int
		want []string
	}{
		{"a line each, the highest version first", []string{
			"claude-haiku-4-5", "claude-opus-4-8", "claude-opus-5", "claude-opus-5-5", "claude-sonnet-4-6", "claude-sonnet-5",
		}, 8, []string{"claude-opus-5-5", "claude-sonnet-5", "claude-haiku-4-5"}},
		{"no more than asked for", []string{"gpt-4.1-mini", "gpt-5.6-sol", "gpt-6-luna", "gpt-6-sol"}, 2, []string{"gpt-6-luna", "gpt-6-sol"}},
		{"a version within a word", []string{"o1", "o3", "o3-mini", "gpt-4o", "gpt-4o-2024-05-13"}, 8, []string{"gpt-4o-2024-05-13", "o3", "o3-mini"}},
		{"dates are no versions", []string{"codestral-2508", "mistral-medium-2508", "mistral-medium-3-5"}, 8, []string{"mistral-medium-3-5", "codestral-2508"}},
		{"sizes are no versions", []string{"ministral-14b-2512", "ministral-3b-2512", "ministral-3b-2410"}, 8, []string{"ministral-14b-2512", "ministral-3b-2512"}},
		{"one of each maker", []string{"a/m-1", "b/m-2", "b/x-1"}, 8, []string{"b/m-2", "a/m-1"}},
		{"days and months are no versions", []string{"r-08-2024", "r-plus-2025-07-28", "r-mini-1"}, 8, []string{"r-mini-1", "r-plus-2025-07-28", "r-08-2024"}},
		{"nothing", nil, 8, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var all []catalog.Model
			for _, id := range tt.ids {
				all = append(all, catalog.Model{ID: id})
			}
			var got []string
			for _, m := range newest(all, tt.n) {
				got = append(got, m.ID)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("newest = %q, want %q", got, tt.want)
			}
		})
	}
}
