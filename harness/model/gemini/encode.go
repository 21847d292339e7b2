package gemini

import (
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/internal/body"
)

// body is req on the wire.
func (c *Client) body(req *model.Request) []byte {
	var w body.Writer
	w.Object()
	if req.System != "" {
		w.Key("systemInstruction").Object().Key("parts").Array().Object().Key("text").String(req.System).EndObject().EndArray().EndObject()
	}
	return w.EndObject().Bytes()
}
