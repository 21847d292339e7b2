package estimate

import "math"

// Where a calibration begins, and between what it stays.
const (
	start   = 1.25
	lowest  = 0.8
	highest = 2.5
	weight  = 0.5 // of the newest prompt
)

// A Calibration is how many tokens of a model one estimated token stands for, as
// learnt from what its provider has reported: an average in which each prompt
// counts twice as much as the one before it. The zero value is ready and holds
// what is usual. It is not safe for concurrent use.
type Calibration struct {
	k float64 // 0 is start
}

// Observe learns that a prompt estimated at estimated tokens had real ones. Nothing
// is learnt from an empty prompt, nor from one that was not counted.
func (c *Calibration) Observe(real, estimated int) {
	if real <= 0 || estimated <= 0 {
		return
	}
	k := min(max(float64(real)/float64(estimated), lowest), highest)
	c.k = c.factor() + weight*(k-c.factor())
}

// Tokens returns how many tokens of the model estimated ones are likely to be. It is
// negative for what is less than nothing, such as a change.
func (c *Calibration) Tokens(estimated int) int {
	t := math.Ceil(float64(estimated) * c.factor())
	if t >= math.MaxInt {
		return math.MaxInt
	}
	return int(t)
}

func (c *Calibration) factor() float64 {
	if c.k == 0 {
		return start
	}
	return c.k
}
