package thread_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/thread"
)

// at returns the time of entry seq in these tests.
func at(seq int64) time.Time { return time.Unix(seq, 0).UTC() }

func info(bodies ...thread.Body) thread.Info {
	i := thread.Info{ID: "a"}
	for n, b := range bodies {
		seq := int64(n) + 1
		i.Add(thread.Entry{Seq: seq, Time: at(seq), Body: b})
	}
	return i
}

func said(text string) thread.User { return thread.User{Blocks: []event.Block{{Text: text}}} }

func TestInfoAdd(t *testing.T) {
	created := thread.Created{Cwd: "/w", Roots: []string{"/x"}, Parent: "p"}
	tests := []struct {
		name   string
		bodies []thread.Body
		want   thread.Info
	}{
		{
			"a new thread", []thread.Body{created},
			thread.Info{Cwd: "/w", Roots: []string{"/x"}, Parent: "p", Created: at(1), Updated: at(1), Last: 1},
		},
		{
			"messages make it newer", []thread.Body{thread.Created{}, said("hi"), thread.Assistant{}, thread.Result{}},
			thread.Info{Title: "hi", Created: at(1), Updated: at(4), Last: 4, User: 2, Messages: 1},
		},
		{
			"what nobody said does not",
			[]thread.Body{
				thread.Created{}, thread.Title{Text: "t"}, thread.Options{Values: map[string]string{"mode": "ask"}},
				thread.Archived{On: true}, thread.Moved{Cwd: "/v"}, thread.Note{Text: "n"}, thread.Withdrawn{},
			},
			thread.Info{
				Title: "t", Options: map[string]string{"mode": "ask"}, Archived: true, Cwd: "/v",
				Created: at(1), Updated: at(1), Last: 7,
			},
		},
		{
			"the last place that it was bound to", []thread.Body{thread.Created{}, thread.Bound{Project: "p", Workspace: "w"}, thread.Bound{Project: "q"}},
			thread.Info{Project: "q", Created: at(1), Updated: at(1), Last: 3},
		},
		{
			"options that are not named stay", []thread.Body{
				thread.Created{}, thread.Options{Values: map[string]string{"mode": "ask", "tools": "on"}},
				thread.Options{Values: map[string]string{"tools": "off"}}, thread.Options{},
				thread.Options{Values: map[string]string{"model": "p/m"}},
			},
			thread.Info{
				Options: map[string]string{"mode": "ask", "tools": "off", "model": "p/m"}, Created: at(1), Updated: at(1), Last: 5,
			},
		},
		{
			"it can be brought back", []thread.Body{thread.Created{}, thread.Archived{On: true}, thread.Archived{}},
			thread.Info{Created: at(1), Updated: at(1), Last: 3},
		},
		{
			"the title of the user stays", []thread.Body{
				thread.Created{}, said("hi"), thread.Title{Text: "a"}, thread.Title{Text: "b", User: true}, thread.Title{Text: "c"},
			},
			thread.Info{Title: "b", Named: true, Created: at(1), Updated: at(2), Last: 5, User: 2, Messages: 1},
		},
		{
			"an answer given anew", []thread.Body{
				thread.Created{}, said("hi"), thread.Assistant{}, thread.Retried{User: 2}, thread.Assistant{}, thread.Retried{User: 2},
				thread.Assistant{},
			},
			thread.Info{
				Title: "hi", Created: at(1), Updated: at(7), Last: 7, User: 2, Messages: 1, Revision: 2,
				Replaced: []thread.Span{{From: 3, To: 6}},
			},
		},
		{
			"two answers given anew", []thread.Body{
				thread.Created{}, said("hi"), thread.Assistant{}, thread.Retried{User: 2}, thread.Assistant{},
				said("ho"), thread.Assistant{}, thread.Retried{User: 6}, thread.Assistant{Void: true}, thread.Assistant{},
			},
			thread.Info{
				Title: "hi", Created: at(1), Updated: at(10), Last: 10, User: 6, Messages: 2, Revision: 2,
				Replaced: []thread.Span{{From: 3, To: 4}, {From: 7, To: 8}},
			},
		},
		{
			"an answer that could not be given anew", []thread.Body{
				thread.Created{}, said("hi"), thread.Assistant{}, thread.Retried{User: 2}, thread.Withdrawn{},
				thread.Retried{User: 2}, thread.Assistant{Void: true},
			},
			thread.Info{
				Title: "hi", Created: at(1), Updated: at(7), Last: 7, User: 2, Messages: 1, Revision: 2, Retried: 6,
			},
		},
		{
			"a message after an answer that could not be given anew", []thread.Body{
				thread.Created{}, said("hi"), thread.Assistant{}, thread.Retried{User: 2}, said("ho"), thread.Assistant{},
			},
			thread.Info{
				Title: "hi", Created: at(1), Updated: at(6), Last: 6, User: 5, Messages: 2, Revision: 1,
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.want.ID = "a"
			if diff := cmp.Diff(tt.want, info(tt.bodies...)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestInfoTitle(t *testing.T) {
	tests := []struct {
		name   string
		blocks []event.Block
		want   string
	}{
		{"the first line that says something", []event.Block{{Text: " \n\n fix it \nnow"}}, "fix it"},
		{"a file does not say anything", []event.Block{{Text: "package a", URI: "file:///a.go", Name: "a.go"}, {Text: "look"}}, "look"},
		{"but is better than nothing", []event.Block{{URI: "file:///a.go", Name: "a.go"}}, "a.go"},
		{"a long line is cut", []event.Block{{Text: strings.Repeat("x", 500)}}, strings.Repeat("x", 77) + "..."},
		{"a picture has no name", []event.Block{{MIME: "image/png", Data: []byte{1}}}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := info(thread.Created{}, thread.User{Blocks: tt.blocks}).Title; got != tt.want {
				t.Errorf("title %q, want %q", got, tt.want)
			}
		})
	}
}

func TestInfoHidden(t *testing.T) {
	i := thread.Info{Replaced: []thread.Span{{From: 3, To: 4}, {From: 7, To: 7}}}
	for seq, want := range map[int64]bool{2: false, 3: true, 4: true, 5: false, 6: false, 7: true, 8: false} {
		if got := i.Hidden(seq); got != want {
			t.Errorf("Hidden(%d) = %v, want %v", seq, got, want)
		}
	}
}

func TestSizes(t *testing.T) {
	tests := []struct{ limit, list, search int }{
		{0, 50, 20}, {-5, 50, 20}, {1, 1, 1}, {200, 200, 200}, {499, 499, 200}, {501, 500, 200},
	}
	for _, tt := range tests {
		if got := (thread.Query{Limit: tt.limit}).Size(); got != tt.list {
			t.Errorf("a list of %d has %d, want %d", tt.limit, got, tt.list)
		}
		if got := (thread.Search{Limit: tt.limit}).Size(); got != tt.search {
			t.Errorf("a search for %d has %d, want %d", tt.limit, got, tt.search)
		}
	}
}
