package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

//go:embed tools.json
var goodTools []byte

//go:embed variants.json
var variants []byte

// toolList returns the tools that the flags ask for; own nil is the usual ones.
func toolList(o options, own []json.RawMessage) ([]json.RawMessage, error) {
	list := own
	if list == nil {
		if err := json.Unmarshal(goodTools, &list); err != nil {
			return nil, err
		}
	}
	for i := range o.tools {
		list = append(list, plainTool("tool_"+strconv.Itoa(i+1)))
	}
	for _, name := range o.named {
		list = append(list, plainTool(name))
	}
	if o.modes.has("listchange") {
		list = append(list, object("name", "change", "description", "Replaces the tools beside this one.",
			"inputSchema", json.RawMessage(`{"type":"object","properties":{"tools":{"type":"array","items":{"type":"string"}},"fail":{"type":"boolean"}}}`)))
	}
	if o.modes.has("tasks") {
		list = append(list, object("name", "task", "description", "Works for a while, as a task.",
			"inputSchema", json.RawMessage(`{"type":"object","properties":{"ms":{"type":"integer"},"text":{"type":"string"},"fail":{"type":"boolean"}}}`),
			"execution", map[string]any{"taskSupport": "required"}))
	}
	_, err := o.variant("tools", o.modes.tools)
	if err == nil {
		_, err = o.variant("results", o.modes.result)
	}
	return list, err
}

// plainTool describes a tool that returns its name and arguments.
func plainTool(name string) json.RawMessage {
	return object("name", name, "description", "Returns its arguments.", "inputSchema", map[string]any{"type": "object"})
}

// variant returns a list of tools or a result that is a little off, nil for "".
func (o options) variant(kind, name string) (json.RawMessage, error) {
	switch {
	case name == "":
		return nil, nil
	case kind == "results" && name == "invalid-utf8":
		return json.RawMessage("{\"content\":[{\"type\":\"text\",\"text\":\"a\xff\xfeb\"}]}"), nil
	}
	var all map[string]map[string]json.RawMessage
	if err := json.Unmarshal(variants, &all); err != nil {
		return nil, err
	}
	if v, ok := all[kind][name]; ok {
		return v, nil
	}
	return nil, fmt.Errorf("there is no variant %q of %s; see variants.json", name, kind)
}

// addTool adds a tool and tells of it.
func (s *server) addTool(name string) {
	s.mu.Lock()
	s.tools = append(s.tools, plainTool(name))
	s.mu.Unlock()
	s.changed("tools")
}

// pageSize is how many tools a page has where there are pages.
const pageSize = 5

// listTools answers tools/list.
func (r *request) listTools(ctx context.Context) (any, error) {
	s, o := r.c.s, r.c.s.o
	s.mu.Lock()
	list, listed, none := s.tools, s.listed, s.noList
	s.listed++
	s.mu.Unlock()
	var p struct {
		Cursor string `json:"cursor"`
	}
	if len(r.Params) > 0 && json.Unmarshal(r.Params, &p) != nil {
		return nil, faultf(codeParams, "the parameters cannot be read")
	}
	result := map[string]any{"tools": list}
	if r.revision == stateless {
		result["ttlMs"], result["cacheScope"] = 0, "private"
	}
	switch {
	case o.modes.has("die-in-list"):
		s.p.die(5, "fatal: out of tools")
	case o.modes.has("list-hang"):
		return r.wait(ctx)
	case o.modes.has("list-error"), none, listed > 0 && o.modes.has("fail-list"):
		return nil, faultf(codeInternal, "the list is lost")
	case o.modes.has("no-tools"):
		return nil, faultf(codeMethod, "method not found: tools/list")
	case o.modes.tools != "":
		v, err := o.variant("tools", o.modes.tools)
		result["tools"] = v
		return result, err
	case o.modes.has("cursor-loop"):
		result["nextCursor"] = strconv.Itoa(listed + 1)
	case o.modes.has("cursor-same"):
		result["nextCursor"] = "again"
	case o.modes.has("pages"):
		at := 0
		if p.Cursor != "" {
			var err error
			if at, err = strconv.Atoi(p.Cursor); err != nil || at < 0 || at > len(list) {
				return nil, faultf(codeParams, "there is no such cursor")
			}
		}
		end := min(at+pageSize, len(list))
		result["tools"] = list[at:end]
		if end < len(list) {
			result["nextCursor"] = strconv.Itoa(end)
		}
	}
	return result, nil
}

