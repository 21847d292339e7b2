package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/mcpbridge/client"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
)

type (
	ctx     = context.Context
	request = transport.Request
)

// Whatever a server answers to a call, what it says is there.
func TestResultShapes(t *testing.T) {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	one := func(b client.Block) client.Result { return client.Result{Blocks: []client.Block{b}} }
	words := func(s string) client.Result { return one(client.Block{Type: "text", Text: s}) }
	tests := []struct {
		name, result string
		want         client.Result
	}{
		{"text", `{"content":[{"type":"text","text":"hi"}]}`, words("hi")},
		{"an unknown type", `{"content":[{"type":"text","text":"hi"},{"type":"hologram","data":"x"}]}`,
			client.Result{Blocks: []client.Block{{Type: "text", Text: "hi"}, {Type: "hologram", Raw: raw(`{"type":"hologram","data":"x"}`)}}}},
		{"no content", `{"structuredContent":{"a":1}}`, client.Result{Structured: raw(`{"a":1}`)}},
		{"content is null", `{"content":null,"structuredContent":{"a":1}}`, client.Result{Structured: raw(`{"a":1}`)}},
		{"content is a string", `{"content":"hello"}`, words("hello")},
		{"content is an object", `{"content":{"type":"text","text":"hi"}}`, words("hi")},
		{"content is a number", `{"content":5}`, words("5")},
		{"an empty result", `{}`, client.Result{}},
		{"only _meta", `{"_meta":"x"}`, client.Result{}},
		{"null", `null`, client.Result{}},
		{"a string", `"hi"`, words("hi")},
		{"a number", `42`, words("42")},
		{"a list of blocks", `[{"type":"text","text":"a"},"b"]`,
			client.Result{Blocks: []client.Block{{Type: "text", Text: "a"}, {Type: "text", Text: "b"}}}},
		{"the form before the first revision", `{"toolResult":{"x":1}}`, words(`{"x":1}`)},
		{"that form with a string", `{"toolResult":"x\ny"}`, words("x\ny")},
		{"members that nobody knows", `{"answer":42}`, words(`{"answer":42}`)},
		{"an error", `{"content":[{"type":"text","text":"boom"}],"isError":true}`,
			client.Result{Blocks: []client.Block{{Type: "text", Text: "boom"}}, IsError: true}},
		{"isError is a string", `{"content":[{"type":"text","text":"boom"}],"isError":"true"}`,
			client.Result{Blocks: []client.Block{{Type: "text", Text: "boom"}}, IsError: true}},
		{"isError is false in a string", `{"content":"ok","isError":"false"}`, words("ok")},
		{"only isError", `{"isError":1}`, client.Result{IsError: true}},
		{"an image", `{"content":[{"type":"image","data":"aGk=","mimeType":"image/png"}]}`,
			one(client.Block{Type: "image", Data: []byte("hi"), MIME: "image/png"})},
		{"an empty image", `{"content":[{"type":"image","data":"","mimeType":"image/png"}]}`,
			one(client.Block{Type: "image", Data: []byte{}, MIME: "image/png"})},
		{"an image of no type", `{"content":[{"type":"image","data":"aGk="}]}`, one(client.Block{Type: "image", Data: []byte("hi")})},
		{"an image without padding", `{"content":[{"type":"image","data":"aGk"}]}`, one(client.Block{Type: "image", Data: []byte("hi")})},
		{"an image in the other alphabet", `{"content":[{"type":"image","data":"-_8"}]}`, one(client.Block{Type: "image", Data: []byte{0xfb, 0xff}})},
		{"an image in lines", `{"content":[{"type":"image","data":"aG\r\n k="}]}`, one(client.Block{Type: "image", Data: []byte("hi")})},
		{"an image as a data URL", `{"content":[{"type":"image","data":"data:image/png;base64,aGk="}]}`, one(client.Block{Type: "image", Data: []byte("hi")})},
		{"an image that is none", `{"content":[{"type":"image","data":"?","mimeType":"image/png"}]}`,
			one(client.Block{Type: "image", Data: []byte{}, MIME: "image/png", Raw: raw(`{"type":"image","data":"?","mimeType":"image/png"}`)})},
		{"an audio", `{"content":[{"type":"audio","data":"aGk=","mimeType":"audio/wav"}]}`,
			one(client.Block{Type: "audio", Data: []byte("hi"), MIME: "audio/wav"})},
		{"text is null", `{"content":[{"type":"text","text":null}]}`, words("")},
		{"text is a number", `{"content":[{"type":"text","text":5}]}`, words("5")},
		{"text is an object", `{"content":[{"type":"text","text":{"a":[1]}}]}`, words(`{"a":[1]}`)},
		{"text without a type", `{"content":[{"text":"hi"}]}`, words("hi")},
		{"a block of text without any", `{"content":[{"type":"text"}]}`, one(client.Block{Type: "text", Raw: raw(`{"type":"text"}`)})},
		{"a block that is a string", `{"content":["hi",null,7]}`,
			client.Result{Blocks: []client.Block{{Type: "text", Text: "hi"}, {Type: "text", Text: "7"}}}},
		{"a resource", `{"content":[{"type":"resource","resource":{"uri":"a://b","mimeType":"text/x","text":"t"}}]}`,
			one(client.Block{Type: "resource", URI: "a://b", MIME: "text/x", Text: "t"})},
		{"a resource with data", `{"content":[{"type":"resource","resource":{"uri":"a://b","blob":"aGk="}}]}`,
			one(client.Block{Type: "resource", URI: "a://b", Data: []byte("hi")})},
		{"a resource without anything", `{"content":[{"type":"resource","resource":{"uri":"a://b"}}]}`,
			one(client.Block{Type: "resource", URI: "a://b", Raw: raw(`{"type":"resource","resource":{"uri":"a://b"}}`)})},
		{"a resource with empty text", `{"content":[{"type":"resource","resource":{"uri":"a://b","text":""}}]}`,
			one(client.Block{Type: "resource", URI: "a://b"})},
		{"a resource that is none", `{"content":[{"type":"resource","resource":"a://b"}]}`,
			one(client.Block{Type: "resource", Raw: raw(`{"type":"resource","resource":"a://b"}`)})},
		{"a link", `{"content":[{"type":"resource_link","uri":"file:///x","name":"x","title":"X","mimeType":"text/x","description":"an\nx"}]}`,
			one(client.Block{Type: "resource_link", URI: "file:///x", Name: "X", MIME: "text/x", Description: "an x"})},
		{"a link without a name", `{"content":[{"type":"resource_link","uri":"file:///x"}]}`,
			one(client.Block{Type: "resource_link", URI: "file:///x"})},
		{"a link to nowhere", `{"content":[{"type":"resource_link"}]}`,
			one(client.Block{Type: "resource_link", Raw: raw(`{"type":"resource_link"}`)})},
		{"structured content is an array", `{"content":[],"structuredContent":[1,2]}`, client.Result{Structured: raw(`[1,2]`)}},
		{"structured content has large integers", `{"content":[],"structuredContent":{"n":9007199254740993}}`,
			client.Result{Structured: raw(`{"n":9007199254740993}`)}},
		{"structured content is false", `{"structuredContent":false}`, client.Result{Structured: raw(`false`)}},
		{"a priority that is a string", `{"content":[{"type":"text","text":"a","annotations":{"priority":"high"}}]}`, words("a")},
		{"bytes that are no UTF-8", "{\"content\":[{\"type\":\"text\",\"text\":\"a\xff\xfeb\"}]}", words("a\uFFFD\uFFFDb")},
		{"a type of result, in an era that has none", `{"resultType":"zzz","content":[{"type":"text","text":"x"}]}`, words("x")},
		{"space around", " {\"content\" : [ {\n\"type\" : \"text\" , \"text\" : \"}]\\\"\" } ] } ", words(`}]"`)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := handshake(map[string]reply{"tools/call": says(tt.result)})
			bubble(t, f, client.Options{}, func(t *testing.T, p client.Peer) {
				got, err := p.Call(t.Context(), client.Tool{Name: "t"}, nil, client.CallOptions{})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("Call() (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// Only the newer era has types of results, and one that it does not know is an error.
func TestResultTypes(t *testing.T) {
	tests := []struct{ name, result, err string }{
		{"none", `{"content":"x"}`, ""},
		{"complete", `{"resultType":"complete","content":"x"}`, ""},
		{"unknown", `{"resultType":"zzz","content":"x"}`, `a result of type "zzz", which is not one of MCP 2026-07-28`},
		{"a number", `{"resultType":7,"content":"x"}`, `a result of type "7"`},
		{"a task without an identifier", `{"resultType":"task"}`, "a task without an identifier"},
		{"no question", `{"resultType":"input_required"}`, "wants input and does not say which"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := stateless(map[string]reply{"tools/call": says(tt.result)})
			bubble(t, f, client.Options{}, func(t *testing.T, p client.Peer) {
				_, err := p.Call(t.Context(), client.Tool{Name: "t"}, nil, client.CallOptions{})
				if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
					t.Errorf("error = %v, want %q", err, tt.err)
				}
			})
		})
	}
}

func TestArguments(t *testing.T) {
	tests := []struct {
		name string
		in   json.RawMessage
		want string
	}{
		{"nil", nil, `{}`},
		{"null", json.RawMessage(" null"), `{}`},
		{"an object", json.RawMessage(`{"n":9007199254740993}`), `{"n":9007199254740993}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := handshake(map[string]reply{"tools/call": says(`{}`)})
			bubble(t, f, client.Options{}, func(t *testing.T, p client.Peer) {
				if _, err := p.Call(t.Context(), client.Tool{Name: "t.x"}, tt.in, client.CallOptions{}); err != nil {
					t.Fatal(err)
				}
				r := f.last(t, "tools/call")
				if got, want := string(r.Params), `{"_meta":{"progressToken":1},"arguments":`+tt.want+`,"name":"t.x"}`; got != want || r.Name != "t.x" {
					t.Errorf("called %q with %s, want %s", r.Name, got, want)
				}
			})
		})
	}
}

// Arguments that are no JSON reach no server.
func TestArgumentsThatAreNone(t *testing.T) {
	for _, f := range []*fake{handshake(nil), stateless(nil)} {
		bubble(t, f, client.Options{HTTP: true}, func(t *testing.T, p client.Peer) {
			if _, err := p.Call(t.Context(), client.Tool{Name: "t"}, []byte(`{"a":`), client.CallOptions{}); err == nil {
				t.Error("called")
			}
			for _, method := range f.methods() {
				if method == "tools/call" {
					t.Error("the server was called")
				}
			}
		})
	}
}

// slowTool works for d, and tells each tick of it, with a token in the form of form.
func slowTool(d, tick time.Duration, form string) reply {
	return func(ctx ctx, f *fake, r request) (string, error) {
		var params struct {
			Meta struct {
				Token json.RawMessage `json:"progressToken"`
			} `json:"_meta"`
		}
		if err := json.Unmarshal(r.Params, &params); err != nil {
			return "", err
		}
		token := strings.ReplaceAll(form, "TOKEN", string(params.Meta.Token))
		for done := time.Duration(0); done < d; done += tick {
			select {
			case <-time.After(tick):
			case <-ctx.Done():
				return "", ctx.Err()
			}
			f.tell("notifications/progress", `{"progressToken":`+token+`,"progress":1,"total":"2","message":"half\nway"}`)
		}
		return `{"content":"done"}`, nil
	}
}

func TestTimeouts(t *testing.T) {
	tests := []struct {
		name string
		tool reply
		o    client.CallOptions
		err  string // in part; "" is none
		took time.Duration
	}{
		{"no bound", after(time.Hour, says(`{}`)), client.CallOptions{}, "", time.Hour},
		{"no sign of life", silent, client.CallOptions{Timeout: time.Minute, Limit: 10 * time.Minute}, "no sign of life for 1m0s", time.Minute},
		{"no result", silent, client.CallOptions{Limit: 10 * time.Minute}, "no result after 10m0s", 10 * time.Minute},
		{"progress is life", slowTool(5*time.Minute, 50*time.Second, "TOKEN"), client.CallOptions{Timeout: time.Minute, Limit: 10 * time.Minute}, "", 5 * time.Minute},
		{"a token that became a string", slowTool(5*time.Minute, 50*time.Second, `"TOKEN"`), client.CallOptions{Timeout: time.Minute}, "", 5 * time.Minute},
		{"the progress of something else", slowTool(5*time.Minute, 50*time.Second, `"x"`), client.CallOptions{Timeout: time.Minute}, "no sign of life", time.Minute},
		{"progress without an end", slowTool(time.Hour, 50*time.Second, "TOKEN"), client.CallOptions{Timeout: time.Minute, Limit: 10 * time.Minute}, "no result after 10m0s", 10 * time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := handshake(map[string]reply{"tools/call": tt.tool})
			bubble(t, f, client.Options{}, func(t *testing.T, p client.Peer) {
				begin := time.Now()
				_, err := p.Call(t.Context(), client.Tool{Name: "t"}, nil, tt.o)
				if tt.err == "" && err != nil || tt.err != "" && (!errors.Is(err, client.ErrTimeout) || !strings.Contains(err.Error(), tt.err)) {
					t.Errorf("error = %v, want %q", err, tt.err)
				}
				if got := time.Since(begin); got != tt.took {
					t.Errorf("it took %v, want %v", got, tt.took)
				}
				if told := cmp.Equal(f.cancelled, []string{"tools/call"}); told != (tt.err != "") {
					t.Errorf("the server was told to stop %q", f.cancelled)
				}
			})
		})
	}
}

func TestProgress(t *testing.T) {
	f := handshake(map[string]reply{"tools/call": slowTool(3*time.Second, time.Second, "TOKEN")})
	bubble(t, f, client.Options{}, func(t *testing.T, p client.Peer) {
		var got []client.Progress
		o := client.CallOptions{Progress: func(r client.Progress) { got = append(got, r) }} // same goroutine
		if _, err := p.Call(t.Context(), client.Tool{Name: "t"}, nil, o); err != nil {
			t.Fatal(err)
		}
		if len(got) < 2 || got[0] != (client.Progress{Done: 1, Total: 2, Message: "half way"}) {
			t.Errorf("progress = %v, want at least two times half way", got)
		}
	})
}

// A cancelled call returns at once, and the server is told.
func TestCallCancelled(t *testing.T) {
	f := handshake(map[string]reply{"tools/call": silent})
	bubble(t, f, client.Options{}, func(t *testing.T, p client.Peer) {
		ctx, cancel := context.WithCancelCause(t.Context())
		enough := errors.New("enough")
		time.AfterFunc(time.Second, func() { cancel(enough) })
		begin := time.Now()
		if _, err := p.Call(ctx, client.Tool{Name: "t"}, nil, client.CallOptions{Timeout: time.Minute}); !errors.Is(err, enough) {
			t.Errorf("error = %v, want the cause of the cancel", err)
		}
		if got := time.Since(begin); got != time.Second {
			t.Errorf("it took %v", got)
		}
		if diff := cmp.Diff([]string{"tools/call"}, f.cancelled); diff != "" {
			t.Errorf("told to stop (-want +got):\n%s", diff)
		}
	})
}

// A server that dies ends the calls that it has, with its reason.
func TestDeath(t *testing.T) {
	f := handshake(map[string]reply{"tools/call": silent})
	bubble(t, f, client.Options{}, func(t *testing.T, p client.Peer) {
		errs := make(chan error, 3)
		for range 3 {
			go func() {
				_, err := p.Call(t.Context(), client.Tool{Name: "t"}, nil, client.CallOptions{})
				errs <- err
			}()
		}
		synctest.Wait()
		if p.Err() != nil {
			t.Errorf("Err() = %v before", p.Err())
		}
		f.die(&transport.GoneError{State: "signal: killed"})
		for range 3 {
			if err := <-errs; !errors.Is(err, transport.ErrGone) || !strings.Contains(err.Error(), "signal: killed") {
				t.Errorf("Call() = %v", err)
			}
		}
		<-p.Done()
		if !errors.Is(p.Err(), transport.ErrGone) {
			t.Errorf("Err() = %v", p.Err())
		}
	})
}

// Errors of the transport that decide what may be done again come through.
func TestCallErrors(t *testing.T) {
	for _, want := range []error{transport.ErrUnsent, transport.ErrSession, transport.ErrGone} {
		f := handshake(map[string]reply{"tools/call": fails(want), "resources/read": fails(want), "prompts/get": fails(want)})
		bubble(t, f, client.Options{}, func(t *testing.T, p client.Peer) {
			if _, err := p.Call(t.Context(), client.Tool{Name: "t"}, nil, client.CallOptions{}); !errors.Is(err, want) {
				t.Errorf("Call() = %v, want %v", err, want)
			}
			if _, err := p.Read(t.Context(), "a://b"); !errors.Is(err, want) {
				t.Errorf("Read() = %v, want %v", err, want)
			}
			if _, err := p.Prompt(t.Context(), "p", nil); !errors.Is(err, want) {
				t.Errorf("Prompt() = %v, want %v", err, want)
			}
		})
	}
}
