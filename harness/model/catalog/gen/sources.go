package main

import (
	"encoding/json"
	"math"
	"strings"
	"time"

	"charm.land/catwalk/pkg/catwalk"
)

// sources are what is known, as the sources have it.
type sources struct {
	catwalk map[string][]catwalk.Model
	npm     struct {
		Zoo    []zooModel              `json:"zoo"`
		Prices map[string][]priceModel `json:"prices"`
	}
	facts struct {
		// Date is the day whose prices hold.
		Date   string          `json:"date"`
		Models map[string]fact `json:"models"`
	}
	used map[string]bool // facts that have served
}

// A zooModel is a model of llm-zoo. Some of its entries are no models but ways to
// ask one: with another tier or mode, or at another address.
type zooModel struct {
	FullName     string  `json:"fullName"`
	ShortName    string  `json:"shortName"` // without a date
	Label        string  `json:"label"`
	Provider     string  `json:"provider"`
	Window       int     `json:"contextWindow"`
	Output       int     `json:"maxOutputTokens"`
	InputPrice   float64 `json:"inputPrice"`
	OutputPrice  float64 `json:"outputPrice"`
	OpenRouter   string  `json:"openrouterFullName"`
	ResellerOnly bool    `json:"openRouterOnly"`
	Tier         string  `json:"serviceTier"`
	BaseURL      string  `json:"baseUrl"`
	Deprecated   bool    `json:"deprecated"`
	Retired      bool    `json:"retired"`
	Capabilities struct {
		Tools        bool     `json:"supportsFunctionCalling"`
		Images       bool     `json:"supportsVision"`
		Thinks       bool     `json:"supportsReasoning"`
		Efforts      []string `json:"supportedReasoningEfforts"`
		MaxEffort    string   `json:"maxReasoningEffort"`
		Caches       bool     `json:"supportsPromptCaching"`
		CachesItself bool     `json:"supportsAutoPromptCaching"`
		Discount     float64  `json:"cacheDiscountFactor"`
	} `json:"capabilities"`
	Mode string `json:"reasoningMode"`
}

// model reports whether the entry is a model that is asked by its name alone.
func (z zooModel) model() bool {
	return !z.ResellerOnly && z.Tier == "" && z.Mode == "" && z.BaseURL == "" && !strings.HasSuffix(z.FullName, "-latest")
}

// price is what llm-zoo says. It gives what cached tokens cost as a part of the
// price of others. A price of zero is one that it does not know.
func (z zooModel) price() *[4]int64 {
	if z.InputPrice <= 0 || z.OutputPrice <= 0 {
		return nil
	}
	p := [4]int64{micro(z.InputPrice), micro(z.OutputPrice)}
	if c := z.Capabilities; (c.Caches || c.CachesItself) && c.Discount < 1 {
		p[2] = micro(z.InputPrice * c.Discount)
		if p[2] > 10_000 {
			p[2] = (p[2] + 500) / 1000 * 1000 // the parts are rounded, prices are of tenths of a cent
		}
	}
	if z.Capabilities.Caches && writesCost(z) {
		p[3] = p[0] * 5 / 4
	}
	return &p
}

// writesCost reports whether the vendor asks more for tokens that are written to
// its cache: a quarter more, by the price lists of both.
func writesCost(z zooModel) bool { return z.Provider == "anthropic" || z.Provider == "openai" }

// A priceModel is a model of genai-prices.
type priceModel struct {
	ID     string          `json:"id"`
	Name   string          `json:"name"`
	Window int             `json:"context_window"`
	Match  match           `json:"match"`
	Prices json.RawMessage `json:"prices"` // an object, or a list of objects with conditions
}

// A match says which ids a price is for. Those that begin or look like something
// are left out here: a price is of a model, not of all whose names are alike.
type match struct {
	Equals string  `json:"equals"`
	Or     []match `json:"or"`
}

func (m match) holds(id string) bool {
	if m.Equals != "" && strings.EqualFold(m.Equals, id) {
		return true
	}
	for _, o := range m.Or {
		if o.holds(id) {
			return true
		}
	}
	return false
}

// A rate is a price in dollars for a million tokens. Where longer prompts cost
// more, it is that of shorter ones.
type rate float64

func (r *rate) UnmarshalJSON(data []byte) error {
	var tiers struct {
		Base float64 `json:"base"`
	}
	if strings.HasPrefix(string(data), "{") {
		err := json.Unmarshal(data, &tiers)
		*r = rate(tiers.Base)
		return err
	}
	return json.Unmarshal(data, (*float64)(r))
}

type rates struct {
	Input  rate `json:"input_mtok"`
	Output rate `json:"output_mtok"`
	Read   rate `json:"cache_read_mtok"`
	Write  rate `json:"cache_write_mtok"`
}

// price is what genai-prices says for the day. Of prices that depend on the hour
// the dearest holds, so that nothing costs more than was said.
func (m priceModel) price(day time.Time) *[4]int64 {
	var now rates
	if strings.HasPrefix(string(m.Prices), "[") {
		var dated []struct {
			Prices     rates `json:"prices"`
			Constraint *struct {
				Type  string `json:"type"`
				Start string `json:"start_date"`
			} `json:"constraint"`
		}
		must(json.Unmarshal(m.Prices, &dated))
		for _, d := range dated {
			switch c := d.Constraint; {
			case c == nil:
				now = d.Prices
			case c.Type == "start_date":
				start, err := time.Parse(time.DateOnly, c.Start)
				must(err)
				if !start.After(day) {
					now = d.Prices
				}
			case d.Prices.Output > now.Output:
				now = d.Prices
			}
		}
	} else {
		must(json.Unmarshal(m.Prices, &now))
	}
	if now.Input <= 0 || now.Output <= 0 {
		return nil
	}
	return &[4]int64{micro(float64(now.Input)), micro(float64(now.Output)), micro(float64(now.Read)), micro(float64(now.Write))}
}

// catwalkPrice is what catwalk says. Its two prices of cached tokens do not always
// mean the same: here the write and the read, there the read and nothing, or the
// output once more. What is less than an input token is what a read costs, what is
// more but less than an output token a write. If both are less the second is the
// read, and the first what Google asks for keeping a token. A price of zero is one
// that it does not know.
func catwalkPrice(m catwalk.Model) *[4]int64 {
	if m.CostPer1MIn <= 0 || m.CostPer1MOut <= 0 {
		return nil
	}
	p := [4]int64{micro(m.CostPer1MIn), micro(m.CostPer1MOut)}
	for _, c := range []float64{m.CostPer1MInCached, m.CostPer1MOutCached} {
		switch v := micro(c); {
		case v > 0 && v < p[0]:
			p[2] = v
		case v > p[0] && v < p[1]:
			p[3] = v
		}
	}
	return &p
}

// A fact is what a vendor publishes of a model. A field that is not there says
// nothing. A model that no source knows needs a window.
type fact struct {
	Name    string   `json:"name"`
	Window  int      `json:"window"`
	Output  int      `json:"output"`
	Images  *bool    `json:"images"`
	Thinks  *bool    `json:"thinks"`
	Efforts string   `json:"efforts"`
	Aliases []string `json:"aliases"`
}

// micro turns dollars into micro-dollars.
func micro(dollars float64) int64 { return int64(math.Round(dollars * 1e6)) }

func must(err error) {
	if err != nil {
		panic(err)
	}
}
