// Gen writes the snapshot of the model catalog to the file it is given.
//
// It merges four sources, none of which knows everything:
//
//   - catwalk (Go module charm.land/catwalk): which models there are, their
//     windows, pictures, levels of reasoning; all of them call tools
//   - llm-zoo (npm): newer models, the most tokens of one answer, which models
//     cannot call tools, which are no longer served
//   - genai-prices (npm): prices, with cached tokens told apart and changes dated
//   - facts.json, by hand from what vendors publish: what none of them says, or
//     says wrong; never a price
//
// How they are merged is said where it is done. On standard error it tells of
// prices that the sources do not agree on. The same sources give the same bytes.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"log"
	"maps"
	"os"
	"os/exec"
	"slices"

	"charm.land/catwalk/pkg/catwalk"
	"charm.land/catwalk/pkg/embedded"
)

// maxBytes is the most that the snapshot may add to the program.
const maxBytes = 120_000

// A provider is one that is built in, and its names in the sources; the sources
// do not know every provider.
type provider struct {
	name                 string
	catwalk, zoo, prices string
	maker                string // of its models at OpenRouter
}

func providers() []provider {
	return []provider{
		{"anthropic", "anthropic", "anthropic", "anthropic", "anthropic"},
		{"cerebras", "cerebras", "", "cerebras", ""},
		{"deepseek", "deepseek", "deepseek", "deepseek", "deepseek"},
		{"gemini", "gemini", "google", "google", "google"},
		{"groq", "groq", "", "groq", ""},
		{"mistral", "", "", "mistral", "mistralai"},
		{"moonshot", "moonshot", "moonshot", "moonshotai", "moonshotai"},
		{"openai", "openai", "openai", "openai", "openai"},
		{"openrouter", "openrouter", "", "openrouter", ""},
		{"xai", "xai", "xai", "x-ai", "x-ai"},
		{"zai", "zai", "glm", "zai", "z-ai"},
	}
}

// A model is one of the snapshot. Prices are in micro-dollars for a million
// tokens: input, output, read from a cache, written to one.
type model struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Window  int       `json:"window"`
	Output  int       `json:"output,omitempty"`
	Images  bool      `json:"images,omitempty"`
	NoTools bool      `json:"no_tools,omitempty"`
	Thinks  bool      `json:"thinks,omitempty"`
	Efforts string    `json:"efforts,omitempty"` // parted by spaces; "" of a model that thinks is low medium high
	Price   *[4]int64 `json:"price,omitempty"`
	Aliases []string  `json:"aliases,omitempty"`
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: gen FILE")
	}
	if err := run(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func run(file string) error {
	s, err := read()
	if err != nil {
		return err
	}
	snapshot := make(map[string][]model)
	for _, p := range providers() {
		list := s.models
		if p.name == "openrouter" {
			list = s.resold
		}
		models := list(p)
		for _, m := range models {
			if err := m.check(); err != nil {
				return fmt.Errorf("%s/%s: %w", p.name, m.ID, err)
			}
		}
		snapshot[p.name] = models
	}
	if names := s.unused(); len(names) > 0 {
		return fmt.Errorf("facts.json: no source knows %q, and no window is given", names)
	}
	out, err := encode(snapshot)
	if err != nil {
		return err
	}
	if len(out) > maxBytes {
		return fmt.Errorf("the snapshot has %d bytes, more than %d", len(out), maxBytes)
	}
	return os.WriteFile(file, out, 0o644)
}

// read brings the sources together.
func read() (*sources, error) {
	s := &sources{catwalk: make(map[string][]catwalk.Model), used: make(map[string]bool)}
	for _, p := range embedded.GetAll() {
		s.catwalk[string(p.ID)] = p.Models
	}
	data, err := os.ReadFile("facts.json")
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&s.facts); err != nil {
		return nil, fmt.Errorf("facts.json: %w", err)
	}
	args := []string{"sources.mjs"}
	for _, p := range providers() {
		args = append(args, p.prices)
	}
	cmd := exec.Command("node", args...)
	cmd.Stderr = os.Stderr
	if data, err = cmd.Output(); err != nil {
		return nil, fmt.Errorf("reading the npm packages (run npm ci first): %w", err)
	}
	if err := json.Unmarshal(data, &s.npm); err != nil {
		return nil, fmt.Errorf("reading the npm packages: %w", err)
	}
	return s, nil
}

// encode writes a model on each line, so that a change of one is a line in a diff.
func encode(snapshot map[string][]model) ([]byte, error) {
	var b bytes.Buffer
	for i, name := range slices.Sorted(maps.Keys(snapshot)) {
		b.WriteString([]string{",\n", "{\n"}[min(1, max(0, 1-i))])
		fmt.Fprintf(&b, "%q: [", name)
		models := snapshot[name]
		slices.SortFunc(models, func(a, b model) int { return cmp.Compare(a.ID, b.ID) })
		for j, m := range models {
			if j > 0 {
				b.WriteByte(',')
			}
			b.WriteByte('\n')
			line, err := json.Marshal(m)
			if err != nil {
				return nil, err
			}
			b.Write(line)
		}
		b.WriteString("\n]")
	}
	b.WriteString("\n}\n")
	return b.Bytes(), nil
}
