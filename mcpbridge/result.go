package mcpbridge

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/lorimer-dev/lorimer/mcpbridge/client"
	"github.com/lorimer-dev/lorimer/tools"
)

//go:embed result.md
var resultText string

const (
	maxImage  = 5 << 20 // bytes
	maxImages = 20      // of one result
)

// phrase returns a phrase of result.md, with its variables, which come as name and value
// after each other.
func phrase(name string, variables ...string) string {
	for i := 0; i < len(variables); i += 2 {
		variables[i] = "{" + variables[i] + "}"
	}
	for line := range strings.Lines(resultText) {
		if p, ok := strings.CutPrefix(line, name+": "); ok {
			return strings.NewReplacer(variables...).Replace(strings.TrimSpace(p))
		}
	}
	return name
}

// result is what the model gets of r (R-MCP-17). Nothing in it is taken for more than
// text.
func (t *tool) result(r client.Result) tools.Result {
	g := gathering{}
	for _, b := range r.Blocks {
		g.add(b)
	}
	if len(r.Structured) > 0 && !repeats(g.texts, r.Structured) {
		g.say(string(r.Structured))
	}
	text := strings.ToValidUTF8(g.text.String(), "\uFFFD")
	if r.IsError && strings.TrimSpace(text) == "" {
		text = phrase("fault")
	}
	return tools.Result{Text: t.l.shorten(text), IsError: r.IsError, Images: g.images}
}

// A gathering makes one result of the blocks of another.
type gathering struct {
	text   strings.Builder
	texts  []string // the blocks of text alone
	images []tools.Image
}

// say adds a piece of text, on lines of its own.
func (g *gathering) say(piece string) {
	if s := g.text.String(); s != "" && !strings.HasSuffix(s, "\n") {
		g.text.WriteByte('\n')
	}
	g.text.WriteString(piece)
}

func (g *gathering) add(b client.Block) {
	switch {
	case b.Raw != nil:
		g.say(phrase("other", "type", tools.Line(b.Type, 40), "size", size(len(b.Raw))))
	case b.Type == "text":
		g.texts = append(g.texts, b.Text)
		g.say(b.Text)
	case b.Type == "image":
		g.image(b)
	case b.Type == "audio":
		g.say(phrase("audio", "mime", mime(b), "size", size(len(b.Data))))
	case b.Type == "resource_link":
		g.say(mention(b))
	case b.Type == "resource" && b.Data == nil:
		g.say(phrase("resource", "uri", tools.Line(b.URI, 500)))
		g.say(b.Text)
	case b.Type == "resource":
		g.say(phrase("blob", "uri", tools.Line(b.URI, 500), "mime", mime(b), "size", size(len(b.Data))))
	default:
		g.say(phrase("other", "type", tools.Line(b.Type, 40), "size", size(len(b.Text)+len(b.Data))))
	}
}

// image passes an image on, or a line in its place.
func (g *gathering) image(b client.Block) {
	var why string
	switch {
	case len(b.Data) == 0:
		why = phrase("hollow")
	case len(b.Data) > maxImage:
		why = phrase("large", "size", size(maxImage))
	case len(g.images) == maxImages:
		why = phrase("many", "count", strconv.Itoa(maxImages))
	default:
		g.images = append(g.images, tools.Image{MIME: b.MIME, Data: b.Data})
		return
	}
	g.say(phrase("image", "mime", mime(b), "size", size(len(b.Data)), "why", why))
}

// mention is the line for a resource that is only named: name (type) address: what it is.
func mention(b client.Block) string {
	line := b.URI
	if b.MIME != "" {
		line = "(" + b.MIME + ") " + line
	}
	if b.Name != "" {
		line = b.Name + " " + line
	}
	if b.Description != "" {
		line += ": " + b.Description
	}
	return tools.Line(line, 1000)
}

// repeats reports whether structured content says what the texts have said: one of them
// is the same value, or it wraps them as servers do that make it of a plain result.
func repeats(texts []string, structured json.RawMessage) bool {
	value, ok := decode(string(structured))
	if !ok {
		return false
	}
	var values []any
	for _, t := range texts {
		v, ok := decode(t)
		if ok && reflect.DeepEqual(v, value) {
			return true
		}
		if !ok {
			v = t
		}
		values = append(values, v)
	}
	object, ok := value.(map[string]any)
	if !ok || len(object) != 1 {
		return false
	}
	for _, only := range object {
		switch {
		case only == any(strings.Join(texts, "\n")), len(values) == 1 && reflect.DeepEqual(only, values[0]):
			return true
		case len(values) > 0:
			return reflect.DeepEqual(only, any(values))
		}
	}
	return false
}

// decode returns a JSON value, with its numbers as they were written.
func decode(text string) (v any, ok bool) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil, false
	}
	rest, err := d.Token()
	return v, rest == nil && err != nil
}

func mime(b client.Block) string {
	if b.MIME == "" {
		return "of an unknown kind"
	}
	return tools.Line(b.MIME, 60)
}

// size returns a number of bytes for people.
func size(n int) string {
	switch {
	case n < 10<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 10<<20:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}
