package harness

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/place"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/prompt"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/approve"
	"github.com/lorimer-dev/lorimer/tools/ask"
	"github.com/lorimer-dev/lorimer/tools/budget"
	"github.com/lorimer-dev/lorimer/tools/doc"
	"github.com/lorimer-dev/lorimer/tools/server"
	"github.com/lorimer-dev/lorimer/tools/skill"
	"github.com/lorimer-dev/lorimer/tools/workspace"
)

// Errors that a caller branches on.
var (
	ErrBadID    = errors.New("invalid session id") // R-HARN-01
	ErrTaken    = errors.New("session id is taken")
	ErrNotFound = errors.New("no such session")
	ErrBusy     = errors.New("session is busy with another turn") // R-ACP-25
	ErrClosed   = errors.New("session is closed")
	ErrOption   = errors.New("no such option value")
	ErrLost     = errors.New("another process has taken the session over")
	ErrNoEntry  = errors.New("no such message in the session")
	ErrTitle    = errors.New("a title needs at least one character that shows")
	ErrCursor   = errors.New("invalid cursor; begin the list anew without one")
)

// Threads keeps threads. What a method has changed is durable when it returns. An
// id has passed [CheckID].
type Threads interface {
	Log
	Library
	Locks
}

// A Log is the entries of threads.
type Log interface {
	// Create makes a thread from c and further entries, in one step, or fails
	// with ErrTaken.
	Create(ctx context.Context, id string, c thread.Created, more ...thread.Body) error
	// Append adds entries in one step and returns them with Seq and Time set.
	// Turn is the token of the turn that writes them, which fails with ErrLost
	// when another has taken its place; "" is for what no turn writes. Without
	// bodies it tells no more than whether the turn has its place.
	Append(ctx context.Context, id, turn string, bodies ...thread.Body) ([]thread.Entry, error)
	// Read calls f with each entry after seq, in order, and holds no more than a
	// page of them in memory. ErrNotFound without a thread, also when it was
	// deleted before all that stood in it at the call could be read.
	Read(ctx context.Context, id string, after int64, f func(thread.Entry) error) error
}

// A Library is the threads as a whole.
type Library interface {
	Info(ctx context.Context, id string) (thread.Info, error)          // or ErrNotFound
	List(ctx context.Context, q thread.Query) (thread.Page, error)     // or ErrCursor
	Search(ctx context.Context, s thread.Search) ([]thread.Hit, error) // the best hit first
	// Copy makes thread id from c and the entries of thread from after the
	// first, up to and with Seq last, and then more, in one step. Their numbers
	// and times stay. ErrNotFound, ErrTaken.
	Copy(ctx context.Context, from string, last int64, id string, c thread.Created, more ...thread.Body) error
	// Restore makes thread id from entries that keep their numbers and times, in
	// one step: the first is a Created, and the numbers run from 1 without a gap.
	// ErrTaken.
	Restore(ctx context.Context, id string, entries []thread.Entry) error
	// Delete deletes a thread and all that belongs to it. ErrNotFound; a
	// *LockedError while a turn of it runs.
	Delete(ctx context.Context, id string) error
}

// Locks see to it that one turn of a thread runs at a time, whatever process it
// is in (R-ACP-53).
type Locks interface {
	// Lock takes the turn of a thread for h until ttl has passed, or renews it
	// if h.Token has it already. A *LockedError names another holder whose time
	// has not passed. ErrNotFound without a thread.
	Lock(ctx context.Context, id string, h thread.Holder, ttl time.Duration) error
	// Unlock gives up what the holder of token has. Without such a holder it
	// does nothing.
	Unlock(ctx context.Context, id, token string) error
}

// A LockedError tells that a turn of the thread runs elsewhere. It is an ErrBusy.
type LockedError struct{ Holder thread.Holder }

