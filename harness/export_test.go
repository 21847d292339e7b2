package harness

import "context"

// Prepare does what a send of in does before it stores anything.
func (s *Session) Prepare(ctx context.Context, in Input) error {
	t := newTurn(s, s.Choice(), in, &watcher{})
	if err := t.freeze(ctx); err != nil {
		return err
	}
	if err := t.take(ctx); err != nil {
		return err
	}
	defer s.e.pool.release(t.lease)
	if err := t.compose(t.lease.conv); err != nil {
		return err
	}
	_, err := t.message(ctx)
	return err
}
