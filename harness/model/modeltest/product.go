package modeltest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// A Product is what a server passes for when it is asked what it serves.
type Product string

// The products. One answers on its own routes and in its own shape alone, so that
// it cannot be taken for another.
const (
	AnyProduct Product = ""           // a list on /v1/models, and Ollama's routes
	OpenAI     Product = "openai"     // GET /v1/models[/ID]: ids and no more
	VLLM       Product = "vllm"       // the same with max_model_len
	OpenRouter Product = "openrouter" // GET /v1/models: windows, prices, parameters
	Anthropic  Product = "anthropic"  // GET /v1/models[/ID]
	Gemini     Product = "gemini"     // GET /v1beta/models[/ID]
	Ollama     Product = "ollama"     // GET /api/tags, POST /api/show
	LMStudio   Product = "lmstudio"   // GET /api/v0/models[/ID], and /v1/models
	LlamaCPP   Product = "llamacpp"   // GET /props, and /v1/models
)

// A ModelInfo is what a server tells of a model, as far as its product tells it.
type ModelInfo struct {
	ID, Name       string
	Window, Output int // tokens; 0 is not told
	Images         bool
	NoTools        bool
	Thinks         bool
	// Price in micro-dollars per million tokens, which OpenRouter tells per token;
	// nil is not told.
	Price *Price
}

// A Price is that of a model, in micro-dollars per million tokens.
type Price struct{ Input, Output, CacheRead, CacheWrite int64 }

// noThinking reports whether the model is known not to think.
func (m ModelInfo) noThinking() bool { return m.ID != "" && !m.Thinks }

// infoOf is what is listed of a model; of one that is not, that it can do all.
func infoOf(listed []ModelInfo, id string) ModelInfo {
	for _, m := range listed {
		if m.ID == id {
			return m
		}
	}
	return ModelInfo{}
}

func (s *Server) listed() []ModelInfo {
	if s.Listed != nil {
		return s.Listed
	}
	return []ModelInfo{{ID: ModelID, Name: ModelID, Window: 32768}}
}

// inform answers what is no request for an answer.
func (s *Server) inform(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Path
	id := path[strings.LastIndex(path, "models")+len("models"):]
	id = strings.TrimPrefix(id, "/")
	var v any
	switch {
	case strings.HasSuffix(path, "/v1/models"), strings.Contains(path, "/v1/models/") && r.Method == http.MethodGet:
		v = s.list(id)
	case path == "/v1beta/models", strings.HasPrefix(path, "/v1beta/models/"):
		v = s.geminiList(id)
	case path == "/api/v0/models", strings.HasPrefix(path, "/api/v0/models/"):
		v = s.studioList(id)
	case path == "/api/tags":
		v = s.tags()
	case path == "/api/show":
		v = s.show(r)
	case path == "/props" && s.Product == LlamaCPP:
		v = s.props()
	}
	if v == nil {
		v = fields{"error": fields{"message": "no such route or model: " + path, "type": "not_found_error"}}
		if s.Product == Anthropic {
			v = anthropic{}.fault(nil, &wrong{status: http.StatusNotFound, reason: path})
		}
		writeJSON(w, http.StatusNotFound, v)
		return
	}
	writeJSON(w, http.StatusOK, v)
}

// pick is the one model with this id in a shape, or all of them in a list that
// wrap makes; nil if there is no such model.
func (s *Server) pick(id string, shape func(ModelInfo) fields, wrap func([]any) any) any {
	all := []any{}
	for _, m := range s.listed() {
		switch {
		case id == m.ID:
			return shape(m)
		case id == "":
			all = append(all, shape(m))
		}
	}
	if id != "" {
		return nil
	}
	return wrap(all)
}

func (s *Server) list(id string) any {
	shape := map[Product]func(ModelInfo) fields{
		AnyProduct: anyModel, OpenAI: openAIModel, VLLM: vllmModel, OpenRouter: routerModel, Anthropic: anthropicModel,
		LMStudio: openAIModel, LlamaCPP: openAIModel,
	}[s.Product]
	if shape == nil || s.Product == OpenRouter && id != "" {
		return nil
	}
	return s.pick(id, shape, func(all []any) any {
		switch s.Product {
		case Anthropic, AnyProduct:
			v := fields{"data": all, "has_more": false}
			if s.Product == AnyProduct {
				v["object"] = "list"
			}
			return v
		case OpenRouter:
			return fields{"data": all}
		}
		return fields{"object": "list", "data": all}
	})
}

func anyModel(m ModelInfo) fields {
	return fields{"id": m.ID, "object": "model", "type": "model", "display_name": m.name()}
}

func openAIModel(m ModelInfo) fields {
	return fields{"id": m.ID, "object": "model", "created": 1, "owned_by": "system"}
}

func vllmModel(m ModelInfo) fields {
	v := openAIModel(m)
	v["owned_by"], v["root"], v["parent"] = "vllm", m.ID, nil
	if m.Window > 0 {
		v["max_model_len"] = m.Window
	}
	return v
}

func (m ModelInfo) name() string {
	if m.Name != "" {
		return m.Name
	}
	return m.ID
}

