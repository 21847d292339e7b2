package probe

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// anthropicVersion goes with every request to that protocol; a caller may name
// another.
const anthropicVersion = "2023-06-01"

// An anthropicInfo is an object of /v1/models of Anthropic.
type anthropicInfo struct {
	ID           string `json:"id"`
	Name         string `json:"display_name"`
	Window       count  `json:"max_input_tokens"`
	Output       count  `json:"max_tokens"`
	Capabilities struct {
		Images   support            `json:"image_input"`
		Thinking support            `json:"thinking"`
		Effort   map[string]support `json:"effort"` // beside the levels there is a flag
	} `json:"capabilities"`
}

// A support says whether something is there. It is an object with a flag, or the
// flag alone.
type support Tri

func (s *support) UnmarshalJSON(data []byte) error {
	var object struct {
		Supported flag `json:"supported"`
	}
	if err := decode(data, &object); err == nil && object.Supported != flag(Unknown) {
		*s = support(object.Supported)
		return nil
	}
	return (*flag)(s).UnmarshalJSON(data)
}

// model leaves the tools unknown: every model of that protocol calls them, and the
// answer does not speak of it.
func (i anthropicInfo) model() Model {
	c := i.Capabilities
	m := Model{
		ID: i.ID, Name: i.Name, Window: int(i.Window), Output: int(i.Output),
		Images: Tri(c.Images), Thinks: Tri(c.Thinking),
	}
	if Tri(c.Effort["supported"]) == Yes {
		maps.DeleteFunc(c.Effort, func(_ string, s support) bool { return Tri(s) != Yes })
		m.Efforts = model.EffortsOf(slices.Collect(maps.Keys(c.Effort)))
	}
	return m
}

func (a *asker) anthropicModel(ctx context.Context, root, id string) (Model, error) {
	var info anthropicInfo
	if err := a.versioned().get(ctx, root+"/v1/models/"+url.PathEscape(id), &info); err != nil {
		return Model{}, err
	}
	if info.ID == "" {
		return Model{}, errShape
	}
	return info.model(), nil
}

func (a *asker) anthropicModels(ctx context.Context, root string) ([]Model, error) {
	var all []Model
	query := url.Values{"limit": {strconv.Itoa(pageSize)}}
	for range maxPages {
		var page struct {
			Data *[]anthropicInfo `json:"data"`
			More bool             `json:"has_more"`
			Last string           `json:"last_id"`
		}
		if err := a.versioned().get(ctx, root+"/v1/models?"+query.Encode(), &page); err != nil {
			return nil, err
		}
		if page.Data == nil {
			return nil, errShape
		}
		for _, info := range *page.Data {
			if info.ID != "" {
				all = append(all, info.model())
			}
		}
		if !page.More || page.Last == "" || page.Last == query.Get("after_id") {
			break
		}
		query.Set("after_id", page.Last)
	}
	return all, nil
}

// versioned returns an asker that names the version of the protocol.
func (a *asker) versioned() *asker {
	b := *a
	b.header = a.header.Clone()
	if b.header == nil {
		b.header = make(http.Header)
	}
	if b.header.Get("Anthropic-Version") == "" {
		b.header.Set("Anthropic-Version", anthropicVersion)
	}
	return &b
}

// A geminiInfo is a model of Gemini's interface.
type geminiInfo struct {
	Resource string   `json:"name"` // models/ID
	Name     string   `json:"displayName"`
	Window   count    `json:"inputTokenLimit"`
	Output   count    `json:"outputTokenLimit"`
	Methods  []string `json:"supportedGenerationMethods"`
	Thinking flag     `json:"thinking"`
}

// model leaves unknown what the answer does not speak of. Models that do not think
// have no flag at all, so that its absence says nothing.
func (i geminiInfo) model() Model {
	return Model{
		ID: strings.TrimPrefix(i.Resource, "models/"), Name: i.Name,
		Window: int(i.Window), Output: int(i.Output), Thinks: Tri(i.Thinking),
	}
}

func (a *asker) geminiModel(ctx context.Context, base, id string) (Model, error) {
	var info geminiInfo
	if err := a.get(ctx, base+"/models/"+url.PathEscape(strings.TrimPrefix(id, "models/")), &info); err != nil {
		return Model{}, err
	}
	if info.Resource == "" {
		return Model{}, errShape
	}
	return info.model(), nil
}

// geminiModels lists the models that answer messages.
func (a *asker) geminiModels(ctx context.Context, base string) ([]Model, error) {
	var all []Model
	query := url.Values{"pageSize": {strconv.Itoa(pageSize)}}
	for range maxPages {
		var page struct {
			Models *[]geminiInfo `json:"models"`
			Next   string        `json:"nextPageToken"`
		}
		if err := a.get(ctx, base+"/models?"+query.Encode(), &page); err != nil {
			return nil, err
		}
		if page.Models == nil {
			return nil, errShape
		}
		for _, info := range *page.Models {
			if info.Resource != "" && (info.Methods == nil || slices.Contains(info.Methods, "generateContent")) {
				all = append(all, info.model())
			}
		}
		if page.Next == "" || page.Next == query.Get("pageToken") {
			break
		}
		query.Set("pageToken", page.Next)
	}
	return all, nil
}
