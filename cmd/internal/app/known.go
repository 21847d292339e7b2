package app

import (
	"cmp"
	"fmt"

	"github.com/lorimer-dev/lorimer/cmd/internal/config"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/catalog"
	"github.com/lorimer-dev/lorimer/harness/model/langchain/kinds"
	"github.com/lorimer-dev/lorimer/harness/model/offline"
	"github.com/lorimer-dev/lorimer/harness/model/probe"
)

// A Fact is something that may be known of a model.
type Fact string

// The facts, in the order to show them.
const (
	FactName    Fact = "name"
	FactWindow  Fact = "window"
	FactOutput  Fact = "output"
	FactTools   Fact = "tools"
	FactImages  Fact = "images"
	FactEfforts Fact = "efforts"
	FactPrice   Fact = "price"
)

// Where a fact is from, from the strongest; one of models.toml has its file and line,
// one of a server its address.
const (
	fromProgram = "the program"
	fromLibrary = "langchaingo" // whose provider cannot carry it
	fromCatalog = "catalog"
	fromFamily  = "family"  // models whose ids begin alike
	fromNobody  = "assumed" // since nobody knows
)

// A Known is what is known of a model: by models.toml, else by its server, else by
// the catalog, else by its family, else assumed; where langchaingo cannot carry what
// a model can, it cannot. A price is known or not; it is never
// assumed (R-BILL-05).
type Known struct {
	model.Descriptor
	Price *catalog.Price  // nil is unknown
	From  map[Fact]string // what is missing is unknown

	heard bool // its server has said something
}

// unheard reports whether the server has something to say that matters: of a model
// that nobody knows, and of each on a server whose user sets it up.
func (k *Known) unheard() bool { return !k.heard && (k.Assumed || k.Kind == "ollama") }

func (k *Known) set(f Fact, from string) { k.From[f] = from }

// know returns what is known of the model that choice names, without asking anybody.
func (a *App) know(c *config.Config, choice config.Choice, ref string) Known {
	k := builtIn(choice, ref)
	if e := choice.Endpoint; e.Name != "" {
		k = listed(e, choice.ID)
		if m, from, ok := a.servers.said(e, choice.ID); ok {
			k.hear(m, from)
		} else if m, ok := a.finder.model(k.Ref()); ok {
			k.hear(m, servedAt(e))
		}
	}
	k.read(c)
	k.adapted(choice.Endpoint)
	return k
}

// servedAt names a server as the source of a fact.
func servedAt(e config.Endpoint) string { return "server at " + config.HideURL(e.BaseURL) }

// builtIn returns what is known of a model that no provider has.
func builtIn(choice config.Choice, ref string) Known {
	k := Known{Descriptor: offline.Descriptor(), Price: &catalog.Price{}, From: map[Fact]string{}}
	if choice.Script != "" {
		k.Descriptor = model.Descriptor{Kind: "script", ID: ref, Name: "Script", Window: 128_000, Images: true, Thinks: true}
	}
	for _, f := range []Fact{FactName, FactWindow, FactTools, FactImages, FactEfforts, FactPrice} {
		k.set(f, fromProgram)
	}
	return k
}

// listed returns what the catalog knows of a model, or its family.
func listed(e config.Endpoint, id string) Known {
	k := Known{From: map[Fact]string{}}
	from := fromCatalog
	if m, ok := catalog.Find(e.Name, id); ok {
		k.Descriptor = model.Descriptor{
			Name: m.Name, Window: m.Window, Output: m.Output, Images: m.Images, NoTools: m.NoTools, Thinks: m.Thinks, Efforts: m.Efforts,
		}
		if k.Price = m.Price; k.Price != nil {
			k.set(FactPrice, fromCatalog)
		}
	} else {
		k.Descriptor = catalog.Describe(e.Name, id, e.Local && !e.Hosted)
		switch {
		case k.Name != "":
			// by the maker of what the provider resells
		case catalog.Describe(e.Name, id, false).Assumed:
			from = fromNobody // of a server on this machine the window is assumed in any case
		default:
			from = fromFamily
		}
	}
	if k.Name != "" {
		k.set(FactName, from)
	}
	if k.Output > 0 {
		k.set(FactOutput, from)
	}
	k.Kind, k.Provider, k.ID, k.BaseURL = e.Protocol(id), e.Name, id, e.BaseURL
	for _, f := range []Fact{FactTools, FactImages, FactEfforts, FactWindow} {
		k.set(f, from)
	}
	if k.Assumed {
		k.set(FactWindow, fromNobody)
	}
	return k
}

