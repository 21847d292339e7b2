package catalog_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/catalog"
)

// toMax are the efforts of models that know the strongest.
func toMax() []model.Effort {
	return []model.Effort{model.EffortLow, model.EffortMedium, model.EffortHigh, model.EffortXHigh, model.EffortMax}
}

func TestFind(t *testing.T) {
	tests := []struct {
		name, provider, id string
		want               string // the id that is found; "" is none
	}{
		{"exact", "anthropic", "claude-sonnet-5", "claude-sonnet-5"},
		{"in capitals", "openai", "GPT-5.2", "gpt-5.2"},
		{"dated like Anthropic", "anthropic", "claude-sonnet-5-20260901", "claude-sonnet-5"},
		{"dated like OpenAI", "openai", "gpt-5.2-2026-01-01", "gpt-5.2"},
		{"latest", "anthropic", "claude-opus-5-5-latest", "claude-opus-5-5"},
		{"a version with a price of its own", "openai", "gpt-4o-2024-05-13", "gpt-4o-2024-05-13"},
		{"an alias", "mistral", "mistral-large-latest", "mistral-large-2512"},
		{"an alias of a maker", "openai", "gpt-5.6", "gpt-5.6-sol"},
		{"a resource of Gemini", "gemini", "models/gemini-3.6-flash", "gemini-3.6-flash"},
		{"of a reseller", "openrouter", "anthropic/claude-sonnet-5", "anthropic/claude-sonnet-5"},
		{"a maker in the id", "groq", "moonshotai/kimi-k2-instruct-0905", "moonshotai/kimi-k2-instruct-0905"},
		{"resold, only its maker is known", "openrouter", "openai/gpt-6-astra", "openai/gpt-6-astra"},
		{"resold in a variant", "openrouter", "anthropic/claude-opus-4.8:nitro", "anthropic/claude-opus-4.8:nitro"},

		{"another model", "openai", "gpt-5.2-mini", ""},
		{"a shorter date", "mistral", "mistral-large-2411", ""},
		{"no month", "openai", "gpt-5.2-2026-13-01", ""},
		{"no day", "anthropic", "claude-sonnet-5-20260900", ""},
		{"another century", "anthropic", "claude-sonnet-5-19990101", ""},
		{"a number", "anthropic", "claude-sonnet-5-1", ""},
		{"a date alone", "anthropic", "-20260901", ""},
		{"nothing", "anthropic", "", ""},
		{"of another maker", "openai", "claude-sonnet-5", ""},
		{"a provider that nobody knows", "acme", "claude-sonnet-5", ""},
		{"resold, nobody knows it", "openrouter", "acme/gpt-6-astra", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := catalog.Find(tt.provider, tt.id)
			if ok != (tt.want != "") || got.ID != tt.want {
				t.Errorf("Find(%q, %q) = %q, %v, want %q", tt.provider, tt.id, got.ID, ok, tt.want)
			}
			if ok && got.Provider != tt.provider {
				t.Errorf("provider = %q, want %q", got.Provider, tt.provider)
			}
		})
	}
}