func (e *LockedError) Error() string {
	return fmt.Sprintf("another turn of this session runs (in process %d on %s); wait until it has ended", e.Holder.Process, e.Holder.Host)
}

// Is reports whether target is ErrBusy.
func (e *LockedError) Is(target error) bool { return target == ErrBusy }

// A UserError is an error in words for the user: one line that names what is wrong
// and a way out, and holds no secret. Those of a store are such.
type UserError interface {
	error
	UserText() string
}

// Settings reads what a send depends on.
type Settings interface {
	// Freeze reads everything once, for the send that is starting in a session
	// at p (R-HARN-06, R-TOOLS-03). A project or a workspace that p names and
	// that is not there is a [*MissingError].
	Freeze(ctx context.Context, p Place, c Choice) (Snapshot, error)
	// Settle returns p with its project by its id, or a [*MissingError] for what p
	// names and is not there. It reads neither models nor keys.
	Settle(ctx context.Context, p Place) (Place, error)
	// Skills returns the enabled skills of a session at p, by name. What is
	// wrong with others it tells elsewhere.
	Skills(ctx context.Context, p Place) ([]prompt.Skill, error)
	// Watch calls changed soon after what Skills would say may have changed,
	// until stop is called, which waits for it.
	Watch(p Place, changed func()) (stop func())
	// Models lists the models to choose from. It must not reach the network.
	Models(ctx context.Context) ([]model.Descriptor, error)
	// Default returns the options of a new session.
	Default(ctx context.Context) (Choice, error)
}

// A Place is where a session is at work, and what its client said of it.
type Place struct {
	Session   string
	Dir       string         // working directory, absolute
	Project   string         // id or name; "" is that of the directory
	Workspace string         // id of a workspace of documents; "" is none
	Locale    string         // "" is that of the configuration
	Persona   *string        // template in place of the configured one; nil keeps that
	Skills    []prompt.Skill // of the client, for this session
}

// A MissingError tells that a session names something that is not there.
type MissingError struct {
	What string // project or workspace
	ID   string
	Gone bool // it was there when the session was opened
}

func (e *MissingError) Error() string {
	if e.Gone {
		return fmt.Sprintf("the %s %.100q of this session is not there any more; open the session again to go on without it", e.What, e.ID)
	}
	return fmt.Sprintf("there is no %s %.100q; \"lorimer %s list\" shows those that there are", e.What, e.ID, e.What)
}

// A Choice is the options of a session, as their values on the wire (R-ACP-18).
type Choice struct {
	Model     string           // PROVIDER/MODEL
	Mode      approve.Mode     // ask, accept-edits, auto, read-only
	Tools     string           // on, auto, off
	Thinking  model.Effort     // "" is the provider's default
	Citations prompt.Citations // registry, linked
	Voice     string           // on, off
}

// A Snapshot is what Settings read for one send.
type Snapshot struct {
	Model   model.Descriptor
	Mode    approve.Mode                                      // a stricter one than chosen, where the directory demands it; "" is the chosen one
	Open    func(ctx context.Context) (model.Streamer, error) // sets the model up, without repeats; called when a harness is built
	Notices []string                                          // each told to the user once per session, such as how the model was found
	Prompt  prompt.Facts                                      // what the configuration, the project and the workspace add to the prompt
	Zone    *time.Location
	Inline  int // bytes of an attached text that are given in full; a longer one is read by its key (C-32)
	// SkillFile returns the text of a file that belongs to one of the skills of
	// Prompt. Its error is for the model. Nil has none.
	SkillFile func(skill, file string) (string, error)
	// NoNested keeps the files of instructions in folders below the working
	// directory from the model; those of Prompt are all.
	NoNested bool
}

// Documents keeps what is attached, and knows what a workspace of documents holds.
type Documents interface {
	place.Documents
	Item(ctx context.Context, workspace, key string) (place.Item, error) // or place.ErrNone
}

