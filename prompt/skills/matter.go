package skills

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/lorimer-dev/lorimer/prompt"
)

const (
	maxMatter = 16 << 10 // bytes of front matter
	// maxMarks bounds the characters of front matter that mean something in YAML.
	// The time of the parser grows with their square, and a thousand take a
	// millisecond or two.
	maxMarks = 1000
	maxWords = 200 // bytes shown of what the parser says
)

// A field is a line of front matter. A field of the mapping metadata has a key like
// "metadata.output-contract".
type field struct {
	key    string
	value  string
	scalar bool   // value is all of it, not a list, a mapping or an alias
	alias  string // name of what it refers to, if it is an alias
}

// split returns the front matter of a text with line feeds, and what stands below
// it. Blank lines may stand before it. With ok false the text has none, or one that
// does not end within the limit, which opened tells.
func split(text string) (matter, body string, opened, ok bool) {
	text = strings.TrimLeft(text, " \t\n")
	first, rest, _ := strings.Cut(text, "\n")
	if strings.TrimRight(first, " \t") != "---" {
		return "", "", false, false
	}
	for at := 0; at <= min(len(rest), maxMatter); {
		line, _, more := strings.Cut(rest[at:], "\n")
		if end := strings.TrimRight(line, " \t"); end == "---" || end == "..." {
			return rest[:at], strings.TrimPrefix(rest[at+len(line):], "\n"), true, true
		}
		if !more {
			break
		}
		at += len(line) + 1
	}
	return "", "", true, false
}

// fields reads front matter as YAML, and where it is none line by line, which err
// then says why.
func fields(matter string) (found []field, err error) {
	found, err = readYAML(matter)
	if err != nil {
		return readLines(matter), err
	}
	return found, nil
}

// readYAML returns the fields of a mapping. Its error is one line without the
// text it concerns.
func readYAML(matter string) ([]field, error) {
	if n := strings.Count(matter, "\n- ") + marks(matter); n > maxMarks {
		return nil, fmt.Errorf("%d characters with a meaning, more than %d", n, maxMarks)
	}
	file, err := parser.ParseBytes([]byte(matter), 0)
	if syntax, ok := errors.AsType[*yaml.SyntaxError](err); ok && syntax.Token != nil {
		return nil, fmt.Errorf("line %d: %s", syntax.Token.Position.Line+1, brief(syntax.Message)) // below the opening line
	}
	if err != nil {
		return nil, errors.New(brief(err.Error()))
	}
	for _, doc := range file.Docs {
		if m, ok := doc.Body.(*ast.MappingNode); ok {
			return mapping("", m), nil
		}
	}
	return nil, errors.New("no keys with values")
}

// brief returns the words of the parser, which may quote the file, on one line that
// can be shown.
func brief(s string) string {
	s = prompt.Reveal(strings.Join(strings.Fields(strings.ToValidUTF8(s, "?")), " "))
	return s[:ends(s, min(len(s), maxWords))]
}

// marks counts the characters that can open or separate something in YAML.
func marks(s string) (n int) {
	for i := range len(s) {
		if strings.IndexByte("[]{}&!*?:-,'\"#|>%@`", s[i]) >= 0 {
			n++
		}
	}
	return n
}

func mapping(prefix string, m *ast.MappingNode) []field {
	var out []field
	for _, pair := range m.Values {
		name, ok := scalar(pair.Key)
		if !ok {
			continue
		}
		value, plain := scalar(pair.Value)
		out = append(out, field{prefix + name, value, plain, aliasOf(pair.Value)})
		if inner, ok := pair.Value.(*ast.MappingNode); ok && prefix == "" && name == metadataKey {
			out = append(out, mapping(metadataKey+".", inner)...)
		}
	}
	return out
}

// scalar returns the text of a node that is no list, mapping or alias.
func scalar(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.NullNode:
		return "", true
	case *ast.TagNode:
		return scalar(n.Value)
	case *ast.AnchorNode:
		return scalar(n.Value)
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true // as it is spelled
	}
	return "", false
}

// aliasOf returns the name that an alias refers to, "" for any other node.
func aliasOf(n ast.Node) string {
	if a, ok := n.(*ast.AliasNode); ok {
		return a.Value.String()
	}
	return ""
}

// readLines returns the fields of front matter that is nearly YAML: a line with a
// key begins a field, everything else goes on with the one before. Of two fields
// with one key the first counts.
func readLines(matter string) []field {
	var out []field
	seen := map[string]bool{}
	open := false // lines go on with the last of out
	for line := range strings.Lines(matter) {
		text := strings.TrimSpace(line)
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		name, value, keyed := key(text)
		switch within := len(out) > 0 && strings.HasPrefix(out[len(out)-1].key, metadataKey); {
		case line[0] != ' ' && line[0] != '\t' && keyed:
		case keyed && within:
			name = metadataKey + "." + name
		default:
			if open {
				last := &out[len(out)-1]
				last.value = strings.TrimSpace(last.value + " " + text)
			}
			continue
		}
		if open = !seen[name]; open {
			seen[name] = true
			out = append(out, field{key: name, value: value, scalar: true})
		}
	}
	for i := range out {
		out[i].value = unquote(out[i].value)
	}
	return out
}

// key splits a line like "name: value". The mark of a block of lines is no value.
func key(line string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(line, ":")
	if !ok || name == "" || strings.ContainsFunc(name, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_')
	}) {
		return "", "", false
	}
	value = strings.TrimSpace(value)
	if strings.Trim(value, "|>+-") == "" {
		value = ""
	}
	return name, value, true
}

// unquote takes the quotes off a value that stands in them.
func unquote(s string) string {
	if len(s) < 2 || s[0] != s[len(s)-1] {
		return s
	}
	switch inner := s[1 : len(s)-1]; s[0] {
	case '"':
		return strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\n`, "\n", `\t`, "\t").Replace(inner)
	case '\'':
		return strings.ReplaceAll(inner, "''", "'")
	}
	return s
}
