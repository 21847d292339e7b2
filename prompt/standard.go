package prompt

import (
	"slices"
	"strings"
)

// Standard returns a registry with the sections of the agent (R-PROMPT-23), the
// variables that they refer to, and the kinds of notes. What it says depends on
// the context: fragments about tools are there when those tools are (R-PROMPT-24),
// and what is always there is the same with tools and without.
func Standard(o Options) (*Registry, error) {
	r, err := New(o)
	if err != nil {
		return nil, err
	}
	for _, s := range standardSections(o) {
		if _, err := r.Section(s); err != nil {
			return nil, err
		}
	}
	for _, v := range standardVariables(o) {
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

func standardSections(o Options) []Section {
	return []Section{
		{Name: "Principles", Order: 10, Text: principlesWords.plain()},
		{Name: "Context", Order: 20, Render: contextText},
		{Name: "Project", Order: 30, Render: projectText},
		{Name: "Workspace", Order: 40, Render: workspaceText},
		{Name: "Tools", Order: toolsOrder, Text: lookupText(o.WebNotice)},
		{Name: "Web tools", Order: 110, Render: when(webWords, func(c Context) bool {
			return c.has("search") && c.has("fetch_content")
		})},
		{Name: "Tools override", Order: 120, Render: func(c Context) (string, error) {
			if !c.hasTools() {
				return "", nil
			}
			return c.Facts.Profile.Tools, nil
		}, sources: func(f Facts) []Source {
			return []Source{{f.Profile.Tools, f.Profile.ToolsAt}}
		}},
		{Name: "Connected MCP servers", Order: 130, Render: when(serversWords, func(c Context) bool {
			return serverLines(c) != ""
		})},
		{Name: "Skills", Order: 140, Render: skillsText},
		{Name: "Link previews", Order: 160, Text: linksWords.plain()},
		{Name: "Link previews override", Order: 165, Render: func(c Context) (string, error) {
			return c.Facts.Profile.LinkPreviews, nil
		}, sources: func(f Facts) []Source {
			return []Source{{f.Profile.LinkPreviews, f.Profile.LinkPreviewsAt}}
		}},
		{Name: "Multi-step and recovery", Order: 190, Render: when(recoveryWords, Context.hasTools)},
		{Name: "Output format", Order: 200, Render: formatText},
		{Name: "Trust boundary", Order: 205, Text: trustWords.plain()},
		{Name: "Language", Order: 210, Text: languageWords.plain()},
		{Name: "Conversation style", Order: 220, Render: func(c Context) (string, error) {
			return paragraphs(styleWords.plain(), strings.TrimSpace(c.Facts.Profile.Style)), nil
		}, sources: func(f Facts) []Source {
			return []Source{{strings.TrimSpace(f.Profile.Style), f.Profile.StyleAt}}
		}},
	}
}

// standardVariables are what the sections refer to. What is not known has no
// value.
func standardVariables(o Options) []Variable {
	user := func(name string, f func(Context) string) Variable {
		v := variable(name, f)
		v.User = true
		return v
	}
	return []Variable{
		user("user_name", func(c Context) string { return shown(c.Facts.Name) }),
		user("user_location", func(c Context) string { return shown(c.Facts.Location) }),
		user("user_coordinates", func(c Context) string { return c.Facts.coordinates() }),
		user("user_units", func(c Context) string { return shown(c.Facts.Units) }),
		user("user_time", func(c Context) string { return shown(c.Facts.Time) }),
		user("user_currency", func(c Context) string { return shown(c.Facts.Currency) }),
		variable("integrations", func(c Context) string { return c.Facts.Integrations.status() }),
		user("project", projectName),
		user("project_instructions", projectInstructions),
		user("instructions", fileInstructions),
		user("workspace", workspaceList),
		user("workspace_id", func(c Context) string { return shown(c.Facts.bound().ID) }),
		user("workspace_title", func(c Context) string { return c.Facts.bound().name() }),
		variable("web_notice", func(Context) string { return o.WebNotice }),
		user("mcp_servers", serverLines),
		user("skills", skillList),
		user("skill_contracts", skillContracts),
		variable("language", func(c Context) string { return languageName(c.Facts.Locale) }),
	}
}

// when returns the render function of a text for contexts that fit.
func when(w words, fits func(Context) bool) func(Context) (string, error) {
	return func(c Context) (string, error) {
		if !fits(c) {
			return "", nil
		}
		return w.plain(), nil
	}
}

// has reports whether a tool is installed.
func (c Context) has(tool string) bool {
	return slices.ContainsFunc(c.Tools, func(t ToolSchema) bool { return t.Name == tool })
}

func (c Context) hasTools() bool { return len(c.Tools) > 0 }

// lookupText is the section Tools: when to look something up, and how much. It
// speaks of no tool, since it stands in prompts without any too.
func lookupText(notice string) string {
	lines := []string{lookupWords.plain()}
	if notice != "" {
		lines = append(lines, lookupNoticeWords.plain())
	}
	return strings.Join(append(lines, lookupEndWords.plain()), "\n")
}

// formatText is the section Output format for the citation mode, which the
// identity has checked.
func formatText(c Context) (string, error) {
	cite := formatRegistryWords
	if c.Citations == CiteLinked {
		cite = formatLinkedWords
	}
	return formatWords.plain() + "\n" + cite.plain(), nil
}
