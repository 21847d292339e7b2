package prompt

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

const (
	// skillTool loads the instruction of a skill.
	skillTool = "skill"

	// maxSkillList bounds the list of skills, in bytes. Above it descriptions are
	// shortened, down to minDescription each, and none is left out.
	maxSkillList   = 8 << 10
	minDescription = 40
)

// serverLines lists the MCP servers that merged a tool, by their prefixes
// (R-MCP-15).
func serverLines(c Context) string {
	if !c.hasTools() {
		return ""
	}
	servers := slices.SortedFunc(slices.Values(c.Servers), func(a, b Server) int {
		return cmp.Or(cmp.Compare(a.Prefix, b.Prefix), cmp.Compare(a.Tools, b.Tools))
	})
	var lines []string
	for _, s := range servers {
		switch {
		case s.Tools == 1:
			lines = append(lines, serversOneWords.fill("prefix", shown(s.Prefix)))
		case s.Tools > 1:
			lines = append(lines, serversManyWords.fill("prefix", shown(s.Prefix), "count", strconv.Itoa(s.Tools)))
		}
	}
	return strings.Join(lines, "\n")
}

// skillsText is the section Skills in one of two shapes: for a model that can load
// them, and for one that cannot (R-PROMPT-41, R-PROMPT-42).
func skillsText(c Context) (string, error) {
	switch {
	case len(c.Facts.Skills) == 0:
		return "", nil
	case c.has(skillTool):
		return skillsWords.plain(), nil
	case !slices.ContainsFunc(c.Facts.Skills, func(s Skill) bool { return s.Contract }):
		return skillsNamedWords.plain(), nil
	}
	return paragraphs(skillsNamedWords.plain(), skillsContractsWords.plain()), nil
}

// skillList lists the skills by name, a line each. Above the size that it may have
// it shortens the longest descriptions to one length.
func skillList(c Context) string {
	skills := bySkillName(c.Facts.Skills)
	lines := make([]string, len(skills))
	size := 0
	for i, s := range skills {
		skills[i].Name, skills[i].Description = shown(s.Name), shown(s.Description)
		lines[i] = skills[i].line()
		size += len(lines[i]) + len("\n")
	}
	if size > maxSkillList {
		room, lengths := maxSkillList-size, make([]int, len(skills))
		for i, s := range skills {
			lengths[i] = len(s.Description)
			room += len(s.Description)
		}
		limit := max(level(lengths, room), minDescription)
		for i, s := range skills {
			s.Description = cut(s.Description, limit)
			lines[i] = s.line()
		}
	}
	return strings.Join(lines, "\n")
}

func (s Skill) line() string {
	if s.Description == "" {
		return skillsBareWords.fill("name", s.Name)
	}
	return skillsLineWords.fill("name", s.Name, "description", s.Description)
}

// level returns the greatest length such that things of these lengths, each cut
// to it, need no more than room together.
func level(lengths []int, room int) int {
	sorted := slices.Sorted(slices.Values(lengths))
	for i, n := range sorted {
		if left := len(sorted) - i; n*left > room {
			return room / left
		}
		room -= n
	}
	if len(sorted) == 0 {
		return 0
	}
	return sorted[len(sorted)-1]
}

// skillContracts returns the instructions of the skills that settle the form of an
// output.
func skillContracts(c Context) string {
	if c.has(skillTool) {
		return ""
	}
	var bodies []string
	for _, s := range bySkillName(c.Facts.Skills) {
		if s.Contract {
			bodies = append(bodies, s.fenced())
		}
	}
	return strings.Join(bodies, "\n\n")
}

// fenced returns the instruction in an element that names the skill.
func (s Skill) fenced() string {
	if s.Fenced {
		return s.Instruction
	}
	return Wrap("skill", s.Instruction, "name", s.Name)
}

func bySkillName(skills []Skill) []Skill {
	return slices.SortedFunc(slices.Values(skills), func(a, b Skill) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Description, b.Description))
	})
}
