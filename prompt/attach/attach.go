// Package attach tells the model what a message carries beside its text: a table
// of keys, and the bodies that are given in full.
package attach

// An Item is an attachment of a message.
type Item struct {
	Key  string // resource:<id> of a link, document:<id> of an embedded text or file
	Type string // media type, or "link" where it is unknown
	Name string // as the user sees it
	URI  string
	Body string // of an embedded text
	Size int    // of the body in bytes, also where Body is not text
}

// ResourceKey returns the key of a link.
func ResourceKey(uri string) string { return "resource:" + uri }

// DocumentKey returns the key of a content, the same for equal contents
// (R-PROMPT-52).
func DocumentKey(content []byte) string { return "document:" + string(content) }

// Table returns the block headed "# Attached Context": the items by key, type and
// name, and below it the bodies of at most inline bytes, between tags that mark
// them as data (R-PROMPT-50). Without items it is "".
func Table(items []Item, inline int) string { return "" }

// Bodies returns the block for a model that cannot read by key: the table, and the
// bodies as far as tokens allow, with a mark where one is cut (R-PROMPT-52).
func Bodies(items []Item, tokens int) string { return "" }
