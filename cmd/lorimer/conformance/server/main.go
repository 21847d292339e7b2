// Server is what the conformance suites of MCP want to find in a server, served by
// package serve on standard input and output.
package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/lorimer-dev/lorimer/mcpbridge/serve"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/server"
)

var (
	//go:embed schema.json
	schema json.RawMessage
	//go:embed pixel.png
	pixel []byte
	//go:embed silence.wav
	silence []byte
)

// headers is a schema with an argument that goes into a header.
const headers = `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}`

func main() {
	d := &desk{}
	err := serve.New(d, serve.Options{
		Name: "lorimer-conformance", Version: "1",
		Prompts: d, Resources: d, Watch: d.watch, Pace: time.Millisecond,
	}).Serve(context.Background(), os.Stdin, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
		os.Exit(1)
	}
}

// A desk has what the suites ask for by name.
type desk struct {
	mu      sync.Mutex // guards the fields below
	changed func()     // is to hear of changes; nil is nobody
	tools   int        // further ones
	prompts int        // further ones
}

// watch has changed hear of what the tools that change lists do.
func (d *desk) watch(changed func()) (stop func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.changed = changed
	return func() {}
}

// change adds to a list.
func (d *desk) change(list *int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	*list++
	if d.changed != nil {
		d.changed()
	}
}

// further names what was added to a list.
func (d *desk) further(list *int) (names []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range *list {
		names = append(names, fmt.Sprintf("further_%d", i+1))
	}
	return names
}

func text(s string) serve.Block { return serve.Block{Type: serve.Text, Text: s} }

func image() serve.Block { return serve.Block{Type: serve.Image, MIME: "image/png", Data: pixel} }

func resource(uri, mime, text string) serve.Block {
	return serve.Block{Type: serve.Resource, URI: uri, MIME: mime, Text: text}
}

// Tools implements [serve.Desk].
func (d *desk) Tools(context.Context) ([]serve.Tool, error) {
	all := []serve.Tool{
		{Name: "json_schema_2020_12_tool", Description: "A schema of many keywords", Input: schema, Effect: tools.Reads},
		{Name: "test_custom_headers", Description: "An argument that is a header too", Input: json.RawMessage(headers), Effect: tools.Reads},
	}
	for _, name := range append([]string{
		"test_simple_text", "test_image_content", "test_audio_content", "test_embedded_resource", "test_multiple_content_types",
		"test_tool_with_logging", "test_logging_tool", "test_tool_with_progress", "test_error_handling",
		"test_trigger_tool_change", "test_trigger_prompt_change",
	}, d.further(&d.tools)...) {
		all = append(all, serve.Tool{Name: name, Description: "Gives what its name says", Effect: tools.Reads})
	}
	return all, nil
}

