package app

import (
	"strconv"

	"github.com/lorimer-dev/lorimer/cmd/internal/config"
	"github.com/lorimer-dev/lorimer/prompt"
	"github.com/lorimer-dev/lorimer/tools/budget"
)

// facts gives the prompt what the configuration says.
func facts(c *config.Config) prompt.Facts {
	return prompt.Facts{
		Persona:   &c.Persona,
		ToolOrder: c.ToolOrder,
		PersonaAt: c.At("persona"), ToolOrderAt: c.At("tool_order"),
		Volatile:  prompt.Placement(c.PromptCache.VolatilePlacement),
		Name:      c.Context.Name,
		Location:  c.Context.Location,
		Latitude:  c.Context.Latitude,
		Longitude: c.Context.Longitude,
		Units:     c.Context.Units,
		Time:      c.Context.Time,
		Currency:  c.Context.Currency,
		Locale:    c.Locale,
		Extras:    append(extras(c), hooks(c)...),
	}
}

// standard returns the registry of prompts. It has nothing of the configuration,
// which comes with the facts of each send: what a user takes out again must not
// stay.
func standard() (*prompt.Registry, error) {
	return prompt.Standard(prompt.Options{WebNotice: budget.Notice})
}

// profile returns what the configuration says of the model ref to that model.
func profile(c *config.Config, ref string) prompt.Profile {
	p := c.ModelProfile(ref)
	return prompt.Profile{
		Tools: p.Tools, ToolsAt: c.ModelAt(ref, "tools_override"),
		LinkPreviews: p.LinkPreviews, LinkPreviewsAt: c.ModelAt(ref, "link_previews_override"),
		Style: p.Style, StyleAt: c.ModelAt(ref, "chat_mode_addendum"),
	}
}

// extras groups the declared sections and variables by their scope.
func extras(c *config.Config) []prompt.Extra {
	var all []prompt.Extra
	at := make(map[string]int) // in all, by scope
	layer := func(scope string) *prompt.Extra {
		i, ok := at[scope]
		if !ok {
			i, at[scope] = len(all), len(all)
			all = append(all, prompt.Extra{Scope: scope})
		}
		return &all[i]
	}
	for i, s := range c.Sections {
		e := layer(s.Scope)
		e.Sections = append(e.Sections, prompt.Section{
			Name: s.Name, Order: s.Order, Text: *s.Text, Literal: s.Literal, At: c.At("section." + strconv.Itoa(i)),
		})
	}
	for i, v := range c.Variables {
		e := layer(v.Scope)
		e.Variables = append(e.Variables, prompt.Variable{
			Name: v.Name, Text: v.Value, User: true, At: c.At("variable." + strconv.Itoa(i)),
		})
	}
	return all
}
