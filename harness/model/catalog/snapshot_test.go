package catalog

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// TestSnapshot checks that what the generator wrote can be true.
func TestSnapshot(t *testing.T) {
	if n := len(modelsJSON); n > 120_000 {
		t.Errorf("the snapshot has %d bytes", n)
	}
	known := model.Efforts()
	for provider := range snapshot() {
		models := of(provider)
		if !slices.IsSortedFunc(models.list, func(a, b Model) int { return cmp.Compare(a.ID, b.ID) }) {
			t.Errorf("%s: models are not sorted by their ids", provider)
		}
		names := make(map[string]bool)
		for _, m := range models.list {
			for _, name := range append([]string{m.ID}, m.Aliases...) {
				if name = strings.ToLower(name); names[name] {
					t.Errorf("%s/%s: %q names two models", provider, m.ID, name)
				}
				names[name] = true
			}
			if m.Name == "" || m.Window < 4096 || m.Output < 0 || m.Output > m.Window {
				t.Errorf("%s/%s: name %q, window %d, output %d", provider, m.ID, m.Name, m.Window, m.Output)
			}
			rank := func(a, b model.Effort) int { return cmp.Compare(slices.Index(known, a), slices.Index(known, b)) }
			for _, e := range m.Efforts {
				if !slices.Contains(known, e) || !m.Thinks {
					t.Errorf("%s/%s: effort %q, thinks %v", provider, m.ID, e, m.Thinks)
				}
			}
			if !slices.IsSortedFunc(m.Efforts, rank) {
				t.Errorf("%s/%s: efforts %v are not in their order", provider, m.ID, m.Efforts)
			}
			checkPrice(t, m)
		}
	}
}

func checkPrice(t *testing.T, m Model) {
	t.Helper()
	switch p := m.Price; {
	case p == nil:
	case *p == Price{}:
		if !strings.HasSuffix(m.ID, ":free") {
			t.Errorf("%s/%s: free", m.Provider, m.ID)
		}
	case p.Input <= 0, p.Output < p.Input,
		p.CacheRead < 0 || p.CacheRead >= p.Input,
		p.CacheWrite != 0 && p.CacheWrite < p.Input,
		p.CacheWrite > p.Output:
		t.Errorf("%s/%s: price %+v", m.Provider, m.ID, *p)
	}
}

// TestCachePrices: vendors whose caches cost and save have prices for both.
func TestCachePrices(t *testing.T) {
	for _, m := range Models("anthropic") {
		if p := m.Price; p == nil || p.CacheRead == 0 || p.CacheWrite != p.Input*5/4 {
			t.Errorf("%s: price %+v", m.ID, p)
		}
	}
	for _, id := range []string{"gpt-5.6-sol", "gpt-5.6-terra", "gpt-5.6-luna", "gpt-6-astra", "gpt-6-sol", "gpt-6-luna"} {
		m, _ := Find("openai", id)
		if p := m.Price; p == nil || p.CacheRead == 0 || p.CacheWrite != p.Input*5/4 {
			t.Errorf("%s: price %+v", id, p)
		}
	}
}

// TestFamilies checks that the file has no entry that can never count, and that a
// family does not contradict the models of the snapshot where that would make
// requests fail: a window that is too large, tools that are not there.
func TestFamilies(t *testing.T) {
	seen := make(map[string]bool)
	for _, f := range families() {
		if seen[f.Prefix] || f.Window < 4096 || f.Efforts != "" && !f.Thinks || strings.ToLower(f.Prefix) != f.Prefix {
			t.Errorf("%q: given twice, in capitals, or odd: %+v", f.Prefix, f)
		}
		seen[f.Prefix] = true
		if got := lookup(f.Prefix); got != f {
			t.Errorf("%q is of the family %q", f.Prefix, got.Prefix)
		}
	}
	for _, provider := range makers() {
		for _, m := range Models(provider.provider) {
			f := lookup(m.ID)
			if f.Prefix == "" || f.Window > m.Window*21/20 || f.NoTools != m.NoTools || f.Images && !m.Images {
				t.Errorf("%s/%s is of the family %+v, but is %+v", m.Provider, m.ID, f, m)
			}
		}
	}
}

// BenchmarkFirst is what the first question costs: one about a model of a maker, one
// about a model of OpenRouter, which has the most, and one that nobody can answer,
// for which all makers are looked through.
func BenchmarkFirst(b *testing.B) {
	for name, providers := range map[string][]string{
		"anthropic": {"anthropic"}, "openrouter": {"openrouter"},
		"nobody": {"anthropic", "openai", "gemini", "deepseek", "mistral", "xai", "moonshot", "zai"},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				all := open(modelsJSON)
				for _, p := range providers {
					if len(all[p]().list) == 0 {
						b.Fatalf("no models of %s", p)
					}
				}
			}
		})
	}
}
