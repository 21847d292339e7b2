// Package app puts the program together. It is the only package that knows all
// the others: it reads the configuration, chooses the model, builds the tools
// of a turn and hands the harness to whoever serves it.
package app

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/lorimer-dev/lorimer/acp"
	"github.com/lorimer-dev/lorimer/cmd/internal/config"
	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/model/langchain"
	"github.com/lorimer-dev/lorimer/harness/model/script"
	"github.com/lorimer-dev/lorimer/harness/model/trace"
	"github.com/lorimer-dev/lorimer/harness/place"
	"github.com/lorimer-dev/lorimer/mcpbridge/discover"
	"github.com/lorimer-dev/lorimer/prompt"
	"github.com/lorimer-dev/lorimer/prompt/skills"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/approve"
	"github.com/lorimer-dev/lorimer/tools/ask"
	"github.com/lorimer-dev/lorimer/tools/doc"
	"github.com/lorimer-dev/lorimer/tools/skill"
	"github.com/lorimer-dev/lorimer/tools/workspace"
	"github.com/lorimer-dev/lorimer/tools/workspace/local"
)

// Options set an [App] up.
type Options struct {
	Sources config.Sources
	Environ []string // of the process, for the commands of the model
	Keep    Keep     // which threads and places there are
	Log     zerolog.Logger
	Warn    func(config.Warning) // hears what has no effect in a configuration file
	Version string               // of the program, as MCP servers are told
}

// An App is what lives as long as the process. It is safe for concurrent use.
type App struct {
	o       Options
	config  *live
	clock   *clock
	prompts *prompt.Registry
	trace   *trace.File // nil when there is none
	login   *local.LoginPath
	runner  *local.Runner
	threads *lazy
	places  *lazy // the same database, unless sessions leave nothing behind
	skills  skills.Library
	engine  *harness.Engine
	finder  finder
	servers servers

	transports transports
	left       langchain.Left

	found    sync.Once            // the model has been told of on standard error
	problems once[skills.Problem] // with skills
	failures once[string]         // to watch their folders
	warned   once[discover.Warning]

	mcp bridges

	mu      sync.Mutex // guards the field below, also while one is read, which may last
	scripts map[string]*script.Script
}

// Open reads the configuration. The database, models and network wait until they
// are needed.
func Open(o Options) (*App, error) {
	if err := shut(); err != nil {
		o.Log.Warn().Err(err).Msg("commands could read the environment of this process")
	}
	if o.Sources.Keys == nil {
		o.Sources.Keys = &config.Keys{}
	}
	a := &App{o: o, config: &live{sources: o.Sources, warn: o.Warn, told: map[config.Warning]bool{}}, scripts: map[string]*script.Script{}}
	c, err := a.config.read()
	if err != nil {
		return nil, err
	}
	for _, w := range unused(c) {
		o.Warn(w)
	}
	a.finder.log, a.servers.log = o.Log, o.Log
	a.skills.Secret = workspace.Secret
	a.clock = &clock{next: c.Run.Clock, step: c.Run.ClockStep}
	a.prompts, err = standard()
	if err != nil {
		return nil, err
	}
	if err := a.prompts.Check(facts(c)); err != nil {
		return nil, err
	}
	if c.Run.Trace != "" {
		a.trace, err = trace.Open(c.Run.Trace, c.Secrets()...)
		if err != nil {
			return nil, err
		}
	}
	a.login = local.NewLoginPath(o.Environ)
	a.runner = local.NewRunner(local.RunnerOptions{
		Env:   o.Environ,
		Drop:  c.SecretEnv(),
		Login: a.login,
	})
	a.threads = &lazy{open: a.openDatabase}
	a.places = a.threads
	if o.Keep == Apart {
		a.threads = &lazy{open: openNothing}
	}
	waiting := 0
	if c.Run.NoQueue {
		waiting = -1
	}
	a.engine = harness.New(harness.Options{
		Threads:   a.threads,
		Settings:  &settings{a},
		Documents: a.places,
		Outside:   local.ReadFile,
		Prompts:   a.prompts,
		Tools:     a.tools,
		Approve: approve.Options{
			Home:      c.Paths.Home,
			Protected: protected(c),
			Dirty:     workspace.Dirty(a.runner),
		},
		Shell: prompt.Environment{
			OS:        runtime.GOOS + "/" + runtime.GOARCH,
			Shell:     local.Shell(),
			Timeout:   workspace.BashTimeout,
			MaxOutput: workspace.BashMaxOutput,
		},
		Log:     o.Log,
		Now:     a.clock.now,
		Waiting: waiting,
		Idle:    time.Duration(c.Harness.Idle),
		Trace:   a.turn,
	})
	return a, nil
}

