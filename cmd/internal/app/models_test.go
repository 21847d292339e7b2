package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/catalog"
	"github.com/lorimer-dev/lorimer/harness/model/probe"
	"github.com/lorimer-dev/lorimer/tools/approve"
)

func at(m *machine) harness.Place { return harness.Place{Session: "s", Dir: m.dir} }

func choiceFor(ref string) harness.Choice { return harness.Choice{Model: ref, Mode: approve.Ask} }

// known is what the program knows of a model without asking.
func (m *machine) known(ref string) Known {
	m.t.Helper()
	c, err := m.Config()
	if err != nil {
		m.t.Fatal(err)
	}
	choice, err := c.Choose(ref)
	if err != nil {
		m.t.Fatal(err)
	}
	return m.know(c, choice, ref)
}

// What is said nearer to the user counts, and each fact remembers who said it.
func TestKnownPrecedence(t *testing.T) {
	m := newMachine(t, Apart, "[providers.acme]\nbase_url = \"https://acme.example.org/v1\"\n")
	m.write(".config/lorimer/models.toml", `
[models."acme/user"]
window = 5
images = true
tool_usage = 1
price_input = 1
price_output = 2
efforts = ["max", "low"]
[models."acme/mute"]
thinks = false
[models."acme/gift"]
free = true
`)
	c, err := m.Config()
	if err != nil {
		t.Fatal(err)
	}
	e, _ := c.Provider("acme")
	says := probe.Model{
		Name: "Served", Window: 7, Output: 3, Tools: probe.No, Images: probe.No, Thinks: probe.Yes,
		Efforts: []model.Effort{model.EffortHigh}, Price: &catalog.Price{Input: 9, Output: 9},
	}
	for _, id := range []string{"user", "served", "mute"} {
		says.ID = id
		m.servers.tell(e, says)
	}
	file := filepath.Join(m.home, ".config/lorimer/models.toml")
	user := func(line int) string { return fmt.Sprintf("%s:%d", file, line) }
	const server = "server at https://acme.example.org/v1"
	tests := []struct {
		ref  string
		want Known
	}{
		{"acme/user", Known{
			Descriptor: model.Descriptor{Name: "Served", Window: 5, Output: 3, Images: true, Thinks: true, Efforts: []model.Effort{model.EffortLow, model.EffortMax}},
			Price:      &catalog.Price{Input: 1_000_000, Output: 2_000_000},
			From: map[Fact]string{FactName: server, FactWindow: user(3), FactOutput: server, FactImages: user(4), FactTools: user(5),
				FactPrice: user(6), FactEfforts: user(8)},
		}},
		{"acme/served", Known{
			Descriptor: model.Descriptor{Name: "Served", Window: 7, Output: 3, NoTools: true, Thinks: true, Efforts: []model.Effort{model.EffortHigh}},
			Price:      &catalog.Price{Input: 9, Output: 9},
			From: map[Fact]string{FactName: server, FactWindow: server, FactOutput: server, FactImages: server, FactTools: server,
				FactPrice: server, FactEfforts: server},
		}},
		{"acme/mute", Known{
			Descriptor: model.Descriptor{Name: "Served", Window: 7, Output: 3, NoTools: true},
			Price:      &catalog.Price{Input: 9, Output: 9},
			From: map[Fact]string{FactName: server, FactWindow: server, FactOutput: server, FactImages: server, FactTools: server,
				FactPrice: server, FactEfforts: user(10)},
		}},
		{"acme/gift", Known{
			Descriptor: model.Descriptor{Window: 128_000, Assumed: true},
			Price:      &catalog.Price{},
			From:       map[Fact]string{FactWindow: fromNobody, FactImages: fromNobody, FactTools: fromNobody, FactEfforts: fromNobody, FactPrice: user(12)},
		}},
		{"acme/claude-sonnet-99", Known{
			Descriptor: model.Descriptor{Window: 200_000, Images: true, Thinks: true},
			From:       map[Fact]string{FactWindow: fromFamily, FactImages: fromFamily, FactTools: fromFamily, FactEfforts: fromFamily},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.ref, func(t *testing.T) {
			_, id, _ := strings.Cut(tt.ref, "/")
			tt.want.Kind, tt.want.Provider, tt.want.ID, tt.want.BaseURL = "openai-chat", "acme", id, e.BaseURL
			got := m.known(tt.ref)
			got.heard = false
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(Known{})); diff != "" {
				t.Errorf("known (-want +got):\n%s", diff)
			}
		})
	}
}

