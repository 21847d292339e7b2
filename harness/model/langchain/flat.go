package langchain

import (
	_ "embed"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// What the model reads of a conversation that is one text.
var (
	//go:embed text/said.md
	saidText string
	//go:embed text/answered.md
	answeredText string
	//go:embed text/turn.md
	turnText string
)

// flat is a request as one text: the system prompt, what was said and answered, and
// last that it is the model's turn. A request that is one message is that message.
func flat(req *model.Request) string {
	var texts []string
	if req.System != "" {
		texts = append(texts, req.System)
	}
	alone := req.System == "" && len(req.Messages) == 1
	for _, m := range req.Messages {
		said := ""
		for _, p := range join(plain(m.Parts, Data)) {
			if t, ok := p.(llms.TextContent); ok {
				said = t.Text
			}
		}
		switch {
		case said == "":
		case alone:
			return said
		case m.Role == llms.ChatMessageTypeAI:
			texts = append(texts, fill(answeredText, said))
		default:
			texts = append(texts, fill(saidText, said))
		}
	}
	return strings.Join(append(texts, strings.TrimSpace(turnText)), "\n\n")
}

// fill puts text into a sentence.
func fill(sentence, text string) string {
	return strings.Replace(strings.TrimSpace(sentence), "{{text}}", text, 1)
}
