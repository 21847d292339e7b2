package acp

import (
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/acp/wire"
	"github.com/lorimer-dev/lorimer/harness/event"
)

func TestReadPrompt(t *testing.T) {
	tests := []struct {
		name, prompt string
		audio        bool
		want         []event.Block
		wantErr      string // text that names the field
	}{
		{name: "text", prompt: `[{"type":"text","text":"hi","annotations":null,"x":1}]`, want: []event.Block{{Text: "hi"}}},
		{name: "texts that say nothing go", prompt: `[{"type":"text","text":""},{"type":"text","text":"hi"}]`, want: []event.Block{{Text: "hi"}}},
		{
			name: "a link with all it has", prompt: `[{"type":"resource_link","uri":"file:///w/a%20b.go","name":"main","mimeType":"text/x-go","size":3}]`,
			want: []event.Block{{Name: "main", URI: "file:///w/a%20b.go", MIME: "text/x-go"}},
		},
		{name: "a link without a name", prompt: `[{"type":"resource_link","uri":"zed:///x/a%20b.go?l=1"}]`, want: []event.Block{{Name: "a b.go", URI: "zed:///x/a%20b.go?l=1"}}},
		{name: "a link that is no address", prompt: `[{"type":"resource_link","uri":":%%"}]`, want: []event.Block{{Name: ":%%", URI: ":%%"}}},
		{
			name: "a text resource alone (C007)", prompt: `[{"type":"resource","resource":{"uri":"file:///w/a.md","text":"/x"}}]`,
			want: []event.Block{{Name: "a.md", URI: "file:///w/a.md", MIME: "text/plain", Text: "/x"}},
		},
		{
			name: "an empty file is still one", prompt: `[{"type":"resource","resource":{"uri":"file:///w/a.md","text":""}}]`,
			want: []event.Block{{Name: "a.md", URI: "file:///w/a.md", MIME: "text/plain", Embedded: true}},
		},
		{
			name: "and so is an empty blob", prompt: `[{"type":"resource","resource":{"uri":"file:///w/a.png","mimeType":"image/png","blob":""}}]`,
			want: []event.Block{{Name: "a.png", URI: "file:///w/a.png", MIME: "image/png", Embedded: true}},
		},
		{
			name: "a blob", prompt: `[{"type":"resource","resource":{"uri":"urn:x","blob":"AAAA"}}]`,
			want: []event.Block{{Name: "x", URI: "urn:x", MIME: "application/octet-stream", Data: []byte{0, 0, 0}}},
		},
		{
			name: "an image", prompt: `[{"type":"image","mimeType":"image/png","data":"AAAA"}]`,
			want: []event.Block{{MIME: "image/png", Data: []byte{0, 0, 0}}},
		},
		{
			name: "a blob with escapes", prompt: `[{"type":"resource","resource":{"uri":"urn:x","blob":"AAA\/\r\nAAA\u0041"}}]`,
			want: []event.Block{{Name: "x", URI: "urn:x", MIME: "application/octet-stream", Data: []byte{0, 0, 63, 0, 0, 0}}},
		},
		{
			name: "sound where it is taken", audio: true, prompt: `[{"type":"audio","mimeType":"audio/wav","data":"AAAA"}]`,
			want: []event.Block{{MIME: "audio/wav", Data: []byte{0, 0, 0}}},
		},
		{name: "sound", prompt: `[{"type":"audio","mimeType":"audio/wav","data":"AAAA"}]`, wantErr: "prompt[0].type"},
		{name: "nothing", prompt: `[]`, wantErr: "prompt is empty"},
		{name: "null", prompt: `null`, wantErr: "prompt is empty"},
		{name: "blank", prompt: `[{"type":"text","text":" \n"}]`, wantErr: "prompt is empty"},
		{name: "a string", prompt: `"hi"`, wantErr: "prompt must be an array"},
		{name: "a block that is none", prompt: `["hi"]`, wantErr: "prompt[0] must be an object"},
		{name: "a kind of the future", prompt: `[{"type":"text","text":"a"},{"type":"video"}]`, wantErr: `prompt[1].type is "video"`},
		{name: "no kind", prompt: `[{"text":"a"}]`, wantErr: "prompt[0].type is missing"},
		{name: "text without text", prompt: `[{"type":"text"}]`, wantErr: "prompt[0].text is missing"},
		{name: "text that is none", prompt: `[{"type":"text","text":{}}]`, wantErr: "prompt[0].text must be a string"},
		{name: "a link to nothing", prompt: `[{"type":"resource_link","uri":"","name":"x"}]`, wantErr: "prompt[0].uri is empty"},
		{name: "a resource without content", prompt: `[{"type":"resource","resource":{"uri":"x:y"}}]`, wantErr: "prompt[0].resource has neither"},
		{name: "a resource without resource", prompt: `[{"type":"resource"}]`, wantErr: "prompt[0].resource must be an object"},
		{name: "no picture", prompt: `[{"type":"image","mimeType":"text/plain","data":"AAAA"}]`, wantErr: "prompt[0].mimeType"},
		{name: "a broken picture", prompt: `[{"type":"image","mimeType":"image/png","data":"A"}]`, wantErr: "prompt[0].data is not base64"},
		{name: "an empty picture", prompt: `[{"type":"image","mimeType":"image/png","data":""}]`, wantErr: "prompt[0].data is empty"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in, err := readPrompt(object{"prompt": json.RawMessage(tt.prompt)}, tt.audio)
			if tt.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tt.wantErr) {
					t.Errorf("error = %v, want one with %q", err, tt.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, in.Blocks); diff != "" {
				t.Errorf("blocks (-want +got):\n%s", diff)
			}
		})
	}
}

