package main

import (
	"slices"
	"strings"

	"charm.land/catwalk/pkg/catwalk"
)

// smallest is the window below which a model of OpenRouter is left out, of which
// there are hundreds: less is of no use for work with tools.
const smallest = 65_536

// resold returns the models of OpenRouter: those of catwalk, which lists the ones
// that call tools, and the newest of llm-zoo, as far as they have a window of some
// size and do not make pictures or sound. Its prices are its own; that a model costs
// nothing is part of its id.
func (s *sources) resold(p provider) []model {
	makers := s.makers()
	var all []model
	for _, c := range s.catwalk[p.catwalk] {
		if c.ContextWindow < smallest || strings.HasPrefix(c.ID, "openrouter/") ||
			strings.Contains(c.ID, "audio") || strings.Contains(c.ID, "image") {
			continue
		}
		d := draft{id: c.ID, catwalk: &c}
		m := model{
			ID: c.ID, Name: d.name(), Window: int(c.ContextWindow), Images: c.SupportsImages, Thinks: c.CanReason,
			Output: makers[c.ID].Output, Price: s.resalePrice(p, c),
		}
		if m.Output > m.Window {
			m.Output = 0
		}
		all = append(all, m)
	}
	for id, z := range makers {
		if z.Deprecated || z.Retired || !z.Capabilities.Tools || slices.ContainsFunc(all, func(m model) bool { return m.ID == id }) {
			continue
		}
		m := model{
			ID: id, Name: label(z), Window: z.Window, Output: z.Output,
			Images: z.Capabilities.Images, Thinks: z.Capabilities.Thinks,
		}
		if q := s.priced(p.prices, id); q != nil {
			if price := q.price(s.day()); price != nil {
				m.Price = sane(price)
			}
		}
		all = append(all, m)
	}
	return all
}

// makers returns the models of llm-zoo by their ids at OpenRouter; thinking counts
// if one of the entries of a model has it.
func (s *sources) makers() map[string]zooModel {
	of := make(map[string]zooModel)
	for _, z := range s.npm.Zoo {
		if z.OpenRouter == "" || strings.Contains(z.OpenRouter, ":") || z.Tier != "" || z.Mode != "" {
			continue
		}
		z.Capabilities.Thinks = z.Capabilities.Thinks || of[z.OpenRouter].Capabilities.Thinks
		of[z.OpenRouter] = z
	}
	return of
}

// resalePrice is what both sources say, or the one that says something. What a model
// costs at OpenRouter depends on who serves it; where they differ nobody knows.
func (s *sources) resalePrice(p provider, c catwalk.Model) *[4]int64 {
	if strings.HasSuffix(c.ID, ":free") {
		return &[4]int64{}
	}
	price := catwalkPrice(c)
	var other *[4]int64
	if q := s.priced(p.prices, c.ID); q != nil {
		other = q.price(s.day())
	}
	switch {
	case price == nil && other == nil:
		return nil
	case price == nil:
		return sane(other)
	case other == nil:
		return sane(price)
	case other[0] != price[0] || other[1] != price[1]:
		return nil
	}
	return sane(price)
}
