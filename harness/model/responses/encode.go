package responses

import (
	"encoding/json"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/internal/body"
	"github.com/lorimer-dev/lorimer/harness/model/internal/parts"
)

// minOutput is the smallest limit of an answer that OpenAI accepts.
const minOutput = 16

// body is req on the wire. What a session keeps stands before the input, what a
// step may change after it, so that request n is a prefix of request n+1.
func (c *Client) body(req *model.Request) []byte {
	var w body.Writer
	w.Object().Key("model").String(c.model.ID).Key("store").Bool(false).Key("stream").Bool(true)
	if c.thinks && !c.spared.encrypted.Load() {
		w.Key("include").Raw(`["reasoning.encrypted_content"]`)
	}
	if c.home && req.Session != "" {
		w.Key("prompt_cache_key").String(req.Session)
	}
	if len(req.Tools) > 0 {
		writeTools(&w, req.Tools)
	}
	w.Key("input").Array()
	c.writeSystem(&w, req.System)
	for i := range req.Messages {
		c.writeMessage(&w, &req.Messages[i])
	}
	w.EndArray()
	if len(req.Tools) > 0 && req.NoTools {
		w.Key("tool_choice").String("none")
	}
	if limit := parts.Limit(req, &c.model); limit > 0 {
		w.Key("max_output_tokens").Int(max(limit, minOutput))
	}
	c.writeReasoning(&w, req.Effort)
	if !c.thinks && !c.kind.Strict() && req.Temperature != nil {
		w.Key("temperature").Float(*req.Temperature)
	}
	if req.JSON {
		w.Key("text").Raw(`{"format":{"type":"json_object"}}`)
	}
	return w.EndObject().Bytes()
}

// writeReasoning asks a model that thinks for its effort and for a summary of its
// thoughts, which are secret themselves.
func (c *Client) writeReasoning(w *body.Writer, wish model.Effort) {
	if !c.thinks {
		return
	}
	if c.model.Thinks {
		wish = c.model.Effort(wish)
	}
	effort := string(wish)
	if wish == model.EffortOff {
		effort = c.off()
	}
	summary := wish != model.EffortOff && !c.spared.summary.Load()
	if effort == "" && !summary {
		return
	}
	w.Key("reasoning").Object()
	if effort != "" {
		w.Key("effort").String(effort)
	}
	if summary {
		w.Key("summary").String("auto")
	}
	w.EndObject()
}

// off is the effort of a model that is not to think: of those that cannot help it
// the weakest.
func (c *Client) off() string {
	switch {
	case c.kind.Strict():
		return c.kind.Off()
	case len(c.model.Levels()) > 0:
		return string(c.model.Levels()[0])
	}
	return ""
}

// writeTools declares tools. Strict mode, which is the default where a schema
// allows it, would make every optional argument a required one.
func writeTools(w *body.Writer, tools []model.Tool) {
	w.Key("tools").Array()
	for _, t := range tools {
		w.Object().Key("type").String("function").Key("name").String(t.Name).Key("description").String(t.Description).Key("parameters")
		if len(t.Schema) > 0 {
			w.Raw(string(t.Schema))
		} else {
			w.Raw(`{"type":"object","properties":{}}`)
		}
		w.Key("strict").Bool(false).EndObject()
	}
	w.EndArray()
}

// writeSystem writes the system prompt as the first message of the input rather
// than as instructions: only there can it end in a cache breakpoint, and only
// there does a request for JSON count that it makes.
func (c *Client) writeSystem(w *body.Writer, text string) {
	if text == "" {
		return
	}
	role := "system"
	if c.home && c.thinks {
		role = "developer"
	}
	w.Object().Key("role").String(role).Key("content")
	if c.home && c.kind.From(5, 6) { // these match the cache at breakpoints alone; one at the newest message is implicit
		w.Array().Object().Key("type").String("input_text").Key("text").String(text).
			Key("prompt_cache_breakpoint").Raw(`{"mode":"explicit"}`).EndObject().EndArray()
	} else {
		w.String(text)
	}
	w.EndObject()
}