// Arguments of the tools, all of them.
type arguments struct {
	Text    string   `json:"text"`
	A, B    float64  // of add
	MS      int      `json:"ms"`
	Bytes   int      `json:"bytes"`
	Code    *int     `json:"code"`
	Message string   `json:"message"`
	URL     string   `json:"url"`
	Prompt  string   `json:"prompt"`
	Tools   []string `json:"tools"`
	Fail    bool     `json:"fail"`
}

// A toolCall is the parameters of tools/call.
type toolCall struct {
	Name      string                     `json:"name"`
	Arguments json.RawMessage            `json:"arguments"`
	Meta      meta                       `json:"_meta"`
	Task      json.RawMessage            `json:"task"` // 2025-11-25
	Responses map[string]json.RawMessage `json:"inputResponses"`
	State     string                     `json:"requestState"`
	args      arguments
}

// call answers tools/call.
func (r *request) call(ctx context.Context) (any, error) {
	var call toolCall
	if json.Unmarshal(r.Params, &call) != nil || len(call.Arguments) > 0 && json.Unmarshal(call.Arguments, &call.args) != nil {
		return nil, faultf(codeParams, "the parameters cannot be read")
	}
	if call.Arguments != nil && string(call.Arguments) == "null" {
		return nil, faultf(codeParams, "arguments must be an object")
	}
	if result, err, ok := r.oddCall(ctx, call); ok {
		return result, err
	}
	if raw, ok := r.c.s.results[call.Name]; ok {
		return raw, nil
	}
	if !r.c.s.hasTool(call.Name) {
		return nil, faultf(codeParams, "unknown tool: %s", call.Name)
	}
	switch call.Name {
	case "sleep":
		return r.sleep(ctx, call)
	case "die":
		code := 3
		if call.args.Code != nil {
			code = *call.args.Code
		}
		r.c.s.p.die(code, "panic: asked to die")
	case "ask", "sample", "roots":
		return r.ask(ctx, call)
	case "change":
		r.c.s.change(call.args)
		return text("changed"), nil
	case "task":
		return r.startTask(call)
	}
	return r.c.s.simple(call), nil
}

func (s *server) hasTool(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, raw := range s.tools {
		var t struct {
			Name string `json:"name"`
		}
		if json.Unmarshal(raw, &t) == nil && t.Name == name {
			return true
		}
	}
	return s.o.modes.tools != "" // what is off may have any name
}

// change replaces the tools beside change itself, and tells of it.
func (s *server) change(a arguments) {
	s.mu.Lock()
	var list []json.RawMessage
	for _, raw := range s.tools {
		var t struct {
			Name string `json:"name"`
		}
		if json.Unmarshal(raw, &t) == nil && t.Name == "change" {
			list = append(list, raw)
		}
	}
	for _, name := range a.Tools {
		list = append(list, plainTool(name))
	}
	if a.Tools != nil {
		s.tools = list
	}
	s.noList = a.Fail
	s.mu.Unlock()
	s.changed("tools")
}

// sleep sleeps and tells how far it is, ten times in all.
func (r *request) sleep(ctx context.Context, call toolCall) (any, error) {
	const steps = 10
	for i := range steps {
		if err := nap(ctx, time.Duration(call.args.MS)*time.Millisecond/steps); err != nil {
			r.c.s.p.journal.write("cancelled", map[string]any{"id": r.ID})
			if r.c.s.o.modes.has("answer-cancelled") {
				return text("cancelled"), nil
			}
			return nil, err
		}
		r.progress(call.Meta, i+1, steps)
	}
	return text(fmt.Sprintf("slept %d ms", call.args.MS)), nil
}

// progress tells how far r is, if the client wants to hear it.
func (r *request) progress(m meta, done, total int) {
	if len(m.Progress) == 0 {
		return
	}
	r.emit(notification("notifications/progress", map[string]any{
		"progressToken": m.Progress, "progress": done, "total": total, "message": fmt.Sprintf("%d of %d", done, total),
	}))
}
