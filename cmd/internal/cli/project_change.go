package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lorimer-dev/lorimer/cmd/internal/app"
	"github.com/lorimer-dev/lorimer/harness/place"
)

// instructions are given on the command line or in a file.
type instructions struct{ text, file string }

func (i *instructions) flags(c *cobra.Command) {
	c.Flags().StringVar(&i.text, "instructions", "", "`TEXT` that every message in the project brings to the model")
	c.Flags().StringVar(&i.file, "file", "", "read the instructions from `FILE`; - is standard input")
}

// read returns the instructions, and whether the command line has any.
func (i *instructions) read(cmd *cobra.Command, p Process) (string, bool, error) {
	typed, named := cmd.Flags().Changed("instructions"), cmd.Flags().Changed("file")
	text := i.text
	switch {
	case typed && named:
		return "", false, usagef("--instructions and --file give the instructions twice; leave one of them out")
	case named:
		content, err := readContent(cmd.Context(), p, i.file, place.MaxInstructions)
		if err != nil {
			return "", false, err
		}
		text = strings.TrimPrefix(string(content), "\ufeff")
	case !typed:
		return "", false, nil
	}
	return strings.TrimRight(text, " \t\r\n"), true, nil
}

func newProjectAdd(g *globals) *cobra.Command {
	var dirs []string
	var in instructions
	nowhere := false
	c := withJSON(&cobra.Command{
		Use:   "add NAME",
		Short: "Make a project of the current directory, or of others, and print its id",
		Long:  text("project-add"),
		Args:  exactly("NAME"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			switch {
			case nowhere && len(dirs) > 0:
				return usagef("--dir and --no-dir contradict each other; leave one of them out")
			case !nowhere && len(dirs) == 0:
				dirs = []string{"."}
			}
			p := place.Project{Name: line(args[0])}
			if p.Dirs, err = directories(dirs); err != nil {
				return err
			}
			if p.Instructions, _, err = in.read(cmd, g.process); err != nil {
				return err
			}
			return g.places(cmd, app.Stored, func(ctx context.Context, _ *app.App, all place.Places) error {
				if p.ID, err = addProject(ctx, all, p); err != nil {
					return err
				}
				return g.printMade(cmd, "project", p.ID)
			})
		},
	})
	c.Flags().StringArrayVar(&dirs, "dir", nil, "a directory of the project, `DIR`; can be given again")
	c.Flags().BoolVar(&nowhere, "no-dir", false, "no directory: sessions join by --project alone")
	in.flags(c)
	return c
}

// directories returns where the directories really are, each once.
func directories(names []string) ([]string, error) {
	var all []string
	for _, name := range names {
		d, err := directory(name)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(all, d) {
			all = append(all, d)
		}
	}
	return all, nil
}

// addProject keeps p under an id made from its name, and returns that.
func addProject(ctx context.Context, all place.Projects, p place.Project) (string, error) {
	if err := unclaimed(ctx, all, p); err != nil {
		return "", err
	}
	id, err := newID(ctx, p.Name, func(ctx context.Context, id string) error { _, err := all.Project(ctx, id); return err })
	if err != nil {
		return "", err
	}
	p.ID = id
	if err := p.Check(); err != nil {
		return "", mistake(err)
	}
	if err := all.AddProject(ctx, p); errors.Is(err, place.ErrTaken) {
		return "", fmt.Errorf("a project %q was made just now; try it again", id)
	} else if err != nil {
		return "", err
	}
	return p.ID, nil
}

// unclaimed refuses a name that another project has: --project could mean either.
func unclaimed(ctx context.Context, all place.Projects, p place.Project) error {
	others, err := all.Projects(ctx)
	if err != nil {
		return err
	}
	for _, o := range others {
		if o.ID != p.ID && (o.Name == p.Name || o.ID == p.Name) {
			return fmt.Errorf("there is a project %q already; \"lorimer project edit %s\" changes it, or choose another name", p.Name, o.ID)
		}
	}
	return nil
}

func newProjectEdit(g *globals) *cobra.Command {
	var name string
	var add, remove []string
	var in instructions
	c := withJSON(&cobra.Command{
		Use:   "edit ID",
		Short: "Change the name, the directories or the instructions of a project",
		Long:  text("project-edit"),
		Args:  exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			changed := cmd.Flags().Changed
			if !slices.ContainsFunc([]string{"name", "dir", "remove-dir", "instructions", "file"}, changed) {
				return usagef("nothing is to be changed; give --name, --dir, --remove-dir, --instructions or --file")
			}
			edit, err := editOf(cmd, g.process, name, add, &in)
			if err != nil {
				return err
			}
			return g.places(cmd, app.Found, func(ctx context.Context, _ *app.App, all place.Places) error {
				p, err := project(ctx, all, args[0])
				if err != nil {
					return err
				}
				edit(&p)
				if err := leave(&p, remove); err != nil {
					return err
				}
				if err := p.Check(); err != nil {
					return mistake(err)
				}
				if err := unclaimed(ctx, all, p); err != nil {
					return err
				}
				if err := all.SetProject(ctx, p); err != nil {
					return missing(err, "project", args[0])
				}
				if g.json(cmd) {
					p, err := all.Project(ctx, p.ID)
					if err != nil {
						return missing(err, "project", args[0])
					}
					return printJSON(cmd.OutOrStdout(), projectSummaryOf(p))
				}
				return nil
			})
		},
	})
	c.Flags().StringVar(&name, "name", "", "call it `NAME`; the id stays")
	c.Flags().StringArrayVar(&add, "dir", nil, "add `DIR` to its directories; can be given again")
	c.Flags().StringArrayVar(&remove, "remove-dir", nil, "take `DIR` out of them; can be given again")
	in.flags(c)
	return c
}

// editOf reads what the command line changes of a project, and returns the change.
func editOf(cmd *cobra.Command, p Process, name string, add []string, in *instructions) (func(*place.Project), error) {
	add, err := directories(add)
	if err != nil {
		return nil, err
	}
	text, given, err := in.read(cmd, p)
	if err != nil {
		return nil, err
	}
	return func(p *place.Project) {
		if cmd.Flags().Changed("name") {
			p.Name = line(name)
		}
		if given {
			p.Instructions = text
		}
		for _, d := range add {
			if !slices.Contains(p.Dirs, d) {
				p.Dirs = append(slices.Clip(p.Dirs), d)
			}
		}
	}, nil
}

// leave takes directories out of a project, also those that are gone from the disk.
func leave(p *place.Project, names []string) error {
	for _, name := range names {
		i := slices.Index(p.Dirs, name)
		if d, err := directory(name); err == nil && i < 0 {
			i = slices.Index(p.Dirs, d)
		}
		if i < 0 {
			return fmt.Errorf("%s is no directory of the project %q; \"lorimer project show %s\" has them", name, p.Name, p.ID)
		}
		p.Dirs = slices.Delete(slices.Clone(p.Dirs), i, i+1)
	}
	return nil
}
