package served

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/server"
)

// What the user reads.
var (
	//go:embed states.md
	statesText string
	//go:embed resources.md
	resourcesText string
)

const (
	maxName    = 100 // characters of a name that are shown
	maxAddress = 300 // of an address, which has to be whole to be of use
	maxList    = 200 // resources that are shown
)

// States tells how servers stand (R-MCP-20).
func States(all []server.Status) string {
	var b strings.Builder
	for _, s := range all {
		fmt.Fprintf(&b, "- %s (%s %s, from %s): %s", code(s.Name, maxName), s.Kind, code(s.Address, maxAddress), tools.Line(s.Source, maxName), s.State)
		switch {
		case s.State == server.Connected:
			fmt.Fprintf(&b, ", %s, %s, %s", count(len(s.Tools), "tool"), count(s.Prompts, "prompt"), count(s.Resources, "resource"))
		case s.Attempts > 0:
			fmt.Fprintf(&b, ", %s", count(s.Attempts, "attempt"))
		}
		if s.LastError != "" && s.State != server.Connected {
			fmt.Fprintf(&b, ". %s", tools.Line(s.LastError, tools.MaxTitle))
		}
		b.WriteString("\n")
		for _, t := range s.Tools {
			fmt.Fprintf(&b, "  - %s\n", code(t, maxName))
		}
	}
	return fill(statesText, b.String())
}

// Resources lists resources by the tokens that attach them. Prefixes are those of the
// servers, by their names.
func Resources(all []server.Resource, prefixes map[string]string) string {
	var b strings.Builder
	for i, r := range all {
		if i == maxList {
			fmt.Fprintf(&b, "- and %d more\n", len(all)-maxList)
			break
		}
		b.WriteString("- " + code("@"+prefixes[r.Server]+":"+r.URI, maxAddress))
		if name := tools.Line(r.Name, maxName); name != "" {
			b.WriteString(" " + name)
		}
		if r.MIME != "" {
			b.WriteString(" (" + tools.Line(r.MIME, maxName) + ")")
		}
		if r.Description != "" {
			b.WriteString(": " + tools.Line(r.Description, tools.MaxTitle))
		}
		b.WriteString("\n")
	}
	if len(all) == 0 {
		b.WriteString("There are none.")
	}
	return fill(resourcesText, b.String())
}

func fill(text, list string) string {
	return strings.Replace(strings.TrimSpace(text), "LIST", strings.TrimSpace(list), 1)
}

// code shows a name that somebody else chose as what it is.
func code(s string, limit int) string {
	return "`" + strings.ReplaceAll(tools.Line(s, limit), "`", "'") + "`"
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
