package harness

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/retry"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/prompt"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/approve"
)

// A turn answers one message of the user. It lives from the moment its place in
// the queue comes up until Prompt returns, and one goroutine drives it; only
// what a call does runs beside.
type turn struct {
	s      *Session
	o      *Options
	choice Choice
	in     Input
	out    *watcher
	log    zerolog.Logger
	hold   *hold // of the thread, while the turn runs

	// Frozen at the start of the send (R-HARN-06).
	now      time.Time
	info     thread.Info // of the thread, before this turn
	revision int
	snap     Snapshot
	shape    prompt.Shape
	tools    *tools.Registry
	all      []tools.Info // of the tools, those included that the mode withholds
	away     lacking      // tools that may come back
	wire     []model.Tool // what the model is told of, in order
	parts    prompt.Parts
	assembly prompt.Assembly
	named    []prompt.Skill // that the message names by slash tokens
	told     []string       // keys of the advice that the message brings
	expansion
	asSent bool // the message is sent as it was before
	comp   prompt.Composition
	sig    Signature
	lease  lease

	quiet bool  // the user is not told of servers
	seq   int64 // of the turn's first entry in the thread
	ids   int   // given so far

	repeats  retry.Allowance // of all requests of the turn (R-HARN-24)
	usage    model.Usage
	asked    int             // requests so far
	answered bool            // some of an answer is stored
	unasked  int             // calls refused because there was nobody to ask
	calls    map[string]int  // by tool
	faulty   map[string]int  // malformed calls by name and arguments
	barren   map[string]bool // places of files of instructions that have none to tell
	blocked  map[string]bool // tools that are not run any more in this turn (C113)
	astray   int             // steps in a row whose calls all named tools that cannot be called
}

func newTurn(s *Session, c Choice, in Input, out *watcher) *turn {
	if in.MessageID == "" {
		in.MessageID = "u-" + strings.ToLower(rand.Text())
	}
	return &turn{
		s: s, o: &s.e.o, choice: c, in: in, out: out,
		log:   s.e.o.Log.With().Str("session", s.id).Logger(),
		calls: make(map[string]int), faulty: make(map[string]int), barren: make(map[string]bool), blocked: make(map[string]bool),
	}
}

// run takes the thread and answers. With an error, or when ctx has ended, the
// thread is whole and no tool call is open.
func (t *turn) run(ctx context.Context) (Stop, error) {
	ctx, h, err := t.s.e.hold(ctx, t.s.id, t.log)
	if err != nil {
		return "", err
	}
	defer h.release(ctx)
	t.hold = h
	t.s.e.pool.part(t.s.id)
	defer func() { t.s.e.pool.release(t.lease) }() // before another turn can come for it
	stop, err := t.answer(ctx)
	if lost := lostBy(ctx); lost != nil {
		return "", lost
	}
	return stop, err
}

// answer is the turn while it has the thread.
func (t *turn) answer(ctx context.Context) (Stop, error) {
	if err := t.prepare(ctx); err != nil {
		if r, ok := errors.AsType[*refusal](err); ok {
			return t.reply(r.text)
		}
		return "", err
	}
	if err := t.begin(ctx); err != nil {
		return "", err
	}
	stop, err := t.steps(ctx)
	if err == nil || ctx.Err() != nil || t.answered {
		return stop, err
	}
	if failed := t.append(ctx, thread.Withdrawn{}); failed != nil {
		err = errors.Join(err, failed)
	}
	return stop, err
}

