//go:build unix

package main

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// C068 (R-HARN-32): a model that sees no pictures is told of them in words, those
// that it reads and those of the user alike, and never gets their bytes as text.
// A model that sees gets them from the same thread.
func TestC068PicturesForABlindModel(t *testing.T) {
	t.Parallel()
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 64, 64))); err != nil {
		t.Fatal(err)
	}
	encoded := base64.StdEncoding.EncodeToString(picture.Bytes())
	m := modeltest.New(t,
		modeltest.Reply{Tools: []modeltest.Tool{{Name: "read", Args: `{"path": "img.png"}`}}},
		modeltest.Reply{Text: []string{"I cannot see it."}},
		modeltest.Reply{Text: []string{"I see."}},
	)
	e := newEditor(t).reaches(m)
	if err := os.WriteFile(filepath.Join(e.cwd, "img.png"), picture.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	e.acp("--model", "openai/gpt-3.5-turbo")
	s := e.open(nil)
	e.call("session/prompt", object{"sessionId": s, "prompt": []any{
		object{"type": "text", "text": "look at both"},
		object{"type": "image", "mimeType": "image/png", "data": encoded},
	}}, nil)
	requests := m.Requests()
	if len(requests) != 2 {
		t.Fatalf("%d requests, want 2", len(requests))
	}
	for i, r := range requests {
		if bytes.Contains(r.Body, []byte(encoded)) || bytes.Contains(r.Body, []byte("image_url")) {
			t.Errorf("request %d has the picture", i+1)
		}
	}
	if n := strings.Count(strings.ToLower(string(requests[1].Body)), "image/png"); n < 2 {
		t.Errorf("the second request tells of %d pictures, want 2:\n%s", n, requests[1].Body)
	}

	var options struct {
		ConfigOptions []struct {
			ID      string
			Options []struct{ Value string }
		}
	}
	e.call("session/set_config_option", object{"sessionId": s, "configId": "mode", "value": "ask"}, &options)
	seeing := ""
	for _, o := range options.ConfigOptions {
		for _, v := range o.Options {
			if o.ID == "model" && strings.HasPrefix(v.Value, "anthropic/") {
				seeing = v.Value
			}
		}
	}
	e.call("session/set_config_option", object{"sessionId": s, "configId": "model", "value": seeing}, nil)
	e.prompt(s, "and you?")
	requests = m.Requests()
	if last := requests[len(requests)-1]; bytes.Count(last.Body, []byte(encoded)) != 2 {
		t.Errorf("the model that sees got %d pictures, want 2", bytes.Count(last.Body, []byte(encoded)))
	}
}
