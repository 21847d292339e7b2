package main

import (
	"cmp"
	"errors"
	"fmt"
	"log"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"charm.land/catwalk/pkg/catwalk"
)

// A draft is a model with what each source says of it.
type draft struct {
	id      string
	catwalk *catwalk.Model
	zoo     []zooModel // more than one where it tells thinking apart
	fact    fact
}

var (
	dated  = regexp.MustCompile(`-20\d\d-?[01]\d-?[0-3]\d$`)
	remark = regexp.MustCompile(`\s*\([^)]*\)$`)
)

// models returns the models of a provider that makes them or serves them under
// names of its own.
func (s *sources) models(p provider) []model {
	drafts := make(map[string]*draft)
	of := func(id string) *draft {
		key := dated.ReplaceAllString(id, "")
		if drafts[key] == nil {
			drafts[key] = &draft{id: key}
		}
		return drafts[key]
	}
	for _, m := range s.catwalk[p.catwalk] {
		of(m.ID).catwalk = &m
	}
	for _, z := range s.npm.Zoo {
		if p.zoo != "" && z.Provider == p.zoo && z.model() {
			d := of(z.FullName)
			d.zoo = append(d.zoo, z)
		}
	}
	for id, f := range s.factsOf(p) {
		d := of(id)
		d.fact = f
		if d.catwalk != nil || d.zoo != nil || f.Window > 0 {
			s.used[p.name+"/"+id] = true
		}
	}
	var all []model
	for _, key := range slices.Sorted(maps.Keys(drafts)) {
		if d := drafts[key]; !d.retired() {
			all = append(all, s.merge(p, d))
		}
	}
	return append(all, s.dearer(p, all)...)
}

// retired reports whether the provider no longer serves the model.
func (d *draft) retired() bool {
	return len(d.zoo) > 0 && !slices.ContainsFunc(d.zoo, func(z zooModel) bool { return !z.Retired })
}

// merge makes a model of what the sources say of it.
func (s *sources) merge(p provider, d *draft) model {
	m := model{ID: d.id, Name: d.name(), Aliases: slices.Sorted(slices.Values(d.fact.Aliases))}
	m.Window = s.window(p, d)
	if c := d.catwalk; c != nil {
		m.Images, m.Thinks = c.SupportsImages, c.CanReason
		m.Efforts = strings.Join(levels(c.ReasoningLevels), " ")
		if p.name == "anthropic" {
			m.Output = int(c.DefaultMaxTokens) // the other defaults are less than what is possible
		}
	}
	exact := 0
	for _, z := range d.zoo {
		m.Output = z.Output
		m.Images = m.Images || d.catwalk == nil && z.Capabilities.Images
		m.Thinks = m.Thinks || z.Capabilities.Thinks
		m.NoTools = m.NoTools || !z.Capabilities.Tools
		efforts := z.Capabilities.Efforts
		if len(efforts) == 0 && z.Capabilities.MaxEffort != "" {
			efforts = upTo(z.Capabilities.MaxEffort)
		}
		if known := levels(efforts); len(known) > exact {
			exact, m.Efforts = len(known), strings.Join(known, " ")
		}
	}
	m.apply(d.fact)
	if m.Output > m.Window {
		m.Output = 0
	}
	if !m.Thinks || m.Efforts == "low medium high" {
		m.Efforts = ""
	}
	m.Price = s.price(p, d)
	return m
}

func (m *model) apply(f fact) {
	m.Output = cmp.Or(f.Output, m.Output)
	m.Efforts = cmp.Or(f.Efforts, m.Efforts)
	if f.Images != nil {
		m.Images = *f.Images
	}
	if f.Thinks != nil {
		m.Thinks = *f.Thinks
	}
}

func (d *draft) name() string {
	name := d.fact.Name
	if name == "" && d.catwalk != nil && d.catwalk.Name != d.catwalk.ID {
		name = d.catwalk.Name
	}
	if name == "" && len(d.zoo) > 0 {
		name = label(d.zoo[0])
	}
	return cmp.Or(strings.Join(strings.Fields(name), " "), d.id)
}

// label is the name in llm-zoo, without what it says of thinking or availability.
func label(z zooModel) string {
	name := remark.ReplaceAllString(z.Label, "")
	if z.Provider == "anthropic" && !strings.HasPrefix(name, "Claude") {
		name = "Claude " + name
	}
	return name
}

// window is what most sources say, and the smallest of what as many say: one that
// is too large makes requests fail. OpenRouter's list counts beside the maker's.
func (s *sources) window(p provider, d *draft) int {
	if d.fact.Window > 0 {
		return d.fact.Window
	}
	votes := make(map[int]int)
	resold := p.maker + "/" + d.id
	if c := d.catwalk; c != nil {
		votes[int(c.ContextWindow)]++
	}
	if len(d.zoo) > 0 {
		votes[d.zoo[0].Window]++
		resold = cmp.Or(d.zoo[0].OpenRouter, resold)
	}
	if m := s.priced(p.prices, d.id); m != nil {
		votes[m.Window]++
	}
	for _, m := range s.catwalk["openrouter"] {
		if m.ID == resold {
			votes[int(m.ContextWindow)]++
		}
	}
	delete(votes, 0)
	best := 0
	for w, n := range votes {
		if best == 0 || n > votes[best] || n == votes[best] && w < best {
			best = w
		}
	}
	return best
}

