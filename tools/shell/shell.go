// Package shell reads command lines to tell what they would do, without doing
// it: which commands a line runs, what they would delete or write, and when two
// lines are the same.
//
// It sees what is plainly visible. A command that is put together while it runs
// (out of a variable that is not set in the line, a download, an interpreter's
// program) stays unseen, so what it reports is true and what it does not report
// is unknown.
package shell

import (
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"
)

// Normalise returns line with the white space between its words made even, so
// that the same command written differently gives the same text (R-ACP-41).
// What is quoted stays as it is, and so does a line that cannot be parsed, or
// has control characters, on which shells and our parser need not agree.
func Normalise(line string) string {
	if strings.ContainsFunc(line, func(c rune) bool { return unicode.IsControl(c) && c != '\n' && c != '\t' }) {
		return line
	}
	f, err := parse(line)
	if err != nil {
		return line
	}
	var s strings.Builder
	if err := syntax.NewPrinter().Print(&s, f); err != nil {
		return line
	}
	normal := strings.TrimSuffix(s.String(), "\n")
	if _, err := parse(normal); err != nil {
		return line
	}
	return normal
}

func parse(line string) (*syntax.File, error) {
	return syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(strings.NewReader(line), "")
}
