package openai

import (
	"cmp"
	_ "embed"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/internal/body"
)

// imageText tells the model where the images that follow come from.
//
//go:embed text/images.md
var imageText string

// errorMark begins the result of a call that failed: the protocol has no field
// for it.
const errorMark = "ERROR: "

// standIn takes the place of a thought signature for calls that another model
// made; Google documents it for exactly that.
const standIn = `{"google":{"thought_signature":"skip_thought_signature_validator"}}`

// body is req on the wire. What a session keeps stands before the messages, what
// a step may change after them, so that request n is a prefix of request n+1.
func (c *Client) body(req *model.Request) []byte {
	var w body.Writer
	w.Object().Key("model").String(c.model.ID).Key("stream").Bool(true)
	if c.profile.StreamUsage {
		w.Key("stream_options").Raw(`{"include_usage":true}`)
	}
	if c.profile.CacheKey && req.Session != "" {
		w.Key("prompt_cache_key").String(req.Session)
	}
	if len(req.Tools) > 0 {
		writeTools(&w, req.Tools)
	}
	c.writeMessages(&w, req)
	if len(req.Tools) > 0 && req.NoTools {
		w.Key("tool_choice").String("none")
	}
	if req.MaxTokens > 0 {
		w.Key(cmp.Or(c.profile.MaxTokens, "max_tokens")).Int(req.MaxTokens)
	}
	c.writeEffort(&w, req)
	if c.profile.Temperature && req.Temperature != nil {
		w.Key("temperature").Float(*req.Temperature)
	}
	if c.profile.JSON && req.JSON {
		w.Key("response_format").Raw(`{"type":"json_object"}`)
	}
	return w.EndObject().Bytes()
}

func (c *Client) writeEffort(w *body.Writer, req *model.Request) {
	p, effort := &c.profile, req.Effort
	if p.NoEffortWithTools && len(req.Tools) > 0 {
		effort = model.EffortOff
	}
	value := string(effort)
	if effort == model.EffortOff {
		value = p.Off
	}
	if value == "" {
		return
	}
	switch p.Effort {
	case "reasoning_effort":
		w.Key("reasoning_effort").String(value)
	case "reasoning":
		w.Key("reasoning").Object().Key("effort").String(value).EndObject()
	case "thinking":
		if effort != model.EffortOff {
			value = "enabled"
		}
		w.Key("thinking").Object().Key("type").String(value).EndObject()
	}
}

func writeTools(w *body.Writer, tools []model.Tool) {
	w.Key("tools").Array()
	for _, t := range tools {
		w.Object().Key("type").String("function").Key("function").Object().
			Key("name").String(t.Name).Key("description").String(t.Description)
		if len(t.Schema) > 0 {
			w.Key("parameters").Raw(string(t.Schema))
		}
		w.EndObject().EndObject()
	}
	w.EndArray()
}

func (c *Client) writeMessages(w *body.Writer, req *model.Request) {
	w.Key("messages").Array()
	if req.System != "" {
		w.Object().Key("role").String(cmp.Or(c.profile.System, "system")).Key("content").String(req.System).EndObject()
	}
	var seen pictures
	for i := range req.Messages {
		m := &req.Messages[i]
		if m.Role == llms.ChatMessageTypeTool {
			seen.writeResults(w, m.Parts)
			continue
		}
		seen.flush(w)
		if m.Role == llms.ChatMessageTypeAI {
			c.writeAnswer(w, m.Parts)
		} else {
			writeUser(w, m.Parts)
		}
	}
	seen.flush(w)
	w.EndArray()
}

func writeUser(w *body.Writer, parts []llms.ContentPart) {
	if text, ok := plainText(parts); ok {
		if text != "" {
			w.Object().Key("role").String("user").Key("content").String(text).EndObject()
		}
		return
	}
	w.Object().Key("role").String("user").Key("content").Array()
	for _, p := range parts {
		switch p := p.(type) {
		case llms.TextContent:
			writeText(w, p.Text)
		case llms.BinaryContent:
			writeImage(w, p)
		case llms.ImageURLContent:
			w.Object().Key("type").String("image_url").Key("image_url").Object().Key("url").String(p.URL)
			if p.Detail != "" {
				w.Key("detail").String(p.Detail)
			}
			w.EndObject().EndObject()
		}
	}
	w.EndArray().EndObject()
}

func writeText(w *body.Writer, s string) {
	w.Object().Key("type").String("text").Key("text").String(s).EndObject()
}

func writeImage(w *body.Writer, p llms.BinaryContent) {
	w.Object().Key("type").String("image_url").Key("image_url").Object().
		Key("url").Base64("data:"+mediaType(p.MIMEType)+";base64,", p.Data).EndObject().EndObject()
}

