package discover

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// A member is one of a JSON object.
type member struct {
	name  string
	value json.RawMessage
	at    int // offset of the value in the file
	line  int // of the name, from 1
}

// parseJSON reads a file of JSON, in which there may be comments, and commas that
// nothing follows. Nil is a file without a place for servers.
func parseJSON(file string, data []byte, workspace string) ([]raw, error) {
	data = plain(data)
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, nil
	}
	var whole json.RawMessage
	if err := json.Unmarshal(data, &whole); err != nil {
		at := len(data)
		if e, ok := errors.AsType[*json.SyntaxError](err); ok {
			at = int(e.Offset) - 1 // of the character behind
		}
		at = min(max(at, 0), len(data))
		return nil, &FileError{file, 1 + bytes.Count(data[:at], []byte("\n")), fmt.Errorf("not JSON: %w", err)}
	}
	f := text{data}
	root, ok := f.members(member{value: data})
	if !ok {
		return nil, &FileError{file, 1, errors.New("must be an object, in braces")}
	}
	var all []raw
	for _, place := range f.places(root, workspace) {
		servers, ok := f.members(place)
		if !ok {
			return nil, &FileError{file, place.line, fmt.Errorf("%s must be an object of servers by their names", place.name)}
		}
		if all == nil {
			all = []raw{}
		}
		for _, s := range servers {
			all = append(all, raw{name: s.name, line: s.line, fields: object(s.value)})
		}
	}
	return all, nil
}

// A text is a file of valid JSON.
type text struct{ data []byte }

// members returns the members of the object m in their order; ok is false where m is
// none.
func (t text) members(m member) (all []member, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(m.value))
	if first, err := dec.Token(); err != nil || first != json.Delim('{') {
		return nil, false
	}
	at, line := 0, 1
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, false // which valid JSON does not come to
		}
		next := m.at + int(dec.InputOffset())
		line += bytes.Count(t.data[at:next], []byte("\n"))
		at = next
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, false
		}
		all = append(all, member{name.(string), value, m.at + int(dec.InputOffset()) - len(value), line})
	}
	return all, true
}

// in returns the member name of the object m.
func (t text) in(m member, name string) (member, bool) {
	all, _ := t.members(m)
	return find(all, name)
}

func find(all []member, name string) (member, bool) {
	for _, m := range all {
		if m.name == name {
			return m, true
		}
	}
	return member{}, false
}

// places returns where the servers are, in a file with the members root: in what a
// program has kept for the workspace, then in the first key that stands for servers.
func (t text) places(root []member, workspace string) (all []member) {
	if projects, ok := find(root, "projects"); ok { // of Claude Code
		if project, ok := t.in(projects, workspace); ok {
			if m, ok := t.in(project, "mcpServers"); ok {
				all = append(all, m)
			}
		}
	}
	for _, key := range []string{"mcpServers", "servers", "context_servers", "mcp_servers"} {
		if m, ok := find(root, key); ok {
			return append(all, m)
		}
	}
	m, ok := find(root, "mcp")
	if !ok {
		return all
	}
	if inner, ok := t.in(m, "servers"); ok { // in the settings of VS Code; elsewhere it could be a server of that name
		fields := object(inner.value)
		if _, isServer := fields["command"].(string); !isServer && fields["type"] == nil && fields["url"] == nil {
			m = inner
		}
	}
	return append(all, m)
}

// object decodes an object of JSON; nil is none.
func object(value json.RawMessage) map[string]any {
	dec := json.NewDecoder(bytes.NewReader(value))
	dec.UseNumber()
	var fields map[string]any
	if dec.Decode(&fields) != nil {
		return nil
	}
	return fields
}

// plain returns data with spaces in place of comments, and of commas that nothing
// follows. Every other byte stays where it is.
func plain(data []byte) []byte {
	out := bytes.Clone(data)
	comma := -1 // the last character that counts, if it is a comma
	for i := 0; i < len(out); i++ {
		switch c := out[i]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			continue
		case c == '/' && i+1 < len(out) && (out[i+1] == '/' || out[i+1] == '*'):
			i = blank(out, i)
			continue
		case c == '"':
			i = endOfString(out, i)
		case (c == '}' || c == ']') && comma >= 0:
			out[comma] = ' '
		}
		comma = -1
		if i < len(out) && out[i] == ',' {
			comma = i
		}
	}
	return out
}

// blank overwrites the comment at i, but for its line breaks, and returns its last
// byte.
func blank(out []byte, i int) int {
	end := len(out)
	if out[i+1] == '/' {
		if n := bytes.IndexByte(out[i:], '\n'); n >= 0 {
			end = i + n
		}
	} else if n := bytes.Index(out[i+2:], []byte("*/")); n >= 0 {
		end = i + 2 + n + 2
	}
	for ; i < end; i++ {
		if out[i] != '\n' {
			out[i] = ' '
		}
	}
	return end - 1
}

// endOfString returns the closing quote of the string that begins at i, or the end.
func endOfString(out []byte, i int) int {
	for i++; i < len(out) && out[i] != '"'; i++ {
		if out[i] == '\\' {
			i++
		}
	}
	return i
}
