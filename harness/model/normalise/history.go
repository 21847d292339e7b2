package normalise

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// A history is a list of messages under construction. An answer that calls tools
// is held back until the next answer, or the end, since its results may stand
// anywhere up to there.
type history struct {
	model model.Descriptor
	ids   map[string]bool // of calls, as they are on the wire
	prose bool            // no tools are declared: calls become text
	out   []llms.MessageContent

	calls []pending             // of the answer that is held back
	held  []llms.MessageContent // what the user said meanwhile
}

// A pending call waits for its result.
type pending struct {
	id     string // as the history has it
	wire   string
	name   string
	args   string
	result *model.ToolResult
}

func (h *history) add(m llms.MessageContent) {
	switch m.Role {
	case llms.ChatMessageTypeAI:
		h.settle()
		h.addAnswer(m)
	case llms.ChatMessageTypeTool:
		for _, p := range m.Parts {
			h.addResult(p)
		}
	default:
		parts := h.userParts(m.Parts)
		switch {
		case len(parts) == 0:
		case len(h.calls) > 0:
			h.held = append(h.held, llms.MessageContent{Role: llms.ChatMessageTypeHuman, Parts: parts})
		default:
			h.push(llms.ChatMessageTypeHuman, parts)
		}
	}
}

// end returns the messages.
func (h *history) end() []llms.MessageContent {
	h.settle()
	return h.out
}

// push appends a message, or adds it to the one before where the model wants
// roles to alternate. Where the model wants to speak between results and its
// user, it is made to.
func (h *history) push(role llms.ChatMessageType, parts []llms.ContentPart) {
	if len(parts) == 0 {
		return
	}
	n := len(h.out)
	if n == 0 && role == llms.ChatMessageTypeAI && h.model.Kind == "anthropic" {
		h.out = append(h.out, llms.TextParts(llms.ChatMessageTypeHuman, phrase(openingText)))
		n++
	}
	if n > 0 && h.out[n-1].Role == llms.ChatMessageTypeTool && role == llms.ChatMessageTypeHuman && speaksBetween(h.model) {
		h.out = append(h.out, llms.TextParts(llms.ChatMessageTypeAI, phrase(betweenText)))
		n++
	}
	if n > 0 && h.out[n-1].Role == role && role != llms.ChatMessageTypeTool && alternates(h.model) {
		last := &h.out[n-1]
		last.Parts = append(last.Parts[:len(last.Parts):len(last.Parts)], parts...)
		return
	}
	h.out = append(h.out, llms.MessageContent{Role: role, Parts: parts})
}

// alternates reports whether d rejects two messages of one role in a row: its
// protocol or, with models that run locally, its chat template.
func alternates(d model.Descriptor) bool {
	switch strings.ToLower(d.Provider) {
	case "ollama", "lmstudio", "llamacpp", "llama.cpp", "vllm":
		return true
	}
	return d.Kind == "anthropic"
}

// speaksBetween reports whether d rejects a message of the user that follows the
// results of calls, as the models of Mistral do wherever they run.
func speaksBetween(d model.Descriptor) bool {
	id := strings.ToLower(d.ID)
	for _, name := range []string{"mistral", "ministral", "devstral", "codestral", "magistral", "pixtral", "mixtral"} {
		if strings.Contains(id, name) {
			return true
		}
	}
	return isMistral(d)
}

// addAnswer takes a message of the model and opens its calls.
func (h *history) addAnswer(m llms.MessageContent) {
	var parts []llms.ContentPart
	for _, p := range m.Parts {
		switch p := p.(type) {
		case llms.TextContent:
			if strings.TrimSpace(p.Text) != "" {
				parts = append(parts, p)
			}
		case model.Reasoning:
			if p.Provider == h.model.Ref() && (p.Text != "" || p.Signature != "" || p.Redacted != "" || p.Field != "") {
				parts = append(parts, p)
			}
		case llms.ToolCall:
			if t, ok := h.open(p); ok {
				parts = append(parts, t)
			}
		case model.Extra:
			t, ok := h.open(p.ToolCall)
			switch {
			case !ok:
			case p.Provider == h.model.Ref():
				p.ToolCall = t
				parts = append(parts, p)
			default:
				parts = append(parts, t)
			}
		}
	}
	if onlyThoughts(parts) {
		return // no provider takes an answer that says nothing
	}
	h.push(llms.ChatMessageTypeAI, parts)
}

func onlyThoughts(parts []llms.ContentPart) bool {
	for _, p := range parts {
		if _, ok := p.(model.Reasoning); !ok {
			return false
		}
	}
	return true
}

