//go:build cohere

package kinds_test

import (
	"errors"
	"testing"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
)

func TestCohere(t *testing.T) {
	f := newFake(t, object(`{"id":"1","generations":[{"text":"Hello there."}]}`))
	r, err := open(t, "cohere", model.Descriptor{}, nil, f).Stream(t.Context(), ask(), ignore)
	if err != nil || len(r.Parts) != 1 || r.Parts[0] != llms.ContentPart(llms.TextContent{Text: "Hello there."}) {
		t.Errorf("answer = %+v (%v)", r, err)
	}
	if req := f.last(t); req.Auth != "Bearer k-secret" || req.Path != "/v1/generate" || req.Body["prompt"] != flat || req.Body["model"] != "m1" {
		t.Errorf("request = %+v", req)
	}
	// The library looks at no status.
	f = newFake(t, status(429, `{"message":"slow down"}`))
	_, err = open(t, "cohere", model.Descriptor{}, nil, f).Stream(t.Context(), ask(), ignore)
	if e, ok := errors.AsType[*model.Error](err); !ok || e.Kind != model.Empty {
		t.Errorf("error = %v, want an empty answer", err)
	}
}
