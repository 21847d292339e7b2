package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// picture is a PNG of one point.
const picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// sound is a WAV without samples.
const sound = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA="

// text returns a result with a text.
func text(s string) map[string]any { return content(block("text", "text", s)) }

func content(blocks ...any) map[string]any { return map[string]any{"content": blocks} }

// block returns a block of a type with its members, a name and a value by turns.
func block(kind string, members ...any) map[string]any {
	b := map[string]any{"type": kind}
	for i := 0; i < len(members); i += 2 {
		b[members[i].(string)] = members[i+1]
	}
	return b
}

// simple returns the result of a tool that needs nothing but its arguments.
func (s *server) simple(call toolCall) map[string]any {
	a := call.args
	switch call.Name {
	case "echo":
		return text(a.Text)
	case "add":
		return text(strconv.FormatFloat(a.A+a.B, 'g', -1, 64))
	case "env":
		env := os.Environ()
		slices.Sort(env)
		return text(strings.Join(env, "\n"))
	case "image":
		return content(block("image", "data", picture, "mimeType", "image/png"))
	case "big":
		return text(lines(a.Bytes))
	case "fail":
		result := text("it went wrong: " + a.Text)
		result["isError"] = true
		return result
	case "kinds":
		return kinds()
	case "structured":
		result := text(`{"city":"Bern","degrees":21}`)
		result["structuredContent"] = map[string]any{"city": "Bern", "degrees": 21}
		return result
	}
	args := string(call.Arguments)
	if args == "" {
		args = "{}"
	}
	return text(call.Name + " " + args)
}

// kinds returns a block of every kind, and of one that nobody knows.
func kinds() map[string]any {
	return content(
		block("text", "text", "a text"),
		block("image", "data", picture, "mimeType", "image/png"),
		block("audio", "data", sound, "mimeType", "audio/wav"),
		block("resource_link", "uri", "memo://1", "name", "First memo", "description", "What was noted first.", "mimeType", "text/plain"),
		block("resource", "resource", map[string]any{"uri": "memo://2", "mimeType": "text/plain", "text": "This is memo 2."}),
		block("resource", "resource", map[string]any{"uri": "memo://picture", "mimeType": "image/png", "blob": picture}),
		block("hologram", "data", "x", "depth", 3),
	)
}

// lines returns numbered lines of n bytes in all.
func lines(n int) string {
	var b bytes.Buffer
	for i := 1; b.Len() < n; i++ {
		fmt.Fprintf(&b, "line %d of a long text\n", i)
	}
	return string(b.Bytes()[:max(n, 0)])
}
