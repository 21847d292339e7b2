package kinds_test

import (
	"context"
	"errors"
	"net/http"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/langchain/kinds"
)

// ask is a conversation that a model without tools can be sent.
func ask() *model.Request {
	return &model.Request{
		Kind: "main", Session: "s1", System: "You are under test.",
		Messages: []llms.MessageContent{
			llms.TextParts(llms.ChatMessageTypeHuman, "Hello?", "Anybody there?"),
			llms.TextParts(llms.ChatMessageTypeAI, "Yes."),
			llms.TextParts(llms.ChatMessageTypeHuman, "Good."),
		},
	}
}

// flat is ask as one text.
const flat = "You are under test.\n\nUser: Hello?\n\nAnybody there?\n\nAssistant: Yes.\n\nUser: Good.\n\nAssistant:"

// A talk is how a provider is spoken with.
type talk struct {
	kind     string
	id       string // "" is m1
	settings map[string]string
	answer   http.HandlerFunc
	path     string
	auth     string
	query    string
	body     map[string]any // members that the request has
	pieces   []model.Event
	usage    model.Usage
}

func talks() []talk {
	hello := []model.Event{model.Text("Hello "), model.Text("there.")}
	whole := []model.Event{model.Text("Hello there.")}
	known := model.Usage{Input: 9, Output: 3, Known: true}
	chat := []any{
		map[string]any{"role": "system", "content": "You are under test."},
		map[string]any{"role": "user", "content": "Hello?\n\nAnybody there?"},
		map[string]any{"role": "assistant", "content": "Yes."},
		map[string]any{"role": "user", "content": "Good."},
	}
	return []talk{
		{kind: "mistral", path: "/v1/chat/completions", auth: "Bearer k-secret", body: map[string]any{"model": "m1", "stream": true},
			answer: events(`{"model":"m1","choices":[{"index":0,"delta":{"role":"assistant","content":"Hello "},"finish_reason":null}]}`,
				`{"model":"m1","choices":[{"index":0,"delta":{"content":"there."},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}}`, "[DONE]"),
			pieces: hello, usage: known},
		{kind: "huggingface", path: "/hf-inference/v1/chat/completions", auth: "Bearer k-secret",
			body:   map[string]any{"model": "m1", "max_tokens": 500.0, "messages": []any{map[string]any{"role": "user", "content": flat}}},
			answer: object(`{"choices":[{"message":{"content":"Hello there."}}]}`), pieces: whole},
		{kind: "huggingface", settings: map[string]string{"inference_provider": "nebius"}, path: "/nebius/v1/chat/completions", auth: "Bearer k-secret",
			answer: object(`{"choices":[{"message":{"content":"Hello there."}}]}`), pieces: whole},
		{kind: "cloudflare", id: "@cf/maker/m1", settings: map[string]string{"account": "acc"}, path: "/acc/ai/run/@cf/maker/m1", auth: "Bearer k-secret",
			body: map[string]any{"stream": true, "messages": chat},
			answer: events(`{"response":"Hello ","p":"abc"}`, `{"response":"there."}`,
				`{"response":"","usage":{"prompt_tokens":9,"completion_tokens":3}}`, "[DONE]"),
			pieces: hello, usage: known},
		{kind: "maritaca", path: "/chat/inference", auth: "Key k-secret", body: map[string]any{"model": "m1", "chat_mode": true, "messages": chat},
			answer: object(`{"answer":"Hello there.","usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}}`), pieces: whole, usage: known},
		{kind: "llamafile", path: "/completion", body: map[string]any{"stream": true, "n_predict": 500.0},
			answer: events(`{"content":"Hello ","stop":false}`, `{"content":"there.","stop":false}`, `{"content":"","stop":true,"stopped_eos":true}`), pieces: hello},
		{kind: "ernie", id: "ERNIE-Bot-pro", path: "/rpc/2.0/ai_custom/v1/wenxinworkshop/chat/completions_pro", query: "access_token=k-secret",
			body:   map[string]any{"messages": []any{map[string]any{"role": "user", "content": flat}}},
			answer: object(`{"result":"Hello there.","is_end":true}`), pieces: whole},
		{kind: "ernie", id: "ernie-speed-128k", path: "/rpc/2.0/ai_custom/v1/wenxinworkshop/chat/ernie-speed-128k", query: "access_token=k-secret",
			answer: object(`{"result":"Hello there.","is_end":true}`), pieces: whole},
		{kind: "watsonx", settings: map[string]string{"project": "p1"}, path: "/ml/v1-beta/generation/text", auth: "Bearer token of k-secret", query: "version=2024-05-20",
			body:   map[string]any{"model_id": "m1", "project_id": "p1", "input": flat, "parameters": map[string]any{"max_new_tokens": 500.0}},
			answer: object(`{"results":[{"generated_text":"Hello there.","stop_reason":"EOS_TOKEN"}]}`), pieces: whole},
	}
}

