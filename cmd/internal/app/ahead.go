package app

import (
	"slices"
	"strings"

	"github.com/lorimer-dev/lorimer/cmd/internal/config"
)

// unused returns a warning for each setting that the configuration makes and
// nothing reads: whoever forbids something there has to know that it is not
// forbidden. `lorimer help configuration` lists the same keys.
func unused(c *config.Config) []config.Warning {
	keys := []string{
		"acp.terminal", "budget", "compaction", "experimental",
		"moderation", "permissions", "task", "tool", "tool_route", "web",
	}
	var all []config.Warning
	for _, v := range c.Values() {
		if v.Origin == "default" || !slices.ContainsFunc(keys, func(k string) bool { return v.Key == k || strings.HasPrefix(v.Key, k+".") }) {
			continue
		}
		all = append(all, config.Warning{File: v.Origin, Text: v.Key + " has no effect in this version"})
	}
	return all
}

// unusedHere is unused for what the file of a workspace adds: here is c in it.
func unusedHere(c, here *config.Config) []config.Warning {
	if here == c {
		return nil
	}
	told := unused(c)
	return slices.DeleteFunc(unused(here), func(w config.Warning) bool { return slices.Contains(told, w) })
}
