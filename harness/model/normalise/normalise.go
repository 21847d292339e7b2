package normalise

import (
	"context"
	"sync"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// Options say what is free in a history.
type Options struct {
	// Text has the answers of another vendor told as text, as they are to a model
	// without tools (R-TASK-40).
	Text bool
	// Executed is the template of a call that is told as text, with {{tool}} and
	// {{summary}}; "" is the usual one.
	Executed string
	// Dropped is told of each tool that is left out of requests, and why: the
	// schema of its arguments is broken, so that a provider would refuse the whole
	// request (C100). It is told once of each, from the goroutine that streams; nil
	// hears nothing.
	Dropped func(tool string, why error)
}

// Wrap returns a streamer that asks s, a client of the model d, with requests
// that d takes. Names that had to be changed are changed back in the answer.
func Wrap(s model.Streamer, d model.Descriptor, o Options) model.Streamer {
	f := &fitter{reader: newReader(d), o: o}
	return model.Func(func(ctx context.Context, req *model.Request, sink func(model.Event) error) (*model.Reply, error) {
		fit := f.request(req)
		back := renamed(req.Tools, f.reader.google)
		reply, err := s.Stream(ctx, fit, func(e model.Event) error {
			if start, ok := e.(model.ToolStart); ok {
				start.Name = original(back, start.Name)
				e = start
			}
			return sink(e)
		})
		return restore(reply, back, f.reader.google), err
	})
}

// Request returns req as the model d takes it. It shares with req what it does
// not change.
func Request(req *model.Request, d model.Descriptor, o Options) *model.Request {
	f := fitter{reader: newReader(d), o: o}
	return f.request(req)
}

// A fitter makes requests fit for one model.
type fitter struct {
	reader *reader
	o      Options

	mu      sync.Mutex             // guards the fields below
	lowered map[string]lowered     // what the schemas of tools became; the same ones come with every request
	dropped map[[2]string]struct{} // names and reasons that have been told
}

func (f *fitter) request(req *model.Request) *model.Request {
	out := *req
	out.Tools = f.tools(req.Tools)
	out.Callable = callable(req.Callable, out.Tools, f.reader.google)
	h := history{to: f.reader, o: &f.o, prose: len(out.Tools) == 0, ids: map[string]bool{}}
	for _, m := range req.Messages {
		h.add(m)
	}
	out.Messages = h.end()
	return &out
}