// price is that of genai-prices, which dates its changes and tells reads from
// writes; else that of llm-zoo, which is newer; else that of catwalk. What llm-zoo
// says of reads is rounded; catwalk beside the same prices is exact.
func (s *sources) price(p provider, d *draft) *[4]int64 {
	var all []*[4]int64
	var from []string
	add := func(name string, price *[4]int64) {
		if price != nil {
			all, from = append(all, price), append(from, fmt.Sprint(name, price[:]))
		}
	}
	if m := s.priced(p.prices, d.id); m != nil {
		add("genai-prices", m.price(s.day()))
	}
	for _, z := range d.zoo {
		if price := z.price(); price != nil {
			add("llm-zoo", price)
			break
		}
	}
	if d.catwalk != nil {
		add("catwalk", catwalkPrice(*d.catwalk))
	}
	if len(all) == 0 {
		return nil
	}
	if last := all[len(all)-1]; last[0] == all[0][0] && last[1] == all[0][1] && last[2] > 0 && strings.HasPrefix(from[0], "llm-zoo") {
		all[0][2] = last[2]
	}
	if slices.ContainsFunc(all, func(q *[4]int64) bool { return q[0] != all[0][0] || q[1] != all[0][1] }) {
		log.Printf("%s/%s: %s", p.name, d.id, strings.Join(from, ", "))
	}
	return sane(all[0])
}

// sane leaves out prices of cached tokens that cannot be: a read that costs no less
// than a new token, and a write that costs less, which is what some vendors ask for
// keeping a token for an hour.
func sane(p *[4]int64) *[4]int64 {
	if p[2] >= p[0] {
		p[2] = 0
	}
	if p[3] < p[0] || p[3] >= p[1] {
		p[3] = 0
	}
	return p
}

// dearer returns the dated versions that have a price of their own.
func (s *sources) dearer(p provider, all []model) []model {
	var more []model
	for _, q := range s.npm.Prices[p.prices] {
		base := dated.ReplaceAllString(q.ID, "")
		i := slices.IndexFunc(all, func(m model) bool { return m.ID == base })
		if base == q.ID || i < 0 || s.priced(p.prices, base) == nil {
			continue
		}
		if price := q.price(s.day()); price != nil && all[i].Price != nil && *price != *all[i].Price {
			m := all[i]
			m.ID, m.Name, m.Aliases, m.Price = q.ID, m.Name+" "+strings.TrimPrefix(q.ID[len(base):], "-"), nil, sane(price)
			more = append(more, m)
		}
	}
	return more
}

// priced finds a model of genai-prices.
func (s *sources) priced(provider, id string) *priceModel {
	for i, m := range s.npm.Prices[provider] {
		if strings.EqualFold(m.ID, id) {
			return &s.npm.Prices[provider][i]
		}
	}
	for i, m := range s.npm.Prices[provider] {
		if m.Match.holds(id) {
			return &s.npm.Prices[provider][i]
		}
	}
	return nil
}

func (s *sources) day() time.Time {
	day, err := time.Parse(time.DateOnly, s.facts.Date)
	must(err)
	return day
}

func (s *sources) factsOf(p provider) map[string]fact {
	of := make(map[string]fact)
	for name, f := range s.facts.Models {
		if id, ok := strings.CutPrefix(name, p.name+"/"); ok {
			of[id] = f
		}
	}
	return of
}

// unused returns the facts about models that are nowhere else and have no window.
func (s *sources) unused() []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(s.facts.Models)) {
		if !s.used[name] {
			names = append(names, name)
		}
	}
	return names
}

func order() []string { return []string{"minimal", "low", "medium", "high", "xhigh", "max"} }

// levels returns the efforts among names in their order; none is no effort.
func levels(names []string) []string {
	return slices.DeleteFunc(order(), func(e string) bool { return !slices.Contains(names, e) })
}

// upTo returns the efforts from low to the strongest.
func upTo(strongest string) []string { return order()[1 : slices.Index(order(), strongest)+1] }

// check says what is wrong with a model.
func (m model) check() error {
	switch p := m.Price; {
	case m.Window < 4096:
		return fmt.Errorf("a window of %d", m.Window)
	case m.Output > m.Window:
		return errors.New("its answers are longer than its window")
	case p != nil && (p[2] != 0 && p[2] >= p[0] || p[3] != 0 && (p[3] < p[0] || p[3] >= p[1])):
		return fmt.Errorf("cached tokens cost %v", *p)
	}
	return nil
}
