package workspace

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/shell"
)

//go:embed bash.md
var bashDescription string

//go:embed bash_guide.md
var bashGuidance string

//go:embed bash.json
var bashSchema []byte

// The limits of a command where nothing else is said.
const (
	BashTimeout   = 120 * time.Second
	BashMaxOutput = 64 << 10 // bytes of output that the model gets
)

const (
	bashMaxTimeout = 600 * time.Second

	// maxCommand is what the systems we run on take as one argument of a
	// program, with room for the rest of it.
	maxCommand = 120 << 10
)

// BashOptions tunes the bash tool. The zero value is right for most uses.
type BashOptions struct {
	MaxOutput int    // bytes of output that the model gets, half from each end; default BashMaxOutput
	MaxLive   int    // bytes of output shown while a command runs; default 1 MiB
	SpillDir  string // where output above MaxOutput is kept whole, made when needed; "" keeps none
	MaxSpill  int64  // bytes of one such file; default 256 MiB
}

type bashInput struct {
	Command string `json:"command"`
	Timeout whole  `json:"timeout"` // seconds
}

// bashRaw is the end of a command for the client.
type bashRaw struct {
	ExitCode int    `json:"exitCode"` // -1 when it was ended by a signal
	Signal   string `json:"signal,omitempty"`
	TimedOut bool   `json:"timedOut,omitempty"`
}

type bash struct {
	fs     FS
	runner Runner
	o      BashOptions
}

// NewBash returns the tool that runs commands in the working directory of fs.
// A command that ends with an exit code other than 0 is a result like any
// other; one that was ended by a signal, the time limit or a cancel is a failed
// call, which has what was printed until then.
func NewBash(fs FS, r Runner, o BashOptions) tools.Tool {
	o.MaxOutput = cmp.Or(o.MaxOutput, BashMaxOutput)
	o.MaxLive = cmp.Or(o.MaxLive, 1<<20)
	o.MaxSpill = cmp.Or(o.MaxSpill, 256<<20)
	b := &bash{fs: fs, runner: r, o: o}
	return tools.Define(tools.Info{
		Name:        "bash",
		Description: bashDescription,
		Schema:      bashSchema,
		Guidance:    bashGuidance,
		Verb:        "running {command}",
		Kind:        tools.KindExecute,
		Effect:      tools.Executes,
	}, b.plan, b.run)
}

func (b *bash) plan(_ context.Context, in bashInput) (tools.Plan, error) {
	switch {
	case strings.TrimSpace(in.Command) == "":
		return tools.Plan{}, tools.Publicf("the command is empty; give the line to run")
	case strings.ContainsRune(in.Command, 0):
		return tools.Plan{}, tools.Publicf("the command has a NUL character, which no program can be given; write it as an escape such as '\\0'")
	case len(in.Command) > maxCommand:
		return tools.Plan{}, tools.Publicf("the command has %d bytes, more than %d; write it to a file and run that", len(in.Command), maxCommand)
	}
	return tools.Plan{
		Title:   tools.Line(in.Command, tools.MaxTitle),
		Effect:  tools.Executes,
		Command: in.Command,
		Always: tools.Grant{
			Key:   "bash:" + shell.Normalise(in.Command),
			Label: "this exact command, in this session",
		},
	}, nil
}

func (b *bash) run(ctx context.Context, in bashInput, call tools.Call) (tools.Result, error) {
	if _, err := b.plan(ctx, in); err != nil {
		return told(err)
	}
	limit := BashTimeout
	if in.Timeout > 0 {
		limit = time.Duration(min(in.Timeout, whole(bashMaxTimeout/time.Second))) * time.Second
	}
	out := newCapture(b.o, call.Output)
	exit, err := b.runner.Run(ctx, Command{
		Line:    in.Command,
		Dir:     b.fs.Dir(),
		Timeout: limit,
		Output:  out.write,
	})
	text := out.finish(func(file string) bool {
		_, err := b.fs.Resolve(file)
		return err == nil
	})
	switch {
	case ctx.Err() != nil:
	case errors.Is(err, fs.ErrNotExist):
		return tools.Failf("the command cannot start, since the working directory or the shell is not there any more; tell the user"), nil
	case err != nil:
		return tools.Result{}, fmt.Errorf("running command: %w", err)
	}
	end, failed := ending(ctx, exit, limit)
	if text == "" {
		text = "(no output)\n"
	} else if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return tools.Result{
		Text:    text + "[" + end + "]",
		IsError: failed,
		Raw:     bashRaw{ExitCode: exit.Code, Signal: exit.Signal, TimedOut: exit.TimedOut},
	}, nil
}

// ending says how a command ended, and whether the call failed with it.
func ending(ctx context.Context, e Exit, limit time.Duration) (string, bool) {
	switch {
	case e.TimedOut:
		return fmt.Sprintf("timed out after %v", limit), true
	case ctx.Err() != nil:
		return "cancelled", true
	case e.Signal != "":
		return "ended by signal " + e.Signal, true
	}
	return fmt.Sprintf("exit code %d", e.Code), false
}
