package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/internal/parts"
)

var errNotObject = errors.New("not a JSON object")

// calls joins the pieces of tool calls. A server should send an index with every
// piece and an id and a name with the first; servers leave out each of these,
// repeat them, or use one index for several calls.
type calls struct {
	list    []*call
	byIndex map[int]*call
	told    int // calls whose start has been told
}

// A call is one of them. Its arguments are collected verbatim.
type call struct {
	ids     []string // of the server, "" never
	id      string   // ours and the model's: the first of the server, or made up
	name    string
	args    strings.Builder
	extra   json.RawMessage
	ordinal int // -1 until its start has been told
}

// add puts a piece where it belongs and tells of it.
func (cs *calls) add(d *callDelta, tell func(model.Event) error) error {
	c, again := cs.find(d)
	if again {
		return nil
	}
	if c == nil {
		c = &call{ordinal: -1}
		cs.list = append(cs.list, c)
	}
	if d.Index != nil {
		if cs.byIndex == nil {
			cs.byIndex = map[int]*call{}
		}
		cs.byIndex[*d.Index] = c
	}
	if d.ID != "" && !slices.Contains(c.ids, d.ID) {
		c.ids = append(c.ids, d.ID)
	}
	if c.name == "" {
		c.name = d.Function.Name
	}
	if present(d.Extra) && c.extra == nil {
		c.extra = bytes.Clone(d.Extra)
	}
	c.args.WriteString(string(d.Function.Arguments))
	switch {
	case c.ordinal >= 0 && d.Function.Arguments != "":
		return tell(model.ToolArgs{Index: c.ordinal, Fragment: string(d.Function.Arguments)})
	case c.ordinal < 0 && c.name != "":
		return cs.start(c, tell)
	}
	return nil
}

// find returns the call that d continues, or nil for a new one; again says that
// d is a whole call that has been seen already.
func (cs *calls) find(d *callDelta) (c *call, again bool) {
	name, args := d.Function.Name, string(d.Function.Arguments)
	if d.ID != "" { // a known id wins over the index
		var known *call // the last one that goes by it
		taken := false
		for _, c := range cs.list {
			if !slices.Contains(c.ids, d.ID) {
				continue
			}
			taken = true
			if name != "" && c.name != "" && name != c.name {
				continue
			}
			if isWhole(args) && args == c.args.String() {
				return c, true
			}
			known = c
		}
		switch {
		case known != nil && !(isWhole(args) && known.followedBy(args)):
			return known, false
		case taken:
			return nil, false // two calls under one id
		}
	} else if name != "" && isWhole(args) {
		for _, c := range cs.list {
			if len(c.ids) == 0 && c.name == name && c.args.String() == args {
				return c, true
			}
		}
	}
	at := cs.at(d.Index)
	if at == nil {
		if name == "" && d.ID == "" && len(cs.list) > 0 { // a tail belongs to the last call
			return cs.list[len(cs.list)-1], false
		}
		return nil, false
	}
	if at.continuedBy(d) {
		return at, false
	}
	return nil, false
}

// at returns the call under index i, or the last one for a piece without index.
func (cs *calls) at(i *int) *call {
	if i != nil {
		return cs.byIndex[*i]
	}
	if len(cs.list) == 0 {
		return nil
	}
	return cs.list[len(cs.list)-1]
}

// continuedBy reports whether d, which stands where c stood last, is a piece of
// c rather than the start of another call. Its id is not one of c's.
func (c *call) continuedBy(d *callDelta) bool {
	name, args := d.Function.Name, string(d.Function.Arguments)
	switch {
	case d.ID != "" && len(c.ids) > 0:
		// Some gateways make up an id for each piece, but such a piece has no name.
		return name == "" && !c.followedBy(args)
	case name == "":
		return true
	case c.name == "":
		return true
	case name != c.name:
		return false
	}
	return !c.followedBy(args) // the name is repeated, or it is the same tool again
}

// followedBy reports whether c is complete and args begin another object.
func (c *call) followedBy(args string) bool {
	return strings.HasPrefix(args, "{") && isWhole(c.args.String())
}

// isWhole reports whether args are a complete JSON object.
func isWhole(args string) bool {
	args = strings.TrimSpace(args)
	return strings.HasSuffix(args, "}") && json.Valid([]byte(args))
}

// start tells of c and of the arguments that came before its name.
func (cs *calls) start(c *call, tell func(model.Event) error) error {
	c.id = parts.NewID()
	if len(c.ids) > 0 && !cs.taken(c.ids[0]) {
		c.id = c.ids[0]
	}
	c.ordinal = cs.told
	cs.told++
	if err := tell(model.ToolStart{Index: c.ordinal, ID: c.id, Name: c.name}); err != nil {
		return err
	}
	if c.args.Len() == 0 {
		return nil
	}
	return tell(model.ToolArgs{Index: c.ordinal, Fragment: c.args.String()})
}

func (cs *calls) taken(id string) bool {
	return slices.ContainsFunc(cs.list, func(c *call) bool { return c.id == id })
}

// close drops what never became a call, and tells of calls without a name, which
// are for the caller to refuse.
func (cs *calls) close(tell func(model.Event) error) error {
	cs.list = slices.DeleteFunc(cs.list, func(c *call) bool { return c.name == "" && c.args.Len() == 0 })
	for _, c := range cs.list {
		if c.ordinal < 0 {
			if err := cs.start(c, tell); err != nil {
				return err
			}
		}
	}
	slices.SortFunc(cs.list, func(a, b *call) int { return a.ordinal - b.ordinal })
	return nil
}

// part is c as a part of the reply of model ref.
func (c *call) part(ref string) llms.ContentPart {
	args := c.args.String()
	if strings.TrimSpace(args) == "" {
		args = "{}"
	}
	t := llms.ToolCall{ID: c.id, Type: "function", FunctionCall: &llms.FunctionCall{Name: c.name, Arguments: args}}
	if c.extra == nil {
		return t
	}
	return model.Extra{ToolCall: t, Provider: ref, Content: c.extra}
}
