package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/lorimer-dev/lorimer/cmd/internal/app"
	"github.com/lorimer-dev/lorimer/prompt/skills"
	"github.com/lorimer-dev/lorimer/tools"
)

func newSkills(g *globals) *cobra.Command {
	return group("skills", "List the skills, and look for mistakes in them", newSkillsList(g), newSkillsLint(g))
}

func newSkillsList(g *globals) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "list",
		Short: "List the skills that a session in this directory has",
		Long:  text("skills-list"),
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := os.Getwd()
			if err != nil {
				return fmt.Errorf("finding the current directory: %w", err)
			}
			return g.with(cmd.Context(), app.Apart, func(_ context.Context, a *app.App) error {
				found, problems, err := a.Skills(dir)
				if err != nil {
					return err
				}
				for _, p := range problems {
					fmt.Fprintf(g.process.Stderr, "lorimer: %s\n", problemLine(p))
				}
				if g.json(cmd) {
					return printJSON(cmd.OutOrStdout(), skillSummaries(found))
				}
				w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
				fmt.Fprintln(w, "NAME\tSCOPE\tSTATE\tDESCRIPTION\tPATH")
				for _, s := range skillSummaries(found) {
					state := "on"
					if !s.Enabled {
						state = "disabled"
					}
					fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", s.Name, s.Scope, state, tools.Line(s.Description, titleWidth),
						tools.Line(cmp.Or(s.Path, "-"), tools.MaxTitle))
				}
				return w.Flush()
			})
		},
	})
}

// A skillSummary is what programs are told of a skill.
type skillSummary struct {
	Name        string       `json:"name"`
	Scope       skills.Scope `json:"scope"`
	Enabled     bool         `json:"enabled"`
	Path        string       `json:"path"` // "" for one without a file
	Description string       `json:"description"`
	Contract    bool         `json:"outputContract"`
}

func skillSummaries(found []skills.Skill) []skillSummary {
	out := make([]skillSummary, 0, len(found))
	for _, s := range found {
		out = append(out, skillSummary{s.Name, s.Scope, s.Enabled, s.Path, s.Description, s.Contract})
	}
	return out
}

// problemLine tells of a problem on one line, whatever a file is called.
func problemLine(p skills.Problem) string {
	return tools.Line(p.Path, 4*tools.MaxTitle) + ": " + tools.Line(p.Text, 4*tools.MaxTitle)
}

func newSkillsLint(g *globals) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "lint [DIR...]",
		Short: "Tell every mistake in skills, a line each",
		Long:  text("skills-lint"),
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, dirs []string) error {
			if len(dirs) > 0 {
				return lintDirs(dirs, g.sources().Env("HOME")).report(g, cmd)
			}
			return g.with(cmd.Context(), app.Apart, func(_ context.Context, a *app.App) error {
				l, err := lintHere(a)
				if err != nil {
					return err
				}
				return l.report(g, cmd)
			})
		},
	})
}

// A lint is what is wrong with skills.
type lint struct {
	skills   int // how many were looked at and can be used
	problems []skills.Problem
	strict   bool // every problem counts, not only that a skill cannot be used
	home     string
}

// lintHere looks at what a session in the current directory reads.
func lintHere(a *app.App) (lint, error) {
	dir, err := os.Getwd()
	if err != nil {
		return lint{}, fmt.Errorf("finding the current directory: %w", err)
	}
	places, err := a.SkillPlaces(dir)
	if err != nil {
		return lint{}, err
	}
	found, problems, err := a.Skills(dir)
	if err != nil {
		return lint{}, err
	}
	l := lint{home: places.Home}
	for _, r := range places.Roots() {
		if _, err := os.Lstat(r.Path); err == nil {
			l.add(r.Path)
		}
	}
	l.skills = len(found)
	for _, p := range problems {
		if !l.told(p) {
			l.problems = append(l.problems, p)
		}
	}
	return l, nil
}

// lintDirs looks at folders, as they are, that their author names.
func lintDirs(dirs []string, home string) lint {
	l := lint{strict: true, home: home}
	for _, dir := range dirs {
		l.add(dir)
	}
	return l
}

// add reads a folder strictly.
func (l *lint) add(path string) {
	found, problems := skills.Strict(path, l.home)
	l.skills += len(found)
	l.problems = append(l.problems, problems...)
}

// told reports whether the strict reading has a part of p already, which tells all
// that is wrong with a file at once. It does not know what a session refuses.
func (l *lint) told(p skills.Problem) bool {
	i := slices.IndexFunc(l.problems, func(q skills.Problem) bool { return q.Path == p.Path && strings.Contains(p.Text, q.Text) })
	if i >= 0 && l.problems[i].Text == p.Text {
		l.problems[i].Fatal = p.Fatal
	}
	return i >= 0
}

// report prints a line for each problem, and ends the program with 1 if one counts.
func (l lint) report(g *globals, cmd *cobra.Command) error {
	if err := l.print(g, cmd); err != nil {
		return err
	}
	if slices.ContainsFunc(l.problems, func(p skills.Problem) bool { return l.strict || p.Fatal }) {
		return &exitError{code: exitFailed} // the lines say why
	}
	return nil
}

func (l lint) print(g *globals, cmd *cobra.Command) error {
	slices.SortStableFunc(l.problems, func(a, b skills.Problem) int { return cmp.Compare(a.Path, b.Path) })
	if g.json(cmd) {
		type problem struct {
			Path    string `json:"path"`
			Problem string `json:"problem"`
			Fatal   bool   `json:"fatal"`
		}
		out := make([]problem, 0, len(l.problems))
		for _, p := range l.problems {
			out = append(out, problem{p.Path, p.Text, p.Fatal})
		}
		return printJSON(cmd.OutOrStdout(), out)
	}
	for _, p := range l.problems {
		if _, err := fmt.Fprintln(cmd.OutOrStdout(), problemLine(p)); err != nil {
			return err
		}
	}
	switch {
	case len(l.problems) > 0:
	case l.skills == 0:
		fmt.Fprintln(g.process.Stderr, "lorimer: no skill is there; DIR is a folder of skills, such as .agents/skills, or that of one")
	default:
		fmt.Fprintf(g.process.Stderr, "lorimer: nothing is wrong with %s\n", count(l.skills, "skill"))
	}
	return nil
}
