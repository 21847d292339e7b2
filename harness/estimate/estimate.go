// Package estimate tells how many tokens a text or a request may have, without
// asking anybody.
//
// [Tokens] is the formula of R-BILL-01. It counts code and the output of tools too
// low, and no model counts like another, so a [Calibration] learns from what a
// provider reports how far off it is. A [Size] holds beside the likely number the
// least that any tokenizer makes of a text, for those who refuse what cannot fit.
package estimate

import "math/bits"

// Tokens returns the estimate of text (R-BILL-01): of n code points, c of them in
// U+4E00 to U+9FFF, 4 − 2.2·c/n make a token, and a part of one counts as one. The
// empty text has none. A byte that is not UTF-8 is a code point.
//
// A longer text may have fewer tokens than its beginning, if that is nearly all
// Chinese and the rest is not; it never has with more of the same.
func Tokens(text string) int { return Text(text).Likely }

// likely is ⌈10·n² ÷ (40·n − 22·c)⌉, in integers, since 4.0 − 2.2 is more than 1.8
// in floating point. C is at most n, and n the length of a text.
func likely(n, c uint64) int {
	if n == 0 {
		return 0
	}
	hi, lo := bits.Mul64(10*n, n) // two words: the square of a long text has no place in one
	q, r := bits.Div64(hi, lo, 40*n-22*c)
	if r > 0 {
		q++
	}
	return int(q)
}
