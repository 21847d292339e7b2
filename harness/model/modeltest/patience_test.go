package modeltest_test

import (
	"errors"
	"testing"
	"time"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/anthropic"
	"github.com/lorimer-dev/lorimer/harness/model/gemini"
	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
	"github.com/lorimer-dev/lorimer/harness/model/ollama"
	"github.com/lorimer-dev/lorimer/harness/model/openai"
	"github.com/lorimer-dev/lorimer/harness/model/responses"
)

// C110: a server that shows nothing but that it lives is left by every client when
// its patience has ended, before the first byte of an answer and within it.
func TestPatienceEnds(t *testing.T) {
	const short = 50 * time.Millisecond
	clients := map[string]func(model.Descriptor) model.Streamer{
		"openai-chat": func(d model.Descriptor) model.Streamer {
			return openai.New(d, openai.Options{Key: "k", First: short, Idle: short})
		},
		"openai-responses": func(d model.Descriptor) model.Streamer {
			return responses.New(d, responses.Options{Key: "k", First: short, Idle: short})
		},
		"anthropic": func(d model.Descriptor) model.Streamer {
			return anthropic.New(d, anthropic.Options{Key: "k", First: short, Idle: short})
		},
		"gemini": func(d model.Descriptor) model.Streamer {
			return gemini.New(d, gemini.Options{Key: "k", First: short, Idle: short})
		},
		"ollama": func(d model.Descriptor) model.Streamer {
			return ollama.New(d, ollama.Options{First: short, Idle: short})
		},
	}
	for _, p := range modeltest.Protocols() {
		for name, reply := range map[string]modeltest.Reply{
			"signs of life alone": {Quirk: modeltest.OnlyKeepAlive},
			"after some text":     {Text: []string{"Hello"}, Hang: true},
		} {
			t.Run(p.Name+" "+name, func(t *testing.T) {
				t.Parallel()
				s := modeltest.New(t, reply)
				d := model.Descriptor{Kind: p.Name, Provider: "test", ID: p.ID, BaseURL: p.URL(s)}
				events, _, err := modeltest.Collect(t.Context(), clients[p.Name](d), modeltest.Ask("go"))
				fail, ok := errors.AsType[*model.Error](err)
				if !ok || fail.Kind != model.Idle || !fail.Temporary() || fail.Partial != (len(reply.Text) > 0) || len(events) != len(reply.Text) {
					t.Errorf("error = %v after %d events, want that nothing came for too long, which is asked again", err, len(events))
				}
				<-s.Gone()
			})
		}
	}
}
