package model

import "slices"

// Efforts returns the efforts that say how much to think, weakest first.
func efforts() []Effort {
	return []Effort{EffortMinimal, EffortLow, EffortMedium, EffortHigh, EffortXHigh, EffortMax}
}

// Levels returns the efforts that the model knows beside the default and off,
// weakest first; none for a model without an effort to set.
func (d Descriptor) Levels() []Effort {
	switch {
	case !d.Thinks:
		return nil
	case d.Efforts == nil:
		return []Effort{EffortLow, EffortMedium, EffortHigh}
	}
	return d.Efforts
}

// Effort returns the effort that the model is asked for when e is wished: e if it
// knows e, else the nearest weaker one that it knows, else its weakest. The default
// and off stay as they are; a model without an effort to set has the default alone.
func (d Descriptor) Effort(e Effort) Effort {
	levels := d.Levels()
	switch {
	case len(levels) == 0 && e != EffortOff, !d.Thinks:
		return EffortDefault
	case e == EffortDefault, e == EffortOff, slices.Contains(levels, e):
		return e
	}
	order := efforts()
	wished := slices.Index(order, e)
	if wished < 0 {
		return EffortDefault
	}
	for _, weaker := range slices.Backward(order[:wished]) {
		if slices.Contains(levels, weaker) {
			return weaker
		}
	}
	return levels[0]
}
