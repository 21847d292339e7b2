package normalise

import (
	"cmp"
	_ "embed"
	"strconv"
	"strings"

	"github.com/lorimer-dev/lorimer/tools"
)

// The sentences that the model reads.
var (
	//go:embed text/interrupted.md
	interruptedText string
	//go:embed text/empty.md
	emptyText string
	//go:embed text/opening.md
	openingText string
	//go:embed text/on.md
	onText string
	//go:embed text/unseen.md
	unseenText string
	//go:embed text/unseen-file.md
	unseenFileText string
	//go:embed text/unseen-url.md
	unseenURLText string
	//go:embed text/executed.md
	executedText string
)

// maxImage is how many characters of the name of an image are told.
const maxImage = 200

// phrase is a text with each {{name}} replaced; pairs are names and values.
func phrase(text string, pairs ...string) string {
	for i := 0; i+1 < len(pairs); i += 2 {
		pairs[i] = "{{" + pairs[i] + "}}"
	}
	return strings.NewReplacer(pairs...).Replace(strings.TrimSpace(text))
}

// unseen stands for data that the model cannot see.
func unseen(name, mime string, size int) string {
	text := unseenFileText
	if strings.HasPrefix(mime, "image/") {
		text = unseenText
	}
	of := mime + ", " + strconv.Itoa((size+1023)/1024) + " KiB"
	if name = tools.Line(name, maxImage); name != "" {
		of = name + ", " + of
	}
	return phrase(text, "of", of)
}

// unseenAt stands for an image that is named by its address. An address that
// holds the image itself is cut.
func unseenAt(url string) string {
	if r := []rune(url); len(r) > maxImage {
		url = string(r[:maxImage]) + "…"
	}
	return phrase(unseenURLText, "url", url)
}

// executed tells of a call and its result (R-TASK-40).
func executed(template, tool, summary string) string {
	return phrase(cmp.Or(template, executedText), "tool", tool, "summary", summary)
}
