package model

import "slices"

// Levels returns the efforts that the model knows beside the default and off,
// weakest first; none for a model that has no effort to set.
func (d Descriptor) Levels() []Effort {
	switch {
	case !d.Thinks:
		return nil
	case d.Efforts == nil:
		return []Effort{EffortLow, EffortMedium, EffortHigh}
	}
	return d.Efforts
}

// Effort returns the effort to ask the model for when e is wished: e if it knows e,
// else the nearest weaker one that it knows, else its weakest. Off is always known
// to a model that has an effort to set; one that has none, and a word that is no
// effort, give the default.
func (d Descriptor) Effort(e Effort) Effort {
	levels := d.Levels()
	rank := slices.Index(Efforts(), e)
	switch {
	case !d.Thinks:
		return EffortDefault
	case e == EffortOff, slices.Contains(levels, e):
		return e
	case rank < 0, len(levels) == 0:
		return EffortDefault
	}
	for _, weaker := range slices.Backward(Efforts()[:rank]) {
		if slices.Contains(levels, weaker) {
			return weaker
		}
	}
	return levels[0]
}

// Efforts returns the efforts that say how much to think, weakest first: all but
// the default and off.
func Efforts() []Effort {
	return []Effort{EffortMinimal, EffortLow, EffortMedium, EffortHigh, EffortXHigh, EffortMax}
}

// EffortsOf returns those of [Efforts] whose words are among names, weakest first;
// nil if there are none.
func EffortsOf(names []string) []Effort {
	var known []Effort
	for _, e := range Efforts() {
		if slices.Contains(names, string(e)) {
			known = append(known, e)
		}
	}
	return known
}
