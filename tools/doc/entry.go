package doc

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	element = "resource" // what an entry stands in

	maxCharacters = 50000     // of one entry (R-TOOLS-28)
	maxBytes      = 120 << 10 // of the texts of all entries of a call, so that the result as a whole is not cut
	maxName       = 200       // characters of a name
)

//go:embed entry.md
var phrases string

// An entry is what became of one key.
type entry struct {
	key     string
	body    Body
	trouble string // why there is no body, for the model
	again   bool   // the key came before in the call
}

// render returns the entries in their order, one below the other. Where they are
// too long together, the short ones are given whole and the long ones get equal
// parts.
func render(entries []entry, wrap Wrapper) string {
	totals := make([]int, len(entries)) // characters
	sizes := make([]int, len(entries))
	for i := range entries {
		e := &entries[i]
		e.body.Text = strings.ToValidUTF8(e.body.Text, "�")
		totals[i] = utf8.RuneCountInString(e.body.Text)
		sizes[i] = len(head(e.body.Text, maxCharacters))
	}
	parts := make([]string, len(entries))
	for i, limit := range share(sizes, maxBytes) {
		parts[i] = entries[i].render(limit, sizes[i], totals[i], wrap)
	}
	return strings.Join(parts, "\n")
}

// render shows at most limit of the size bytes that the entry may have by itself;
// the body has total characters.
func (e *entry) render(limit, size, total int, wrap Wrapper) string {
	attributes := []string{"key", e.key}
	for _, a := range [][2]string{{"name", e.body.Name}, {"type", e.body.Type}} {
		if v := short(a[1]); v != "" {
			attributes = append(attributes, a[0], v)
		}
	}
	switch {
	case e.again:
		return wrap(element, phrase("again"), attributes...)
	case e.trouble != "":
		return wrap(element, e.trouble, append(attributes, "status", "error")...)
	case strings.ContainsRune(e.body.Text, 0), e.body.Text == "" && e.body.Size > 0:
		return wrap(element, strings.NewReplacer("{type}", typeOr(e.body.Type), "{size}", strconv.Itoa(e.body.Size)).
			Replace(phrase("foreign")), attributes...)
	case e.body.Text == "":
		return wrap(element, phrase("empty"), attributes...)
	}
	mark := "cut"
	if limit < min(size, maxBytes) { // others take the room
		mark = "shared"
	}
	text := cutBytes(e.body.Text, min(limit, size))
	if missing := total - utf8.RuneCountInString(text); missing > 0 {
		if !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		text += strings.NewReplacer("{missing}", strconv.Itoa(missing), "{total}", strconv.Itoa(total)).Replace(phrase(mark))
	}
	return wrap(element, text, attributes...)
}

func typeOr(mediaType string) string {
	if t := short(mediaType); t != "" {
		return t
	}
	return "unknown type"
}

// short returns s on one line, cut with an ellipsis. What does not show in it stays,
// for the wrapper to write out.
func short(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "�")), " ")
	if len(head(s, maxName)) < len(s) {
		return head(s, maxName-3) + "..."
	}
	return s
}

// head returns the first n characters of s.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

// cutBytes returns at most n bytes of s, without a character that is cut.
func cutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
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

// phrase returns the sentence called name. The names are constants of this
// package.
func phrase(name string) string {
	for line := range strings.Lines(phrases) {
		if key, text, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && key == name {
			return text
		}
	}
	panic("doc: no phrase " + name)
}