// Call implements [serve.Desk].
func (d *desk) Call(ctx context.Context, c serve.Call) (serve.Result, error) {
	var blocks []serve.Block
	switch c.Tool {
	case "test_simple_text":
		blocks = []serve.Block{text("This is a simple text response for testing.")}
	case "test_image_content":
		blocks = []serve.Block{image()}
	case "test_audio_content":
		blocks = []serve.Block{{Type: serve.Audio, MIME: "audio/wav", Data: silence}}
	case "test_embedded_resource":
		blocks = []serve.Block{resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")}
	case "test_multiple_content_types":
		blocks = []serve.Block{
			text("Multiple content types test:"), image(),
			resource("test://mixed-content-resource", "application/json", `{"test":"data","value":123}`),
		}
	case "test_trigger_tool_change":
		d.change(&d.tools)
		blocks = []serve.Block{text("There is one tool more.")}
	case "test_trigger_prompt_change":
		d.change(&d.prompts)
		blocks = []serve.Block{text("There is one prompt more.")}
	case "test_tool_with_logging", "test_logging_tool", "test_tool_with_progress":
		if err := d.steps(ctx, c); err != nil {
			return serve.Result{}, err
		}
		blocks = []serve.Block{text("Done.")}
	case "test_error_handling":
		return serve.Result{}, tools.Publicf("This tool intentionally returns an error for testing")
	case "json_schema_2020_12_tool", "test_custom_headers":
		blocks = []serve.Block{text(string(c.Arguments))}
	default:
		return serve.Result{}, serve.ErrNone
	}
	return serve.Result{Blocks: blocks}, nil
}

// steps tells of a call in three steps.
func (d *desk) steps(ctx context.Context, c serve.Call) error {
	for i, said := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
		if i > 0 {
			select {
			case <-time.After(50 * time.Millisecond):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if c.Tool == "test_tool_with_progress" {
			c.Progress(serve.Progress{Done: float64(50 * i), Total: 100})
		} else {
			c.Log(serve.Info, said)
		}
	}
	return nil
}

// Prompts implements [serve.Prompter].
func (d *desk) Prompts(context.Context) ([]serve.Prompt, error) {
	argument := func(names ...string) (all []server.Argument) {
		for _, n := range names {
			all = append(all, server.Argument{Name: n, Required: true})
		}
		return all
	}
	all := []serve.Prompt{
		{Name: "test_simple_prompt", Description: "One text"},
		{Name: "test_prompt_with_arguments", Description: "A text with two words filled in", Arguments: argument("arg1", "arg2")},
		{Name: "test_prompt_with_embedded_resource", Description: "A resource and a text", Arguments: argument("resourceUri")},
		{Name: "test_prompt_with_image", Description: "A picture and a text"},
	}
	for _, name := range d.further(&d.prompts) {
		all = append(all, serve.Prompt{Name: name, Description: "Was added"})
	}
	return all, nil
}

// Prompt implements [serve.Prompter].
func (d *desk) Prompt(_ context.Context, name string, arguments map[string]string) ([]server.Part, error) {
	switch name {
	case "test_simple_prompt":
		return []server.Part{{Text: "This is a simple prompt for testing."}}, nil
	case "test_prompt_with_arguments":
		return []server.Part{{Text: fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", arguments["arg1"], arguments["arg2"])}}, nil
	case "test_prompt_with_embedded_resource":
		return []server.Part{
			{URI: arguments["resourceUri"], MIME: "text/plain", Text: "Embedded resource content for testing."},
			{Text: "Please process the embedded resource above."},
		}, nil
	case "test_prompt_with_image":
		return []server.Part{{MIME: "image/png", Data: pixel}, {Text: "Please analyze the image above."}}, nil
	}
	return nil, serve.ErrNone
}

// Resources implements [serve.Library].
func (d *desk) Resources(context.Context) ([]server.Resource, error) {
	return []server.Resource{
		{URI: "test://static-text", Name: "static-text", Description: "A text", MIME: "text/plain"},
		{URI: "test://static-binary", Name: "static-binary", Description: "A picture", MIME: "image/png"},
		{URI: "test://template/{id}/data", Name: "template", Description: "A text for each id", MIME: "application/json", Template: true},
	}, nil
}

// Read implements [serve.Library].
func (d *desk) Read(_ context.Context, uri string) ([]server.Part, error) {
	switch id, ok := strings.CutPrefix(strings.TrimSuffix(uri, "/data"), "test://template/"); {
	case uri == "test://static-text":
		return []server.Part{{MIME: "text/plain", Text: "This is the content of the static text resource."}}, nil
	case uri == "test://static-binary":
		return []server.Part{{MIME: "image/png", Data: pixel}}, nil
	case ok && strings.HasSuffix(uri, "/data"):
		return []server.Part{{MIME: "application/json", Text: fmt.Sprintf(`{"id":%q,"templateTest":true,"data":"Data for ID: %s"}`, id, id)}}, nil
	}
	return nil, serve.ErrNone
}
