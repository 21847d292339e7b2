package gemini

import (
	"slices"
	"strings"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// A family says what a generation of models takes.
type family struct {
	levels  []model.Effort // levels of thinking, weakest first; nil for none
	budgets budgets        // tokens to think with, of models without levels
	unknown bool           // nothing is known; whether it thinks is for the descriptor to say

	// temperature tells that a temperature has an effect.
	temperature bool
	// third is Gemini 3 and later: calls have ids and are signed, and the results
	// of tools hold pictures.
	third bool
}

// budgets bound how many tokens a model thinks with.
type budgets struct {
	least, most int  // most is 0 for a model that does not think
	always      bool // it cannot be told not to think
	unasked     bool // it thinks when nothing is said about it
}

// A row is a family and whom it is: models of this version or later whose id has
// the word.
type row struct {
	version int // major * 100 + minor
	word    string
	family  family
}

// families returns what is known, newest first; the first row that fits counts.
func families() []row {
	low := []model.Effort{model.EffortLow, model.EffortMedium, model.EffortHigh}
	minimal := append([]model.Effort{model.EffortMinimal}, low...)
	return []row{
		{400, "", family{levels: low, third: true}},
		{307, "flash", family{levels: low, temperature: true, third: true}},
		{301, "pro", family{levels: low, temperature: true, third: true}},
		{300, "pro", family{levels: []model.Effort{model.EffortLow, model.EffortHigh}, temperature: true, third: true}},
		{300, "", family{levels: minimal, temperature: true, third: true}},
		{205, "pro", family{budgets: budgets{least: 128, most: 32_768, always: true, unasked: true}, temperature: true}},
		{205, "lite", family{budgets: budgets{least: 512, most: 24_576}, temperature: true}},
		{205, "", family{budgets: budgets{least: 1, most: 24_576, unasked: true}, temperature: true}},
		{0, "", family{temperature: true}},
	}
}

// familyOf tells the family from a model's id. Names that move on to the newest
// model, such as gemini-flash-latest, are of the newest family; of the ids of
// other makers nothing is known but that whoever serves them does so today.
func familyOf(id string) family {
	id = strings.ToLower(id[strings.LastIndexByte(id, '/')+1:])
	rest, ok := strings.CutPrefix(id, "gemini-")
	if !ok {
		return family{unknown: true, temperature: true, third: true}
	}
	v := version(rest)
	if strings.HasSuffix(id, "-latest") && v == 0 {
		v = 400
	}
	for _, r := range families() {
		if v >= r.version && strings.Contains(rest, r.word) {
			return r.family
		}
	}
	return family{}
}

// version reads 2.5-pro as 205 and 3-flash as 300; 0 without a number.
func version(s string) int {
	major, rest := digits(s)
	minor := 0
	if strings.HasPrefix(rest, ".") {
		minor, _ = digits(rest[1:])
	}
	return major*100 + min(minor, 99)
}

// digits reads a number of at most two digits at the start of s.
func digits(s string) (n int, rest string) {
	for i := 0; i < 2 && s != "" && s[0] >= '0' && s[0] <= '9'; i++ {
		n, s = n*10+int(s[0]-'0'), s[1:]
	}
	return n, s
}

// A thinking is how a request asks for thoughts. The zero value does not.
type thinking struct {
	show   bool
	level  string
	budget *int
}

// thinking says how the model d of family f is asked for effort e with limit
// tokens for the answer, 0 for no limit. Levels that a model lacks give way to a
// weaker one; a model that always thinks does so as little as it can when it is
// told not to.
func (f *family) thinking(d *model.Descriptor, e model.Effort, limit int) thinking {
	switch levels := f.levelsOf(d); {
	case len(levels) > 0 && e == model.EffortDefault:
		return thinking{show: true}
	case len(levels) > 0:
		l := nearest(e, levels)
		return thinking{show: e != model.EffortOff, level: string(l)}
	case f.budgets.most == 0:
		return thinking{}
	case e == model.EffortDefault:
		return thinking{show: f.budgets.unasked}
	}
	n := f.budgets.of(e, limit)
	return thinking{show: n > 0 && e != model.EffortOff, budget: &n}
}

// levelsOf returns the levels of d, nil for a model without.
func (f *family) levelsOf(d *model.Descriptor) []model.Effort {
	known := []model.Effort{model.EffortMinimal, model.EffortLow, model.EffortMedium, model.EffortHigh}
	var told []model.Effort
	for _, e := range d.Efforts {
		if slices.Contains(known, e) {
			told = append(told, e)
		}
	}
	switch {
	case f.levels == nil && !(f.unknown && d.Thinks):
		return nil
	case len(told) > 0:
		return told
	case f.unknown:
		return known[1:]
	}
	return f.levels
}

// nearest returns the strongest of levels that is not stronger than e, else the
// weakest.
func nearest(e model.Effort, levels []model.Effort) model.Effort {
	if e == model.EffortOff {
		return levels[0]
	}
	return model.Descriptor{Thinks: true, Efforts: levels}.Effort(e)
}

// of is the number of tokens to think with at effort e. Half of the limit is
// left for the answer, as far as the model can think with that little.
func (b *budgets) of(e model.Effort, limit int) int {
	if e == model.EffortOff && !b.always {
		return 0
	}
	n := map[model.Effort]int{model.EffortMinimal: 512, model.EffortLow: 2_048, model.EffortMedium: 8_192, model.EffortHigh: 24_576,
		model.EffortXHigh: b.most, model.EffortMax: b.most}[e]
	if limit > 0 {
		n = min(n, limit/2)
	}
	return min(max(n, b.least), b.most)
}
