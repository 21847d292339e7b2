package ollama

import (
	"errors"
	"net"
	"strings"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/internal/stream"
)

// explain makes e say what it means here, and what to do about it.
func (c *Client) explain(p *stream.Post, e *model.Error) {
	if strings.HasPrefix(e.Message, "{") { // an error of the program behind the server, word for word
		if inner := p.Fault(e.Status, nil, []byte(e.Message)); inner.Message != "" {
			e.Message = inner.Message
		}
	}
	text := strings.ToLower(e.Message)
	switch {
	case e.Kind == model.Connection && dialled(e.Err):
		e.Message += `; start Ollama ("ollama serve"), or set base_url to where it runs`
	case strings.Contains(text, "model") && strings.Contains(text, "not found"):
		e.Kind = model.NotFound
		e.Message = strings.TrimSuffix(e.Message, ", try pulling it first") + `; fetch it with "ollama pull ` + c.model.ID + `"`
	case e.Kind == model.NotFound:
		e.Message += "; check that base_url is that of an Ollama server"
	case strings.Contains(text, "does not support tools"):
		e.Kind = model.Invalid
		e.Message += `; set the option "tools" to off, or choose a model that calls tools`
	case strings.Contains(text, "does not support thinking"), strings.Contains(text, "think value"):
		e.Kind = model.Invalid
		e.Message += `; set the option "thinking" to default`
	case strings.Contains(text, "more system memory"), strings.Contains(text, "unable to load model"):
		e.Kind, e.Final = model.Unavailable, true // asking again makes no room
		e.Message += "; choose a smaller model, or a smaller window in models.toml"
	case e.Kind == model.TokenLimit && !strings.Contains(text, "models.toml"):
		e.Message += "; begin a new session, or set a larger window in models.toml if the machine has room for it"
	}
}

// dialled reports whether err is that of a connection that was never made.
func dialled(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}
