package client

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
)

// decodeResult reads the result of a call in whatever form a server gives it. What
// has no place in a [Result] becomes text: the model can still read it.
func decodeResult(raw json.RawMessage) (Result, error) {
	raw = space(raw)
	if !json.Valid(raw) {
		return Result{}, errors.New("the server's result is no JSON")
	}
	o, ok := fields(raw)
	if !ok {
		return Result{Blocks: decodeBlocks(raw)}, nil
	}
	r := Result{Blocks: decodeBlocks(o["content"]), Structured: kept(o["structuredContent"]), IsError: isTrue(o["isError"])}
	if none(o["content"]) && r.Structured == nil && speaks(o) {
		r.Blocks = []Block{{Type: "text", Text: literal(unwrapped(o, raw))}}
	}
	return r, nil
}

// isTrue reports whether value means true, as servers write it.
func isTrue(value json.RawMessage) bool {
	v := string(bytes.Trim(value, `"`))
	return v == "true" || v == "True" || v == "1"
}

// speaks reports whether a result has members beside those that every one may have.
func speaks(o object) bool {
	for name := range o {
		switch name {
		case "content", "structuredContent", "isError", "_meta", "resultType":
		default:
			return true
		}
	}
	return false
}

// unwrapped returns what a result without content says. Before the first revision
// it was in toolResult.
func unwrapped(o object, raw json.RawMessage) json.RawMessage {
	if old := o["toolResult"]; !none(old) {
		return old
	}
	return raw
}

// decodeBlocks reads content: a list of blocks, or a single one, or a string.
func decodeBlocks(content json.RawMessage) []Block {
	if none(content) {
		return nil
	}
	list, ok := elements(content)
	if !ok {
		list = []json.RawMessage{content}
	}
	var blocks []Block
	for _, raw := range list {
		if !none(raw) {
			blocks = append(blocks, decodeBlock(raw))
		}
	}
	return blocks
}

func decodeBlock(raw json.RawMessage) Block {
	o, ok := fields(raw)
	if !ok {
		return Block{Type: "text", Text: literal(raw)}
	}
	kind, _ := text(o["type"])
	if kind == "" && o["text"] != nil {
		kind = "text"
	}
	b := Block{Type: kind}
	switch kind {
	case "text":
		b.Text = literal(o["text"])
		ok = o["text"] != nil
	case "image", "audio":
		b.MIME = line(o["mimeType"], maxLine)
		b.Data, ok = decodeBase64(o["data"])
	case "resource_link":
		b.link(o)
		ok = b.URI != ""
	case "resource":
		ok = b.resource(o["resource"])
	default:
		ok = false
	}
	if !ok {
		b.Raw = kept(raw)
	}
	return b
}

func (b *Block) link(o object) {
	b.URI, _ = text(o["uri"])
	b.MIME = line(o["mimeType"], maxLine)
	b.Description = line(o["description"], maxDescription)
	if b.Name = line(o["title"], maxLine); b.Name == "" {
		b.Name = line(o["name"], maxLine)
	}
}

// resource reads the resource in a block, or one that was read. It reports whether
// there is anything in it.
func (b *Block) resource(raw json.RawMessage) (ok bool) {
	o, _ := fields(raw)
	b.URI, _ = text(o["uri"])
	b.MIME = line(o["mimeType"], maxLine)
	if !none(o["text"]) {
		b.Text = literal(o["text"])
		return true
	}
	b.Data, ok = decodeBase64(o["blob"])
	return ok
}

// literal returns the text that value is, or the value as it is written.
func literal(value json.RawMessage) string {
	if s, ok := text(value); ok {
		return s
	}
	return string(kept(value))
}

// decodeBase64 reads data as the standard wants it, and with the other alphabet,
// without padding, in lines, or as a data URL.
func decodeBase64(value json.RawMessage) (data []byte, ok bool) {
	if len(value) < 2 || value[0] != '"' {
		return nil, false
	}
	src := []byte(value[1 : len(value)-1])
	if bytes.IndexByte(src, '\\') >= 0 {
		s, ok := text(value)
		if !ok {
			return nil, false
		}
		src = []byte(s)
	}
	if bytes.HasPrefix(src, []byte("data:")) {
		_, src, _ = bytes.Cut(src, []byte(","))
	}
	data = make([]byte, base64.RawStdEncoding.DecodedLen(len(src))+3) // it writes before it sees that padding is missing
	if n, err := base64.StdEncoding.Decode(data, src); err == nil {   // which ignores line breaks
		return data[:n], true
	}
	src = bytes.TrimRight(bytes.Map(func(r rune) rune {
		switch r {
		case '-':
			return '+'
		case '_':
			return '/'
		case ' ', '\t', '\r', '\n':
			return -1
		}
		return r
	}, src), "=")
	n, err := base64.RawStdEncoding.Decode(data, src)
	return data[:n], err == nil
}