// Of a large prompt nothing is copied but what is kept, and that once.
func TestReadPromptCopiesOnce(t *testing.T) {
	const line = `\tif err != nil { return \"x\" }\n`
	tests := []struct{ name, block string }{
		{"text", `{"type":"text","text":"` + strings.Repeat(line, 1<<16) + `"}`},
		{"resource", `{"type":"resource","resource":{"uri":"a:b","text":"` + strings.Repeat(line, 1<<16) + `"}}`},
		{"image", `{"type":"image","mimeType":"image/png","data":"` + strings.Repeat("AAAA", 1<<19) + `"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			params := []byte(`{"sessionId":"s","prompt":[` + tt.block + `]}`)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			in, err := readPrompt(members(params), false)
			runtime.ReadMemStats(&after)
			if err != nil || len(in.Blocks) != 1 {
				t.Fatalf("%d blocks and error %v", len(in.Blocks), err)
			}
			if got, limit := after.TotalAlloc-before.TotalAlloc, uint64(len(params))*5/4; got > limit {
				t.Errorf("reading %d bytes allocated %d, want at most %d", len(params), got, limit)
			}
		})
	}
}

// A prompt either is refused with −32602 or has something to say.
func FuzzReadPrompt(f *testing.F) {
	f.Add([]byte(`[{"type":"text","text":"hi"}]`))
	f.Add([]byte(`[{"type":"resource","resource":{"uri":"x","blob":"AAAA"}},{"type":"image","mimeType":"image/png","data":"AAAA","uri":"a:b"}]`))
	f.Add([]byte(`[{"type":"resource_link","uri":"zed://x"}]`))
	f.Fuzz(func(t *testing.T, prompt []byte) {
		in, err := readPrompt(object{"prompt": prompt}, true)
		if err == nil {
			if len(in.Blocks) == 0 {
				t.Error("no error and no blocks")
			}
			return
		}
		we, ok := errors.AsType[*wire.Error](err)
		if e, isOurs := errors.AsType[*Error](err); isOurs {
			we, ok = &wire.Error{Code: number(e.Code)}, true
		}
		if !ok || we.Code != wire.CodeInvalidParams {
			t.Errorf("error = %v, want one with −32602", err)
		}
	})
}

// A name that is no string would not keep the prompt from being run twice
// (R-ACP-33), so it is told.
func TestReadMessageID(t *testing.T) {
	tests := []struct{ meta, want, wantErr string }{
		{meta: `null`},
		{meta: `{"messageId":"m"}`, want: ""}, // under no key of ours
		{meta: `{"lorimer.dev":{"messageId":"m"}}`, want: "m"},
		{meta: `{"lorimer.dev":{"messageId":null}}`},
		{meta: `{"lorimer.dev":{"messageId":5}}`, wantErr: `_meta["lorimer.dev"].messageId must be a string`},
	}
	for _, tt := range tests {
		p := members([]byte(`{"prompt":[{"type":"text","text":"x"}],"_meta":` + tt.meta + `}`))
		in, err := readPrompt(p, false)
		if got := told(err); got != tt.wantErr || in.MessageID != tt.want {
			t.Errorf("%s: id %q and error %q, want %q and %q", tt.meta, in.MessageID, got, tt.want, tt.wantErr)
		}
	}
}

// told returns the message of an error that the client is told.
func told(err error) string {
	if e, ok := errors.AsType[*wire.Error](err); ok {
		return e.Message
	}
	return ""
}
