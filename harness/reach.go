package harness

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/lorimer-dev/lorimer/harness/internal/served"
	"github.com/lorimer-dev/lorimer/prompt"
	"github.com/lorimer-dev/lorimer/prompt/attach"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/server"
)

const (
	maxReached = 16              // resources of servers that are read for one message
	reachWait  = 5 * time.Second // for all of them
)

// reach reads what the links among items lead to at MCP servers, and adds what the text
// attaches by tokens and no link does. What cannot be read in time stays a link, for
// read-context. For a model without tools no server is contacted (R-HARN-21).
func (t *turn) reach(ctx context.Context, items []attach.Item) []attach.Item {
	if t.s.spec.Servers == nil || t.shape == prompt.Stateless {
		return items
	}
	linked := make(map[string]bool, len(items)) // there may be very many
	for _, i := range items {
		linked[i.URI] = true
	}
	within, cancel := context.WithTimeout(ctx, reachWait)
	defer cancel()
	left := maxReached
	for i := range items {
		if _, local := filePath(items[i].URI); local || !isLink(items[i]) || left == 0 {
			continue
		}
		if t.visit(within, &items[i]) {
			left--
		}
	}
	for _, uri := range t.tokens() {
		i := attach.Item{Key: attach.ResourceKey(uri), Name: tools.Line(uri, maxName), URI: uri}
		if _, local := filePath(uri); local || linked[uri] || left == 0 {
			continue
		}
		if t.visit(within, &i) {
			left--
			items = append(items, i)
		}
	}
	return items
}

// visit reads the resource that i leads to, and reports whether a server has it.
func (t *turn) visit(ctx context.Context, i *attach.Item) bool {
	r, owned, err := t.resource(ctx, i.URI)
	if err != nil {
		t.log.Info().Err(err).Msg("a resource of a server is not read with its message")
	}
	if owned {
		i.Type, i.Size, i.Body = cmp.Or(i.Type, r.mime), r.size, r.text
	}
	return owned
}

// tokens returns the addresses that the texts of the message attach by tokens.
func (t *turn) tokens() []string {
	var prefixes []string
	for _, s := range t.s.Servers() {
		prefixes = append(prefixes, s.Prefix)
	}
	if len(prefixes) == 0 {
		return nil
	}
	var texts []string
	for _, b := range t.in.Blocks {
		if !isPicture(b) && !isAttachment(b) {
			texts = append(texts, b.Text)
		}
	}
	return served.Tokens(strings.Join(texts, "\n"), prefixes)
}

// A resource is what a server holds under an address.
type resource struct {
	mime string
	text string // "" where it is no text
	size int    // in bytes
}

// resource reads a resource of the servers; owned is false where none has it.
func (t *turn) resource(ctx context.Context, uri string) (r resource, owned bool, err error) {
	if t.s.spec.Servers == nil {
		return resource{}, false, nil
	}
	parts, owned, err := t.s.spec.Servers.Read(ctx, uri)
	if err != nil || !owned {
		return resource{}, owned, err
	}
	return contents(parts), true, nil
}

// contents joins the parts of a resource. What is no text is counted.
func contents(parts []server.Part) (r resource) {
	var texts []string
	for _, p := range parts {
		r.mime = cmp.Or(r.mime, p.MIME)
		r.size += len(p.Text) + len(p.Data)
		if p.Text != "" {
			texts = append(texts, valid(p.Text))
		}
	}
	r.text = strings.Join(texts, "\n")
	return r
}
