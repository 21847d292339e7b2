package app

import (
	"context"
	"errors"
)

// An opened is something that the first who wants it opens. When that fails, the next
// one tries again.
type opened[T any] struct {
	token  chan struct{} // held by who looks at the fields below, also while it is opened
	have   bool
	closed bool
	value  T
}

func newOpened[T any]() *opened[T] { return &opened[T]{token: make(chan struct{}, 1)} }

var errDeskClosed = errors.New("the desk is closed")

// get returns the value, which open opens unless that was done.
func (o *opened[T]) get(ctx context.Context, open func() (T, error)) (none T, err error) {
	if err := o.hold(ctx); err != nil {
		return none, err
	}
	defer func() { <-o.token }()
	switch {
	case o.closed:
		return none, errDeskClosed
	case o.have:
		return o.value, nil
	}
	v, err := open()
	if err != nil {
		return none, err
	}
	o.value, o.have = v, true
	return v, nil
}

// close closes the value with f, if it was opened. It can be opened no more.
func (o *opened[T]) close(ctx context.Context, f func(T) error) error {
	if err := o.hold(ctx); err != nil {
		return err
	}
	defer func() { <-o.token }()
	if o.closed || !o.have {
		o.closed = true
		return nil
	}
	o.closed = true
	return f(o.value)
}

func (o *opened[T]) hold(ctx context.Context) error {
	select {
	case o.token <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
