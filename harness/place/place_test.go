package place_test

import (
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/place"
)

func TestNewID(t *testing.T) {
	tests := []struct {
		name  string
		taken []string
		want  string
	}{
		{"Lorimer", nil, "lorimer"},
		{"  The Big -- Project, no. 2! ", nil, "the-big-project-no-2"},
		{"Crème Brûlée", nil, "creme-brulee"},
		{"Anna's ℌouse", nil, "annas-house"},
		{"Проект 7", nil, "7"},
		{"Проект", nil, "unnamed"},
		{"", nil, "unnamed"},
		{"--", []string{"unnamed", "unnamed-2"}, "unnamed-3"},
		{"../../etc", nil, "etc"},
		{"a", []string{"a", "a-2", "a-3"}, "a-4"},
		{"a-2", []string{"a-2"}, "a-2-2"},
		{strings.Repeat("ab ", 100), nil, strings.TrimSuffix(strings.Repeat("ab-", 16), "-") + "-"},
		{"\xff\x00\u202e", nil, "unnamed"},
	}
	for _, tt := range tests {
		got := place.NewID(tt.name, func(id string) bool { return slices.Contains(tt.taken, id) })
		if want := strings.TrimSuffix(tt.want, "-"); got != want {
			t.Errorf("NewID(%.40q) = %q, want %q", tt.name, got, want)
		}
	}
}

// FuzzNewID: an id that is made is one, also of a session, and is not taken.
func FuzzNewID(f *testing.F) {
	f.Add("A name", 3)
	f.Add(strings.Repeat("x ", 99), 1)
	f.Fuzz(func(t *testing.T, name string, taken int) {
		asked := 0
		got := place.NewID(name, func(string) bool { asked++; return asked <= min(taken, 2000) })
		if err := place.CheckID(got); err != nil {
			t.Error(err)
		}
		if err := harness.CheckID(got); err != nil {
			t.Error(err)
		}
		if again := place.NewID(got, func(string) bool { return false }); taken <= 0 && again != got {
			t.Errorf("the id %q of %q becomes %q", got, name, again)
		}
	})
}

func TestHolds(t *testing.T) {
	sep := string(filepath.Separator)
	tests := []struct {
		dir, path string
		want      bool
	}{
		{"/a/b", "/a/b", true},
		{"/a/b", "/a/b/c", true},
		{"/a/b", "/a/bc", false},
		{"/a/b", "/a", false},
		{"/a/b", "/A/b/c", false},
		{"/", "/a", true},
		{"/", "/", true},
		{"/a/b", "", false},
		{"/a", "a/b", false},
	}
	for _, tt := range tests {
		dir, path := strings.ReplaceAll(tt.dir, "/", sep), strings.ReplaceAll(tt.path, "/", sep)
		if got := place.Holds(dir, path); got != tt.want {
			t.Errorf("Holds(%q, %q) = %v, want %v", dir, path, got, tt.want)
		}
	}
}

