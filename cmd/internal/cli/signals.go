package cli

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// sameSignal is how soon after a signal another counts as the same: a launcher
// such as npx passes on what the terminal has sent to both, and timeout sends
// twice.
const sameSignal = time.Second

// signals are those that ask the program to end. Until they are listened to, and
// again a moment after the first, they end it as if nobody did.
type signals struct {
	end     func() // called with the first
	begin   sync.Once
	stopped chan struct{} // closed when nobody listens any more
	wg      sync.WaitGroup
}

func newSignals(end func()) *signals {
	return &signals{end: end, stopped: make(chan struct{})}
}

// listen has the first signal from now on end the program in order. Called again,
// or after stop, it does nothing.
func (s *signals) listen() {
	s.begin.Do(func() {
		heard := make(chan os.Signal, 1)
		signal.Notify(heard, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
		s.wg.Go(func() { s.await(heard) })
	})
}

func (s *signals) await(heard chan os.Signal) {
	defer signal.Stop(heard)
	select {
	case <-heard:
		s.end()
	case <-s.stopped:
		return
	}
	select {
	case <-time.After(sameSignal):
	case <-s.stopped:
	}
}

// stop ends the listening.
func (s *signals) stop() {
	s.begin.Do(func() {}) // too late to begin
	close(s.stopped)
	s.wg.Wait()
}