// Close ends the turns that run and what they started, and the MCP servers beside them,
// within ctx, and closes the database.
func (a *App) Close(ctx context.Context) error {
	defer a.transports.close()
	defer a.waitForLeft(ctx)
	servers := make(chan error, 1)
	go func() { servers <- a.mcp.close(ctx) }()
	err := a.engine.Close(ctx)
	return errors.Join(err, <-servers, a.threads.close(ctx), a.places.close(ctx), a.trace.Close())
}

// leftLimit is how long requests are waited for that have been cancelled and whose
// library heeds no cancel: it may go on for minutes.
const leftLimit = 250 * time.Millisecond

func (a *App) waitForLeft(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, leftLimit)
	defer cancel()
	if n := a.left.Wait(ctx); n > 0 {
		a.o.Log.Warn().Int("requests", n).Msg("cancelled requests go on until the program ends")
	}
}

// Config returns the configuration as it is now.
func (a *App) Config() (*config.Config, error) { return a.config.read() }

// Engine returns the harness of all sessions.
func (a *App) Engine() *harness.Engine { return a.engine }

// Threads returns the threads that the sessions of the engine are kept in.
func (a *App) Threads() harness.Threads { return a.threads }

// Places returns the projects, workspaces and documents. Where sessions leave
// nothing behind they are those of the database, if there is one.
func (a *App) Places() place.Places { return a.places }

// Choice returns the options of a new session.
func (a *App) Choice(ctx context.Context) (harness.Choice, error) { return (&settings{a}).Default(ctx) }

// Backend returns what an editor's sessions are made of.
func (a *App) Backend(ctx context.Context) (*acp.Backend, error) {
	c, err := a.config.read()
	if err != nil {
		return nil, err
	}
	a.tellModel(ctx, c)
	return &acp.Backend{
		Engine: a.engine,
		Chosen: c.Model != "",
		Open: func(ctx context.Context, d acp.Dirs) (acp.Workspace, error) {
			return a.Workspace(d.Cwd, d.More...)
		},
		Connect: a.Connect,
	}, nil
}

// tellModel tells the operator once which model was found, when the user has
// not chosen one; the first turn tells the user (R-CMD-13).
func (a *App) tellModel(ctx context.Context, c *config.Config) {
	a.found.Do(func() {
		if ref, from := a.finder.choose(ctx, c); from != "" {
			a.o.Log.Info().Str("model", ref).Str("because", from).Str("change", c.Paths.Config).Msg("found a model")
		}
	})
}

// Workspace opens the directories of a session. What its tools keep beside them
// is gone when it is closed.
func (a *App) Workspace(dir string, more ...string) (acp.Workspace, error) {
	fs, err := local.Open(dir, more...)
	if err != nil {
		return acp.Workspace{}, err
	}
	scratch := filepath.Join(os.TempDir(), "lorimer-"+strings.ToLower(rand.Text()))
	return acp.Workspace{FS: fs, Runner: a.runner, Scratch: scratch, Close: func() error {
		return errors.Join(fs.Close(), os.RemoveAll(scratch))
	}}, nil
}

// tools builds the tools of one turn.
func (a *App) tools(s harness.Scope) []tools.Tool {
	return append(workspaceTools(s),
		ask.New(s.Asker, prompt.Reveal),
		skill.New(s.Skills),
		doc.NewReadContext(s.Bodies, prompt.Wrap),
	)
}

// workspaceTools builds those that work in the directory of a session, and need
// nothing of a conversation.
func workspaceTools(s harness.Scope) []tools.Tool {
	return []tools.Tool{
		workspace.NewBash(s.FS, s.Runner, workspace.BashOptions{SpillDir: s.Scratch}),
		workspace.NewRead(s.FS, s.Seen),
		workspace.NewWrite(s.FS, s.Seen),
		workspace.NewEdit(s.FS, s.Seen),
		workspace.NewGlob(s.FS),
		workspace.NewGrep(s.FS),
	}
}

// turn writes what the trace says of a turn.
func (a *App) turn(t harness.TurnTrace) {
	a.trace.Turn(trace.Turn{Session: t.Session, Harness: t.Harness, Changed: t.Changed, Signature: t.Signature, Intent: string(t.Intent)})
}

// script returns the script of a file, read once: its lines are used up by the
// whole process.
func (a *App) script(file string) (*script.Script, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s, ok := a.scripts[file]; ok {
		return s, nil
	}
	s, err := script.Load(file)
	if err != nil {
		return nil, err
	}
	a.scripts[file] = s
	return s, nil
}

// exists reports whether there is a file.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
