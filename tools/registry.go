package tools

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/lorimer-dev/lorimer/tools/schema"
)

// A Registry is the tools of one send. What is described to the model, found by
// name and run is the same set, because there is no other (R-TOOLS-08).
//
// Its order is the byte order of the names, whatever order the tools came in,
// so that equal sets give equal requests and the provider's prefix cache holds.
// A Registry does not change and is safe for concurrent use.
type Registry struct {
	entries []*entry // admitted, by name
	known   []string // admitted or not, by name
}

type entry struct {
	info   Info
	tool   Tool
	schema func() (*schema.Schema, error) // compiles on first use
}

// NewRegistry returns the registry of those of ts that gate admits. It is an
// error for two tools to share a name, whether admitted or not, for a tool to
// have none, and for a tool that changes something to be cacheable (R-TOOLS-44).
// Schemas are compiled when an input is first checked, not here.
func NewRegistry(gate Gate, ts ...Tool) (*Registry, error) {
	r := &Registry{}
	for _, t := range ts {
		info := t.Info()
		switch {
		case info.Name == "":
			return nil, fmt.Errorf("a tool with the description %q has no name", cut(info.Description, 40))
		case info.Cacheable && info.Effect.Mutates():
			return nil, fmt.Errorf("tool %s is cacheable, but it changes something", info.Name)
		}
		r.known = append(r.known, info.Name)
		if gate.admits(info) {
			r.entries = append(r.entries, &entry{info: info, tool: t, schema: compileOnce(info)})
		}
	}
	slices.Sort(r.known)
	for i := 1; i < len(r.known); i++ {
		if r.known[i] == r.known[i-1] {
			return nil, fmt.Errorf("two tools are named %s", r.known[i])
		}
	}
	slices.SortFunc(r.entries, func(a, b *entry) int { return strings.Compare(a.info.Name, b.info.Name) })
	return r, nil
}

// Infos returns the descriptions of the tools on offer, by name.
func (r *Registry) Infos() []Info {
	infos := make([]Info, len(r.entries))
	for i, e := range r.entries {
		infos[i] = e.info
	}
	return infos
}

// Known returns the names of all tools, those withheld included, by name.
func (r *Registry) Known() []string { return slices.Clone(r.known) }

// Lookup returns the tool on offer under name.
func (r *Registry) Lookup(name string) (Tool, bool) {
	e, ok := r.find(name)
	if !ok {
		return nil, false
	}
	return e.tool, true
}

// Check returns the input to run the tool with: an object that fits its schema.
// No input at all and null stand for the empty object, and a null member that
// the schema does not allow for an absent one. The error is public: it tells
// the model what to change (R-TOOLS-01).
func (r *Registry) Check(name string, input json.RawMessage) (json.RawMessage, error) {
	e, ok := r.find(name)
	if !ok {
		if _, withheld := slices.BinarySearch(r.known, name); withheld {
			return nil, Publicf("the tool %q is not available now%s", name, r.hint(name))
		}
		return nil, Publicf("there is no tool %q%s", cut(name, 64), r.hint(name))
	}
	return e.check(input)
}

func (r *Registry) find(name string) (*entry, bool) {
	i, ok := slices.BinarySearchFunc(r.entries, name, func(e *entry, name string) int {
		return cmp.Compare(e.info.Name, name)
	})
	if !ok {
		return nil, false
	}
	return r.entries[i], true
}
