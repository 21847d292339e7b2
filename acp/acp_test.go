package acp_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/tmc/langchaingo/llms"
	"golang.org/x/tools/txtar"

	"github.com/lorimer-dev/lorimer/acp"
	"github.com/lorimer-dev/lorimer/acp/acptest"
	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/script"
	"github.com/lorimer-dev/lorimer/harness/store/memory"
	"github.com/lorimer-dev/lorimer/prompt"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/ask"
	"github.com/lorimer-dev/lorimer/tools/server"
	"github.com/lorimer-dev/lorimer/tools/workspace"
	"github.com/lorimer-dev/lorimer/tools/workspace/local"
)

var update = flag.Bool("update", false, "write what the agent says into the transcripts")

// A rig is a server with a real harness, real file tools and a model that says
// what the test wrote.
type rig struct {
	model   string // lines of the script model
	streams model.Streamer
	waiting int
	chosen  bool
	notices []string
	start   func(context.Context) error // runs first when the backend is made
	runner  workspace.Runner
	log     io.Writer
	seen    *recorder                             // keeps the requests that the model got
	threads harness.Threads                       // default a store in memory
	spaces  *spaces                               // counts workspaces
	shelf   *shelf                                // of skills; default none
	places  *places                               // default none
	connect func(acp.Servers) (server.Set, error) // default no servers
}

// spaces counts the workspaces that were opened and are not closed.
type spaces struct {
	opened atomic.Int64
	left   atomic.Int64
}

// open counts w.
func (s *spaces) open(w acp.Workspace) acp.Workspace {
	if s == nil {
		return w
	}
	s.opened.Add(1)
	s.left.Add(1)
	end := w.Close
	w.Close = func() error {
		s.left.Add(-1)
		return end()
	}
	return w
}

// serve returns the agent.
func (r rig) serve(tb testing.TB) acptest.Serve {
	return acp.New(acp.Options{
		Version: "test",
		Log:     zerolog.New(zerolog.SyncWriter(orDiscard(r.log))),
		Start: func(ctx context.Context) (*acp.Backend, error) {
			if r.start != nil {
				if err := r.start(ctx); err != nil {
					return nil, err
				}
			}
			return r.backend(tb), nil
		},
	}).Serve
}

func orDiscard(w io.Writer) io.Writer {
	if w == nil {
		return io.Discard
	}
	return w
}

func (r rig) backend(tb testing.TB) *acp.Backend {
	prompts, err := prompt.Standard(prompt.Options{})
	if err != nil {
		tb.Error(err)
	}
	s, err := script.Parse(strings.NewReader(r.model), "model")
	if err != nil {
		tb.Error(err)
	}
	open := s.Open
	if r.streams != nil {
		open = func(context.Context) (model.Streamer, error) { return r.streams, nil }
	}
	if r.seen != nil {
		inner := open
		open = func(ctx context.Context) (model.Streamer, error) {
			st, err := inner(ctx)
			if err != nil {
				return nil, err
			}
			return &recording{st, r.seen}, nil
		}
	}
	now := func() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }
	threads := r.threads
	if threads == nil {
		threads = memory.New(ticking(now()))
	}
	engine := harness.New(harness.Options{
		Threads:  threads,
		Settings: settings{open: open, shelf: r.shelf, places: r.places},
		Prompts:  prompts,
		Now:      now,
		Waiting:  r.waiting,
		Tools: func(sc harness.Scope) []tools.Tool {
			return []tools.Tool{
				workspace.NewRead(sc.FS, sc.Seen), workspace.NewWrite(sc.FS, sc.Seen), workspace.NewEdit(sc.FS, sc.Seen),
				workspace.NewBash(sc.FS, sc.Runner, workspace.BashOptions{}), ask.New(sc.Asker, prompt.Reveal),
			}
		},
	})
	b := &acp.Backend{
		Engine:  engine,
		Chosen:  r.chosen,
		Notices: r.notices,
		Open: func(_ context.Context, d acp.Dirs) (acp.Workspace, error) {
			disk, err := local.Open(d.Cwd, d.More...)
			if err != nil {
				return acp.Workspace{}, err
			}
			return r.spaces.open(acp.Workspace{FS: disk, Runner: r.runner, Close: disk.Close}), nil
		},
	}
	if r.connect != nil {
		b.Connect = func(_ context.Context, sv acp.Servers) (server.Set, error) { return r.connect(sv) }
	}
	return b
}

// last returns where the last send was made.
func (ps *places) last() harness.Place {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if len(ps.seen) == 0 {
		return harness.Place{}
	}
	return ps.seen[len(ps.seen)-1]
}

// ticking returns a clock on which a second passes each time somebody looks.
func ticking(start time.Time) func() time.Time {
	var ticks atomic.Int64
	return func() time.Time { return start.Add(time.Duration(ticks.Add(1)) * time.Second) }
}

// settings choose between two models that are the same.
type settings struct {
	open   func(context.Context) (model.Streamer, error)
	shelf  *shelf
	places *places
}

var models = []model.Descriptor{
	{Kind: "script", Provider: "script", ID: "one", Window: 100_000, Images: true, Thinks: true},
	{Kind: "script", Provider: "script", ID: "two", Window: 100_000},
}

