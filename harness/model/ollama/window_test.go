package ollama_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/estimate"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// words is a request whose messages have n words, and whose system prompt is empty.
func words(n int) *model.Request {
	return &model.Request{Messages: []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, strings.Repeat("word ", n))}}
}

func TestStops(t *testing.T) {
	tests := []struct {
		name           string
		reason         string
		limit          int
		prompt, output int
		want           model.Stop
	}{
		{"the end", "stop", 0, 500, 9, model.StopEnd},
		{"as old servers say it", "", 0, 500, 9, model.StopEnd},
		{"the limit that was set", "length", 100, 500, 100, model.StopLength},
		{"before the limit that was set", "length", 100, 950, 74, model.StopContext},
		{"a limit that the server has", "length", 0, 500, 128, model.StopLength},
		{"the end of the window", "length", 0, 500, 524, model.StopContext},
		{"just before the end of the window", "length", 0, 500, 520, model.StopContext},
		{"the limit at the end of the window", "length", 24, 1000, 24, model.StopLength},
		{"beyond a window that is larger than it was said", "length", 0, 5000, 128, model.StopLength},
		{"nothing counted", "length", 100, 0, 0, model.StopLength},
		{"loaded only", "load", 0, 0, 0, model.StopEnd},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := words(100)
			req.MaxTokens = tt.limit
			end := done(fmt.Sprintf(`,"done_reason":%q,"prompt_eval_count":%d,"eval_count":%d`, tt.reason, tt.prompt, tt.output))
			_, reply, err := modeltest.Collect(t.Context(), client(model.Descriptor{ID: "m", Window: 1024}, says(`"content":"x"`), end), req)
			if err != nil || reply.Stop != tt.want || reply.RawStop != tt.reason {
				t.Errorf("Stop = %q (%v), want %q", reply.Stop, err, tt.want)
			}
		})
	}
}

func TestCutPrompt(t *testing.T) {
	const window = 1024
	tests := []struct {
		name   string
		window int
		words  int
		count  int // of the server
		cut    bool
		known  bool // the usage, where nothing was cut
	}{
		{"fits", window, 500, 520, false, true},
		{"fits just so", window, 1000, window - 1, false, true},
		{"cut to the window", window, 2000, window, true, false},
		{"cut to the window, and the words do not tell", window, 600, window, true, false},
		{"messages dropped", window, 2000, 300, true, false},
		{"cut to half of the window", window, 900, window/2 + 2, true, false},
		{"half of the window, and all of it", window, 480, window/2 + 2, false, true},
		{"the cache is not counted", window, 900, 100, false, false},
		{"a larger window than was asked for", window, 2000, 2040, false, true},
		{"nothing counted", window, 2000, 0, false, false},
		{"no window", 0, 2000, 300, false, false},
		{"no window, all counted", 0, 2000, 2040, false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			end := done(fmt.Sprintf(`,"done_reason":"stop","prompt_eval_count":%d,"eval_count":3`, tt.count))
			c := client(model.Descriptor{ID: "m", Window: tt.window}, says(`"content":"x"`), end)
			_, reply, err := modeltest.Collect(t.Context(), c, words(tt.words))
			if !tt.cut {
				if err != nil || reply.Usage.Known != tt.known {
					t.Errorf("usage = %+v (%v), want known %v", reply.Usage, err, tt.known)
				}
				return
			}
			e, ok := errors.AsType[*model.Error](err)
			if !ok || e.Kind != model.TokenLimit || e.Temporary() || !e.Partial || e.Provider != "ollama" {
				t.Fatalf("error = %v (%+v), want one of the window", err, e)
			}
			for _, number := range []int{tt.window, tt.count} {
				if !strings.Contains(e.Message, fmt.Sprint(" ", number)) {
					t.Errorf("the error does not name %d: %s", number, e.Message)
				}
			}
		})
	}
}

// A server that counts right is never accused, whatever of a prompt that fits its
// template leaves out: tools, pictures, thoughts, and calls beside a text.
func FuzzCutPrompt(f *testing.F) {
	f.Add("Some text.", 4000)
	f.Add("{\"a\":[1,2,3]}", 16)
	f.Add("字字字字", 9)
	f.Fuzz(func(t *testing.T, text string, window int) {
		if window < 16 || window > 1<<30 {
			return
		}
		req := &model.Request{System: text, Messages: []llms.MessageContent{
			llms.TextParts(llms.ChatMessageTypeHuman, text),
			{Role: llms.ChatMessageTypeAI, Parts: []llms.ContentPart{model.Reasoning{TextContent: llms.TextContent{Text: text + text}}, llms.TextContent{Text: text},
				toolCall("a", text, `{"content":"`+strings.Repeat("word ", min(window, 5000))+`"}`)}},
			{Role: llms.ChatMessageTypeHuman, Parts: []llms.ContentPart{llms.BinaryContent{MIMEType: "image/png", Data: []byte(text)}}},
		}, Tools: modeltest.Ask("").Tools}
		counted := 3*estimate.Text(text).Least + 4 // a server that makes the fewest tokens
		if counted >= window {
			return
		}
		end := done(fmt.Sprintf(`,"done_reason":"stop","prompt_eval_count":%d,"eval_count":3`, counted))
		_, reply, err := modeltest.Collect(t.Context(), client(model.Descriptor{ID: "m", Window: window}, end), req)
		if err != nil || !reply.Usage.Known {
			t.Errorf("%d tokens of %q in a window of %d: %v, %+v", counted, text, window, err, reply.Usage)
		}
	})
}
