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

	"mvdan.cc/sh/v3/syntax"
)

// Normalise returns line with the white space between its words made even, so
// that the same command written differently gives the same text (R-ACP-41).
// What is quoted stays as it is. A line that cannot be parsed is only trimmed.
func Normalise(line string) string {
	f, err := parse(line)
	if err != nil {
		return strings.TrimSpace(line)
	}
	var s strings.Builder
	if err := syntax.NewPrinter().Print(&s, f); err != nil {
		return strings.TrimSpace(line)
	}
	return strings.TrimSpace(s.String())
}

func parse(line string) (*syntax.File, error) {
	return syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(strings.NewReader(line), "")
}
