package clientio

import (
	"bytes"
	"crypto/sha256"
	"strings"
	"unicode/utf8"
)

// mark is the byte order mark of UTF-8.
var mark = []byte("\uFEFF")

// isText reports whether an editor can hold b without changing it, but for the
// mark and the line ends.
func isText(b []byte) bool { return utf8.Valid(b) && bytes.IndexByte(b, 0) < 0 }

// isPlain reports whether an editor can be trusted to write b as it is: text
// without a mark.
func isPlain(b []byte) bool { return isText(b) && !bytes.HasPrefix(b, mark) }

// A digest identifies the text of a file, its line ends and mark aside.
type digest [sha256.Size]byte

// sumOf returns the digest of a text. Editors hold text without its mark and
// with line feeds alone, so those do not count.
func sumOf(b []byte) digest {
	b = bytes.TrimPrefix(b, mark)
	if bytes.Contains(b, []byte("\r\n")) {
		b = bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))
	}
	return sha256.Sum256(b)
}

// asSaved returns text as the editor would save it over disk: with its mark and,
// if all lines of it end so, with CRLF.
func asSaved(text string, disk []byte) []byte {
	crlf := bytes.Count(disk, []byte("\r\n"))
	if crlf > 0 && crlf == bytes.Count(disk, []byte("\n")) && !strings.Contains(text, "\r") {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if bytes.HasPrefix(disk, mark) && !strings.HasPrefix(text, string(mark)) {
		text = string(mark) + text
	}
	return []byte(text)
}
