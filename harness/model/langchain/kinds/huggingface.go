package kinds

import (
	"cmp"
	"context"
	"net/http"

	"github.com/tmc/langchaingo/llms"
	lib "github.com/tmc/langchaingo/llms/huggingface"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/langchain"
)

// huggingface sends one text and gets one back. Its library looks for a token in
// the environment and in the user's cache first, and then takes ours.
func huggingface() kind {
	return kind{
		Info: Info{
			Name: "huggingface", Title: "Hugging Face", BaseURL: "https://router.huggingface.co", Key: "access token", Client: true,
			Settings: []Setting{{Name: "inference_provider", Help: "which of its providers runs the model; hf-inference without it"}},
		},
		fixed: "https://router.huggingface.co",
		adapt: langchain.Options{Shape: langchain.Flat, Whole: true},
		open: func(d model.Descriptor, o Options, c *http.Client) (llms.Model, error) {
			m, err := lib.New(lib.WithToken(o.Key), lib.WithModel(d.ID), lib.WithHTTPClient(c),
				lib.WithInferenceProvider(cmp.Or(o.Settings["inference_provider"], "hf-inference")))
			return lengthModel{m}, err
		},
	}
}

// A lengthModel has the limit of an answer under another name.
type lengthModel struct{ llms.Model }

func (m lengthModel) GenerateContent(ctx context.Context, msgs []llms.MessageContent, opts ...llms.CallOption) (*llms.ContentResponse, error) {
	return m.Model.GenerateContent(ctx, msgs, append(opts, func(o *llms.CallOptions) { o.MaxLength = o.MaxTokens })...)
}
