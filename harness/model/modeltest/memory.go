package modeltest

import "sync"

// A memory is what a server remembers of the items that it gave out in
// Responses, so that it knows them again. It is safe for concurrent use; the zero
// value is empty.
type memory struct {
	mu      sync.Mutex           // guards the fields below
	items   map[string]item      // by id
	phases  map[[2]string]string // by model and text
	answers map[string][]string  // ids of the calls of stored answers, by their own
}

// An item is a part of an answer.
type item struct {
	kind      string
	reasoning string // id of the reasoning item before it in its answer
	phase     string // of a message
	stored    bool   // it can be named without its content
}

func (m *memory) keep(id string, it item) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.items == nil {
		m.items = map[string]item{}
	}
	m.items[id] = it
}

func (m *memory) item(id string) item {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.items[id]
}

// say notes that a model said text in a phase.
func (m *memory) say(id, text, phase string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.phases == nil {
		m.phases = map[[2]string]string{}
	}
	m.phases[[2]string{id, text}] = phase
}

// phase is the phase in which a model said text, "" if it did not.
func (m *memory) phase(id, text string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.phases[[2]string{id, text}]
}

// store keeps an answer with the ids of its calls.
func (m *memory) store(id string, calls []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.answers == nil {
		m.answers = map[string][]string{}
	}
	m.answers[id] = calls
}

func (m *memory) answer(id string) (calls []string, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	calls, ok = m.answers[id]
	return calls, ok
}
