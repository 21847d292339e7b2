package normalise

import (
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/internal/parts"
)

// A history is a list of messages under construction. An answer is held back
// until the next one, or the end, since the results of its calls may stand
// anywhere up to there.
type history struct {
	to    *reader
	o     *Options
	prose bool            // no tools are declared: every call is told
	ids   map[string]bool // of calls, as they are on the wire
	out   []llms.MessageContent

	answer []piece               // that is held back
	calls  []pending             // of it
	held   []llms.MessageContent // what the user said meanwhile
}

// A piece is a part of an answer as it goes on the wire or, where part is nil, a
// piece of one that is told: a text, or the call with that number.
type piece struct {
	part llms.ContentPart
	text string
	call int // from 1; 0 is none
	run  int // of the answer; what different models said is told apart
}

// A pending call waits for its result.
type pending struct {
	id     string // as the history has it
	wire   string
	name   string // on the wire
	own    string // name as the history has it
	told   bool
	result *model.ToolResult
}

func (h *history) add(m llms.MessageContent) {
	switch m.Role {
	case llms.ChatMessageTypeAI:
		h.settle()
		h.addAnswer(m.Parts)
	case llms.ChatMessageTypeTool:
		for _, p := range m.Parts {
			h.addResult(p)
		}
	default:
		ps := h.userParts(m.Parts)
		switch {
		case len(ps) == 0:
		case len(h.calls) > 0:
			h.held = append(h.held, llms.MessageContent{Role: llms.ChatMessageTypeHuman, Parts: ps})
		default:
			h.push(llms.ChatMessageTypeHuman, ps)
		}
	}
}

// end returns the messages. Providers want to be asked: where the last word would
// be that of the model, the user's stands after it. Claude too takes no answer back
// as the last message, but one that paused in the use of a tool of its server, of
// which nothing is kept.
func (h *history) end() []llms.MessageContent {
	h.settle()
	if n := len(h.out); n == 0 || h.out[n-1].Role == llms.ChatMessageTypeAI {
		h.push(llms.ChatMessageTypeHuman, []llms.ContentPart{llms.TextContent{Text: phrase(onText)}})
	}
	return h.out
}

// push appends a message, or adds it to the one before: two answers in a row are
// one for everybody, two messages of the user where the model wants roles to
// alternate. Where the model wants to speak between results and its user, it is
// made to.
func (h *history) push(role llms.ChatMessageType, ps []llms.ContentPart) {
	if len(ps) == 0 {
		return
	}
	n := len(h.out)
	if n == 0 && role == llms.ChatMessageTypeAI && h.to.alternates {
		h.out = append(h.out, llms.TextParts(llms.ChatMessageTypeHuman, phrase(openingText)))
		n++
	}
	if n > 0 && h.out[n-1].Role == llms.ChatMessageTypeTool && role == llms.ChatMessageTypeHuman && h.to.between {
		h.out = append(h.out, llms.TextParts(llms.ChatMessageTypeAI, parts.Between()))
		n++
	}
	together := role == llms.ChatMessageTypeAI || role == llms.ChatMessageTypeHuman && h.to.alternates
	if n > 0 && h.out[n-1].Role == role && together {
		last := &h.out[n-1]
		last.Parts = append(last.Parts[:len(last.Parts):len(last.Parts)], ps...)
		return
	}
	h.out = append(h.out, llms.MessageContent{Role: role, Parts: ps})
}

// addAnswer takes a message of the model and opens its calls. What different
// models said in it is looked at apart.
func (h *history) addAnswer(ps []llms.ContentPart) {
	author := ""
	for run := 0; len(ps) > 0; run++ {
		if a, ok := ps[0].(model.Author); ok {
			author, ps = a.Ref, ps[1:]
		}
		n := 0
		for n < len(ps) && !isAuthor(ps[n]) {
			n++
		}
		if h.tells(author, ps[:n]) {
			h.tell(ps[:n], run)
		} else {
			h.keep(author, ps[:n])
		}
		ps = ps[n:]
	}
	if len(h.calls) == 0 {
		h.settle()
	}
}

