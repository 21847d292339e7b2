package harness

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/prompt"
	"github.com/lorimer-dev/lorimer/prompt/attach"
	"github.com/lorimer-dev/lorimer/tools"
)

// readContext is the tool with which a model reads what is attached.
const readContext = "read-context"

//go:embed text/mention.md
var mentionText string

// How much of a window the bodies of attachments may take for a model that cannot
// read by key (R-PROMPT-52).
const (
	bodyShare   = 4       // as a fraction of the window
	bodyUnknown = 8 << 10 // tokens, where the window is not known
	bodyMost    = 32 << 10
	tokenBytes  = 4 // of a text, as far as can be told without the model
)

const (
	maxLinked   = 1 << 20 // bytes of a linked file that are given in full
	maxLinkedIn = 8 << 20 // of all of them in a message
	maxName     = 200     // characters of the name of an attachment
)

// isAttachment reports whether b is something beside the text of a message that the
// model gets by a key.
func isAttachment(b event.Block) bool {
	return (b.URI != "" || b.MIME != "" || len(b.Data) > 0 || b.Embedded) && !isPicture(b)
}

// attach returns the attachments of the message, one for each such block, and keeps
// what is embedded in them. The same content is the same document, however often
// it comes (R-PROMPT-52).
func (t *turn) attach(ctx context.Context) ([]attach.Item, error) {
	var items []attach.Item
	for _, b := range t.in.Blocks {
		if !isAttachment(b) {
			continue
		}
		i := attach.Item{Name: attachmentName(b), URI: b.URI, Type: b.MIME}
		switch {
		case len(b.Data) > 0:
			i.Type, i.Size = cmp.Or(b.MIME, "application/octet-stream"), len(b.Data)
		case b.Text != "" || b.Embedded:
			i.Type, i.Size, i.Body = cmp.Or(b.MIME, "text/plain"), len(b.Text), b.Text
		}
		if i.Size == 0 && !b.Embedded {
			i.Key = attach.ResourceKey(b.URI)
			items = append(items, i)
			continue
		}
		embedded := content(b)
		i.Key = attach.DocumentKey(embedded)
		if t.o.Documents != nil {
			if _, err := t.o.Documents.Keep(ctx, i.Name, i.Type, embedded); err != nil {
				return nil, fmt.Errorf("keeping what is attached: %w", err)
			}
		}
		items = append(items, i)
	}
	return t.reach(ctx, items), ctx.Err()
}

// isLink reports whether i is a link, of which nothing came along.
func isLink(i attach.Item) bool { return strings.HasPrefix(i.Key, "resource:") }

// content is what is embedded in b; nothing in a link.
func content(b event.Block) []byte {
	if len(b.Data) > 0 {
		return b.Data
	}
	return []byte(b.Text)
}

// attachmentName is what b is called, at the worst by its address, on one line: its
// line breaks are spaces (R-PROMPT-50).
func attachmentName(b event.Block) string {
	name := b.Name
	if u, err := url.Parse(b.URI); name == "" && err == nil && strings.Trim(u.Path, "/") != "" {
		name = path.Base(u.Path)
	}
	for _, more := range []string{b.URI, b.MIME, "attachment"} {
		if strings.TrimSpace(name) == "" {
			name = more
		}
	}
	return clip(strings.Join(strings.Fields(name), " "), maxName)
}

// pictureName is what a picture is called on one line, by the client or its address;
// "" is nothing (R-HARN-32).
func pictureName(b event.Block) string {
	if b.Name == "" && b.URI == "" {
		return ""
	}
	return tools.Line(attachmentName(b), maxName)
}

// clip returns s, which is longer than limit characters only up to an ellipsis. What
// does not show in it stays, since whoever tells the model of it writes that out.
func clip(s string, limit int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit-3]) + "..."
}

// table returns what is told of attachments after the text of the user: how they can
// be read, and the small ones themselves; or all as far as there is room, for a
// model that cannot read by key.
func (t *turn) table(ctx context.Context, items []attach.Item) string {
	if !t.declared(readContext) {
		return strings.TrimSpace(attach.Bodies(t.linked(ctx, items), t.room()))
	}
	return strings.TrimSpace(attach.Table(items, t.snap.Inline, t.room()*tokenBytes))
}

// linked returns items with the texts of the files in the workspace that they link
// to. What cannot be read stays without one.
func (t *turn) linked(ctx context.Context, items []attach.Item) []attach.Item {
	out, left := slices.Clone(items), maxLinkedIn
	for n, i := range out {
		if !isLink(i) || left <= 0 {
			continue
		}
		at, ok := t.linkedFile(i.URI)
		if !ok {
			continue
		}
		data, err := t.s.spec.FS.ReadFile(ctx, at, maxLinked)
		if err != nil || !isText(data) {
			continue
		}
		out[n].Body, out[n].Size = string(data), len(data)
		left -= len(data)
	}
	return out
}

// room is how many tokens the bodies of attachments may take.
func (t *turn) room() int {
	if w := t.snap.Model.Window; w > 0 {
		return min(w/bodyShare, bodyMost)
	}
	return bodyUnknown
}

// isText reports whether data can be shown to a model.
func isText(data []byte) bool { return utf8.Valid(data) && !slices.Contains(data, 0) }

// mention stands in the text of the user in the place of an attachment.
func mention(i attach.Item) string {
	name := prompt.Reveal(i.Name)
	return strings.NewReplacer("NAME", name, "KEY", i.Key).Replace(strings.TrimSpace(mentionText))
}
