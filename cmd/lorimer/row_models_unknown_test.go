//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// Row 201 in part (R-BILL-05): of a model that the catalog does not know no price is
// made up, over every protocol. It is unknown in the first message of a session, which
// says how to set it, and wherever models are looked at; it is never zero. What a turn
// used is told without a cost.
func TestRow201PriceNeverGuessed(t *testing.T) {
	t.Parallel()
	for _, p := range modeltest.Protocols() {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			m := modeltest.New(t, modeltest.Reply{Text: []string{"fine"}, Repeat: -1})
			e := newEditor(t)
			e.file(".config/lorimer/key", "key-of-the-house-1\n")
			// The address is none of this machine, where nothing has a price.
			e.file(configFile, fmt.Sprintf("model = \"house/brand-new\"\n[providers.house]\nkind = %q\nbase_url = %q\napi_key_file = \"key\"\n",
				p.Name, strings.Replace(p.URL(m), "127.0.0.1", "0.0.0.0", 1)))
			e.acp()
			s := e.open(nil)
			for range 2 {
				e.prompt(s, "hello")
			}
			path := e.home + "/" + profilesFile
			told := e.notices(s)
			if len(told) != 1 {
				t.Fatalf("the client was told %q, want one notice", told)
			}
			words := []string{"does not know the model house/brand-new", "assumes a window of 128000 tokens", "no price", "set window, price_input and price_output"}
			if p.Name == "ollama" { // its server says the window
				words = []string{"does not know the price of the model house/brand-new", "set price_input and price_output, or free"}
			}
			holds(t, "the notice", told[0], append(words, "under [models.\"house/brand-new\"] in "+path)...)
			if usage := e.usages(s); len(usage) == 0 || strings.Contains(usage, `"cost"`) {
				t.Errorf("what was used: %s, want it without a cost", usage)
			}
			e.leave()
			if got := m.Rejected(); len(got) > 0 {
				t.Errorf("rejected: %q", got)
			}
			e.priceless("house/brand-new")
		})
	}
}

// usages joins the updates of what a session has used, as they came.
func (e *editor) usages(session string) string {
	var all []string
	for _, f := range e.heard() {
		if strings.Contains(f.Raw, `"usage_update"`) && strings.Contains(f.Raw, session) {
			all = append(all, f.Raw)
		}
	}
	return strings.Join(all, "\n")
}

// priceless checks that the commands know no price of a model, for people and for
// programs.
func (e *editor) priceless(ref string) {
	e.t.Helper()
	for _, args := range [][]string{{"models", "show", ref}, {"models", "show", ref, "--json"}} {
		out := e.prints(args...)
		want := "price     unknown\n"
		if len(args) > 3 {
			want = `"price": null`
		}
		if !strings.Contains(out, want) {
			e.t.Errorf("lorimer %q prints %s, want %q in it", args, out, want)
		}
		lacks(e.t, "what is printed", out, "$0", "free\n", `"input": 0`)
	}
	provider, _, _ := strings.Cut(ref, "/")
	var list []struct {
		Model string
		Price json.RawMessage
	}
	if err := json.Unmarshal([]byte(e.prints("models", provider, "--json")), &list); err != nil {
		e.t.Fatal(err)
	}
	for _, l := range list {
		if l.Model == ref && string(l.Price) != "null" {
			e.t.Errorf("lorimer models has the price %s of %s, want null", l.Price, ref)
		}
	}
}

// Row 201: an alias of a model that is known has its price; what costs nothing is said
// to be free, not unknown, and unknown is not free.
func TestRow201AliasesAndFree(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	e.file(configFile, "[providers.work]\nbase_url = \"https://models.example.com/v1\"\napi_key_env = \"WORK_KEY\"\n")
	e.file(profilesFile, "[models.\"work/gift\"]\nfree = true\n[models.\"work/taken-back\"]\nfree = false\n[models.\"work/said\"]\nprice_input = 0\nprice_output = 1.5\n")
	price := func(ref string) string {
		for line := range strings.Lines(e.prints("models", "show", ref)) {
			if value, ok := strings.CutPrefix(line, "price "); ok {
				return strings.Join(strings.Fields(value), " ")
			}
		}
		return "none"
	}
	same := [][2]string{
		{"anthropic/claude-opus-4-5", "anthropic/claude-opus-4-5-20251101"},
		{"openai/gpt-4.1", "openai/gpt-4.1-2025-04-14"},
	}
	for _, pair := range same {
		if a, b := price(pair[0]), price(pair[1]); a != b || !strings.HasPrefix(a, "$") {
			t.Errorf("prices of %s and its alias %s = %q and %q, want one", pair[0], pair[1], a, b)
		}
	}
	path := e.home + "/" + profilesFile
	for ref, want := range map[string]string{
		"anthropic/claude-opus-99": "unknown", "openai/gpt-9": "unknown", "work/claude-opus-4-5": "unknown", "work/other": "unknown",
		"ollama/m": "unknown", "openrouter/nobody/nothing": "unknown",
		"work/gift": "free " + path + ":2", "work/taken-back": "unknown",
		"work/said": "$0 in, $1.5 out, $0 cached, $0 to cache, for a million tokens " + path + ":6",
		"offline":   "free the program",
	} {
		if got := price(ref); got != want {
			t.Errorf("price of %s = %q, want %q", ref, got, want)
		}
	}
}
