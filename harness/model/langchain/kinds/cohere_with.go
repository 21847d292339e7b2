//go:build cohere

package kinds

import (
	"net/http"

	"github.com/tmc/langchaingo/llms"
	lib "github.com/tmc/langchaingo/llms/cohere"

	"github.com/lorimer-dev/lorimer/harness/model"
)

func openCohere() func(model.Descriptor, Options, *http.Client) (llms.Model, error) {
	return func(d model.Descriptor, o Options, _ *http.Client) (llms.Model, error) {
		return lib.New(lib.WithToken(o.Key), lib.WithModel(d.ID), lib.WithBaseURL(d.BaseURL))
	}
}
