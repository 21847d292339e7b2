package prompt

// Tokens returns the names in the slash tokens of a message, in the order in which
// they first occur, each once: a slash, then letters, digits, underscores or
// hyphens, between white space or the ends of the text (R-PROMPT-44).
func Tokens(text string) []string {
	return nil
}
