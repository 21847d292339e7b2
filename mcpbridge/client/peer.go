package client

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/lorimer-dev/lorimer/mcpbridge/internal/lifetime"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
	"github.com/lorimer-dev/lorimer/tools/server"
)

// Methods of the protocol, and those of its extension for tasks.
const (
	methodInitialize  = string(mcp.MethodInitialize)
	methodInitialized = string(mcp.MethodNotificationInitialized)
	methodDiscover    = string(mcp.MethodServerDiscover)
	methodListen      = string(mcp.MethodSubscriptionsListen)
	methodTools       = string(mcp.MethodToolsList)
	methodCall        = string(mcp.MethodToolsCall)
	methodPrompts     = string(mcp.MethodPromptsList)
	methodPrompt      = string(mcp.MethodPromptsGet)
	methodResources   = string(mcp.MethodResourcesList)
	methodTemplates   = string(mcp.MethodResourcesTemplatesList)
	methodRead        = string(mcp.MethodResourcesRead)
	methodTask        = string(mcp.MethodTasksGet)
	methodTaskResult  = string(mcp.MethodTasksResult)
	methodTaskCancel  = string(mcp.MethodTasksCancel)
	methodTaskUpdate  = "tasks/update"

	extensionTasks = "io.modelcontextprotocol/tasks"
)

// A peer is the [Peer] that Connect makes.
type peer struct {
	o      Options
	offers server.Offers
	life   *lifetime.Lifetime

	// What follows is set while connecting, and not changed after.
	t       transport.Transport
	about   About
	changes []Kind // lists whose changes are told
	tasks   tasks
	meta    map[string]any // of each request of the stateless era

	mu        sync.Mutex // guards the fields below
	token     int        // of the last request that may have progress
	watches   map[string]*watch
	asking    int                        // questions that the host has before it
	asked     time.Time                  // when the last one was answered
	visits    map[string]chan struct{}   // closed when the server knows that the user has been at an address, by the ID of the question
	annotated map[string]json.RawMessage // schemas with x-mcp-header, by tool
	listed    map[Kind]bool              // that were read since it is listened for changes
}

// tasks is what a server of 2025-11-25 can do with them.
type tasks struct{ call, cancel bool }

func newPeer(ctx context.Context, o Options) *peer {
	p := &peer{
		o: o, life: lifetime.New(ctx), watches: map[string]*watch{}, visits: map[string]chan struct{}{}, listed: map[Kind]bool{},
	}
	if o.Host != nil {
		p.offers = o.Host.Offers()
	}
	p.meta = map[string]any{
		mcp.MetaKeyProtocolVersion:    newest(Stateless),
		mcp.MetaKeyClientInfo:         p.info(),
		mcp.MetaKeyClientCapabilities: p.capabilities(Stateless),
	}
	return p
}

// info is what servers are told of this program.
func (p *peer) info() map[string]string {
	return map[string]string{"name": p.o.Name, "version": p.o.Version}
}

// capabilities is what servers are told that can be asked for.
func (p *peer) capabilities(era Era) map[string]any {
	type none struct{}
	c := map[string]any{}
	if era == Stateless {
		c["extensions"] = map[string]any{extensionTasks: none{}}
	}
	if p.o.Host != nil {
		c["roots"] = none{}
	}
	if p.offers.Sampling {
		c["sampling"] = none{}
	}
	elicitation := map[string]any{}
	if p.offers.Form {
		elicitation[mcp.ElicitationModeForm] = none{}
	}
	if p.offers.URL {
		elicitation[mcp.ElicitationModeURL] = none{}
	}
	if len(elicitation) > 0 {
		c["elicitation"] = elicitation
	}
	return c
}

func (p *peer) About() About {
	about := p.about
	about.Has = slices.Clone(about.Has)
	return about
}

func (p *peer) Done() <-chan struct{} { return p.t.Done() }

func (p *peer) Err() error { return p.t.Err() }

func (p *peer) Close(ctx context.Context) error {
	p.life.End(nil)
	return cmp.Or(p.t.Close(ctx), p.life.Wait(ctx))
}

// A query is a request as it stands before it is sent.
type query struct {
	method  string
	name    string         // of what it is about
	params  map[string]any // without _meta
	headers map[string]string
}

// with returns q with more parameters.
func (q query) with(params map[string]any) query {
	all := maps.Clone(params)
	for name, value := range q.params {
		if _, replaced := all[name]; !replaced {
			all[name] = value
		}
	}
	q.params = all
	return q
}

// send sends q and returns the result as it came. Its progress is that of w, which
// may be nil.
func (p *peer) send(ctx context.Context, w *watch, q query) (json.RawMessage, error) {
	params, err := p.params(w, q)
	if err != nil {
		return nil, err
	}
	return p.t.Call(ctx, transport.Request{
		Method: q.method, Params: params, Name: q.name, Headers: q.headers,
	})
}

// params returns the parameters of q with what the era wants in each request.
func (p *peer) params(w *watch, q query) (json.RawMessage, error) {
	meta := map[string]any{}
	if p.about.Era == Stateless || q.method == methodDiscover {
		maps.Copy(meta, p.meta)
	}
	if w != nil {
		meta["progressToken"] = w.token
	}
	if len(meta) > 0 {
		q = q.with(map[string]any{"_meta": meta})
	}
	if len(q.params) == 0 {
		return nil, nil
	}
	return json.Marshal(q.params)
}
