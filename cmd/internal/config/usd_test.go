package config

import "testing"

// FuzzUSD checks that a price that is read is written as it was, up to zeros that
// say nothing.
func FuzzUSD(f *testing.F) {
	for _, seed := range []string{"3", "0.075", "1_000.5", "-1", "1e3", "0.0000001", "999999999999999999999"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := parseUSD(text)
		if err != nil {
			return
		}
		if again, err := parseUSD(d.String()); err != nil || again != d || d.Micro < 0 {
			t.Errorf("%q is %v, which is read as %v (%v)", text, d, again, err)
		}
	})
}
