package harness

import (
	"fmt"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/model"
)

// tellUnseen tells the user which pictures of the message the model cannot see
// (R-HARN-32).
func (t *turn) tellUnseen() error {
	unseen := t.unseen()
	if len(unseen) == 0 {
		return nil
	}
	return t.out.emit(event.Notice{
		Severity: event.Warning,
		Text: fmt.Sprintf("%s cannot see what is attached: %s. It is told that there is such a picture, and no more.",
			display(t.snap.Model), strings.Join(unseen, ", ")),
	})
}

// unseenBefore says how many pictures of the thread the model cannot see that takes it
// over. While a harness goes on the user has been told: by this, or when they came.
func (t *turn) unseenBefore() []string {
	if t.lease.how == reused || t.in.Retry {
		return nil
	}
	n := 0
	for _, m := range t.lease.conv.Messages() {
		if m.Role == llms.ChatMessageTypeHuman {
			n += t.blindTo(m.Parts)
		}
	}
	const told = "It is told that there is such a picture, and no more."
	switch n {
	case 0:
		return nil
	case 1:
		return []string{display(t.snap.Model) + " cannot see the picture that came with a message before. " + told}
	}
	return []string{fmt.Sprintf("%s cannot see %d pictures that came with messages before. %s", display(t.snap.Model), n, told)}
}

// blindTo counts the pictures among the parts of a message that the model cannot see.
func (t *turn) blindTo(ps []llms.ContentPart) (n int) {
	for _, p := range ps {
		if named, ok := p.(model.Picture); ok {
			p = named.BinaryContent
		}
		if b, ok := p.(llms.BinaryContent); ok && !t.snap.Model.Sees(model.PictureType(b.MIMEType, b.Data)) {
			n++
		}
	}
	return n
}

// unseen names the pictures of the message that the model cannot see, as the model
// hears of them (R-HARN-32).
func (t *turn) unseen() []string {
	var out []string
	for _, b := range t.in.Blocks {
		mime := model.PictureType(b.MIME, b.Data)
		if !isPicture(b) || t.snap.Model.Sees(mime) {
			continue
		}
		of := fmt.Sprintf("%s, %d KiB", mime, (len(b.Data)+1023)/1024)
		if name := pictureName(b); name != "" {
			of = name + ", " + of
		}
		out = append(out, "an image ("+of+")")
	}
	return out
}
