package thread

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/tools"
)

// What the model is told in its own place.
var (
	//go:embed text/interrupted.md
	interruptedText string
	//go:embed text/moved.md
	movedText string
	//go:embed text/further.md
	furtherText string
)

// maxPaths is how many characters the paths in a text for the model may have.
const maxPaths = 4096

// A Conversation is what the entries of a thread add up to. It grows entry by
// entry, and the messages of a longer log begin with those of a shorter one: a
// message that has been followed by one of another role never changes again,
// and the last one only grows at its end (R-HARN-14). Only [Withdrawn] and
// [Retried] go back, as far as the last message of the user, and what comes after
// a [Retried] without an answer returns to the answer before. So a conversation
// read from the store and one that has lived since the first entry are equal.
// What it knows beside the messages goes back with them.
//
// The zero value is the conversation of an empty thread. It is not safe for
// concurrent use.
type Conversation struct {
	state
	last     int64 // Seq of the last entry
	user     turnMark
	open     []Call              // of the last answer, in call order; none when all have a result
	results  map[string]Result   // of the open calls, by our id
	wire     map[string]bool     // the ids that calls went out with
	attached map[string]Attached // all of them, by key
}

// A turnMark is the last message of the user, to go back to.
type turnMark struct {
	set      bool
	before   state              // without it
	after    state              // with it
	pictures []Part             // of it
	moves    []llms.ContentPart // what was said of directories since; no way back takes that away
	fresh    bool               // nothing has answered it yet, or anew
	held     *turnHeld          // the answer that holds while nothing has answered anew; nil without one
}

// A turnHeld is an answered conversation, to go back to.
type turnHeld struct {
	state
	after state // of the message that was answered, as it was sent then
	moves int   // of the moves, those said in it
}

// Add continues the conversation with e, which follows all entries before it.
func (c *Conversation) Add(e Entry) {
	c.last = e.Seq
	switch b := e.Body.(type) {
	case User:
		c.ask(b)
	case Note:
		c.say(llms.ChatMessageTypeHuman, []llms.ContentPart{llms.TextContent{Text: b.Text}})
	case Assistant:
		if !b.Void {
			c.answer(b)
		}
	case Result:
		c.result(b)
	case Moved:
		c.move(b)
	case Withdrawn:
		if !c.restore() && c.user.fresh {
			c.goBack(c.user.before)
		}
	case Retried:
		c.retry(b)
	case Created, Bound, Options, Title, Archived: // say nothing to the model
	}
}

// Last returns the Seq of the last entry, 0 without one.
func (c *Conversation) Last() int64 { return c.last }

// Messages returns the messages of the next request: human, ai and tool in
// turn, no two of one role in a row, every call followed by its result
// (R-HARN-08). The caller does not change them.
func (c *Conversation) Messages() []llms.MessageContent {
	if len(c.open) == 0 {
		return slices.Clip(c.messages)
	}
	return append(slices.Clip(c.messages), llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: c.settled()})
}

// Sent reports whether a call went to the provider with the id wire.
func (c *Conversation) Sent(wire string) bool { return c.wire[wire] }

// ask adds a message of the user.
func (c *Conversation) ask(u User) {
	c.restore()
	c.settle()
	c.user = turnMark{set: true, before: c.clip(), pictures: pictures(u.Sent), fresh: true}
	c.send(u.Sent, u.Attached, u.Told)
}

// send says the last message of the user, as it is sent from here on.
func (c *Conversation) send(ps []Part, as []Attached, told []string) {
	c.attach(as)
	c.told = append(c.told, told...)
	c.say(llms.ChatMessageTypeHuman, parts(ps))
	c.recent = 0
	c.user.after = c.clip()
}

// retry goes back to the last message of the user, and holds the answer that it
// has.
func (c *Conversation) retry(r Retried) {
	if !c.user.set {
		return
	}
	if !c.user.fresh {
		c.settle()
		c.user.held = &turnHeld{state: c.clip(), after: c.user.after, moves: len(c.user.moves)}
	}
	c.user.fresh = true
	if len(r.Sent) > 0 {
		c.open, c.results = nil, nil
		c.state = c.user.before
		c.send(withPictures(r.Sent, c.user.pictures), r.Attached, r.Told)
	}
	c.goBack(c.user.after)
}

// restore goes back to the answer that is held, because no other has come. It
// reports whether there was one.
func (c *Conversation) restore() bool {
	held := c.user.held
	if held == nil {
		return false
	}
	c.user.held, c.user.fresh = nil, false
	c.open, c.results = nil, nil
	c.state, c.user.after = held.state, held.after
	c.say(llms.ChatMessageTypeHuman, c.user.moves[held.moves:])
	return true
}

// goBack makes s, which was clipped, the end of the conversation. What is said
// next is not written over what came after it.
func (c *Conversation) goBack(s state) {
	c.open, c.results = nil, nil
	c.state = s
	c.say(llms.ChatMessageTypeHuman, c.user.moves)
}

// move tells the model of other directories, unless it has heard of none yet.
func (c *Conversation) move(m Moved) {
	if len(c.messages) == 0 {
		return
	}
	said := moved(m)
	c.user.moves = append(c.user.moves, said)
	c.say(llms.ChatMessageTypeHuman, []llms.ContentPart{said})
}

// answer adds an answer and opens its calls.
func (c *Conversation) answer(a Assistant) {
	c.user.fresh, c.user.held = false, nil
	c.settle()
	c.say(llms.ChatMessageTypeAI, c.authored(a.Model, parts(a.Parts)))
	for _, p := range a.Parts {
		if p.Call == nil {
			continue
		}
		if c.wire == nil {
			c.wire = make(map[string]bool)
		}
		c.wire[p.Call.WireID] = true
		c.open = append(c.open, *p.Call)
	}
}

