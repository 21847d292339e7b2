package serve

import (
	"cmp"
	"context"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/lorimer-dev/lorimer/tools/server"
)

type textBlock struct {
	Type BlockType `json:"type"`
	Text string    `json:"text"`
}

type dataBlock struct {
	Type BlockType `json:"type"`
	Data []byte    `json:"data"`
	MIME string    `json:"mimeType"`
}

type linkBlock struct {
	Type        BlockType `json:"type"`
	URI         string    `json:"uri"`
	Name        string    `json:"name"`
	Description string    `json:"description,omitempty"`
	MIME        string    `json:"mimeType,omitempty"`
}

type resourceBlock struct {
	Type     BlockType `json:"type"`
	Resource content   `json:"resource"`
}

// A content is what a resource holds: a text, or data.
type content struct {
	URI  string  `json:"uri"`
	MIME string  `json:"mimeType,omitempty"`
	Text *string `json:"text,omitempty"`
	Blob *[]byte `json:"blob,omitempty"`
}

// block is a [Block] on the wire. What the revision does not know is told in words: a
// client of its time would not read the result.
func (r *request) block(b Block) any {
	switch {
	case b.Type == Image, b.Type == Audio && r.revision >= mcp.ProtocolVersion20250326:
		return dataBlock{b.Type, b.Data, b.MIME}
	case b.Type == Audio:
		return textBlock{Text, fmt.Sprintf("(a sound of %d bytes, %s)", len(b.Data), b.MIME)}
	case b.Type == Link && r.revision >= mcp.ProtocolVersion20250618:
		return linkBlock{Link, b.URI, cmp.Or(b.Name, b.URI), b.Description, b.MIME}
	case b.Type == Link:
		return textBlock{Text, fmt.Sprintf("%s (%s): %s", cmp.Or(b.Name, b.URI), b.MIME, b.URI)}
	case b.Type == Resource:
		return resourceBlock{Resource, contentOf(b.URI, b.MIME, b.Text, b.Data)}
	}
	return textBlock{Text, b.Text}
}

func contentOf(uri, mime, text string, data []byte) content {
	if data != nil {
		return content{URI: uri, MIME: mime, Blob: &data}
	}
	return content{URI: uri, MIME: mime, Text: &text}
}

// listPrompts is prompts/list.
func listPrompts(ctx context.Context, r *request) (any, *fault) {
	if f := r.page(); f != nil {
		return nil, f
	}
	told := r.c.lists.telling(kindPrompts)
	all, err := r.c.s.o.Prompts.Prompts(ctx)
	if err != nil {
		return nil, r.broken(err)
	}
	list := promptList(all)
	told(list)
	return struct {
		base
		cached
		Prompts []listedPrompt `json:"prompts"`
	}{r.base(), r.cached(holdLists), list}, nil
}

type listedPrompt struct {
	Name        string     `json:"name"`
	Title       string     `json:"title,omitempty"`
	Description string     `json:"description,omitempty"`
	Arguments   []argument `json:"arguments,omitempty"`
}

type argument struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`
}

func promptList(all []Prompt) []listedPrompt {
	list := make([]listedPrompt, 0, len(all))
	for _, p := range all {
		lp := listedPrompt{Name: p.Name, Title: p.Title, Description: p.Description}
		for _, a := range p.Arguments {
			lp.Arguments = append(lp.Arguments, argument(a))
		}
		list = append(list, lp)
	}
	return list
}

// getPrompt is prompts/get.
func getPrompt(ctx context.Context, r *request) (any, *fault) {
	var p struct {
		Name      string            `json:"name"`
		Arguments map[string]string `json:"arguments"`
	}
	if f := r.decode(&p); f != nil {
		return nil, f
	}
	parts, err := r.c.s.o.Prompts.Prompt(ctx, p.Name, p.Arguments)
	if err != nil {
		return nil, refusal(err, faultf(mcp.INVALID_PARAMS, "there is no prompt %.100q", p.Name))
	}
	type message struct {
		Role    string `json:"role"`
		Content any    `json:"content"`
	}
	messages := make([]message, 0, len(parts))
	for _, part := range parts {
		messages = append(messages, message{cmp.Or(part.Role, "user"), r.block(blockOf(part))})
	}
	return struct {
		base
		Messages []message `json:"messages"`
	}{r.base(), messages}, nil
}

// blockOf returns a part of a prompt as a block.
func blockOf(p server.Part) Block {
	b := Block{Type: Text, Text: p.Text, Data: p.Data, MIME: p.MIME, URI: p.URI}
	switch {
	case p.URI != "":
		b.Type = Resource
	case p.Data != nil && len(p.MIME) > 6 && p.MIME[:6] == "audio/":
		b.Type = Audio
	case p.Data != nil:
		b.Type = Image
	}
	return b
}

// listResources is resources/list.
func listResources(ctx context.Context, r *request) (any, *fault) {
	all, f := r.resources(ctx)
	return struct {
		base
		cached
		Resources []listedResource `json:"resources"`
	}{r.base(), r.cached(holdLists), resourceList(all, false)}, f
}

// listTemplates is resources/templates/list.
func listTemplates(ctx context.Context, r *request) (any, *fault) {
	all, f := r.resources(ctx)
	return struct {
		base
		cached
		Templates []listedResource `json:"resourceTemplates"`
	}{r.base(), r.cached(holdLists), resourceList(all, true)}, f
}

// resources asks for all of them.
func (r *request) resources(ctx context.Context) ([]server.Resource, *fault) {
	if f := r.page(); f != nil {
		return nil, f
	}
	told := r.c.lists.telling(kindResources)
	all, err := r.c.s.o.Resources.Resources(ctx)
	if err != nil {
		return nil, r.broken(err)
	}
	told(all)
	return all, nil
}

type listedResource struct {
	URI         string `json:"uri,omitempty"`
	Template    string `json:"uriTemplate,omitempty"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	MIME        string `json:"mimeType,omitempty"`
}

// resourceList returns the templates, or those that are none.
func resourceList(all []server.Resource, templates bool) []listedResource {
	list := make([]listedResource, 0, len(all))
	for _, r := range all {
		lr := listedResource{Name: cmp.Or(r.Name, r.URI), Description: r.Description, MIME: r.MIME}
		switch {
		case r.Template != templates:
			continue
		case templates:
			lr.Template = r.URI
		default:
			lr.URI = r.URI
		}
		list = append(list, lr)
	}
	return list
}

// readResource is resources/read.
func readResource(ctx context.Context, r *request) (any, *fault) {
	var p struct {
		URI string `json:"uri"`
	}
	if f := r.decode(&p); f != nil {
		return nil, f
	}
	parts, err := r.c.s.o.Resources.Read(ctx, p.URI)
	if err != nil {
		return nil, refusal(err, r.noResource(p.URI))
	}
	contents := make([]content, 0, len(parts))
	for _, part := range parts {
		contents = append(contents, contentOf(cmp.Or(part.URI, p.URI), part.MIME, part.Text, part.Data))
	}
	return struct {
		base
		cached
		Contents []content `json:"contents"`
	}{r.base(), r.cached(0), contents}, nil
}

// noResource tells that there is no such resource, by the code of the revision.
func (r *request) noResource(uri string) *fault {
	f := faultf(mcp.RESOURCE_NOT_FOUND, "there is no resource %.200q", uri)
	if stateless(r.revision) {
		f.Code = mcp.INVALID_PARAMS
	}
	f.Data = struct {
		URI string `json:"uri"`
	}{uri}
	return f
}
