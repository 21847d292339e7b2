package prompt

import (
	"math"
	"strconv"
	"strings"
)

// contextText is the section Context: the lines about the user that there is
// something to say for. Their values are variables, so that braces in them stay
// what the user typed.
func contextText(c Context) (string, error) {
	f := c.Facts
	lines := []string{contextWords.plain(), ""}
	line := func(w words, say bool) {
		if say {
			lines = append(lines, w.plain())
		}
	}
	line(contextNameWords, shown(f.Name) != "")
	line(f.whereabouts(), true)
	line(contextUnitsWords, shown(f.Units) != "")
	line(contextTimeWords, shown(f.Time) != "")
	line(contextCurrencyWords, shown(f.Currency) != "")
	line(contextIntegrationsWords, true)
	line(contextDisabledWords, f.Integrations.GoogleOff || f.Integrations.MicrosoftOff)
	line(contextPromptsWords, f.Integrations.PromptsOff)
	return strings.Join(lines, "\n"), nil
}

func (f Facts) whereabouts() words {
	located, known := shown(f.Location) != "", f.coordinates() != ""
	switch {
	case located && known:
		return contextCoordinatesWords
	case located:
		return contextLocationWords
	case known:
		return contextPositionWords
	}
	return contextNowhereWords
}

// coordinates returns the coordinates in degrees if both are known, else "". A
// millionth of a degree is the breadth of a hand.
func (f Facts) coordinates() string {
	if f.Latitude == nil || f.Longitude == nil {
		return ""
	}
	degrees := func(x float64) string {
		return strconv.FormatFloat(math.Round(x*1e6)/1e6+0, 'f', -1, 64) // + 0 makes of -0 what people write
	}
	return degrees(*f.Latitude) + ", " + degrees(*f.Longitude)
}

// status returns what is not as it should be, or that all is (R-PROMPT-27).
func (i Integrations) status() string {
	var off []string
	for _, s := range []struct {
		name string
		is   bool
	}{
		{"GOOGLE_DISABLED", i.GoogleOff},
		{"MICROSOFT_DISABLED", i.MicrosoftOff},
		{"PROMPTS_DISABLED", i.PromptsOff},
	} {
		if s.is {
			off = append(off, s.name)
		}
	}
	if len(off) == 0 {
		return "READY"
	}
	return strings.Join(off, ", ")
}
