package mcpbridge

import (
	"os"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	maxText  = 64 << 10 // bytes of a result that the model reads, half from each end
	maxSpill = 64 << 20 // bytes that are kept of a longer one
)

// shorten returns text as the model gets it: whole, or both ends of it and where the rest
// is. Where it cannot be kept the rest is lost, which is no reason to lose the ends.
func (l *link) shorten(text string) string {
	if len(text) <= maxText {
		return text
	}
	head, tail := text[:maxText/2], text[len(text)-maxText/2:]
	for len(head) > 0 && !utf8.RuneStart(text[len(head)]) {
		head = head[:len(head)-1]
	}
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	left := text[len(head) : len(text)-len(tail)]
	name := "cut"
	file, err := spill(l.b.session.Scratch, text[:min(len(text), maxSpill)])
	switch {
	case err != nil:
		l.log.Warn().Err(err).Msg("result of a tool not kept")
	case file == "":
	case len(text) > maxSpill:
		name = "part"
	default:
		name = "whole"
	}
	return head + "\n" + phrase(name, "size", size(len(left)), "lines", strconv.Itoa(strings.Count(left, "\n")),
		"kept", size(maxSpill), "file", file) + "\n" + tail
}

// spill writes text to a new file in dir, which it makes, and returns its name; "" is
// that of no directory.
func spill(dir, text string) (name string, err error) {
	if dir == "" {
		return "", nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(dir, "result-*.txt")
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text)
	if end := f.Close(); err == nil {
		err = end
	}
	if err != nil {
		_ = os.Remove(f.Name()) // a part of it under the name of the whole would mislead
		return "", err
	}
	return f.Name(), nil
}