// prepare reads everything that the send depends on, and gets the harness. When it
// fails no model has been asked, and nothing but a message is stored.
func (t *turn) prepare(ctx context.Context) error {
	if err := t.freeze(ctx); err != nil {
		return err
	}
	t.s.found(ctx, t.snap.Prompt.Skills)
	t.s.learned(t.snap.Model)
	if err := t.expand(ctx); err != nil {
		return err
	}
	if err := t.take(ctx); err != nil {
		if _, ok := errors.AsType[*modelError](err); !ok || t.in.Retry || ctx.Err() != nil {
			return err
		}
		if failed := t.storeUnanswered(ctx); failed != nil {
			err = errors.Join(err, failed)
		}
		return err
	}
	if err := t.compose(t.lease.conv); err != nil {
		return err
	}
	if t.o.Trace != nil {
		t.o.Trace(TurnTrace{
			Session: t.s.id, Harness: t.lease.how, Changed: t.lease.changed, Signature: t.sig.Digest(),
			Intent: intent(t.named),
		})
	}
	return nil
}

// freeze reads what the send depends on, and assembles and signs its prompt.
func (t *turn) freeze(ctx context.Context) error {
	t.now = t.o.Now()
	err := t.survey(ctx)
	if err != nil {
		return err
	}
	if t.snap, err = t.o.Settings.Freeze(ctx, t.s.place(), t.choice); err != nil {
		if missing, ok := errors.AsType[*MissingError](err); ok {
			return &MissingError{What: missing.What, ID: missing.ID, Gone: true}
		}
		return err
	}
	if t.snap.Zone != nil {
		t.now = t.now.In(t.snap.Zone)
	}
	if t.away, err = t.equip(ctx); err != nil {
		return err
	}
	return t.assemble()
}

// equip chooses the shape and collects the tools, built anew for this turn
// (R-HARN-09). It returns those that may come back.
func (t *turn) equip(ctx context.Context) (away lacking, err error) {
	all := t.o.Tools(t.scope())
	if t.snap.Model.NoTools || t.choice.Tools == ToolsOff {
		t.shape = prompt.Stateless // no set is asked, so none has to connect (R-HARN-21)
		away = t.s.lacking()
		for _, tool := range all {
			away.names = append(away.names, tool.Info().Name)
		}
		t.tools, err = tools.NewRegistry(nil)
		return away, err
	}
	t.shape = prompt.Harness
	more, err := t.foreign(ctx, all)
	if err != nil {
		return away, err
	}
	all = append(all, more...)
	for _, tool := range all {
		t.all = append(t.all, tool.Info())
	}
	if t.tools, err = tools.NewRegistry(approve.Gate(t.mode()), all...); err != nil {
		return away, err
	}
	away = t.s.lacking()
	away.names = append(away.names, t.tools.Known()...)
	return away, nil
}

// scope is what the tools of the turn are built for.
func (t *turn) scope() Scope {
	sp := &t.s.spec
	return Scope{
		Session: t.s.id, FS: sp.FS, Runner: sp.Runner, Seen: &t.s.seen, Scratch: sp.Scratch, Model: t.snap.Model,
		Asker: sp.Asker, Skills: newSkillSource(t.snap), Bodies: newBodySource(t), Key: t.key(),
	}
}

// key is what the turn may spend is counted under. Giving an answer anew raises the
// revision, so that it starts afresh (R-HARN-26).
func (t *turn) key() string { return t.in.MessageID + "#" + strconv.Itoa(t.revision) }

// mode returns the mode that holds for this send.
func (t *turn) mode() approve.Mode { return cmp.Or(t.snap.Mode, t.choice.Mode) }

// assemble assembles the prompt and signs it.
func (t *turn) assemble() error {
	c := prompt.Context{
		Scope: t.s.id, Model: display(t.snap.Model), Cwd: t.s.spec.FS.Dir(), Known: t.away.names, Prefixes: t.away.prefixes,
		Citations: t.choice.Citations, Facts: t.snap.Prompt,
	}
	c.Tools, c.Servers = schemas(t.tools.Infos()), origins(t.tools.Infos())
	parts, assembly, err := t.o.Prompts.Parts(c, t.now)
	if err != nil {
		return err
	}
	t.parts, t.assembly = parts, assembly
	if err := t.sign(c); err != nil {
		return err
	}
	t.wire, err = wireTools(assembly.Tools)
	return err
}

