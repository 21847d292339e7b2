package normalise_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/normalise"
)

// long is a request of 200 messages and 60 tools, all of the model p/m: half the
// messages are answers with two calls and their results.
func long() *model.Request {
	req := &model.Request{System: "s"}
	text := strings.Repeat("Some words of an answer. ", 40)
	for i := range 50 {
		a, b := fmt.Sprint("call_a", i), fmt.Sprint("call_b", i)
		req.Messages = append(req.Messages,
			human("Do it again, please."), ai(by("p/m"), thought("p/m", text), text, call(a, "read", `{"path":"a.go"}`), call(b, "grep", `{"pattern":"x","path":"."}`)),
			tool(result(a, "read", strings.Repeat(text, 4)), result(b, "grep", text)), ai(by("p/m"), text))
	}
	schema := `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{` +
		strings.Repeat(`"a%[1]d":{"type":"string","description":"What it is called, in a few words."},"b%[1]d":{"type":["array","null"],"items":{"type":"integer"}},`, 6) +
		`"n":{"type":"integer","exclusiveMinimum":0}},"required":["n"]}`
	for i := range 60 {
		req.Tools = append(req.Tools, model.Tool{Name: fmt.Sprint("tool", i), Description: "Does it.", Schema: json.RawMessage(fmt.Sprintf(schema, i))})
	}
	return req
}

func BenchmarkRequest(b *testing.B) {
	req := long()
	bare := *req
	bare.Tools = nil
	none := model.Func(func(context.Context, *model.Request, func(model.Event) error) (*model.Reply, error) { return nil, nil })
	tests := []struct {
		name string
		d    model.Descriptor
		o    normalise.Options
		req  *model.Request
	}{
		{"own", plain, normalise.Options{}, req},
		{"other", claude, normalise.Options{}, req},
		{"google", google, normalise.Options{}, req},
		{"text", claude, normalise.Options{Text: true}, req},
		{"tool-less", plain, normalise.Options{}, &bare},
	}
	for _, tt := range tests {
		b.Run(tt.name, func(b *testing.B) {
			w := normalise.Wrap(none, tt.d, tt.o)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := w.Stream(b.Context(), tt.req, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("the first, with 60 schemas", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			normalise.Request(req, google, normalise.Options{})
		}
	})
}
