package client_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"github.com/lorimer-dev/lorimer/mcpbridge/client"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
	"github.com/lorimer-dev/lorimer/tools/server"
)

// accepts is a user who fills in a form in one way.
func accepts(content string) func(ctx, server.Elicitation) (server.Reply, error) {
	return func(ctx, server.Elicitation) (server.Reply, error) {
		return server.Reply{Action: "accept", Content: []byte(content)}, nil
	}
}

func TestServerRequests(t *testing.T) {
	const form = `{"message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string","default":"nobody"},"age":{"type":"integer","default":7},"mail":{"type":"string"}}}}`
	decline := func(ctx, server.Elicitation) (server.Reply, error) { return server.Reply{Action: "decline"}, nil }
	sample := func(_ ctx, s server.Sampling) (server.Sampled, error) {
		return server.Sampled{Model: "m", Text: s.System + "!", Stop: "endTurn"}, nil
	}
	tests := []struct {
		name           string
		host           *host // nil is none
		method, params string
		want           string // the result, or the error
	}{
		{"ping", nil, "ping", ``, `{}`},
		{"roots", &host{}, "roots/list", `{}`,
			`{"roots":[{"name":"a project","uri":"file:///home/me/a%20project"},{"name":"srv","uri":"file:///srv"}]}`},
		{"roots without a host", nil, "roots/list", ``, `Method not found (-32601)`},
		{"another method", &host{offers: everything}, "bogus/method", `{}`, `Method not found (-32601)`},
		{"a form", &host{offers: offersForm, elicit: accepts(`{"name":"Ann"}`)}, "elicitation/create", form,
			`{"action":"accept","content":{"age":7,"name":"Ann"}}`},
		{"a form with its mode", &host{offers: offersForm, elicit: accepts(``)}, "elicitation/create", `{"mode":"form",` + form[1:],
			`{"action":"accept","content":{"age":7,"name":"nobody"}}`},
		{"a form with null for a field", &host{offers: offersForm, elicit: accepts(`{"age":null}`)}, "elicitation/create", form,
			`{"action":"accept","content":{"age":null,"name":"nobody"}}`},
		{"a form that is declined", &host{offers: offersForm, elicit: decline}, "elicitation/create", form, `{"action":"decline"}`},
		{"a form that a rule refuses", &host{offers: offersForm}, "elicitation/create", form, `{"action":"decline"}`},
		{"a form without fields", &host{offers: offersForm, elicit: accepts(`{}`)}, "elicitation/create", `{"message":"Go on?","requestedSchema":{}}`,
			`{"action":"accept","content":{}}`},
		{"a form without a schema", &host{offers: offersForm}, "elicitation/create", `{"message":"?"}`, `requestedSchema is no object (-32602)`},
		{"forms are not offered", &host{}, "elicitation/create", form, `Method not found (-32601)`},
		{"addresses are not offered", &host{offers: offersForm}, "elicitation/create", `{"mode":"url","url":"https://a/b"}`,
			`this client has no elicitation of mode url (-32602)`},
		{"an address", &host{offers: everything, elicit: accepts(``)}, "elicitation/create", `{"mode":"url","url":"https://a/b","elicitationId":"1","message":"go"}`,
			`{"action":"accept"}`},
		{"an address of a file", &host{offers: everything, elicit: accepts(``)}, "elicitation/create", `{"mode":"url","url":"file:///etc/passwd"}`,
			`url is none of http or https (-32602)`},
		{"a question of a task", &host{offers: offersForm, elicit: decline}, "elicitation/create",
			`{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"7"}},` + form[1:],
			`{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"7"}},"action":"decline"}`},
		{"sampling", &host{offers: everything, sample: sample}, "sampling/createMessage",
			`{"systemPrompt":"be","maxTokens":9,"messages":[{"role":"user","content":{"type":"text","text":"hi"}}]}`,
			`{"content":{"text":"be!","type":"text"},"model":"m","role":"assistant","stopReason":"endTurn"}`},
		{"sampling that is refused", &host{offers: everything}, "sampling/createMessage", `{"messages":[{"role":"user","content":"hi"}]}`,
			`User rejected sampling request (-1)`},
		{"sampling with tools", &host{offers: everything, sample: sample}, "sampling/createMessage", `{"messages":[{"role":"user","content":"hi"}],"tools":[{"name":"t"}]}`,
			`this client has no sampling with tools (-32602)`},
		{"sampling without messages", &host{offers: everything, sample: sample}, "sampling/createMessage", `{}`, `messages are missing (-32602)`},
		{"sampling is not offered", &host{offers: offersForm, sample: sample}, "sampling/createMessage", `{"messages":[{"role":"user","content":"hi"}]}`,
			`Method not found (-32601)`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := handshake(nil)
			o := client.Options{Label: "srv"}
			if tt.host != nil {
				o.Host = tt.host
			}
			bubble(t, f, o, func(t *testing.T, p client.Peer) {
				got, err := f.ask(t.Context(), tt.method, tt.params)
				if err != nil {
					got = err.Error()
				}
				if got != tt.want {
					t.Errorf("answer = %s, want %s", got, tt.want)
				}
			})
		})
	}
}

