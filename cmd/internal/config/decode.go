package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// origins says where values come from, by dotted key, and where tables begin. A
// missing key is a default.
type origins struct{ values, tables map[string]string }

func newOrigins() origins {
	return origins{make(map[string]string), make(map[string]string)}
}

func (o origins) clone() origins { return origins{maps.Clone(o.values), maps.Clone(o.tables)} }

// set notes that the value of key comes from origin.
func (o origins) set(key, origin string) { o.values[key] = origin }

// of returns the origin of a value: of key, or of the list around it.
func (o origins) of(key string) string {
	if origin := climb(key, o.values); origin != "" {
		return origin
	}
	return "default"
}

// Given reports whether a flag or a variable of this program sets key, which
// thus holds for what is done at this moment.
func (c *Config) Given(key string) bool {
	origin := c.origin.of(key)
	return strings.HasPrefix(origin, "flag ") || strings.HasPrefix(origin, "env LORIMER_")
}

// climb looks key up, then what it stands in.
func climb(key string, in map[string]string) string {
	for {
		if origin, ok := in[key]; ok {
			return origin
		}
		i := strings.LastIndexByte(key, '.')
		if i < 0 {
			return ""
		}
		key = key[:i]
	}
}

// At returns the place of what a file says under a dotted key: FILE:LINE. An entry of
// an array of tables has its index from 0, as in "hook.0".
func (c *Config) At(key string) string { return c.near(key) }

// Origin returns where the value of a dotted key comes from: FILE:LINE, "env NAME",
// "flag --NAME" or "default".
func (c *Config) Origin(key string) string { return c.origin.of(key) }

// near returns the place to look at for key: its own, else the head of its
// table, else the file.
func (c *Config) near(key string) string {
	return cmp.Or(climb(key, c.origin.values), climb(key, c.origin.tables), c.Paths.Config)
}

// keysHint says to whoever has mistyped a key where they all are.
const keysHint = `"lorimer help configuration" has those that there are`

// decode reads a file's content over into, and notes the line of every key in
// from. A key that into does not have is a warning.
func decode(into any, from origins, file string, data []byte) ([]Warning, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	dec := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields()
	err := dec.Decode(into)
	var warnings []Warning
	if strict, ok := errors.AsType[*toml.StrictMissingError](err); ok {
		for _, e := range strict.Errors {
			line, _ := e.Position()
			warnings = append(warnings, Warning{file, line, fmt.Sprintf("unknown key %s has no effect; %s", strings.Join(e.Key(), "."), keysHint)})
		}
		err = nil
	}
	if e, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, column := e.Position()
		text := plain(strings.TrimPrefix(e.Error(), "toml: "))
		if len(e.Key()) > 0 {
			text = strings.Join(e.Key(), ".") + ": " + text
		}
		return nil, fmt.Errorf("%s:%d:%d: %s", file, line, column, text)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, k := range keysOf(data) {
		place := file + ":" + strconv.Itoa(k.line)
		if k.table {
			from.tables[k.name] = place
		} else {
			from.values[k.name] = place
		}
	}
	return warnings, nil
}

// plain says without types of Go what a value has to be, where that is what the
// decoder complains of.
func plain(text string) string {
	rest, ok := strings.CutPrefix(text, "cannot decode TOML ")
	kind, into, found := strings.Cut(rest, " into ")
	if !ok || !found || kind == "" {
		return text
	}
	must := "a table"
	switch t := into[strings.LastIndexByte(into, ' ')+1:]; t {
	case "string":
		must = "a string"
	case "bool":
		must = "true or false"
	case "int", "int64":
		must = "a whole number"
	case "float64":
		must = "a number"
	case "[]string":
		must = "an array of strings"
	default:
		if strings.HasPrefix(t, "[]") {
			must = "an array of tables"
		}
	}
	article := "a"
	if strings.ContainsRune("aeiou", rune(kind[0])) {
		article = "an"
	}
	return fmt.Sprintf("must be %s, not %s %s", must, article, kind)
}

// A key is a key of a file with its line.
type key struct {
	name  string // dotted; an entry of an array of tables has its index from 0
	line  int
	table bool // the head of a table
}

// keysOf lists the keys of data, which has been decoded before, in their order.
func keysOf(data []byte) []key {
	var p unstable.Parser
	p.Reset(data)
	lines := lineCounter{data: data, line: 1}
	var keys []key
	table := ""
	entries := make(map[string]int) // of the arrays of tables
	for p.NextExpression() {
		e := p.Expression()
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			parts, line := parts(&lines, e)
			table = tableName(parts, entries, e.Kind == unstable.ArrayTable)
			keys = append(keys, key{table, line, true})
		case unstable.KeyValue:
			keys = pair(&lines, keys, table, e)
		}
	}
	return keys
}

// tableName joins the parts of a table's head, with the index of the entry that
// each array of tables on the way has reached; entry begins a new one.
func tableName(parts []string, entries map[string]int, entry bool) string {
	name := ""
	for i, part := range parts {
		name = join(name, part)
		if entry && i == len(parts)-1 {
			entries[name]++
		}
		if n := entries[name]; n > 0 {
			name = join(name, strconv.Itoa(n-1))
		}
	}
	return name
}

// pair adds the key of a key-value, and those of the inline tables in it.
func pair(lines *lineCounter, keys []key, above string, n *unstable.Node) []key {
	parts, line := parts(lines, n)
	name := join(above, strings.Join(parts, "."))
	keys = append(keys, key{name, line, false})
	if n.Value().Kind == unstable.InlineTable {
		for it := n.Value().Children(); it.Next(); {
			keys = pair(lines, keys, name, it.Node())
		}
	}
	return keys
}

// parts returns the parts of the key of a table or a key-value, and its line.
func parts(lines *lineCounter, n *unstable.Node) (parts []string, line int) {
	for it := n.Key(); it.Next(); {
		if line == 0 {
			line = lines.at(int(it.Node().Raw.Offset))
		}
		parts = append(parts, string(it.Node().Data))
	}
	return parts, line
}

// A lineCounter tells lines of growing offsets, each in the time from the one
// before.
type lineCounter struct {
	data   []byte
	offset int
	line   int // of offset, from 1
}

func (l *lineCounter) at(offset int) int {
	l.line += bytes.Count(l.data[l.offset:offset], []byte("\n"))
	l.offset = offset
	return l.line
}
