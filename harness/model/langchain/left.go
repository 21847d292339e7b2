package langchain

import (
	"context"
	"slices"
	"sync"
)

// maxLeft is how many requests may go on that nobody waits for.
const maxLeft = 16

// Left are the requests that were left behind: those whose model did not end after
// a cancel. Whoever opens models for a process keeps one for all of them, since a
// model that is opened anew does not end the requests of the one before. The zero
// value is ready.
type Left struct {
	mu    sync.Mutex // guards the field below
	going []chan struct{}
}

// Wait waits for the requests to end, until ctx does, and returns how many go on
// then. Each ends when its library returns.
func (l *Left) Wait(ctx context.Context) (n int) {
	l.mu.Lock()
	going := slices.Clone(l.going)
	l.mu.Unlock()
	for _, ended := range going {
		select {
		case <-ended:
			continue
		default:
		}
		select {
		case <-ended:
		case <-ctx.Done():
			n++
		}
	}
	return n
}

// add notes a request that goes on until ended is closed.
func (l *Left) add(ended chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.going = append(l.going, ended)
}

// full reports whether too many requests go on to begin another. It forgets those
// that have ended.
func (l *Left) full() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.going = slices.DeleteFunc(l.going, func(ended chan struct{}) bool {
		select {
		case <-ended:
			return true
		default:
			return false
		}
	})
	return len(l.going) >= maxLeft
}
