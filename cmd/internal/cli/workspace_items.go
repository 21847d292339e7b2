package cli

import (
	"context"
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
			add, err := addition(cmd, g.process, files, collection, name)
			if err != nil {
				return err
			}
			return g.places(cmd, app.Found, func(ctx context.Context, _ *app.App, p place.Places) error {
				if _, err := p.Workspace(ctx, id); err != nil {
					return missing(err, "workspace", id)
				}
				added := []place.Item{}
				return g.all(ctx, cmd, files, func(file string) error {
					i, err := add(ctx, p, id, file)
					if err != nil {
						return missing(err, "workspace", id)
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

// addition checks how files are to be added to a workspace, and returns what adds
// one of them.
func addition(cmd *cobra.Command, proc Process, files []string, collection, name string) (func(context.Context, place.Places, string, string) (place.Item, error), error) {
	sorted := cmd.Flags().Changed("collection")
	collection, name = line(collection), line(name)
	if err := (place.Item{Collection: collection}).Check(); err != nil {
		return nil, mistake(err)
	}
	switch {
	case name != "" && len(files) > 1:
		return nil, usagef("--name is the name of one document, and there are %d files; add them one by one", len(files))
	case cmd.Flags().Changed("name") && name == "":
		return nil, usagef("--name gives no name; leave it out for that of the file")
	case name == "" && slices.Contains(files, "-"):
		return nil, usagef("what comes from standard input needs a name; give --name")
	}
	return func(ctx context.Context, p place.Places, id, file string) (place.Item, error) {
		content, err := readContent(ctx, proc, file, maxInput)
		if err != nil {
			return place.Item{}, err
		}
		as := name
		if as == "" {
			as = filepath.Base(file)
		}
		d, err := p.Keep(ctx, as, mediaType(as, content), content)
		if err != nil {
			return place.Item{}, err
		}
		i, err := item(ctx, p, id, d.Key) // what was there stays pinned
		if err != nil {
			i = place.Item{}
		}
		i.Document, i.Name = d, as
		if sorted {
			i.Collection = collection
		}
		return i, p.SetItem(ctx, id, i)
	}, nil
}

// item returns the document of a workspace with a key, which may lack its kind.
func item(ctx context.Context, p place.Workspaces, id, key string) (place.Item, error) {
	all, err := p.Items(ctx, id)
	if err != nil {
		return place.Item{}, missing(err, "workspace", id)
	}
	if !strings.Contains(key, ":") {
		key = "document:" + key
	}
	if i := slices.IndexFunc(all, func(i place.Item) bool { return i.Key == key }); i >= 0 {
		return all[i], nil
	}
	return place.Item{}, fmt.Errorf("there is no %q in the workspace %q; \"lorimer workspace show %s\" has the keys", key, id, id)
}

func newWorkspaceRemove(g *globals) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "remove ID KEY...",
		Short: "Take documents out of a workspace",
		Args:  atLeast("ID", "KEY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.items(cmd, args, func(ctx context.Context, p place.Places, id string, i place.Item) error {
				return p.DropItem(ctx, id, i.Key)
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
			return g.items(cmd, args, func(ctx context.Context, p place.Places, id string, i place.Item) error {
				i.Pinned = on
				return p.SetItem(ctx, id, i)
			}, func(keys []string) any { return map[string]any{"workspace": args[0], "documents": keys, "pinned": on} })
		},
	})
}

// items runs f for the documents of a workspace that args name behind its id.
func (g *globals) items(cmd *cobra.Command, args []string, f func(context.Context, place.Places, string, place.Item) error, report func(keys []string) any) error {
	id := args[0]
	return g.places(cmd, app.Found, func(ctx context.Context, _ *app.App, p place.Places) error {
		if _, err := p.Workspace(ctx, id); err != nil {
			return missing(err, "workspace", id)
		}
		return g.all(ctx, cmd, args[1:], func(key string) error {
			i, err := item(ctx, p, id, key)
			if err != nil {
				return err
			}
			return missing(f(ctx, p, id, i), "workspace", id)
		}, report)
	})
}
