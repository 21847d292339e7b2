package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// run returns the result of r: a map, or what a mode wants in its place.
func (r *request) run(ctx context.Context) (any, error) {
	o := r.c.s.o
	if o.modes.has("never-init") {
		return r.wait(ctx)
	}
	switch r.Method {
	case "initialize":
		return r.initialize(ctx)
	case "server/discover":
		if result, err, ok := r.oddDiscover(ctx); ok {
			return result, err
		}
	}
	if err := r.era(); err != nil {
		return nil, err
	}
	switch r.Method {
	case "server/discover":
		return r.discover(ctx)
	case "ping":
		return map[string]any{}, nil
	case "tools/list":
		return r.listTools(ctx)
	case "tools/call":
		return r.call(ctx)
	case "prompts/list":
		return map[string]any{"prompts": []any{greet()}}, nil
	case "prompts/get":
		return r.prompt()
	case "resources/list":
		return map[string]any{"resources": resources()}, nil
	case "resources/templates/list":
		return map[string]any{"resourceTemplates": templates()}, nil
	case "resources/read":
		return r.read()
	case "resources/subscribe", "resources/unsubscribe", "logging/setLevel":
		return map[string]any{}, nil
	case "completion/complete":
		return map[string]any{"completion": map[string]any{"values": []string{"Ada", "Alan"}, "total": 2, "hasMore": false}}, nil
	case "subscriptions/listen":
		return r.listen(ctx)
	case "tasks/get", "tasks/result", "tasks/cancel", "tasks/update", "tasks/list":
		return r.task(ctx)
	}
	return nil, faultf(codeMethod, "method not found: %s", r.Method)
}

// wait waits until nobody wants an answer any more.
func (r *request) wait(ctx context.Context) (any, error) {
	select {
	case <-ctx.Done():
	case <-r.c.gone:
	}
	return nil, errSilent
}

