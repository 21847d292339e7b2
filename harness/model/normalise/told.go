package normalise

import (
	"cmp"
	"strings"
	"unicode"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model/internal/parts"
	"github.com/lorimer-dev/lorimer/tools"
)

// maxSummary is how many code points tell of the result of a call (R-TASK-41).
const maxSummary = 600

// tells reports whether what author said in one answer is told as text, not kept
// as typed parts (C-33): what another vendor's model said where that was asked for
// or where there are no tools, and without tools whatever calls one. Where it is not
// known who said it, it is taken for the reader's own.
func (h *history) tells(author string, ps []llms.ContentPart) bool {
	if (h.o.Text || h.prose) && author != "" && author != h.to.ref && Vendor(author) != h.to.vendor {
		return true
	}
	if !h.prose {
		return false
	}
	for _, p := range ps {
		if _, ok := parts.Call(p); ok {
			return true
		}
	}
	return false
}

// tell adds an answer that is told: its texts as they are, no thoughts, and a line
// for each call (R-TASK-40).
func (h *history) tell(ps []llms.ContentPart, run int) {
	for _, p := range ps {
		if text, ok := parts.Text(p); ok {
			if strings.TrimSpace(text) != "" {
				h.answer = append(h.answer, piece{text: text, run: run})
			}
			continue
		}
		if c, ok := parts.Call(p); ok {
			h.open(c.ToolCall, false, true)
			h.answer = append(h.answer, piece{call: len(h.calls), run: run})
		}
	}
}

// telling is the text of an answer that is told, whose calls have results.
func (h *history) telling(ps []piece) llms.ContentPart {
	lines := make([]string, 0, len(ps))
	for _, p := range ps {
		text := p.text
		if p.call > 0 {
			c := &h.calls[p.call-1]
			text = executed(h.o.Executed, shown(c), summary(parts.Told(c.result)))
		}
		lines = append(lines, text)
	}
	text := strings.TrimRight(strings.Join(lines, "\n"), "\n")
	if strings.TrimSpace(text) == "" {
		return nil // a template without words
	}
	return llms.TextContent{Text: text}
}

// shown is the name of a tool in a text.
func shown(c *pending) string { return cmp.Or(tools.Line(c.own, maxName), c.name) }

// summary returns text on one line, cut to maxSummary code points.
func summary(text string) string {
	out := make([]rune, 0, maxSummary+2)
	gap := false
	for _, r := range text {
		if unicode.IsSpace(r) {
			gap = len(out) > 0
			continue
		}
		if gap {
			out = append(out, ' ')
		}
		gap, out = false, append(out, r)
		if len(out) > maxSummary {
			return strings.TrimRight(string(out[:maxSummary-1]), " ") + "…"
		}
	}
	return string(out)
}
