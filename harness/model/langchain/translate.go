package langchain

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/internal/parts"
)

// messages turns a request into what a model of langchaingo understands: no parts
// of ours, and the shape that it wants.
func messages(req *model.Request, o *Options) []llms.MessageContent {
	if o.Shape == Flat {
		return []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, flat(req))}
	}
	var out []llms.MessageContent
	if req.System != "" {
		out = append(out, llms.TextParts(llms.ChatMessageTypeSystem, req.System))
	}
	for _, m := range req.Messages {
		said := plain(m.Parts, o.Pictures)
		switch {
		case o.Shape == Joined:
			said = join(said)
		case o.Shape == Grouped && m.Role != llms.ChatMessageTypeTool:
		default:
			for _, p := range said {
				out = append(out, llms.MessageContent{Role: m.Role, Parts: []llms.ContentPart{p}})
			}
			continue
		}
		if len(said) > 0 {
			out = append(out, llms.MessageContent{Role: m.Role, Parts: said})
		}
	}
	if o.Shape == Paired {
		return pair(out)
	}
	return out
}

// plain returns parts as those of llms alone. Reasoning stays behind, and so does
// what only a wrapper is to see.
func plain(of []llms.ContentPart, pictures Pictures) []llms.ContentPart {
	var out []llms.ContentPart
	for _, p := range of {
		if t, ok := parts.Text(p); ok {
			if t != "" {
				out = append(out, llms.TextContent{Text: t})
			}
			continue
		}
		if c, ok := parts.Call(p); ok {
			out = append(out, c.ToolCall)
			continue
		}
		if r, ok := parts.Result(p); ok {
			r.ToolCallResponse.Content = parts.Told(&r)
			out = append(out, r.ToolCallResponse)
			continue
		}
		switch p := p.(type) {
		case llms.BinaryContent:
			out = append(out, picture(p, pictures))
		case llms.ImageURLContent:
			out = append(out, p)
		}
	}
	return out
}

func picture(p llms.BinaryContent, want Pictures) llms.ContentPart {
	if want == Data {
		return p
	}
	return llms.ImageURLPart("data:" + p.MIMEType + ";base64," + base64.StdEncoding.EncodeToString(p.Data))
}

// join makes one text of the texts and results, with the pictures after it. Calls
// are for models that read them.
func join(of []llms.ContentPart) []llms.ContentPart {
	var texts []string
	var out []llms.ContentPart
	for _, p := range of {
		switch p := p.(type) {
		case llms.TextContent:
			texts = append(texts, p.Text)
		case llms.ToolCallResponse:
			texts = append(texts, p.Content)
		case llms.BinaryContent, llms.ImageURLContent:
			out = append(out, p)
		}
	}
	if len(texts) == 0 {
		return out
	}
	return append([]llms.ContentPart{llms.TextContent{Text: strings.Join(texts, "\n\n")}}, out...)
}

// pair moves each result to its call, in messages of one part each.
func pair(msgs []llms.MessageContent) []llms.MessageContent {
	results := map[string]llms.MessageContent{}
	for _, m := range msgs {
		if r, ok := m.Parts[0].(llms.ToolCallResponse); ok {
			results[r.ToolCallID] = m
		}
	}
	var out []llms.MessageContent
	for _, m := range msgs {
		switch p := m.Parts[0].(type) {
		case llms.ToolCallResponse: // stands with its call
		case llms.ToolCall:
			out = append(out, m)
			if r, ok := results[p.ID]; ok {
				out = append(out, r)
			}
		default:
			out = append(out, m)
		}
	}
	return out
}

// tools turns tools into langchaingo's. The schema is a map, which is what its
// models look into.
func tools(ts []model.Tool) []llms.Tool {
	var out []llms.Tool
	for _, t := range ts {
		var schema any = map[string]any{"type": "object"}
		var m map[string]any
		if json.Unmarshal(t.Schema, &m) == nil && m != nil {
			schema = m
		}
		out = append(out, llms.Tool{Type: "function", Function: &llms.FunctionDefinition{
			Name: t.Name, Description: t.Description, Parameters: schema,
		}})
	}
	return out
}

// isToolJSON reports whether a chunk is a list of tool calls in JSON, which some
// models push into the stream of text.
func isToolJSON(p []byte) bool {
	if !bytes.HasPrefix(p, []byte("[{")) {
		return false
	}
	var calls []struct {
		Type     string           `json:"type"`
		Function *json.RawMessage `json:"function"`
	}
	if json.Unmarshal(p, &calls) != nil || len(calls) == 0 {
		return false
	}
	for _, c := range calls {
		if c.Function == nil && c.Type != "function" {
			return false
		}
	}
	return true
}
