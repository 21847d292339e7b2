package responses

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/internal/stream"
)

// An answer is a reply under construction.
type answer struct {
	ref  string // of the model, for what goes back to it
	sink func(model.Event) error
	told bool  // an event has been delivered
	own  error // of sink
	text strings.Builder
}

func newAnswer(ref string, sink func(model.Event) error) *answer {
	return &answer{ref: ref, sink: sink}
}

func (a *answer) tell(e model.Event) error {
	a.told = true
	if a.own = a.sink(e); a.own != nil {
		return stream.Abort(a.own)
	}
	return nil
}

// event takes the next event of the stream.
func (a *answer) event(p *stream.Post, data []byte) (stream.Progress, error) {
	var e struct{ Type, Delta string }
	if err := json.Unmarshal(data, &e); err != nil {
		return 0, err
	}
	switch e.Type {
	case "error", "response.failed":
		return 0, p.Fault(http.StatusOK, nil, data)
	case "response.output_text.delta":
		a.text.WriteString(e.Delta)
		return stream.More, a.tell(model.Text(e.Delta))
	case "response.completed":
		return stream.Done, nil
	}
	return stream.Alive, nil
}

// reply is the answer so far.
func (a *answer) reply(id string, _ bool) *model.Reply {
	return &model.Reply{Parts: []llms.ContentPart{llms.TextContent{Text: a.text.String()}}, Stop: model.StopEnd, RequestID: id}
}
