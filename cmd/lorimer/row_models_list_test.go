//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// A listedModel is what programs are told of a model, as far as tests look at it.
type listedModel struct {
	Model   string
	Window  int
	Assumed bool
	Output  int
	Tools   bool
	Images  bool
	Efforts []string
	Price   *struct{ Input, Output, CacheRead, CacheWrite float64 }
	From    map[string]string
}

// models returns what "lorimer models" lists, by the names of the models.
func (e *editor) models(args ...string) map[string]listedModel {
	e.t.Helper()
	var list []listedModel
	if err := json.Unmarshal([]byte(e.prints(append([]string{"models", "--json"}, args...)...)), &list); err != nil {
		e.t.Fatal(err)
	}
	all := make(map[string]listedModel)
	for _, m := range list {
		all[m.Model] = m
	}
	return all
}

// Row 231 and row 201: each product says what it can of its models, in its own shape,
// to whoever asks by lorimer models --ask, and to a session at its first message. What
// it does not say stays what it was.
func TestRow231WhatServersSay(t *testing.T) {
	t.Parallel()
	three := []string{"low", "medium", "high"}
	tests := []struct {
		product modeltest.Product
		kind    string
		url     func(*modeltest.Server) string
		want    listedModel // of a model that can do all
		mute    bool        // whether the other is known to call no tools
	}{
		{modeltest.OpenAI, "openai-chat", (*modeltest.Server).OpenAI, listedModel{Window: 128_000, Assumed: true, Tools: true}, false},
		{modeltest.VLLM, "openai-chat", (*modeltest.Server).OpenAI, listedModel{Window: 40_000, Tools: true}, false},
		{modeltest.OpenRouter, "openai-chat", (*modeltest.Server).OpenAI, listedModel{Window: 40_000, Output: 3000, Tools: true, Images: true, Efforts: three}, true},
		{modeltest.Anthropic, "anthropic", (*modeltest.Server).Anthropic, listedModel{Window: 40_000, Output: 3000, Tools: true, Images: true, Efforts: three}, false},
		{modeltest.Gemini, "gemini", (*modeltest.Server).Gemini, listedModel{Window: 40_000, Output: 3000, Tools: true, Efforts: three}, false},
		{modeltest.Ollama, "ollama", (*modeltest.Server).Ollama, listedModel{Window: 32_768, Tools: true, Images: true, Efforts: three}, true},
		{modeltest.LMStudio, "openai-chat", (*modeltest.Server).OpenAI, listedModel{Window: 40_000, Tools: true, Images: true}, false},
		{modeltest.LlamaCPP, "openai-chat", (*modeltest.Server).OpenAI, listedModel{Window: 40_000, Tools: true, Images: true}, false},
	}
	for _, tt := range tests {
		t.Run(string(tt.product), func(t *testing.T) {
			t.Parallel()
			m := modeltest.New(t, modeltest.Reply{Text: []string{"fine"}, Repeat: -1})
			m.Product = tt.product
			m.Listed = []modeltest.ModelInfo{
				{ID: "does-all", Window: 40_000, Output: 3000, Images: true, Thinks: true, Price: &modeltest.Price{Input: 2_500_000, Output: 10_000_000, CacheRead: 250_000}},
				{ID: "mute", Window: 20_000, NoTools: true},
			}
			if tt.product == modeltest.LlamaCPP {
				m.Listed = m.Listed[:1] // it has one
			}
			e := newEditor(t)
			e.file(".config/lorimer/key", "key-of-the-house-1\n")
			e.file(configFile, fmt.Sprintf("model = \"%s/does-all\"\n[providers.%s]\nkind = %q\nbase_url = %q\napi_key_file = \"key\"\n", tt.product, tt.product, tt.kind, tt.url(m)))
			ref := string(tt.product) + "/does-all"
			all := e.models(string(tt.product), "--ask")
			got := all[ref]
			if got.Price != nil != (tt.product == modeltest.OpenRouter) || got.Price != nil && (got.Price.Input != 2.5 || got.Price.Output != 10 || got.Price.CacheRead != 0.25) {
				t.Errorf("price = %+v", got.Price)
			}
			if from := got.From["window"]; strings.HasPrefix(from, "server at "+m.URL) == tt.want.Assumed {
				t.Errorf("the window is from %q", from)
			}
			tt.want.Model, tt.want.Price, tt.want.From = ref, got.Price, got.From
			if tt.want.Efforts == nil {
				tt.want.Efforts = []string{}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("what is listed (-want +got):\n%s", diff)
			}
			if other, ok := all[string(tt.product)+"/mute"]; ok && other.Tools == tt.mute || !ok && tt.product != modeltest.LlamaCPP {
				t.Errorf("the model without tools: %+v, listed %v", other, ok)
			}

			e.acp()
			s := e.open(nil)
			e.prompt(s, "hello")
			if got := e.usages(s); !strings.Contains(got, fmt.Sprintf(`"size":%d`, tt.want.Window)) {
				t.Errorf("usage = %s, want a size of %d", got, tt.want.Window)
			}
			if efforts := e.set(s, "voice", "off").thinking(); (efforts != nil) != (len(tt.want.Efforts) > 0) {
				t.Errorf("efforts of the session = %q", efforts)
			}
			if got := m.Rejected(); len(got) > 0 {
				t.Errorf("rejected: %q", got)
			}
		})
	}
}

