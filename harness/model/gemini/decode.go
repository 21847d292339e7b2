package gemini

import (
	"encoding/json"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/internal/stream"
)

// An answer is a reply under construction.
type answer struct {
	ref  string // of the model, for its signatures
	sink func(model.Event) error
	told bool  // an event has been delivered
	own  error // of sink
}

// chunk takes the next event of the stream.
func (a *answer) chunk(_ *stream.Post, data []byte) (stream.Progress, error) {
	var v json.RawMessage
	return stream.More, json.Unmarshal(data, &v)
}

func (a *answer) finish(*stream.Post) error { return a.own }

func (a *answer) reply(id string, _ bool) *model.Reply { return &model.Reply{RequestID: id, Model: a.ref} }
