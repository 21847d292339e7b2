package probe

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/catalog"
)

// openAI lists the models of a server of that protocol. What is known of them
// depends on the product: the name of the provider tells which interface of its own
// is asked, and the shape of an entry which fields count.
func (a *asker) openAI(ctx context.Context, s Server) ([]Model, error) {
	own := func() ([]Model, error) { return nil, errShape }
	switch s.Provider {
	case "lmstudio":
		own = func() ([]Model, error) { return a.lmStudio(ctx, s.root()) }
	case "llamacpp":
		own = func() ([]Model, error) { return a.llamaCPP(ctx, s.root()) }
	case "xai":
		own = func() ([]Model, error) { return a.list(ctx, s.base()+"/language-models") }
	}
	if all, err := own(); err == nil || ctx.Err() != nil {
		return all, err
	}
	all, err := a.list(ctx, s.base()+"/models")
	if err != nil || len(all) == 0 || all[0].Window > 0 {
		return all, err
	}
	switch all[0].owner {
	case "llamacpp":
		own = func() ([]Model, error) { return a.llamaCPP(ctx, s.root()) }
	case "organization_owner": // LM Studio
		own = func() ([]Model, error) { return a.lmStudio(ctx, s.root()) }
	case "library": // Ollama
		own = func() ([]Model, error) { return a.ollamaCompatible(ctx, s.root()) }
	}
	if more, err := own(); err == nil {
		return more, nil
	}
	return all, nil
}

// list reads a list of models. Products wrap it in different ways: as data, as
// models, or not at all.
func (a *asker) list(ctx context.Context, address string) ([]Model, error) {
	var raw json.RawMessage
	if err := a.get(ctx, address, &raw); err != nil {
		return nil, err
	}
	return entries(raw)
}

func entries(raw []byte) ([]Model, error) {
	var items []json.RawMessage
	if bytes.HasPrefix(bytes.TrimSpace(raw), []byte("[")) {
		if err := decode(raw, &items); err != nil {
			return nil, errShape
		}
	} else {
		var list struct {
			Data   []json.RawMessage `json:"data"`
			Models []json.RawMessage `json:"models"`
		}
		if err := decode(raw, &list); err != nil {
			return nil, errShape
		}
		items = list.Data
		if items == nil {
			items = list.Models
		}
	}
	if items == nil {
		return nil, errShape
	}
	all := make([]Model, 0, len(items))
	for _, item := range items {
		var e entry
		if err := decode(item, &e); err == nil && e.ID != "" {
			all = append(all, e.model())
		}
	}
	return all, nil
}

// An entry is a model in a list of OpenAI's shape, with what different products
// add to it.
type entry struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`         // OpenRouter, Mistral
	Display string   `json:"display_name"` // Moonshot
	Owner   string   `json:"owned_by"`
	Aliases []string `json:"aliases"` // Mistral, xAI, llama.cpp

	MaxModelLen      count `json:"max_model_len"`         // vLLM
	ContextLength    count `json:"context_length"`        // OpenRouter, Moonshot, Together, xAI
	ContextWindow    count `json:"context_window"`        // Groq
	MaxContextLength count `json:"max_context_length"`    // Mistral
	MaxCompletion    count `json:"max_completion_tokens"` // Groq
	Top              struct {
		MaxCompletion count `json:"max_completion_tokens"`
	} `json:"top_provider"` // OpenRouter
	Meta struct {
		Window count `json:"n_ctx"` // of one slot; n_ctx_train is what the model could have
	} `json:"meta"` // llama.cpp

	Parameters   []string `json:"supported_parameters"` // OpenRouter
	Architecture struct {
		Input []string `json:"input_modalities"`
	} `json:"architecture"` // OpenRouter
	Input        []string        `json:"input_modalities"` // xAI
	Capabilities json.RawMessage `json:"capabilities"`
	ImageIn      flag            `json:"supports_image_in"` // Moonshot
	Reasoning    flag            `json:"supports_reasoning"`

	Pricing struct {
		Prompt     decimal `json:"prompt"`
		Completion decimal `json:"completion"`
		Read       decimal `json:"input_cache_read"`
		Write      decimal `json:"input_cache_write"`
	} `json:"pricing"` // OpenRouter: dollars for a token
	Prompt     decimal `json:"prompt_text_token_price"` // xAI: cents for a hundred million tokens
	Completion decimal `json:"completion_text_token_price"`
	Cached     decimal `json:"cached_prompt_text_token_price"`
}

func (e entry) model() Model {
	m := Model{
		ID: e.ID, Name: cmp.Or(e.Display, e.Name), aliases: e.Aliases, owner: e.Owner,
		Window: int(cmp.Or(e.MaxModelLen, e.Meta.Window, e.ContextLength, e.ContextWindow, e.MaxContextLength)),
		Output: int(cmp.Or(e.Top.MaxCompletion, e.MaxCompletion)),
		Tools:  within(e.Parameters, "tools"),
		Thinks: within(e.Parameters, "reasoning"),
		Images: within(e.Architecture.Input, "image"),
		Price:  e.price(),
	}
	if m.Name == e.ID {
		m.Name = ""
	}
	m.Images = cmp.Or(m.Images, within(e.Input, "image"), Tri(e.ImageIn))
	m.Thinks = cmp.Or(m.Thinks, Tri(e.Reasoning))
	m.capabilities(e.Capabilities)
	return m
}

// capabilities reads what some products say in an object of that name.
func (m *Model) capabilities(raw json.RawMessage) {
	var c struct {
		Tools     flag      `json:"function_calling"` // Mistral
		Images    flag      `json:"vision"`
		Reasoning flag      `json:"reasoning"`
		Efforts   *[]string `json:"reasoning_effort"` // xAI; empty for a model that has none to set
	}
	if len(raw) == 0 || decode(raw, &c) != nil {
		return
	}
	m.Tools = cmp.Or(m.Tools, Tri(c.Tools))
	m.Images = cmp.Or(m.Images, Tri(c.Images))
	m.Thinks = cmp.Or(m.Thinks, Tri(c.Reasoning))
	if c.Efforts != nil {
		m.Efforts = model.EffortsOf(*c.Efforts)
		m.Thinks = tri(len(m.Efforts) > 0)
	}
}

// price reads the two shapes whose units are known. Others are left alone: a field
// of the same name means dollars for a token here and for a million tokens there.
func (e entry) price() *catalog.Price {
	if p := e.Pricing; p.Prompt != "" {
		return price(p.Prompt, p.Completion, p.Read, p.Write, 12)
	}
	return price(e.Prompt, e.Completion, e.Cached, "", 2)
}

// pick finds a model by its id or an alias; a path before the id and case do not
// count.
func pick(all []Model, id string) (Model, bool) {
	same := []func(Model) bool{
		func(m Model) bool { return m.ID == id },
		func(m Model) bool { return slices.Contains(m.aliases, id) },
		func(m Model) bool { return strings.EqualFold(strings.TrimPrefix(m.ID, "models/"), id) },
	}
	for _, f := range same {
		if i := slices.IndexFunc(all, f); i >= 0 {
			return all[i], true
		}
	}
	return Model{}, false
}
