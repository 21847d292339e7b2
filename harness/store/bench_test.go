package store_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/place"
	"github.com/lorimer-dev/lorimer/harness/store"
	"github.com/lorimer-dev/lorimer/harness/store/storetest"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/tools"
)

// each runs f over each database that there is.
func each(b *testing.B, f func(b *testing.B, s *store.Store)) {
	b.Run("sqlite", func(b *testing.B) { f(b, openSQLite(b)) })
	b.Run("postgres", func(b *testing.B) { f(b, open(b, schema(b, storetest.Postgres(b)))) })
}

// step is what a model and a tool say in one step of a turn, about 4 kB.
func step(i int) []thread.Body {
	args := fmt.Sprintf(`{"path":"/w/file%d.go","limit":100}`, i)
	text := strings.Repeat(fmt.Sprintf("line %d of a file, with some words in it\n", i), 80)
	return []thread.Body{
		thread.Assistant{
			MessageID: fmt.Sprint("m", i), Stop: "tool_calls", Model: "p/m",
			Parts: []thread.Part{
				{ID: fmt.Sprint("m", i), Text: "I look at the file to see how it is done there."},
				{Call: &thread.Call{ID: fmt.Sprint("c", i), WireID: fmt.Sprint("w", i), Name: "read", Args: args}},
			},
		},
		thread.Result{
			CallID: fmt.Sprint("c", i), Text: text,
			Shown: event.ToolCall{
				ID: fmt.Sprint("c", i), Name: "read", Title: "Read", Kind: tools.KindRead, Status: event.Completed,
				Input: json.RawMessage(args), Locations: []tools.Location{{Path: "/w/a.go"}}, Text: text,
			},
		},
	}
}

// BenchmarkOpen opens a database that is there.
func BenchmarkOpen(b *testing.B) {
	run := func(b *testing.B, where string) {
		open(b, where)
		b.ReportAllocs()
		for b.Loop() {
			s, err := store.Open(b.Context(), where, store.Options{})
			if err != nil {
				b.Fatal(err)
			}
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("sqlite", func(b *testing.B) { run(b, file(b)) })
	b.Run("postgres", func(b *testing.B) { run(b, schema(b, storetest.Postgres(b))) })
}

// BenchmarkAppend writes a step of a turn, under its lock.
func BenchmarkAppend(b *testing.B) {
	each(b, func(b *testing.B, s *store.Store) {
		if err := s.Create(b.Context(), "a", thread.Created{Cwd: "/w"}); err != nil {
			b.Fatal(err)
		}
		if err := s.Lock(b.Context(), "a", thread.Holder{Token: "t"}, time.Hour); err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if _, err := s.Append(b.Context(), "a", "t", step(i)...); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkRead1000 reads a thread of 1,000 entries.
func BenchmarkRead1000(b *testing.B) {
	each(b, func(b *testing.B, s *store.Store) {
		var bodies []thread.Body
		for i := range 500 {
			bodies = append(bodies, step(i)...)
		}
		if err := s.Create(b.Context(), "a", thread.Created{Cwd: "/w"}, bodies...); err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			seen := 0
			err := s.Read(b.Context(), "a", 1, func(thread.Entry) error { seen++; return nil })
			if err != nil || seen != 1000 {
				b.Fatalf("%d entries (%v)", seen, err)
			}
		}
	})
}

// BenchmarkList10000 reads a page of a list of 10,000 threads, from the middle of
// it.
func BenchmarkList10000(b *testing.B) {
	each(b, func(b *testing.B, s *store.Store) {
		store.Fill(b, s, 10000)
		var q thread.Query
		for range 100 {
			page, err := s.List(b.Context(), q)
			if err != nil {
				b.Fatal(err)
			}
			q.After = page.Next
		}
		for name, cwd := range map[string]string{"all": "", "cwd": "/w/7"} {
			q.Cwd = cwd
			b.Run(name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					page, err := s.List(b.Context(), q)
					if err != nil || len(page.Threads) != 50 {
						b.Fatalf("%d threads (%v)", len(page.Threads), err)
					}
				}
			})
		}
	})
}

// BenchmarkSearch10000 looks for words that are in every tenth of 10,000 threads.
func BenchmarkSearch10000(b *testing.B) {
	each(b, func(b *testing.B, s *store.Store) {
		store.Fill(b, s, 10000)
		b.ReportAllocs()
		for b.Loop() {
			hits, err := s.Search(b.Context(), thread.Search{Words: "subject 7"})
			if err != nil || len(hits) != 20 {
				b.Fatalf("%d hits (%v)", len(hits), err)
			}
		}
	})
}

// BenchmarkTurn writes what a turn of one answer writes: the lock is taken, the
// message and the answer are appended, and the lock is given up.
func BenchmarkTurn(b *testing.B) {
	each(b, func(b *testing.B, s *store.Store) {
		if err := s.Create(b.Context(), "a", thread.Created{Cwd: "/w"}); err != nil {
			b.Fatal(err)
		}
		text := strings.Repeat("some words of an answer, and more of them. ", 20)
		b.ReportAllocs()
		before := cpu(b)
		for b.Loop() {
			err := s.Lock(b.Context(), "a", thread.Holder{Token: "t"}, time.Hour)
			for _, body := range []thread.Body{
				thread.User{MessageID: "u", Blocks: []event.Block{{Text: text[:100]}}, Sent: []thread.Part{{Text: text[:200]}}},
				thread.Assistant{MessageID: "m", Parts: []thread.Part{{ID: "m", Text: text}}, Stop: "stop", Model: "p/m"},
			} {
				if err == nil {
					_, err = s.Append(b.Context(), "a", "t", body)
				}
			}
			if err == nil {
				err = s.Unlock(b.Context(), "a", "t")
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64((cpu(b)-before).Microseconds())/float64(b.N), "cpu-µs/op")
	})
}

// BenchmarkProjectOf finds the project of a directory among 500, which every send
// does.
func BenchmarkProjectOf(b *testing.B) {
	each(b, func(b *testing.B, s *store.Store) {
		for i := range 500 {
			name := fmt.Sprint("project-", i)
			err := s.AddProject(b.Context(), place.Project{ID: name, Name: name, Dirs: []string{"/home/user/src/" + name, "/srv/" + name}})
			if err != nil {
				b.Fatal(err)
			}
		}
		for name, dir := range map[string]string{"one": "/home/user/src/project-77/a/b/c", "none": "/home/user/elsewhere"} {
			b.Run(name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := s.ProjectOf(b.Context(), dir); (err == nil) != (name == "one") {
						b.Fatal(err)
					}
				}
			})
		}
	})
}

// BenchmarkSummary tells of a workspace of 20,000 documents in few or many collections,
// which every send of a session does that is bound to it.
func BenchmarkSummary(b *testing.B) {
	each(b, func(b *testing.B, s *store.Store) {
		for _, collections := range []int{1, 5000} {
			id := fmt.Sprint("in-", collections)
			if err := s.AddWorkspace(b.Context(), place.Workspace{ID: id, Title: id}); err != nil {
				b.Fatal(err)
			}
			store.FillWorkspace(b, s, id, 20000, collections)
			b.Run(id, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					sum, err := s.Summary(b.Context(), id, 20)
					if err != nil || len(sum.Pinned) != 20 || len(sum.Collections) != min(20, collections) {
						b.Fatalf("%d pinned, %d collections (%v)", len(sum.Pinned), len(sum.Collections), err)
					}
				}
			})
		}
	})
}

