package v1

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"github.com/lorimer-dev/lorimer/harness/event"
)

// A userUpdate is a piece of a message of the user. The pieces of one message
// have its id.
type userUpdate struct {
	Kind      string `json:"sessionUpdate"`
	MessageID string `json:"messageId,omitempty"`
	Content   any    `json:"content"` // one of the blocks of this package
}

// A mediaBlock is a picture or a sound.
type mediaBlock struct {
	Type string `json:"type"` // image or audio
	Data []byte `json:"data"` // in base64
	MIME string `json:"mimeType"`
	URI  string `json:"uri,omitempty"` // of a picture
}

type linkBlock struct {
	Type string `json:"type"`
	URI  string `json:"uri"`
	Name string `json:"name"`
	MIME string `json:"mimeType,omitempty"`
}

type resourceBlock struct {
	Type     string   `json:"type"`
	Resource resource `json:"resource"`
}

// A resource has either text or a blob.
type resource struct {
	URI  string  `json:"uri"`
	MIME string  `json:"mimeType,omitempty"`
	Text *string `json:"text,omitempty"`
	Blob []byte  `json:"blob,omitempty"` // in base64
}

// user tells a message of the user block by block, as it came. Its pieces are
// not merged on their way: a client keeps the blocks apart.
func (e *Encoder) user(ev event.User) error {
	for _, b := range ev.Blocks {
		if !isText(b) {
			if err := e.update(userUpdate{"user_message_chunk", ev.MessageID, attachment(b)}); err != nil {
				return err
			}
			continue
		}
		for text := b.Text; text != ""; {
			n := piece(text)
			if err := e.update(userUpdate{"user_message_chunk", ev.MessageID, textBlock{"text", text[:n]}}); err != nil {
				return err
			}
			text = text[n:]
		}
	}
	return nil
}

func isText(b event.Block) bool { return b.URI == "" && b.MIME == "" && len(b.Data) == 0 }

// attachment returns the content block that b was made from. A picture that came
// as an embedded resource is told as a picture, which shows more.
func attachment(b event.Block) any {
	switch {
	case b.Text != "" || b.Embedded:
		return resourceBlock{"resource", resource{URI: b.URI, MIME: b.MIME, Text: &b.Text}}
	case len(b.Data) == 0:
		return linkBlock{"resource_link", b.URI, cmp.Or(b.Name, b.URI), b.MIME}
	case strings.HasPrefix(b.MIME, "image/"):
		return mediaBlock{"image", b.Data, b.MIME, b.URI}
	case strings.HasPrefix(b.MIME, "audio/") && b.URI == "":
		return mediaBlock{Type: "audio", Data: b.Data, MIME: b.MIME}
	}
	return resourceBlock{"resource", resource{URI: b.URI, MIME: b.MIME, Blob: b.Data}}
}

// piece returns how many bytes at the beginning of text are one chunk: no more
// than [maxChunk], and none of a character that is cut.
func piece(text string) int {
	if len(text) <= maxChunk {
		return len(text)
	}
	n := maxChunk
	for n > maxChunk-utf8.UTFMax && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}
