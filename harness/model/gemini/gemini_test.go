package gemini_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/anthropic"
	"github.com/lorimer-dev/lorimer/harness/model/gemini"
	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
	"github.com/lorimer-dev/lorimer/harness/model/normalise"
)

func TestStreamer(t *testing.T) {
	for id, lack := range map[string][]modeltest.Lack{third: {modeltest.NoCacheWrite}, second: {modeltest.NoCacheWrite, modeltest.NoIDs}} {
		t.Run(id, func(t *testing.T) {
			open := func(t *testing.T, replies ...modeltest.Reply) model.Streamer {
				s := modeltest.New(t, replies...)
				return gemini.New(model.Descriptor{Provider: "test", ID: id, BaseURL: s.Gemini()}, gemini.Options{Key: "AIza-123456"})
			}
			modeltest.TestStreamer(t, open, lack...)
			modeltest.TestQuirks(t, "gemini", open, lack...)
		})
	}
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
		modeltest.Prefixes(t, s.Requests(), `],"generationConfig"`)
	}
}

// A session talks to the server as one model after the other.
type session struct {
	t   *testing.T
	s   *modeltest.Server
	req *model.Request
}

func (s session) turn(d model.Descriptor, replies ...modeltest.Reply) {
	s.t.Helper()
	var c model.Streamer
	if d.Kind == "anthropic" {
		d.BaseURL = s.s.Anthropic()
		c = anthropic.New(d, anthropic.Options{Key: "sk-ant-123456"})
	} else {
		d.BaseURL = s.s.Gemini()
		c = gemini.New(d, gemini.Options{Key: "AIza-123456"})
	}
	c = normalise.Wrap(c, d, normalise.Options{})
	s.s.Add(replies...)
	for range replies {
		_, reply, err := modeltest.Collect(s.t.Context(), c, s.req)
		if err != nil {
			s.t.Fatalf("%s: %v in %q\n%s", d.ID, err, s.s.Rejected(), s.s.Requests()[len(s.s.Requests())-1].Body)
		}
		s.req.Messages = append(s.req.Messages, modeltest.Results(reply, "1", "2")...)
	}
	s.say(fmt.Sprintf("message %d", len(s.req.Messages)))
}

func (s session) say(text string) {
	s.req.Messages = append(s.req.Messages, llms.TextParts(llms.ChatMessageTypeHuman, text))
}

// C106, C107: signatures go back to their author alone, and calls of others bear
// what Google takes in their place. The server checks both.
func TestSwitchOfModels(t *testing.T) {
	s := session{t, modeltest.New(t), modeltest.Ask("go")}
	step := modeltest.Reply{Think: []string{"hm"}, Text: []string{"I ", "look."}, Tools: []modeltest.Tool{{Name: "read", Args: "{}"}, {Name: "read", Args: "{}"}}}
	done := modeltest.Reply{Think: []string{"ah"}, Text: []string{"Do", "ne."}}
	models := []model.Descriptor{
		{Kind: "gemini", Provider: "test", ID: third}, {Kind: "anthropic", Provider: "other", ID: "claude-opus-4-7"}, {Kind: "gemini", Provider: "test", ID: second},
		{Kind: "gemini", Provider: "test", ID: third}, {Kind: "gemini", Provider: "test", ID: "gemini-4-argon"},
	}
	for _, d := range models {
		s.turn(d, step, done)
	}
	// A turn that another model began goes on with this one.
	s.turn(models[1], step)
	s.req.Messages = s.req.Messages[:len(s.req.Messages)-1]
	s.turn(models[0], step, done)
	// The user speaks where the model should have.
	s.turn(models[0], step)
	s.say("well?")
	s.turn(models[0], done)
	s.turn(models[2], step)
	s.turn(models[2], done)

	reqs := s.s.Requests()
	last := string(reqs[len(reqs)-3].Body) // the last one of the first model
	if n, own := strings.Count(last, `"thoughtSignature"`), strings.Count(last, "skip_thought_signature_validator"); own < 4 || n <= own {
		t.Errorf("%d signatures in the last request, %d of them stand-ins; want those of its own steps too: %s", n, own, last)
	}
}
