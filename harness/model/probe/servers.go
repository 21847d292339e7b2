package probe

import (
	"cmp"
	"context"
	"encoding/json"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// OllamaWindow is the largest window that a model of Ollama is used with unless
// its own parameters or the user ask for more: the whole of it is taken from the
// memory of the machine as soon as the model is loaded.
const OllamaWindow = 32_768

const maxShown = 16 // models of Ollama whose details are asked for

// ollama lists the models of an Ollama server, and asks what each can do.
func (a *asker) ollama(ctx context.Context, root string) ([]Model, error) {
	var tags struct {
		Models *[]struct {
			Name string `json:"name"`
		} `json:"models"`
	}
	if err := a.get(ctx, root+"/api/tags", &tags); err != nil {
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
		wg.Go(func() {
			if m, err := a.ollamaModel(ctx, root, models[i].ID); err == nil {
				models[i] = m // each goroutine has its own slot
			}
		})
	}
	wg.Wait()
	return models, nil
}

// ollamaCompatible is ollama for use through the interface of OpenAI, in which no
// window can be set: but for one that the model's own parameters name, it is the
// server's secret.
func (a *asker) ollamaCompatible(ctx context.Context, root string) ([]Model, error) {
	models, err := a.ollama(ctx, root)
	for i := range models {
		if !models[i].fixed {
			models[i].Window = 0
		}
	}
	return models, err
}

// An ollamaInfo is the answer of /api/show.
type ollamaInfo struct {
	Parameters   string                     `json:"parameters"` // lines of a name and a value
	Capabilities []string                   `json:"capabilities"`
	Info         map[string]json.RawMessage `json:"model_info"`
	RemoteHost   string                     `json:"remote_host"` // of a model that runs elsewhere
	Thinking     struct {
		Values []json.RawMessage `json:"values"` // true and false, or words
	} `json:"thinking"`
}

// ollamaModel asks what a model of Ollama can do.
func (a *asker) ollamaModel(ctx context.Context, root, id string) (Model, error) {
	var info ollamaInfo
	if err := a.post(ctx, root+"/api/show", map[string]string{"model": id}, &info); err != nil {
		return Model{}, err
	}
	if info.Capabilities == nil && info.Info == nil {
		return Model{}, errShape
	}
	m := Model{
		ID:     id,
		Tools:  within(info.Capabilities, "tools"),
		Images: within(info.Capabilities, "vision"),
		Thinks: within(info.Capabilities, "thinking"),
	}
	var words []string
	for _, v := range info.Thinking.Values {
		words = append(words, strings.Trim(string(v), `"`))
	}
	m.Efforts = model.EffortsOf(words)
	m.Window, m.fixed = info.window()
	return m, nil
}

// window returns the window to use, and whether the model's own parameters name
// it. What the model could have is more than most machines hold.
func (i ollamaInfo) window() (tokens int, fixed bool) {
	for line := range strings.Lines(i.Parameters) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name == "num_ctx" {
			if n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 32); err == nil && n > 0 {
				return int(n), true
			}
		}
	}
	for key, value := range i.Info {
		var n count
		if strings.HasSuffix(key, ".context_length") && n.UnmarshalJSON(value) == nil && n > 0 {
			tokens = max(tokens, int(n))
		}
	}
	if i.RemoteHost != "" {
		return tokens, tokens > 0
	}
	return min(tokens, OllamaWindow), false
}

// lmStudio lists the models of an LM Studio server that can chat.
func (a *asker) lmStudio(ctx context.Context, root string) ([]Model, error) {
	var list struct {
		Data *[]struct {
			ID           string   `json:"id"`
			Type         string   `json:"type"`
			State        string   `json:"state"`
			Window       count    `json:"max_context_length"`
			Loaded       count    `json:"loaded_context_length"`
			Capabilities []string `json:"capabilities"`
		} `json:"data"`
	}
	if err := a.get(ctx, root+"/api/v0/models", &list); err != nil {
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
		models = append(models, Model{
			ID: m.ID, Window: int(cmp.Or(m.Loaded, m.Window)), loaded: m.State == "loaded", Images: tri(m.Type == "vlm"),
			Tools: within(m.Capabilities, "tool_use"),
		})
	}
	return models, nil
}

// llamaCPP returns the one model of a llama.cpp server.
func (a *asker) llamaCPP(ctx context.Context, root string) ([]Model, error) {
	var props struct {
		Settings *struct {
			Window count `json:"n_ctx"`
		} `json:"default_generation_settings"`
		Path       string `json:"model_path"`
		Alias      string `json:"model_alias"`
		Modalities struct {
			Vision flag `json:"vision"`
		} `json:"modalities"`
		Caps struct {
			Tools flag `json:"supports_tools"`
		} `json:"chat_template_caps"`
	}
	if err := a.get(ctx, root+"/props", &props); err != nil {
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
		ID: id, Window: int(props.Settings.Window), Images: Tri(props.Modalities.Vision),
		Tools: Tri(props.Caps.Tools), loaded: true,
	}}, nil
}

// preferred orders models by what makes them the better choice.
func preferred(a, b Model) int {
	first := func(a, b bool) int {
		if a == b {
			return 0
		}
		if a {
			return -1
		}
		return 1
	}
	return cmp.Or(first(a.Tools == Yes, b.Tools == Yes), first(a.loaded, b.loaded))
}
