package storetest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lorimer-dev/lorimer/harness/place"
)

// OpenPlaces returns places with nothing in them, which take the time of a change
// from now.
type OpenPlaces func(t *testing.T, now func() time.Time) place.Places

// TestPlaces checks that the places returned by open keep the contract of
// [place.Places].
func TestPlaces(t *testing.T, open OpenPlaces) {
	fresh := func(t *testing.T) place.Places { return open(t, clock()) }
	t.Run("projects", func(t *testing.T) { testProjects(t, fresh) })
	t.Run("workspaces", func(t *testing.T) { testWorkspaces(t, fresh) })
	t.Run("documents", func(t *testing.T) { testDocuments(t, fresh) })
	t.Run("whoever has given up gets no answer", func(t *testing.T) { testGivenUp(t, fresh(t)) })
}

// clock returns a clock whose times are all different, a second apart.
func clock() func() time.Time {
	var n atomic.Int64
	return func() time.Time { return time.Unix(1_700_000_000+n.Add(1), 123_456_789) }
}

// root returns an absolute path.
func root(elements ...string) string {
	if runtime.GOOS == "windows" {
		return filepath.Join(append([]string{`C:\`}, elements...)...)
	}
	return filepath.Join(append([]string{"/"}, elements...)...)
}

func testProjects(t *testing.T, open func(*testing.T) place.Places) {
	t.Run("a project comes back as it was", func(t *testing.T) { testProject(t, open(t)) })
	t.Run("a project is replaced", func(t *testing.T) { testSetProject(t, open(t)) })
	t.Run("projects come by name", func(t *testing.T) {
		p := open(t)
		for id, name := range map[string]string{"d": "delta", "a": "Alpha", "b2": "Beta", "b1": "beta", "c": "Charlie"} {
			addProject(t, p, place.Project{ID: id, Name: name, Dirs: []string{root(id), root("x", id)}})
		}
		all, err := p.Projects(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, project := range all {
			got = append(got, project.ID)
			if len(project.Dirs) != 2 {
				t.Errorf("project %s has the directories %q", project.ID, project.Dirs)
			}
		}
		if want := []string{"a", "b1", "b2", "c", "d"}; !slices.Equal(got, want) {
			t.Errorf("Projects = %q, want %q", got, want)
		}
	})
	t.Run("a deleted project is gone", func(t *testing.T) {
		p := open(t)
		addProject(t, p, place.Project{ID: "a", Name: "A", Dirs: []string{root("a")}})
		if err := p.DeleteProject(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		if got, err := p.ProjectOf(t.Context(), root("a")); !errors.Is(err, place.ErrNone) {
			t.Errorf("ProjectOf = %+v (%v), want ErrNone", got, err)
		}
		addProject(t, p, place.Project{ID: "b", Name: "A", Dirs: []string{root("a")}}) // its directory is free
	})
	t.Run("what is not there is ErrNone", func(t *testing.T) {
		p := open(t)
		for _, id := range []string{"nope", "", "no\x00pe", "\xff", "' OR 1=1 --", strings.Repeat("x", 1000)} {
			_, missing := p.Project(t.Context(), id)
			for name, err := range map[string]error{"Project": missing, "DeleteProject": p.DeleteProject(t.Context(), id)} {
				if !errors.Is(err, place.ErrNone) {
					t.Errorf("%s(%q): error = %v, want ErrNone", name, id, err)
				}
			}
		}
		if err := p.SetProject(t.Context(), place.Project{ID: "nope", Name: "x"}); !errors.Is(err, place.ErrNone) {
			t.Errorf("SetProject: error = %v, want ErrNone", err)
		}
		if all, err := p.Projects(t.Context()); err != nil || len(all) != 0 {
			t.Errorf("Projects = %+v (%v), want none", all, err)
		}
	})
	t.Run("a directory belongs to the project that is nearest", func(t *testing.T) { testProjectOf(t, open(t)) })
	t.Run("a directory is of one project", func(t *testing.T) { testDirTaken(t, open(t)) })
	t.Run("of many who want an id or a directory one gets it", func(t *testing.T) { testProjectRace(t, open(t)) })
	t.Run("what is refused leaves nothing", func(t *testing.T) {
		p := open(t)
		good := place.Project{ID: "a", Name: "A", Instructions: "as it was"}
		addProject(t, p, good)
		for _, bad := range []place.Project{
			{ID: "b"}, {ID: "B", Name: "b"}, {ID: "b", Name: "b", Dirs: []string{"relative"}},
			{ID: "b", Name: "b", Instructions: strings.Repeat("x", place.MaxInstructions+1)},
			{ID: "b", Name: "b", Instructions: "\x00"},
		} {
			if _, ok := errors.AsType[*place.InvalidError](p.AddProject(t.Context(), bad)); !ok {
				t.Errorf("AddProject(%.100v) is no InvalidError", bad)
			}
			bad.ID = strings.ReplaceAll(bad.ID, "b", "a")
			if _, ok := errors.AsType[*place.InvalidError](p.SetProject(t.Context(), bad)); !ok {
				t.Errorf("SetProject(%.100v) is no InvalidError", bad)
			}
		}
		all, err := p.Projects(t.Context())
		if diff := cmp.Diff([]place.Project{good}, all, noTimes); err != nil || diff != "" {
			t.Errorf("Projects (%v) (-want +got):\n%s", err, diff)
		}
	})
}

// noTimes leaves out what the store sets.
var noTimes = cmpopts.IgnoreTypes(time.Time{})

func addProject(t *testing.T, p place.Projects, project place.Project) {
	t.Helper()
	if err := p.AddProject(t.Context(), project); err != nil {
		t.Fatal(err)
	}
}

func testProject(t *testing.T, p place.Places) {
	want := place.Project{
		ID: "a-1", Name: "Ärger's {{name}} \u202e 😀", Dirs: []string{root("w", "b"), root("w", "a"), root("odd \xff\n name")},
		Instructions: "one\n\ttwo\r\n" + strings.Repeat("{{x}} ", 1000) + "\u2028",
		Created:      time.Unix(1, 0), Updated: time.Unix(2, 0),
	}
	addProject(t, p, want)
	for name, read := range map[string]func() (place.Project, error){
		"Project":   func() (place.Project, error) { return p.Project(t.Context(), "a-1") },
		"ProjectOf": func() (place.Project, error) { return p.ProjectOf(t.Context(), root("odd \xff\n name", "x")) },
		"Projects": func() (place.Project, error) {
			all, err := p.Projects(t.Context())
			if len(all) != 1 {
				return place.Project{}, fmt.Errorf("%d projects (%w)", len(all), err)
			}
			return all[0], err
		},
	} {
		got, err := read()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, got, noTimes); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if !got.Created.Equal(got.Updated) || got.Created.Year() != 2023 || got.Created.Location() != time.UTC || got.Created.Nanosecond() != 123_456_000 {
			t.Errorf("%s: created %v, updated %v, want the time of the store in UTC to the microsecond", name, got.Created, got.Updated)
		}
	}
	if err := p.AddProject(t.Context(), place.Project{ID: "a-1", Name: "other"}); !errors.Is(err, place.ErrTaken) {
		t.Errorf("added twice: error = %v, want ErrTaken", err)
	}
}

func testSetProject(t *testing.T, p place.Places) {
	addProject(t, p, place.Project{ID: "a", Name: "A", Dirs: []string{root("a"), root("b")}, Instructions: "old"})
	before, err := p.Project(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	want := place.Project{ID: "a", Name: "New", Dirs: []string{root("c"), root("a")}}
	if err := p.SetProject(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	want.Dirs[0] = "changed by the caller"
	got, err := p.Project(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	want.Dirs[0] = root("c")
	if diff := cmp.Diff(want, got, noTimes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !got.Created.Equal(before.Created) || !got.Updated.After(before.Updated) {
		t.Errorf("created %v, updated %v; want %v and later", got.Created, got.Updated, before.Created)
	}
	before.Name = "Of what was read before"
	if err := p.SetProject(t.Context(), before); !errors.Is(err, place.ErrChanged) {
		t.Errorf("after a change in between: error = %v, want ErrChanged", err)
	}
	got.Name = "Of what is there"
	if err := p.SetProject(t.Context(), got); err != nil {
		t.Errorf("of what is there: %v", err)
	}
	if now, err := p.Project(t.Context(), "a"); err != nil || now.Name != got.Name {
		t.Errorf("Project = %+v (%v), want the name %q", now, err, got.Name)
	}
	if _, err := p.ProjectOf(t.Context(), root("b")); !errors.Is(err, place.ErrNone) {
		t.Errorf("a directory that it had: error = %v, want ErrNone", err)
	}
}

func testProjectOf(t *testing.T, p place.Places) {
	long := strings.Repeat(filepath.Join(root(strings.Repeat("n", 250))), 16) // longer than a key of an index
	addProject(t, p, place.Project{ID: "outer", Name: "o", Dirs: []string{root("a", "b"), root("Case")}})
	addProject(t, p, place.Project{ID: "inner", Name: "i", Dirs: []string{root("a", "b", "c", "d"), root("z")}})
	addProject(t, p, place.Project{ID: "beside", Name: "b", Dirs: []string{root("a", "bcd"), long, root("a", "b%_")}})
	tests := map[string]string{
		root("a", "b"): "outer", root("a", "b", "x", "y"): "outer", root("a", "b", "c"): "outer",
		root("a", "b", "c", "d"): "inner", root("a", "b", "c", "d", "e"): "inner", root("a", "b", "c", "dd"): "outer",
		root("a", "bc"): "", root("a", "bcd"): "beside", root("a"): "", root(): "",
		root("case"): "", root("Case"): "outer", root("b"): "", root("z", "..", "a", "b"): "outer",
		root("a", "b") + string(filepath.Separator): "outer",
		filepath.Join("a", "b"):                     "", "": "", root("a", "b\x00"): "", root("z", "\xff"): "inner",
		filepath.Join(long, "x"): "beside", root("a", "bxx"): "", root("a", "b%_", "q"): "beside",
	}
	for dir, want := range tests {
		got, err := p.ProjectOf(t.Context(), dir)
		if want == "" && !errors.Is(err, place.ErrNone) || want != "" && err != nil || got.ID != want {
			t.Errorf("ProjectOf(%.80q) = %q (%v), want %q", dir, got.ID, err, want)
		}
	}
	addProject(t, p, place.Project{ID: "all", Name: "all", Dirs: []string{root()}})
	if got, err := p.ProjectOf(t.Context(), root("somewhere")); err != nil || got.ID != "all" {
		t.Errorf("below the root: %q (%v), want all", got.ID, err)
	}
	if got, err := p.ProjectOf(t.Context(), root("z", "x")); err != nil || got.ID != "inner" {
		t.Errorf("with a project of the root: %q (%v), want inner", got.ID, err)
	}
}

func testDirTaken(t *testing.T, p place.Places) {
	addProject(t, p, place.Project{ID: "a", Name: "A", Dirs: []string{root("a")}})
	addProject(t, p, place.Project{ID: "b", Name: "B", Dirs: []string{root("b")}, Instructions: "as it was"})
	for name, err := range map[string]error{
		"AddProject": p.AddProject(t.Context(), place.Project{ID: "c", Name: "C", Dirs: []string{root("c"), root("a")}}),
		"SetProject": p.SetProject(t.Context(), place.Project{ID: "b", Name: "C", Dirs: []string{root("c"), root("a")}}),
	} {
		if _, ok := errors.AsType[*place.InvalidError](err); !ok || !strings.Contains(err.Error(), root("a")+" is of project a already") {
			t.Errorf("%s: error = %v, want one that names the directory and the project a", name, err)
		}
	}
	if _, err := p.Project(t.Context(), "c"); !errors.Is(err, place.ErrNone) {
		t.Errorf("what was refused is there (%v)", err)
	}
	got, err := p.Project(t.Context(), "b")
	if err != nil || got.Name != "B" || got.Instructions != "as it was" || !slices.Equal(got.Dirs, []string{root("b")}) {
		t.Errorf("after a refusal: %+v (%v), want it as it was", got, err)
	}
}

func testProjectRace(t *testing.T, p place.Places) {
	const many = 8
	var dirs []string // so many that those who take them meet
	for i := range 20 {
		dirs = append(dirs, root(fmt.Sprint("common", i)))
	}
	var made, placed atomic.Int64
	var wg sync.WaitGroup
	for i := range many {
		wg.Go(func() {
			switch err := p.AddProject(t.Context(), place.Project{ID: "one", Name: fmt.Sprint(i)}); {
			case err == nil:
				made.Add(1)
			case !errors.Is(err, place.ErrTaken):
				t.Errorf("error = %v, want ErrTaken", err)
			}
		})
		wg.Go(func() {
			dirs := append(slices.Clone(dirs), root(fmt.Sprint(i)))
			if i%2 == 0 {
				slices.Reverse(dirs)
			}
			err := p.AddProject(t.Context(), place.Project{ID: fmt.Sprint("p", i), Name: "p", Dirs: dirs})
			if err == nil {
				placed.Add(1)
			} else if _, ok := errors.AsType[*place.InvalidError](err); !ok {
				t.Errorf("error = %v, want that the directory is taken", err)
			}
		})
	}
	wg.Wait()
	if made.Load() != 1 || placed.Load() != 1 {
		t.Errorf("%d got the id and %d the directory, want one each", made.Load(), placed.Load())
	}
}

func testGivenUp(t *testing.T, p place.Places) {
	addProject(t, p, place.Project{ID: "a", Name: "A", Dirs: []string{root("a")}})
	addWorkspace(t, p, "w")
	key := keep(t, p, "kept").Key
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	errs := map[string]error{
		"AddProject": p.AddProject(ctx, place.Project{ID: "b", Name: "B"}), "SetProject": p.SetProject(ctx, place.Project{ID: "a", Name: "B"}),
		"DeleteProject": p.DeleteProject(ctx, "a"), "AddWorkspace": p.AddWorkspace(ctx, place.Workspace{ID: "x", Title: "X"}),
		"EditWorkspace": p.EditWorkspace(ctx, "w", place.WorkspaceEdit{Title: new("X")}), "DeleteWorkspace": p.DeleteWorkspace(ctx, "w"),
		"AddItem": p.AddItem(ctx, "w", key, place.ItemEdit{}), "EditItem": p.EditItem(ctx, "w", key, place.ItemEdit{}), "DropItem": p.DropItem(ctx, "w", key),
	}
	_, errs["Project"] = p.Project(ctx, "a")
	_, errs["Projects"] = p.Projects(ctx)
	_, errs["ProjectOf"] = p.ProjectOf(ctx, root("a"))
	_, errs["Workspace"] = p.Workspace(ctx, "w")
	_, errs["Workspaces"] = p.Workspaces(ctx, 0)
	_, errs["Summary"] = p.Summary(ctx, "w", 1)
	_, errs["Item"] = p.Item(ctx, "w", key)
	_, errs["Items"] = p.Items(ctx, "w")
	_, errs["Keep"] = p.Keep(ctx, "x", "", []byte("not kept"))
	_, errs["Document"] = p.Document(ctx, key)
	_, errs["Content"] = p.Content(ctx, key)
	for name, err := range errs {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error = %v, want that of the context", name, err)
		}
	}
	if got, err := p.Project(t.Context(), "a"); err != nil || got.Name != "A" {
		t.Errorf("the project is %+v (%v), want it as it was", got, err)
	}
	if items, err := p.Items(t.Context(), "w"); err != nil || len(items) != 0 {
		t.Errorf("items %+v (%v), want none", items, err)
	}
}
