package gemini

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/internal/body"
	"github.com/lorimer-dev/lorimer/harness/model/internal/parts"
)

// standIn takes the place of the signature of a call that another model made;
// Google documents it for exactly that.
const standIn = "skip_thought_signature_validator"

// body is req on the wire. What a session keeps stands before the contents, what
// a step may change after them, so that request n is a prefix of request n+1. The
// model is no part of it: it stands in the address.
func (c *Client) body(req *model.Request) []byte {
	var w body.Writer
	w.Object()
	if len(req.Tools) > 0 {
		writeTools(&w, req.Tools)
	}
	if strings.TrimSpace(req.System) != "" {
		w.Key("systemInstruction").Object().Key("parts").Array().Object().Key("text").String(req.System).EndObject().EndArray().EndObject()
	}
	w.Key("contents").Array()
	for _, m := range c.contents(req.Messages) {
		w.Object().Key("role").String(m.role).Key("parts").Array()
		for _, write := range m.parts {
			w.Object()
			write(&w)
			w.EndObject()
		}
		w.EndArray().EndObject()
	}
	w.EndArray()
	if len(req.Tools) > 0 && req.NoTools {
		w.Key("toolConfig").Raw(`{"functionCallingConfig":{"mode":"NONE"}}`)
	}
	c.writeConfig(&w, req)
	return w.EndObject().Bytes()
}

// writeConfig writes the settings of the answer, if there are any.
func (c *Client) writeConfig(w *body.Writer, req *model.Request) {
	limit := parts.Limit(req, &c.model)
	t := c.family.thinking(&c.model, req.Effort, limit)
	warm := req.Temperature != nil && c.family.temperature
	asJSON := req.JSON && len(req.Tools) == 0 // the two together are an error with many models
	if limit == 0 && !warm && !asJSON && t == (thinking{}) {
		return
	}
	w.Key("generationConfig").Object()
	if limit > 0 {
		w.Key("maxOutputTokens").Int(limit)
	}
	if warm {
		w.Key("temperature").Float(*req.Temperature)
	}
	if asJSON {
		w.Key("responseMimeType").String("application/json")
	}
	if t != (thinking{}) {
		t.write(w)
	}
	w.EndObject()
}

func (t *thinking) write(w *body.Writer) {
	w.Key("thinkingConfig").Object()
	if t.level != "" {
		w.Key("thinkingLevel").String(strings.ToUpper(t.level))
	}
	if t.budget != nil {
		w.Key("thinkingBudget").Int(*t.budget)
	}
	if t.show { // an error where the model does not think
		w.Key("includeThoughts").Bool(true)
	}
	w.EndObject()
}

// writeTools writes the declarations. Their schemas are in the dialect of the
// field parameters, which every server of this protocol knows and to which
// normalise lowers them; the newer field for JSON Schema takes more, but not
// everywhere. A function without parameters has none: an object without
// properties is an error.
func writeTools(w *body.Writer, tools []model.Tool) {
	w.Key("tools").Array().Object().Key("functionDeclarations").Array()
	for _, t := range tools {
		w.Object().Key("name").String(t.Name).Key("description").String(t.Description)
		if hasProperties(t.Schema) {
			w.Key("parameters").Raw(string(t.Schema))
		}
		w.EndObject()
	}
	w.EndArray().EndObject().EndArray()
}

func hasProperties(schema json.RawMessage) bool {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	return json.Unmarshal(schema, &s) == nil && len(s.Properties) > 0
}

// A content is what one side says until the other does. Results of tools are a
// content of their own: what else stands in it is counted against the calls, and
// taken for a part of the results.
type content struct {
	role    string
	results bool
	calls   []string // their ids, "" of one without
	parts   []func(*body.Writer)
}

// A transcript is a history on its way to the wire.
type transcript struct {
	client   *Client
	out      []content
	calls    map[string]wireCall // by our id
	pictures []model.ToolResult  // whose pictures have to follow the results
}

// A wireCall is what the result of a call has to repeat.
type wireCall struct{ id, name string }

// contents turns a history into contents that alternate between user and model.
// Where the user goes on after results, the model is made to speak between. What
// the protocol refuses, such as an empty part, is left out.
func (c *Client) contents(history []llms.MessageContent) []content {
	t := transcript{client: c, calls: map[string]wireCall{}}
	for i := range history {
		m := &history[i]
		if m.Role != llms.ChatMessageTypeTool {
			t.flush()
		}
		for _, p := range m.Parts {
			if m.Role == llms.ChatMessageTypeAI {
				t.answer(p)
			} else {
				t.user(p)
			}
		}
	}
	t.flush()
	return t.out
}

// add appends a part to the last content if it is of that role and kind, else to
// a new one.
func (t *transcript) add(role string, results bool, write func(*body.Writer)) *content {
	n := len(t.out)
	if n > 0 && t.out[n-1].results && role == "user" && !results {
		t.text("model", parts.Between())
		n++
	}
	if n == 0 || t.out[n-1].role != role || t.out[n-1].results != results {
		t.out = append(t.out, content{role: role, results: results})
		n++
	}
	m := &t.out[n-1]
	m.parts = append(m.parts, write)
	return m
}

func (t *transcript) text(role, s string) {
	if strings.TrimSpace(s) != "" {
		t.add(role, false, func(w *body.Writer) { w.Key("text").String(s) })
	}
}

