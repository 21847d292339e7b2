package serve

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
)

// quick returns what answers a request that the reader answers itself, or nil. That is
// also what is wrong with a request before there is a revision.
func quick(r *request) func() (any, *fault) {
	modern := stateless(r.revision)
	switch mcp.MCPMethod(r.method) {
	case mcp.MethodInitialize:
		if !modern {
			return r.initialize
		}
	case mcp.MethodPing:
		if !modern {
			return func() (any, *fault) { return struct{}{}, nil }
		}
	case mcp.MethodServerDiscover:
		if modern {
			return r.discover
		}
	case mcp.MethodSetLogLevel:
		if !modern && r.revision != "" {
			return r.setLevel
		}
	case mcp.MethodCompletionComplete:
		if r.revision != "" {
			return r.complete
		}
	}
	if r.revision == "" {
		return func() (any, *fault) {
			return nil, faultf(mcp.INVALID_PARAMS, "no revision is known: send initialize first, or name it in _meta as %s", mcp.MetaKeyProtocolVersion)
		}
	}
	return nil
}

// slow returns what answers a request beside the reader, or nil.
func slow(r *request) work {
	o := &r.c.s.o
	switch mcp.MCPMethod(r.method) {
	case mcp.MethodToolsList:
		return listTools
	case mcp.MethodToolsCall:
		return callTool
	case mcp.MethodPromptsList:
		return when(o.Prompts != nil, listPrompts)
	case mcp.MethodPromptsGet:
		return when(o.Prompts != nil, getPrompt)
	case mcp.MethodResourcesList:
		return when(o.Resources != nil, listResources)
	case mcp.MethodResourcesTemplatesList:
		return when(o.Resources != nil, listTemplates)
	case mcp.MethodResourcesRead:
		return when(o.Resources != nil, readResource)
	case mcp.MethodSubscriptionsListen:
		r.listens = true
		return when(stateless(r.revision), listen)
	}
	return nil
}

func when(has bool, do work) work {
	if has {
		return do
	}
	return nil
}

// A base is what every result of revision 2026-07-28 begins with; those of older ones
// have nothing of it.
type base struct {
	ResultType string      `json:"resultType,omitempty"`
	Meta       *resultMeta `json:"_meta,omitempty"`
}

type resultMeta struct {
	Server       *about          `json:"io.modelcontextprotocol/serverInfo,omitempty"`
	Subscription json.RawMessage `json:"io.modelcontextprotocol/subscriptionId,omitempty"`
}

func (r *request) base() base {
	if !stateless(r.revision) {
		return base{}
	}
	return base{"complete", &resultMeta{Server: r.c.s.about()}}
}

// cached is how long a client need not ask again.
type cached struct {
	TTL   *int   `json:"ttlMs,omitempty"`
	Scope string `json:"cacheScope,omitempty"`
}

// How long results hold, in milliseconds. What is listed is different when a server
// behind this one comes or goes.
const (
	holdLists    = 10_000
	holdDiscover = 3_600_000
)

func (r *request) cached(ms int) cached {
	if !stateless(r.revision) {
		return cached{}
	}
	return cached{&ms, "private"}
}

// about is what the server says it is.
type about struct {
	Name    string `json:"name"`
	Title   string `json:"title,omitempty"`
	Version string `json:"version"`
}

func (s *Server) about() *about { return &about{s.o.Name, s.o.Title, s.o.Version} }

// capabilities is what can be asked of the server.
type capabilities struct {
	Tools       *changing `json:"tools,omitempty"`
	Prompts     *changing `json:"prompts,omitempty"`
	Resources   *changing `json:"resources,omitempty"`
	Logging     *struct{} `json:"logging,omitempty"`
	Completions *struct{} `json:"completions,omitempty"`
}

type changing struct {
	ListChanged bool `json:"listChanged,omitempty"`
}

func (s *Server) capabilities() capabilities {
	list := &changing{s.o.Watch != nil}
	all := capabilities{Tools: list, Logging: &struct{}{}}
	if s.o.Prompts != nil {
		all.Prompts, all.Completions = list, &struct{}{}
	}
	if s.o.Resources != nil {
		all.Resources = list
	}
	return all
}

// initialize is the handshake of revisions up to 2025-11-25.
func (r *request) initialize() (any, *fault) {
	var p struct {
		Version string `json:"protocolVersion"`
	}
	if err := json.Unmarshal(r.params, &p); r.params != nil && err != nil {
		return nil, faultf(mcp.INVALID_PARAMS, "protocolVersion must be a text")
	}
	revision := negotiated(p.Version)
	c := r.c
	c.mu.Lock()
	c.revision = revision
	c.mu.Unlock()
	c.lists.begin()
	return struct {
		Version      string       `json:"protocolVersion"`
		Capabilities capabilities `json:"capabilities"`
		Server       *about       `json:"serverInfo"`
		Instructions string       `json:"instructions,omitempty"`
	}{revision, c.s.capabilities(), c.s.about(), c.s.o.Instructions}, nil
}

// discover tells what initialize tells, to clients that say with each request who they
// are.
func (r *request) discover() (any, *fault) {
	s := r.c.s
	return struct {
		base
		cached
		Versions     []string     `json:"supportedVersions"`
		Capabilities capabilities `json:"capabilities"`
		Instructions string       `json:"instructions,omitempty"`
	}{r.base(), r.cached(holdDiscover), revisions(), s.capabilities(), s.o.Instructions}, nil
}

// complete knows nothing that could complete an argument.
func (r *request) complete() (any, *fault) {
	type completion struct {
		Values []string `json:"values"`
		Total  int      `json:"total"`
		More   bool     `json:"hasMore"`
	}
	return struct {
		base
		Completion completion `json:"completion"`
	}{r.base(), completion{Values: []string{}}}, nil
}

// levels are those of RFC 5424, the lightest first.
func levels() []Level {
	return []Level{Debug, Info, "notice", Warning, Error, "critical", "alert", "emergency"}
}

// setLevel sets from which level on the client hears messages.
func (r *request) setLevel() (any, *fault) {
	var p struct {
		Level Level `json:"level"`
	}
	if json.Unmarshal(r.params, &p) != nil || !slices.Contains(levels(), p.Level) {
		return nil, faultf(mcp.INVALID_PARAMS, "level must be one of %q", levels())
	}
	r.c.mu.Lock()
	defer r.c.mu.Unlock()
	r.c.level = p.Level
	return struct{}{}, nil
}

// log tells the client something that belongs to a request.
func (r *request) log(ctx context.Context, l Level, text string) {
	at := slices.Index(levels(), r.level())
	if ctx.Err() != nil || at < 0 || slices.Index(levels(), l) < at {
		return
	}
	r.c.out.offer(notification("notifications/message", struct {
		Level  Level  `json:"level"`
		Logger string `json:"logger"`
		Data   string `json:"data"`
	}{l, r.c.s.o.Name, text}))
}

// level returns from which level on a request may be told of; "" is none.
func (r *request) level() Level {
	if stateless(r.revision) {
		var l Level
		if json.Unmarshal(r.meta.LogLevel, &l) != nil {
			return ""
		}
		return l
	}
	r.c.mu.Lock()
	defer r.c.mu.Unlock()
	return r.c.level
}
