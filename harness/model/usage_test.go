package model_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/model"
)

func TestPlausibleUsage(t *testing.T) {
	for name, tt := range map[string]struct{ in, want model.Usage }{
		"as it should be": {
			model.Usage{Input: 9, Output: 3, CacheRead: 4, CacheWrite: 5, Reasoning: 3, Known: true},
			model.Usage{Input: 9, Output: 3, CacheRead: 4, CacheWrite: 5, Reasoning: 3, Known: true},
		},
		"fewer than none":    {model.Usage{Input: -5, Output: 3, Known: true}, model.Usage{}},
		"an answer of minus": {model.Usage{Input: 5, Output: -3, Known: true}, model.Usage{}},
		"more than exist":    {model.Usage{Input: math.MaxInt, Output: math.MaxInt, Known: true}, model.Usage{}},
		"parts larger than the whole": {
			model.Usage{Input: 9, Output: 3, CacheRead: 7, CacheWrite: 7, Reasoning: 7, Known: true},
			model.Usage{Input: 9, Output: 3, CacheRead: 7, CacheWrite: 2, Reasoning: 3, Known: true},
		},
		"parts of minus": {
			model.Usage{Input: 9, Output: 3, CacheRead: -7, CacheWrite: -7, Reasoning: -7, Known: true},
			model.Usage{Input: 9, Output: 3, Known: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, tt.in.Plausible()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
