package responses_test

import (
	"testing"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
	"github.com/lorimer-dev/lorimer/harness/model/responses"
)

func TestStreamer(t *testing.T) {
	modeltest.TestStreamer(t, func(t *testing.T, replies ...modeltest.Reply) model.Streamer {
		s := modeltest.New(t, replies...)
		return responses.New(model.Descriptor{Provider: "test", ID: modeltest.ModelID, BaseURL: s.OpenAI(), Thinks: true}, responses.Options{Key: "sk-test-123456"})
	})
}
