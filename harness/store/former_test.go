package store_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/place"
	"github.com/lorimer-dev/lorimer/harness/store"
	"github.com/lorimer-dev/lorimer/harness/thread"
)

// TestFormerDatabase: one of the first schema keeps its threads, and takes places.
func TestFormerDatabase(t *testing.T) {
	both(t, func(t *testing.T, where string) {
		dir := private(t)
		former := store.OpenFormer(t, where, 1)
		bodies := []thread.Body{
			said(), thread.Assistant{MessageID: "m", Parts: []thread.Part{{Text: "an answer"}}}, thread.Title{Text: "apple", User: true},
			thread.Options{Values: map[string]string{"mode": "auto"}}, thread.Retried{User: 2},
		}
		for _, id := range []string{"a", "b"} {
			if err := former.Create(t.Context(), id, thread.Created{Cwd: "/w", Roots: []string{"/x"}}, bodies...); err != nil {
				t.Fatal(err)
			}
		}
		read := func(s *store.Store) (all []any) {
			t.Helper()
			for _, id := range []string{"a", "b"} {
				info, err := s.Info(t.Context(), id)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, info)
				if err := s.Read(t.Context(), id, 0, func(e thread.Entry) error { all = append(all, e); return nil }); err != nil {
					t.Fatal(err)
				}
			}
			hits, err := s.Search(t.Context(), thread.Search{Words: "apple"})
			if err != nil || len(hits) != 2 {
				t.Errorf("%d hits (%v), want 2", len(hits), err)
			}
			return append(all, hits[0].Snippet)
		}
		before := read(former)
		if err := former.Close(); err != nil {
			t.Fatal(err)
		}
		known := store.Schema(t)
		look := func(schema int) {
			t.Helper()
			r, err := store.Look(t.Context(), where, store.Options{Files: dir})
			want := store.Report{Schema: schema, Known: known, Threads: 2}
			if schema == known {
				want.Documents = 1
			}
			if diff := cmp.Diff(want, r); err != nil || diff != "" {
				t.Errorf("Look (%v) (-want +got):\n%s", err, diff)
			}
		}
		look(1)
		s := openWith(t, where, store.Options{Files: dir})
		if diff := cmp.Diff(before, read(s)); diff != "" {
			t.Errorf("the threads have changed (-before +after):\n%s", diff)
		}
		d := keep(t, s, "x")
		err := errors.Join(
			s.AddProject(t.Context(), place.Project{ID: "p", Name: "p"}), s.AddWorkspace(t.Context(), place.Workspace{ID: "w", Title: "w"}),
			s.AddItem(t.Context(), "w", d.Key, place.ItemEdit{}),
		)
		if _, failed := s.Append(t.Context(), "a", "", thread.Bound{Project: "p", Workspace: "w"}, said(d.Key)); errors.Join(err, failed) != nil {
			t.Fatal(err, failed)
		}
		look(known)
		info, err := s.Info(t.Context(), "a")
		if err != nil || info.Project != "p" || info.Bound != "w" {
			t.Errorf("Info = %+v (%v), want the project and the workspace", info, err)
		}
		if err := s.Delete(t.Context(), "b"); err != nil {
			t.Error(err)
		}
	})
}

// TestDatabaseOfTheSecondSchema: what its workspaces hold stays, and a content to which
// nothing refers is found.
func TestDatabaseOfTheSecondSchema(t *testing.T) {
	both(t, func(t *testing.T, where string) {
		former := store.OpenFormer(t, where, 2)
		if err := former.AddWorkspace(t.Context(), place.Workspace{ID: "w", Title: "w"}); err != nil {
			t.Fatal(err)
		}
		store.FillWorkspace(t, former, "w", 5, 2)
		before, err := former.Items(t.Context(), "w")
		if err := errors.Join(err, former.Close()); err != nil {
			t.Fatal(err)
		}
		alter(t, where, "INSERT INTO documents (key, hash, size, name, type, kept) VALUES ('document:x', '', 1, 'x', '', 0)")
		s := openWith(t, where, store.Options{Files: private(t)})
		after, err := s.Items(t.Context(), "w")
		if diff := cmp.Diff(before, after); err != nil || diff != "" || len(after) != 5 {
			t.Errorf("%d items (%v) (-before +after):\n%s", len(after), err, diff)
		}
		sum, err := s.Summary(t.Context(), "w", 1)
		if err != nil || sum.AllCollections != 2 || sum.AllPinned != 1 {
			t.Errorf("Summary = %+v (%v), want 2 collections and 1 pinned", sum, err)
		}
		if n := store.Loose(t, s); n != 1 {
			t.Errorf("%d contents to look at, want the one that nothing refers to", n)
		}
	})
}
