package attach

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

//go:embed attach.md
var phrases string

// bytesPerToken is the estimate of how many bytes make a token.
const bytesPerToken = 4

// Bodies returns the block for a model that cannot read by key: the table, and the
// bodies as far as tokens allow, with a mark where one is cut (R-PROMPT-52). Small
// bodies are given whole, and the large ones share what is left evenly. An item
// that is no text, or a link alone, is named as such, so that the model does not
// answer as if it had read it. Without items it is "".
func Bodies(items []Item, tokens int) string {
	rows := merge(items)
	if len(rows) == 0 {
		return ""
	}
	texts := make([]string, len(rows))
	sizes := make([]int, len(rows))
	for i := range rows {
		if rows[i].kind == readable {
			texts[i] = rows[i].text()
			sizes[i] = len(texts[i])
		}
	}
	shares := share(sizes, max(tokens, 0)*bytesPerToken)
	var b strings.Builder
	writeTable(&b, rows)
	if slices.ContainsFunc(rows, func(r row) bool { return r.kind == readable }) {
		b.WriteString("\n" + phrase("data") + "\n")
	}
	for i := range rows {
		b.WriteString("\n" + rows[i].body(texts[i], shares[i]) + "\n")
	}
	return b.String()
}

// body returns what is said of a row below the table: of its text at most limit
// bytes.
func (r *row) body(text string, limit int) string {
	name := strings.NewReplacer("{key}", cell(r.Key), "{name}", cell(r.Name),
		"{type}", cell(r.Type), "{size}", strconv.Itoa(max(r.Size, len(r.Body))))
	switch r.kind {
	case empty:
		return name.Replace(phrase("empty"))
	case foreign:
		return name.Replace(phrase("foreign"))
	case absent:
		return name.Replace(phrase("absent"))
	}
	kept := head(text, limit)
	if missing := len(text) - len(kept); missing > 0 {
		if kept != "" && !strings.HasSuffix(kept, "\n") {
			kept += "\n"
		}
		kept += strings.NewReplacer("{missing}", strconv.Itoa(missing), "{size}", strconv.Itoa(len(text))).Replace(phrase("cut"))
	}
	return r.wrap(kept)
}

// share divides total among sizes: nobody gets more than it asks for, and what the
// small ones leave goes to the others in equal parts.
func share(sizes []int, total int) []int {
	order := make([]int, len(sizes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return sizes[a] - sizes[b] })
	shares := make([]int, len(sizes))
	for n, i := range order {
		shares[i] = min(sizes[i], total/(len(order)-n))
		total -= shares[i]
	}
	return shares
}

// head returns at most limit bytes of s, without a character that is cut.
func head(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// phrase returns the sentence called name. The names are constants of this
// package.
func phrase(name string) string {
	for line := range strings.Lines(phrases) {
		if key, text, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && key == name {
			return text
		}
	}
	panic("attach: no phrase " + name)
}
