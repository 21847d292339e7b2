package normalise

import (
	_ "embed"
	"strconv"
	"strings"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// The sentences that the model reads.
var (
	//go:embed text/interrupted.md
	interruptedText string
	//go:embed text/empty.md
	emptyText string
	//go:embed text/opening.md
	openingText string
	//go:embed text/between.md
	betweenText string
	//go:embed text/unseen.md
	unseenText string
	//go:embed text/unseen-file.md
	unseenFileText string
	//go:embed text/unseen-url.md
	unseenURLText string
	//go:embed text/told.md
	toldText string
)

// phrase is a text with each {{name}} replaced; pairs are names and values.
func phrase(text string, pairs ...string) string {
	for i := 0; i+1 < len(pairs); i += 2 {
		pairs[i] = "{{" + pairs[i] + "}}"
	}
	return strings.NewReplacer(pairs...).Replace(strings.TrimSpace(text))
}

// unseen stands for data that the model cannot see.
func unseen(mime string, size int) string {
	text := unseenFileText
	if strings.HasPrefix(mime, "image/") {
		text = unseenText
	}
	return phrase(text, "type", mime, "size", strconv.Itoa((size+1023)/1024))
}

// unseenAt stands for an image that is named by its address. An address that
// holds the image itself is cut.
func unseenAt(url string) string {
	if r := []rune(url); len(r) > 200 {
		url = string(r[:200]) + "…"
	}
	return phrase(unseenURLText, "url", url)
}

// told tells of a call and its result.
func told(c *pending, r *model.ToolResult) string {
	return phrase(toldText, "tool", c.name, "arguments", c.args, "result", r.Content)
}
