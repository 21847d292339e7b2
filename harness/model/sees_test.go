package model_test

import (
	"slices"
	"testing"

	"github.com/lorimer-dev/lorimer/harness/model"
)

func TestSees(t *testing.T) { // R-HARN-32
	types := []string{"image/png", "image/jpeg", "image/gif", "image/webp", "image/svg+xml", "application/pdf"}
	for _, tt := range []struct {
		d    model.Descriptor
		want []string
	}{
		{model.Descriptor{Kind: "anthropic"}, nil},
		{model.Descriptor{Kind: "anthropic", Images: true}, types[:4]},
		{model.Descriptor{Kind: "gemini", Images: true}, []string{"image/png", "image/jpeg", "image/webp"}},
	} {
		var got []string
		for _, mime := range types {
			if tt.d.Sees(mime) {
				got = append(got, mime)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%+v sees %q, want %q", tt.d, got, tt.want)
		}
	}
}