// Row 231: what the user says counts before what the server says, that before the
// catalog, that before the family, that before what is assumed; from the next message
// on, in the size of the window, the name, the pictures and the length of an answer.
func TestRow231Precedence(t *testing.T) {
	t.Parallel()
	m := modeltest.New(t, modeltest.Reply{Text: []string{"fine"}, Repeat: -1})
	m.Product = modeltest.Anthropic
	m.Listed = []modeltest.ModelInfo{
		{ID: "claude-sonnet-5", Window: 123_000}, {ID: "claude-sonnet-98", Window: 321_000, Output: 9000, Images: true, Thinks: true}, {ID: "new", Window: 45_000},
	}
	e := newEditor(t)
	e.file(".config/lorimer/key", "key-of-the-house-1\n")
	says := func(id, what string) {
		var b strings.Builder
		for _, name := range []string{"claude-sonnet-98", "new", "brand-new", "claude-sonnet-5"} {
			fmt.Fprintf(&b, "[models.\"anthropic/%s\"]\n", name)
			if name == id {
				b.WriteString(what)
			}
		}
		e.file(profilesFile, b.String())
	}
	says("", "")
	e.file(configFile, fmt.Sprintf("[providers.anthropic]\nbase_url = %q\napi_key_file = \"key\"\n", beyond(m.Anthropic())))
	e.acp("--model", "anthropic/claude-sonnet-5")
	s := e.open(nil)
	size := func() int {
		t.Helper()
		e.prompt(s, "hello")
		usages := strings.Split(e.usages(s), "\n")
		var u struct {
			Params struct{ Update struct{ Size int } }
		}
		if err := json.Unmarshal([]byte(usages[len(usages)-1]), &u); err != nil {
			t.Fatal(err)
		}
		return u.Params.Update.Size
	}
	for _, tt := range []struct {
		model, who string
		want       int
	}{
		{"claude-sonnet-5", "the catalog, which is not asked about", 1_000_000},
		{"claude-sonnet-98", "the family, which is not asked about either", 200_000},
		{"new", "the server", 45_000},
		{"brand-new", "nobody", 128_000},
	} {
		e.choose(s, "model", "anthropic/"+tt.model)
		if got := size(); got != tt.want {
			t.Errorf("the window of %s is %d, want %d, by %s", tt.model, got, tt.want, tt.who)
		}
		says(tt.model, "window = 77_000\noutput = 2000\nname = \"Walrus\"\n")
		if got := size(); got != 77_000 {
			t.Errorf("the window of %s is %d, want that of the user", tt.model, got)
		}
		requests := m.Requests()
		if body := string(requests[len(requests)-1].Body); !strings.Contains(body, `"max_tokens":2000,`) || !strings.Contains(body, "Walrus") {
			t.Errorf("the request has neither the length nor the name that the user says: %.300s", body)
		}
		says("", "")
	}
	all := e.models("anthropic", "--ask")
	for id, want := range map[string]int{"claude-sonnet-5": 123_000, "claude-sonnet-98": 321_000, "new": 45_000, "brand-new": 128_000} {
		got := all["anthropic/"+id]
		if got.Window != want || strings.HasPrefix(got.From["window"], "server at ") != (id != "brand-new") || got.Price != nil != (id == "claude-sonnet-5") {
			t.Errorf("asked about %s the server says %+v, want a window of %d", id, got, want)
		}
	}
	if got := m.Rejected(); len(got) > 0 {
		t.Errorf("rejected: %q", got)
	}
}

// Row 231: a server that does not answer a question about its models holds up a message
// for a moment only, and lorimer models as long as the user waits, who is told for whom.
func TestRow231HangingServer(t *testing.T) {
	t.Parallel()
	m := modeltest.New(t, modeltest.Reply{Text: []string{"fine"}, Repeat: -1})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/models") {
			<-r.Context().Done()
			return
		}
		m.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	e := newEditor(t)
	e.file(".config/lorimer/key", "key-of-the-house-1\n")
	e.file(configFile, house{Model: "house/new", Usual: "new", BaseURL: s.URL + "/v1", KeyFile: "key"}.toml())
	e.acp()
	session := e.open(nil)
	for range 2 {
		if stop := e.prompt(session, "hello"); stop != "end_turn" {
			t.Errorf("stop reason = %s, want end_turn", stop)
		}
	}
	if told := e.notices(session); len(told) != 1 || !strings.Contains(told[0], "8192 tokens") {
		t.Errorf("the client was told %q, want what is assumed", told)
	}

	cmd, _ := command(t, "models", "house", "--ask")
	cmd.Env = append(slices.DeleteFunc(cmd.Env, func(v string) bool { return strings.HasPrefix(v, "HOME=") }), "HOME="+e.home)
	cmd.Stderr = nil
	diag, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(diag).ReadString('\n')
	if err != nil || line != "lorimer: waiting for house\n" {
		t.Errorf("standard error has %q (%v), want to read who is waited for", line, err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	if code := ends(t, cmd); code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
}
