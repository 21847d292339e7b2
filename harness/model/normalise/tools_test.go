package normalise_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
	"github.com/lorimer-dev/lorimer/harness/model/normalise"
)

// C099: each model is told of a tool in the language that it reads.
func TestSchemas(t *testing.T) {
	const in = `{"type":"object","properties":{"a":{"type":["array","null"],"uniqueItems":true}},"anyOf":[{"required":["a"]}]}`
	const compatible = `{"type":"object","properties":{"a":{"type":["array","null"],"uniqueItems":true,"items":{}}},"anyOf":[{"required":["a"]}]}`
	const openai = `{"type":"object","properties":{"a":{"type":["array","null"],"uniqueItems":true,"items":{}}},"required":["a"]}`
	const anthropic = `{"type":"object","properties":{"a":{"uniqueItems":true,"anyOf":[{"type":"array"},{"type":"null"}]}},"required":["a"]}`
	const gemini = `{"type":"object","properties":{"a":{"type":"array","nullable":true,"items":{"anyOf":[{"type":"string"},{"type":"number"},{"type":"boolean"},{"type":"object"},` +
		`{"type":"array","items":{"anyOf":[{"type":"string"},{"type":"number"},{"type":"boolean"},{"type":"object"}]}}]}}},"required":["a"]}`
	tests := []struct {
		d    model.Descriptor
		want string
	}{
		{plain, compatible},
		{model.Descriptor{Kind: "openai-responses", Provider: "openai", ID: "gpt-5.6"}, openai},
		{model.Descriptor{Kind: "openai-chat", Provider: "work", ID: "m", BaseURL: "https://api.openai.com/v1"}, openai},
		{model.Descriptor{Kind: "openai-chat", Provider: "azure", ID: "m", BaseURL: "https://x.openai.azure.com/openai/v1"}, openai},
		{claude, anthropic},
		{model.Descriptor{Kind: "openai-chat", Provider: "openrouter", ID: "anthropic/claude-opus-4-7"}, anthropic},
		{google, gemini},
		{model.Descriptor{Kind: "openai-chat", Provider: "p", ID: "m", BaseURL: "https://generativelanguage.googleapis.com/v1beta/openai"}, gemini},
		{model.Descriptor{Kind: "openai-chat", Provider: "openrouter", ID: "google/gemini-3.5-flash"}, gemini},
		{model.Descriptor{Kind: "ollama", Provider: "ollama", ID: "m"}, compatible},
		{model.Descriptor{Kind: "langchain/bedrock", Provider: "p", ID: "m"}, anthropic},
	}
	for _, tt := range tests {
		req := &model.Request{Tools: []model.Tool{{Name: "t", Description: "d", Schema: json.RawMessage(in)}}}
		want := []model.Tool{{Name: "t", Description: "d", Schema: json.RawMessage(tt.want)}}
		if diff := cmp.Diff(want, normalise.Request(req, tt.d, normalise.Options{}).Tools); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", tt.d, diff)
		}
	}
}

// C100: a broken tool is dropped alone, with a note; the others work.
func TestBrokenToolIsDropped(t *testing.T) {
	right := json.RawMessage(`{"type":"object","properties":{}}`)
	var notes []string
	s := modeltest.NewStreamer(modeltest.Reply{Text: []string{"a"}}, modeltest.Reply{Text: []string{"b"}})
	w := normalise.Wrap(s, plain, normalise.Options{Dropped: func(tool string, why error) { notes = append(notes, tool+": "+why.Error()) }})
	req := modeltest.Ask("go")
	req.Tools = []model.Tool{
		{Name: "dangling", Schema: json.RawMessage(`{"type":"object","properties":{"x":{"$ref":"#/$defs/gone"}}}`)},
		{Name: "ok", Schema: right}, {Name: "ok", Schema: right},
	}
	req.Callable = []string{"dangling", "ok"}
	for range 2 {
		if _, _, err := modeltest.Collect(t.Context(), w, req); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range s.Requests() {
		if diff := cmp.Diff([]model.Tool{{Name: "ok", Schema: right}}, r.Tools); diff != "" {
			t.Errorf("tools (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"ok"}, r.Callable); diff != "" {
			t.Errorf("callable tools (-want +got):\n%s", diff)
		}
	}
	want := []string{`dangling: the schema refers to "#/$defs/gone", which it does not have`, "ok: another tool has its name"}
	if diff := cmp.Diff(want, notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}