func isAuthor(p llms.ContentPart) bool {
	_, ok := p.(model.Author)
	return ok
}

// keep adds what author said as typed parts: what only it can read is left out for
// others (R-HARN-31, C106), and so are thoughts that nothing follows, which no
// provider takes.
func (h *history) keep(author string, ps []llms.ContentPart) {
	before, end := len(h.answer), len(h.answer)
	for _, p := range ps {
		part := h.typed(author == h.to.ref, p)
		if part == nil {
			continue
		}
		h.answer = append(h.answer, piece{part: part})
		if _, thought := part.(model.Reasoning); !thought {
			end = len(h.answer)
		}
	}
	h.answer = h.answer[:max(before, end)]
}

// typed is p as the model takes it, nil if it takes nothing of it. A call is opened.
func (h *history) typed(own bool, p llms.ContentPart) llms.ContentPart {
	switch p := p.(type) {
	case llms.TextContent:
		if strings.TrimSpace(p.Text) != "" {
			return p
		}
	case model.SignedText:
		if p.Provider == h.to.ref {
			return p
		}
		if strings.TrimSpace(p.Text) != "" {
			return p.TextContent
		}
	case model.Reasoning:
		if p.Provider == h.to.ref && (p.Text != "" || p.Signature != "" || p.Redacted != "" || p.Field != "") {
			return p
		}
	case llms.ToolCall:
		if p.FunctionCall != nil {
			return h.open(p, own, false)
		}
	case model.Extra:
		switch {
		case p.FunctionCall == nil:
		case p.Provider == h.to.ref:
			p.ToolCall = h.open(p.ToolCall, true, false)
			return p
		default:
			return h.open(p.ToolCall, own, false)
		}
	}
	return nil
}

// open notes a call and returns it as it goes on the wire.
func (h *history) open(t llms.ToolCall, own, told bool) llms.ToolCall {
	f := t.FunctionCall
	p := pending{id: t.ID, name: wireName(f.Name, h.to.google), own: f.Name, told: told}
	if !told {
		p.wire = h.unique(t.ID, own)
	}
	h.calls = append(h.calls, p)
	return llms.ToolCall{ID: p.wire, Type: "function", FunctionCall: &llms.FunctionCall{Name: p.name, Arguments: arguments(f.Arguments)}}
}

// addResult gives a result to its call. Without one it is dropped, like a second
// result of a call.
func (h *history) addResult(p llms.ContentPart) {
	r, ok := parts.Result(p)
	if !ok {
		return
	}
	for i := range h.calls {
		if c := &h.calls[i]; c.id == r.ToolCallID && c.result == nil {
			c.result = &r
			return
		}
	}
}

// settle writes the answer that is held back, the results of its calls in the
// order of the calls, and then what the user said meanwhile.
func (h *history) settle() {
	if len(h.answer) == 0 {
		return
	}
	var results, pictures []llms.ContentPart
	for i := range h.calls {
		c := &h.calls[i]
		r, apart := h.resultOf(c)
		pictures = append(pictures, apart...)
		if c.told {
			c.result = &r
		} else {
			results = append(results, r)
		}
	}
	answer, held := h.said(), h.held
	h.answer, h.calls, h.held = h.answer[:0], h.calls[:0], nil
	h.push(llms.ChatMessageTypeAI, answer)
	h.push(llms.ChatMessageTypeTool, results)
	h.push(llms.ChatMessageTypeHuman, pictures)
	for _, m := range held {
		h.push(m.Role, m.Parts)
	}
}