// What the host is asked is what the server said.
func TestHostHears(t *testing.T) {
	h := &host{offers: everything}
	f := handshake(nil)
	bubble(t, f, client.Options{Host: h}, func(t *testing.T, p client.Peer) {
		const schema = `{"type":"object","properties":{"c":{"enum":["a"]}}}`
		f.ask(t.Context(), "elicitation/create", `{"message":"Which\none?","requestedSchema":`+schema+`}`)
		f.ask(t.Context(), "elicitation/create", `{"mode":"url","message":"go","url":"http://localhost:1/x","elicitationId":"7"}`)
		f.ask(t.Context(), "sampling/createMessage", `{"systemPrompt":"s","maxTokens":64,"messages":[
			{"role":"user","content":[{"type":"text","text":"look"},{"type":"image","data":"aGk=","mimeType":"image/png"}]},
			{"role":"assistant","content":{"type":"text","text":"seen"}}]}`)
		want := []any{
			server.Elicitation{Message: "Which\none?", Schema: []byte(schema)},
			server.Elicitation{Message: "go", URL: "http://localhost:1/x", ID: "7"},
			server.Sampling{System: "s", Limit: 64, Messages: []server.Part{
				{Role: "user", Text: "look"}, {Role: "user", Data: []byte("hi"), MIME: "image/png"}, {Role: "assistant", Text: "seen"},
			}},
		}
		if diff := cmp.Diff(want, h.asked); diff != "" {
			t.Errorf("the host heard (-want +got):\n%s", diff)
		}
	})
}

// A question that ends with its context was cancelled, not declined.
func TestQuestionCancelled(t *testing.T) {
	h := &host{offers: offersForm, elicit: func(ctx ctx, _ server.Elicitation) (server.Reply, error) {
		<-ctx.Done()
		return server.Reply{}, ctx.Err()
	}}
	f := handshake(nil)
	bubble(t, f, client.Options{Host: h}, func(t *testing.T, p client.Peer) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		got, err := f.ask(ctx, "elicitation/create", `{"requestedSchema":{}}`)
		if want := `{"action":"cancel"}`; got != want || err != nil {
			t.Errorf("answer = %s, %v, want %s", got, err, want)
		}
	})
}

