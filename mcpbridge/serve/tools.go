package serve

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/lorimer-dev/lorimer/tools"
)

// decode decodes the parameters of a request.
func (r *request) decode(p any) *fault {
	if r.params == nil {
		return nil
	}
	err := json.Unmarshal(r.params, p)
	if bad, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return faultf(mcp.INVALID_PARAMS, "params of %s: %q must not be of type %s", r.method, bad.Field, bad.Value)
	}
	if err != nil {
		return faultf(mcp.INVALID_PARAMS, "params of %s cannot be read", r.method)
	}
	return nil
}

// page refuses a page of a list that has one alone.
func (r *request) page() *fault {
	var p struct {
		Cursor string `json:"cursor"`
	}
	if f := r.decode(&p); f != nil {
		return f
	}
	if p.Cursor != "" {
		return faultf(mcp.INVALID_PARAMS, "there is no page with the cursor %.100q; begin the list anew without one", p.Cursor)
	}
	return nil
}

// listTools is tools/list.
func listTools(ctx context.Context, r *request) (any, *fault) {
	if f := r.page(); f != nil {
		return nil, f
	}
	told := r.c.lists.telling(kindTools)
	all, err := r.c.s.desk.Tools(ctx)
	if err != nil {
		return nil, r.broken(err)
	}
	list := toolList(all)
	told(list)
	return struct {
		base
		cached
		Tools []listedTool `json:"tools"`
	}{r.base(), r.cached(holdLists), list}, nil
}

// broken is a fault for an error behind a list, whose text is for the log unless it is
// public.
func (r *request) broken(err error) *fault {
	if _, public := errors.AsType[*tools.PublicError](err); !public {
		r.c.s.o.Log.Warn().Err(err).Str("method", r.method).Msg("a list cannot be given")
	}
	return faultf(mcp.INTERNAL_ERROR, "%s", tools.ErrorText(err))
}

// A listedTool is a [Tool] on the wire.
type listedTool struct {
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	Input       json.RawMessage `json:"inputSchema"`
	Output      json.RawMessage `json:"outputSchema,omitempty"`
	Hints       hints           `json:"annotations"`
}

type hints struct {
	ReadOnly    bool  `json:"readOnlyHint"`
	Destructive *bool `json:"destructiveHint,omitempty"`
	OpenWorld   bool  `json:"openWorldHint"`
}

func toolList(all []Tool) []listedTool {
	list := make([]listedTool, 0, len(all))
	for _, t := range all {
		lt := listedTool{
			Name: t.Name, Title: t.Title, Description: t.Description, Input: objectSchema(t.Input),
			Hints: hints{ReadOnly: !t.Effect.Mutates(), OpenWorld: t.Effect == 0 || t.Effect&^(tools.Reads|tools.Edits) != 0},
		}
		if !lt.Hints.ReadOnly {
			destroys := true
			lt.Hints.Destructive = &destroys
		}
		if t.Output != nil {
			lt.Output = objectSchema(t.Output)
		}
		list = append(list, lt)
	}
	return list
}

// objectSchema returns a schema that clients can read: many give up a whole list for
// one tool whose schema is not that of an object. What is no such schema accepts any.
func objectSchema(schema json.RawMessage) json.RawMessage {
	anything := json.RawMessage(`{"type":"object"}`)
	var s map[string]json.RawMessage
	if json.Unmarshal(schema, &s) != nil || s == nil {
		return anything
	}
	changed := false
	if string(s["type"]) != `"object"` {
		s["type"], changed = json.RawMessage(`"object"`), true
	}
	var properties map[string]json.RawMessage
	if p, ok := s["properties"]; ok && (json.Unmarshal(p, &properties) != nil || properties == nil) {
		delete(s, "properties")
		changed = true
	}
	var required []string
	if q, ok := s["required"]; ok && (json.Unmarshal(q, &required) != nil || required == nil) {
		delete(s, "required")
		changed = true
	}
	if !changed {
		return schema
	}
	again, err := marshal(s)
	if err != nil {
		return anything
	}
	return again
}

// callTool is tools/call. Whatever goes wrong in the tool is a result: a model reads
// it and does something else.
func callTool(ctx context.Context, r *request) (any, *fault) {
	var p struct {
		Name      *string         `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if f := r.decode(&p); f != nil {
		return nil, f
	}
	if p.Name == nil {
		return nil, faultf(mcp.INVALID_PARAMS, "tools/call needs a name")
	}
	if len(p.Arguments) == 0 || string(p.Arguments) == "null" {
		p.Arguments = json.RawMessage("{}")
	}
	if p.Arguments[0] != '{' {
		return nil, faultf(mcp.INVALID_PARAMS, "arguments must be an object")
	}
	report := r.reporter(ctx)
	defer report.end()
	result, err := r.run(ctx, Call{
		Tool: *p.Name, Arguments: p.Arguments, Progress: report.tell,
		Log: func(l Level, text string) { r.log(ctx, l, text) },
	})
	if errors.Is(err, ErrNone) {
		return nil, faultf(mcp.INVALID_PARAMS, "there is no tool %.100q", *p.Name)
	}
	if err != nil {
		result = Result{Blocks: []Block{{Type: Text, Text: tools.ErrorText(err)}}, IsError: true}
	}
	return r.result(result), nil
}

// run calls the desk. A panic in it is as an error.
func (r *request) run(ctx context.Context, call Call) (result Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			r.panicked(p)
			result, err = Result{}, errPanic
		}
	}()
	if result, err = r.c.s.desk.Call(ctx, call); err != nil && ctx.Err() == nil {
		if _, public := errors.AsType[*tools.PublicError](err); !public && !errors.Is(err, ErrNone) {
			r.c.s.o.Log.Error().Err(err).Str("tool", call.Tool).Msg("tool failed")
		}
	}
	return result, err
}

var errPanic = errors.New("panic")

// result is a [Result] on the wire.
func (r *request) result(res Result) any {
	blocks := make([]any, 0, len(res.Blocks))
	for _, b := range res.Blocks {
		blocks = append(blocks, r.block(b))
	}
	structured := res.Structured
	if r.revision < mcp.ProtocolVersion20250618 {
		structured = nil
	}
	return struct {
		base
		Content    []any           `json:"content"`
		Structured json.RawMessage `json:"structuredContent,omitempty"`
		IsError    bool            `json:"isError,omitempty"`
	}{r.base(), blocks, structured, res.IsError}
}
