package normalise

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	maxChatID = 40  // characters of the id of a call, the least that a provider takes
	maxItemID = 64  // with OpenAI's Responses
	maxOwnID  = 256 // that a model gets back as it made it
)

// unique spells the id of a call for the wire; one that has been used gets a number.
// A model gets its own ids back as they were, since some read more in them than a
// name, unless its server is known to take none but the usual.
func (h *history) unique(id string, own bool) string {
	spell := h.to.spell
	wire := id
	if !own || id == "" || len(id) > maxOwnID || !utf8.ValidString(id) || h.to.mistral || h.to.strict {
		wire = spell(id)
	}
	for n := 2; h.ids[wire]; n++ {
		wire = spell(id + "#" + strconv.Itoa(n))
	}
	h.ids[wire] = true
	return wire
}

// spell returns id as the model wants ids of others.
func (r *reader) spell(id string) string {
	if r.mistral {
		return nineLetters(id)
	}
	limit := maxChatID
	if r.Kind == "openai-responses" {
		limit = maxItemID
	}
	if id != "" && len(id) <= limit && strings.IndexFunc(id, foreign) < 0 {
		return id
	}
	return "call_" + digest(id)[:24]
}

// nineLetters is id as Mistral wants it: nine letters and digits.
func nineLetters(id string) string {
	plain := strings.IndexFunc(id, func(r rune) bool { return foreign(r) || r == '_' || r == '-' }) < 0
	if len(id) == 9 && plain {
		return id
	}
	return digest(id)[:9]
}