// BenchmarkDelete deletes a thread with an attachment, beside 20,000 documents that stay.
func BenchmarkDelete(b *testing.B) {
	run := func(b *testing.B, where string) {
		s := openWith(b, where, store.Options{Files: private(b)})
		if err := s.AddWorkspace(b.Context(), place.Workspace{ID: "w", Title: "w"}); err != nil {
			b.Fatal(err)
		}
		store.FillWorkspace(b, s, "w", 20000, 1)
		b.ReportAllocs()
		for b.Loop() {
			d, err := s.Keep(b.Context(), "a.txt", "text/plain", []byte("text"))
			if err != nil {
				b.Fatal(err)
			}
			err = s.Create(b.Context(), "a", thread.Created{}, thread.User{Attached: []thread.Attached{{Key: d.Key}}})
			if err = errors.Join(err, s.Delete(b.Context(), "a")); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("sqlite", func(b *testing.B) { run(b, file(b)) })
	b.Run("postgres", func(b *testing.B) { run(b, schema(b, storetest.Postgres(b))) })
}

// BenchmarkKeep keeps contents of 100 kB, and one of them again.
func BenchmarkKeep(b *testing.B) {
	run := func(b *testing.B, where string) {
		s := openWith(b, where, store.Options{Files: private(b)})
		content := []byte(strings.Repeat("some text. ", 9000))
		for _, name := range []string{"new", "again"} {
			b.Run(name, func(b *testing.B) {
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					if name == "new" {
						content = fmt.Append(content[:99000], b.N, " ", i)
					}
					if _, err := s.Keep(b.Context(), "a.txt", "text/plain", content); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
	b.Run("sqlite", func(b *testing.B) { run(b, file(b)) })
	b.Run("postgres", func(b *testing.B) { run(b, schema(b, storetest.Postgres(b))) })
}
