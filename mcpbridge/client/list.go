package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
	"github.com/lorimer-dev/lorimer/tools/server"
)

// Bounds of a list. A server that goes on beyond them is not read further.
const (
	listTimeout = 30 * time.Second // for all pages
	maxPages    = 100
	maxItems    = 2000
)

func (p *peer) Tools(ctx context.Context) (list []Tool, err error) {
	if !p.has(Tools) && len(p.about.Has) > 0 { // a server that tells of no list at all may still have this one
		return nil, nil
	}
	names, annotated := map[string]bool{}, map[string]json.RawMessage{}
	err = p.list(ctx, methodTools, "tools", func(raw json.RawMessage) {
		t, ok := decodeTool(raw, p.o.Log)
		if !ok {
			return
		}
		if names[t.Name] {
			p.o.Log.Warn().Str("tool", t.Name).Msg("second tool of the same name left out")
			return
		}
		if p.headed() {
			o, _ := fields(raw)
			wanted, err := annotations(o["inputSchema"])
			if err != nil {
				p.o.Log.Warn().Err(err).Str("tool", t.Name).Msg("mcp tool with wrong headers left out")
				return
			}
			if wanted != nil {
				annotated[t.Name] = wanted
			}
		}
		names[t.Name] = true
		list = append(list, t)
	})
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.annotated = annotated
	p.listed[Tools] = true
	return list, nil
}

func (p *peer) Prompts(ctx context.Context) (list []Prompt, err error) {
	if !p.has(Prompts) {
		return nil, nil
	}
	err = p.list(ctx, methodPrompts, "prompts", func(raw json.RawMessage) {
		if prompt, ok := decodePrompt(raw); ok {
			list = append(list, prompt)
		}
	})
	if err != nil {
		return nil, err
	}
	p.mark(Prompts)
	return list, nil
}

func (p *peer) Resources(ctx context.Context) (list []server.Resource, err error) {
	if !p.has(Resources) {
		return nil, nil
	}
	take := func(key string) func(json.RawMessage) {
		return func(raw json.RawMessage) {
			if r, ok := decodeResource(raw, key); ok {
				r.Server = p.o.Label
				list = append(list, r)
			}
		}
	}
	if err = p.list(ctx, methodResources, "resources", take("uri")); err != nil {
		return nil, err
	}
	err = p.list(ctx, methodTemplates, "resourceTemplates", take("uriTemplate"))
	if _, refused := errors.AsType[*transport.Error](err); err != nil && !refused { // many servers have none
		return nil, err
	}
	p.mark(Resources)
	return list, nil
}

func (p *peer) has(kind Kind) bool { return slices.Contains(p.about.Has, kind) }

// mark marks that a list has been read.
func (p *peer) mark(kind Kind) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.listed[kind] = true
}

// list visits each item of a list, which is the member key of the pages that method
// gives. A server that does not know the method has no items.
func (p *peer) list(ctx context.Context, method, key string, visit func(json.RawMessage)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, listTimeout, fmt.Errorf("%w: no list after %v", ErrTimeout, listTimeout))
	defer cancel()
	var seen []string // cursors
	items := 0
	q := query{method: method}
	for {
		raw, err := p.send(ctx, nil, q)
		if err != nil {
			if refusal, ok := errors.AsType[*transport.Error](err); ok && refusal.Code == transport.CodeMethodNotFound && seen == nil {
				return nil
			}
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			return err
		}
		page, cursor, err := decodePage(method, key, raw)
		if err != nil {
			return err
		}
		for _, item := range page {
			if items++; items <= maxItems {
				visit(item)
			}
		}
		if none(cursor) || string(cursor) == `""` {
			return nil
		}
		if slices.Contains(seen, string(cursor)) || len(seen)+1 == maxPages || items >= maxItems {
			p.o.Log.Warn().Str("method", method).Int("pages", len(seen)+1).Int("items", items).Msg("list of an mcp server without an end cut short")
			return nil
		}
		seen = append(seen, string(cursor))
		q.params = map[string]any{"cursor": cursor}
	}
}

// decodePage returns the items of a page, and the cursor of the next one.
func decodePage(method, key string, raw json.RawMessage) (items []json.RawMessage, cursor json.RawMessage, err error) {
	o, err := answered(method, raw)
	if err != nil {
		return nil, nil, err
	}
	if items, ok := elements(o[key]); ok || none(o[key]) {
		return items, o["nextCursor"], nil
	}
	return nil, nil, fmt.Errorf("%s: the server's list is none", method)
}

// headed reports whether calls have headers.
func (p *peer) headed() bool { return p.o.HTTP && p.about.Era == Stateless }

// headers returns the headers of a call.
func (p *peer) headers(q query) (map[string]string, error) {
	p.mu.Lock()
	wanted := p.annotated[q.name]
	p.mu.Unlock()
	if wanted == nil {
		return nil, nil
	}
	params, err := json.Marshal(q.params)
	if err != nil {
		return nil, err
	}
	return mcp.GenerateParamHeaders(&mcp.Tool{RawInputSchema: wanted}, params), nil
}

// annotations returns what a schema says of headers, or why it cannot; nil where it
// says nothing.
func annotations(schema json.RawMessage) (json.RawMessage, error) {
	found := false
	reduced, err := json.Marshal(reduce(schema, &found, 0))
	if err != nil || !found {
		return nil, err
	}
	return reduced, mcp.ValidateParamHeaderAnnotations(&mcp.Tool{RawInputSchema: reduced})
}

// reduce returns those parts of a schema that headers depend on, without any other
// that the library could not read.
func reduce(schema json.RawMessage, found *bool, depth int) map[string]any {
	const maxDepth = 16
	o, _ := fields(schema)
	reduced := map[string]any{}
	if value, ok := o["type"]; ok {
		reduced["type"] = value
	}
	if value, ok := o["x-mcp-header"]; ok {
		reduced["x-mcp-header"] = value
		*found = true
	}
	if properties, _ := fields(o["properties"]); len(properties) > 0 && depth < maxDepth {
		list := map[string]any{}
		for name, property := range properties {
			list[name] = reduce(property, found, depth+1)
		}
		reduced["properties"] = list
	}
	return reduced
}
