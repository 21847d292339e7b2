package harness

import (
	"context"
	"crypto/rand"
	_ "embed"
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/prompt"
	"github.com/lorimer-dev/lorimer/tools"
)

// grace is how long a write may take after its turn was cancelled.
const grace = 5 * time.Second

// The words around what a user attaches.
var (
	//go:embed text/resource.md
	resourceText string
	//go:embed text/link.md
	linkText string
	//go:embed text/blob.md
	blobText string
)

// build sets the model up and reads the conversation that it continues
// (R-HARN-07).
func (t *turn) build(ctx context.Context) (*harness, error) {
	m, err := t.snap.Open(ctx)
	if err != nil {
		return nil, err
	}
	h := &harness{model: m, conv: new(thread.Conversation)}
	err = t.o.Threads.Read(ctx, t.s.id, 0, func(e thread.Entry) error {
		h.conv.Add(e)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the thread: %w", err)
	}
	return h, nil
}

// append stores bodies and continues the live conversation with them. What has
// happened is stored also when the turn has been cancelled meanwhile.
func (t *turn) append(ctx context.Context, bodies ...thread.Body) error {
	lasting, cancel := outlive(ctx, grace)
	defer cancel()
	entries, err := t.o.Threads.Append(lasting, t.s.id, "", bodies...)
	if err != nil {
		if ctx.Err() != nil { // a cancelled turn is no error, so nobody else tells
			t.log.Error().Err(err).Msg("the end of a cancelled turn is not stored")
		}
		return fmt.Errorf("storing the turn: %w", err)
	}
	for _, e := range entries {
		t.lease.conv.Add(e)
	}
	t.seq = max(t.seq, firstUser(entries))
	return nil
}

func firstUser(entries []thread.Entry) int64 {
	for _, e := range entries {
		if _, ok := e.Body.(thread.User); ok {
			return e.Seq
		}
	}
	return 0
}

// outlive returns a context that ends d after ctx.
func outlive(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(d, cancel)
		context.AfterFunc(out, func() { timer.Stop() })
	})
	return out, func() {
		stop()
		cancel()
	}
}

// storeUser stores the message of the user, with what the model is sent for it
// from now on, and tells it.
func (t *turn) storeUser(ctx context.Context) error {
	u := thread.User{MessageID: t.in.MessageID, Blocks: t.in.Blocks, Sent: sent(t.comp, t.in.Blocks)}
	if u.MessageID == "" {
		u.MessageID = "u-" + strings.ToLower(rand.Text())
	}
	if err := t.append(ctx, u); err != nil {
		return err
	}
	return t.out.emit(event.User{MessageID: u.MessageID, Blocks: u.Blocks})
}

// sent returns what the model is sent for a message: its text with what the
// prompt puts around it, and its pictures in their places (R-PROMPT-33).
func sent(comp prompt.Composition, blocks []event.Block) []thread.Part {
	var parts []thread.Part
	var texts []string // since the last picture, joined once: there may be many
	say := func() {
		if len(texts) > 0 {
			parts = append(parts, thread.Part{Text: strings.Join(texts, "\n\n")})
			texts = nil
		}
	}
	for _, b := range blocks {
		if !isPicture(b) {
			texts = append(texts, words(b))
			continue
		}
		say()
		parts = append(parts, thread.Part{Image: &tools.Image{MIME: b.MIME, Data: b.Data}})
	}
	say()
	if n := len(parts); n == 0 || parts[n-1].Image != nil {
		parts = append(parts, thread.Part{})
	}
	if parts[0].Image != nil && comp.Front != "" {
		parts = append([]thread.Part{{}}, parts...)
	}
	front, end := prompt.Composition{Front: comp.Front}, prompt.Composition{End: comp.End}
	if parts[0].Image == nil {
		parts[0].Text = front.Turn(parts[0].Text)
	}
	last := &parts[len(parts)-1]
	last.Text = end.Turn(last.Text)
	if last.Text == "" {
		parts = parts[:len(parts)-1]
	}
	return parts
}

func isPicture(b event.Block) bool { return strings.HasPrefix(b.MIME, "image/") && len(b.Data) > 0 }

// closing finds what a model may take for the end of a resource.
var closing = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)</(\s*resource)`) })

// words returns a block as the model reads it: a text as it is, a resource
// between delimiters that say what it is and where it ends (C007).
func words(b event.Block) string {
	form := ""
	switch {
	case b.URI == "" && len(b.Data) == 0:
		return b.Text
	case b.Text != "":
		form = resourceText
	case len(b.Data) > 0:
		form = blobText
	default:
		form = linkText
	}
	text := b.Text // which may be large, and mostly stays as it is
	if closing().MatchString(text) {
		text = closing().ReplaceAllString(text, `<\/$1`)
	}
	fill := strings.NewReplacer(
		"NAME", html.EscapeString(b.Name), "URI", html.EscapeString(b.URI), "MIME", html.EscapeString(b.MIME),
		"SIZE", strconv.Itoa(len(b.Data)),
	)
	before, after, _ := strings.Cut(strings.TrimSpace(form), "TEXT")
	return fill.Replace(before) + text + fill.Replace(after)
}
