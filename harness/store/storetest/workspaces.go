package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/place"
)

func testWorkspaces(t *testing.T, open func(*testing.T) place.Places) {
	t.Run("a workspace comes back as it was", func(t *testing.T) {
		p := open(t)
		want := place.Workspace{ID: "a", Title: "Ä | {{b}} 😀", Description: "first\nsecond", Documents: 7, Created: time.Unix(1, 0)}
		if err := p.AddWorkspace(t.Context(), want); err != nil {
			t.Fatal(err)
		}
		want.Documents = 0
		got := workspace(t, p, "a")
		if diff := cmp.Diff(want, got, noTimes); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if !got.Created.Equal(got.Updated) || got.Created.Year() != 2023 || got.Created.Location() != time.UTC {
			t.Errorf("created %v, updated %v, want the time of the store in UTC", got.Created, got.Updated)
		}
		if err := p.AddWorkspace(t.Context(), want); !errors.Is(err, place.ErrTaken) {
			t.Errorf("added twice: error = %v, want ErrTaken", err)
		}
	})
	t.Run("the most recently changed comes first", func(t *testing.T) { testRecent(t, open(t)) })
	t.Run("items stay in their order", func(t *testing.T) { testItems(t, open(t)) })
	t.Run("the name of an item is its own", func(t *testing.T) { testItemNames(t, open(t)) })
	t.Run("a summary has the first of each kind", func(t *testing.T) { testSummary(t, open(t)) })
	t.Run("an edit leaves what it does not name", func(t *testing.T) { testEdits(t, open(t)) })
	t.Run("edits at the same time all count", func(t *testing.T) { testEditsAtOnce(t, open(t)) })
	t.Run("an edited workspace keeps its items", func(t *testing.T) {
		p := open(t)
		addWorkspace(t, p, "a")
		addItem(t, p, "a", keep(t, p, "x").Key, place.ItemEdit{})
		before := workspace(t, p, "a")
		if err := p.EditWorkspace(t.Context(), "a", place.WorkspaceEdit{Title: new("new"), Description: new("of it")}); err != nil {
			t.Fatal(err)
		}
		got := workspace(t, p, "a")
		want := place.Workspace{ID: "a", Title: "new", Description: "of it", Documents: 1}
		if diff := cmp.Diff(want, got, noTimes); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if !got.Created.Equal(before.Created) || !got.Updated.After(before.Updated) {
			t.Errorf("created %v, updated %v; want %v and later", got.Created, got.Updated, before.Created)
		}
	})
	t.Run("a deleted workspace takes its items along", func(t *testing.T) {
		p := open(t)
		addWorkspace(t, p, "a")
		addWorkspace(t, p, "b")
		key := keep(t, p, "x").Key
		addItem(t, p, "a", key, place.ItemEdit{})
		addItem(t, p, "b", key, place.ItemEdit{})
		if err := p.DeleteWorkspace(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		if content, err := p.Content(t.Context(), key); err != nil || string(content) != "x" {
			t.Errorf("Content = %q (%v), want it kept for the other workspace", content, err)
		}
		addWorkspace(t, p, "a")
		if got := items(t, p, "a"); len(got) != 0 {
			t.Errorf("one of the same name has the items %+v", got)
		}
	})
	t.Run("what is not there is ErrNone", func(t *testing.T) { testNoWorkspace(t, open(t)) })
	t.Run("what is refused leaves nothing", func(t *testing.T) {
		p := open(t)
		for _, bad := range []place.Workspace{
			{ID: "a"}, {ID: "A", Title: "x"}, {ID: "a", Title: "two\nlines"}, {ID: "a", Title: strings.Repeat("x", place.MaxName+1)},
			{ID: "a", Title: "x", Description: strings.Repeat("x", place.MaxDescription+1)}, {ID: "a", Title: "x", Description: "\xff"},
		} {
			if _, ok := errors.AsType[*place.InvalidError](p.AddWorkspace(t.Context(), bad)); !ok {
				t.Errorf("AddWorkspace(%.100v) is no InvalidError", bad)
			}
		}
		addWorkspace(t, p, "a")
		key := keep(t, p, "x").Key
		for name, err := range map[string]error{
			"an empty title":           p.EditWorkspace(t.Context(), "a", place.WorkspaceEdit{Title: new("")}),
			"a description of no text": p.EditWorkspace(t.Context(), "a", place.WorkspaceEdit{Description: new("\xff")}),
			"a collection of lines":    p.AddItem(t.Context(), "a", key, place.ItemEdit{Collection: new("two\nlines")}),
			"another one":              p.EditItem(t.Context(), "a", key, place.ItemEdit{Collection: new("two\nlines")}),
		} {
			if _, ok := errors.AsType[*place.InvalidError](err); !ok {
				t.Errorf("%s: error = %v, want an InvalidError", name, err)
			}
		}
		if all, err := p.Workspaces(t.Context(), 0); err != nil || len(all) != 1 || all[0].Documents != 0 {
			t.Errorf("workspaces %+v (%v), want one without documents", all, err)
		}
	})
	t.Run("items are added by many at once", func(t *testing.T) {
		const many = 8
		p := open(t)
		addWorkspace(t, p, "a")
		var wg sync.WaitGroup
		for i := range many {
			wg.Go(func() {
				d, err := p.Keep(t.Context(), fmt.Sprint(i), "", []byte(fmt.Sprint(i%4)))
				if err == nil {
					err = p.AddItem(t.Context(), "a", d.Key, place.ItemEdit{})
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if got := items(t, p, "a"); len(got) != 4 || workspace(t, p, "a").Documents != 4 {
			t.Errorf("items %+v, want four", got)
		}
	})
}

func addWorkspace(t *testing.T, p place.Workspaces, id string) {
	t.Helper()
	if err := p.AddWorkspace(t.Context(), place.Workspace{ID: id, Title: "title of " + id}); err != nil {
		t.Fatal(err)
	}
}

func workspace(t *testing.T, p place.Workspaces, id string) place.Workspace {
	t.Helper()
	w, err := p.Workspace(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func addItem(t *testing.T, p place.Workspaces, id, key string, e place.ItemEdit) {
	t.Helper()
	if err := p.AddItem(t.Context(), id, key, e); err != nil {
		t.Fatal(err)
	}
}

func editItem(t *testing.T, p place.Workspaces, id, key string, e place.ItemEdit) {
	t.Helper()
	if err := p.EditItem(t.Context(), id, key, e); err != nil {
		t.Fatal(err)
	}
}

func items(t *testing.T, p place.Workspaces, id string) []place.Item {
	t.Helper()
	all, err := p.Items(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range all {
		if got, err := p.Item(t.Context(), id, i.Key); err != nil || got != i {
			t.Errorf("Item = %+v (%v), want %+v as in the list", got, err, i)
		}
	}
	return all
}

func testRecent(t *testing.T, p place.Places) {
	check := func(what string, limit int, want ...string) {
		t.Helper()
		all, err := p.Workspaces(t.Context(), limit)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, w := range all {
			got = append(got, w.ID)
			if diff := cmp.Diff(workspace(t, p, w.ID), w); diff != "" {
				t.Errorf("in the list, %s (-alone +in the list):\n%s", what, diff)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: Workspaces(%d) = %q, want %q", what, limit, got, want)
		}
	}
	check("none", 0)
	for _, id := range []string{"a", "b", "c", "d"} {
		addWorkspace(t, p, id)
	}
	check("as they were added", 0, "d", "c", "b", "a")
	if err := p.EditWorkspace(t.Context(), "b", place.WorkspaceEdit{Title: new("new")}); err != nil {
		t.Fatal(err)
	}
	check("one was edited", 0, "b", "d", "c", "a")
	key := keep(t, p, "x").Key
	addItem(t, p, "a", key, place.ItemEdit{})
	check("a document came", 0, "a", "b", "d", "c")
	addItem(t, p, "c", key, place.ItemEdit{})
	editItem(t, p, "a", key, place.ItemEdit{Pinned: new(true)})
	check("a document was pinned", 0, "a", "c", "b", "d")
	if err := p.DropItem(t.Context(), "c", key); err != nil {
		t.Fatal(err)
	}
	check("a document went", 0, "c", "a", "b", "d")
	if err := p.DropItem(t.Context(), "b", key); !errors.Is(err, place.ErrNone) {
		t.Fatalf("error = %v, want ErrNone", err)
	}
	if err := p.AddItem(t.Context(), "d", "document:0000000000000000", place.ItemEdit{}); !errors.Is(err, place.ErrNone) {
		t.Fatalf("error = %v, want ErrNone", err)
	}
	check("what failed changes nothing", 0, "c", "a", "b", "d")
	check("some", 2, "c", "a")
	check("more than there are", 9, "c", "a", "b", "d")
}

func testItems(t *testing.T, p place.Places) {
	addWorkspace(t, p, "a")
	var want []place.Item
	for _, name := range []string{"c", "a", "b"} {
		d, err := p.Keep(t.Context(), name, "text/"+name, []byte(strings.Repeat("x", len(want))))
		if err != nil {
			t.Fatal(err)
		}
		i := place.Item{Document: d, Collection: "part " + name, Pinned: name == "a"}
		addItem(t, p, "a", d.Key, place.ItemEdit{Collection: &i.Collection, Pinned: &i.Pinned})
		want = append(want, i)
	}
	got := items(t, p, "a")
	if diff := cmp.Diff(want, got, noTimes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !got[0].Added.Before(got[1].Added) || got[0].Added.Location() != time.UTC || !workspace(t, p, "a").Updated.Equal(got[2].Added) {
		t.Errorf("added at %v and %v, updated at %v", got[0].Added, got[1].Added, workspace(t, p, "a").Updated)
	}
	addItem(t, p, "a", want[0].Key, place.ItemEdit{Name: "new", Collection: new(""), Pinned: new(true)})
	want[0].Collection, want[0].Pinned, want[0].Name = "", true, "new"
	added := got[0].Added
	if diff := cmp.Diff(want, items(t, p, "a"), noTimes); diff != "" {
		t.Errorf("one changed (-want +got):\n%s", diff)
	}
	if got := items(t, p, "a")[0].Added; !got.Equal(added) {
		t.Errorf("a changed item was added at %v, want %v as before", got, added)
	}
	if err := p.DropItem(t.Context(), "a", want[1].Key); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Keep(t.Context(), want[1].Name, want[1].Type, []byte("x")); err != nil { // it may have gone with the item
		t.Fatal(err)
	}
	addItem(t, p, "a", want[1].Key, place.ItemEdit{Collection: &want[1].Collection, Pinned: new(true)}) // comes again, last
	want[1], want[2] = want[2], want[1]
	if diff := cmp.Diff(want, items(t, p, "a"), noTimes); diff != "" {
		t.Errorf("one came again (-want +got):\n%s", diff)
	}
}

func testSummary(t *testing.T, p place.Places) {
	allCollections, allPinned := 0, 0
	check := func(what string, limit int, collections, pinned []string) {
		t.Helper()
		got, err := p.Summary(t.Context(), "a", limit)
		if err != nil {
			t.Fatal(err)
		}
		want := place.Summary{
			Workspace: workspace(t, p, "a"), Collections: collections, AllCollections: allCollections, AllPinned: allPinned,
		}
		for _, i := range items(t, p, "a") {
			if slices.Contains(pinned, i.Name) {
				want.Pinned = append(want.Pinned, i)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || len(got.Pinned) != len(pinned) {
			t.Errorf("%s: Summary to %d (-want +got):\n%s", what, limit, diff)
		}
	}
	addWorkspace(t, p, "a")
	addWorkspace(t, p, "b")
	check("nothing in it", 3, nil, nil)
	for n, i := range []place.Item{
		{Collection: "b", Pinned: true}, {}, {Collection: "Z"}, {Collection: "ä", Pinned: true}, {Collection: "b"}, {Collection: "a", Pinned: true},
	} {
		d, err := p.Keep(t.Context(), fmt.Sprint(n), "text/plain", fmt.Append(nil, n))
		if err != nil {
			t.Fatal(err)
		}
		addItem(t, p, "a", d.Key, place.ItemEdit{Collection: &i.Collection, Pinned: &i.Pinned})
		addItem(t, p, "b", d.Key, place.ItemEdit{Collection: new(fmt.Sprint(n)), Pinned: new(true)})
	}
	allCollections, allPinned = 4, 3
	check("some", 2, []string{"Z", "a"}, []string{"0", "3"})
	check("all", 4, []string{"Z", "a", "b", "ä"}, []string{"0", "3", "5"})
	for _, i := range items(t, p, "a") {
		editItem(t, p, "a", i.Key, place.ItemEdit{Collection: new(""), Pinned: new(false)})
	}
	allCollections, allPinned = 0, 0
	check("no collection, and nothing pinned", 3, nil, nil)
}

func testEdits(t *testing.T, p place.Places) {
	if err := p.AddWorkspace(t.Context(), place.Workspace{ID: "a", Title: "title", Description: "description"}); err != nil {
		t.Fatal(err)
	}
	said := func(e place.WorkspaceEdit, title, description string) {
		t.Helper()
		before := workspace(t, p, "a")
		if err := p.EditWorkspace(t.Context(), "a", e); err != nil {
			t.Fatal(err)
		}
		got := workspace(t, p, "a")
		if got.Title != title || got.Description != description || !got.Updated.After(before.Updated) {
			t.Errorf("after %+v: %+v, want the title %q and the description %q", e, got, title, description)
		}
	}
	said(place.WorkspaceEdit{}, "title", "description")
	said(place.WorkspaceEdit{Title: new("new")}, "new", "description")
	said(place.WorkspaceEdit{Description: new("")}, "new", "")

	key := keep(t, p, "x").Key
	want := place.Item{Document: place.Document{Key: key, Name: "name of x", Type: "text/plain", Size: 1}}
	steps := []struct {
		change func(ctx context.Context, id, key string, e place.ItemEdit) error
		e      place.ItemEdit
		want   func()
	}{
		{p.AddItem, place.ItemEdit{}, func() {}},
		{p.EditItem, place.ItemEdit{}, func() {}},
		{p.EditItem, place.ItemEdit{Pinned: new(true)}, func() { want.Pinned = true }},
		{p.AddItem, place.ItemEdit{}, func() {}},
		{p.AddItem, place.ItemEdit{Name: "a", Collection: new("c")}, func() { want.Name, want.Collection = "a", "c" }},
		{p.EditItem, place.ItemEdit{Name: "b"}, func() { want.Name = "b" }},
		{p.EditItem, place.ItemEdit{Collection: new("")}, func() { want.Collection = "" }},
		{p.AddItem, place.ItemEdit{Pinned: new(false)}, func() { want.Pinned = false }},
	}
	for n, s := range steps {
		if err := s.change(t.Context(), "a", key, s.e); err != nil {
			t.Fatal(err)
		}
		s.want()
		if diff := cmp.Diff([]place.Item{want}, items(t, p, "a"), noTimes); diff != "" {
			t.Errorf("step %d (-want +got):\n%s", n, diff)
		}
	}
}

// testEditsAtOnce has many change other things of one workspace and one item.
func testEditsAtOnce(t *testing.T, p place.Places) {
	addWorkspace(t, p, "a")
	key := keep(t, p, "x").Key
	var wg sync.WaitGroup
	for _, edit := range []func() error{
		func() error { return p.EditWorkspace(t.Context(), "a", place.WorkspaceEdit{Title: new("new")}) },
		func() error {
			return p.EditWorkspace(t.Context(), "a", place.WorkspaceEdit{Description: new("of it")})
		},
		func() error { return p.AddItem(t.Context(), "a", key, place.ItemEdit{Name: "a"}) },
		func() error { return p.AddItem(t.Context(), "a", key, place.ItemEdit{Collection: new("c")}) },
		func() error { return p.AddItem(t.Context(), "a", key, place.ItemEdit{Pinned: new(true)}) },
	} {
		wg.Go(func() {
			if err := edit(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := workspace(t, p, "a"); got.Title != "new" || got.Description != "of it" {
		t.Errorf("the workspace is %+v", got)
	}
	got := items(t, p, "a")
	if len(got) != 1 || got[0].Name != "a" || got[0].Collection != "c" || !got[0].Pinned {
		t.Errorf("the items are %+v, want one with all that was said of it", got)
	}
}

// testItemNames keeps one content under other names.
func testItemNames(t *testing.T, p place.Places) {
	addWorkspace(t, p, "a")
	key := keep(t, p, "x").Key
	addItem(t, p, "a", key, place.ItemEdit{})
	if _, err := p.Keep(t.Context(), "later", "text/later", []byte("x")); err != nil {
		t.Fatal(err)
	}
	got := items(t, p, "a")[0]
	if got.Name != "name of x" || got.Type != "text/later" || got.Size != 1 {
		t.Errorf("the item is %+v, want the name that the document had and the type that it has", got)
	}
	editItem(t, p, "a", key, place.ItemEdit{Name: "two\nlines"})
	if got := items(t, p, "a")[0].Name; strings.Contains(got, "\n") || !strings.HasPrefix(got, "two") {
		t.Errorf("the item has the name %q, want it on one line", got)
	}
}

func testNoWorkspace(t *testing.T, p place.Places) {
	addWorkspace(t, p, "a")
	key := keep(t, p, "x").Key
	for _, id := range []string{"nope", "", "no\x00pe", "\xff", "' OR 1=1 --"} {
		_, missing := p.Workspace(t.Context(), id)
		_, noItems := p.Items(t.Context(), id)
		_, noItem := p.Item(t.Context(), id, key)
		_, noSummary := p.Summary(t.Context(), id, 1)
		for name, err := range map[string]error{
			"Workspace": missing, "Items": noItems, "Item": noItem, "Summary": noSummary, "DeleteWorkspace": p.DeleteWorkspace(t.Context(), id),
			"EditWorkspace": p.EditWorkspace(t.Context(), id, place.WorkspaceEdit{Title: new("x")}),
			"AddItem":       p.AddItem(t.Context(), id, key, place.ItemEdit{}), "EditItem": p.EditItem(t.Context(), id, key, place.ItemEdit{}), "DropItem": p.DropItem(t.Context(), id, key),
		} {
			if !errors.Is(err, place.ErrNone) || errors.Is(err, place.ErrNoDocument) {
				t.Errorf("%s(%q): error = %v, want ErrNone of the workspace", name, id, err)
			}
		}
	}
	for _, key := range []string{"nope", "", "\x00", "\xff", "document:", key} {
		_, none := p.Item(t.Context(), "a", key)
		for name, err := range map[string]error{
			"Item": none, "EditItem": p.EditItem(t.Context(), "a", key, place.ItemEdit{Pinned: new(true)}), "DropItem": p.DropItem(t.Context(), "a", key),
		} {
			if !errors.Is(err, place.ErrNoDocument) || !errors.Is(err, place.ErrNone) {
				t.Errorf("%s(%q): error = %v, want ErrNoDocument", name, key, err)
			}
		}
	}
	if err := p.AddItem(t.Context(), "a", "document:0000000000000000", place.ItemEdit{}); !errors.Is(err, place.ErrNoDocument) {
		t.Errorf("AddItem of what was not kept: error = %v, want ErrNoDocument", err)
	}
}
