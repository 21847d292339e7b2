package gemini_test

import (
	"testing"

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
