package prompt

// Reveal returns s with each character that does not show and could carry a
// message past the reader, such as a zero width space, a change of writing
// direction or a tag, written as its code point, like <U+200B>. What belongs to
// visible writing stays, such as the joiner inside an emoji.
func Reveal(s string) string {
	return s
}

// Hidden describes the characters that Reveal would write out, for one line like
// "U+200B (2), U+E0041"; "" when there are none.
func Hidden(s string) string {
	return ""
}

// Wrap returns body between the tags of an element, whose attributes are pairs of
// name and value, so that the model can tell where data begins and ends. What in
// body could be taken for its closing tag is broken, and hidden characters are
// revealed.
func Wrap(tag, body string, attributes ...string) string {
	return body
}
