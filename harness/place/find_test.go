package place_test

import (
	"context"
	"errors"
	"testing"

	"github.com/lorimer-dev/lorimer/harness/place"
	"github.com/lorimer-dev/lorimer/harness/store/memory"
)

// An id counts before a name, which another project may have.
func TestFind(t *testing.T) {
	all := memory.NewPlaces(nil)
	for _, p := range []place.Project{{ID: "work", Name: "The work"}, {ID: "other", Name: "work"}} {
		if err := all.AddProject(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	for ref, want := range map[string]string{"work": "work", "other": "other", "The work": "work", "the work": "", "": ""} {
		got, err := place.Find(t.Context(), all, ref)
		if got.ID != want || errors.Is(err, place.ErrNone) != (want == "") {
			t.Errorf("Find(%q) = %q (%v), want %q", ref, got.ID, err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := place.Find(ctx, all, "work"); !errors.Is(err, context.Canceled) {
		t.Errorf("after giving up: error = %v, want that of the context", err)
	}
}
