// Package export writes a thread for others: as JSON that can be read back, as
// Markdown that needs no program, or piece by piece for whoever shows it.
//
// None of the forms has the model's reasoning unless it is asked for (R-HARN-31).
// Writing holds no more than one step of the thread in memory.
package export

import (
	"context"
	"time"

	"github.com/lorimer-dev/lorimer/harness/thread"
)

// A Source is where threads are read from; a store of threads is one.
type Source interface {
	Info(ctx context.Context, id string) (thread.Info, error)
	Read(ctx context.Context, id string, after int64, f func(thread.Entry) error) error
}

// Options say what of a thread is written. The zero value leaves out reasoning and
// what was replaced.
type Options struct {
	Reasoning bool
	Replaced  bool           // for people: answers too that others were given in place of, marked; JSON always has them
	Zone      *time.Location // of the times that people read; default UTC
}

func (o Options) time(t time.Time) string {
	zone := o.Zone
	if zone == nil {
		zone = time.UTC
	}
	return t.In(zone).Format("2006-01-02 15:04 MST")
}
