package responses

import (
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// spared is what a server has refused and is not sent again for the life of a
// client.
type spared struct {
	summary   atomic.Bool // OpenAI summarises thoughts for organisations that it has verified
	encrypted atomic.Bool // the model has no thoughts to give

	mu       sync.Mutex          // guards thoughts
	thoughts map[string]struct{} // items that the server cannot read
}

// without notes what e refuses of req, and reports whether the request is worth
// sending again without it.
//
// A server that cannot read a thought does not say which, so that none of this
// request goes back to it any more. Those to come do: what it refuses may have been
// encrypted for another account or deployment, or it may have been out of sorts.
func (c *Client) without(req *model.Request, e *model.Error) bool {
	if e.Kind != model.Invalid && e.Kind != model.NotFound {
		return false
	}
	s, text := &c.spared, strings.ToLower(e.Message)
	switch {
	case strings.Contains(text, "reasoning summar"), strings.Contains(text, "reasoning.summary"):
		return !s.summary.Swap(true)
	case e.Code == "invalid_encrypted_content", strings.Contains(text, "encrypted content"),
		strings.Contains(text, "encrypted_content"), strings.Contains(text, "items are not persisted"):
		if !strings.Contains(text, "not supported") && s.refuse(c.thoughts(req)) {
			return true
		}
		return !s.encrypted.Swap(true)
	}
	return false
}

// thoughts returns the items of thoughts that go with req.
func (c *Client) thoughts(req *model.Request) (items []string) {
	for i := range req.Messages {
		if req.Messages[i].Role != llms.ChatMessageTypeAI {
			continue
		}
		for _, p := range req.Messages[i].Parts {
			if r, ok := p.(model.Reasoning); ok {
				if item := c.thought(r); item != "" {
					items = append(items, item)
				}
			}
		}
	}
	return items
}

// refuse notes items, and reports whether there are any.
func (s *spared) refuse(items []string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.thoughts == nil {
		s.thoughts = make(map[string]struct{}, len(items))
	}
	for _, item := range items {
		s.thoughts[item] = struct{}{}
	}
	return len(items) > 0
}

// reads reports whether the server reads item, as far as is known.
func (s *spared) reads(item string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, refused := s.thoughts[item]
	return !refused && !s.encrypted.Load()
}
