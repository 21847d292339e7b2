//go:build unix

package main

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// pictureBlock is a picture in a prompt. An empty address is none.
func pictureBlock(mime, data, address string) object {
	b := object{"type": "image", "mimeType": mime, "data": base64.StdEncoding.EncodeToString([]byte(data))}
	if address != "" {
		b["uri"] = address
	}
	return b
}

// blind checks what becomes of two pictures in a message to a model that sees none:
// the turn goes on, the model reads in their places which they were, and so does the
// client, once.
func (e *editor) blind(t *testing.T, session string, m *modeltest.Server) {
	t.Helper()
	png, _ := picture(t)
	before, heard := len(m.Requests()), len(e.notices(session))
	m.Add(modeltest.Reply{Text: []string{"I see nothing."}}, modeltest.Reply{Text: []string{"Nothing still."}})
	e.gives(session, textBlock("look at this"), pictureBlock("image/png", png, "file:///home/me/holiday.png"),
		textBlock("and at that"), pictureBlock("image/gif", "GIF89a-and-so-on", ""))
	e.prompt(session, "and now?")
	requests := m.Requests()[before:]
	if len(requests) != 2 || len(m.Rejected()) > 0 {
		t.Fatalf("%d requests, rejected %q; want 2 and none", len(requests), m.Rejected())
	}
	for _, r := range requests {
		body := string(r.Body)
		holds(t, "the request", body, "look at this", "[An image was attached here (holiday.png, image/png, 1 KiB). This model cannot see it",
			"and at that", "[An image was attached here (image/gif, 1 KiB). This model cannot see it")
		lacks(t, "the request", body, base64.StdEncoding.EncodeToString([]byte(png))[:40], "R0lGODlh", "image_url", "input_image", "inlineData", `"images"`)
	}
	told := slices.DeleteFunc(e.notices(session)[heard:], func(s string) bool { return !strings.Contains(s, "image") })
	if len(told) != 1 {
		t.Fatalf("the client was told %q, want one notice", told)
	}
	holds(t, "the notice", told[0], "cannot see what is attached: ", "an image (holiday.png, image/png, 1 KiB)", "an image (image/gif, 1 KiB)")
}

// Row 215 (R-HARN-32): over every protocol a picture for a model without images does
// not fail the turn; model and client read which it was.
func TestRow215PicturesForTheBlind(t *testing.T) {
	t.Parallel()
	for _, p := range allProviders() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			m := modeltest.New(t)
			e := newEditor(t).reachesAll(m)
			e.file(profilesFile, fmt.Sprintf("[models.%q]\nimages = false\n", p.model))
			e.acp("--model", p.model)
			e.blind(t, e.open(nil), m)
		})
	}
}

// Row 215: so it is with whoever knows that the model sees none: the catalog, its
// server, or nobody.
func TestRow215WhoSays(t *testing.T) {
	t.Parallel()
	mute := modeltest.ModelInfo{ID: "house/blind", Window: 32_000}
	tests := []struct {
		name, provider, kind, model string
		product                     modeltest.Product
		url                         func(*modeltest.Server) string
	}{
		{"the catalog", "deepseek", "openai", "deepseek-v4-pro", "", (*modeltest.Server).OpenAI},
		{"its maker, by a reseller", "work", "openai", "o3-mini", "", (*modeltest.Server).OpenAI},
		{"a server of Ollama", "box", "ollama", mute.ID, modeltest.Ollama, (*modeltest.Server).Ollama},
		{"a reseller", "openrouter", "openai", mute.ID, modeltest.OpenRouter, (*modeltest.Server).OpenAI},
		{"nobody", "work", "openai", "new-model", "", (*modeltest.Server).OpenAI},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := modeltest.New(t)
			m.Product, m.Listed = tt.product, []modeltest.ModelInfo{mute}
			e := newEditor(t)
			e.file(".config/lorimer/key", "key-of-the-house-1\n")
			e.file(configFile, fmt.Sprintf("model = \"%s/%s\"\n[providers.%s]\nkind = %q\nbase_url = %q\napi_key_file = \"key\"\n",
				tt.provider, tt.model, tt.provider, tt.kind, tt.url(m)))
			e.acp()
			e.blind(t, e.open(nil), m)
		})
	}
}

// Row 215: a model that sees does not see every kind of picture. What it cannot see is
// told, and what it can goes to it, from one message.
func TestRow215KindsOfPictures(t *testing.T) {
	t.Parallel()
	for _, p := range allProviders() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			png, encoded := picture(t)
			m := modeltest.New(t, modeltest.Reply{Text: []string{"fine"}})
			e := newEditor(t).reachesAll(m)
			e.acp("--model", p.model)
			s := e.open(nil)
			e.gives(s, textBlock("look"), pictureBlock("image/png", png, "file:///a.png"), pictureBlock("image/tiff", "II*\x00data", "file:///scan.tiff"))
			if got := m.Rejected(); len(got) > 0 {
				t.Fatalf("rejected: %q", got)
			}
			body := string(m.Requests()[0].Body)
			holds(t, "the request", body, "[An image was attached here (scan.tiff, image/tiff, 1 KiB). This model cannot see it")
			if n := strings.Count(body, encoded); n != 1 || strings.Contains(body, "SUkq") {
				t.Errorf("the request has %d pictures, want the one that can be seen", n)
			}
			told := strings.Join(e.notices(s), "\n")
			holds(t, "what the client was told", told, "an image (scan.tiff, image/tiff, 1 KiB)")
			lacks(t, "what the client was told", told, "a.png")
		})
	}
}

// Row 215: so is a model that takes the thread over, of the pictures that came before,
// once; one that sees gets them again.
func TestRow215PicturesOfBefore(t *testing.T) {
	t.Parallel()
	for i, p := range allProviders() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			png, encoded := picture(t)
			m := modeltest.New(t)
			e := newEditor(t).reachesAll(m)
			all := allProviders()
			other := all[(i+1)%len(all)]
			e.file(profilesFile, fmt.Sprintf("[models.%q]\nname = \"Mole\"\nimages = false\n[models.%q]\n", p.model, other.model))
			e.acp("--model", other.model)
			s := e.open(nil)
			turn := func(model string, blocks ...any) string {
				t.Helper()
				e.choose(s, "model", model)
				m.Add(modeltest.Reply{Text: []string{fmt.Sprint("answer ", len(m.Requests()))}})
				e.gives(s, blocks...)
				requests := m.Requests()
				return string(requests[len(requests)-1].Body)
			}
			turn(other.model, textBlock("look"), pictureBlock("image/png", png, "file:///a.png"), pictureBlock("image/png", png, ""))
			for range 2 {
				body := turn(p.model, textBlock("and you?"))
				holds(t, "the request", body, "[An image was attached here (a.png, image/png, 1 KiB)", "[An image was attached here (image/png, 1 KiB)")
				lacks(t, "the request", body, encoded)
			}
			if body := turn(other.model, textBlock("and now?")); strings.Count(body, encoded) != 2 {
				t.Errorf("the model that sees has %d pictures, want 2", strings.Count(body, encoded))
			}
			turn(p.model, textBlock("and now?"))
			want := []string{"Mole cannot see 2 pictures that came with messages before. It is told that there is such a picture, and no more."}
			if got := e.notices(s); !slices.Equal(got, want) {
				t.Errorf("the client was told %q, want %q", got, want)
			}
			if got := m.Rejected(); len(got) > 0 {
				t.Errorf("rejected: %q", got)
			}
		})
	}
}
