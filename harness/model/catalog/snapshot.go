package catalog

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/lorimer-dev/lorimer/harness/model"
)

//go:generate go -C gen run . ../models.json

//go:embed models.json
var modelsJSON []byte

// An entry is a model in the snapshot.
type entry struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Window  int       `json:"window"`
	Output  int       `json:"output"`
	Images  bool      `json:"images"`
	NoTools bool      `json:"no_tools"`
	Thinks  bool      `json:"thinks"`
	Efforts string    `json:"efforts"` // parted by spaces
	Price   *[4]int64 `json:"price"`   // input, output, read from a cache, written to one
	Aliases []string  `json:"aliases"`
}

// models are those of a provider.
type models struct {
	list []Model        // by id
	ids  map[string]int // ids and aliases in lower case, to places in list
}

// snapshot takes the file apart once, and the models of a provider when they are
// first asked for: most questions are about one, and half of the file is
// OpenRouter's. It is part of the program, so that a mistake in it is one of ours.
var snapshot = sync.OnceValue(func() map[string]func() *models { return open(modelsJSON) })

func open(file []byte) map[string]func() *models {
	var providers map[string]json.RawMessage
	if err := json.Unmarshal(file, &providers); err != nil {
		panic(fmt.Sprintf("reading the snapshot of models: %v", err))
	}
	all := make(map[string]func() *models, len(providers))
	for name, data := range providers {
		all[name] = sync.OnceValue(func() *models { return read(name, data) })
	}
	return all
}

func read(provider string, data []byte) *models {
	var entries []entry
	if err := json.Unmarshal(data, &entries); err != nil {
		panic(fmt.Sprintf("reading the models of %s: %v", provider, err))
	}
	m := &models{list: make([]Model, len(entries)), ids: make(map[string]int, len(entries))}
	for i, e := range entries {
		m.list[i] = e.model(provider)
		m.ids[strings.ToLower(e.ID)] = i
		for _, alias := range e.Aliases {
			m.ids[strings.ToLower(alias)] = i
		}
	}
	return m
}

// of returns the models of a provider, nil if it is not known.
func of(provider string) *models {
	if read, ok := snapshot()[provider]; ok {
		return read()
	}
	return nil
}

func (e entry) model(provider string) Model {
	m := Model{
		Provider: provider, ID: e.ID, Name: e.Name, Window: e.Window, Output: e.Output,
		Images: e.Images, NoTools: e.NoTools, Thinks: e.Thinks, Efforts: efforts(e.Efforts), Aliases: e.Aliases,
	}
	if p := e.Price; p != nil {
		m.Price = &Price{Input: p[0], Output: p[1], CacheRead: p[2], CacheWrite: p[3]}
	}
	return m
}

// efforts reads a list of efforts; an empty one is nil.
func efforts(list string) []model.Effort {
	var all []model.Effort
	for e := range strings.FieldsSeq(list) {
		all = append(all, model.Effort(e))
	}
	return all
}

// all returns the models by their ids; there are none of a provider that is not
// known.
func (m *models) all() []Model {
	if m == nil {
		return nil
	}
	return m.list
}

// find finds a model by its id or an alias, as it is or without what makes it a
// version of another: a whole date, as Anthropic and OpenAI write it, or "latest".
// Nothing else is taken off. What follows an id names another model, at another
// price, and so does a shorter date: mistral-large-2411 is not mistral-large-2512.
func (m *models) find(id string) (Model, bool) {
	if m == nil {
		return Model{}, false
	}
	id = strings.TrimPrefix(strings.ToLower(id), "models/") // as Gemini writes it
	i, ok := m.ids[id]
	if !ok {
		i, ok = m.ids[unversioned(id)]
	}
	if !ok {
		return Model{}, false
	}
	return m.list[i], true
}

// unversioned returns id without -YYYYMMDD, -YYYY-MM-DD or -latest at its end.
func unversioned(id string) string {
	if base, ok := strings.CutSuffix(id, "-latest"); ok {
		return base
	}
	for _, form := range []string{"-YYYYMMDD", "-YYYY-MM-DD"} {
		if n := len(id) - len(form); n > 0 && isDate(id[n:], form) {
			return id[:n]
		}
	}
	return id
}

// isDate reports whether s is a date of this century in the form, near enough to
// tell it from other numbers.
func isDate(s, form string) bool {
	var month, day int
	for i := range len(form) {
		digit := int(s[i] - '0')
		switch {
		case form[i] == '-':
			if s[i] != '-' {
				return false
			}
			continue
		case s[i] < '0' || s[i] > '9':
			return false
		case form[i] == 'M':
			month = month*10 + digit
		case form[i] == 'D':
			day = day*10 + digit
		}
	}
	return strings.HasPrefix(s, "-20") && month >= 1 && month <= 12 && day >= 1 && day <= 31
}