func ignore(model.Event) error { return nil }

// each runs f for each way to speak with a provider.
func each(t *testing.T, f func(*testing.T, talk)) {
	t.Helper()
	for _, tt := range talks() {
		t.Run(path.Join(tt.kind, path.Base(tt.id)), func(t *testing.T) { f(t, tt) })
	}
}

func TestTalk(t *testing.T) {
	each(t, func(t *testing.T, tt talk) {
		f := newFake(t, tt.answer)
		divert(t, f)
		var got []model.Event
		r, err := open(t, tt.kind, model.Descriptor{ID: tt.id, Output: 500}, tt.settings, f).Stream(t.Context(), ask(), func(e model.Event) error {
			got = append(got, e)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.pieces, got); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]llms.ContentPart{llms.TextContent{Text: "Hello there."}}, r.Parts); diff != "" || r.Stop != model.StopEnd || r.Usage != tt.usage {
			t.Errorf("stop %q, usage %+v, parts (-want +got):\n%s", r.Stop, r.Usage, diff)
		}
		req := f.last(t)
		if req.Path != tt.path || req.Auth != tt.auth || req.Query != tt.query {
			t.Errorf("asked %q?%q with %q, want %q?%q with %q", req.Path, req.Query, req.Auth, tt.path, tt.query, tt.auth)
		}
		for k, want := range tt.body {
			if diff := cmp.Diff(want, req.Body[k]); diff != "" {
				t.Errorf("%s of the request (-want +got):\n%s", k, diff)
			}
		}
		if info, _ := kinds.Lookup(tt.kind); info.Client != (req.Header.Get("X-Team") == "blue") {
			t.Errorf("the header of the provider was sent: %v", !info.Client)
		}
	})
}

// A refusal is of one kind whatever the library makes of it, and it names no key.
func TestRefused(t *testing.T) {
	kindOf := map[int]model.Kind{429: model.RateLimit, 401: model.Auth, 503: model.Overloaded, 400: model.Invalid}
	each(t, func(t *testing.T, tt talk) {
		info, _ := kinds.Lookup(tt.kind)
		code := 0
		f := newFake(t, func(w http.ResponseWriter, r *http.Request) {
			status(code, `{"error":{"message":"not now, k-secret"}}`)(w, r)
		})
		divert(t, f)
		for n, want := range kindOf {
			code = n
			_, err := open(t, tt.kind, model.Descriptor{ID: tt.id}, tt.settings, f).Stream(t.Context(), ask(), ignore)
			got, ok := errors.AsType[*model.Error](err)
			if !ok || got.Kind != want || got.Status != code || got.Message != "not now, [secret]" || got.Provider != "house" || got.Partial {
				t.Errorf("%d: %+v (%v), want %s", code, got, err, want)
				continue
			}
			if info.Client && (got.RetryAfter != 7*time.Second || got.RequestID != "req_7") {
				t.Errorf("%d: wait %v, id %q; want 7s, req_7", code, got.RetryAfter, got.RequestID)
			}
		}
	})
}

// An error keeps the settings that say where the request went, and no others.
func TestRefusedNamesSettings(t *testing.T) {
	f := newFake(t, status(403, `{"errors":[],"message":"account-42 may not, k-secret"}`))
	_, err := open(t, "cloudflare", model.Descriptor{}, map[string]string{"account": "account-42"}, f).Stream(t.Context(), ask(), ignore)
	if got, ok := errors.AsType[*model.Error](err); !ok || got.Message != "account-42 may not, [secret]" {
		t.Errorf("error = %v", err)
	}
}