// Options set an [Engine] up. Threads, Settings, Prompts and Tools are needed.
type Options struct {
	Threads   Threads
	Settings  Settings
	Documents Documents // nil keeps none; what is attached is then in the messages alone
	Prompts   *prompt.Registry
	Tools     func(Scope) []tools.Tool // the tools of one turn, built anew for it
	Approve   approve.Options          // what the rules of every session protect; its directories are the session's
	Shell     prompt.Environment       // what the model is told of the shell and its limits; its directories are the session's
	// Outside reads a file that is in no workspace and that the user has attached and
	// allowed, by its path without links, with the errors of [workspace.FS]; nil reads
	// none.
	Outside  func(ctx context.Context, path string, limit int64) ([]byte, error)
	Log      zerolog.Logger
	Now      func() time.Time // default time.Now; called once per send
	MaxSteps int              // model requests in a turn; default 50 (R-HARN-23)
	Parallel int              // tools that run at once; default 4 (R-TOOLS-07)
	Waiting  int              // prompts that may wait in a session; default 16, negative none (R-ACP-25)
	Idle     time.Duration    // after which a harness that nobody uses is dropped; default 30 min, negative never (R-HARN-13)
	Trace    func(TurnTrace)  // hears one line per turn; nil is nobody (R-CMD-04)
}

// A Scope is what the tools of one turn work with.
type Scope struct {
	Session string
	FS      workspace.FS
	Runner  workspace.Runner
	Seen    *workspace.Seen
	Scratch string // of the session
	Model   model.Descriptor
	Asker   ask.Asker    // nil is nobody to ask
	Skills  skill.Source // never nil
	Bodies  doc.Source   // what the attachments of the session stand for; never nil
	Key     string       // what the turn may spend is counted under it: message id#revision (R-HARN-26)
}

// A Spec describes a session to open.
type Spec struct {
	ID       string // wished; "" has one made
	FS       workspace.FS
	Runner   workspace.Runner
	Scratch  string // directory for what the tools keep beside the workspace, made when needed; "" is none
	Approver approve.Approver
	Client   prompt.Client
	Servers  server.Set // the MCP servers of the session, which closes them once it is open; nil is none
	Notices  []string   // told to the user once, in the first turn
	Place    Place      // what the client says of the session; its Session and Dir are set by the engine
	Asker    ask.Asker  // nil is nobody to ask
	Changed  func()     // called when Commands says something else, maybe before Open returns, from a goroutine that has ended when Close returns; nil is nobody
	Choice   *Choice    // nil is the default of the settings; what a stored thread has chosen comes before it
}

// An Input is a message of the user.
type Input struct {
	MessageID string // the client's, for R-ACP-33; "" has one made
	Blocks    []event.Block
	Retry     bool    // answers the last message anew, instead of Blocks (R-HARN-26)
	Choice    *Choice // options from this message on, stored with it; nil is those of the session
}

// An Outcome is how a turn ended. A cancelled turn is an outcome, not an error.
type Outcome struct {
	Stop      Stop
	MessageID string      // of the user's message that was answered; "" if nothing of the turn was stored
	Usage     model.Usage // of all requests of the turn
	Unasked   int         // calls refused because there was nobody to ask (R-CMD-11)
}

// Stop is why a turn ended; the values are ACP's stop reasons (R-ACP-27).
type Stop string

// The reasons.
const (
	EndTurn         Stop = "end_turn"
	MaxTokens       Stop = "max_tokens"
	MaxTurnRequests Stop = "max_turn_requests"
	Refusal         Stop = "refusal"
	Cancelled       Stop = "cancelled"
)

// A TurnTrace is what the trace says of a turn.
type TurnTrace struct {
	Session   string
	Harness   string   // built, reused or rebuilt
	Changed   []string // names of the inputs that differ, for a rebuild (R-HARN-11)
	Signature string
	Intent    budget.Intent // what the message asks for by its slash tokens (R-WEB-03)
}
