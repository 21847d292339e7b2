// Package estimate tells how many tokens a text or a request may have, without
// asking anybody.
//
// [Tokens] is the formula of R-BILL-01. It counts code and the output of tools too
// low, and no model counts like another, so a [Calibration] learns from what a
// provider reports how far off it is.
package estimate

import (
	"math/bits"
	"unicode/utf8"
)

// Tokens returns the estimate of text (R-BILL-01), n code points with c of them in
// U+4E00 to U+9FFF: n divided by 4 − 2.2·c/n characters for a token, rounded up.
// The empty text has none. Bytes that are not UTF-8 count as one character each.
func Tokens(text string) int {
	n, c := count(text)
	return tokens(n, c)
}

func count(text string) (n, c uint64) {
	n = uint64(utf8.RuneCountInString(text))
	if n == uint64(len(text)) {
		return n, 0
	}
	for _, r := range text {
		if r >= 0x4E00 && r <= 0x9FFF {
			c++
		}
	}
	return n, c
}

// tokens is ⌈10·n² ÷ (40·n − 22·c)⌉, with c at most n, exactly and in integers.
// The divisor is at least 18·n, so the quotient fits whatever n is a length of.
func tokens(n, c uint64) int {
	if n == 0 {
		return 0
	}
	// 40·n does not overflow: n is the length of a string, below 1<<58 on any
	// machine. 10·n² may, so it has two words.
	div := 40*n - 22*c
	hi, lo := bits.Mul64(10*n, n)
	q, r := bits.Div64(hi, lo, div)
	if r > 0 {
		q++
	}
	return int(q)
}