// An answer that breaks off is no answer, whether the library notices or not.
func TestCutShort(t *testing.T) {
	each(t, func(t *testing.T, tt talk) {
		f := newFake(t, func(w http.ResponseWriter, r *http.Request) { tt.answer(&half{ResponseWriter: w}, r) })
		divert(t, f)
		r, err := open(t, tt.kind, model.Descriptor{ID: tt.id}, tt.settings, f).Stream(t.Context(), ask(), ignore)
		got, ok := errors.AsType[*model.Error](err)
		if !ok || got.Kind != model.Connection && got.Kind != model.Malformed || !got.Temporary() {
			t.Errorf("%v with %+v, want a broken answer", err, r)
		}
	})
}

// half writes about half of what it is given and ends.
type half struct {
	http.ResponseWriter
	n int
}

func (h *half) Write(p []byte) (int, error) {
	if h.n++; h.n > 1 {
		return len(p), nil
	}
	s := string(p)
	if !strings.HasPrefix(s, "data: ") {
		s = s[:len(s)/2]
	}
	h.ResponseWriter.Write([]byte(s))
	return len(p), nil
}

func TestNobodyAnswers(t *testing.T) {
	each(t, func(t *testing.T, tt talk) {
		f := newFake(t, tt.answer)
		divert(t, f)
		f.server.Close()
		_, err := open(t, tt.kind, model.Descriptor{ID: tt.id}, tt.settings, f).Stream(t.Context(), ask(), ignore)
		e, ok := errors.AsType[*model.Error](err)
		if !ok || e.Kind != model.Connection || !e.Temporary() || !strings.Contains(e.Message, "refused") || strings.Contains(err.Error(), "k-secret") {
			t.Errorf("error = %v, want a connection that was refused", err)
		}
	})
}

func TestCancel(t *testing.T) {
	each(t, func(t *testing.T, tt talk) {
		began, release := make(chan struct{}), make(chan struct{})
		f := newFake(t, func(_ http.ResponseWriter, r *http.Request) {
			close(began)
			select {
			case <-r.Context().Done():
			case <-release:
			}
		})
		defer close(release)
		divert(t, f)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-began
			cancel()
		}()
		start := time.Now()
		_, err := open(t, tt.kind, model.Descriptor{ID: tt.id}, tt.settings, f).Stream(ctx, ask(), ignore)
		if took := time.Since(start); !errors.Is(err, context.Canceled) || took > 5*time.Second {
			t.Errorf("%v after %v, want a cancelled request", err, took)
		}
	})
}

// The key goes to the configured address and nowhere else, not even to where that
// address points.
func TestRedirectIsNotFollowed(t *testing.T) {
	other := newFake(t, object(`{}`))
	f := newFake(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+r.URL.Path, http.StatusTemporaryRedirect)
	})
	for _, tt := range talks() {
		if info, _ := kinds.Lookup(tt.kind); !info.Client {
			continue
		}
		_, err := open(t, tt.kind, model.Descriptor{ID: tt.id}, tt.settings, f).Stream(t.Context(), ask(), ignore)
		if e, ok := errors.AsType[*model.Error](err); !ok || e.Kind != model.Invalid || !e.Final || !strings.Contains(e.Message, "base_url") {
			t.Errorf("%s: %v, want a hint to base_url", tt.kind, err)
		}
	}
	if len(other.seen) > 0 {
		t.Errorf("the other host was asked: %+v", other.seen)
	}
}