// The time that the user takes for an answer is not that of the server.
func TestUserHasTime(t *testing.T) {
	h := &host{offers: offersForm, elicit: func(ctx ctx, _ server.Elicitation) (server.Reply, error) {
		time.Sleep(5 * time.Minute)
		return server.Reply{Action: "decline"}, nil
	}}
	asks := func(ctx ctx, f *fake, _ request) (string, error) {
		time.Sleep(30 * time.Second)
		if _, err := f.ask(ctx, "elicitation/create", `{"requestedSchema":{}}`); err != nil {
			return "", err
		}
		time.Sleep(45 * time.Second)
		return `{"content":"done"}`, nil
	}
	f := handshake(map[string]reply{"tools/call": asks})
	bubble(t, f, client.Options{Host: h}, func(t *testing.T, p client.Peer) {
		if _, err := p.Call(t.Context(), client.Tool{Name: "t"}, nil, client.CallOptions{Timeout: time.Minute}); err != nil {
			t.Errorf("Call() = %v", err)
		}
		f.knows["tools/call"] = silent
		begin := time.Now()
		if _, err := p.Call(t.Context(), client.Tool{Name: "t"}, nil, client.CallOptions{Timeout: time.Minute}); !errors.Is(err, client.ErrTimeout) || time.Since(begin) != time.Minute {
			t.Errorf("a silent call = %v after %v", err, time.Since(begin))
		}
	})
}

// In the newer era a server asks by its result, and is called again with the answers.
func TestInputRequired(t *testing.T) {
	h := &host{offers: everything, elicit: accepts(`{"name":"Ann"}`), sample: func(ctx, server.Sampling) (server.Sampled, error) {
		return server.Sampled{Model: "m", Text: "ok", Stop: "endTurn"}, nil
	}}
	ask := says(`{"resultType":"input_required","requestState":"s/1","inputRequests":{
		"b":{"method":"elicitation/create","params":{"message":"Who?","requestedSchema":{}}},
		"a":{"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":"hi"}]}},
		"c":{"method":"roots/list"}}}`)
	again := says(`{"resultType":"input_required","requestState":{"n":2}}`)
	more := says(`{"resultType":"input_required","inputRequests":{"d":{"method":"roots/list"}}}`)
	for method, result := range map[string]string{
		"tools/call": `{"content":"done"}`, "prompts/get": `{"messages":[]}`, "resources/read": `{"contents":[]}`,
	} {
		f := stateless(map[string]reply{method: inTurn(ask, again, more, says(result))})
		bubble(t, f, client.Options{Host: h}, func(t *testing.T, p client.Peer) {
			if err := use(t, p, method); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range f.asked {
				if r.Method == method {
					var params map[string]any
					unmarshal(t, r.Params, &params)
					got = append(got, marshal(t, map[string]any{"r": params["inputResponses"], "s": params["requestState"]}))
					if params["name"] == nil && params["uri"] == nil {
						t.Errorf("the request became %s", r.Params)
					}
				}
			}
			roots := `{"roots":[{"name":"a project","uri":"file:///home/me/a%20project"},{"name":"srv","uri":"file:///srv"}]}`
			want := []string{
				`{"r":null,"s":null}`,
				`{"r":{"a":{"content":{"text":"ok","type":"text"},"model":"m","role":"assistant","stopReason":"endTurn"},` +
					`"b":{"action":"accept","content":{"name":"Ann"}},"c":` + roots + `},"s":"s/1"}`,
				`{"r":null,"s":{"n":2}}`,
				`{"r":{"d":` + roots + `},"s":null}`,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", method, diff)
			}
		})
	}
}

// use does what ends in a request of method.
func use(t *testing.T, p client.Peer, method string) (err error) {
	t.Helper()
	switch method {
	case "tools/call":
		_, err = p.Call(t.Context(), client.Tool{Name: "t"}, nil, client.CallOptions{})
	case "prompts/get":
		_, err = p.Prompt(t.Context(), "p", nil)
	case "resources/read":
		_, err = p.Read(t.Context(), "a://b")
	}
	return err
}

