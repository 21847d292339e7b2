package ollama

import (
	_ "embed"
	"encoding/json"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/internal/body"
	"github.com/lorimer-dev/lorimer/harness/model/internal/parts"
)

// linkText takes the place of a picture that is named by its address.
//
//go:embed text/link.md
var linkText string

// thinkingField is the field in which thoughts come, and go back.
const thinkingField = "thinking"

// body is req on the wire. What a session keeps stands before the messages.
func (c *Client) body(req *model.Request) []byte {
	var w body.Writer
	w.Object().Key("model").String(c.model.ID).Key("stream").Bool(true).
		Key("truncate").Bool(false). // an error rather than a prompt without its beginning
		Key("shift").Bool(false)     // an end rather than an answer that forgets what it answers
	if len(req.Tools) > 0 {
		writeTools(&w, req.Tools)
	}
	c.writeMessages(&w, req)
	c.writeOptions(&w, req)
	if t := c.think(req.Effort); t != "" {
		w.Key("think").Raw(t)
	}
	if req.JSON {
		w.Key("format").String("json")
	}
	return w.EndObject().Bytes()
}

func (c *Client) writeOptions(w *body.Writer, req *model.Request) {
	limit := parts.Limit(req, &c.model)
	if c.model.Window <= 0 && limit == 0 && req.Temperature == nil {
		return
	}
	w.Key("options").Object()
	if c.model.Window > 0 {
		w.Key("num_ctx").Int(c.model.Window)
	}
	if limit > 0 {
		w.Key("num_predict").Int(limit)
	}
	if req.Temperature != nil {
		w.Key("temperature").Float(*req.Temperature)
	}
	w.EndObject()
}

// think is the value for an effort, "" for none: true or false, or the name of a
// level for models that have levels. Servers refuse a level to every other model,
// and any value to one that does not think.
func (c *Client) think(wish model.Effort) string {
	effort := c.model.Effort(wish)
	switch {
	case effort == model.EffortDefault:
		return ""
	case effort == model.EffortOff:
		return "false"
	case c.model.Efforts == nil && !strings.Contains(strings.ToLower(c.model.ID), "gpt-oss"):
		return "true"
	}
	switch effort {
	case model.EffortMinimal, model.EffortLow:
		return `"low"`
	case model.EffortMedium, model.EffortMax:
		return `"` + string(effort) + `"`
	}
	return `"high"`
}

func writeTools(w *body.Writer, tools []model.Tool) {
	w.Key("tools").Array()
	for _, t := range tools {
		schema := string(t.Schema)
		if schema == "" {
			schema = `{"type":"object","properties":{}}` // templates look into it
		}
		w.Object().Key("type").String("function").Key("function").Object().
			Key("name").String(t.Name).Key("description").String(t.Description).Key("parameters").Raw(schema).
			EndObject().EndObject()
	}
	w.EndArray()
}

func (c *Client) writeMessages(w *body.Writer, req *model.Request) {
	w.Key("messages").Array()
	if req.System != "" {
		w.Object().Key("role").String("system").Key("content").String(req.System).EndObject()
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

func writeUser(w *body.Writer, of []llms.ContentPart) {
	var texts []string
	images := 0
	for _, p := range of {
		if _, ok := encoded(p); ok {
			images++
			continue
		}
		switch p := p.(type) {
		case llms.TextContent:
			texts = append(texts, p.Text)
		case llms.ImageURLContent:
			texts = append(texts, strings.TrimSpace(strings.ReplaceAll(linkText, "{{url}}", p.URL)))
		}
	}
	if images == 0 && strings.Join(texts, "") == "" {
		return
	}
	w.Object().Key("role").String("user").Key("content").String(strings.Join(texts, "\n\n"))
	if images > 0 {
		w.Key("images").Array()
		for _, p := range of {
			if write, ok := encoded(p); ok {
				write(w)
			}
		}
		w.EndArray()
	}
	w.EndObject()
}

// encoded returns how to write p as a picture, in base64 without a type.
func encoded(p llms.ContentPart) (func(*body.Writer), bool) {
	switch p := p.(type) {
	case llms.BinaryContent:
		return func(w *body.Writer) { w.Base64("", p.Data) }, true
	case llms.ImageURLContent:
		head, data, ok := strings.Cut(p.URL, ";base64,")
		return func(w *body.Writer) { w.String(data) }, ok && strings.HasPrefix(head, "data:image/")
	}
	return nil, false
}

// writeAnswer writes a message of the model, with the thoughts that it had for it.
func (c *Client) writeAnswer(w *body.Writer, of []llms.ContentPart) {
	var texts []string
	var calls []*llms.FunctionCall
	var ids []string
	thought := ""
	for _, p := range of {
		if s, ok := parts.Text(p); ok && s != "" {
			texts = append(texts, s)
		}
		if r, ok := p.(model.Reasoning); ok && r.Field == thinkingField && r.Provider == c.model.Ref() {
			thought += r.Text
		}
		if t, ok := parts.Call(p); ok {
			calls, ids = append(calls, t.FunctionCall), append(ids, t.ID)
		}
	}
	if len(texts) == 0 && len(calls) == 0 {
		return
	}
	w.Object().Key("role").String("assistant").Key("content").String(strings.Join(texts, "\n\n"))
	if thought != "" {
		w.Key(thinkingField).String(thought)
	}
	if len(calls) > 0 {
		w.Key("tool_calls").Array()
		for i, f := range calls {
			w.Object().Key("id").String(ids[i]).Key("function").Object().
				Key("index").Int(i).Key("name").String(f.Name).Key("arguments").Raw(object(f.Arguments)).EndObject().EndObject()
		}
		w.EndArray()
	}
	w.EndObject()
}

// object is args as it came, if it is the object that the protocol wants.
func object(args string) string {
	args = strings.TrimSpace(args)
	if !strings.HasPrefix(args, "{") || !json.Valid([]byte(args)) {
		return "{}"
	}
	return args
}

// Pictures are images of tool results. Templates look for pictures in messages of
// the user, so they follow the last result of a step in one.
type pictures struct{ of []model.ToolResult }

func (s *pictures) writeResults(w *body.Writer, of []llms.ContentPart) {
	for _, p := range of {
		r, ok := parts.Result(p)
		if !ok {
			continue
		}
		w.Object().Key("role").String("tool").Key("content").String(parts.Told(&r)).Key("tool_name").String(r.Name).
			Key("tool_call_id").String(r.ToolCallID).EndObject()
		if len(r.Images) > 0 {
			s.of = append(s.of, r)
		}
	}
}

func (s *pictures) flush(w *body.Writer) {
	for _, r := range s.of {
		told := []llms.ContentPart{llms.TextContent{Text: parts.Caption(r.Name)}}
		for _, img := range r.Images {
			told = append(told, img)
		}
		writeUser(w, told)
	}
	s.of = nil
}
