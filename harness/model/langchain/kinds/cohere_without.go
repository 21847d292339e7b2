//go:build !cohere

package kinds

import (
	"net/http"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
)

func openCohere() func(model.Descriptor, Options, *http.Client) (llms.Model, error) { return nil }