func (c *Client) writeMessage(w *body.Writer, m *llms.MessageContent) {
	switch m.Role {
	case llms.ChatMessageTypeAI:
		c.writeAnswer(w, m.Parts)
	case llms.ChatMessageTypeTool:
		for _, p := range m.Parts {
			if r, ok := parts.Result(p); ok {
				writeResult(w, &r)
			}
		}
	default:
		writeUser(w, m.Parts)
	}
}

func writeUser(w *body.Writer, of []llms.ContentPart) {
	if text, ok := parts.Join(of); ok {
		if text != "" {
			w.Object().Key("role").String("user").Key("content").String(text).EndObject()
		}
		return
	}
	w.Object().Key("role").String("user").Key("content").Array()
	for _, p := range of {
		switch p := p.(type) {
		case llms.BinaryContent:
			writePicture(w, p)
		case llms.ImageURLContent:
			detail := p.Detail
			if detail == "" {
				detail = "auto"
			}
			w.Object().Key("type").String("input_image").Key("image_url").String(p.URL).Key("detail").String(detail).EndObject()
		default:
			if text, ok := parts.Text(p); ok && text != "" {
				writeText(w, text)
			}
		}
	}
	w.EndArray().EndObject()
}

func writeText(w *body.Writer, s string) {
	w.Object().Key("type").String("input_text").Key("text").String(s).EndObject()
}

func writePicture(w *body.Writer, p llms.BinaryContent) {
	w.Object().Key("type").String("input_image").Key("image_url").Picture(p.MIMEType, p.Data).Key("detail").String("auto").EndObject()
}

// writeResult writes the result of a call, with its pictures inside it.
func writeResult(w *body.Writer, r *model.ToolResult) {
	w.Object().Key("type").String("function_call_output").Key("call_id").String(r.ToolCallID).Key("output")
	text := parts.Told(r)
	if len(r.Images) == 0 {
		w.String(text).EndObject()
		return
	}
	w.Array()
	if text != "" {
		writeText(w, text)
	}
	for _, img := range r.Images {
		writePicture(w, img)
	}
	w.EndArray().EndObject()
}

// writeAnswer writes what the model said, item by item. Thoughts go back to the
// model that has them, and only before the item that they led to: without it the
// API takes them for lost.
func (c *Client) writeAnswer(w *body.Writer, of []llms.ContentPart) {
	var held []string // thoughts that wait for what they led to
	linked := false   // the last thought goes back, so that ids may stand after it
	for _, p := range of {
		if r, ok := p.(model.Reasoning); ok {
			item := c.thought(r)
			if linked = item != ""; linked {
				held = append(held, item)
			}
			continue
		}
		own, text, call := c.said(p)
		if text == "" && call == nil {
			continue
		}
		for _, item := range held {
			w.Raw(item)
		}
		held = nil
		if !linked {
			own.ID = ""
		}
		if call != nil {
			own.writeCall(w, call)
		} else {
			own.writeMessage(w, text)
		}
	}
}

// thought is the item of r, "" if this model did not make it in this protocol, or
// its server does not read it.
func (c *Client) thought(r model.Reasoning) string {
	if r.Provider != c.model.Ref() || typeOf(r.Signature) != "reasoning" || !c.spared.reads(r.Signature) {
		return ""
	}
	return r.Signature
}

// typeOf is the type of an item, "" for what is none.
func typeOf(item string) string {
	var v struct{ Type string }
	if !strings.HasPrefix(item, "{") || json.Unmarshal([]byte(item), &v) != nil {
		return ""
	}
	return v.Type
}

// said is the text or the call that p is, with what an item of this model had
// beside it.
func (c *Client) said(p llms.ContentPart) (own kept, text string, call *llms.FunctionCall) {
	if x, ok := parts.Call(p); ok {
		if x.Provider == c.model.Ref() {
			own.read("function_call", x.Content)
		}
		own.callID = x.ID
		return own, "", x.FunctionCall
	}
	text, _ = parts.Text(p)
	if s, ok := p.(model.SignedText); ok && s.Provider == c.model.Ref() && own.read("message", s.Content) {
		text = strings.TrimLeft(text, "\n") // a gap that was told between two messages
	}
	return own, text, nil
}
