package prompt

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxListed is how many workspaces of the catalog are told, and how many titles of a
// kind in a summary (R-PROMPT-55, R-PROMPT-56).
const MaxListed = 20

const (
	maxTitle    = 200 // bytes of a title
	maxDescribe = 300 // bytes of a description in the catalog
)

// documentTools returns the tools one of which makes the catalog worth telling.
func documentTools() []string {
	return []string{"create_document", "edit_document", "create_workspace"}
}

// workspaceText is the section Workspace: the summary of the workspace that the
// session is bound to, or the catalog, with whether another one may be made. A
// model without tools is told of neither (R-HARN-21).
func workspaceText(c Context) (string, error) {
	w := c.Facts.Workspace
	switch {
	case w == nil:
		return "", nil
	case w.Bound != nil && (len(w.Catalog) > 0 || w.Creation != nil):
		return "", &Error{Fault: Invalid, Detail: "the summary of a workspace and the catalog of all are both given; give one of them"}
	case w.Bound != nil && c.hasTools():
		return workspaceBoundWords.plain(), nil
	case w.Bound != nil || !slices.ContainsFunc(documentTools(), c.has):
		return "", nil
	case w.Creation == nil:
		return "", &Error{Fault: Invalid, Detail: "whether another workspace may be created is unknown; give it with the catalog"}
	}
	return workspaceCatalogWords.plain(), nil
}

// bound returns the summary of the session's workspace, or an empty one.
func (f Facts) bound() Summary {
	if f.Workspace == nil || f.Workspace.Bound == nil {
		return Summary{}
	}
	return *f.Workspace.Bound
}

// workspaceList returns what is in the workspace of the session, or the workspaces
// that there are.
func workspaceList(c Context) string {
	w := c.Facts.Workspace
	switch {
	case w == nil || w.Bound == nil && w.Creation == nil:
		return ""
	case w.Bound != nil:
		return w.Bound.text()
	}
	list := workspaceNoneWords.plain()
	if len(w.Catalog) > 0 {
		list = bounded(w.Catalog, 0, Listing.line)
	}
	return paragraphs(list, w.Creation.text())
}

// name returns what the workspace is called.
func (s Summary) name() string { return cmp.Or(cut(shown(s.Title), maxTitle), shown(s.ID)) }

func (s Summary) text() string {
	said := []string{workspaceCountWords.fill("count", strconv.Itoa(s.Documents))}
	if len(s.Collections) > 0 {
		said = append(said, workspaceCollectionsWords.fill("list", bounded(s.Collections, s.AllCollections, Ref.line)))
	}
	if len(s.Pinned) > 0 {
		said = append(said, workspacePinnedWords.fill("list", bounded(s.Pinned, s.AllPinned, Ref.line)))
	}
	return paragraphs(said...)
}

func (r Ref) line() string {
	return workspaceRefWords.fill("title", cut(shown(r.Title), maxTitle), "id", shown(r.ID))
}

func (l Listing) line() string {
	w := workspaceListingWords
	if shown(l.Description) != "" {
		w = workspaceDescribedWords
	}
	return w.fill("title", cut(shown(l.Title), maxTitle), "id", shown(l.ID), "count", strconv.Itoa(l.Documents),
		"description", cut(shown(l.Description), maxDescribe))
}

// text says with authority what the limit allows (R-PROMPT-56).
func (c Creation) text() string {
	w := creationDeniedWords
	switch {
	case c.Allowed && c.Limit > 0:
		w = creationLimitedWords
	case c.Allowed:
		w = creationAllowedWords
	case c.Limit > 0 && c.Have >= c.Limit:
		w = creationFullWords
	}
	return w.fill("have", strconv.Itoa(c.Have), "limit", strconv.Itoa(c.Limit))
}

// bounded returns the lines of the first elements, and how many more there are: of
// count, if that is more than are given.
func bounded[T any](given []T, count int, line func(T) string) string {
	var lines []string
	for _, x := range given[:min(len(given), MaxListed)] {
		lines = append(lines, line(x))
	}
	if more := max(len(given), count) - len(lines); more > 0 {
		lines = append(lines, workspaceMoreWords.fill("count", strconv.Itoa(more)))
	}
	return strings.Join(lines, "\n")
}

const ellipsis = "…"

// cut returns s with at most n bytes, the last of them an ellipsis if it was
// longer. n leaves room for one.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	end := n - len(ellipsis)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return strings.TrimRight(s[:end], " ") + ellipsis
}
