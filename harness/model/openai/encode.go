package openai

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/internal/body"
	"github.com/lorimer-dev/lorimer/harness/model/internal/parts"
)

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
	if len(req.Tools) > 0 && req.NoTools && !c.profile.NoChoice {
		w.Key("tool_choice").String("none")
	}
	if limit := parts.Limit(req, &c.model); limit > 0 {
		w.Key(cmp.Or(c.profile.MaxTokens, "max_tokens")).Int(limit)
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

// writeEffort says how much to think, as far as the server can be told.
func (c *Client) writeEffort(w *body.Writer, req *model.Request) {
	p, effort := &c.profile, req.Effort
	if c.model.Thinks {
		effort = c.model.Effort(effort)
	}
	if p.NoEffortWithTools && len(req.Tools) > 0 {
		effort = model.EffortOff
	}
	value := string(effort)
	if effort == model.EffortOff {
		value = p.Off
	}
	if p.Switch && effort != model.EffortDefault {
		state := "enabled"
		if effort == model.EffortOff {
			state = "disabled"
		}
		w.Key("thinking").Object().Key("type").String(state).EndObject()
	}
	switch {
	case value == "":
	case p.Effort == reasoningEffort:
		w.Key(reasoningEffort).String(value)
	case p.Effort == "reasoning":
		w.Key("reasoning").Object().Key("effort").String(value).EndObject()
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
	c.writeSystem(w, req.System)
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

// writeSystem writes the system prompt, which ends in a breakpoint of the cache
// where the server matches it at these alone.
func (c *Client) writeSystem(w *body.Writer, text string) {
	if text == "" {
		return
	}
	w.Object().Key("role").String(cmp.Or(c.profile.System, "system")).Key("content")
	if c.profile.Breakpoint {
		w.Array().Object().Key("type").String("text").Key("text").String(text).
			Key("prompt_cache_breakpoint").Raw(`{"mode":"explicit"}`).EndObject().EndArray()
	} else {
		w.String(text)
	}
	w.EndObject()
}

func writeUser(w *body.Writer, of []llms.ContentPart) {
	if text, ok := parts.Join(of); ok { // many servers take only a string
		if text != "" {
			w.Object().Key("role").String("user").Key("content").String(text).EndObject()
		}
		return
	}
	w.Object().Key("role").String("user").Key("content").Array()
	for _, p := range of {
		switch p := p.(type) {
		case llms.BinaryContent:
			writeImage(w, p)
		case llms.ImageURLContent:
			w.Object().Key("type").String("image_url").Key("image_url").Object().Key("url").String(p.URL)
			if p.Detail != "" {
				w.Key("detail").String(p.Detail)
			}
			w.EndObject().EndObject()
		default:
			if text, ok := parts.Text(p); ok && text != "" {
				writeText(w, text)
			}
		}
	}
	w.EndArray().EndObject()
}

func writeText(w *body.Writer, s string) {
	w.Object().Key("type").String("text").Key("text").String(s).EndObject()
}

func writeImage(w *body.Writer, p llms.BinaryContent) {
	w.Object().Key("type").String("image_url").Key("image_url").Object().
		Key("url").Picture(p.MIMEType, p.Data).EndObject().EndObject()
}

// writeAnswer writes a message of the model. Reasoning goes back in the field in
// which it came, if the server wants it; one that wants reasoning_content insists
// on it, if only with an empty one, whoever made the answer (C107).
func (c *Client) writeAnswer(w *body.Writer, of []llms.ContentPart) {
	a := gather(c.model.Ref(), of)
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
	case a.hasThought || echo == "reasoning_content":
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

// gather sorts the parts of a message. What another model has beside its text and
// its calls is left behind.
func gather(ref string, of []llms.ContentPart) assistant {
	var a assistant
	for _, p := range of {
		if text, ok := parts.Text(p); ok {
			if text != "" {
				a.texts = append(a.texts, text)
			}
		} else if x, ok := parts.Call(p); ok {
			if x.Provider != ref {
				x.Content = nil
			}
			x.Content = extraContent(x.Content)
			a.calls = append(a.calls, x)
		} else if r, ok := p.(model.Reasoning); ok && r.Provider == ref {
			a.think(r)
		}
	}
	return a
}

func (a *assistant) think(r model.Reasoning) {
	switch r.Field {
	case "reasoning_content", "reasoning":
		a.thought, a.hasThought = a.thought+r.Text, true
	case "reasoning_details":
		a.details = r.Signature
	}
}

// extraContent is what goes back with a call that has data. The same model may have
// answered before in another protocol: an item of the Responses API means nothing
// here, a signature in Google's own protocol is the same in another place.
func extraContent(data json.RawMessage) json.RawMessage {
	var v struct {
		Type      string `json:"type"`
		ID        string `json:"id"`
		Signature string `json:"thoughtSignature"`
	}
	switch {
	case json.Unmarshal(data, &v) != nil, v.Type != "", v.ID != "" && v.Signature == "":
		return nil
	case v.Signature != "":
		var w body.Writer
		w.Object().Key("google").Object().Key("thought_signature").String(v.Signature).EndObject().EndObject()
		return w.Bytes()
	}
	return data
}

// Pictures are images of tool results. A message of role tool takes none, so
// they follow the last result of a step in a message of their own.
type pictures struct{ of []model.ToolResult }

func (s *pictures) writeResults(w *body.Writer, of []llms.ContentPart) {
	for _, p := range of {
		r, ok := parts.Result(p)
		if !ok {
			continue
		}
		w.Object().Key("role").String("tool").Key("tool_call_id").String(r.ToolCallID).Key("content").String(parts.Told(&r)).EndObject()
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
		writeText(w, parts.Caption(r.Name))
		for _, img := range r.Images {
			writeImage(w, img)
		}
	}
	w.EndArray().EndObject()
	s.of = nil
}