func routerModel(m ModelInfo) fields {
	inputs, parameters := []string{"text"}, []string{"max_tokens", "temperature"}
	if m.Images {
		inputs = append(inputs, "image")
	}
	if !m.NoTools {
		parameters = append(parameters, "tools", "tool_choice")
	}
	if m.Thinks {
		parameters = append(parameters, "reasoning", "include_reasoning")
	}
	v := fields{"id": m.ID, "name": m.name(), "created": 1, "supported_parameters": parameters,
		"architecture": fields{"modality": strings.Join(inputs, "+") + "->text", "input_modalities": inputs, "output_modalities": []string{"text"}},
		"top_provider": fields{"context_length": nonzero(m.Window), "max_completion_tokens": nonzero(m.Output), "is_moderated": false}}
	if m.Window > 0 {
		v["context_length"] = m.Window
	}
	if p := m.Price; p != nil {
		v["pricing"] = fields{"prompt": perToken(p.Input), "completion": perToken(p.Output), "request": "0", "image": "0",
			"input_cache_read": perToken(p.CacheRead), "input_cache_write": perToken(p.CacheWrite)}
	}
	return v
}

func nonzero(n int) any {
	if n == 0 {
		return nil
	}
	return n
}

// perToken is a price in dollars per token, in decimal digits.
func perToken(micro int64) string {
	if micro == 0 {
		return "0"
	}
	return strings.TrimRight(fmt.Sprintf("0.%012d", micro), "0")
}

func anthropicModel(m ModelInfo) fields {
	is := func(b bool) fields { return fields{"supported": b} }
	return fields{"type": "model", "id": m.ID, "display_name": m.name(), "created_at": "2026-01-02T00:00:00Z", "lifecycle": "active",
		"max_input_tokens": nonzero(m.Window), "max_tokens": nonzero(m.Output),
		"capabilities": fields{"image_input": is(m.Images), "pdf_input": is(m.Images), "effort": is(m.Thinks),
			"thinking": fields{"supported": m.Thinks, "types": fields{"adaptive": is(m.Thinks), "enabled": is(false), "disabled": is(true)}}}}
}

func (s *Server) geminiList(id string) any {
	if s.Product != Gemini {
		return nil
	}
	return s.pick(id, func(m ModelInfo) fields {
		v := fields{"name": "models/" + m.ID, "displayName": m.name(), "version": "001", "supportedGenerationMethods": []string{"generateContent", "countTokens"}}
		if m.Window > 0 {
			v["inputTokenLimit"] = m.Window
		}
		if m.Output > 0 {
			v["outputTokenLimit"] = m.Output
		}
		if m.Thinks {
			v["thinking"] = true
		}
		return v
	}, func(all []any) any { return fields{"models": all} })
}

func (s *Server) studioList(id string) any {
	if s.Product != LMStudio {
		return nil
	}
	return s.pick(id, func(m ModelInfo) fields {
		v := fields{"id": m.ID, "object": "model", "type": "llm", "state": "loaded", "max_context_length": m.Window, "loaded_context_length": m.Window}
		if m.Images {
			v["type"] = "vlm"
		}
		if !m.NoTools {
			v["capabilities"] = []string{"tool_use"}
		}
		return v
	}, func(all []any) any { return fields{"object": "list", "data": all} })
}

func (s *Server) tags() any {
	if s.Product != Ollama && s.Product != AnyProduct {
		return nil
	}
	all := []any{}
	for _, m := range s.listed() {
		all = append(all, fields{"name": m.ID, "model": m.ID, "size": 1 << 30, "modified_at": "2026-01-02T03:04:05Z",
			"details": fields{"family": "test", "parameter_size": "8B", "quantization_level": "Q4_K_M"}})
	}
	return fields{"models": all}
}

func (s *Server) show(r *http.Request) any {
	if s.Product != Ollama && s.Product != AnyProduct {
		return nil
	}
	var ask struct{ Model, Name string }
	if json.NewDecoder(r.Body).Decode(&ask) != nil {
		return nil
	}
	all := s.listed()
	i := slices.IndexFunc(all, func(m ModelInfo) bool { return m.ID == ask.Model || m.ID == ask.Name })
	switch {
	case i >= 0:
	case s.Product == AnyProduct:
		i = 0 // it answers under any id
	default:
		return nil
	}
	m := all[i]
	able := []string{"completion"}
	for what, has := range map[string]bool{"tools": !m.NoTools, "vision": m.Images, "thinking": m.Thinks} {
		if has {
			able = append(able, what)
		}
	}
	slices.Sort(able)
	return fields{"capabilities": able, "details": fields{"family": "test", "parameter_size": "8B"},
		"model_info": fields{"general.architecture": "test", "test.context_length": m.Window}}
}

// props are those of a llama.cpp server, which serves one model.
func (s *Server) props() any {
	m := s.listed()[0]
	caps := fields{"supports_tools": !m.NoTools, "supports_tool_calls": !m.NoTools}
	return fields{"default_generation_settings": fields{"n_ctx": m.Window}, "total_slots": 1, "model_path": "/models/" + m.ID + ".gguf", "model_alias": m.ID,
		"modalities": fields{"vision": m.Images, "audio": false}, "chat_template": "{{ messages }}", "chat_template_caps": caps, "build_info": "b7000"}
}
