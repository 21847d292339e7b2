package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/lorimer-dev/lorimer/cmd/internal/app"
	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/export"
)

func newSessionExport(g *globals) *cobra.Command {
	var o export.Options
	format, file := "json", ""
	c := withJSON(&cobra.Command{
		Use:   "export ID",
		Short: "Write a session as JSON, which import reads, or as Markdown",
		Long:  text("session-export"),
		Args:  exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			write, ok := exporters[format]
			switch {
			case !ok:
				return usagef("no format %q; choose json or markdown", format)
			case g.json(cmd) && format != "json":
				return usagef("--json and --format %s name two formats; leave one of them out", format)
			}
			return g.stored(cmd.Context(), args, func(ctx context.Context, a *app.App) (err error) {
				if o.Zone, err = zone(a); err != nil {
					return err
				}
				out := func(w io.Writer) error { return absent(write(ctx, w, a.Threads(), args[0], o), args[0]) }
				if file == "" || file == "-" {
					return out(cmd.OutOrStdout())
				}
				return save(file, out)
			})
		},
	})
	c.Flags().StringVar(&format, "format", format, "the `FORMAT`: json or markdown")
	c.Flags().StringVarP(&file, "output", "o", "", "write to `FILE`, which others cannot read, instead of standard output")
	c.Flags().BoolVar(&o.Reasoning, "reasoning", false, "add what the model thought")
	return c
}

// exporters write a thread, by the names of their formats.
var exporters = map[string]func(context.Context, io.Writer, export.Source, string, export.Options) error{
	"json":     export.JSON,
	"markdown": export.Markdown,
}

// save has write fill a file, which is there whole or as it was before; a symbolic
// link to one stays. What is no regular file, such as a pipe, is written to as it
// is.
func save(file string, write func(io.Writer) error) (err error) {
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real
	}
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(file, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	f, err := os.CreateTemp(filepath.Dir(file), ".lorimer-export-")
	if err != nil {
		if e, ok := errors.AsType[*os.PathError](err); ok {
			e.Path = file // the user knows no other
		}
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	// A loss of power must not leave an empty file in the place of a good one.
	if err := errors.Join(write(f), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), file)
}

func newSessionImport(g *globals) *cobra.Command {
	id := ""
	c := withJSON(&cobra.Command{
		Use:   "import FILE",
		Short: "Read a session back that was exported as JSON, and print its id",
		Long:  text("session-import"),
		Args:  exactly("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("id") {
				if err := checkIDs(id); err != nil {
					return err
				}
			}
			doc, err := readDocument(cmd.Context(), g.process, args[0])
			if err != nil {
				return err
			}
			if id != "" {
				doc.ID = id
			}
			return g.with(cmd.Context(), app.Stored, func(ctx context.Context, a *app.App) error {
				err := a.Threads().Restore(ctx, doc.ID, doc.Entries)
				if errors.Is(err, harness.ErrTaken) {
					return taken(doc.ID)
				}
				if err != nil {
					return err
				}
				return g.printMade(cmd, "session", doc.ID)
			})
		},
	})
	c.Flags().StringVar(&id, "id", "", "call the session `ID` instead of what the file says")
	return c
}

// readDocument reads an exported thread from a file, or from standard input for
// "-".
func readDocument(ctx context.Context, p Process, name string) (export.Document, error) {
	if name == "-" {
		return document("standard input", input(ctx, p.Stdin, maxThread))
	}
	f, err := os.Open(name)
	if err != nil {
		return export.Document{}, err
	}
	defer f.Close() // it was only read
	return document(name, f)
}

func document(name string, r io.Reader) (export.Document, error) {
	doc, err := export.Read(r)
	if _, ok := errors.AsType[*json.SyntaxError](err); ok {
		return export.Document{}, fmt.Errorf("%s: %w; what is read is the JSON of \"lorimer session export\"", name, err)
	}
	if err != nil {
		return export.Document{}, fmt.Errorf("%s: %w", name, err)
	}
	return doc, nil
}