// A token is asked for once, not for each request.
func TestTokenIsKept(t *testing.T) {
	f := newFake(t, object(`{"results":[{"generated_text":"Hello there."}]}`))
	divert(t, f)
	m := open(t, "watsonx", model.Descriptor{}, map[string]string{"project": "p1"}, f)
	for range 3 {
		if _, err := m.Stream(t.Context(), ask(), ignore); err != nil {
			t.Fatal(err)
		}
	}
	var paths []string
	for _, r := range f.seen {
		paths = append(paths, r.Path)
	}
	const text = "/ml/v1-beta/generation/text"
	if diff := cmp.Diff([]string{"/identity/token", text, text, text}, paths); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestErnieFaults(t *testing.T) {
	for code, want := range map[string]model.Kind{"110": model.Auth, "18": model.RateLimit, "17": model.Quota, "336100": model.Overloaded, "424242": model.Unknown} {
		f := newFake(t, object(`{"error_code":`+code+`,"error_msg":"no","id":"x"}`))
		_, err := open(t, "ernie", model.Descriptor{}, nil, f).Stream(t.Context(), ask(), ignore)
		if e, ok := errors.AsType[*model.Error](err); !ok || e.Kind != want || e.Code != code || e.Message != "no" {
			t.Errorf("code %s: %+v, want %s", code, err, want)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	d := model.Descriptor{Provider: "house", ID: "m1"}
	tests := []struct {
		name string
		d    model.Descriptor
		o    kinds.Options
		kind model.Kind
		want string
	}{
		{"wishful", d, kinds.Options{}, model.NotFound, "there is no langchain/wishful; there are bedrock, "},
		{"googleai", d, kinds.Options{}, model.NotFound, `langchain/googleai is not offered; kind = "gemini" speaks that protocol itself`},
		{"openai", d, kinds.Options{}, model.NotFound, `kind = "openai"`},
		{"mistral", d, kinds.Options{}, model.Invalid, "langchain/mistral needs the API key as its key; set api_key_env or api_key_command of the provider"},
		{"mistral", model.Descriptor{}, kinds.Options{Key: "k"}, model.Invalid, "the model has no id"},
		{"cloudflare", d, kinds.Options{Key: "k"}, model.Invalid, "langchain/cloudflare needs the option account, the id of the account"},
		{"cloudflare", d, kinds.Options{Key: "k", Settings: map[string]string{"account": "a", "acount": "b"}}, model.Invalid, "langchain/cloudflare has no option acount; it has account"},
		{"llamafile", d, kinds.Options{Settings: map[string]string{"x": "b"}}, model.Invalid, "langchain/llamafile has no option x; it has none"},
		{"llamafile", model.Descriptor{ID: "m", BaseURL: "here"}, kinds.Options{}, model.Invalid, `base_url "here" is no address`},
	}
	for _, tt := range tests {
		_, err := kinds.Open(tt.name, tt.d, tt.o)
		if e, ok := errors.AsType[*model.Error](err); !ok || e.Kind != tt.kind || !e.Final || !strings.Contains(e.Message, tt.want) {
			t.Errorf("Open(%s) = %v, want %s: %s", tt.name, err, tt.kind, tt.want)
		}
	}
}

func TestNames(t *testing.T) {
	want := []string{"bedrock", "cloudflare", "cohere", "ernie", "huggingface", "llamafile", "maritaca", "mistral", "watsonx"}
	if diff := cmp.Diff(want, kinds.Names()); diff != "" {
		t.Errorf("Names() (-want +got):\n%s", diff)
	}
	for _, name := range want {
		if info, ok := kinds.Lookup(name); !ok || info.Name != name || info.Title == "" || info.BaseURL == "" || kinds.BaseURL(name, nil) != info.BaseURL {
			t.Errorf("Lookup(%s) = %+v, BaseURL %q", name, info, kinds.BaseURL(name, nil))
		}
	}
	var callers []string
	for _, name := range want {
		if kinds.Tools(name, "anthropic.claude") {
			callers = append(callers, name)
		}
	}
	if !slices.Equal(callers, []string{"bedrock", "mistral"}) || kinds.Tools("bedrock", "amazon.nova-pro-v1:0") {
		t.Errorf("kinds that call tools = %q", callers)
	}
	if got := kinds.BaseURL("bedrock", map[string]string{"region": "eu-central-1"}); got != "https://bedrock-runtime.eu-central-1.amazonaws.com" {
		t.Errorf("BaseURL of a region = %q", got)
	}
}
