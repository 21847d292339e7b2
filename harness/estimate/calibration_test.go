package estimate_test

import (
	"math"
	"testing"

	"github.com/lorimer-dev/lorimer/harness/estimate"
)

func TestCalibration(t *testing.T) {
	type seen struct{ real, estimated int }
	tests := []struct {
		name string
		seen []seen
		want int // tokens of 1000 estimated ones
	}{
		{"nothing learnt", nil, 1250},
		{"nothing to learn", []seen{{0, 1000}, {1000, 0}, {-1, 5}}, 1250},
		{"half way to the first", []seen{{1750, 1000}}, 1500},
		{"the newest counts most", []seen{{1000, 1000}, {2000, 1000}}, 1563},
		{"no more than the highest", []seen{{9000, 1000}}, 1875},
		{"no less than the lowest", []seen{{1, 1000}}, 1025},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var c estimate.Calibration
			for _, s := range tt.seen {
				c.Observe(s.real, s.estimated)
			}
			if got := c.Tokens(1000); got != tt.want {
				t.Errorf("Tokens(1000) = %d, want %d", got, tt.want)
			}
		})
	}
}

func TestCalibrationComesToWhatIsTrue(t *testing.T) {
	for real, want := range map[int]int{1500: 1500, 100_000: 2500, 10: 800} {
		var c estimate.Calibration
		for range 40 {
			c.Observe(real, 1000)
		}
		if got := c.Tokens(1000); got < want || got > want+1 {
			t.Errorf("after prompts of %d for 1000: Tokens(1000) = %d, want %d", real, got, want)
		}
	}
}

func TestCalibrationOfExtremes(t *testing.T) {
	var c estimate.Calibration
	for estimated, want := range map[int]int{0: 0, -8: -10, 1: 2, math.MaxInt: math.MaxInt} {
		if got := c.Tokens(estimated); got != want {
			t.Errorf("Tokens(%d) = %d, want %d", estimated, got, want)
		}
	}
}