// authored returns what the model ref says with its name before it, unless what it
// says goes on with words of its own (R-TASK-40).
func (c *Conversation) authored(ref string, ps []llms.ContentPart) []llms.ContentPart {
	if len(ps) == 0 || c.author() == ref {
		return ps
	}
	return slices.Insert(ps, 0, llms.ContentPart(model.Author{Ref: ref}))
}

// author returns who wrote the end of the last message; "" is nobody that is known.
func (c *Conversation) author() string {
	if len(c.messages) == 0 {
		return ""
	}
	for _, p := range slices.Backward(c.messages[len(c.messages)-1].Parts) {
		if a, ok := p.(model.Author); ok {
			return a.Ref
		}
	}
	return ""
}

// result notes the result of an open call. The last one closes the step, in
// call order, whatever the order in which the calls ended. A result without a
// call is dropped: no provider takes one.
func (c *Conversation) result(r Result) {
	if !slices.ContainsFunc(c.open, func(call Call) bool { return call.ID == r.CallID }) {
		return
	}
	if c.results == nil {
		c.results = make(map[string]Result)
	}
	if _, again := c.results[r.CallID]; !again {
		c.learn(r)
	}
	c.results[r.CallID] = r
	if len(c.results) == len(c.open) {
		c.settle()
	}
}

// settle moves the results of the open calls into the messages. A call without
// one was cut off, by a crash for example, and is said to have been.
func (c *Conversation) settle() {
	if len(c.open) == 0 {
		return
	}
	done := c.settled()
	c.open, c.results = nil, nil
	c.say(llms.ChatMessageTypeTool, done)
}

func (c *Conversation) settled() []llms.ContentPart {
	out := make([]llms.ContentPart, len(c.open))
	for i, call := range c.open {
		r, ok := c.results[call.ID]
		if !ok {
			r = Interrupted(call)
		}
		out[i] = toolResult(call, r)
	}
	return out
}

// Interrupted returns the result that stands for that of a call which has none,
// because its turn was cut off.
func Interrupted(c Call) Result {
	return Result{CallID: c.ID, Text: strings.TrimSpace(interruptedText), IsError: true}
}

// moved is what the model is told of other directories.
func moved(m Moved) llms.ContentPart {
	text := fill(movedText, "DIR", m.Cwd)
	if len(m.Roots) > 0 {
		text += " " + fill(furtherText, "DIRS", strings.Join(m.Roots, ", "))
	}
	return llms.TextContent{Text: text}
}

// fill puts paths in the place of name.
func fill(text, name, paths string) string {
	return strings.Replace(strings.TrimSpace(text), name, tools.Line(paths, maxPaths), 1)
}

// say appends a message, or lengthens the last one if it has the same role. A
// message once handed out keeps its parts: the longer one is a new slice.
func (c *Conversation) say(role llms.ChatMessageType, ps []llms.ContentPart) {
	c.settle()
	if len(ps) == 0 {
		return
	}
	n := len(c.messages)
	if n == 0 || c.messages[n-1].Role != role {
		c.messages = append(c.messages, llms.MessageContent{Role: role, Parts: ps})
		return
	}
	last := slices.Concat(c.messages[n-1].Parts, ps)
	c.messages = append(slices.Clone(c.messages[:n-1]), llms.MessageContent{Role: role, Parts: last})
}

func parts(ps []Part) []llms.ContentPart {
	out := make([]llms.ContentPart, 0, len(ps))
	for _, p := range ps {
		switch {
		case p.Call != nil:
			out = append(out, toolCall(*p.Call))
		case p.Reasoning != nil:
			r := p.Reasoning
			out = append(out, model.Reasoning{
				TextContent: llms.TextContent{Text: r.Text},
				Provider:    r.Provider, Signature: r.Signature, Redacted: r.Redacted, Field: r.Field,
			})
		case p.Image != nil:
			out = append(out, picture(p))
		case p.Signed != nil:
			out = append(out, model.SignedText{
				TextContent: llms.TextContent{Text: p.Text}, Provider: p.Signed.Provider, Content: p.Signed.Content,
			})
		case p.Text != "":
			out = append(out, llms.TextContent{Text: p.Text})
		}
	}
	return out
}

func picture(p Part) llms.ContentPart {
	data := llms.BinaryContent{MIMEType: p.Image.MIME, Data: p.Image.Data}
	if p.Name == "" {
		return data
	}
	return model.Picture{BinaryContent: data, Name: p.Name}
}

func toolCall(c Call) llms.ContentPart {
	call := llms.ToolCall{
		ID: c.WireID, Type: "function",
		FunctionCall: &llms.FunctionCall{Name: c.Name, Arguments: arguments(c.Args)},
	}
	if c.Extra == nil {
		return call
	}
	return model.Extra{ToolCall: call, Provider: c.Provider, Content: c.Extra}
}

// arguments are args if they are an object. What else a model has written ran
// nothing, and its result says so: no provider takes it back, and it may be large
// (C101, C102).
func arguments(args string) string {
	if !strings.HasPrefix(strings.TrimSpace(args), "{") || !json.Valid([]byte(args)) {
		return "{}"
	}
	return args
}

func toolResult(c Call, r Result) llms.ContentPart {
	out := model.ToolResult{
		ToolCallResponse: llms.ToolCallResponse{ToolCallID: c.WireID, Name: c.Name, Content: r.Text},
		IsError:          r.IsError,
	}
	for _, img := range r.Images {
		out.Images = append(out.Images, llms.BinaryContent{MIMEType: img.MIME, Data: img.Data})
	}
	return out
}
