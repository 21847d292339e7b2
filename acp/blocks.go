package acp

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/event"
)

// readPrompt reads the message of a session/prompt (R-ACP-28).
func readPrompt(p object, audio bool) (harness.Input, error) {
	list, err := p.list("prompt")
	if err != nil {
		return harness.Input{}, err
	}
	id, err := p.ours("messageId")
	if err != nil {
		return harness.Input{}, err
	}
	in := harness.Input{MessageID: id}
	i := 0
	for raw := range list {
		b := block{field: "prompt[" + strconv.Itoa(i) + "]", audio: audio, object: members(raw)}
		i++
		if b.object == nil {
			return harness.Input{}, invalid(b.field, "must be an object")
		}
		eb, err := b.read()
		if err != nil {
			return harness.Input{}, err
		}
		if eb.URI == "" && eb.MIME == "" && strings.TrimSpace(eb.Text) == "" {
			continue // a text block that says nothing
		}
		in.Blocks = append(in.Blocks, eb)
	}
	if len(in.Blocks) == 0 {
		return harness.Input{}, invalid("prompt", "is empty; write a message or attach something")
	}
	return in, nil
}

// A block is a content block under reading.
type block struct {
	field string // where it stands, for errors
	audio bool   // sound is taken
	object
}

func (b block) read() (event.Block, error) {
	kind, err := b.need("type")
	if err != nil {
		return event.Block{}, err
	}
	switch kind {
	case "text":
		text, err := b.need("text")
		return event.Block{Text: text}, err
	case "image":
		return b.binary("image/")
	case "audio":
		if !b.audio {
			return event.Block{}, invalid(b.field+".type", `is "audio", which is not taken; see promptCapabilities`)
		}
		return b.binary("audio/")
	case "resource_link":
		return b.link()
	case "resource":
		return b.resource()
	}
	return event.Block{}, invalid(b.field+".type",
		"is %.100q; it must be text, image, resource_link or resource", kind)
}

// need returns a member that must be a string, and names it in full if it is not.
func (b block) need(key string) (string, error) {
	if s, ok := b.lookup(key); ok {
		return s, nil
	}
	if b.has(key) {
		return "", invalid(b.field+"."+key, "must be a string")
	}
	return "", invalid(b.field+"."+key, "is missing")
}

func (b block) binary(family string) (event.Block, error) {
	mime, err := b.need("mimeType")
	if err != nil {
		return event.Block{}, err
	}
	if !strings.HasPrefix(mime, family) {
		return event.Block{}, b.unusable("mimeType", "is %.100q; it must begin with %s", mime, family)
	}
	data, err := b.base64("data")
	if err != nil {
		return event.Block{}, err
	}
	if len(data) == 0 {
		return event.Block{}, b.unusable("data", "is empty")
	}
	uri := b.text("uri")
	return event.Block{MIME: mime, Data: data, URI: uri, Name: baseName(uri)}, nil
}

func (b block) base64(key string) ([]byte, error) {
	raw := b.object[key]
	if len(raw) >= 2 && raw[0] == '"' && bytes.IndexByte(raw, '\\') < 0 {
		raw = raw[1 : len(raw)-1] // decoded from where it is, since it may be large
	} else {
		text, err := b.need(key)
		if err != nil {
			return nil, err
		}
		raw = []byte(text)
	}
	data := make([]byte, base64.StdEncoding.DecodedLen(len(raw)))
	n, err := base64.StdEncoding.Decode(data, raw)
	if err != nil {
		return nil, b.unusable(key, "is not base64: %v", err)
	}
	return data[:n], nil
}

// unusable is the error for an attachment that cannot be read.
func (b block) unusable(key, format string, args ...any) error {
	field := b.field + "." + key
	return &Error{
		Code:    InvalidAttachment,
		Message: field + " " + fmt.Sprintf(format, args...) + ".",
		Data:    map[string]any{"field": field},
	}
}

// link never fails for what it points to: any scheme and path is a name
// (R-ACP-28).
func (b block) link() (event.Block, error) {
	uri, err := b.need("uri")
	if err != nil {
		return event.Block{}, err
	}
	if uri == "" {
		return event.Block{}, invalid(b.field+".uri", "is empty")
	}
	name := b.text("name")
	if name == "" {
		name = baseName(uri)
	}
	return event.Block{URI: uri, Name: name, MIME: b.text("mimeType")}, nil
}

// resource reads an embedded resource: a text, or a file as it is.
func (b block) resource() (event.Block, error) {
	res := block{field: b.field + ".resource", object: b.object.object("resource")}
	if res.object == nil {
		return event.Block{}, invalid(res.field, "must be an object")
	}
	uri, err := res.need("uri")
	if err != nil {
		return event.Block{}, err
	}
	eb := event.Block{URI: uri, Name: baseName(uri), MIME: res.text("mimeType")}
	switch {
	case res.has("text"):
		eb.Text, err = res.need("text")
		if eb.MIME == "" {
			eb.MIME = "text/plain"
		}
	case res.has("blob"):
		eb.Data, err = res.base64("blob")
		if eb.MIME == "" {
			eb.MIME = "application/octet-stream"
		}
	default:
		err = invalid(res.field, "has neither text nor blob")
	}
	if eb.Text == "" && len(eb.Data) == 0 { // an empty file is still one
		eb.Data, eb.Embedded = nil, true
	}
	return eb, err
}

// baseName returns the decoded last part of the path of a URI, or the URI itself
// where there is none.
func baseName(uri string) string {
	u, err := url.Parse(uri)
	if err != nil {
		return uri
	}
	p := u.Path
	if p == "" {
		p = u.Opaque
	}
	if name := path.Base(p); name != "." && name != "/" {
		return name
	}
	return uri
}
