package estimate

import (
	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// Request returns the estimate of all that req says to a model: the system prompt,
// the tools and the messages.
func Request(req *model.Request) int {
	sum := Tokens(req.System) + Tools(req.Tools)
	for i := range req.Messages {
		sum += Parts(req.Messages[i].Parts)
	}
	return sum
}

// Tools returns the estimate of what a model is told of tools.
func Tools(tools []model.Tool) int { return 0 }

// Parts returns the estimate of a message with the given parts.
func Parts(parts []llms.ContentPart) int { return 0 }
