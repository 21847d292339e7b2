package anthropic

import (
	"encoding/json"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/internal/body"
)

const cacheMark = `{"type":"ephemeral"}`

// body is req on the wire, in the order in which the provider caches: tools,
// system, messages. What a step may change comes last. The protocol has no mode
// for JSON: a request for it is left to its prompt.
func (c *Client) body(req *model.Request) []byte {
	msgs := messages(c.model.Ref(), req.Messages)
	mark(msgs)
	limit := c.limit(req)
	var w body.Writer
	w.Object().Key("model").String(c.model.ID).Key("max_tokens").Int(limit).Key("stream").Bool(true)
	thinks := c.writeThinking(&w, req, limit, msgs)
	if c.family.temperature && !thinks && req.Temperature != nil {
		w.Key("temperature").Float(*req.Temperature)
	}
	if len(req.Tools) > 0 {
		writeTools(&w, req.Tools, strings.TrimSpace(req.System) == "")
	}
	if strings.TrimSpace(req.System) != "" {
		w.Key("system").Array().Object().Key("type").String("text").Key("text").String(req.System).
			Key("cache_control").Raw(cacheMark).EndObject().EndArray()
	}
	w.Key("messages").Array()
	for _, m := range msgs {
		w.Object().Key("role").String(m.role).Key("content").Array()
		for _, b := range m.blocks {
			b.write(&w)
		}
		w.EndArray().EndObject()
	}
	w.EndArray()
	if len(req.Tools) > 0 && req.NoTools {
		w.Key("tool_choice").Raw(`{"type":"none"}`)
	}
	return w.EndObject().Bytes()
}

// mostUnasked is the most tokens that an answer may have where nobody asked for
// more: providers set aside what they are told, and limit how much that may be.
const mostUnasked = 64_000

// limit is how many tokens the answer may have. The prompt has its half of a small
// window at least.
func (c *Client) limit(req *model.Request) int {
	d := &c.model
	switch {
	case req.MaxTokens > 0 && d.Output > 0:
		return min(req.MaxTokens, d.Output)
	case req.MaxTokens > 0:
		return req.MaxTokens
	}
	n := c.family.maxTokens
	if d.Output > 0 {
		n = min(d.Output, mostUnasked)
	}
	if d.Window > 1 {
		n = min(n, d.Window/2)
	}
	return n
}

// writeThinking asks for thoughts as far as the request wants them and reports
// whether it did.
func (c *Client) writeThinking(w *body.Writer, req *model.Request, limit int, msgs []message) bool {
	f := c.family
	effort := req.Effort
	switch {
	case f.thinking == never, effort == model.EffortDefault:
		return false
	case effort == model.EffortOff:
		if f.always { // an explicit "disabled" is an error with some of them
			w.Key("output_config").Raw(`{"effort":"low"}`)
		}
		return f.always
	case f.thinking == adaptive:
		w.Key("thinking").Raw(`{"type":"adaptive","display":"summarized"}`) // else some of them hide it
		w.Key("output_config").Object().Key("effort").String(string(f.effort(&c.model, effort))).EndObject()
		return true
	}
	n := budget(effort, limit)
	if n == 0 || midway(msgs) {
		return false
	}
	w.Key("thinking").Object().Key("type").String("enabled").Key("budget_tokens").Int(n).EndObject()
	return true
}

// midway reports whether the last answer called tools without having thought. To
// think from there on is an error with budgets: such a turn goes on as it began,
// under another model or without thinking.
func midway(msgs []message) bool {
	n := len(msgs)
	if n < 2 || msgs[n-1].blocks[0].kind != "tool_result" {
		return false
	}
	first := msgs[n-2].blocks[0].kind
	return first != "thinking" && first != "redacted_thinking"
}

// writeTools writes the declarations, with a cache mark on the last if no system
// prompt follows to carry it.
func writeTools(w *body.Writer, tools []model.Tool, last bool) {
	w.Key("tools").Array()
	for i, t := range tools {
		w.Object().Key("name").String(t.Name).Key("description").String(t.Description).Key("input_schema")
		if len(t.Schema) > 0 {
			w.Raw(string(t.Schema))
		} else {
			w.Raw(`{"type":"object"}`)
		}
		if last && i == len(tools)-1 {
			w.Key("cache_control").Raw(cacheMark)
		}
		w.EndObject()
	}
	w.EndArray()
}

// A message is all that one side says until the other does.
type message struct {
	role   string
	blocks []block
}

// A block is one block of a message and how to write it.
type block struct {
	kind   string
	marked bool
	fields func(*body.Writer)
}

func (b *block) write(w *body.Writer) {
	w.Object().Key("type").String(b.kind)
	b.fields(w)
	if b.marked {
		w.Key("cache_control").Raw(cacheMark)
	}
	w.EndObject()
}

