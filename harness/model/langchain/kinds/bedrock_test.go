//go:build bedrock

package kinds_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
)

const claude = "anthropic.claude-3-haiku-20240307-v1:0"

// framed answers with the events of a model of Anthropic as Amazon frames them.
func framed(t *testing.T, data ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
		enc := eventstream.NewEncoder()
		for _, d := range data {
			payload, err := json.Marshal(map[string][]byte{"bytes": []byte(d)})
			if err != nil {
				t.Error(err)
			}
			var m eventstream.Message
			m.Headers.Set(":message-type", eventstream.StringValue("event"))
			m.Headers.Set(":event-type", eventstream.StringValue("chunk"))
			m.Headers.Set(":content-type", eventstream.StringValue("application/json"))
			m.Payload = payload
			var frame bytes.Buffer
			if err := enc.Encode(&frame, m); err != nil {
				t.Error(err)
			}
			w.Write(frame.Bytes())
		}
	}
}

func TestBedrockStreams(t *testing.T) {
	f := newFake(t, framed(t,
		`{"type":"message_start","message":{"usage":{"input_tokens":9}}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello "}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"there."}}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}`))
	var got []model.Event
	r, err := open(t, "bedrock", model.Descriptor{ID: claude}, nil, f).Stream(t.Context(), ask(), func(e model.Event) error {
		got = append(got, e)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]model.Event{model.Text("Hello "), model.Text("there.")}, got); diff != "" || r.Usage != (model.Usage{Input: 9, Output: 3, Known: true}) {
		t.Errorf("usage %+v, events (-want +got):\n%s", r.Usage, diff)
	}
	req := f.last(t)
	if req.Auth != "Bearer k-secret" || !strings.HasSuffix(req.Path, "/invoke-with-response-stream") || req.Header.Get("X-Team") != "blue" || req.Body["max_tokens"] != 4096.0 {
		t.Errorf("request = %+v", req)
	}
}

// Calls of tools get lost in a stream, so they come whole, with a pair of keys.
func TestBedrockCalls(t *testing.T) {
	f := newFake(t, object(`{"content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"toolu_1","name":"read","input":{"path":"a"}}],"stop_reason":"tool_use","usage":{"input_tokens":9,"output_tokens":3}}`))
	req := ask()
	req.Tools = []model.Tool{{Name: "read", Schema: []byte(`{"type":"object"}`)}}
	m := open(t, "bedrock", model.Descriptor{ID: claude}, map[string]string{"access_key": "AKIA1", "session_token": "st", "region": "eu-central-1"}, f)
	r, err := m.Stream(t.Context(), req, ignore)
	if err != nil {
		t.Fatal(err)
	}
	want := []llms.ContentPart{llms.TextContent{Text: "I look."},
		llms.ToolCall{ID: "toolu_1", Type: "function", FunctionCall: &llms.FunctionCall{Name: "read", Arguments: `{"path":"a"}`}}}
	if diff := cmp.Diff(want, r.Parts); diff != "" || r.Stop != model.StopTools {
		t.Errorf("stop %q, parts (-want +got):\n%s", r.Stop, diff)
	}
	if sent := f.last(t); !strings.HasPrefix(sent.Auth, "AWS4-HMAC-SHA256 Credential=AKIA1/") || !strings.Contains(sent.Auth, "/eu-central-1/bedrock/") || sent.Header.Get("X-Amz-Security-Token") != "st" {
		t.Errorf("signed with %q", sent.Auth)
	}
}

func TestBedrockFaults(t *testing.T) {
	for code, want := range map[int]model.Kind{429: model.RateLimit, 403: model.Auth, 503: model.Overloaded} {
		f := newFake(t, status(code, `{"message":"not now, k-secret"}`))
		_, err := open(t, "bedrock", model.Descriptor{ID: claude}, nil, f).Stream(t.Context(), ask(), ignore)
		e, ok := errors.AsType[*model.Error](err)
		if !ok || e.Kind != want || e.Status != code || e.Message != "not now, [secret]" || e.RetryAfter.Seconds() != 7 {
			t.Errorf("%d: %+v (%v), want %s", code, e, err, want)
		}
		if n := len(f.seen); n != 1 {
			t.Errorf("%d: %d requests, want 1", code, n)
		}
	}
	f := newFake(t, object(`{"content":[{"type":"text","text":"half"}],"stop_reason":"max_tokens"}`))
	req := ask()
	req.Tools = []model.Tool{{Name: "read", Schema: []byte(`{"type":"object"}`)}}
	_, err := open(t, "bedrock", model.Descriptor{ID: claude}, nil, f).Stream(t.Context(), req, ignore)
	if e, ok := errors.AsType[*model.Error](err); !ok || e.Kind != model.Invalid || !strings.Contains(e.Message, "ended with max_tokens") {
		t.Errorf("an answer at its limit: %v", err)
	}
}

// Models of others neither stream nor call tools.
func TestBedrockOthers(t *testing.T) {
	f := newFake(t, object(`{"output":{"message":{"role":"assistant","content":[{"text":"Hello there."}]}},"stopReason":"end_turn","usage":{"inputTokens":9,"outputTokens":3}}`))
	req := ask()
	req.Tools = []model.Tool{{Name: "read", Schema: []byte(`{"type":"object"}`)}}
	r, err := open(t, "bedrock", model.Descriptor{ID: "us.amazon.nova-pro-v1:0"}, nil, f).Stream(t.Context(), req, ignore)
	if err != nil || fmt.Sprint(r.Parts) != "[Hello there.]" || strings.Contains(fmt.Sprint(f.last(t).Body), "read") {
		t.Errorf("answer = %+v (%v) to %v", r, err, f.last(t).Body)
	}
}
