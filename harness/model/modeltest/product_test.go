package modeltest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// A product answers on its own routes in its own shape, and on no other.
func TestProducts(t *testing.T) {
	listed := []modeltest.ModelInfo{
		{ID: "a", Name: "Model A", Window: 200_000, Output: 8192, Images: true, Thinks: true, Price: &modeltest.Price{Input: 3_000_000, Output: 15_000_000, CacheRead: 300_000}},
		{ID: "b", Window: 8192, NoTools: true},
	}
	routes := []string{"/v1/models", "/v1/models/a", "/v1/models/c", "/v1beta/models", "/v1beta/models/a", "/api/tags", "POST /api/show", "/props", "/api/v0/models"}
	tests := []struct {
		product modeltest.Product
		routes  []string
		want    []string // in the answers
	}{
		{modeltest.AnyProduct, []string{"/v1/models", "/v1/models/a", "/api/tags", "POST /api/show"}, []string{`"id":"b"`, `"test.context_length":200000`}},
		{modeltest.OpenAI, []string{"/v1/models", "/v1/models/a"}, []string{`"object":"list"`, `"owned_by":"system"`}},
		{modeltest.VLLM, []string{"/v1/models", "/v1/models/a"}, []string{`"max_model_len":8192`}},
		{modeltest.OpenRouter, []string{"/v1/models"}, []string{`"context_length":200000`, `"prompt":"0.000003"`, `"completion":"0.000015"`, `"input_cache_read":"0.0000003"`,
			`"max_completion_tokens":8192`, `"input_modalities":["text","image"]`, `"supported_parameters":["max_tokens","temperature"]`}},
		{modeltest.Anthropic, []string{"/v1/models", "/v1/models/a"}, []string{`"max_input_tokens":200000`, `"max_tokens":8192`, `"image_input":{"supported":true}`, `"display_name":"Model A"`}},
		{modeltest.Gemini, []string{"/v1beta/models", "/v1beta/models/a"}, []string{`"name":"models/a"`, `"inputTokenLimit":200000`, `"outputTokenLimit":8192`, `"thinking":true`}},
		{modeltest.Ollama, []string{"/api/tags", "POST /api/show"}, []string{`"name":"a"`, `"capabilities":["completion","thinking","tools","vision"]`}},
		{modeltest.LMStudio, []string{"/v1/models", "/v1/models/a", "/api/v0/models"}, []string{`"type":"vlm"`, `"max_context_length":8192`, `"capabilities":["tool_use"]`}},
		{modeltest.LlamaCPP, []string{"/v1/models", "/v1/models/a", "/props"}, []string{`"n_ctx":200000`, `"vision":true`}},
	}
	for _, tt := range tests {
		t.Run(string(tt.product), func(t *testing.T) {
			s := modeltest.New(t)
			s.Product, s.Listed = tt.product, listed
			var answering []string
			var all strings.Builder
			for _, r := range routes {
				status, answer := ask(t, s, r)
				if status == http.StatusOK {
					answering = append(answering, r)
					all.WriteString(answer)
				} else if status != http.StatusNotFound || !strings.Contains(answer, "error") {
					t.Errorf("%s: status %d: %s", r, status, answer)
				}
			}
			if diff := cmp.Diff(tt.routes, answering); diff != "" {
				t.Errorf("routes (-want +got):\n%s", diff)
			}
			for _, w := range tt.want {
				if !strings.Contains(all.String(), w) {
					t.Errorf("no %s in %s", w, &all)
				}
			}
		})
	}
}

func ask(t *testing.T, s *modeltest.Server, route string) (int, string) {
	t.Helper()
	method, path, ok := strings.Cut(route, " ")
	if !ok {
		method, path = http.MethodGet, route
	}
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(`{"model":"a"}`))
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(b) {
		t.Errorf("%s: not JSON: %s", route, b)
	}
	return res.StatusCode, string(b)
}