// messages turns a history into messages that alternate. Blocks that the
// protocol refuses, such as text without a letter or thoughts that ref did not
// sign, are left out.
func messages(ref string, history []llms.MessageContent) []message {
	var out []message
	for _, m := range history {
		role := "user"
		if m.Role == llms.ChatMessageTypeAI {
			role = "assistant"
		}
		for _, p := range m.Parts {
			b, ok := blockOf(ref, p)
			if !ok {
				continue
			}
			if n := len(out); n > 0 && out[n-1].role == role {
				out[n-1].blocks = append(out[n-1].blocks, b)
			} else {
				out = append(out, message{role, []block{b}})
			}
		}
	}
	return out
}

func blockOf(ref string, p llms.ContentPart) (block, bool) {
	switch p := p.(type) {
	case llms.TextContent:
		return textBlock(p.Text)
	case model.SignedText: // of a model of another protocol
		return textBlock(p.Text)
	case model.Reasoning:
		return thought(ref, p)
	case llms.ToolCall:
		return toolUse(p)
	case model.Extra:
		return toolUse(p.ToolCall)
	case llms.ToolCallResponse:
		return toolResult(model.ToolResult{ToolCallResponse: p}), true
	case model.ToolResult:
		return toolResult(p), true
	case llms.BinaryContent:
		return image(p), true
	case model.Picture:
		return image(p.BinaryContent), true
	case llms.ImageURLContent:
		return imageAt(p.URL), true
	}
	return block{}, false
}

func textBlock(s string) (block, bool) {
	return block{kind: "text", fields: func(w *body.Writer) { w.Key("text").String(s) }}, strings.TrimSpace(s) != ""
}

func thought(ref string, p model.Reasoning) (block, bool) {
	if p.Redacted != "" {
		return block{kind: "redacted_thinking", fields: func(w *body.Writer) { w.Key("data").String(p.Redacted) }}, p.Provider == ref
	}
	return block{kind: "thinking", fields: func(w *body.Writer) {
		w.Key("thinking").String(p.Text).Key("signature").String(p.Signature)
	}}, p.Signature != "" && p.Provider == ref
}

func toolUse(p llms.ToolCall) (block, bool) {
	if p.FunctionCall == nil {
		return block{}, false
	}
	input := strings.TrimSpace(p.FunctionCall.Arguments)
	if !strings.HasPrefix(input, "{") || !json.Valid([]byte(input)) {
		input = "{}" // anything else would spoil the whole request
	}
	return block{kind: "tool_use", fields: func(w *body.Writer) {
		w.Key("id").String(p.ID).Key("name").String(p.FunctionCall.Name).Key("input").Raw(input)
	}}, true
}

func toolResult(p model.ToolResult) block {
	return block{kind: "tool_result", fields: func(w *body.Writer) {
		w.Key("tool_use_id").String(p.ToolCallID)
		switch {
		case len(p.Images) > 0:
			w.Key("content").Array()
			if strings.TrimSpace(p.Content) != "" {
				w.Object().Key("type").String("text").Key("text").String(p.Content).EndObject()
			}
			for _, img := range p.Images {
				b := image(img)
				b.write(w)
			}
			w.EndArray()
		case p.Content != "":
			w.Key("content").String(p.Content)
		}
		if p.IsError {
			w.Key("is_error").Bool(true)
		}
	}}
}

func image(p llms.BinaryContent) block {
	return block{kind: "image", fields: func(w *body.Writer) {
		w.Key("source").Object().Key("type").String("base64").Key("media_type").String(p.MIMEType).
			Key("data").Base64("", p.Data).EndObject()
	}}
}

// imageAt is a picture by its address, which may be the picture itself.
func imageAt(url string) block {
	kind, data, found := strings.Cut(strings.TrimPrefix(url, "data:"), ";base64,")
	return block{kind: "image", fields: func(w *body.Writer) {
		w.Key("source").Object()
		if found && strings.HasPrefix(url, "data:") {
			w.Key("type").String("base64").Key("media_type").String(kind).Key("data").String(data)
		} else {
			w.Key("type").String("url").Key("url").String(url)
		}
		w.EndObject()
	}}
}

// lookBack is how many blocks before a mark the provider searches for a cached
// prefix, less a reserve.
const lookBack = 18

// anchors is how many marks of four are left beside that of the system prompt and
// that of the last block.
const anchors = 2

// mark sets the cache marks of messages: on the last block, and on blocks that
// were the last of an earlier request when they have fallen out of sight. The
// first of these makes the previous request found whatever the step after it
// added; the second one does when that request came to nothing.
func mark(msgs []message) {
	if len(msgs) == 0 {
		return
	}
	last := len(msgs) - 1
	markLast(&msgs[last])
	left, passed := anchors, len(msgs[last].blocks)
	for i := last - 1; i >= 0 && left > 0; i-- {
		if msgs[i].role == "user" && passed > lookBack {
			markLast(&msgs[i])
			left, passed = left-1, 0
		}
		passed += len(msgs[i].blocks)
	}
}

// markLast marks the last block that takes a mark.
func markLast(m *message) {
	for i := len(m.blocks) - 1; i >= 0; i-- {
		if k := m.blocks[i].kind; k != "thinking" && k != "redacted_thinking" {
			m.blocks[i].marked = true
			return
		}
	}
}
