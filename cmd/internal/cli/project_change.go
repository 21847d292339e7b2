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

// read returns the instructions, nil if the command line gives none.
func (i *instructions) read(cmd *cobra.Command, p Process) (*string, error) {
	typed, named := cmd.Flags().Changed("instructions"), cmd.Flags().Changed("file")
	text := i.text
	switch {
	case typed && named:
		return nil, usagef("--instructions and --file give the instructions twice; leave one of them out")
	case named:
		content, err := readContent(cmd.Context(), p, i.file, place.MaxInstructions)
		if err != nil {
			return nil, err
		}
		text = strings.TrimPrefix(string(content), "\ufeff")
	case !typed:
		return nil, nil
	}
	return new(strings.TrimRight(text, " \t\r\n")), nil
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
			text, err := in.read(cmd, g.process)
			if err != nil {
				return err
			}
			if text != nil {
				p.Instructions = *text
			}
			return g.places(cmd, app.Stored, func(ctx context.Context, _ *app.App, all place.Places) error {
				id, err := addProject(ctx, all, p)
				if err != nil {
					return err
				}
				return g.printMade(cmd, "project", id)
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
	var e projectEdit
	var in instructions
	name := ""
	c := withJSON(&cobra.Command{
		Use:   "edit ID",
		Short: "Change the name, the directories or the instructions of a project",
		Long:  text("project-edit"),
		Args:  exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if cmd.Flags().Changed("name") {
				e.name = new(line(name))
			}
			if e.instructions, err = in.read(cmd, g.process); err != nil {
				return err
			}
			if e.empty() {
				return usagef("nothing is to be changed; give --name, --dir, --remove-dir, --instructions or --file")
			}
			if e.add, err = directories(e.add); err != nil {
				return err
			}
			return g.places(cmd, app.Found, func(ctx context.Context, _ *app.App, all place.Places) error {
				p, err := editProject(ctx, all, args[0], e)
				if err != nil || !g.json(cmd) {
					return err
				}
				return printJSON(cmd.OutOrStdout(), projectSummaryOf(p))
			})
		},
	})
	c.Flags().StringVar(&name, "name", "", "call it `NAME`; the id stays")
	c.Flags().StringArrayVar(&e.add, "dir", nil, "add `DIR` to its directories; can be given again")
	c.Flags().StringArrayVar(&e.remove, "remove-dir", nil, "take `DIR` out of them; can be given again")
	in.flags(c)
	return c
}

// A projectEdit is what is to be changed of a project.
type projectEdit struct {
	name         *string // nil leaves it
	instructions *string // nil leaves them
	add, remove  []string
}

func (e projectEdit) empty() bool {
	return e.name == nil && e.instructions == nil && len(e.add) == 0 && len(e.remove) == 0
}

// maxEdits is how often an edit begins anew because the project was changed in between.
const maxEdits = 20

// editProject changes a project, and returns it as it is then.
func editProject(ctx context.Context, all place.Projects, ref string, e projectEdit) (p place.Project, err error) {
	for range maxEdits {
		if p, err = e.try(ctx, all, ref); !errors.Is(err, place.ErrChanged) {
			return p, err
		}
	}
	return p, fmt.Errorf("the project %q was changed by others again and again; try it again", ref)
}

// try is editProject, which fails with place.ErrChanged if somebody else was faster.
func (e projectEdit) try(ctx context.Context, all place.Projects, ref string) (place.Project, error) {
	p, err := project(ctx, all, ref)
	if err != nil {
		return p, err
	}
	if err := e.apply(&p); err != nil {
		return p, err
	}
	if err := p.Check(); err != nil {
		return p, mistake(err)
	}
	if err := unclaimed(ctx, all, p); err != nil {
		return p, err
	}
	if err := all.SetProject(ctx, p); err != nil {
		return p, missing(err, "project", ref)
	}
	p, err = all.Project(ctx, p.ID)
	return p, missing(err, "project", ref)
}

// apply changes p. Directories that are gone from the disk can be taken out too.
func (e projectEdit) apply(p *place.Project) error {
	if e.name != nil {
		p.Name = *e.name
	}
	if e.instructions != nil {
		p.Instructions = *e.instructions
	}
	dirs := slices.Clone(p.Dirs)
	for _, d := range e.add {
		if !slices.Contains(dirs, d) {
			dirs = append(dirs, d)
		}
	}
	for _, name := range e.remove {
		i := slices.Index(dirs, name)
		if d, err := directory(name); err == nil && i < 0 {
			i = slices.Index(dirs, d)
		}
		if i < 0 {
			return fmt.Errorf("%s is no directory of the project %q; \"lorimer project show %s\" has them", name, p.Name, p.ID)
		}
		dirs = slices.Delete(dirs, i, i+1)
	}
	p.Dirs = dirs
	return nil
}