// said returns the parts of the answer that is held back, or none if there is
// nothing but thoughts.
func (h *history) said() []llms.ContentPart {
	out := make([]llms.ContentPart, 0, len(h.answer))
	says := false
	for i := 0; i < len(h.answer); {
		p := h.answer[i].part
		if p == nil {
			n := i + 1
			for n < len(h.answer) && h.answer[n].part == nil && h.answer[n].run == h.answer[i].run {
				n++
			}
			p, i = h.telling(h.answer[i:n]), n
		} else {
			i++
		}
		if p == nil {
			continue
		}
		out = append(out, p)
		if s, ok := p.(model.SignedText); ok {
			says = says || s.Text != ""
		} else if _, thought := p.(model.Reasoning); !thought {
			says = true
		}
	}
	if !says {
		return nil
	}
	if h.to.together {
		out = callsLast(out)
	}
	return out
}

// callsLast moves plain texts that stand behind calls in front of the first.
func callsLast(ps []llms.ContentPart) []llms.ContentPart {
	first := slices.IndexFunc(ps, func(p llms.ContentPart) bool { _, ok := parts.Call(p); return ok })
	if first < 0 {
		return ps
	}
	var texts, rest []llms.ContentPart
	for _, p := range ps[first:] {
		if _, ok := p.(llms.TextContent); ok {
			texts = append(texts, p)
		} else {
			rest = append(rest, p)
		}
	}
	if len(texts) == 0 {
		return ps
	}
	return slices.Concat(ps[:first], texts, rest)
}

// resultOf is the result of c, made up for a call that never came to its end, and
// what of it has to be the user's.
func (h *history) resultOf(c *pending) (r model.ToolResult, apart []llms.ContentPart) {
	if c.result != nil {
		r = *c.result
	} else {
		r.IsError, r.Content = true, phrase(interruptedText)
	}
	r.ToolCallID, r.Name = c.wire, c.name
	if len(r.Images) > 0 {
		apart = h.show(c, &r)
	}
	if strings.TrimSpace(r.Content) == "" && len(r.Images) == 0 {
		r.Content = phrase(emptyText)
	}
	return r, apart
}

// show puts a line in the place of each picture of r that the model cannot see, and
// takes those out that it must not get with a result: after a call that is told, and
// where they would follow the results as a message of the user.
func (h *history) show(c *pending, r *model.ToolResult) (apart []llms.ContentPart) {
	takeOut := c.told || h.to.apart
	pictures := r.Images
	r.Images = nil
	for _, img := range pictures {
		img.MIMEType = model.PictureType(img.MIMEType, img.Data)
		sees := h.to.Sees(img.MIMEType)
		switch {
		case sees && takeOut:
			apart = append(apart, img)
		case sees:
			r.Images = append(r.Images, img)
		case c.told: // a summary may be too short for it
			apart = append(apart, llms.TextContent{Text: unseen("", img.MIMEType, len(img.Data))})
		default:
			r.Content = strings.TrimLeft(r.Content+"\n"+unseen("", img.MIMEType, len(img.Data)), "\n")
		}
	}
	if len(apart) == 0 {
		return nil
	}
	return append([]llms.ContentPart{llms.TextContent{Text: parts.Caption(shown(c))}}, apart...)
}

// userParts drops empty text and puts a line in the place of what the model
// cannot see (R-HARN-32).
func (h *history) userParts(ps []llms.ContentPart) []llms.ContentPart {
	out := make([]llms.ContentPart, 0, len(ps))
	for _, p := range ps {
		switch v := p.(type) {
		case llms.TextContent:
			if strings.TrimSpace(v.Text) == "" {
				continue
			}
		case llms.BinaryContent:
			p = h.picture(v, "")
		case model.Picture:
			p = h.picture(v.BinaryContent, v.Name)
		case llms.ImageURLContent:
			if !h.to.Images {
				p = llms.TextContent{Text: unseenAt(v.URL)}
			}
		default:
			continue // calls, results and thoughts are not the user's
		}
		out = append(out, p)
	}
	return out
}

// picture is a picture of the user's, or the line that names it.
func (h *history) picture(p llms.BinaryContent, name string) llms.ContentPart {
	p.MIMEType = model.PictureType(p.MIMEType, p.Data)
	if !h.to.Sees(p.MIMEType) {
		return llms.TextContent{Text: unseen(name, p.MIMEType, len(p.Data))}
	}
	return p
}
