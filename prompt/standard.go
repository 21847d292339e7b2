package prompt

import (
	"strconv"
	"strings"
)

// Standard returns a registry with the sections of the agent (R-PROMPT-23).
// What it says depends on the context: fragments about tools are there when
// those tools are (R-PROMPT-24).
func Standard(o Options) (*Registry, error) {
	r, err := New(o)
	if err != nil {
		return nil, err
	}
	for _, s := range standardSections() {
		if _, err := r.Section(s); err != nil {
			return nil, err
		}
	}
	for _, v := range factVariables() {
		if _, err := r.Variable(v); err != nil {
			return nil, err
		}
	}
	for _, k := range noteKinds() {
		if err := r.Note(k); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func standardSections() []Section {
	return []Section{
		{Name: "Principles", Order: 10, Text: text("principles")},
		{Name: "Context", Order: 20, Render: contextText},
		{Name: "Tools", Order: ToolsOrder, Render: withTools("tools")},
		{Name: "Multi-step and recovery", Order: 190, Render: withTools("recovery")},
		{Name: "Output format", Order: 200, Text: text("format")},
		{Name: "Trust boundary", Order: 205, Render: withTools("trust")},
		{Name: "Language", Order: 210, Text: text("language")},
		{Name: "Conversation style", Order: 220, Text: text("style")},
	}
}

// withTools returns the text called name for contexts with any tool.
func withTools(name string) func(Context) (string, error) {
	return func(c Context) (string, error) {
		if len(c.Tools) == 0 {
			return "", nil
		}
		return text(name), nil
	}
}

// contextText chooses the lines about the user. Their values are variables, so
// that braces in them stay what the user typed.
func contextText(c Context) (string, error) {
	lines := []string{text("context"), ""}
	if oneLine(c.Facts.Name) != "" {
		lines = append(lines, text("context-name"))
	}
	switch _, known := c.Facts.coordinates(); {
	case oneLine(c.Facts.Location) == "":
		lines = append(lines, text("context-nowhere"))
	case known:
		lines = append(lines, text("context-coordinates"))
	default:
		lines = append(lines, text("context-location"))
	}
	if oneLine(c.Facts.Units) != "" {
		lines = append(lines, text("context-units"))
	}
	return strings.Join(lines, "\n"), nil
}

// factVariables are the values of [Facts] for templates. A fact that is not
// known has no value.
func factVariables() []Variable {
	of := func(name string, f func(Facts) string) Variable {
		return Variable{Name: name, User: true, Provide: func(c Context) (string, bool, error) {
			s := oneLine(f(c.Facts))
			return s, s != "", nil
		}}
	}
	return []Variable{
		of("user_name", func(f Facts) string { return f.Name }),
		of("user_location", func(f Facts) string { return f.Location }),
		of("user_units", func(f Facts) string { return f.Units }),
		{Name: "user_coordinates", Provide: func(c Context) (string, bool, error) {
			s, ok := c.Facts.coordinates()
			return s, ok, nil
		}},
		{Name: "language", Provide: func(c Context) (string, bool, error) {
			return languageName(c.Facts.Locale), true, nil
		}},
	}
}

// coordinates returns the coordinates in degrees if both are known.
func (f Facts) coordinates() (string, bool) {
	if f.Latitude == nil || f.Longitude == nil {
		return "", false
	}
	degrees := func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
	return degrees(*f.Latitude) + ", " + degrees(*f.Longitude), true
}