// root returns an absolute path.
func root(name string) string {
	if runtime.GOOS == "windows" {
		return `C:\` + name
	}
	return "/" + name
}

// What is refused is told in one line that says what to do.
func TestCheck(t *testing.T) {
	project := func(change func(*place.Project)) error {
		p := place.Project{ID: "p", Name: "name", Dirs: []string{root("a")}, Instructions: "two\nlines"}
		change(&p)
		return p.Check()
	}
	workspace := func(change func(*place.Workspace)) error {
		w := place.Workspace{ID: "w", Title: "title", Description: "two\nlines"}
		change(&w)
		return w.Check()
	}
	long := strings.Repeat("ä", place.MaxName)
	tests := []struct {
		name string
		err  error
		want string // what the error says; "" is none
	}{
		{"a project", project(func(*place.Project) {}), ""},
		{"a project without directories", project(func(p *place.Project) { p.Dirs = nil }), ""},
		{"a long name", project(func(p *place.Project) { p.Name = long }), ""},
		{"all instructions", project(func(p *place.Project) { p.Instructions = strings.Repeat("x", 64<<10) }), ""},
		{"an empty id", project(func(p *place.Project) { p.ID = "" }), `"" is no id; use up to 64`},
		{"capitals in an id", project(func(p *place.Project) { p.ID = "Ab" }), `"Ab" is no id`},
		{"an id that is an option", project(func(p *place.Project) { p.ID = "-a" }), `"-a" is no id`},
		{"a long id", project(func(p *place.Project) { p.ID = strings.Repeat("a", 65) }), "is no id"},
		{"no name", project(func(p *place.Project) { p.Name = " \t" }), "the name of a project is empty; give one"},
		{"a longer name", project(func(p *place.Project) { p.Name = long + "x" }), "the name of a project has 201 characters; shorten it to 200"},
		{"a name of two lines", project(func(p *place.Project) { p.Name = "a\nb" }), `the name of a project "a\nb" is not one line of text`},
		{"a name of two lines of another kind", project(func(p *place.Project) { p.Name = "a\u2028b" }), "is not one line of text"},
		{"a name that steers a terminal", project(func(p *place.Project) { p.Name = "a\x1b[2J" }), "is not one line of text"},
		{"a name that is no text", project(func(p *place.Project) { p.Name = "\xff" }), "is not one line of text"},
		{"a relative directory", project(func(p *place.Project) { p.Dirs = []string{"a/b"} }), `directory "a/b" of project p is relative; give it from the root`},
		{"no directory", project(func(p *place.Project) { p.Dirs = []string{""} }), `directory "" of project p is relative`},
		{"a directory with dots", project(func(p *place.Project) { p.Dirs = []string{root("a/../b")} }), "is not written plainly; write "},
		{"a directory twice", project(func(p *place.Project) { p.Dirs = []string{root("a"), root("a")} }), "directory " + root("a") + " stands twice in project p; leave one out"},
		{"long instructions", project(func(p *place.Project) { p.Instructions = strings.Repeat("x", 64<<10+1) }), "the instructions of project p have 65537 bytes; shorten them to 65536"},
		{"instructions that are no text", project(func(p *place.Project) { p.Instructions = "a\x00" }), "the instructions of project p are no text; write them in UTF-8"},
		{"a workspace", workspace(func(*place.Workspace) {}), ""},
		{"no title", workspace(func(w *place.Workspace) { w.Title = "" }), "the title of a workspace is empty; give one"},
		{"a long title", workspace(func(w *place.Workspace) { w.Title = long + "x" }), "the title of a workspace has 201 characters; shorten it to 200"},
		{"a long description", workspace(func(w *place.Workspace) { w.Description = strings.Repeat("ä", 1001) }), "the description of a workspace has 1001 characters; shorten it to 1000"},
		{"a description that is no text", workspace(func(w *place.Workspace) { w.Description = "\xff" }), "the description of a workspace is no text; write it in UTF-8"},
		{"an item", place.ItemEdit{Name: "\n", Collection: new("")}.Check(), ""},
		{"a collection of two lines", place.ItemEdit{Collection: new("a\rb")}.Check(), `the name of a collection "a\rb" is not one line of text`},
		{"a taken directory", place.DirTaken(root("a"), "other"), "directory " + root("a") + " is of project other already; \"lorimer project edit other --remove-dir DIR\" takes it out of that one"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.want == "" {
				if tt.err != nil {
					t.Errorf("error = %v, want none", tt.err)
				}
				return
			}
			told, ok := errors.AsType[harness.UserError](tt.err)
			if !ok || !strings.Contains(told.UserText(), tt.want) || strings.Contains(told.UserText(), "\n") {
				t.Errorf("error = %v\nwant one line for the user with %s", tt.err, tt.want)
			}
		})
	}
}

func TestErrorsOfIDs(t *testing.T) {
	if err := place.None("project", "a\nb"); !errors.Is(err, place.ErrNone) || err.Error() != `project "a\nb": there is none` {
		t.Errorf("None = %v", err)
	}
	err := place.NoDocument("x")
	if !errors.Is(err, place.ErrNone) || !errors.Is(err, place.ErrNoDocument) || err.Error() != `document "x": there is none of this key` {
		t.Errorf("NoDocument = %v", err)
	}
	if err := place.None("workspace", "x"); errors.Is(err, place.ErrNoDocument) {
		t.Errorf("%v is taken for that of a document", err)
	}
	if err := place.Taken("workspace", "x"); !errors.Is(err, place.ErrTaken) || err.Error() != `workspace "x": there is one already` {
		t.Errorf("Taken = %v", err)
	}
}
