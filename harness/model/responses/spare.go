package responses

import (
	"strings"
	"sync/atomic"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// spared is what a server has refused and is not sent again for the life of a
// client.
type spared struct {
	// summary: OpenAI summarises thoughts for organisations that it has verified.
	summary atomic.Bool
	// thoughts: they were encrypted for another account or deployment, or the
	// model has none to give.
	thoughts atomic.Bool
}

// add notes what e refuses, and reports whether the request is worth sending
// again without it.
func (s *spared) add(e *model.Error) bool {
	if e.Kind != model.Invalid && e.Kind != model.NotFound {
		return false
	}
	text := strings.ToLower(e.Message)
	switch {
	case strings.Contains(text, "reasoning summar"), strings.Contains(text, "reasoning.summary"):
		return !s.summary.Swap(true)
	case e.Code == "invalid_encrypted_content", strings.Contains(text, "encrypted content"),
		strings.Contains(text, "encrypted_content"), strings.Contains(text, "items are not persisted"):
		return !s.thoughts.Swap(true)
	}
	return false
}