// mediaType is t if it is one, since it goes into a string without escaping.
func mediaType(t string) string {
	ok := t != "" && strings.IndexFunc(t, func(r rune) bool { return r <= ' ' || r >= 127 || r == '"' || r == '\\' }) < 0
	if !ok {
		return "application/octet-stream"
	}
	return t
}

// plainText joins parts that are all text: many servers take only a string.
func plainText(parts []llms.ContentPart) (string, bool) {
	var texts []string
	for _, p := range parts {
		t, ok := p.(llms.TextContent)
		if !ok {
			return "", false
		}
		texts = append(texts, t.Text)
	}
	return strings.Join(texts, "\n\n"), true
}

// writeAnswer writes a message of the model. Reasoning goes back in the field in
// which it came, if the server wants it; a server that insists gets an empty one
// with calls that have none.
func (c *Client) writeAnswer(w *body.Writer, parts []llms.ContentPart) {
	a := gather(parts)
	if len(a.texts) == 0 && len(a.calls) == 0 {
		return
	}
	w.Object().Key("role").String("assistant")
	switch echo := c.profile.Echo; {
	case echo == "":
	case echo == "reasoning_details":
		if a.details != "" {
			w.Key(echo).Raw(a.details)
		}
	case a.hasThought || echo == "reasoning_content" && len(a.calls) > 0:
		w.Key(echo).String(a.thought)
	}
	w.Key("content")
	if len(a.texts) > 0 {
		w.String(strings.Join(a.texts, "\n\n"))
	} else {
		w.Null() // some servers insist on the field
	}
	if len(a.calls) > 0 {
		c.writeCalls(w, a.calls)
	}
	w.EndObject()
}

func (c *Client) writeCalls(w *body.Writer, calls []model.Extra) {
	signed := false
	for _, t := range calls {
		signed = signed || len(t.Content) > 0
	}
	w.Key("tool_calls").Array()
	for i, t := range calls {
		w.Object().Key("id").String(t.ID).Key("type").String("function").Key("function").Object().
			Key("name").String(t.FunctionCall.Name).Key("arguments").String(t.FunctionCall.Arguments).EndObject()
		switch {
		case len(t.Content) > 0:
			w.Key("extra_content").Raw(string(t.Content))
		case c.profile.Signatures && !signed && i == 0:
			w.Key("extra_content").Raw(standIn)
		}
		w.EndObject()
	}
	w.EndArray()
}

// An assistant is what a message of the model is made of.
type assistant struct {
	texts      []string
	calls      []model.Extra // Content is nil for a plain call
	thought    string
	hasThought bool
	details    string // a JSON array
}

func gather(parts []llms.ContentPart) assistant {
	var a assistant
	for _, p := range parts {
		switch p := p.(type) {
		case llms.TextContent:
			if p.Text != "" {
				a.texts = append(a.texts, p.Text)
			}
		case model.Reasoning:
			switch p.Field {
			case "reasoning_content", "reasoning":
				a.thought, a.hasThought = a.thought+p.Text, true
			case "reasoning_details":
				a.details = p.Signature
			}
		case llms.ToolCall:
			if p.FunctionCall != nil {
				a.calls = append(a.calls, model.Extra{ToolCall: p})
			}
		case model.Extra:
			if p.FunctionCall != nil {
				a.calls = append(a.calls, p)
			}
		}
	}
	return a
}

// Pictures are images of tool results. A message of role tool takes none, so
// they follow the last result of a step in a message of their own.
type pictures struct{ of []model.ToolResult }

func (s *pictures) writeResults(w *body.Writer, parts []llms.ContentPart) {
	for _, p := range parts {
		var r model.ToolResult
		switch p := p.(type) {
		case model.ToolResult:
			r = p
		case llms.ToolCallResponse:
			r.ToolCallResponse = p
		default:
			continue
		}
		text := r.Content
		if r.IsError {
			text = errorMark + text
		}
		w.Object().Key("role").String("tool").Key("tool_call_id").String(r.ToolCallID).Key("content").String(text).EndObject()
		if len(r.Images) > 0 {
			s.of = append(s.of, r)
		}
	}
}

func (s *pictures) flush(w *body.Writer) {
	if len(s.of) == 0 {
		return
	}
	w.Object().Key("role").String("user").Key("content").Array()
	for _, r := range s.of {
		writeText(w, strings.TrimSpace(strings.ReplaceAll(imageText, "{{tool}}", r.Name)))
		for _, img := range r.Images {
			writeImage(w, img)
		}
	}
	w.EndArray().EndObject()
	s.of = nil
}
