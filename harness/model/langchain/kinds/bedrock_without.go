//go:build !bedrock

package kinds

import (
	"net/http"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
)

func openBedrock() func(model.Descriptor, Options, *http.Client) (llms.Model, error) { return nil }
