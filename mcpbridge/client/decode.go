package client

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rs/zerolog"

	"github.com/lorimer-dev/lorimer/tools/server"
)

// Limits of what a server may say. What is longer is cut, or left out.
const (
	maxName        = 1 << 10
	maxLine        = 1 << 10
	maxDescription = 4 << 10
	maxSchema      = 64 << 10
	maxURL         = 2 << 10
)

// anyObject stands for a schema that is too large to be passed on.
const anyObject = `{"type":"object"}`

// decodeTool reads a tool. Only a name it has to have: everything else is given up
// by itself where it is of the wrong kind.
func decodeTool(raw json.RawMessage, log zerolog.Logger) (t Tool, ok bool) {
	o, _ := fields(raw)
	name, _ := text(o["name"])
	if name == "" || len(name) > maxName {
		log.Warn().Int("bytes", len(raw)).Msg("mcp tool without a usable name left out")
		return Tool{}, false
	}
	hints, _ := fields(o["annotations"])
	execution, _ := fields(o["execution"])
	description, _ := text(o["description"])
	t = Tool{
		Name:        name,
		Title:       line(o["title"], maxLine),
		Description: cut(description, maxDescription),
		Input:       decodeSchema(o["inputSchema"], name, log),
		Output:      decodeSchema(o["outputSchema"], name, log),
		Hints: Hints{
			ReadOnly: truth(hints["readOnlyHint"]), Destructive: truth(hints["destructiveHint"]),
			Idempotent: truth(hints["idempotentHint"]), OpenWorld: truth(hints["openWorldHint"]),
		},
		Icon: decodeIcon(o["icons"]),
		Task: string(execution["taskSupport"]) == `"required"`,
	}
	if t.Title == "" {
		t.Title = line(hints["title"], maxLine)
	}
	return t, true
}

func decodeSchema(raw json.RawMessage, tool string, log zerolog.Logger) json.RawMessage {
	if len(raw) == 0 || raw[0] != '{' {
		return nil
	}
	if len(raw) > maxSchema {
		log.Warn().Str("tool", tool).Int("bytes", len(raw)).Msg("large schema of an mcp tool replaced by one that allows any object")
		return json.RawMessage(anyObject)
	}
	return kept(raw)
}

// decodeIcon returns the address of the first icon that has one of https; any other
// could lead somewhere on this machine.
func decodeIcon(raw json.RawMessage) string {
	icons, _ := elements(raw)
	for _, icon := range icons {
		o, _ := fields(icon)
		if src, _ := text(o["src"]); strings.HasPrefix(src, "https://") && len(src) <= maxURL {
			return src
		}
	}
	return ""
}

func decodePrompt(raw json.RawMessage) (p Prompt, ok bool) {
	o, _ := fields(raw)
	name, _ := text(o["name"])
	if name == "" || len(name) > maxName {
		return Prompt{}, false
	}
	p = Prompt{Name: name, Title: line(o["title"], maxLine), Description: line(o["description"], maxLine)}
	arguments, _ := elements(o["arguments"])
	for _, raw := range arguments {
		o, _ := fields(raw)
		name, _ := text(o["name"])
		if name == "" || len(name) > maxName {
			continue
		}
		required := truth(o["required"])
		p.Arguments = append(p.Arguments, server.Argument{
			Name: name, Description: line(o["description"], maxLine), Required: required != nil && *required,
		})
	}
	return p, true
}

// decodeResource reads a resource, or the template of some, whose address is the
// member key.
func decodeResource(raw json.RawMessage, key string) (r server.Resource, ok bool) {
	o, _ := fields(raw)
	uri, _ := text(o[key])
	if uri == "" || len(uri) > maxURL {
		return server.Resource{}, false
	}
	r = server.Resource{
		URI: uri, Name: line(o["title"], maxLine), Description: line(o["description"], maxLine),
		MIME: line(o["mimeType"], maxLine), Template: key == "uriTemplate",
	}
	if r.Name == "" {
		r.Name = line(o["name"], maxLine)
	}
	return r, true
}

// decodeParts reads the content of a resource, or with a role the content of a
// message. It may be one block or a list of them.
func decodeParts(raw json.RawMessage, role string) (parts []server.Part) {
	for _, b := range decodeBlocks(raw) {
		part := server.Part{Role: role, URI: b.URI, MIME: b.MIME, Text: b.Text, Data: b.Data}
		switch {
		case b.Type == "resource_link":
			part.MIME, part.Text = "", linkText(b)
		case b.Raw != nil:
			part.MIME, part.Text = "", string(b.Raw)
		}
		parts = append(parts, part)
	}
	return parts
}

// linkText is what a link is in a place that only text can be in.
func linkText(b Block) string {
	s := b.URI
	if b.MIME != "" {
		s = "(" + b.MIME + ") " + s
	}
	if b.Name != "" {
		s = b.Name + " " + s
	}
	if b.Description != "" {
		s += ": " + b.Description
	}
	return s
}

// decodeMessages reads the messages of a prompt.
func decodeMessages(raw json.RawMessage) (parts []server.Part) {
	messages, _ := elements(raw)
	for _, raw := range messages {
		o, ok := fields(raw)
		if !ok {
			continue
		}
		role, _ := text(o["role"])
		if role != "assistant" {
			role = "user"
		}
		parts = append(parts, decodeParts(o["content"], role)...)
	}
	return parts
}

// decodeContents reads what a resource holds.
func decodeContents(raw json.RawMessage) (parts []server.Part) {
	contents, ok := elements(raw)
	if !ok && !none(raw) {
		contents = []json.RawMessage{raw}
	}
	for _, raw := range contents {
		b := Block{}
		if !b.resource(raw) {
			b.Text = literal(raw)
		}
		parts = append(parts, server.Part{URI: b.URI, MIME: b.MIME, Text: b.Text, Data: b.Data})
	}
	return parts
}

// answered takes apart what a server answered to method.
func answered(method string, raw json.RawMessage) (object, error) {
	o, ok := fields(raw)
	if !ok || !json.Valid(raw) {
		return nil, fmt.Errorf("%s: the server's answer is no JSON object", method)
	}
	return o, nil
}
