package anthropic_test

import (
	"testing"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/anthropic"
	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

func TestStreamer(t *testing.T) {
	open := func(t *testing.T, replies ...modeltest.Reply) model.Streamer {
		s := modeltest.New(t, replies...)
		return anthropic.New(model.Descriptor{Provider: "test", ID: "claude-opus-4-7", BaseURL: s.Anthropic()}, anthropic.Options{Key: "sk-ant-123456"})
	}
	modeltest.TestStreamer(t, open)
	modeltest.TestQuirks(t, "anthropic", open)
}
