// Package wirecheck judges a recorded conversation between an ACP client and the
// agent: every message of the agent against the JSON schemas of the protocol,
// and the conversation against the protocol's rules of state.
//
// It judges the agent alone; what a client does wrong is its own affair. There
// are no grades: a recording of a good agent has no finding (R-ACP-36).
package wirecheck

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Dir is the direction of a line.
type Dir string

// The directions.
const (
	ToAgent  Dir = "c2a"
	ToClient Dir = "a2c"
)

// A Line is a recorded line without its line end.
type Line struct {
	Dir  Dir    `json:"dir"`
	Text string `json:"line"`
}

// A Finding is a breach of the protocol by the agent.
type Finding struct {
	Line   int    // of the recording, from 1; one past the end for what is missing there
	Method string // that the message belongs to, if it is known
	What   string
}

func (f Finding) String() string { return fmt.Sprintf("line %d: %s: %s", f.Line, f.Method, f.What) }

// Check returns the findings in a recording of one connection from its first
// line to the end of the agent. Without schemas only the rules of state are
// checked.
func Check(lines []Line, schemas *Schemas) []Finding {
	c := &checker{
		schemas:    schemas,
		fromClient: map[string]*request{},
		fromAgent:  map[string]*request{},
		sessions:   map[string]*session{},
		terminals:  map[string]*terminal{},
	}
	for i, l := range lines {
		c.at = i + 1
		c.line(l)
	}
	c.at = len(lines) + 1
	c.end()
	return c.found
}

// checker is the state of a connection as both sides must see it.
type checker struct {
	schemas *Schemas
	at      int // line of the recording
	found   []Finding

	initialized bool
	client      capabilities
	fromClient  map[string]*request // unanswered, by id
	fromAgent   map[string]*request // unanswered, by id
	sessions    map[string]*session
	terminals   map[string]*terminal
}

// A request waits for its answer.
type request struct {
	at        int
	method    string
	params    json.RawMessage
	session   string
	cancelled bool
	ended     bool // of a prompt: its session was asked to end
}

type terminal struct {
	at       int
	released bool
}

// A message is a JSON-RPC message of any kind.
type message struct {
	Version *string         `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  *string         `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
}

func (c *checker) report(method, format string, args ...any) {
	c.found = append(c.found, Finding{c.at, method, fmt.Sprintf(format, args...)})
}

func (c *checker) line(l Line) {
	m, members, err := decode(l.Text)
	switch {
	case l.Dir == ToAgent && err == nil:
		c.toAgent(m)
	case l.Dir != ToClient:
	case err != nil:
		c.report("", "not a JSON-RPC object: %v", err)
	default:
		c.envelope(m, members)
		c.toClient(m)
	}
}

// decode returns a message and the names of its members.
func decode(text string) (m message, members []string, err error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		return message{}, nil, err
	}
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		return message{}, nil, err
	}
	for name := range all {
		members = append(members, name)
	}
	slices.Sort(members)
	return m, members, nil
}

// envelope judges what JSON-RPC itself asks for.
func (c *checker) envelope(m message, members []string) {
	has := func(name string) bool { return slices.Contains(members, name) }
	if m.Version == nil || *m.Version != "2.0" {
		c.report(m.name(), `member jsonrpc must be "2.0"`)
	}
	for _, name := range members {
		if !slices.Contains([]string{"jsonrpc", "id", "method", "params", "result", "error"}, name) {
			c.report(m.name(), "member %q is not part of a message", name)
		}
	}
	switch {
	case m.Method != nil && has("id") && string(m.ID) == "null":
		c.report(m.name(), "a request needs an id")
	case m.Method != nil && (has("result") || has("error")):
		c.report(m.name(), "a message is a call or an answer, not both")
	case m.Method == nil && has("result") == has("error"):
		c.report("", "an answer has either a result or an error")
	case m.Method == nil && !has("id"):
		c.report("", "an answer needs an id")
	}
}

func (m message) name() string {
	if m.Method == nil {
		return ""
	}
	return *m.Method
}

// isCall reports whether m asks for an answer.
func (m message) isCall() bool { return m.Method != nil && len(m.ID) > 0 }

// end judges what is missing when the connection is over.
func (c *checker) end() {
	for _, r := range c.fromClient {
		c.report(r.method, "the request of line %d was never answered", r.at)
	}
	for id, t := range c.terminals {
		if !t.released {
			c.report("terminal/create", "terminal %s of line %d was never released", id, t.at)
		}
	}
	slices.SortStableFunc(c.found, func(a, b Finding) int { return a.Line - b.Line })
}
