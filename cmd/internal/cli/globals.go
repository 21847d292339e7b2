package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lorimer-dev/lorimer/cmd/internal/app"
	"github.com/lorimer-dev/lorimer/cmd/internal/config"
	"github.com/lorimer-dev/lorimer/tools"
)

// globals are the flags of every command and what follows from them.
type globals struct {
	process Process
	signals *signals
	set     *pflag.FlagSet
}

// flags declares the flags that config reads (R-CMD-15).
func (g *globals) flags(root *cobra.Command) {
	g.set = root.PersistentFlags()
	for _, f := range []struct{ name, kind, usage string }{
		{"config", "FILE", "configuration file"},
		{"state", "DIR", "directory for what must be kept"},
		{"model", "MODEL", "PROVIDER/MODEL, PROVIDER, script:FILE or offline"},
		{"mode", "MODE", "what runs without asking: read-only, ask, accept-edits or auto"},
		{"trace", "FILE", "append what the model is sent, a JSON line a request"},
		{"clock", "TIME", "fix the clock, such as 2026-11-30T09:15:00Z"},
		{"clock-step", "SPAN", "advance a fixed clock with each prompt"},
		{"tz", "ZONE", "time zone, such as Europe/Berlin"},
		{"drain", "SPAN", "how long running prompts may finish after the end of input"},
		{"log-level", "LEVEL", "trace, debug, info, warn, error or off"},
		{"log-file", "FILE", "write the log there instead of standard error"},
	} {
		g.set.Var(&word{kind: f.kind}, f.name, f.usage)
	}
	g.set.Bool("no-queue", false, "refuse a prompt for a busy session instead of letting it wait")
}

// A word is the value of a flag, which config reads.
type word struct{ text, kind string }

func (w *word) String() string     { return w.text }
func (w *word) Set(v string) error { w.text = v; return nil }
func (w *word) Type() string       { return w.kind } // help shows it after the name

// sources returns where the configuration comes from.
func (g *globals) sources() config.Sources {
	env := make(map[string]string, len(g.process.Environ))
	for _, kv := range g.process.Environ {
		name, value, _ := strings.Cut(kv, "=")
		env[name] = value
	}
	flags := map[string]string{}
	g.set.VisitAll(func(f *pflag.Flag) {
		if f.Changed { // also by a command below, of which this set is not told
			flags[f.Name] = f.Value.String()
		}
	})
	return config.Sources{Env: func(name string) string { return env[name] }, Flags: flags}
}

// early returns what flags and environment decide, without reading a file.
func (g *globals) early() (config.Run, error) {
	run, err := config.Early(g.sources())
	if err != nil {
		return run, &exitError{exitUsage, err}
	}
	return run, nil
}

// load reads the configuration and tells its warnings on standard error.
func (g *globals) load() (*config.Config, error) {
	if _, err := g.early(); err != nil {
		return nil, err
	}
	c, warnings, err := config.Load(g.sources())
	if err != nil {
		return nil, err
	}
	for _, w := range warnings {
		g.warn(w)
	}
	return c, nil
}

// warn tells what has no effect in a file, which may be a stranger's.
func (g *globals) warn(w config.Warning) {
	fmt.Fprintln(g.process.Stderr, "lorimer: warning:", tools.Visible(w.String()))
}

// ending is how long servers may take to end by themselves when a command is done.
// Whoever interrupts it waits no longer than an editor does.
const ending = 4 * time.Second

// with sets the program up for the threads that keep says, runs f and ends what
// was started.
func (g *globals) with(ctx context.Context, keep app.Keep, f func(context.Context, *app.App) error) (err error) {
	run, err := g.early()
	if err != nil {
		return err
	}
	log, err := app.OpenLog(run, g.process.Stderr)
	if err != nil {
		return err
	}
	defer log.Close()
	a, err := g.app(log, keep)
	if err != nil {
		return err
	}
	defer func() {
		limit := ending
		if ctx.Err() != nil {
			limit = closing
		}
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
		defer cancel()
		err = errors.Join(err, a.Close(end))
	}()
	return f(ctx, a)
}

func (g *globals) app(log *app.Log, keep app.Keep) (*app.App, error) {
	return app.Open(app.Options{
		Sources: g.sources(),
		Environ: g.process.Environ,
		Keep:    keep,
		Log:     log.Logger,
		Version: version(),
		Warn:    g.warn,
	})
}
