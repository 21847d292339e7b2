package responses

import (
	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/internal/body"
)

// body is req on the wire.
func (c *Client) body(req *model.Request) []byte {
	var w body.Writer
	w.Object().Key("model").String(c.model.ID).Key("store").Bool(false).Key("stream").Bool(true).Key("input").Array()
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			if t, ok := p.(llms.TextContent); ok {
				w.Object().Key("role").String("user").Key("content").String(t.Text).EndObject()
			}
		}
	}
	return w.EndArray().EndObject().Bytes()
}