// A known service keeps the windows that are known of it where a proxy on this
// machine stands in front; a server on this machine decides by itself.
func TestKnownOnThisMachine(t *testing.T) {
	m := newMachine(t, Apart, "[providers.anthropic]\nbase_url = \"http://127.0.0.1:9\"\n[providers.house]\nbase_url = \"http://127.0.0.1:9\"\n")
	if k := m.known("anthropic/claude-sonnet-99"); k.Window != 200_000 || k.Assumed {
		t.Errorf("behind a proxy: %d, assumed %v", k.Window, k.Assumed)
	}
	if k := m.known("house/gemma3:99b"); k.Window != 8192 || !k.Assumed || k.From[FactWindow] != fromNobody || k.From[FactImages] != fromFamily {
		t.Errorf("on this machine: %d, assumed %v, from %v", k.Window, k.Assumed, k.From)
	}
}

// What langchaingo cannot carry no model can do, whoever says that it can.
func TestKnownOfLangchain(t *testing.T) {
	m := newMachine(t, Apart, "[providers.ibm]\nkind = \"langchain/watsonx\"\n[providers.mi]\nkind = \"langchain/mistral\"\n")
	m.write(".config/lorimer/models.toml", "[models.\"*\"]\nimages = true\ntool_usage = 1\nthinks = true\n")
	for ref, tools := range map[string]bool{"ibm/m": false, "mi/m": true} {
		k := m.known(ref)
		if k.NoTools == tools || k.Images || k.Thinks || k.From[FactImages] != fromLibrary || k.From[FactEfforts] != fromLibrary || (k.From[FactTools] == fromLibrary) == tools {
			t.Errorf("%s is known as %+v", ref, k)
		}
	}
}

// The user is told once what nobody knows, and how to say it.
func TestStrangeModelsAreTold(t *testing.T) {
	m := newMachine(t, Apart, `
[providers.acme]
base_url = "https://acme.example.org"
[providers.house]
base_url = "http://127.0.0.1:9"
`)
	m.write(".config/lorimer/models.toml", `
[models."acme/priced"]
price_input = 1
price_output = 1
[models."acme/sized"]
window = 1000
[models."acme/both"]
window = 1000
free = true
[models."house/sized"]
window = 1000
`)
	c, err := m.Config()
	if err != nil {
		t.Fatal(err)
	}
	const say = " To say it, set %s under [models.\"%s\"] in "
	tests := []struct{ ref, want string }{
		{"acme/new", "Lorimer does not know the model acme/new: it assumes a window of 128000 tokens and knows no price." +
			fmt.Sprintf(say, "window, price_input and price_output", "acme/new")},
		{"acme/priced", "Lorimer does not know the window of the model acme/priced and assumes 128000 tokens." + fmt.Sprintf(say, "window", "acme/priced")},
		{"acme/sized", "Lorimer does not know the price of the model acme/sized." + fmt.Sprintf(say, "price_input and price_output, or free,", "acme/sized")},
		{"acme/both", ""},
		{"house/new", "Lorimer does not know the window of the model house/new and assumes 8192 tokens." + fmt.Sprintf(say, "window", "house/new")},
		{"house/sized", ""},
		{"offline", ""},
		{"script:x", ""},
	}
	for _, tt := range tests {
		if tt.want != "" {
			tt.want += c.ModelsPath() + "."
		}
		k := m.known(tt.ref)
		e, _ := c.Provider(k.Provider)
		if got := strings.Join(k.strange(c, e), "\n"); got != tt.want {
			t.Errorf("%s is told as\n%q, want\n%q", tt.ref, got, tt.want)
		}
	}
}

