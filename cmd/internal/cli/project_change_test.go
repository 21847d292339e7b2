package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lorimer-dev/lorimer/harness/place"
	"github.com/lorimer-dev/lorimer/harness/store/memory"
)

// Edits of one project at the same time all count.
func TestEditsAtOnce(t *testing.T) {
	all := memory.NewPlaces(nil)
	if err := all.AddProject(t.Context(), place.Project{ID: "p", Name: "p"}); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var want []string
	for i := range maxEdits {
		dir := t.TempDir()
		want = append(want, dir)
		e := projectEdit{add: []string{dir}}
		if i == 0 {
			e.instructions = new("Be exact.")
		}
		wg.Go(func() {
			if _, err := editProject(t.Context(), all, "p", e); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	p, err := all.Project(t.Context(), "p")
	slices.Sort(p.Dirs)
	slices.Sort(want)
	if err != nil || !slices.Equal(p.Dirs, want) || p.Instructions != "Be exact." {
		t.Errorf("project = %+v (%v), want the directories %q and the instructions", p, err, want)
	}
}

// A busy project has another name each time somebody looks at it.
type busy struct {
	*memory.Places
	n int
}

func (b *busy) SetProject(ctx context.Context, p place.Project) error {
	b.n++
	other := place.Project{ID: p.ID, Name: fmt.Sprint("name ", b.n)}
	if err := b.Places.SetProject(ctx, other); err != nil {
		return err
	}
	return b.Places.SetProject(ctx, p)
}

func TestAnEditGivesUp(t *testing.T) {
	all := &busy{Places: memory.NewPlaces(nil)}
	if err := all.AddProject(t.Context(), place.Project{ID: "p", Name: "p"}); err != nil {
		t.Fatal(err)
	}
	_, err := editProject(t.Context(), all, "p", projectEdit{name: new("mine")})
	if err == nil || !strings.Contains(err.Error(), "try it again") || all.n != maxEdits {
		t.Errorf("error = %v after %d attempts, want one that says what to do after %d", err, all.n, maxEdits)
	}
}
