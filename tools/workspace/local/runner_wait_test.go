//go:build unix

package local

import (
	"testing"
	"testing/synctest"
	"time"
)

// A cancelled command must be gone within its grace also where it takes long to
// see whether it is: among thousands of processes each look costs many
// milliseconds.
func TestUntilIsBoundByTime(t *testing.T) {
	tests := []struct {
		name       string
		look       time.Duration // what a look takes
		gone       time.Duration // when the answer becomes yes
		ok         bool
		at, latest time.Duration // when until returns
	}{
		{"gone at once", 0, 0, true, 0, 0},
		{"gone soon", 0, 20 * time.Millisecond, true, 20 * time.Millisecond, 40 * time.Millisecond},
		{"gone late, each look is slow", 100 * time.Millisecond, 500 * time.Millisecond, true, 500 * time.Millisecond, 800 * time.Millisecond},
		{"never gone", 0, time.Hour, false, time.Second, time.Second},
		{"never gone, each look is slow", 100 * time.Millisecond, time.Hour, false, time.Second, 1200 * time.Millisecond},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				ok := until(time.Second, func() bool {
					yes := time.Since(start) >= tt.gone
					time.Sleep(tt.look)
					return yes
				})
				if got := time.Since(start); ok != tt.ok || got < tt.at || got > tt.latest {
					t.Errorf("until = %v after %v, want %v after %v to %v", ok, got, tt.ok, tt.at, tt.latest)
				}
			})
		})
	}
}
