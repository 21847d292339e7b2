package prompt

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"
)

// Names of the two openers, which only a scope may replace (R-PROMPT-02).
const (
	IdentityName = "harness:identity"
	PersonaName  = "deployment:persona"
)

// Orders that have a meaning by convention (R-PROMPT-06). Sections with one below
// personaOrder come before the persona, and those from toolsOrder to 199 guide the
// use of tools.
const (
	identityOrder = -100
	personaOrder  = 0
	toolsOrder    = 100
	guidanceOrder = 150 // of the sections tool:<name>
)

// A Section is a piece of the stable part. Either Text or Render gives its text.
type Section struct {
	Name   string
	Order  float64 // ascending; equal orders keep the order of registration
	Text   string
	Render func(Context) (string, error) // called at each assembly
	// Literal says that the text is a user's: it is not interpolated, and it
	// never ends the stable part (R-PROMPT-12, R-PROMPT-16).
	Literal bool
	// User says of a template that it holds user-controlled text. A section
	// that refers to a variable of the user holds some without saying so.
	User bool
	At   string // FILE:LINE where it is declared, for errors; "" is nowhere that can be named

	// sources are what Render makes its text of and has a place.
	sources func(Facts) []Source
}

// sourcesIn returns what the text of s is made of in c and has a place.
func (s Section) sourcesIn(c Context) []Source {
	var all []Source
	switch {
	case s.sources != nil:
		all = s.sources(c.Facts)
	case s.Render == nil && s.At != "":
		all = []Source{{s.Text, s.At}}
	}
	return slices.DeleteFunc(all, func(s Source) bool { return s.At == "" })
}

// A Variable is a value that templates refer to by {{name}}. Either Text or
// Provide gives it.
type Variable struct {
	Name string // [a-z][a-z0-9_]*
	Text string
	// Provide is called at each assembly; false is "no value here".
	Provide  func(Context) (string, bool, error)
	Volatile bool   // differs between sends; stable sections may not refer to it (R-PROMPT-29)
	User     bool   // holds user-controlled text
	At       string // FILE:LINE where it is declared, for errors; "" is nowhere that can be named
}

// A ToolSet is what a tool provider offers.
type ToolSet struct {
	Tools []ToolSchema // the visible ones
	Known []string     // further names that may come back; those of Tools are known anyway
}

// A ToolProvider returns the tools to offer in a context, also in an empty one.
type ToolProvider func(Context) (ToolSet, error)

// Options set a registry up. The zero value has no persona and orders tools by
// name.
type Options struct {
	Persona   string    // template of deployment:persona
	ToolOrder *[]string // nil is the order of the names; an empty list is a mistake (R-PROMPT-20)
	WebNotice string    // what the line begins with that tells the web calls that remain (R-WEB-14)
}

// A Registry holds the contributions to prompts. Its methods may be called from
// several goroutines. The contributions made through the registry itself form
// its global layer; those of a [Scope] are another one.
type Registry struct {
	order *[]string

	mu        sync.Mutex // guards the fields below
	seq       int        // number of registrations so far
	global    layer
	scopes    map[string]*Scope
	listeners []*listener
	kinds     []NoteKind
}

// A layer is the contributions with one reach. Lists are in order of
// registration, and never change in place, so that a snapshot is a copy of the
// struct.
type layer struct {
	sections  []*entry[Section]
	variables []*entry[Variable]
	providers []*entry[ToolProvider]
	hooks     []*entry[Hook]
}

// An entry is a contribution; its address is its identity.
type entry[T any] struct {
	seq int
	it  T
}

type listener struct{ f func() error }

// New returns a registry that holds the two openers and the built-in variables
// model, cwd and date.
func New(o Options) (*Registry, error) {
	if err := CheckToolOrder(o.ToolOrder); err != nil {
		return nil, err
	}
	r := &Registry{scopes: map[string]*Scope{}}
	if o.ToolOrder != nil {
		order := slices.Clone(*o.ToolOrder)
		r.order = &order
	}
	if err := r.addBuiltins(o.Persona); err != nil {
		return nil, err
	}
	return r, nil
}

// Section adds s to the global layer. The function that it returns takes it away
// again; calling that twice is harmless.
func (r *Registry) Section(s Section) (dispose func(), err error) {
	return addSection(r, &r.global, nil, s)
}

// Variable adds v to the global layer.
func (r *Registry) Variable(v Variable) (dispose func(), err error) {
	return addVariable(r, &r.global, nil, v)
}

// Tools adds a provider to the global layer.
func (r *Registry) Tools(p ToolProvider) (dispose func(), err error) {
	return add(r, &r.global.providers, nil, p, nil)
}

// Hook adds h to the global layer.
func (r *Registry) Hook(h Hook) (dispose func(), err error) {
	return add(r, &r.global.hooks, nil, h, nil)
}

// OnChange has f called after every registration and every disposal, whatever
// its layer. An error of f undoes the registration that it was told of, and is
// returned there; at a disposal it has no effect. f is called without a lock.
func (r *Registry) OnChange(f func() error) (stop func()) {
	l := &listener{f}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.listeners = append(slices.Clip(r.listeners), l)
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.listeners = without(r.listeners, l)
	}
}

