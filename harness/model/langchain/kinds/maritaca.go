package kinds

import (
	"net/http"

	"github.com/tmc/langchaingo/llms"
	lib "github.com/tmc/langchaingo/llms/maritaca"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/langchain"
)

// maritaca loses pieces while it streams, those in which a model writes "data:", so
// its answers come whole.
func maritaca() kind {
	const base = "https://chat.maritaca.ai/api"
	return kind{
		Info:  Info{Name: "maritaca", Title: "Maritaca", BaseURL: base, Key: "API key", Client: true},
		fixed: base,
		adapt: langchain.Options{Shape: langchain.Joined, Whole: true},
		open: func(d model.Descriptor, o Options, c *http.Client) (llms.Model, error) {
			return lib.New(lib.WithToken(o.Key), lib.WithModel(d.ID), lib.WithHTTPClient(c), lib.WithChatMode(true))
		},
	}
}