// nap waits for d, less if ctx ends.
func nap(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// newer reports whether the server speaks the stateless revision.
func (o options) newer() bool { return o.revision == stateless }

// older reports whether the server speaks one with a handshake.
func (o options) older() bool { return o.revision != stateless || o.modes.has("dual") }

// era finds out which revision r is of, and whether that is served.
func (r *request) era() error {
	var p struct {
		Meta meta `json:"_meta"`
	}
	if len(r.Params) > 0 && json.Unmarshal(r.Params, &p) != nil {
		return faultf(codeParams, "the parameters cannot be read")
	}
	r.meta = p.Meta
	if r.revision = r.c.spoken(); r.revision != "" {
		return nil
	}
	o := r.c.s.o
	switch {
	case !o.newer() && r.Method == "server/discover":
		return faultf(codeMethod, "method not found: %s", r.Method)
	case !o.newer(): // some clients never say that they have begun; nor does it matter
		r.revision = o.revision
		return nil
	case p.Meta.Revision == "":
		return faultf(codeParams, "_meta lacks io.modelcontextprotocol/protocolVersion")
	case p.Meta.Revision != stateless:
		return r.c.s.wrongRevision(p.Meta.Revision)
	case p.Meta.Capabilities == nil:
		return faultf(codeParams, "_meta lacks io.modelcontextprotocol/clientCapabilities")
	}
	r.revision = stateless
	return nil
}

func (s *server) wrongRevision(wanted string) *fault {
	f := faultf(codeRevision, "revision %q is not served", wanted)
	f.Data = map[string]any{"supported": s.served(), "requested": wanted}
	return f
}

// served lists the revisions that are served, the newest first.
func (s *server) served() []string {
	if s.o.newer() && !s.o.modes.has("dual") {
		return []string{stateless}
	}
	list := slices.Clone(revisions())
	list = list[:slices.Index(list, s.o.revision)+1]
	slices.Reverse(list)
	return list
}

// initialize answers a handshake.
func (r *request) initialize(ctx context.Context) (any, error) {
	s, o := r.c.s, r.c.s.o
	if err := r.slow(ctx); err != nil {
		return nil, err
	}
	var p struct {
		Revision string `json:"protocolVersion"`
	}
	if json.Unmarshal(r.Params, &p) != nil {
		return nil, faultf(codeParams, "the parameters cannot be read")
	}
	if !o.older() {
		return nil, s.wrongRevision(p.Revision)
	}
	speak := min(o.revision, lastHandshake)
	if slices.Contains(revisions(), p.Revision) {
		speak = min(speak, p.Revision)
	}
	switch {
	case o.modes.has("future-version"):
		speak = "2027-01-01"
	case o.modes.has("odd-version"):
		speak = "2025-01-01"
	}
	r.c.mu.Lock()
	r.c.revision = speak
	r.c.mu.Unlock()
	r.revision = speak
	result := map[string]any{"protocolVersion": speak, "serverInfo": s.info(), "capabilities": s.capabilities(speak)}
	if o.instructions != "" {
		result["instructions"] = o.instructions
	}
	return result, nil
}

// slow does what goes wrong in the first answer.
func (r *request) slow(ctx context.Context) error {
	p, o := r.c.s.p, r.c.s.o
	switch {
	case o.modes.has("die-in-init"):
		p.die(2, "fatal: cannot connect to database")
	case o.modes.has("slow-init"):
		return nap(ctx, p.pause(8*time.Second))
	case o.modes.has("ping-first"):
		r.emit(object("jsonrpc", "2.0", "id", "srv-1", "method", "ping"))
	}
	return nil
}

// oddDiscover answers server/discover where a mode has an answer of its own.
func (r *request) oddDiscover(ctx context.Context) (result any, err error, ok bool) {
	p, o := r.c.s.p, r.c.s.o
	switch {
	case o.modes.has("crash-on-discover"):
		p.die(1, "error: expected initialize request, got server/discover")
	case o.modes.has("silent-discover"):
		result, err = r.wait(ctx)
		return result, err, true
	case o.modes.has("discover-empty"):
		return map[string]any{}, nil, true
	case o.modes.has("discover-zero"):
		return nil, faultf(0, "unknown method"), true
	}
	return nil, nil, false
}

// discover tells what the server is (2026-07-28).
func (r *request) discover(ctx context.Context) (any, error) {
	if err := r.slow(ctx); err != nil {
		return nil, err
	}
	r.c.begun() // there is no other beginning
	s := r.c.s
	result := map[string]any{
		"supportedVersions": s.served(), "capabilities": s.capabilities(stateless),
		"ttlMs": 0, "cacheScope": "private",
	}
	if s.o.instructions != "" {
		result["instructions"] = s.o.instructions
	}
	return result, nil
}

func (s *server) info() map[string]any {
	return map[string]any{"name": s.o.name, "title": "Stub", "version": "1.0.0"}
}

func (s *server) capabilities(revision string) map[string]any {
	c := map[string]any{
		"tools":       map[string]any{"listChanged": true},
		"prompts":     map[string]any{"listChanged": true},
		"resources":   map[string]any{"listChanged": true, "subscribe": true},
		"completions": map[string]any{},
	}
	if s.o.modes.has("no-tools") {
		delete(c, "tools")
	}
	switch {
	case !s.o.modes.has("tasks"):
	case revision == stateless:
		c["extensions"] = map[string]any{tasksExtension: map[string]any{}}
	case revision == lastHandshake:
		c["tasks"] = map[string]any{
			"list": map[string]any{}, "cancel": map[string]any{},
			"requests": map[string]any{"tools": map[string]any{"call": map[string]any{}}},
		}
	}
	if revision != stateless {
		c["logging"] = map[string]any{}
	}
	return c
}

func greet() map[string]any {
	return map[string]any{
		"name": "greet", "title": "Greeting", "description": "Greets somebody.",
		"arguments": []any{
			map[string]any{"name": "name", "description": "Who is greeted.", "required": true},
			map[string]any{"name": "tone", "description": "How."},
		},
	}
}

func (r *request) prompt() (any, error) {
	var p struct {
		Name      string            `json:"name"`
		Arguments map[string]string `json:"arguments"`
	}
	if err := json.Unmarshal(r.Params, &p); err != nil || p.Name != "greet" || p.Arguments["name"] == "" {
		return nil, faultf(codeParams, "the prompt is greet, and it needs name")
	}
	text := "Greet " + p.Arguments["name"] + "."
	if tone := p.Arguments["tone"]; tone != "" {
		text += " Be " + tone + "."
	}
	return map[string]any{
		"description": "Greets somebody.",
		"messages":    []any{map[string]any{"role": "user", "content": map[string]any{"type": "text", "text": text}}},
	}, nil
}

func resources() []any {
	return []any{
		map[string]any{"uri": "memo://1", "name": "First memo", "description": "What was noted first.", "mimeType": "text/plain"},
		map[string]any{"uri": "memo://picture", "name": "Picture", "mimeType": "image/png"},
	}
}

func templates() []any {
	return []any{map[string]any{"uriTemplate": "memo://{n}", "name": "Memo", "description": "A memo by its number.", "mimeType": "text/plain"}}
}

func (r *request) read() (any, error) {
	var p struct {
		URI string `json:"uri"`
	}
	if json.Unmarshal(r.Params, &p) != nil {
		return nil, faultf(codeParams, "the parameters cannot be read")
	}
	content := map[string]any{"uri": p.URI}
	name, _ := strings.CutPrefix(p.URI, "memo://")
	n, err := strconv.Atoi(name)
	switch {
	case p.URI == "memo://picture":
		content["mimeType"], content["blob"] = "image/png", picture
	case err == nil && n > 0 && n < 1000:
		content["mimeType"], content["text"] = "text/plain", fmt.Sprintf("This is memo %d.", n)
	default:
		f := faultf(codeResource, "resource not found")
		if r.revision == stateless {
			f.Code = codeParams
		}
		f.Data = map[string]any{"uri": p.URI}
		return nil, f
	}
	return map[string]any{"contents": []any{content}}, nil
}