func (s settings) Freeze(ctx context.Context, p harness.Place, c harness.Choice) (harness.Snapshot, error) {
	if err := s.places.freeze(p); err != nil {
		return harness.Snapshot{}, err
	}
	skills, err := s.Skills(ctx, p)
	if err != nil {
		return harness.Snapshot{}, err
	}
	for _, m := range models {
		if m.Ref() == c.Model {
			return harness.Snapshot{Model: m, Open: s.open, Prompt: prompt.Facts{Persona: p.Persona, Locale: p.Locale, Skills: skills}}, nil
		}
	}
	return harness.Snapshot{}, &model.Error{Kind: model.Unavailable, Message: "no such model"}
}

func (s settings) Settle(_ context.Context, p harness.Place) (harness.Place, error) {
	return p, s.places.freeze(p)
}

func (s settings) Skills(_ context.Context, p harness.Place) ([]prompt.Skill, error) {
	return append(s.shelf.list(), p.Skills...), nil
}

func (s settings) Watch(_ harness.Place, changed func()) func() { return s.shelf.watch(changed) }

// A shelf is skills that change while the agent runs. Nil is empty and stays so.
type shelf struct {
	blind bool // nobody who watches is told

	mu       sync.Mutex // guards the fields below
	skills   []prompt.Skill
	watchers map[int]func()
	last     int
}

func (s *shelf) list() []prompt.Skill {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.skills)
}

func (s *shelf) watch(changed func()) (stop func()) {
	if s == nil || s.blind {
		return func() {}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	id := s.last
	if s.watchers == nil {
		s.watchers = make(map[int]func())
	}
	s.watchers[id] = changed
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers, id)
	}
}

// put replaces the skills and tells all who watch.
func (s *shelf) put(names ...string) {
	s.mu.Lock()
	s.skills = nil
	for _, name := range names {
		s.skills = append(s.skills, prompt.Skill{Name: name, Description: "About " + name, Instruction: "Do " + name})
	}
	watchers := slices.Collect(maps.Values(s.watchers))
	s.mu.Unlock()
	for _, changed := range watchers {
		changed()
	}
}

// places keeps where sends were made. Nothing that a session may belong to exists
// but the project "there".
type places struct {
	mu   sync.Mutex // guards seen
	seen []harness.Place
}

func (ps *places) freeze(p harness.Place) error {
	if p.Project != "" && p.Project != "there" {
		return &harness.MissingError{What: "project", ID: p.Project}
	}
	if p.Workspace != "" {
		return &harness.MissingError{What: "workspace", ID: p.Workspace}
	}
	if ps != nil {
		ps.mu.Lock()
		defer ps.mu.Unlock()
		ps.seen = append(ps.seen, p)
	}
	return nil
}

func (s settings) Models(context.Context) ([]model.Descriptor, error) { return models, nil }

func (s settings) Default(context.Context) (harness.Choice, error) {
	return harness.Choice{Model: models[0].Ref()}, nil
}

// A recorder keeps requests to the model.
type recorder struct {
	mu       sync.Mutex       // held while a request is added: sessions run beside each other
	requests []*model.Request // to be read when none runs
}

type recording struct {
	model.Streamer
	r *recorder
}

func (r *recording) Stream(ctx context.Context, req *model.Request, sink func(model.Event) error) (*model.Reply, error) {
	r.r.mu.Lock()
	r.r.requests = append(r.r.requests, req)
	r.r.mu.Unlock()
	return r.Streamer.Stream(ctx, req, sink)
}

// runnerFunc is a function as a [workspace.Runner].
type runnerFunc func(context.Context, workspace.Command) (workspace.Exit, error)

func (f runnerFunc) Run(ctx context.Context, c workspace.Command) (workspace.Exit, error) {
	return f(ctx, c)
}

// talkative runs any command by printing its line, a second at a time, and then
// ends with exit code 3.
var talkative = runnerFunc(func(ctx context.Context, c workspace.Command) (workspace.Exit, error) {
	for _, word := range strings.Fields(c.Line) {
		c.Output([]byte(word + "\n"))
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return workspace.Exit{Code: -1, Signal: "SIGTERM"}, ctx.Err()
		}
	}
	return workspace.Exit{Code: 3}, nil
})

// TestTranscripts plays the conversations in testdata. A file "model" is the
// script of the model, "notices" what the backend wants to be told.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			acptest.Transcript(t, file, t.TempDir(), *update, func(ar *txtar.Archive) acptest.Serve {
				r := rig{runner: talkative, connect: func(sv acp.Servers) (server.Set, error) { return echoing(sv), nil }}
				for _, f := range ar.Files {
					switch f.Name {
					case "model":
						r.model = string(f.Data)
					case "notices":
						r.notices = strings.Split(string(bytes.TrimSpace(f.Data)), "\n")
					}
				}
				return r.serve(t)
			})
		})
	}
}

// streamFunc is a function as a [model.Streamer]; its answer is what it has told
// the sink.
type streamFunc func(ctx context.Context, sink func(model.Event) error) error

func (f streamFunc) Stream(ctx context.Context, _ *model.Request, sink func(model.Event) error) (*model.Reply, error) {
	if err := f(ctx, sink); err != nil {
		return nil, err
	}
	return &model.Reply{Stop: model.StopEnd}, nil
}

func (streamFunc) GenerateContent(context.Context, []llms.MessageContent, ...llms.CallOption) (*llms.ContentResponse, error) {
	return nil, errors.ErrUnsupported
}

func (streamFunc) Call(context.Context, string, ...llms.CallOption) (string, error) {
	return "", errors.ErrUnsupported
}