func TestInputRequiredFails(t *testing.T) {
	tests := []struct {
		name, requests, want string
		calls                int
	}{
		{"without an end", `{"a":{"method":"roots/list"}}`, "asked for more than 10 times", 11},
		{"something that is not offered", `{"a":{"method":"elicitation/create","params":{}}}`, "the server asks for elicitation/create: Method not found", 1},
		{"something that nobody knows", `{"a":7}`, "the server asks for : Method not found", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := stateless(map[string]reply{"tools/call": says(`{"resultType":"input_required","inputRequests":` + tt.requests + `}`)})
			bubble(t, f, client.Options{Host: &host{}}, func(t *testing.T, p client.Peer) {
				if err := use(t, p, "tools/call"); err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("error = %v, want %q", err, tt.want)
				}
				calls := 0
				for _, method := range f.methods() {
					if method == "tools/call" {
						calls++
					}
				}
				if calls != tt.calls {
					t.Errorf("%d calls, want %d", calls, tt.calls)
				}
			})
		})
	}
}

// A server that wants an address opened first is called again when the user has been
// there, or when it does not tell.
func TestAddressRequired(t *testing.T) {
	required := refusesWith(transport.CodeURLElicitation, "log in first",
		`{"elicitations":[{"mode":"url","elicitationId":"7","url":"https://a/login","message":"Log in"}]}`)
	tests := []struct {
		name string
		host *host
		tell bool   // that the user is done
		err  string // "" is none
		took time.Duration
	}{
		{"the server tells", &host{offers: everything, elicit: accepts(``)}, true, "", 10 * time.Second},
		{"the server does not tell", &host{offers: everything, elicit: accepts(``)}, false, "", time.Minute},
		{"the user declines", &host{offers: everything}, false, "log in first (-32042): the user did not allow it", 0},
		{"addresses are not offered", &host{offers: offersForm}, false, "log in first (-32042)", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := handshake(map[string]reply{"tools/call": inTurn(required, says(`{"content":"done"}`))})
			bubble(t, f, client.Options{Host: tt.host}, func(t *testing.T, p client.Peer) {
				if tt.tell {
					time.AfterFunc(10*time.Second, func() { f.tell("notifications/elicitation/complete", `{"elicitationId":"7"}`) })
				}
				begin := time.Now()
				_, err := p.Call(t.Context(), client.Tool{Name: "t"}, nil, client.CallOptions{Timeout: time.Minute, Limit: 10 * time.Minute})
				if err == nil && tt.err != "" || err != nil && err.Error() != tt.err {
					t.Errorf("error = %v, want %q", err, tt.err)
				}
				if got := time.Since(begin); got != tt.took {
					t.Errorf("it took %v, want %v", got, tt.took)
				}
			})
		})
	}
}

// The user is sent there once.
func TestAddressRequiredAgain(t *testing.T) {
	h := &host{offers: everything, elicit: accepts(``)}
	f := handshake(map[string]reply{"tools/call": refusesWith(transport.CodeURLElicitation, "log in first", `{"elicitations":[{"url":"https://a/login"}]}`)})
	bubble(t, f, client.Options{Host: h}, func(t *testing.T, p client.Peer) {
		_, err := p.Call(t.Context(), client.Tool{Name: "t"}, nil, client.CallOptions{})
		if err == nil || err.Error() != "log in first (-32042)" || len(h.asked) != 1 {
			t.Errorf("error = %v after %d questions", err, len(h.asked))
		}
	})
}

func TestServerLog(t *testing.T) {
	var out bytes.Buffer
	f := handshake(nil)
	o := client.Options{
		Hide: func(text string) string { return strings.ReplaceAll(text, "s3cr3t", "***") },
		Log:  zerolog.New(&out).Level(zerolog.DebugLevel),
	}
	bubble(t, f, o, func(t *testing.T, p client.Peer) {
		f.tell("notifications/message", `{"level":"error","logger":"db","data":{"lost":"s3cr3t`+strings.Repeat("x", 5000)+`"}}`)
		f.tell("notifications/message", `7`)
		f.tell("notifications/unheard/of", ``)
	})
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 || len(lines[0]) > 1200 || !strings.HasPrefix(lines[0], `{"level":"debug","severity":"error","logger":"db","data":"{\"lost\":\"***xxx`) {
		t.Errorf("logged %d lines, the first %.80s", len(lines), lines[0])
	}
}
