package kinds

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/tmc/langchaingo/llms"
	lib "github.com/tmc/langchaingo/llms/cloudflare"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/langchain"
)

// cloudflare streams the JSON of its events instead of their text, leaves the text
// out of what it returns, and takes any end of the stream for the end of the
// answer.
func cloudflare() kind {
	return kind{
		Info: Info{
			Name: "cloudflare", Title: "Cloudflare Workers AI", Key: "API token", Client: true,
			BaseURL:  "https://api.cloudflare.com/client/v4/accounts",
			Settings: []Setting{{Name: "account", Help: "the id of the account", Required: true}},
		},
		adapt: langchain.Options{Shape: langchain.Joined},
		end:   "[DONE]",
		open: func(d model.Descriptor, o Options, c *http.Client) (llms.Model, error) {
			m, err := lib.New(lib.WithToken(o.Key), lib.WithAccountID(o.Settings["account"]), lib.WithModel(d.ID),
				lib.WithServerURL(d.BaseURL), lib.WithHTTPClient(c))
			return cloudflareModel{m}, err
		},
	}
}

type cloudflareModel struct{ llms.Model }

func (m cloudflareModel) GenerateContent(ctx context.Context, msgs []llms.MessageContent, opts ...llms.CallOption) (*llms.ContentResponse, error) {
	var o llms.CallOptions
	for _, set := range opts {
		set(&o)
	}
	if o.StreamingFunc == nil {
		return m.Model.GenerateContent(ctx, msgs, opts...)
	}
	var text strings.Builder
	info := map[string]any{}
	read := llms.WithStreamingFunc(func(ctx context.Context, p []byte) error {
		var event struct {
			Response string
			Usage    *struct {
				Prompt     int `json:"prompt_tokens"`
				Completion int `json:"completion_tokens"`
			}
		}
		if err := json.Unmarshal(p, &event); err != nil {
			return err
		}
		if u := event.Usage; u != nil {
			info["PromptTokens"], info["CompletionTokens"] = u.Prompt, u.Completion
		}
		text.WriteString(event.Response)
		return o.StreamingFunc(ctx, []byte(event.Response))
	})
	if _, err := m.Model.GenerateContent(ctx, msgs, append(opts, read)...); err != nil {
		return nil, err
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: text.String(), GenerationInfo: info}}}, nil
}
