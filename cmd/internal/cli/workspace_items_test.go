package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/place"
	"github.com/lorimer-dev/lorimer/harness/store/memory"
)

// A grabbed document is taken out of the workspace by somebody else just after it came.
type grabbed struct{ *memory.Places }

func (g grabbed) AddItem(ctx context.Context, id, key string, e place.ItemEdit) error {
	return errors.Join(g.Places.AddItem(ctx, id, key, e), g.DropItem(ctx, id, key))
}

// A document that is gone is not taken for a workspace that is.
func TestADocumentThatGoesMeanwhile(t *testing.T) {
	all := grabbed{memory.NewPlaces(nil)}
	file := filepath.Join(t.TempDir(), "x.txt")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	add := func() error {
		_, err := addition{}.add(t.Context(), Process{}, all, "w", file)
		return err
	}
	if missing, ok := errors.AsType[*harness.MissingError](add()); !ok || missing.What != "workspace" || missing.ID != "w" {
		t.Errorf("without the workspace: error = %v", missing)
	}
	if err := all.AddWorkspace(t.Context(), place.Workspace{ID: "w", Title: "w"}); err != nil {
		t.Fatal(err)
	}
	if err := add(); err == nil || !strings.HasPrefix(err.Error(), `there is no "document:`) || !strings.Contains(err.Error(), `in the workspace "w"; `) {
		t.Errorf("error = %v, want that the document is not there", err)
	}
}