func TestPrice(t *testing.T) {
	tests := []struct {
		name, provider, id string
		want               *catalog.Price
	}{
		{"reads and writes", "anthropic", "claude-opus-5-5", &catalog.Price{Input: 4_000_000, Output: 20_000_000, CacheRead: 200_000, CacheWrite: 5_000_000}},
		{"an alias has the price of its model", "mistral", "mistral-large-latest", &catalog.Price{Input: 500_000, Output: 1_500_000, CacheRead: 50_000}},
		{"so has a dated version", "openai", "gpt-5.2-2026-01-01", &catalog.Price{Input: 1_750_000, Output: 14_000_000, CacheRead: 175_000}},
		{"an older version was dearer", "openai", "gpt-4o-2024-05-13", &catalog.Price{Input: 5_000_000, Output: 15_000_000}},
		{"what is free says so", "openrouter", "openai/gpt-oss-20b:free", &catalog.Price{}},
		{"a reseller's price is not the maker's", "openrouter", "openai/gpt-6-astra", nil},
		{"sources differ", "openrouter", "z-ai/glm-5.2", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, ok := catalog.Find(tt.provider, tt.id)
			if !ok {
				t.Fatalf("Find(%q, %q) finds nothing", tt.provider, tt.id)
			}
			if diff := cmp.Diff(tt.want, m.Price); diff != "" {
				t.Errorf("price (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDescribe(t *testing.T) {
	tests := []struct {
		name, provider, id string
		local              bool
		want               model.Descriptor
	}{
		{"of the snapshot", "anthropic", "claude-sonnet-4-5-20250929", false,
			model.Descriptor{Name: "Claude Sonnet 4.5", Window: 200000, Output: 64000, Images: true, Thinks: true}},
		{"with efforts", "openai", "gpt-6-astra", false,
			model.Descriptor{Name: "GPT-6 Astra", Window: 1050000, Output: 128000, Images: true, Thinks: true, Efforts: toMax()}},
		{"of a server in its provider's place", "anthropic", "claude-opus-5-5", true,
			model.Descriptor{Name: "Claude Opus 5.5", Window: 1000000, Output: 128000, Images: true, Thinks: true, Efforts: toMax()}},
		{"by its maker", "acme", "anthropic/Claude-Sonnet-4.5", false,
			model.Descriptor{Name: "Claude Sonnet 4.5", Window: 200000, Output: 64000, Images: true, Thinks: true}},
		{"by its maker through a gateway on this machine", "gateway", "gpt-4.1", true,
			model.Descriptor{Name: "GPT-4.1", Window: 1000000, Output: 32768, Images: true}},
		{"open weights on this machine", "vllm", "deepseek-ai/DeepSeek-V4-Pro", true,
			model.Descriptor{Name: "DeepSeek-V4-Pro", Window: 8192, Assumed: true, Output: 393216, Thinks: true, Efforts: []model.Effort{model.EffortHigh, model.EffortMax}}},
		{"by its family", "anthropic", "claude-sonnet-5-9", false,
			model.Descriptor{Window: 1000000, Images: true, Thinks: true, Efforts: toMax()}},
		{"by the longer beginning", "openai", "gpt-5.2-chat-latest", false, model.Descriptor{Window: 128000, Images: true}},
		{"a family on this machine", "ollama", "gemma3:4b", true, model.Descriptor{Window: 8192, Assumed: true, Images: true, NoTools: true}},
		{"a family of a vendor through a gateway on this machine", "gateway", "gpt-5.2-mini", true,
			model.Descriptor{Window: 400000, Images: true, Thinks: true, Efforts: []model.Effort{model.EffortLow, model.EffortMedium, model.EffortHigh, model.EffortXHigh}}},
		{"nobody knows it", "acme", "something-new", false, model.Descriptor{Window: 128000, Assumed: true}},
		{"nobody knows it on this machine", "ollama", "something-new", true, model.Descriptor{Window: 8192, Assumed: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.want.Provider, tt.want.ID = tt.provider, tt.id
			if diff := cmp.Diff(tt.want, catalog.Describe(tt.provider, tt.id, tt.local)); diff != "" {
				t.Errorf("Describe (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNoTools: models that only look like ones to talk to are not sent tools.
func TestNoTools(t *testing.T) {
	for _, tt := range []struct {
		provider, ids string
		want          bool
	}{
		{"openai", "text-embedding-3-large o1-mini o1-preview gpt-3.5-turbo-instruct o3-deep-research gpt-image-1 chatgpt-4o-latest whisper-1", true},
		{"gemini", "gemini-embedding-001 gemma-3-27b-it gemini-2.5-flash-image imagen-4.0", true},
		{"mistral", "mistral-embed mistral-ocr-latest codestral-embed-2505", true},
		{"ollama", "llama3:8b llama2 phi4 gemma2:9b codellama:13b nomic-embed-text qwen2.5-vl:7b", true},
		{"openai", "gpt-4o gpt-4o-mini o3 o3-mini o4-mini gpt-5.2 gpt-5.2-mini gpt-3.5-turbo", false},
		{"mistral", "mistral-large-latest mistral-small-latest codestral-latest devstral-latest", false},
		{"ollama", "llama3.1:8b llama3.2 phi4-mini qwen3:8b gpt-oss:20b gemma4 mistral-nemo", false},
	} {
		for id := range strings.FieldsSeq(tt.ids) {
			if got := catalog.Describe(tt.provider, id, false).NoTools; got != tt.want {
				t.Errorf("%s/%s: NoTools = %v, want %v", tt.provider, id, got, tt.want)
			}
		}
	}
}

func TestModels(t *testing.T) {
	got := catalog.Models("deepseek")
	if len(got) == 0 {
		t.Fatal("no models of deepseek")
	}
	got[0].ID = "changed"
	if again := catalog.Models("deepseek"); again[0].ID == "changed" {
		t.Error("a change of the list is a change of the catalog")
	}
	if got := catalog.Models("acme"); got != nil {
		t.Errorf("models of a provider that nobody knows: %v", got)
	}
}

// FuzzFind: an answer is of the provider asked for, whatever the id, and a version
// by rule is never another model: what follows the id is a date or latest.
func FuzzFind(f *testing.F) {
	for _, id := range []string{"gpt-5.2", "gpt-5.2-2026-01-01", "claude-sonnet-5-20260901", "x-latest", "-latest", "a/b:c", "models/", "İ-2026-01-01"} {
		f.Add("openai", id)
		f.Add("openrouter", id)
	}
	version := regexp.MustCompile(`^(-latest|-20\d{6}|-20\d\d-\d\d-\d\d)?$`)
	f.Fuzz(func(t *testing.T, provider, id string) {
		m, ok := catalog.Find(provider, id)
		if ok && (m.Provider != provider || m.Window <= 0) {
			t.Errorf("Find(%q, %q) = %+v", provider, id, m)
		}
		asked := strings.TrimPrefix(strings.ToLower(id), "models/")
		if ok && !slices.ContainsFunc(append([]string{m.ID}, m.Aliases...), func(name string) bool {
			rest, begins := strings.CutPrefix(asked, strings.TrimPrefix(strings.ToLower(name), "models/"))
			return begins && version.MatchString(rest)
		}) {
			t.Errorf("Find(%q, %q) is the other model %s", provider, id, m.ID)
		}
		if d := catalog.Describe(provider, id, true); d.Window <= 0 || d.Provider != provider || d.ID != id {
			t.Errorf("Describe(%q, %q) = %+v", provider, id, d)
		}
	})
}

func BenchmarkFind(b *testing.B) {
	for _, id := range []string{"claude-sonnet-5", "claude-sonnet-5-20260901", "claude-sonnet-9"} {
		b.Run(id, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				catalog.Find("anthropic", id)
			}
		})
	}
}
