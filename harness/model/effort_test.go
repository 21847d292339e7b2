package model_test

import (
	"slices"
	"testing"

	"github.com/lorimer-dev/lorimer/harness/model"
)

func TestEffort(t *testing.T) {
	const (
		def, off, minimal, low = model.EffortDefault, model.EffortOff, model.EffortMinimal, model.EffortLow
		medium, high, xhigh    = model.EffortMedium, model.EffortHigh, model.EffortXHigh
		most                   = model.EffortMax
	)
	wished := []model.Effort{def, off, minimal, low, medium, high, xhigh, most, "enormous"}
	tests := []struct {
		name string
		d    model.Descriptor
		want []model.Effort // for each that is wished
	}{
		{"does not think", model.Descriptor{Efforts: []model.Effort{low}}, []model.Effort{def, def, def, def, def, def, def, def, def}},
		{"usual levels", model.Descriptor{Thinks: true}, []model.Effort{def, off, low, low, medium, high, high, high, def}},
		{"all levels", model.Descriptor{Thinks: true, Efforts: model.Efforts()}, []model.Effort{def, off, minimal, low, medium, high, xhigh, most, def}},
		{"a gap", model.Descriptor{Thinks: true, Efforts: []model.Effort{low, most}}, []model.Effort{def, off, low, low, low, low, low, most, def}},
		{"strong ones only", model.Descriptor{Thinks: true, Efforts: []model.Effort{high, xhigh}}, []model.Effort{def, off, high, high, high, high, xhigh, xhigh, def}},
		{"on or off", model.Descriptor{Thinks: true, Efforts: []model.Effort{}}, []model.Effort{def, off, def, def, def, def, def, def, def}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for i, e := range wished {
				got := tt.d.Effort(e)
				if got != tt.want[i] {
					t.Errorf("Effort(%q) = %q, want %q", e, got, tt.want[i])
				}
				if ok := got == def || got == off || slices.Contains(tt.d.Levels(), got); !ok {
					t.Errorf("Effort(%q) = %q, which the model does not know", e, got)
				}
			}
		})
	}
}
