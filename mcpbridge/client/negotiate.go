package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
)

// A negotiation finds out what the server at the other end of a transport speaks.
type negotiation struct {
	p      *peer
	first  Era
	probed bool // server/discover has been asked for, or must not be

	probe, initial <-chan answer // questions that are open; nil is none
	stop           func()        // gives the probe up
	timer          *time.Timer   // when to go on although no answer came
	revision       string        // that initialize offered last
	refused        error         // what initialize was answered with
	repeated       bool          // the probe
}

// An answer is the outcome of a question.
type answer struct {
	raw json.RawMessage
	err error
}

// run returns when the era is settled, or cannot be.
func (n *negotiation) run(ctx context.Context) error {
	bound := n.p.o.Probe
	if n.first == Stateless {
		bound *= 4 // it is likely only slow
	}
	n.timer = time.NewTimer(bound)
	defer n.timer.Stop()
	n.stop = func() {}
	defer func() { n.stop() }()
	if n.first == Handshake {
		n.timer.Stop()
		n.initialize(newest(Handshake))
	} else {
		n.discover()
	}
	for {
		done, err := n.step(ctx)
		if done || err != nil {
			return err
		}
	}
}

// step waits for the next thing to happen.
func (n *negotiation) step(ctx context.Context) (done bool, err error) {
	select {
	case a := <-n.probe:
		n.probe = nil
		return n.discovered(a)
	case a := <-n.initial:
		n.initial = nil
		return n.initialized(ctx, a)
	case <-n.timer.C:
		if n.refused != nil {
			return false, n.refused
		}
		n.initialize(newest(Handshake))
		return false, nil
	case <-ctx.Done():
		return false, n.late(ctx)
	}
}

// late is the error of a negotiation that ctx has ended.
func (n *negotiation) late(ctx context.Context) error {
	cause := context.Cause(ctx)
	switch {
	case n.refused != nil:
		return n.refused
	case errors.Is(cause, context.DeadlineExceeded), errors.Is(cause, ErrTimeout):
		return fmt.Errorf("%w: it has not answered %s", ErrTimeout, methodInitialize)
	}
	return cause
}

// discover asks for server/discover. The question stays open until an answer to
// another one is taken: a slow server has not answered it yet.
func (n *negotiation) discover() {
	n.probed = true
	n.probe, n.stop = n.ask(query{method: methodDiscover})
}

// initialize offers a revision. The protocol forbids to take that back.
func (n *negotiation) initialize(revision string) {
	n.revision = revision
	n.initial, _ = n.ask(query{method: methodInitialize, params: map[string]any{
		"protocolVersion": revision, "capabilities": n.p.capabilities(Handshake), "clientInfo": n.p.info(),
	}})
}

// ask sends a question, whose answer may come when nobody waits any more.
func (n *negotiation) ask(q query) (answers <-chan answer, stop func()) {
	ctx, stop := context.WithCancel(n.p.life.Context())
	c := make(chan answer, 1)
	params, err := n.p.params(nil, q) // before the era is settled
	t := n.p.t
	n.p.life.Start(func(context.Context) {
		var raw json.RawMessage
		if err == nil {
			raw, err = t.Call(ctx, transport.Request{Method: q.method, Params: params})
		}
		c <- answer{raw, err}
	})
	return c, stop
}

// discovered takes the answer to server/discover.
func (n *negotiation) discovered(a answer) (done bool, err error) {
	theirs, fail := supported(a)
	switch revision := common(theirs); {
	case final(fail):
		return false, fail
	case len(theirs) == 0: // any answer counts as one that says nothing of the newer era
		return false, n.fall(newest(Handshake))
	case revision == "":
		return false, strangers(theirs...)
	case eraOf(revision) == Handshake:
		return false, n.fall(revision)
	case a.err == nil:
		return true, n.p.discovered(a.raw, revision)
	case n.repeated:
		return false, a.err
	}
	n.repeated = true // it speaks the revision that was asked in
	n.discover()
	return false, nil
}

// fall goes on with initialize, unless that has been done.
func (n *negotiation) fall(revision string) error {
	if n.initial == nil && n.refused == nil {
		n.timer.Stop()
		n.initialize(revision)
	}
	return n.refused
}

