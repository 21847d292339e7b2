package anthropic

import (
	"slices"
	"strings"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// A family says what a generation of models takes.
type family struct {
	maxTokens   int            // of an answer, where nobody names a limit; the protocol requires one
	thinking    thinking       // how it is told to think
	efforts     []model.Effort // that an adaptive model knows, weakest first
	interleave  bool           // thinks between calls only when asked to by a header
	temperature bool
	always      bool // thinks unless told otherwise; an effort of off is the lowest one
}

type thinking int

const (
	never    thinking = iota
	budgeted          // a number of tokens
	adaptive          // an effort
)

// familyOf tells the family from a model's id. Ids of other makers get the least
// that a server of this protocol takes.
func familyOf(id string) family {
	major, minor, ok := claudeVersion(id)
	v := major*100 + minor
	efforts := []model.Effort{model.EffortLow, model.EffortMedium, model.EffortHigh, model.EffortXHigh, model.EffortMax}
	switch {
	case !ok:
		return family{maxTokens: 16_000, temperature: true}
	case v >= 500:
		return family{maxTokens: 64_000, thinking: adaptive, efforts: efforts, always: true}
	case v >= 407:
		return family{maxTokens: 64_000, thinking: adaptive, efforts: efforts}
	case v >= 406:
		return family{maxTokens: 64_000, thinking: adaptive, efforts: slices.DeleteFunc(efforts, isXHigh), temperature: true}
	case v >= 405:
		return family{maxTokens: 64_000, thinking: budgeted, interleave: true, temperature: true}
	case v >= 400:
		return family{maxTokens: 32_000, thinking: budgeted, interleave: true, temperature: true}
	case v >= 307:
		return family{maxTokens: 64_000, thinking: budgeted, temperature: true}
	case v >= 305:
		return family{maxTokens: 8_192, temperature: true}
	}
	return family{maxTokens: 4_096, temperature: true}
}

func isXHigh(e model.Effort) bool { return e == model.EffortXHigh }

// effort is what the model d of family f is asked for when e is wished.
func (f *family) effort(d *model.Descriptor, e model.Effort) model.Effort {
	known := f.efforts
	if d.Efforts != nil {
		known = d.Efforts
	}
	return model.Descriptor{Thinks: true, Efforts: known}.Effort(e)
}

// claudeVersion reads ids such as claude-opus-4-7, claude-sonnet-4.5,
// claude-3-7-sonnet-20250219, claude-fable-5 and anthropic.claude-opus-4-6-v1.
// A date is no version.
func claudeVersion(id string) (major, minor int, ok bool) {
	_, rest, found := strings.Cut(strings.ToLower(id), "claude-")
	if !found {
		return 0, 0, false
	}
	words := strings.FieldsFunc(rest, func(r rune) bool { return r == '-' || r == '.' || r == '@' || r == ':' })
	for i, w := range words {
		n, ok := small(w)
		if !ok {
			continue
		}
		if i+1 < len(words) {
			minor, _ = small(words[i+1])
		}
		return n, minor, true
	}
	return 0, 0, false
}

// small reads a number of one or two digits.
func small(s string) (n int, ok bool) {
	if len(s) == 0 || len(s) > 2 {
		return 0, false
	}
	for _, r := range s {
		if r < '0' || r > '9' {
			return 0, false
		}
		n = n*10 + int(r-'0')
	}
	return n, true
}

// budget is the number of tokens to think with at an effort, below limit; 0 when
// there is no room for the least that the protocol takes.
func budget(e model.Effort, limit int) int {
	const least = 1024
	n := map[model.Effort]int{model.EffortMinimal: least, model.EffortLow: 4_000, model.EffortMedium: 10_000, model.EffortHigh: 24_000,
		model.EffortXHigh: 32_000, model.EffortMax: 48_000}[e]
	if n = min(n, limit/2); n < least {
		return 0
	}
	return n
}
