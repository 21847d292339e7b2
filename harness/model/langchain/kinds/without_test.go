//go:build !bedrock && !cohere

package kinds_test

import (
	"errors"
	"testing"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/langchain/kinds"
)

func TestBuiltWithout(t *testing.T) {
	for _, name := range []string{"bedrock", "cohere"} {
		_, err := kinds.Open(name, model.Descriptor{ID: "m1"}, kinds.Options{Key: "k"})
		want := "this program is built without langchain/" + name + "; build it with: go build -tags " + name + " ./cmd/lorimer"
		if e, ok := errors.AsType[*model.Error](err); !ok || e.Kind != model.Unavailable || e.Message != want {
			t.Errorf("Open(%s) = %v, want %q", name, err, want)
		}
	}
}