// OpenScope returns a new, empty layer for the contexts whose Scope is key. It
// fails while an earlier scope with that key is open.
func (r *Registry) OpenScope(key string) (*Scope, error) {
	if key == "" {
		return nil, &Error{Fault: Invalid, Detail: "a scope needs a key"}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.scopes[key] != nil {
		return nil, &Error{Fault: Duplicate, Detail: fmt.Sprintf("scope %q is open already", key)}
	}
	s := &Scope{r: r, key: key}
	r.scopes[key] = s
	return s, nil
}

// A Scope is a layer for one session or agent: what it registers replaces the
// global contribution of the same name there, and is seen nowhere else
// (R-PROMPT-07).
type Scope struct {
	r   *Registry
	key string

	// guarded by r.mu
	layer    layer
	disposed bool
}

// Section adds x to the scope.
func (s *Scope) Section(x Section) (dispose func(), err error) {
	return addSection(s.r, &s.layer, s, x)
}

// Variable adds v to the scope.
func (s *Scope) Variable(v Variable) (dispose func(), err error) {
	return addVariable(s.r, &s.layer, s, v)
}

// Tools adds a provider to the scope.
func (s *Scope) Tools(p ToolProvider) (dispose func(), err error) {
	return add(s.r, &s.layer.providers, s, p, nil)
}

// Hook adds h to the scope.
func (s *Scope) Hook(h Hook) (dispose func(), err error) {
	return add(s.r, &s.layer.hooks, s, h, nil)
}

// Dispose takes all contributions of the scope away and frees its key. Doing it
// twice is harmless.
func (s *Scope) Dispose() {
	s.r.mu.Lock()
	if s.disposed {
		s.r.mu.Unlock()
		return
	}
	s.disposed, s.layer = true, layer{}
	delete(s.r.scopes, s.key)
	s.r.mu.Unlock()
	s.r.tell()
}

func addSection(r *Registry, l *layer, s *Scope, x Section) (func(), error) {
	if err := x.check(); err != nil {
		return nil, err
	}
	return add(r, &l.sections, s, x, x.clash)
}

func addVariable(r *Registry, l *layer, s *Scope, v Variable) (func(), error) {
	if err := v.check(); err != nil {
		return nil, err
	}
	return add(r, &l.variables, s, v, v.clash)
}

// add registers it in the list of a layer, unless clash objects to an entry that
// is there, the scope is disposed, or a listener fails.
func add[T any](r *Registry, list *[]*entry[T], s *Scope, it T, clash func(T) error) (func(), error) {
	r.mu.Lock()
	if s != nil && s.disposed {
		r.mu.Unlock()
		return nil, &Error{Fault: Disposed, Detail: fmt.Sprintf("scope %q is disposed; open a new one", s.key)}
	}
	if err := push(list, &r.seq, it, clash); err != nil {
		r.mu.Unlock()
		return nil, err
	}
	e := (*list)[len(*list)-1]
	r.mu.Unlock()

	remove := func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		had := slices.Contains(*list, e)
		*list = without(*list, e)
		return had
	}
	if err := r.announce(func() { remove() }); err != nil {
		return nil, err
	}
	return func() {
		if remove() {
			r.tell()
		}
	}, nil
}

// push appends it to a list as the next registration, unless clash objects to an
// entry that is there. The old list stays as it was.
func push[T any](list *[]*entry[T], seq *int, it T, clash func(T) error) error {
	if clash != nil {
		for _, e := range *list {
			if err := clash(e.it); err != nil {
				return err
			}
		}
	}
	*seq++
	*list = append(slices.Clip(*list), &entry[T]{*seq, it})
	return nil
}

// announce tells the listeners of a registration. When one fails it calls undo,
// tells those that have heard of the registration, and returns the error.
func (r *Registry) announce(undo func()) error {
	heard := r.heeding()
	for i, l := range heard {
		if err := l.f(); err != nil {
			undo()
			for _, l := range heard[:i] {
				_ = l.f() // a disposal cannot be refused
			}
			return err
		}
	}
	return nil
}

// tell tells the listeners of a disposal.
func (r *Registry) tell() {
	for _, l := range r.heeding() {
		_ = l.f() // a disposal cannot be refused
	}
}

func (r *Registry) heeding() []*listener {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.listeners
}

func (s Section) name() string  { return s.Name }
func (v Variable) name() string { return v.Name }

// check reports what can never work about s.
func (s Section) check() error {
	switch {
	case s.Name == "":
		return &Error{Fault: Invalid, Detail: "a section needs a name"}
	case math.IsNaN(s.Order) || math.IsInf(s.Order, 0):
		return &Error{Fault: Invalid, Section: s.Name, At: s.At, Detail: fmt.Sprintf("order %v is no finite number", s.Order)}
	case s.Render != nil && s.Text != "":
		return &Error{Fault: Invalid, Section: s.Name, At: s.At, Detail: "text is both fixed and computed; give one of them"}
	}
	return nil
}

// clash reports that s cannot stand in a layer beside o.
func (s Section) clash(o Section) error {
	if s.Name != o.Name {
		return nil
	}
	return &Error{Fault: Duplicate, Section: s.Name, At: s.At, Detail: "the name is taken; choose another"}
}

func (v Variable) check() error {
	switch {
	case !validName(v.Name):
		return &Error{Fault: Invalid, Variable: v.Name, At: v.At,
			Detail: "no placeholder could name it; use a lower-case letter, then letters, digits and underscores"}
	case v.Provide != nil && v.Text != "":
		return &Error{Fault: Invalid, Variable: v.Name, At: v.At, Detail: "value is both fixed and computed; give one of them"}
	}
	return nil
}

func (v Variable) clash(o Variable) error {
	if v.Name != o.Name {
		return nil
	}
	return &Error{Fault: Duplicate, Variable: v.Name, At: v.At, Detail: "the name is taken; choose another"}
}

// without returns list without its elements that are x, in memory of its own.
func without[T comparable](list []T, x T) []T {
	return slices.DeleteFunc(slices.Clone(list), func(e T) bool { return e == x })
}

// bySeq orders entries by registration.
func bySeq[T any](a, b *entry[T]) int { return cmp.Compare(a.seq, b.seq) }