// open notes a call and returns it as it goes on the wire; not at all where
// calls are told as text.
func (h *history) open(t llms.ToolCall) (llms.ToolCall, bool) {
	if t.FunctionCall == nil {
		return t, false
	}
	p := pending{id: t.ID, name: wireName(t.FunctionCall.Name), args: arguments(t.FunctionCall.Arguments)}
	p.wire = h.unique(t.ID)
	h.calls = append(h.calls, p)
	return llms.ToolCall{ID: p.wire, Type: "function", FunctionCall: &llms.FunctionCall{Name: p.name, Arguments: p.args}}, !h.prose
}

// unique spells id for the wire; one that has been used gets a number.
func (h *history) unique(id string) string {
	spell := spelling(h.model)
	wire := spell(id)
	for n := 2; h.ids[wire]; n++ {
		wire = spell(id + "#" + strconv.Itoa(n))
	}
	h.ids[wire] = true
	return wire
}

// arguments are args if they are a JSON object, which every provider wants.
func arguments(args string) string {
	if s := strings.TrimSpace(args); strings.HasPrefix(s, "{") && json.Valid([]byte(s)) {
		return args
	}
	return "{}"
}

// addResult gives a result to its call. Without one it is dropped, like a second
// result of a call.
func (h *history) addResult(p llms.ContentPart) {
	var r model.ToolResult
	switch p := p.(type) {
	case model.ToolResult:
		r = p
	case llms.ToolCallResponse:
		r.ToolCallResponse = p
	default:
		return
	}
	for i := range h.calls {
		if c := &h.calls[i]; c.id == r.ToolCallID && c.result == nil {
			c.result = &r
			return
		}
	}
}

// settle writes the results of the open calls, in the order of the calls, and
// then what the user said meanwhile.
func (h *history) settle() {
	if len(h.calls) > 0 {
		var parts, images []llms.ContentPart
		for i := range h.calls {
			ps, imgs := h.resultOf(&h.calls[i])
			parts, images = append(parts, ps), append(images, imgs...)
		}
		role := llms.ChatMessageTypeTool
		if h.prose {
			role = llms.ChatMessageTypeHuman
		}
		h.push(role, parts)
		h.push(llms.ChatMessageTypeHuman, images)
	}
	held := h.held
	h.calls, h.held = nil, nil
	for _, m := range held {
		h.push(m.Role, m.Parts)
	}
}

// resultOf is the result of c, made up for a call that never came to its end,
// and the images of it that have to be the user's.
func (h *history) resultOf(c *pending) (result llms.ContentPart, images []llms.ContentPart) {
	var r model.ToolResult
	if c.result != nil {
		r = *c.result
	} else {
		r.IsError, r.Content = true, phrase(interruptedText)
	}
	r.ToolCallID, r.Name = c.wire, c.name
	apart := h.prose || speaksBetween(h.model) // else they would follow the results as a message of the user
	pictures := r.Images
	r.Images = nil
	for _, img := range pictures {
		img.MIMEType = model.PictureType(img.MIMEType, img.Data)
		switch {
		case h.model.Sees(img.MIMEType) && apart:
			images = append(images, img)
		case h.model.Sees(img.MIMEType):
			r.Images = append(r.Images, img)
		default:
			r.Content = strings.TrimLeft(r.Content+"\n"+unseen(img.MIMEType, len(img.Data)), "\n")
		}
	}
	if strings.TrimSpace(r.Content) == "" && len(r.Images) == 0 {
		r.Content = phrase(emptyText)
	}
	if h.prose {
		return llms.TextContent{Text: told(c, &r)}, images
	}
	return r, images
}

// userParts drops empty text and puts a line in the place of what the model
// cannot see (R-HARN-32).
func (h *history) userParts(parts []llms.ContentPart) []llms.ContentPart {
	var out []llms.ContentPart
	for _, p := range parts {
		switch v := p.(type) {
		case llms.TextContent:
			if strings.TrimSpace(v.Text) == "" {
				continue
			}
		case llms.BinaryContent:
			v.MIMEType = model.PictureType(v.MIMEType, v.Data)
			if p = v; !h.model.Sees(v.MIMEType) {
				p = llms.TextContent{Text: unseen(v.MIMEType, len(v.Data))}
			}
		case llms.ImageURLContent:
			if !h.model.Images {
				p = llms.TextContent{Text: unseenAt(v.URL)}
			}
		default:
			continue // calls, results and thoughts are not the user's
		}
		out = append(out, p)
	}
	return out
}
