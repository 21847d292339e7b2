package modeltest_test

import (
	"testing"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/anthropic"
	"github.com/lorimer-dev/lorimer/harness/model/gemini"
	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
	"github.com/lorimer-dev/lorimer/harness/model/ollama"
	"github.com/lorimer-dev/lorimer/harness/model/openai"
	"github.com/lorimer-dev/lorimer/harness/model/responses"
)

// client is the client of a protocol, for the model that the protocol names.
func client(t *testing.T, p modeltest.Protocol, s *modeltest.Server) model.Streamer {
	t.Helper()
	const key = "sk-test-123456"
	d := model.Descriptor{Kind: p.Name, Provider: "test", ID: p.ID, BaseURL: p.URL(s), Thinks: true, Images: true}
	switch p.Name {
	case "openai-chat":
		return openai.New(d, openai.Options{Key: key})
	case "openai-responses":
		return responses.New(d, responses.Options{Key: key})
	case "anthropic":
		return anthropic.New(d, anthropic.Options{Key: key})
	case "gemini":
		return gemini.New(d, gemini.Options{Key: key})
	case "ollama":
		return ollama.New(d, ollama.Options{})
	}
	t.Fatalf("no client speaks %s", p.Name)
	return nil
}

// What a server sends is what clients take it for, in every protocol and cut in
// every way.
func TestProtocols(t *testing.T) {
	for _, p := range modeltest.Protocols() {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			open := func(t *testing.T, replies ...modeltest.Reply) model.Streamer {
				return client(t, p, modeltest.New(t, replies...))
			}
			modeltest.TestStreamer(t, open, p.Lack...)
			modeltest.TestQuirks(t, p.Name, open, p.Lack...)
		})
	}
}

// Every conversation can be held, and what is asked in it is what it says.
func TestScenarios(t *testing.T) {
	for _, p := range modeltest.Protocols() {
		for _, sc := range modeltest.Scenarios(p) {
			t.Run(p.Name+" "+sc.Name, func(t *testing.T) {
				s := modeltest.New(t, sc.Replies...)
				answers, err := sc.Hold(t, client(t, p, s))
				if (err != nil) != sc.Broken || len(answers) != len(sc.Replies) {
					t.Errorf("%d answers (%v), want %d, broken %v", len(answers), err, len(sc.Replies), sc.Broken)
				}
				sc.Check(t, s)
			})
		}
	}
}
