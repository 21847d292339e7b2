package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lorimer-dev/lorimer/cmd/internal/app"
	"github.com/lorimer-dev/lorimer/harness/place"
	"github.com/lorimer-dev/lorimer/tools"
)

func newWorkspaceAdd(g *globals) *cobra.Command {
	var collection, name string
	c := withJSON(&cobra.Command{
		Use:   "add ID FILE...",
		Short: "Copy files into a workspace, and print their keys",
		Long:  text("workspace-add"),
		Args:  atLeast("ID", "FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, files := args[0], args[1:]
			in := addition{name: line(name)}
			if cmd.Flags().Changed("collection") {
				in.collection = new(line(collection))
			}
			if err := in.check(cmd, files); err != nil {
				return err
			}
			return g.places(cmd, app.Found, func(ctx context.Context, _ *app.App, p place.Places) error {
				if _, err := p.Workspace(ctx, id); err != nil {
					return missing(err, "workspace", id)
				}
				added := []place.Item{}
				return g.all(ctx, cmd, files, func(file string) error {
					i, err := in.add(ctx, g.process, p, id, file)
					if err != nil {
						return err
					}
					added = append(added, i)
					if !g.json(cmd) {
						_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s  %s\n", i.Key, tools.Line(i.Name, titleWidth))
					}
					return err
				}, func([]string) any { return itemSummaries(added) })
			})
		},
	})
	c.Flags().StringVar(&collection, "collection", "", "put them into the part of the workspace with this `NAME`")
	c.Flags().StringVar(&name, "name", "", "call the document `NAME`; for one FILE")
	return c
}

// An addition says how files are added to a workspace.
type addition struct {
	name       string  // of the document; "" is that of its file
	collection *string // nil leaves a document where it is, and a new one in none
}

func (in addition) check(cmd *cobra.Command, files []string) error {
	switch {
	case in.name != "" && len(files) > 1:
		return usagef("--name is the name of one document, and there are %d files; add them one by one", len(files))
	case in.name == "" && cmd.Flags().Changed("name"):
		return usagef("--name gives no name; leave it out for that of the file")
	case in.name == "" && slices.Contains(files, "-"):
		return usagef("what comes from standard input needs a name; give --name")
	}
	return mistake(place.ItemEdit{Collection: in.collection}.Check())
}

// add copies a file into the workspace. A document that is there already keeps its
// pin.
func (in addition) add(ctx context.Context, proc Process, p place.Places, id, file string) (place.Item, error) {
	content, err := readContent(ctx, proc, file, maxInput)
	if err != nil {
		return place.Item{}, err
	}
	name := cmp.Or(in.name, filepath.Base(file))
	d, err := p.Keep(ctx, name, mediaType(name, content), content)
	if err != nil {
		return place.Item{}, err
	}
	if err := p.AddItem(ctx, id, d.Key, place.ItemEdit{Name: name, Collection: in.collection}); err != nil {
		return place.Item{}, notIn(err, id, d.Key)
	}
	i, err := p.Item(ctx, id, d.Key)
	return i, notIn(err, id, d.Key)
}

func newWorkspaceRemove(g *globals) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "remove ID KEY...",
		Short: "Take documents out of a workspace",
		Args:  atLeast("ID", "KEY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.items(cmd, args, func(ctx context.Context, p place.Places, id, key string) error {
				return p.DropItem(ctx, id, key)
			}, func(keys []string) any { return map[string]any{"workspace": args[0], "removed": keys} })
		},
	})
}

func newWorkspacePin(g *globals, on bool) *cobra.Command {
	use, short := "pin ID KEY...", "Have documents told to every session of the workspace by their titles"
	if !on {
		use, short = "unpin ID KEY...", "Leave documents out of what sessions are told"
	}
	return withJSON(&cobra.Command{
		Use:   use,
		Short: short,
		Args:  atLeast("ID", "KEY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.items(cmd, args, func(ctx context.Context, p place.Places, id, key string) error {
				return p.EditItem(ctx, id, key, place.ItemEdit{Pinned: &on})
			}, func(keys []string) any { return map[string]any{"workspace": args[0], "documents": keys, "pinned": on} })
		},
	})
}

// items runs f for the documents of a workspace that args name behind its id, by keys
// that may lack their kind.
func (g *globals) items(cmd *cobra.Command, args []string, f func(ctx context.Context, p place.Places, id, key string) error, report func(keys []string) any) error {
	id := args[0]
	return g.places(cmd, app.Found, func(ctx context.Context, _ *app.App, p place.Places) error {
		if _, err := p.Workspace(ctx, id); err != nil {
			return missing(err, "workspace", id)
		}
		return g.all(ctx, cmd, args[1:], func(key string) error {
			if !strings.Contains(key, ":") {
				key = "document:" + key
			}
			return notIn(f(ctx, p, id, key), id, key)
		}, report)
	})
}

// notIn tells of a workspace that is not there, or of a document that is not in it, where
// to look.
func notIn(err error, id, key string) error {
	if errors.Is(err, place.ErrNoDocument) {
		return fmt.Errorf("there is no %q in the workspace %q; \"lorimer workspace show %s\" has the keys", key, id, id)
	}
	return missing(err, "workspace", id)
}
