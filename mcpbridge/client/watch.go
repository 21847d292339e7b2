package client

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
)

// A watch is what is heard of a request while it runs.
type watch struct {
	token    int
	progress chan Progress // the latest
	alive    chan struct{} // signs of life that say no more
}

// watched runs work within the bounds of o. Work returns soon after its context
// ends, and is waited for.
func (p *peer) watched(ctx context.Context, o CallOptions, work func(context.Context, *watch) error) error {
	w := p.watch()
	defer p.unwatch(w)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan error, 1)
	go func() { done <- work(ctx, w) }()
	idle, limit := newAlarm(o.Timeout), newAlarm(o.Limit)
	defer idle.stop()
	defer limit.stop()
	for {
		select {
		case err := <-done:
			if err != nil && ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			return err
		case report := <-w.progress:
			idle.set(o.Timeout)
			if o.Progress != nil {
				o.Progress(report)
			}
		case <-w.alive:
			idle.set(o.Timeout)
		case <-idle.c:
			if rest := o.Timeout - p.quiet(); rest > 0 {
				idle.set(rest)
				continue
			}
			cancel(fmt.Errorf("%w: no sign of life for %v", ErrTimeout, o.Timeout))
		case <-limit.c:
			cancel(fmt.Errorf("%w: no result after %v", ErrTimeout, o.Limit))
		}
	}
}

// An alarm is a timer that may be none.
type alarm struct {
	timer *time.Timer
	c     <-chan time.Time
}

// newAlarm returns an alarm that rings after d, never where that is 0.
func newAlarm(d time.Duration) alarm {
	if d <= 0 {
		return alarm{}
	}
	timer := time.NewTimer(d)
	return alarm{timer, timer.C}
}

func (a alarm) set(d time.Duration) {
	if a.timer != nil {
		a.timer.Reset(d)
	}
}

func (a alarm) stop() {
	if a.timer != nil {
		a.timer.Stop()
	}
}

func (p *peer) watch() *watch {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.token++
	w := &watch{token: p.token, progress: make(chan Progress, 1), alive: make(chan struct{}, 1)}
	p.watches[strconv.Itoa(w.token)] = w
	return w
}

func (p *peer) unwatch(w *watch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.watches, strconv.Itoa(w.token))
}

// report tells progress, instead of what nobody has taken yet. It never waits.
func (w *watch) report(report Progress) {
	select {
	case <-w.progress:
	default:
	}
	select {
	case w.progress <- report:
	default: // another one has come in between
	}
}

// live tells that there is life, and nothing new.
func (w *watch) live() {
	select {
	case w.alive <- struct{}{}:
	default:
	}
}

// progressed hears of the progress of a request. Servers give the token back as a
// number or in a string.
func (p *peer) progressed(params json.RawMessage) {
	o, _ := fields(params)
	p.mu.Lock()
	w := p.watches[strings.Trim(string(o["progressToken"]), `"`)]
	p.mu.Unlock()
	if w != nil {
		w.report(Progress{
			Done: number(o["progress"]), Total: number(o["total"]), Message: line(o["message"], maxLine),
		})
	}
}

// ask marks that the host has a question before it until answered is called. The
// time does not count as that of the server.
func (p *peer) ask() (answered func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asking++
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.asking--
		p.asked = time.Now()
	}
}

// quiet returns since when the host has answered all questions; 0 while there are
// some.
func (p *peer) quiet() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asking > 0 {
		return 0
	}
	return time.Since(p.asked)
}

// pause waits for d, or returns why not.
func (p *peer) pause(ctx context.Context, d time.Duration) error { return p.await(ctx, nil, d) }

// await waits for done at most d, or returns why neither came.
func (p *peer) await(ctx context.Context, done <-chan struct{}, d time.Duration) error {
	select {
	case <-done:
		return nil
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-p.t.Done():
		return p.gone()
	}
}

// gone is the error of what can not go on because the transport has ended.
func (p *peer) gone() error {
	if err := p.t.Err(); err != nil {
		return err
	}
	return transport.ErrGone
}
