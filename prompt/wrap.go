package prompt

import (
	"strings"
	"unicode"
)

// Wrap returns body between the tags of an element, whose attributes are pairs of
// name and value, so that the model can tell where data begins and ends. What in
// body could be taken for its closing tag is broken, and hidden characters are
// revealed. The tag and the names of attributes are words of the caller's own.
func Wrap(tag, body string, attributes ...string) string {
	var b strings.Builder
	b.WriteString("<" + tag)
	for i := 0; i+1 < len(attributes); i += 2 {
		b.WriteString(" " + attributes[i] + `="` + attribute(attributes[i+1]) + `"`)
	}
	b.WriteString(">\n")
	body = breakClosings(tag, Reveal(body))
	b.WriteString(body)
	if body != "" && !strings.HasSuffix(body, "\n") {
		b.WriteString("\n")
	}
	b.WriteString("</" + tag + ">")
	return b.String()
}

// attribute returns s on one line, without what could end the attribute.
func attribute(s string) string {
	s = oneLine(s)
	if strings.ContainsAny(s, `"<>`) {
		s = strings.NewReplacer(`"`, "&quot;", "<", "&lt;", ">", "&gt;").Replace(s)
	}
	return Reveal(s)
}

// breakClosings puts a backslash into each closing tag of that name in body,
// however it is spaced and whatever the case of its letters.
func breakClosings(tag, body string) string {
	var b strings.Builder
	for {
		open := strings.IndexByte(body, '<')
		if open < 0 {
			b.WriteString(body)
			return b.String()
		}
		b.WriteString(body[:open+1])
		body = body[open+1:]
		spaced := strings.TrimLeftFunc(body, unicode.IsSpace)
		name, closes := strings.CutPrefix(spaced, "/")
		name = strings.TrimLeftFunc(name, unicode.IsSpace)
		if closes && len(name) >= len(tag) && strings.EqualFold(name[:len(tag)], tag) {
			b.WriteString(body[:len(body)-len(spaced)] + `\`)
			body = spaced
		}
	}
}
