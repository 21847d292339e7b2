//go:build bedrock

package kinds

import (
	"context"
	"strings"

	"github.com/tmc/langchaingo/llms"
	lib "github.com/tmc/langchaingo/llms/bedrock"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// A bedrockModel lets the models of Anthropic stream and no others, and says what
// an answer is that the library throws away at the limit of its tokens.
type bedrockModel struct {
	*lib.LLM
	id string
}

func (m bedrockModel) GenerateContent(ctx context.Context, msgs []llms.MessageContent, opts ...llms.CallOption) (*llms.ContentResponse, error) {
	if !bedrockAnthropic(m.id) {
		opts = append(opts, llms.WithStreamingFunc(nil))
	}
	resp, err := m.LLM.GenerateContent(ctx, msgs, opts...)
	if err != nil && strings.HasPrefix(err.Error(), "completed due to ") {
		reason, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "completed due to "), ".")
		return resp, &model.Error{Kind: model.Invalid, Final: true,
			Message: "the answer ended with " + reason + " and the library threw it away; set output of the model to what it can"}
	}
	return resp, err
}