// initialized takes the answer to initialize.
func (n *negotiation) initialized(ctx context.Context, a answer) (done bool, err error) {
	if refuses(a.err) {
		return false, n.refuse(a.err)
	}
	if a.err != nil {
		return false, a.err
	}
	o, err := answered(methodInitialize, a.raw)
	if err != nil {
		return false, err
	}
	revision, _ := text(o["protocolVersion"])
	switch eraOf(revision) {
	case Handshake:
		return true, n.p.initialized(ctx, o, revision)
	case Stateless: // which has no initialize
		return false, n.refuse(strangers(revision))
	}
	if revision == "" {
		return false, errors.New("initialize: the server does not say which revision of MCP it speaks")
	}
	return false, strangers(revision)
}

// refuse goes on after initialize was refused: with another revision where the
// server names one, else with what server/discover gives.
func (n *negotiation) refuse(refusal error) error {
	theirs, _ := supported(answer{err: refusal})
	revision := common(theirs)
	switch {
	case eraOf(revision) == Handshake && revision != n.revision:
		n.initialize(revision)
		return nil
	case !n.probed:
		n.discover()
	case n.probe == nil:
		return refusal
	}
	n.refused = refusal
	n.timer.Reset(n.p.o.Probe)
	return nil
}

// supported returns the revisions that an answer names as those of the server.
func supported(a answer) (revisions []string, err error) {
	if a.err == nil {
		o, _ := fields(a.raw)
		return strs(o["supportedVersions"]), nil
	}
	if refusal, ok := errors.AsType[*transport.Error](a.err); ok {
		o, _ := fields(refusal.Data)
		return strs(o["supported"]), a.err
	}
	return nil, a.err
}

// refuses reports whether err, of initialize, may be that of a server which does not
// know it.
func refuses(err error) bool {
	if _, ok := errors.AsType[*transport.Error](err); ok {
		return true
	}
	status, ok := errors.AsType[*transport.StatusError](err)
	return ok && slices.Contains([]int{http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed}, status.Status)
}

// final reports whether err, of server/discover, leaves nothing to go on with: the
// server is gone or cannot be reached, wants a login, or has said in the words of
// the newer era that it is something else that it misses.
func final(err error) bool {
	if refusal, ok := errors.AsType[*transport.Error](err); ok {
		return refusal.Code == transport.CodeHeaderMismatch || refusal.Code == transport.CodeMissing
	}
	if status, ok := errors.AsType[*transport.StatusError](err); ok {
		return status.Status == http.StatusUnauthorized
	}
	return errors.Is(err, transport.ErrGone) || errors.Is(err, transport.ErrUnsent)
}

// discovered settles the stateless era with the result of server/discover.
func (p *peer) discovered(raw json.RawMessage, revision string) error {
	o, err := answered(methodDiscover, raw)
	if err != nil {
		return err
	}
	info := o["serverInfo"]
	if meta, _ := fields(o["_meta"]); !none(meta[mcp.MetaKeyServerInfo]) {
		info = meta[mcp.MetaKeyServerInfo]
	}
	p.meta[mcp.MetaKeyProtocolVersion] = revision
	p.describe(o, info)
	p.about.Era, p.about.Revision = Stateless, revision
	p.t.Negotiated(revision)
	return nil
}

// initialized settles the handshake era with the result of initialize.
func (p *peer) initialized(ctx context.Context, o object, revision string) error {
	p.describe(o, o["serverInfo"])
	p.about.Era, p.about.Revision = Handshake, revision
	p.t.Negotiated(revision)
	if err := p.t.Notify(ctx, methodInitialized, nil); err != nil {
		return fmt.Errorf("ending the handshake: %w", err)
	}
	return nil
}

// describe takes what a server says of itself.
func (p *peer) describe(o object, info json.RawMessage) {
	i, _ := fields(info)
	instructions, _ := text(o["instructions"])
	p.about = About{
		Name: line(i["name"], maxLine), Title: line(i["title"], maxLine), Version: line(i["version"], maxLine),
		Instructions: instructions, Icon: decodeIcon(i["icons"]),
	}
	can, _ := fields(o["capabilities"])
	p.changes = nil
	for _, kind := range []Kind{Tools, Prompts, Resources} {
		value := can[string(kind)]
		if none(value) || string(value) == "false" {
			continue
		}
		p.about.Has = append(p.about.Has, kind)
		if c, _ := fields(value); isTrue(c["listChanged"]) {
			p.changes = append(p.changes, kind)
		}
	}
	t, _ := fields(can["tasks"])
	requests, _ := fields(t["requests"])
	calls, _ := fields(requests["tools"])
	p.tasks = tasks{call: !none(calls["call"]), cancel: !none(t["cancel"])}
}
