package client

import (
	"context"
	"errors"
	"time"

	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
)

// Pauses before a stream of changes that has ended is asked for again. They double,
// until one has held for steadyStream.
const (
	minPause     = time.Second
	maxPause     = 5 * time.Minute
	steadyStream = 30 * time.Second
)

// listen holds the stream on which a server of the stateless era tells changes of its
// lists. Servers of the other era tell them without being asked.
func (p *peer) listen() {
	filter := map[string]bool{}
	for _, kind := range p.changes {
		filter[string(kind)+"ListChanged"] = true
	}
	if p.about.Era == Stateless && len(filter) > 0 {
		p.life.Start(func(ctx context.Context) {
			p.hold(ctx, query{method: methodListen, params: map[string]any{"notifications": filter}})
		})
	}
}

// hold asks for the stream until the peer ends, or the server does not know it.
func (p *peer) hold(ctx context.Context, q query) {
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		begin := time.Now()
		_, err := p.send(ctx, nil, q)
		if ctx.Err() != nil {
			return
		}
		p.o.Log.Debug().Str("error", p.fault(err)).Dur("held", time.Since(begin)).Msg("stream of changes of an mcp server has ended")
		if unknown(err) {
			return
		}
		if time.Since(begin) >= steadyStream {
			pause = minPause
		}
		if p.pause(ctx, pause) != nil {
			return
		}
	}
}

// unknown reports whether err is that of a request which the server will never take.
func unknown(err error) bool {
	refusal, ok := errors.AsType[*transport.Error](err)
	return ok && (refusal.Code == transport.CodeMethodNotFound || refusal.Code == transport.CodeInvalidParams)
}

// acknowledged hears that changes are told from now on. What was read before may have
// changed since.
func (p *peer) acknowledged() {
	for _, kind := range []Kind{Tools, Prompts, Resources} {
		p.mu.Lock()
		read := p.listed[kind]
		p.mu.Unlock()
		if read {
			p.changed(kind)
		}
	}
}
