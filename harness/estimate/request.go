package estimate

import (
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// Picture is the estimate of a picture. What providers count depends on its size
// and on them: from about 250 tokens to 1,600.
const Picture = 1000

// Request returns the estimate of all that req says to a model: the system prompt,
// the tools and the messages, each text by [Tokens], each picture as [Picture].
// What a template puts around them is left to a [Calibration].
func Request(req *model.Request) int {
	s := Text(req.System).Add(Tools(req.Tools))
	for i := range req.Messages {
		s = s.Add(Parts(req.Messages[i].Parts))
	}
	return s.Likely
}

// Tools returns the size of tools as a model is told of them. The least of it is
// nothing: some templates tell of tools in a few requests only.
func Tools(tools []model.Tool) (sum Size) {
	for i := range tools {
		t := &tools[i]
		sum.Likely += Tokens(t.Name) + Tokens(t.Description) + Tokens(string(t.Schema))
	}
	return sum
}

// Parts returns the size of a message with the given parts. The least of it is
// without pictures, which may be small, without thoughts, which a model may not
// read again, and without calls, which some templates leave out beside a text.
func Parts(parts []llms.ContentPart) (sum Size) {
	for _, p := range parts {
		sum = sum.Add(part(p))
	}
	return sum
}

func part(p llms.ContentPart) Size {
	switch p := p.(type) {
	case llms.TextContent:
		return Text(p.Text)
	case model.SignedText:
		return Text(p.Text)
	case model.Reasoning:
		return Size{Likely: Tokens(p.Text)}
	case llms.ToolCall:
		return call(p.FunctionCall)
	case model.Extra:
		return call(p.FunctionCall)
	case llms.ToolCallResponse:
		return Text(p.Content)
	case model.ToolResult:
		s := Text(p.Content)
		s.Likely += Picture * len(p.Images)
		return s
	case llms.ImageURLContent:
		return Size{Likely: Picture}
	case llms.BinaryContent:
		if strings.HasPrefix(p.MIMEType, "image/") {
			return Size{Likely: Picture}
		}
	case model.Picture:
		return part(p.BinaryContent)
	case llms.CachedContent:
		return part(p.ContentPart)
	}
	return Size{}
}

func call(f *llms.FunctionCall) Size {
	if f == nil {
		return Size{}
	}
	return Size{Likely: Tokens(f.Name) + Tokens(f.Arguments)}
}