// user takes a part that is not the model's.
func (t *transcript) user(p llms.ContentPart) {
	switch p := p.(type) {
	case llms.TextContent:
		t.text("user", p.Text)
	case llms.BinaryContent:
		t.picture(p)
	case model.Picture:
		t.picture(p.BinaryContent)
	case llms.ImageURLContent:
		t.pictureAt(p.URL)
	default:
		if r, ok := parts.Result(p); ok {
			t.result(r)
		}
	}
}

// answer takes a part of an answer.
func (t *transcript) answer(p llms.ContentPart) {
	switch p := p.(type) {
	case llms.TextContent:
		t.text("model", p.Text)
	case model.SignedText:
		t.signedText(p)
	case model.Reasoning:
		if p.Provider == t.client.model.Ref() && p.Signature != "" { // a thought without one means nothing to it
			t.add("model", false, func(w *body.Writer) {
				w.Key("text").String(p.Text).Key("thought").Bool(true).Key("thoughtSignature").String(p.Signature)
			})
		}
	case llms.ToolCall:
		t.call(p, nil)
	case model.Extra:
		var own *sealedCall
		if p.Provider == t.client.model.Ref() {
			own = unsealCall(p.Content)
		}
		t.call(p.ToolCall, own)
	}
}

// signedText writes text in the parts in which it came.
func (t *transcript) signedText(p model.SignedText) {
	var pieces []sealedText
	if p.Provider == t.client.model.Ref() {
		pieces = unsealText(p.Content, len(p.Text))
	}
	if pieces == nil {
		t.text("model", p.Text)
		return
	}
	rest := p.Text
	for _, piece := range pieces {
		s := rest[:piece.Len]
		rest = rest[piece.Len:]
		if s == "" && piece.Signature == "" {
			continue
		}
		t.add("model", false, func(w *body.Writer) {
			w.Key("text").String(s)
			if piece.Signature != "" {
				w.Key("thoughtSignature").String(piece.Signature)
			}
		})
	}
}

// call writes a call. One of our own making goes back as it came; Gemini 3 wants
// ids and a signature with those of others too.
func (t *transcript) call(p llms.ToolCall, own *sealedCall) {
	if p.FunctionCall == nil {
		return
	}
	args := strings.TrimSpace(p.FunctionCall.Arguments)
	if !strings.HasPrefix(args, "{") || !json.Valid([]byte(args)) {
		args = "{}" // anything else would spoil the whole request
	}
	id, signature := "", ""
	switch {
	case own != nil:
		id, signature = own.ID, own.Signature
	case t.client.family.third:
		id = p.ID
	}
	var before []string // in the same content
	if n := len(t.out); n > 0 {
		before = t.out[n-1].calls
	}
	if signature == "" && before == nil && t.client.family.third {
		signature = standIn
	}
	if id != "" && slices.Contains(before, id) {
		id = p.ID // the model gave one to two calls, whose results could not be told apart
	}
	t.calls[p.ID] = wireCall{id, p.FunctionCall.Name}
	m := t.add("model", false, func(w *body.Writer) {
		w.Key("functionCall").Object()
		if id != "" {
			w.Key("id").String(id)
		}
		w.Key("name").String(p.FunctionCall.Name).Key("args").Raw(args).EndObject()
		if signature != "" {
			w.Key("thoughtSignature").String(signature)
		}
	})
	m.calls = append(m.calls, id)
}

// result writes the result of a call.
func (t *transcript) result(p model.ToolResult) {
	c, ok := t.calls[p.ToolCallID]
	if !ok {
		c = wireCall{name: p.Name}
	}
	nested := t.client.family.third
	t.add("user", true, func(w *body.Writer) {
		w.Key("functionResponse").Object()
		if c.id != "" {
			w.Key("id").String(c.id)
		}
		field := "output"
		if p.IsError {
			field = "error"
		}
		w.Key("name").String(c.name).Key("response").Object().Key(field).String(p.Content).EndObject()
		if nested && len(p.Images) > 0 {
			w.Key("parts").Array()
			for _, img := range p.Images {
				w.Object()
				writePicture(w, img)
				w.EndObject()
			}
			w.EndArray()
		}
		w.EndObject()
	})
	if !nested && len(p.Images) > 0 {
		p.Name = c.name
		t.pictures = append(t.pictures, p)
	}
}

// flush writes the pictures that a result cannot hold, after the results of a
// step: Google counts whatever stands among them.
func (t *transcript) flush() {
	for _, r := range t.pictures {
		t.text("user", parts.Caption(r.Name))
		for _, img := range r.Images {
			t.picture(img)
		}
	}
	t.pictures = nil
}

func (t *transcript) picture(p llms.BinaryContent) {
	t.add("user", false, func(w *body.Writer) { writePicture(w, p) })
}

// pictureAt writes a picture by its address, which may be the picture itself.
func (t *transcript) pictureAt(url string) {
	kind, data, found := strings.Cut(strings.TrimPrefix(url, "data:"), ";base64,")
	if found && strings.HasPrefix(url, "data:") {
		t.add("user", false, func(w *body.Writer) {
			w.Key("inlineData").Object().Key("mimeType").String(kind).Key("data").String(data).EndObject()
		})
		return
	}
	t.add("user", false, func(w *body.Writer) {
		w.Key("fileData").Object().Key("fileUri").String(url).EndObject()
	})
}

func writePicture(w *body.Writer, p llms.BinaryContent) {
	w.Key("inlineData").Object().Key("mimeType").String(p.MIMEType).Key("data").Base64("", p.Data).EndObject()
}
