package stream

import (
	"cmp"
	"errors"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// A Teller passes the events of an answer on to a sink and remembers what the
// error of the request has to say of them.
type Teller struct {
	Sink func(model.Event) error

	told bool  // an event has been delivered
	own  error // of the sink
}

// Tell passes e on. An error of the sink comes back as of [Abort].
func (t *Teller) Tell(e model.Event) error {
	t.told = true
	if t.own = t.Sink(e); t.own != nil {
		return Abort(t.own)
	}
	return nil
}

// Failure returns err, which ended the request, if it is the provider's: the error
// of the sink is the caller's own, whatever it is.
func (t *Teller) Failure(err error) (*model.Error, bool) {
	e, ok := err.(*model.Error)
	return e, ok && err != t.own
}

// Complete notes in err, which ended the request with the id, whether events had
// been delivered. The error of the sink is not touched.
func (t *Teller) Complete(err error, id string) {
	if e, ok := t.Failure(err); ok {
		e.Partial = t.told
		e.RequestID = cmp.Or(e.RequestID, id)
	}
}

// Own returns the error that [Abort] marked in err, or err.
func Own(err error) error {
	var own abort
	if errors.As(err, &own) {
		return own.error
	}
	return err
}
