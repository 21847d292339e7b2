package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// origins says where values come from, by dotted key. A missing key is a
// default.
type origins map[string]string

func (o origins) set(key, origin string) { o[key] = origin }

// of returns the origin of key, or of the nearest table around it that has one.
func (o origins) of(key string) string {
	for {
		if origin, ok := o[key]; ok {
			return origin
		}
		i := strings.LastIndexByte(key, '.')
		if i < 0 {
			return "default"
		}
		key = key[:i]
	}
}

// decode reads a file's content over c, and notes the line of every key. A key
// that c does not have is a warning.
func (c *Config) decode(file string, data []byte) ([]Warning, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	dec := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields()
	err := dec.Decode(c)
	var warnings []Warning
	if strict, ok := errors.AsType[*toml.StrictMissingError](err); ok {
		for _, e := range strict.Errors {
			line, _ := e.Position()
			warnings = append(warnings, Warning{file, line, fmt.Sprintf("unknown key %s has no effect", strings.Join(e.Key(), "."))})
		}
		err = nil
	}
	if e, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, column := e.Position()
		return nil, fmt.Errorf("%s:%d:%d: %s", file, line, column, strings.TrimPrefix(e.Error(), "toml: "))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, k := range keysOf(data) {
		c.origin.set(k.name, file+":"+strconv.Itoa(k.line))
	}
	return warnings, nil
}

// A key is a key of a file with its line.
type key struct {
	name string // dotted; an entry of an array of tables has its index from 0
	line int
}

// keysOf lists the keys of data, which has been decoded before, in their order.
func keysOf(data []byte) []key {
	var p unstable.Parser
	p.Reset(data)
	var keys []key
	table, count := "", map[string]int{}
	for p.NextExpression() {
		e := p.Expression()
		name, line := dotted(&p, e)
		switch e.Kind {
		case unstable.Table:
			table = name
		case unstable.ArrayTable:
			table = name + "." + strconv.Itoa(count[name])
			count[name]++
			name = table
		case unstable.KeyValue:
			if table != "" {
				name = table + "." + name
			}
		default:
			continue
		}
		keys = append(keys, key{name, line})
		if e.Kind == unstable.KeyValue {
			keys = inline(&p, keys, name, e.Value())
		}
	}
	return keys
}

// inline adds the keys of an inline table.
func inline(p *unstable.Parser, keys []key, above string, value *unstable.Node) []key {
	if value.Kind != unstable.InlineTable {
		return keys
	}
	for it := value.Children(); it.Next(); {
		name, line := dotted(p, it.Node())
		keys = append(keys, key{above + "." + name, line})
		keys = inline(p, keys, above+"."+name, it.Node().Value())
	}
	return keys
}

// dotted returns the key of a table or a key-value, and its line.
func dotted(p *unstable.Parser, n *unstable.Node) (name string, line int) {
	var parts []string
	if n.Kind != unstable.Table && n.Kind != unstable.ArrayTable && n.Kind != unstable.KeyValue {
		return "", 0
	}
	for it := n.Key(); it.Next(); {
		parts = append(parts, string(it.Node().Data))
		if line == 0 {
			line = p.Shape(it.Node().Raw).Start.Line
		}
	}
	return strings.Join(parts, "."), line
}

// check looks at the values that must be one of a few, or in a range.
func (c *Config) check() error {
	for _, v := range []struct {
		key string
		err error
	}{
		{"mode", oneOf(c.Mode, modes()...)},
		{"context.units", oneOf(c.Context.Units, "", "metric", "imperial")},
		{"prompt_cache.volatile_placement", oneOf(c.PromptCache.VolatilePlacement, "turn", "system")},
		{"history.cross_vendor", oneOf(c.History.CrossVendor, "typed", "text")},
		{"attachments.inline_bytes", notNegative(c.Attachments.InlineBytes)},
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
		{"tool_order", checkOrder(c.ToolOrder)},
	} {
		if v.err != nil {
			return fmt.Errorf("%s: %s: %w", c.origin.of(v.key), v.key, v.err)
		}
	}
	if err := c.checkProviders(); err != nil {
		return err
	}
	return c.checkEntries()
}

// checkEntries looks at the tables that come in any number.
func (c *Config) checkEntries() error {
	for name, s := range c.MCP {
		if (s.Command == "") == (s.URL == "") {
			return fmt.Errorf("%s: mcp.%s: give either command or url", c.origin.of("mcp."+name), name)
		}
		if err := oneOf(s.Type, "", "http", "sse", "stdio"); err != nil {
			return fmt.Errorf("%s: mcp.%s.type: %w", c.origin.of("mcp."+name+".type"), name, err)
		}
	}
	for i, h := range c.Hooks {
		if err := oneOf(h.Action, "drop", "replace", "append", "reorder"); err != nil {
			return fmt.Errorf("%s: hook: action: %w", c.origin.of("hook."+strconv.Itoa(i)), err)
		}
		if err := oneOf(h.Target, "", "sections", "tools"); err != nil {
			return fmt.Errorf("%s: hook: target: %w", c.origin.of("hook."+strconv.Itoa(i)), err)
		}
	}
	for i, t := range c.Tools {
		if t.Name == "" || len(t.Command) == 0 {
			return fmt.Errorf("%s: tool: name and command are needed", c.origin.of("tool."+strconv.Itoa(i)))
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

func limit(n *int64) error {
	if n == nil {
		return nil
	}
	return notNegative(*n)
}

// modes lists the modes from the strictest.
func modes() []string { return []string{"read-only", "ask", "accept-edits", "auto"} }

// stricter reports whether mode a allows less than mode b.
func stricter(a, b string) bool {
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
