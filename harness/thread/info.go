package thread

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lorimer-dev/lorimer/tools"
)

// An Info is what a list says of a thread: the fold of its entries without the
// conversation. A store keeps it beside the log, and brings it up to date in the
// same step as it appends.
type Info struct {
	ID       string
	Mark     string // given by the store when the thread is made; tells it from any other that has had its name
	Cwd      string
	Roots    []string // further directories
	Project  string   // that it was bound to; "" is that of its directory
	Bound    string   // workspace of documents that it was bound to; "" is none
	Title    string   // the last one given, else the beginning of the first message; "" before that
	Named    bool     // the title is the user's
	Options  map[string]string
	Created  time.Time
	Updated  time.Time // of the last message or result; titles and options do not count
	Archived bool
	Parent   string // thread that it was forked from; "" is none
	Last     int64  // Seq of the last entry
	User     int64  // Seq of the last message of the user; 0 is none
	Messages int64  // of the user
	Revision int    // how often an answer was given anew (R-HARN-26)
	Retried  int64  // Seq of the last Retried while nothing has answered anew yet; 0 is none
	Replaced []Span // what is neither shown nor sent any more, in order
}

// A Span is a run of entries by their numbers, both included.
type Span struct{ From, To int64 }

// Add continues the fold with e, which follows all entries before it.
func (i *Info) Add(e Entry) {
	i.Last = e.Seq
	switch b := e.Body.(type) {
	case Created:
		i.Cwd, i.Roots, i.Parent = b.Cwd, b.Roots, b.Parent
		i.Created, i.Updated = e.Time, e.Time
	case Moved:
		i.Cwd, i.Roots = b.Cwd, b.Roots
	case Bound:
		i.Project, i.Bound = b.Project, b.Workspace
	case User:
		i.User, i.Updated, i.Retried = e.Seq, e.Time, 0
		i.Messages++
		if i.Title == "" {
			i.Title = beginning(b)
		}
	case Assistant:
		i.Updated = e.Time
		if i.Retried != 0 && !b.Void {
			i.Replaced = replace(i.Replaced, Span{i.User + 1, i.Retried})
			i.Retried = 0
		}
	case Result:
		i.Updated = e.Time
	case Retried:
		i.Revision++
		i.Updated, i.Retried = e.Time, e.Seq
	case Withdrawn:
		i.Retried = 0
	case Archived:
		i.Archived = b.On
	case Options:
		i.Options = merged(i.Options, b.Values)
	case Title:
		if !i.Named || b.User {
			i.Title, i.Named = b.Text, b.User
		}
	}
}

// replace adds span, which ends last. Those that begin in it are part of it.
func replace(spans []Span, span Span) []Span {
	spans = slices.DeleteFunc(slices.Clone(spans), func(s Span) bool { return s.From >= span.From })
	return append(spans, span)
}

// merged returns values with those of more in their places. Copies of an Info share
// them, so they are not changed.
func merged(values, more map[string]string) map[string]string {
	if len(values) == 0 {
		return more
	}
	out := maps.Clone(values)
	maps.Copy(out, more)
	return out
}

// maxTitle is how many characters of a first message stand for a title.
const maxTitle = 80

// beginning returns the first line of a message that says something.
func beginning(u User) string {
	for _, b := range u.Blocks {
		if b.URI != "" || b.MIME != "" {
			continue
		}
		for line := range strings.Lines(b.Text) {
			if line = tools.Line(line, maxTitle); line != "" {
				return line
			}
		}
	}
	for _, b := range u.Blocks {
		if b.Name != "" {
			return tools.Line(b.Name, maxTitle)
		}
	}
	return ""
}

// Hidden reports whether entry seq was replaced.
func (i Info) Hidden(seq int64) bool {
	return slices.ContainsFunc(i.Replaced, func(s Span) bool { return s.From <= seq && seq <= s.To })
}

// A Query chooses threads for a list, the last updated first.
type Query struct {
	Cwd      string // only those that work there, a clean absolute path; "" is all
	Archived bool   // the archived ones instead of the others
	All      bool   // both; Archived plays no part
	After    string // cursor of the page before; "" begins
	Limit    int    // threads in a page; 0 is 50, at most 500
}

// Size returns how many threads a page has at most.
func (q Query) Size() int { return within(q.Limit, 50, 500) }

// A Page is a part of a list.
type Page struct {
	Threads []Info
	Next    string // cursor of the page after; "" is none
}

// A Search looks for words in the titles and the messages of threads.
type Search struct {
	Words string // all of them must occur in one message or title; the last may be the beginning of a word
	Cwd   string // as in a [Query]
	Limit int    // hits; 0 is 20, at most 200
}

// Size returns how many hits there are at most.
func (s Search) Size() int { return within(s.Limit, 20, 200) }

// within returns n, or usual for none, and no more than most.
func within(n, usual, most int) int {
	if n <= 0 {
		return usual
	}
	return min(n, most)
}

// A Hit is a message or a title that a search has found.
type Hit struct {
	Thread  Info
	Seq     int64
	Time    time.Time
	Role    string // user, assistant or title
	Snippet string // the place, on one line of at most 200 characters
}

// A Holder is who has the turn of a thread.
type Holder struct {
	Token   string // of this turn, unguessable
	Host    string
	Process int    // id
	Place   string // tells process ids of one host apart, such as a boot and a namespace; "" is unknown
	Started string // of the process, since ids are used again; "" is unknown
}
