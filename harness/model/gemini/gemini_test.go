package gemini_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/gemini"
	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

func TestStreamer(t *testing.T) {
	modeltest.TestStreamer(t, func(t *testing.T, replies ...modeltest.Reply) model.Streamer {
		s := modeltest.New(t, replies...)
		return gemini.New(model.Descriptor{Provider: "test", ID: "gemini-3.5-flash", BaseURL: s.Gemini()}, gemini.Options{Key: "AIza-123456"})
	}, modeltest.NoCacheWrite)
}

// R-HARN-14: over 20 turns with calls every request begins with the one before.
func TestPrefixOfASession(t *testing.T) {
	for _, id := range []string{second, third} {
		s := modeltest.New(t)
		c := gemini.New(model.Descriptor{Provider: "test", ID: id, BaseURL: s.Gemini()}, gemini.Options{Key: "AIza-123456"})
		req := modeltest.Ask("start " + strings.Repeat("long ", 2000))
		req.Effort = model.EffortHigh
		step := modeltest.Reply{Think: []string{"hm"}, Text: []string{"I ", "look."}}
		for range 3 {
			step.Tools = append(step.Tools, modeltest.Tool{Name: "read", Args: `{"b":1, "a":2}`})
		}
		var usage model.Usage
		for turn := range 20 {
			for _, r := range []modeltest.Reply{step, {Think: []string{"ah"}, Text: []string{"Done."}}} {
				s.Add(r)
				_, reply, err := modeltest.Collect(t.Context(), c, req)
				if err != nil {
					t.Fatalf("%s: %v in %q", id, err, s.Rejected())
				}
				req.Messages = append(req.Messages, modeltest.Results(reply, "1", "2", "3")...)
				usage = reply.Usage
			}
			req.Messages = append(req.Messages, llms.TextParts(llms.ChatMessageTypeHuman, fmt.Sprintf("message %d", turn)))
		}
		if got := s.Ratio(); got != 1 || len(s.Reuse()) != 39 {
			t.Errorf("%s: prefix reuse = %v over %d comparisons, want 1 over 39", id, got, len(s.Reuse()))
		}
		if fresh := usage.Input - usage.CacheRead; fresh > 300 {
			t.Errorf("%s: %d of %d tokens of the last request are not from the cache", id, fresh, usage.Input)
		}
		bodies := s.Requests()
		for i := range bodies[1:] {
			before, _, _ := strings.Cut(string(bodies[i].Body), `],"generationConfig"`)
			if !strings.HasPrefix(string(bodies[i+1].Body), before) {
				t.Fatalf("%s: request %d is no prefix of the next", id, i)
			}
		}
	}
}