// adapted leaves out what langchaingo's own provider cannot carry, whatever the model
// could and whoever says that it can.
func (k *Known) adapted(e config.Endpoint) {
	name, ok := e.Langchain()
	if !ok {
		return
	}
	if !kinds.Tools(name, k.ID) {
		k.NoTools = true
		k.set(FactTools, fromLibrary)
	}
	if info, _ := kinds.Lookup(name); !info.Images {
		k.Images = false
		k.set(FactImages, fromLibrary)
	}
	k.Thinks, k.Efforts = false, nil
	k.set(FactEfforts, fromLibrary)
}

// hear takes what the server says of its model.
func (k *Known) hear(m probe.Model, from string) {
	k.heard = true
	if m.Name != "" && k.Name == "" {
		k.Name = m.Name
		k.set(FactName, from)
	}
	if m.Window > 0 {
		k.Window, k.Assumed = m.Window, false
		k.set(FactWindow, from)
	}
	if m.Output > 0 {
		k.Output = m.Output
		k.set(FactOutput, from)
	}
	for _, v := range []struct {
		fact Fact
		says probe.Tri
		flag *bool
		not  bool // the flag means the opposite
	}{
		{FactTools, m.Tools, &k.NoTools, true},
		{FactImages, m.Images, &k.Images, false},
		{FactEfforts, m.Thinks, &k.Thinks, false},
	} {
		if v.says != probe.Unknown {
			*v.flag = (v.says == probe.Yes) != v.not
			k.set(v.fact, from)
		}
	}
	if k.Thinks && m.Efforts != nil {
		k.Efforts = m.Efforts
		k.set(FactEfforts, from)
	}
	if m.Price != nil {
		k.Price = m.Price
		k.set(FactPrice, from)
	}
}

// read takes what the user says in models.toml.
func (k *Known) read(c *config.Config) {
	ref := k.Ref()
	p := c.ModelProfile(ref)
	says := func(f Fact, key string, said bool) bool {
		if said {
			k.set(f, c.ModelAt(ref, key))
		}
		return said
	}
	if says(FactName, "name", p.Name != "") {
		k.Name = p.Name
	}
	if says(FactWindow, "window", p.Window != nil) {
		k.Window, k.Assumed = *p.Window, false
	}
	if says(FactOutput, "output", p.Answer != nil) {
		k.Output = *p.Answer
	}
	if says(FactImages, "images", p.Images != nil) {
		k.Images = *p.Images
	}
	if says(FactTools, "tool_usage", p.ToolUsage != nil) {
		k.NoTools = *p.ToolUsage == 0
	}
	if says(FactEfforts, "thinks", p.Thinks != nil) {
		k.Thinks = *p.Thinks
	}
	if says(FactEfforts, "efforts", len(p.Efforts) > 0 && (p.Thinks == nil || *p.Thinks)) {
		k.Thinks, k.Efforts = true, model.EffortsOf(p.Efforts)
	}
	if !k.Thinks {
		k.Efforts = nil
	}
	k.readPrice(c, ref, p.Prices)
}

// readPrice takes what the user says of the price.
func (k *Known) readPrice(c *config.Config, ref string, p config.Prices) {
	switch {
	case p.Input != nil:
		k.Price = &catalog.Price{
			Input: p.Input.Micro, Output: p.Output.Micro,
			CacheRead: cmp.Or(p.CacheRead, &config.USD{}).Micro, CacheWrite: cmp.Or(p.CacheWrite, &config.USD{}).Micro,
		}
		k.set(FactPrice, c.ModelAt(ref, "price_input"))
	case p.Free != nil && *p.Free:
		k.Price = &catalog.Price{}
		k.set(FactPrice, c.ModelAt(ref, "free"))
	case p.Free != nil && k.Price != nil && *k.Price == (catalog.Price{}):
		k.Price = nil
		delete(k.From, FactPrice)
	}
}

// strange tells the user what nobody knows of the model in use and how to say it;
// nil where all that matters is known. What a server on this machine costs is not
// asked for.
func (k *Known) strange(c *config.Config, e config.Endpoint) []string {
	if e.Name == "" {
		return nil
	}
	priceless := k.Price == nil && (!e.Local || e.Hosted)
	var text, keys string
	switch {
	case k.Assumed && priceless:
		text = fmt.Sprintf("Lorimer does not know the model %s: it assumes a window of %d tokens and knows no price.", k.Ref(), k.Window)
		keys = "window, price_input and price_output"
	case k.Assumed:
		text = fmt.Sprintf("Lorimer does not know the window of the model %s and assumes %d tokens.", k.Ref(), k.Window)
		keys = "window"
	case priceless:
		text = fmt.Sprintf("Lorimer does not know the price of the model %s.", k.Ref())
		keys = "price_input and price_output, or free,"
	default:
		return nil
	}
	return []string{fmt.Sprintf("%s To say it, set %s under [models.%q] in %s.", text, keys, k.Ref(), c.ModelsPath())}
}
