package harness

import (
	"context"
	"slices"
	"strings"

	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/prompt"
	"github.com/lorimer-dev/lorimer/prompt/attach"
	"github.com/lorimer-dev/lorimer/tools"
)

// storeInput stores the message of the user, with what the model is sent for it
// from now on, and tells it; or that the last one is answered anew. Where the
// session works in other directories than the thread did, that is stored with it
// (R-ACP-15).
func (t *turn) storeInput(ctx context.Context) error {
	var bodies []thread.Body
	if m := directories(&t.s.spec); m.Cwd != t.info.Cwd || !slices.Equal(m.Roots, t.info.Roots) {
		bodies = append(bodies, m)
	}
	if b := t.s.bound(); b.Project != t.info.Project || b.Workspace != t.info.Bound {
		bodies = append(bodies, b)
	}
	u, err := t.message(ctx)
	if err != nil {
		return err
	}
	if t.in.Retry {
		r := thread.Retried{User: t.info.User}
		if !t.asSent {
			added := len(t.pictures) // which the message did not have
			r.Sent = slices.Concat(u.Sent[:added], withoutData(u.Sent[added:]))
			r.Attached, r.Told = u.Attached, u.Told
		}
		return t.storeFirst(ctx, slices.Insert(bodies, 0, thread.Body(r)))
	}
	if err := t.storeFirst(ctx, append(bodies, u)); err != nil {
		return err
	}
	return t.tellMessage(ctx)
}

// message is the message of the user, with what the model is sent for it: its
// texts and pictures in their places, and around them what the prompt adds.
func (t *turn) message(ctx context.Context) (thread.User, error) {
	u := thread.User{MessageID: t.in.MessageID, Blocks: t.in.Blocks, Told: t.told}
	items, err := t.attach(ctx)
	if err != nil {
		return u, err
	}
	seen := make(map[thread.Attached]bool, len(items)) // there may be very many
	for _, i := range items {
		a := thread.Attached{Key: i.Key, Name: i.Name, URI: i.URI, Type: i.Type}
		if !seen[a] {
			seen[a] = true
			u.Attached = append(u.Attached, a)
		}
	}
	u.Sent = slices.Concat(t.pictures, sent(t.comp, t.in.Blocks, items, t.table(ctx, items)))
	return u, ctx.Err() // what a cancel has kept from being read is not stored as unreadable
}

// withoutData returns parts as [thread.Retried] keeps them: the message has its
// pictures already.
func withoutData(parts []thread.Part) []thread.Part {
	out := slices.Clone(parts)
	for i, p := range out {
		if p.Image != nil {
			out[i].Image = &tools.Image{MIME: p.Image.MIME}
		}
	}
	return out
}

// tellMessage tells the message of the user once it is stored, and the title that a
// thread without one has from it, or from the user in between.
func (t *turn) tellMessage(ctx context.Context) error {
	err := t.out.emit(event.User{MessageID: t.in.MessageID, Blocks: t.in.Blocks})
	if err != nil || t.info.Title != "" {
		return err
	}
	info, err := t.o.Threads.Info(ctx, t.s.id)
	switch {
	case err != nil: // the message is stored, and is answered without its title
		t.log.Warn().Err(err).Msg("the title of the session is not told")
		return nil
	case info.Title == "":
		return nil
	}
	return t.out.emit(event.Title{Text: info.Title, Updated: info.Updated})
}

// storeUnanswered stores a message for which no model could be set up, so that it can
// be answered anew when one can (R-HARN-22, R-HARN-26). There is no conversation to go
// on with, and the session stays as it was.
func (t *turn) storeUnanswered(ctx context.Context) error {
	if err := t.compose(new(thread.Conversation)); err != nil {
		return err
	}
	u, err := t.message(ctx)
	if err != nil {
		return err
	}
	if _, err := t.keep(ctx, u, thread.Withdrawn{}); err != nil {
		return err
	}
	return t.tellMessage(ctx)
}

// storeFirst appends what a turn begins with, and in the same step the options that its
// message brings, which hold in the session from then on.
func (t *turn) storeFirst(ctx context.Context, bodies []thread.Body) error {
	if t.in.Choice == nil {
		return t.append(ctx, bodies...)
	}
	done, err := t.s.changing(ctx)
	if err != nil {
		return err
	}
	defer done()
	if chosen := t.choice.since(t.s.Choice()); len(chosen) > 0 {
		bodies = append(bodies, thread.Options{Values: chosen})
	}
	if err := t.append(ctx, bodies...); err != nil {
		return err
	}
	t.s.chose(t.choice)
	return nil
}

// directories are those of a session, as a thread keeps them.
func directories(sp *Spec) thread.Moved {
	roots := sp.FS.Roots()
	return thread.Moved{Cwd: sp.FS.Dir(), Roots: roots[min(1, len(roots)):]}
}

// sent returns what the model is sent for a message: its text with what the
// prompt puts around it, and its pictures in their places (R-PROMPT-33). What is
// attached is mentioned where it stood, and table follows the text (R-PROMPT-50).
func sent(comp prompt.Composition, blocks []event.Block, items []attach.Item, table string) []thread.Part {
	var parts []thread.Part
	var texts []string // since the last picture, joined once: there may be many
	say := func() {
		if len(texts) > 0 {
			parts = append(parts, thread.Part{Text: strings.Join(texts, "\n\n")})
			texts = nil
		}
	}
	for _, b := range blocks {
		switch {
		case isPicture(b):
			say()
			parts = append(parts, thread.Part{Image: &tools.Image{MIME: b.MIME, Data: b.Data}, Name: pictureName(b)})
		case isAttachment(b):
			texts = append(texts, mention(items[0]))
			items = items[1:]
		default:
			texts = append(texts, b.Text)
		}
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
	last.Text = end.Turn(prompt.Composition{End: table}.Turn(last.Text))
	if last.Text == "" {
		parts = parts[:len(parts)-1]
	}
	return parts
}

func isPicture(b event.Block) bool { return strings.HasPrefix(b.MIME, "image/") && len(b.Data) > 0 }
