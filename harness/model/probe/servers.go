package probe

import (
	"context"
	"encoding/json"
	"path"
	"slices"
	"strings"
	"sync"
)

// ollama lists the models of an Ollama server, and asks what each can do.
func (c *client) ollama(ctx context.Context, base string) ([]Model, error) {
	var tags struct {
		Models *[]struct {
			Name  string `json:"name"`
			Model string `json:"model"`
		} `json:"models"`
	}
	if err := c.ask(ctx, base+"/api/tags", "", &tags); err != nil {
		return nil, err
	}
	if tags.Models == nil {
		return nil, errShape
	}
	var models []Model
	for _, m := range *tags.Models {
		if m.Name == "" {
			return nil, errShape
		}
		models = append(models, Model{ID: m.Name})
	}
	var wg sync.WaitGroup
	for i := range models[:min(len(models), maxShown)] {
		wg.Go(func() { c.ollamaModel(ctx, base, &models[i]) })
	}
	wg.Wait()
	return models, nil
}

// ollamaModel fills in what Ollama says of a model. Without an answer the model
// counts as one without tools.
func (c *client) ollamaModel(ctx context.Context, base string, m *Model) {
	body, err := json.Marshal(map[string]string{"model": m.ID})
	if err != nil {
		return
	}
	var show struct {
		Capabilities []string       `json:"capabilities"`
		Info         map[string]any `json:"model_info"`
	}
	if err := c.ask(ctx, base+"/api/show", string(body), &show); err != nil {
		return
	}
	m.Tools = slices.Contains(show.Capabilities, "tools")
	m.Images = slices.Contains(show.Capabilities, "vision")
	for key, value := range show.Info {
		if n, ok := value.(float64); ok && strings.HasSuffix(key, ".context_length") {
			m.Window = int(n)
		}
	}
}

// lmStudio lists the models of an LM Studio server that can chat.
func (c *client) lmStudio(ctx context.Context, base string) ([]Model, error) {
	var list struct {
		Data *[]struct {
			ID           string   `json:"id"`
			Type         string   `json:"type"`
			State        string   `json:"state"`
			Window       int      `json:"max_context_length"`
			Loaded       int      `json:"loaded_context_length"`
			Capabilities []string `json:"capabilities"`
		} `json:"data"`
	}
	if err := c.ask(ctx, base+"/api/v0/models", "", &list); err != nil {
		return nil, err
	}
	if list.Data == nil {
		return nil, errShape
	}
	var models []Model
	for _, m := range *list.Data {
		if m.ID == "" || m.Type == "" {
			return nil, errShape
		}
		if m.Type != "llm" && m.Type != "vlm" {
			continue
		}
		window := m.Window
		if m.Loaded > 0 {
			window = m.Loaded
		}
		models = append(models, Model{
			ID: m.ID, Window: window, loaded: m.State == "loaded", Images: m.Type == "vlm",
			Tools: slices.Contains(m.Capabilities, "tool_use"),
		})
	}
	return models, nil
}

// llamaCPP returns the one model of a llama.cpp server. One that says nothing
// of tools is taken to call them.
func (c *client) llamaCPP(ctx context.Context, base string) ([]Model, error) {
	var props struct {
		Settings *struct {
			Window int `json:"n_ctx"`
		} `json:"default_generation_settings"`
		Path       string `json:"model_path"`
		Alias      string `json:"model_alias"`
		Modalities struct {
			Vision bool `json:"vision"`
		} `json:"modalities"`
		Caps struct {
			Tools *bool `json:"supports_tools"`
		} `json:"chat_template_caps"`
	}
	if err := c.ask(ctx, base+"/props", "", &props); err != nil {
		return nil, err
	}
	if props.Settings == nil || props.Path == "" && props.Alias == "" {
		return nil, errShape
	}
	id := props.Alias
	if id == "" {
		id = path.Base(strings.ReplaceAll(props.Path, `\`, "/"))
	}
	return []Model{{
		ID: id, Window: props.Settings.Window, Images: props.Modalities.Vision, loaded: true,
		Tools: props.Caps.Tools == nil || *props.Caps.Tools,
	}}, nil
}
