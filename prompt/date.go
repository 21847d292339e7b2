package prompt

import (
	"strings"
	"time"
)

const dateVariable = "date"

// longDate returns t in English, whatever the locale: weekday, month, day, year,
// hour, two-digit minutes and the short name of the zone (R-PROMPT-21).
func longDate(t time.Time) string {
	return t.Format("Monday, January 2, 2006 at 3:04 PM ") + zoneName(t)
}

// zoneName returns the short name of t's zone. Zones without one have their
// distance from Greenwich, which the database of zones gives as +0530 or -03.
func zoneName(t time.Time) string {
	name, _ := t.Zone()
	if name == "" || strings.ContainsAny(name[:1], "+-") {
		zone := strings.TrimSuffix(t.Format("-07:00"), ":00")
		return "GMT" + zone
	}
	return name
}

// setDate gives the built-in variable of the date its value. A zero time is no
// value.
func setDate(vars map[string]Value, now time.Time) {
	v, ok := vars[dateVariable]
	if ok && v.Volatile && !now.IsZero() {
		v.Text, v.Set = longDate(now), true
		vars[dateVariable] = v
	}
}

// DateNote returns the note that tells the model the time in the zone of now. It
// is the whole of the volatile part.
func DateNote(now time.Time) string {
	return dateWords.fill(dateVariable, longDate(now))
}