// compose makes the system string and what goes around the text of the user, for
// the next message of conv.
func (t *turn) compose(conv *thread.Conversation) (err error) {
	t.named = named(t.in.Blocks, t.snap.Prompt.Skills)
	env := t.environment()
	t.comp, err = t.o.Prompts.Compose(prompt.Send{
		Shape: t.shape, Parts: t.parts, Client: t.s.spec.Client, Environment: &env,
		Volatile: t.snap.Prompt.Volatile, Notes: t.notes(conv),
	})
	return err
}

// environment describes where the offered tools work: the shell only where one
// of them runs programs.
func (t *turn) environment() prompt.Environment {
	env := t.o.Shell
	env.Cwd = t.s.spec.FS.Dir()
	if roots := t.s.spec.FS.Roots(); len(roots) > 1 {
		env.Roots = roots[1:]
	}
	if !slices.ContainsFunc(t.tools.Infos(), func(i tools.Info) bool { return i.Effect&tools.Executes != 0 }) {
		env.Shell, env.Timeout, env.MaxOutput = "", 0, 0
	}
	return env
}

// sign signs the send whose prompt was assembled for c. What the mode withholds
// is missing in that prompt (R-PROMPT-24), but the mode must not show in the
// signature (R-HARN-03): it covers the prompt as it is with all tools.
func (t *turn) sign(c prompt.Context) error {
	parts := t.parts
	if len(t.all) > len(c.Tools) {
		c.Tools, c.Servers = schemas(t.all), origins(t.all)
		var err error
		if parts, _, err = t.o.Prompts.Parts(c, t.now); err != nil {
			return err
		}
	}
	t.sig = Sign(Inputs{
		Model: t.snap.Model, Effort: t.choice.Thinking, Tools: t.shape == prompt.Harness,
		Citations: string(t.choice.Citations), Stable: parts.Stable, Revision: t.revision,
	})
	return nil
}

// schemas describes tools to the prompt.
func schemas(infos []tools.Info) []prompt.ToolSchema {
	var out []prompt.ToolSchema
	for _, i := range infos {
		out = append(out, prompt.ToolSchema{
			Name: i.Name, Description: i.Description, Schema: i.Schema, Guidance: i.Guidance,
		})
	}
	return out
}

// display is the name of a model for people.
func display(d model.Descriptor) string { return cmp.Or(d.Name, d.ID) }

func wireTools(schemas []prompt.ToolSchema) ([]model.Tool, error) {
	var out []model.Tool
	for _, s := range schemas {
		var schema bytes.Buffer
		if len(s.Schema) > 0 {
			if err := json.Compact(&schema, s.Schema); err != nil {
				return nil, fmt.Errorf("schema of tool %s: %w", s.Name, err)
			}
		}
		out = append(out, model.Tool{Name: s.Name, Description: s.Description, Schema: schema.Bytes()})
	}
	return out, nil
}

// declared reports whether the model was told of the tool (R-TOOLS-23).
func (t *turn) declared(name string) bool {
	return slices.ContainsFunc(t.wire, func(w model.Tool) bool { return w.Name == name })
}

// begin tells the notices and stores the user's message, before any model is
// asked (R-HARN-22).
func (t *turn) begin(ctx context.Context) error {
	for _, text := range slices.Concat(t.s.spec.Notices, t.snap.Notices, t.unseenBefore()) {
		if err := t.notice(text); err != nil {
			return err
		}
	}
	if err := t.storeInput(ctx); err != nil {
		return err
	}
	return t.tellUnseen()
}

// notice tells the user something that is told once in a session.
func (t *turn) notice(text string) error {
	if t.s.told[text] {
		return nil
	}
	if err := t.out.emit(event.Notice{Severity: event.Info, Text: text}); err != nil {
		return err
	}
	t.s.told[text] = true
	return nil
}

// id gives the next id of the turn. Its number is that of the turn's first entry
// in the thread, so that no other turn can give the same, nor one of a copy.
func (t *turn) id(kind string) string {
	t.ids++
	return fmt.Sprintf("%s%d-%d", kind, t.seq, t.ids)
}