// A session offers what can be used without another step, each once.
func TestOfferedModels(t *testing.T) {
	m := newMachine(t, Apart, "[providers.house]\nbase_url = \"http://127.0.0.1:9\"\nmodel = \"usual\"\n[providers.acme]\nbase_url = \"https://acme.example.org\"\n")
	m.write(".config/lorimer/models.toml", "[models.\"house/mine\"]\nname = \"Mine\"\n[models.\"house/usual\"]\nwindow = 7\n[models.\"house/some*\"]\nwindow = 7\n[models.\"acme/a\"]\nwindow = 7\n")
	all, err := (&settings{m.App}).Models(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var refs []string
	for _, d := range all {
		refs = append(refs, d.Ref())
	}
	if want := []string{"offline", "house/usual", "house/mine"}; !slices.Equal(refs, want) {
		t.Errorf("offered %q, want %q", refs, want)
	}
}

// Of a provider with a key a session offers the usual model and a few of the newest;
// a list of the provider has all.
func TestModelsOfAProvider(t *testing.T) {
	m := newMachine(t, Apart, "[providers.anthropic]\napi_key_command = \"exit 1\"\n")
	m.write(".config/lorimer/models.toml", "[models.\"anthropic/mine\"]\nname = \"Mine\"\n")
	short, _, err := m.List(t.Context(), Query{})
	if err != nil {
		t.Fatal(err)
	}
	whole, _, err := m.List(t.Context(), Query{Provider: "anthropic"})
	if err != nil {
		t.Fatal(err)
	}
	everything, _, err := m.List(t.Context(), Query{All: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(short) < 3 || len(short) > topModels+3 || short[0].Ref() != "anthropic/claude-sonnet-5" || short[1].Ref() != "anthropic/mine" ||
		!short[len(short)-1].Default || short[len(short)-1].Ref() != "offline" {
		t.Errorf("short list = %v", refsOf(short))
	}
	if len(whole) <= len(short)-2 || len(everything) <= len(whole) {
		t.Errorf("%d in short, %d of the provider, %d of all", len(short), len(whole), len(everything))
	}
	for _, l := range whole {
		if l.Provider != "anthropic" {
			t.Errorf("among the models of anthropic is %s", l.Ref())
		}
	}
	if _, _, err := m.List(t.Context(), Query{Provider: "nobody"}); err == nil || !strings.Contains(err.Error(), `there is no provider "nobody"`) {
		t.Errorf("error = %v", err)
	}
}

func refsOf(all []Listed) []string {
	var refs []string
	for _, l := range all {
		refs = append(refs, l.Ref())
	}
	return refs
}

// What shows of a model never has the key in it, nor does what is logged.
func TestShowKeepsSecrets(t *testing.T) {
	m := newMachine(t, Apart, `
[providers.acme]
base_url = "https://me:hunter2@acme.example.org/v1?api-key=hunter2"
api_key_file = "key"
headers = { X-Secret = "hunter2" }
`)
	m.write(".config/lorimer/key", "hunter2\n")
	s, failed, err := m.Show(t.Context(), "acme/m", false)
	if err != nil || failed != nil {
		t.Fatal(err, failed)
	}
	if text := fmt.Sprintf("%+v", s); strings.Contains(strings.ReplaceAll(text, s.BaseURL, ""), "hunter2") {
		t.Errorf("it shows a secret: %s", text)
	}
	if s.Address != "https://me:********@acme.example.org/v1?api-key=********" || s.KeyFrom != "file "+filepath.Join(m.home, ".config/lorimer/key") || len(s.Missing) > 0 {
		t.Errorf("address %q, key from %q, missing %q", s.Address, s.KeyFrom, s.Missing)
	}
	if strings.Contains(m.log.String(), "hunter2") {
		t.Errorf("it logs a secret: %s", m.log.String())
	}
}

// What is missing is told before anything is asked.
func TestShowMissing(t *testing.T) {
	m := newMachine(t, Apart, `
[providers.anthropic]
ca_file = "none.pem"
[providers.ibm]
kind = "langchain/watsonx"
api_key_command = "exit 1"
[providers.aws]
kind = "langchain/bedrock"
`)
	tests := []struct {
		ref  string
		want []string
	}{
		{"openai/gpt-5.2", []string{"the key; set OPENAI_API_KEY, or "}},
		{"anthropic", []string{"the key; set ANTHROPIC_API_KEY, or ", "none.pem: no such file"}},
		{"ibm/m", []string{"langchain/watsonx needs the option project"}},
		{"offline", nil},
		{"script:nowhere.jsonl", []string{"the script nowhere.jsonl is missing"}},
		{"ollama/m", nil},
	}
	for _, tt := range tests {
		s, _, err := m.Show(t.Context(), tt.ref, false)
		if err != nil {
			t.Fatal(err)
		}
		ok := len(s.Missing) == len(tt.want)
		for i := range min(len(s.Missing), len(tt.want)) {
			ok = ok && strings.Contains(s.Missing[i], tt.want[i])
		}
		if !ok {
			t.Errorf("%s is missing %q, want %q", tt.ref, s.Missing, tt.want)
		}
	}
}

// What the user says of the way to a model, of its answers and of how others' answers
// are told is part of what a harness is built for; what says nothing is not.
func TestSetup(t *testing.T) {
	const provider = "[providers.acme]\nbase_url = \"https://acme.example.org\"\napi_key_command = \"echo key\"\n"
	m := newMachine(t, Apart, "")
	m.write(".config/lorimer/ca.pem", "")
	seen := make(map[string]string)
	for _, tt := range []struct{ name, config, models string }{
		{"nothing", provider, ""},
		{"a header", provider + "headers = { A = \"b\" }\n", ""},
		{"another value", provider + "headers = { A = \"c\" }\n", ""},
		{"a certificate", provider + "ca_file = \"ca.pem\"\n", ""},
		{"history as text", provider + "[history]\ncross_vendor = \"text\"\n", ""},
		{"another text", provider + "[history]\ncross_vendor = \"text\"\nexecuted = \"{{tool}}\"\n", ""},
		{"a length of answers", provider, "[models.\"acme/m\"]\noutput = 7\n"},
	} {
		m.write(".config/lorimer/config.toml", "model = \"offline\"\n"+tt.config)
		m.write(".config/lorimer/models.toml", tt.models)
		snap, err := (&settings{m.App}).Freeze(t.Context(), at(m), choiceFor("acme/m"))
		if err != nil {
			t.Fatal(err)
		}
		if (snap.Model.Setup == "") != (tt.name == "nothing") {
			t.Errorf("%s: setup = %q", tt.name, snap.Model.Setup)
		}
		if other, ok := seen[snap.Model.Setup]; ok {
			t.Errorf("%s is as %s", tt.name, other)
		}
		seen[snap.Model.Setup] = tt.name
	}
}

// A key that the provider refuses is asked for again; what was answered with it is
// not.
func TestRefusedKeyIsForgotten(t *testing.T) {
	want := errors.New("mine")
	var forgotten bytes.Buffer
	for _, tt := range []struct {
		err    error
		forget bool
	}{
		{nil, false}, {want, false}, {&model.Error{Kind: model.RateLimit}, false}, {&model.Error{Kind: model.Auth}, true},
	} {
		forgotten.Reset()
		s := refused(model.Func(func(context.Context, *model.Request, func(model.Event) error) (*model.Reply, error) {
			return &model.Reply{}, tt.err
		}), func() { forgotten.WriteString("x") })
		reply, err := s.Stream(t.Context(), &model.Request{}, func(model.Event) error { return nil })
		if reply == nil || !errors.Is(err, tt.err) || forgotten.Len() > 0 != tt.forget {
			t.Errorf("%v: forgotten %v, want %v", tt.err, forgotten.Len() > 0, tt.forget)
		}
	}
}
