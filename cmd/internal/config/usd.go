package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A USD is a price in dollars, exact to the millionth.
type USD struct {
	Micro int64
	wrong string // what is wrong with it, which is told with its line
}

const (
	microDigits = 6         // behind the point
	maxDollars  = 1_000_000 // above which a price is a slip of the pen
)

// UnmarshalText reads a decimal like 3 or 0.075. The decoder, which knows where a number
// stands, does not tell it with an error; a mistake is found when all are checked.
func (d *USD) UnmarshalText(text []byte) error {
	v, err := parseUSD(string(text))
	if err != nil {
		v.wrong = err.Error()
	}
	*d = v
	return nil
}

// check returns what is wrong with d, which may be nil.
func (d *USD) check() error {
	if d == nil || d.wrong == "" {
		return nil
	}
	return errors.New(d.wrong)
}

// parseUSD goes by the digits, which a binary fraction would not keep.
func parseUSD(text string) (USD, error) {
	number := strings.TrimPrefix(text, "+")
	if strings.HasPrefix(number, "-") {
		return USD{}, errors.New("must not be negative")
	}
	number = strings.ReplaceAll(number, "_", "") // which TOML allows between digits
	whole, fraction, _ := strings.Cut(number, ".")
	if whole == "" || digits(whole) != len(whole) || digits(fraction) != len(fraction) {
		return USD{}, fmt.Errorf("%.40q is not a price in dollars; write it like 3 or 0.075", text)
	}
	fraction = strings.TrimRight(fraction, "0")
	if len(fraction) > microDigits {
		return USD{}, fmt.Errorf("%.40q has more than %d digits behind the point", text, microDigits)
	}
	n, err := strconv.ParseInt(whole+fraction+strings.Repeat("0", microDigits-len(fraction)), 10, 64)
	if err != nil || n > maxDollars*1_000_000 {
		return USD{}, fmt.Errorf("%.40q is more than %d dollars", text, maxDollars)
	}
	return USD{Micro: n}, nil
}

// MarshalJSON writes the number.
func (d USD) MarshalJSON() ([]byte, error) { return []byte(d.String()), nil }

// String returns d with as many digits as it takes.
func (d USD) String() string {
	whole, fraction := d.Micro/1_000_000, d.Micro%1_000_000
	if fraction == 0 {
		return strconv.FormatInt(whole, 10)
	}
	return strings.TrimRight(fmt.Sprintf("%d.%06d", whole, fraction), "0")
}

// digits counts the digits that s begins with.
func digits(s string) int {
	n := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' })
	if n < 0 {
		return len(s)
	}
	return n
}
