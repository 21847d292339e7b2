package probe

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/lorimer-dev/lorimer/harness/model/catalog"
)

// decode reads an answer. A field of another type than expected stays empty, so
// that one odd value does not hide all others.
func decode(data []byte, out any) error {
	err := json.Unmarshal(data, out)
	if _, odd := errors.AsType[*json.UnmarshalTypeError](err); odd {
		return nil
	}
	return err
}

// A count is a number of tokens. Servers write it as a number or as text; what is
// not a positive number of sensible size is 0, unknown.
type count int

func (c *count) UnmarshalJSON(data []byte) error {
	*c = 0
	n, err := strconv.ParseFloat(strings.Trim(string(data), `"`), 64)
	if err == nil && n >= 1 && n <= math.MaxInt32 {
		*c = count(n)
	}
	return nil
}

// A flag is true, false, or something else that says nothing.
type flag Tri

func (f *flag) UnmarshalJSON(data []byte) error {
	switch string(data) {
	case "true":
		*f = flag(Yes)
	case "false":
		*f = flag(No)
	default:
		*f = flag(Unknown)
	}
	return nil
}

// A decimal is a price as a server writes it, number or text, without rounding.
type decimal string

func (d *decimal) UnmarshalJSON(data []byte) error {
	*d = decimal(strings.Trim(string(data), `"`))
	if *d == "null" {
		*d = ""
	}
	return nil
}

// micro returns d times ten to the power of shift, rounded half up. It knows no
// prices below zero, as some servers write for one that varies, and none beyond a
// million dollars for a token.
func (d decimal) micro(shift int) (int64, bool) {
	const most = 24 // digits of a price, and places that it may be moved
	mantissa, exponent, hasExponent := strings.Cut(strings.ToLower(string(d)), "e")
	if hasExponent {
		n, err := strconv.Atoi(exponent)
		if err != nil || n < -most || n > most {
			return 0, false
		}
		shift += n
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := whole + fraction
	if digits == "" || len(digits) > most || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	point := len(whole) + shift // where it is to be in digits
	if point < 0 {
		return 0, true
	}
	up := point < len(digits) && digits[point] >= '5'
	digits += strings.Repeat("0", max(0, point-len(digits)))
	if point == 0 {
		digits, point = "0", 1
	}
	n, err := strconv.ParseInt(digits[:point], 10, 64)
	if err != nil || n > 1e18 {
		return 0, false
	}
	if up {
		n++
	}
	return n, true
}

// price returns a price whose parts are given in units of which ten to the power
// of shift are a micro-dollar for a million tokens. Without both main parts there
// is none. A part for cached tokens counts only where it makes sense: reading costs
// less than a new token, and writing no less, which some vendors ask for keeping it.
func price(input, output, read, write decimal, shift int) *catalog.Price {
	in, ok := input.micro(shift)
	out, ok2 := output.micro(shift)
	if !ok || !ok2 {
		return nil
	}
	p := &catalog.Price{Input: in, Output: out}
	if n, ok := read.micro(shift); ok && n < in {
		p.CacheRead = n
	}
	if n, ok := write.micro(shift); ok && n >= in {
		p.CacheWrite = n
	}
	return p
}
