package toolstest

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/server"
)

// Servers is a [server.Set] made of fields, which may be changed while nobody uses it.
// Its zero value has nothing.
type Servers struct {
	ToolList      []tools.Tool
	KnownNames    []string
	KnownPrefixes []string
	Notices       []string // told by each Tools
	AdviceList    []server.Advice
	PromptList    []server.Prompt
	ResourceList  []server.Resource
	StatusList    []server.Status

	OnTools  func(ctx context.Context) error // comes before the answer of Tools; nil is nothing
	OnPrompt func(ctx context.Context, command string, arguments map[string]string) ([]server.Part, error)
	OnRead   func(ctx context.Context, uri string) (parts []server.Part, owned bool, err error)
	OnClose  func(ctx context.Context) error // nil ends at once

	mu      sync.Mutex // guards the fields below
	begun   int
	asked   int
	closed  bool
	watches map[int]func()
	last    int
}

var _ server.Set = (*Servers)(nil)

// Begin counts.
func (s *Servers) Begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begun++
}

// Contacts returns how often Begin and Tools were called.
func (s *Servers) Contacts() (begun, asked int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begun, s.asked
}

// Tools tells Notices and returns ToolList.
func (s *Servers) Tools(ctx context.Context, tell func(string)) ([]tools.Tool, error) {
	s.mu.Lock()
	s.asked++
	s.mu.Unlock()
	for _, n := range s.Notices {
		if tell != nil {
			tell(n)
		}
	}
	if s.OnTools != nil {
		if err := s.OnTools(ctx); err != nil {
			return nil, err
		}
	}
	return slices.Clone(s.ToolList), nil
}

// Known returns KnownNames and KnownPrefixes.
func (s *Servers) Known() (names, prefixes []string) { return s.KnownNames, s.KnownPrefixes }

// Advice returns AdviceList.
func (s *Servers) Advice() []server.Advice { return s.AdviceList }

// Prompts returns PromptList.
func (s *Servers) Prompts() []server.Prompt { return s.PromptList }

// Prompt calls OnPrompt; without one there is no such prompt.
func (s *Servers) Prompt(ctx context.Context, command string, arguments map[string]string) ([]server.Part, error) {
	if s.OnPrompt == nil {
		return nil, tools.Publicf("no MCP server that is connected has the prompt /%s", command)
	}
	return s.OnPrompt(ctx, command, arguments)
}

// Resources returns ResourceList.
func (s *Servers) Resources() []server.Resource { return s.ResourceList }

// Read calls OnRead; without one nobody owns anything.
func (s *Servers) Read(ctx context.Context, uri string) (parts []server.Part, owned bool, err error) {
	if s.OnRead == nil {
		return nil, false, nil
	}
	return s.OnRead(ctx, uri)
}

// Status returns StatusList.
func (s *Servers) Status() []server.Status { return s.StatusList }

// Watch keeps changed for Change.
func (s *Servers) Watch(changed func()) (stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	id := s.last
	if s.watches == nil {
		s.watches = make(map[int]func())
	}
	s.watches[id] = changed
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watches, id)
	}
}

// Change tells all who watch.
func (s *Servers) Change() {
	s.mu.Lock()
	watches := slices.Collect(maps.Values(s.watches))
	s.mu.Unlock()
	for _, changed := range watches {
		changed()
	}
}

// Watched returns how many watch.
func (s *Servers) Watched() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.watches)
}

// Close calls OnClose.
func (s *Servers) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	if s.OnClose == nil {
		return nil
	}
	return s.OnClose(ctx)
}

// Closed reports whether Close was called.
func (s *Servers) Closed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// Of returns t as a tool of a server with the given prefix, whose own name of it is name.
func Of(server, prefix, name string, t *Tool) *Tool {
	t.Describe.Name = prefix + "_" + name
	t.Describe.Origin = &tools.Origin{Server: server, Prefix: prefix, Address: "/bin/" + server, Tool: name}
	return t
}
