package prompt

import (
	"path/filepath"
	"slices"
	"strings"
)

// searchTool finds what was said in the other conversations of a project.
const searchTool = "search_project_chats"

// projectText is the section Project: what the project says for every message,
// and how to find what was said in it elsewhere (R-PROMPT-28). With nothing of it
// to say there is no heading.
func projectText(c Context) (string, error) {
	var said []string
	if p := c.Facts.Project; p != nil && !blank(p.Instructions) {
		said = append(said, projectOwnWords.plain())
	}
	if slices.ContainsFunc(c.Facts.Instructions, func(i Instruction) bool { return !blank(i.Text) }) {
		said = append(said, projectFilesWords.plain())
	}
	if c.Facts.Project != nil && c.has(searchTool) {
		said = append(said, projectSearchWords.plain())
	}
	if len(said) == 0 {
		return "", nil
	}
	heading := projectWords
	if projectName(c) == "" {
		heading = projectNamelessWords
	}
	return paragraphs(heading.plain(), strings.Join(said, "\n\n")), nil
}

// projectName returns the name of the project, or that of the working directory.
func projectName(c Context) string {
	if p := c.Facts.Project; p != nil && shown(p.Name) != "" {
		return shown(p.Name)
	}
	if c.Cwd == "" {
		return ""
	}
	return shown(filepath.Base(c.Cwd))
}

func projectInstructions(c Context) string {
	if p := c.Facts.Project; p != nil && !blank(p.Instructions) {
		return Wrap("instructions", p.Instructions)
	}
	return ""
}

// fileInstructions returns the files that have anything in them, each in an
// element that names it.
func fileInstructions(c Context) string {
	var files []string
	for _, i := range c.Facts.Instructions {
		if !blank(i.Text) {
			files = append(files, Wrap("instructions", i.Text, "file", i.Path))
		}
	}
	return strings.Join(files, "\n\n")
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }
