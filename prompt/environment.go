package prompt

import (
	"strconv"
	"strings"
	"time"
)

// An Environment is where the tools of a session work. Fields that are empty
// have no line.
type Environment struct {
	Cwd       string        // working directory, absolute
	Roots     []string      // further directories that tools may use, absolute
	Shell     string        // what runs commands, as "/bin/bash"
	OS        string        // as "linux/amd64"
	Timeout   time.Duration // that a command has by default
	MaxOutput int           // bytes kept of the output of a command
}

// Text returns the environment block: workspace, shell and their limits. It is
// for models that call tools (R-PROMPT-30).
func (e Environment) Text() string {
	lines := []string{environmentWords.plain(), ""}
	line := func(w words, value string) {
		if value != "" {
			lines = append(lines, w.fill("value", value))
		}
	}
	line(environmentCwdWords, shownPath(e.Cwd))
	var roots []string
	for _, r := range e.Roots {
		roots = append(roots, shownPath(r))
	}
	line(environmentRootsWords, strings.Join(roots, ", "))
	line(environmentOsWords, shown(e.OS))
	line(environmentShellWords, shown(e.Shell))
	if e.Timeout > 0 {
		line(environmentTimeoutWords, e.Timeout.String())
	}
	if e.MaxOutput > 0 {
		line(environmentOutputWords, strconv.Itoa((e.MaxOutput+1023)/1024))
	}
	return strings.Join(lines, "\n")
}
