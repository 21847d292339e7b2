package discover

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// parseTOML reads a file of TOML, as Codex has it. Nil is one without a place for
// servers.
func parseTOML(file string, data []byte) ([]raw, error) {
	var root map[string]any
	if err := toml.Unmarshal(data, &root); err != nil {
		line := 1
		if e, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, _ = e.Position()
		}
		return nil, &FileError{file, line, fmt.Errorf("not TOML: %s", strings.TrimPrefix(err.Error(), "toml: "))}
	}
	const key = "mcp_servers"
	place, ok := root[key]
	if !ok {
		return nil, nil
	}
	servers, ok := place.(map[string]any)
	if !ok {
		return nil, &FileError{file, 0, fmt.Errorf("%s must be a table of servers by their names", key)}
	}
	lines := linesOf(data, key)
	all := make([]raw, 0, len(servers))
	for name, s := range servers {
		fields, _ := s.(map[string]any)
		all = append(all, raw{name, lines[name], fields})
	}
	slices.SortFunc(all, func(a, b raw) int { return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.name, b.name)) })
	return all, nil
}

// linesOf returns the lines in which the members of the table key are first named.
func linesOf(data []byte, key string) map[string]int {
	lines := make(map[string]int)
	note := func(n *unstable.Node) {
		name := string(n.Data)
		if _, ok := lines[name]; !ok {
			lines[name] = 1 + bytes.Count(data[:n.Raw.Offset], []byte("\n"))
		}
	}
	var p unstable.Parser
	p.Reset(data)
	inside := false // what follows belongs to the table
	for p.NextExpression() {
		e := p.Expression()
		var path []*unstable.Node
		for it := e.Key(); it.Next(); {
			path = append(path, it.Node())
		}
		if len(path) == 0 {
			continue
		}
		pair := e.Kind == unstable.KeyValue
		named := !(pair && inside) && string(path[0].Data) == key
		if !pair {
			inside = named && len(path) == 1
		}
		switch {
		case pair && inside:
			note(path[0])
		case named && len(path) > 1:
			note(path[1])
		case named && pair && e.Value().Kind == unstable.InlineTable:
			for it := e.Value().Children(); it.Next(); {
				if k := it.Node().Key(); k.Next() {
					note(k.Node())
				}
			}
		}
	}
	return lines
}
