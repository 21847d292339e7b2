package normalise

import (
	"encoding/json"
	"errors"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/normalise/internal/schema"
)

// maxSchemas is how many schemas are remembered; a session has fewer.
const maxSchemas = 1000

// A lowered is what the schema of a tool became, or why it is broken.
type lowered struct {
	schema json.RawMessage
	err    error
}

// errTwice is why the second tool of a name is left out.
var errTwice = errors.New("another tool has its name")

// tools returns those that the reader takes, as it takes them: a broken one is left
// out alone (C100).
func (f *fitter) tools(in []model.Tool) []model.Tool {
	if in == nil {
		return nil
	}
	out := make([]model.Tool, 0, len(in))
	seen := make(map[string]bool, len(in))
	for _, t := range in {
		l, name := f.lower(t.Schema), wireName(t.Name, f.reader.google)
		switch {
		case l.err != nil:
			f.drop(t.Name, l.err)
		case seen[name]:
			f.drop(t.Name, errTwice)
		default:
			seen[name] = true
			out = append(out, model.Tool{Name: name, Description: t.Description, Schema: l.schema})
		}
	}
	return out
}

// lower returns the schema of a tool as the reader reads it.
func (f *fitter) lower(raw json.RawMessage) lowered {
	f.mu.Lock()
	l, ok := f.lowered[string(raw)]
	f.mu.Unlock()
	if ok {
		return l
	}
	l.schema, l.err = schema.Lower(raw, f.reader.dialect)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lowered == nil || len(f.lowered) >= maxSchemas {
		f.lowered = make(map[string]lowered)
	}
	f.lowered[string(raw)] = l
	return l
}

// drop tells that a tool is left out, unless that has been told.
func (f *fitter) drop(name string, why error) {
	if f.o.Dropped == nil {
		return
	}
	key := [2]string{name, why.Error()}
	f.mu.Lock()
	_, told := f.dropped[key]
	if f.dropped == nil || len(f.dropped) >= maxSchemas {
		f.dropped = make(map[[2]string]struct{})
	}
	f.dropped[key] = struct{}{}
	f.mu.Unlock()
	if !told {
		f.o.Dropped(name, why)
	}
}

// callable returns the wire names of those of names that are declared.
func callable(names []string, declared []model.Tool, google bool) []string {
	if names == nil {
		return nil
	}
	is := make(map[string]bool, len(declared))
	for _, t := range declared {
		is[t.Name] = true
	}
	out := make([]string, 0, len(names))
	for _, n := range names {
		if n = wireName(n, google); is[n] {
			out = append(out, n)
		}
	}
	return out
}
