package mcpbridge

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
	"github.com/lorimer-dev/lorimer/tools/server"
)

// An outage is what a pool remembers of a server that could not be reached, so that
// sessions which come and go do not dial it more often than one that stays (C095).
type outage struct {
	tries int          // so far
	until time.Time    // when it may be dialled again
	state server.State // that the last attempt has left it in
	why   string       // one line, without secrets
}

// pause returns how long to wait after tries attempts: twice as long each time, and less
// by chance, so that servers which went down together do not come up together (R-MCP-11).
func pause(tries int) time.Duration {
	d := lastPause
	if n := max(tries, 1) - 1; n < 5 {
		d = min(d, firstPause<<n)
	}
	return d/2 + rand.N(d/2)
}

// leftAlone returns how long the server wants to be left alone that has failed with err;
// 0 is not said.
func leftAlone(err error) time.Duration {
	status, ok := errors.AsType[*transport.StatusError](err)
	if !ok {
		return 0
	}
	return min(status.RetryAfter, maxAlone)
}

// recall returns the outage of a server; the zero value is none. One that nobody has
// looked into for longer than the longest pause is over.
func (p *Pool) recall(fingerprint string) outage {
	p.mu.Lock()
	defer p.mu.Unlock()
	o := p.outages[fingerprint]
	if time.Since(o.until) > lastPause {
		return outage{}
	}
	return o
}

// remember keeps an outage. Where there are too many those that are over are dropped,
// and then any.
func (p *Pool) remember(fingerprint string, o outage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.outages) >= maxOutages {
		for f, old := range p.outages {
			if time.Since(old.until) > lastPause {
				delete(p.outages, f)
			}
		}
	}
	for f := range p.outages {
		if len(p.outages) < maxOutages {
			break
		}
		delete(p.outages, f)
	}
	p.outages[fingerprint] = o
}

// forget ends an outage.
func (p *Pool) forget(fingerprint string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.outages, fingerprint)
}
