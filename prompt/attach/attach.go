// Package attach tells the model what a message carries beside its text: a table
// of keys, and the bodies that are given in full.
//
// A model with tools gets the [Table] and reads by key what it needs. One without
// cannot, so it gets the [Bodies] themselves, as far as there is room. Names, types
// and bodies come from the user and from anywhere, so a name cannot leave its cell
// and a body cannot leave its element.
package attach

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/lorimer-dev/lorimer/prompt"
)

const (
	heading = "# Attached Context"
	element = "resource" // what a body stands in

	resourceID = 12 // hexadecimal digits of an id
	documentID = 16
)

// An Item is an attachment of a message.
type Item struct {
	Key  string // resource:<id> of a link, document:<id> of an embedded text or file
	Type string // media type; "" is unknown
	Name string // as the user sees it; "" is shown as the URI
	URI  string
	Body string // of an embedded text
	Size int    // of the body in bytes, also where Body is not text
}

// ResourceKey returns the key of a link, resource: and 12 hexadecimal digits.
func ResourceKey(uri string) string { return "resource:" + id([]byte(uri), resourceID) }

// DocumentKey returns the key of a content, document: and 16 hexadecimal digits,
// the same for equal contents (R-PROMPT-52).
func DocumentKey(content []byte) string { return "document:" + id(content, documentID) }

func id(p []byte, digits int) string {
	sum := sha256.Sum256(p)
	return hex.EncodeToString(sum[:])[:digits]
}

// Table returns the block headed "# Attached Context": the items by key, type and
// name, and below it the bodies of at most inline bytes each, and all bytes together,
// between tags that mark them as data (R-PROMPT-50). Items of one key are one row with
// all their names. Without items it is "".
func Table(items []Item, inline, all int) string {
	rows := merge(items)
	if len(rows) == 0 {
		return ""
	}
	var b strings.Builder
	writeTable(&b, rows)
	first := true
	for _, r := range rows {
		if r.kind != readable || len(r.Body) > min(inline, all) {
			continue
		}
		all -= len(r.Body)
		if first {
			b.WriteString("\n" + phrase("data") + "\n")
			first = false
		}
		b.WriteString("\n" + r.wrap(r.text()) + "\n")
	}
	return b.String()
}

func writeTable(b *strings.Builder, rows []row) {
	b.WriteString(heading + "\n\n| Key | Type | Name |\n| --- | --- | --- |\n")
	for _, r := range rows {
		b.WriteString("| " + cell(r.Key) + " | " + cell(r.Type) + " | " + cell(r.Name) + " |\n")
	}
}

// A kind says what can be shown of an item.
type kind int

const (
	readable kind = iota // its body, which is text
	empty                // nothing: the content is empty
	foreign              // nothing: the content is not text
	absent               // nothing: there is a link, but not what it leads to
)

// String returns what is shown instead of a type that is not known.
func (k kind) String() string {
	switch k {
	case readable, empty:
		return "text"
	case foreign:
		return "unknown"
	}
	return "link"
}

// A row is the items of one key.
type row struct {
	Item // of Name all names, as far as they are looked at
	kind kind
}

// merge returns a row for each key, in the order of the items.
func merge(items []Item) []row {
	at := make(map[string]int, len(items))
	seen := make(map[[2]string]bool, len(items)) // key and name
	var rows []row
	for _, it := range items {
		it.Name = cmp.Or(strings.TrimSpace(it.Name), it.URI, it.Key)
		i, known := at[it.Key]
		if !known {
			at[it.Key] = len(rows)
			rows = append(rows, row{Item: it})
		} else {
			r := &rows[i]
			r.Type = cmp.Or(r.Type, it.Type)
			r.Body, r.Size = cmp.Or(r.Body, it.Body), cmp.Or(r.Size, it.Size)
			if !seen[[2]string{it.Key, it.Name}] && len(r.Name) < maxRead {
				r.Name += ", " + it.Name
			}
		}
		seen[[2]string{it.Key, it.Name}] = true
	}
	for i := range rows {
		rows[i].kind = rows[i].judge()
		rows[i].Type = cmp.Or(strings.TrimSpace(rows[i].Type), rows[i].kind.String())
	}
	return rows
}

func (r *row) judge() kind {
	switch {
	case strings.ContainsRune(r.Body, 0):
		return foreign
	case r.Body != "":
		return readable
	case r.Size > 0:
		return foreign
	case strings.HasPrefix(r.Key, "document:"):
		return empty
	}
	return absent
}

// text returns the body as the model sees it, apart from its tags.
func (r *row) text() string { return prompt.Reveal(strings.ToValidUTF8(r.Body, "�")) }

// wrap returns text between the tags of an element that names the row.
func (r *row) wrap(text string) string {
	return prompt.Wrap(element, text, "key", shorten(r.Key), "name", shorten(r.Name))
}
