package thread

import (
	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// FromModel gives a part of an answer in the thread's format, without ids of
// ours. It reports false for a part that says nothing.
func FromModel(p llms.ContentPart) (Part, bool) {
	switch p := p.(type) {
	case llms.TextContent:
		return Part{Text: p.Text}, p.Text != ""
	case model.SignedText:
		if len(p.Content) == 0 {
			return FromModel(p.TextContent)
		}
		return Part{Text: p.Text, Signed: &Signed{Provider: p.Provider, Content: p.Content}}, true
	case model.Reasoning:
		r := Reasoning{Text: p.Text, Provider: p.Provider, Signature: p.Signature, Redacted: p.Redacted, Field: p.Field}
		return Part{Reasoning: &r}, true
	case llms.ToolCall:
		return Part{Call: fromCall(p)}, true
	case model.Extra:
		c := fromCall(p.ToolCall)
		c.Provider, c.Extra = p.Provider, p.Content
		return Part{Call: c}, true
	}
	return Part{}, false
}

func fromCall(p llms.ToolCall) *Call {
	c := &Call{WireID: p.ID}
	if p.FunctionCall != nil {
		c.Name, c.Args = p.FunctionCall.Name, p.FunctionCall.Arguments
	}
	return c
}
