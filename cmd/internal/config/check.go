package config

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// check looks at the values that must be one of a few, or in a range.
func (c *Config) check() error {
	for _, v := range []struct {
		key string
		err error
	}{
		{"mode", oneOf(c.Mode, modes()...)},
		{"citations", oneOf(c.Citations, "registry", "linked")},
		{"context.latitude", degrees(c.Context.Latitude, 90)},
		{"context.longitude", degrees(c.Context.Longitude, 180)},
		{"context.units", oneOf(c.Context.Units, "", "metric", "imperial")},
		{"context.time", oneOf(c.Context.Time, "", "12h", "24h")},
		{"context.currency", checkCurrency(c.Context.Currency)},
		{"prompt_cache.volatile_placement", oneOf(c.PromptCache.VolatilePlacement, "turn", "system")},
		{"history.cross_vendor", oneOf(c.History.CrossVendor, "typed", "text")},
		{"history.executed", checkExecuted(c.History.Executed)},
		{"attachments.inline_bytes", notNegative(c.Attachments.InlineBytes)},
		{"skills.trusted", checkTrusted(c.Skills.Trusted)},
		{"instructions.file_bytes", above(&c.Instructions.FileBytes, 0)},
		{"instructions.all_bytes", above(&c.Instructions.AllBytes, 0)},
		{"tool_route.on_failure", oneOf(c.ToolRoute.OnFailure, "none", "search_only", "all")},
		{"compaction.trigger", notNegative(c.Compaction.Trigger)},
		{"compaction.keep_rounds", notNegative(c.Compaction.KeepRounds)},
		{"web.caps.auto", notNegative(c.Web.Caps.Auto)},
		{"web.caps.search", notNegative(c.Web.Caps.Search)},
		{"web.caps.research", notNegative(c.Web.Caps.Research)},
		{"budget.day", limit(c.Budget.Day)},
		{"budget.month", limit(c.Budget.Month)},
		{"budget.thread", limit(c.Budget.Thread)},
		{"acp.terminal", oneOf(c.ACP.Terminal, "own", "client")},
		{"harness.idle", c.Harness.Idle.positive()},
		{"database", checkDatabase(c.Database)},
		{"tool_order", checkOrder(c.ToolOrder)},
	} {
		if v.err != nil {
			return fmt.Errorf("%s: %s: %w", c.near(v.key), v.key, v.err)
		}
	}
	for _, check := range []func() error{c.checkProviders, c.checkTools, c.checkSections, c.checkVariables, c.checkHooks, c.checkModels} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checkTools looks at the custom tools.
func (c *Config) checkTools() error {
	for i, t := range c.Tools {
		if t.Name == "" || len(t.Command) == 0 {
			return fmt.Errorf("%s: tool: name and command are needed", c.near("tool."+strconv.Itoa(i)))
		}
		if err := t.Timeout.check(); err != nil {
			return fmt.Errorf("%s: tool: timeout: %w", c.near("tool."+strconv.Itoa(i)+".timeout"), err)
		}
	}
	return nil
}

// unlisted is the place of the tools that an order does not name.
const unlisted = "<unlisted-tools>"

// checkOrder enforces the form of an order of tools: the marker once, and no
// name twice (R-PROMPT-20).
func checkOrder(order *[]string) error {
	if order == nil {
		return nil
	}
	seen := make(map[string]bool)
	for _, name := range *order {
		if seen[name] {
			return fmt.Errorf("%q occurs twice", name)
		}
		seen[name] = true
	}
	if !seen[unlisted] {
		return fmt.Errorf("add %q where the tools go that are not listed", unlisted)
	}
	return nil
}

// checkExecuted refuses a template that would not say which tool was called, or that
// has something else in it to fill in.
func checkExecuted(template string) error {
	if template == "" {
		return nil
	}
	if !strings.Contains(template, "{{tool}}") {
		return errors.New("{{tool}} is needed, for the name of the tool")
	}
	if rest := strings.NewReplacer("{{tool}}", "", "{{summary}}", "").Replace(template); strings.Contains(rest, "{{") {
		return errors.New("nothing but {{tool}} and {{summary}} is filled in")
	}
	return nil
}

// degrees refuses what is no latitude or longitude.
func degrees(n *float64, most float64) error {
	if n != nil && !(math.Abs(*n) <= most) { // as NaN is not
		return fmt.Errorf("must be degrees from -%g to %g", most, most)
	}
	return nil
}

// checkCurrency takes codes like EUR, which every model knows.
func checkCurrency(code string) error {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	if code != "" && (len(code) != 3 || strings.Trim(code, letters) != "") {
		return fmt.Errorf("%q is not the code of a currency; write it like EUR or USD", code)
	}
	return nil
}

func limit(n *int64) error {
	if n == nil {
		return nil
	}
	return notNegative(*n)
}

// modes lists the modes from the strictest.
func modes() []string { return []string{"read-only", "ask", "accept-edits", "auto"} }

// Stricter reports whether mode a allows less than mode b.
func Stricter(a, b string) bool {
	return slices.Index(modes(), a) < slices.Index(modes(), b)
}

// loose reports whether others than the owner may read a file with mode m.
func loose(m fs.FileMode) bool { return m.Perm()&0o077 != 0 }

// beside returns path as seen from the directory of the configuration file.
func (c *Config) beside(path string) string {
	path = c.expand(path)
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(c.Paths.Config), path)
}
