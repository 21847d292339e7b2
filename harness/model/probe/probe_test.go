package probe_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lorimer-dev/lorimer/harness/model/probe"
)

// serve answers each path with its body.
func serve(t *testing.T, routes map[string]string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := routes[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// nowhere is an address on which nobody listens.
func nowhere(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "http://" + l.Addr().String()
}

// only looks at one server; the others are nowhere.
func only(t *testing.T, provider, address string) []probe.Found {
	t.Helper()
	o := probe.Options{Ollama: nowhere(t), LMStudio: nowhere(t), LlamaCPP: nowhere(t)}
	switch provider {
	case "ollama":
		o.Ollama = address
	case "lmstudio":
		o.LMStudio = address
	case "llamacpp":
		o.LlamaCPP = address
	}
	return probe.Local(t.Context(), o)
}

func TestServers(t *testing.T) {
	tests := []struct {
		name, provider string
		routes         map[string]string
		want           []probe.Model
	}{
		{"lmstudio prefers loaded tool users", "lmstudio", map[string]string{"/api/v0/models": `{"object":"list","data":[
			{"id":"embed","type":"embeddings","state":"loaded"},
			{"id":"plain","type":"llm","state":"loaded","max_context_length":4096},
			{"id":"cold","type":"vlm","state":"not-loaded","max_context_length":9000,"capabilities":["tool_use"]},
			{"id":"warm","type":"llm","state":"loaded","max_context_length":9000,"loaded_context_length":8000,"capabilities":["tool_use"]}]}`},
			[]probe.Model{
				{ID: "warm", Tools: probe.Yes, Images: probe.No, Window: 8000},
				{ID: "cold", Tools: probe.Yes, Images: probe.Yes, Window: 9000},
				{ID: "plain", Images: probe.No, Window: 4096},
			}},
		{"llama.cpp by path", "llamacpp", map[string]string{"/props": `{"default_generation_settings":{"n_ctx":4096},"total_slots":1,"model_path":"C:\\models\\qwen.gguf","modalities":{"vision":true}}`},
			[]probe.Model{{ID: "qwen.gguf", Images: probe.Yes, Window: 4096}}},
		{"llama.cpp by alias, without tools", "llamacpp", map[string]string{"/props": `{"default_generation_settings":{"n_ctx":1},"model_alias":"me","model_path":"/m/x.gguf","chat_template_caps":{"supports_tools":false}}`},
			[]probe.Model{{ID: "me", Tools: probe.No, Window: 1}}},
		{"another product on the port of llama.cpp", "llamacpp", map[string]string{"/props": `{"status":"ok"}`}, nil},
		{"another product on the port of Ollama", "ollama", map[string]string{"/api/tags": `{"tags":[]}`, "/props": `{}`}, nil},
		{"Ollama's root alone", "ollama", map[string]string{"/": "Ollama is running"}, nil},
		{"Ollama without a model", "ollama", map[string]string{"/api/tags": `{"models":[]}`}, nil},
		{"an HTML page", "lmstudio", map[string]string{"/api/v0/models": "<html></html>"}, nil},
		{"an OpenAI list is not LM Studio's", "lmstudio", map[string]string{"/api/v0/models": `{"object":"list","data":[{"id":"a"}]}`}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base := serve(t, tt.routes)
			var want []probe.Found
			if tt.want != nil {
				want = []probe.Found{{Provider: tt.provider, BaseURL: base + "/v1", Models: tt.want}}
			}
			got := only(t, tt.provider, base)
			if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(probe.Model{}), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("found (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOllamaPrefersAModelThatCallsTools(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/tags", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"models":[{"name":"gemma3:4b"},{"name":"qwen3:8b"},{"name":"broken"}]}`)
	})
	mux.HandleFunc("POST /api/show", func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		switch {
		case strings.Contains(string(b), `"gemma3:4b"`):
			fmt.Fprint(w, `{"capabilities":["completion","vision"],"model_info":{"gemma3.context_length":131072}}`)
		case strings.Contains(string(b), `"qwen3:8b"`):
			fmt.Fprint(w, `{"capabilities":["completion","tools"],"model_info":{"qwen3.context_length":40960,"general.architecture":"qwen3"}}`)
		default:
			http.Error(w, "no", http.StatusInternalServerError)
		}
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	want := []probe.Found{{Provider: "ollama", BaseURL: s.URL, Models: []probe.Model{
		{ID: "qwen3:8b", Tools: probe.Yes, Images: probe.No, Thinks: probe.No, Window: probe.OllamaWindow},
		{ID: "gemma3:4b", Tools: probe.No, Images: probe.Yes, Thinks: probe.No, Window: probe.OllamaWindow},
		{ID: "broken"},
	}}}
	if diff := cmp.Diff(want, only(t, "ollama", s.URL+"/"), cmpopts.IgnoreUnexported(probe.Model{})); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
}

func TestOrderOfServers(t *testing.T) {
	got := probe.Local(t.Context(), probe.Options{
		LlamaCPP: serve(t, map[string]string{"/props": `{"default_generation_settings":{},"model_path":"a"}`}),
		LMStudio: serve(t, map[string]string{"/api/v0/models": `{"data":[{"id":"b","type":"llm"}]}`}),
		Ollama:   serve(t, map[string]string{"/api/tags": `{"models":[{"name":"c"}]}`}),
	})
	var names []string
	for _, f := range got {
		names = append(names, f.Provider+" "+f.Models[0].ID)
	}
	if want := []string{"ollama c", "lmstudio b", "llamacpp a"}; !cmp.Equal(want, names) {
		t.Errorf("found %q, want %q", names, want)
	}
}

func TestSilentServerCostsTheLimit(t *testing.T) {
	release := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-release:
		}
	}))
	t.Cleanup(s.Close)
	t.Cleanup(func() { close(release) })
	start := time.Now()
	got := probe.Local(t.Context(), probe.Options{Ollama: s.URL, LMStudio: s.URL, LlamaCPP: s.URL})
	if took := time.Since(start); len(got) != 0 || took < 150*time.Millisecond || took > 5*time.Second {
		t.Errorf("found %v in %v, want nothing in 150ms", got, took)
	}
}

func TestNothingLeavesTheMachine(t *testing.T) {
	// A redirect leads to an address that would count if it were followed.
	to := serve(t, map[string]string{"/api/tags": `{"models":[{"name":"a"}]}`})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, to+r.URL.Path, http.StatusTemporaryRedirect)
	}))
	t.Cleanup(s.Close)
	if got := only(t, "ollama", s.URL); len(got) != 0 {
		t.Errorf("found %v behind a redirect", got)
	}
	// 192.0.2.0/24 is reserved for documentation; the dialler refuses it before
	// a packet is sent.
	if got := only(t, "ollama", "http://192.0.2.1:11434"); len(got) != 0 {
		t.Errorf("found %v on another machine", got)
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := probe.Local(ctx, probe.Options{Ollama: serve(t, map[string]string{"/api/tags": `{"models":[{"name":"a"}]}`})}); len(got) != 0 {
		t.Errorf("found %v after a cancel", got)
	}
}
