// Package parts reads the parts of a request for providers: the kinds of parts
// that llms has and those of package model are told apart here, once.
package parts

import (
	"crypto/rand"
	_ "embed"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// errorMark begins the result of a call that failed, for protocols that have no
// field for it.
const errorMark = "ERROR: "

// What is said where a protocol has no place for what is meant.
var (
	//go:embed text/images.md
	imagesText string
	//go:embed text/between.md
	betweenText string
)

// Caption is what stands before the pictures of a result where they have to be the
// user's.
func Caption(tool string) string {
	return strings.TrimSpace(strings.ReplaceAll(imagesText, "{{tool}}", tool))
}

// Between is what a model says between results and its user, where it has to.
func Between() string { return strings.TrimSpace(betweenText) }

// Text returns the text that p is. What a provider keeps with a text is not part
// of it.
func Text(p llms.ContentPart) (string, bool) {
	switch p := p.(type) {
	case llms.TextContent:
		return p.Text, true
	case model.SignedText:
		return p.Text, true
	}
	return "", false
}

// Join returns the texts of parts that are all text, a blank line between them.
func Join(of []llms.ContentPart) (string, bool) {
	var texts []string
	for _, p := range of {
		t, ok := Text(p)
		if !ok {
			return "", false
		}
		texts = append(texts, t)
	}
	return strings.Join(texts, "\n\n"), true
}

// Call returns the call that p is; its Content is nil for a plain one.
func Call(p llms.ContentPart) (model.Extra, bool) {
	switch p := p.(type) {
	case llms.ToolCall:
		return model.Extra{ToolCall: p}, p.FunctionCall != nil
	case model.Extra:
		return p, p.FunctionCall != nil
	}
	return model.Extra{}, false
}

// Result returns the result of a call that p is.
func Result(p llms.ContentPart) (model.ToolResult, bool) {
	switch p := p.(type) {
	case llms.ToolCallResponse:
		return model.ToolResult{ToolCallResponse: p}, true
	case model.ToolResult:
		return p, true
	}
	return model.ToolResult{}, false
}

// Told returns the text of r, marked where the call failed.
func Told(r *model.ToolResult) string {
	if r.IsError {
		return errorMark + r.Content
	}
	return r.Content
}

// Limit returns the most tokens of the answer to req, no more than d can give; 0
// leaves it to the provider.
func Limit(req *model.Request, d *model.Descriptor) int {
	limit := max(req.MaxTokens, 0)
	if d.Output > 0 {
		return min(limit, d.Output)
	}
	return limit
}

// NewID makes up an id that no other call of a session has.
func NewID() string { return "call_" + strings.ToLower(rand.Text()[:16]) }
