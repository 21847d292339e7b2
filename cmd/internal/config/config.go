package config

import (
	"errors"
	"fmt"
	"time"
)

// A Config is everything that a user can set. The zero values of optional
// settings are documented with them; [Load] fills in the defaults.
type Config struct {
	Model     string    `toml:"model"`      // PROVIDER/MODEL, PROVIDER, script:FILE or offline; "" lets the program look for one
	Mode      string    `toml:"mode"`       // read-only, ask, accept-edits or auto
	Persona   string    `toml:"persona"`    // a template for the prompt
	ToolOrder *[]string `toml:"tool_order"` // nil when absent, which is not the same as empty (R-PROMPT-20)
	Database  string    `toml:"database"`   // [Config.DatabaseAt] says what it means
	Locale    string    `toml:"locale"`     // such as de or zh-tw
	Citations string    `toml:"citations"`  // registry or linked; default registry (R-CITE-20)
	CAFile    string    `toml:"ca_file"`    // certificates in PEM that are trusted beside the system's; relative to the configuration file
	MCPFiles  []string  `toml:"mcp_files"`  // files of other programs that declare MCP servers; [Config.ServerFiles] says what they mean

	Context      Context      `toml:"context"`
	PromptCache  PromptCache  `toml:"prompt_cache"`
	History      History      `toml:"history"`
	Attachments  Attachments  `toml:"attachments"`
	Skills       Skills       `toml:"skills"`
	Instructions Instructions `toml:"instructions"`
	ToolRoute    ToolRoute    `toml:"tool_route"`
	Task         Task         `toml:"task"`
	Compaction   Compaction   `toml:"compaction"`
	Web          Web          `toml:"web"`
	Permissions  Permissions  `toml:"permissions"`
	Budget       Budget       `toml:"budget"`
	Moderation   Moderation   `toml:"moderation"`
	Experimental Experimental `toml:"experimental"`
	ACP          ACP          `toml:"acp"`
	Harness      Harness      `toml:"harness"`

	Providers map[string]Provider `toml:"providers"` // what the file says; [Config.Provider] adds what is built in
	MCP       map[string]Server   `toml:"mcp"`       // [Config.Servers] has them in the order of the file
	Sections  []Section           `toml:"section"`
	Variables []Variable          `toml:"variable"`
	Hooks     []Hook              `toml:"hook"`
	Tools     []Tool              `toml:"tool"`

	// Models is what models.toml says of models, by PROVIDER/MODEL or by the
	// beginning of one; [Config.ModelProfile] says what holds for a model.
	Models map[string]ModelProfile `toml:"-"`

	Run   Run   `toml:"-"`
	Paths Paths `toml:"-"`
	Proxy Proxy `toml:"-"`

	origin   origins
	keys     *Keys
	env      func(string) string
	homeless bool // nothing says where the configuration file is
}

// Context is what the prompt tells of the user.
type Context struct {
	Name      string   `toml:"name"`
	Location  string   `toml:"location"`
	Latitude  *float64 `toml:"latitude"` // degrees; nil is not known
	Longitude *float64 `toml:"longitude"`
	Units     string   `toml:"units"`    // metric or imperial; "" does not say
	Time      string   `toml:"time"`     // 12h or 24h; "" does not say
	Currency  string   `toml:"currency"` // such as EUR; "" does not say
}

// PromptCache says how a prompt is laid out for the provider's cache.
type PromptCache struct {
	VolatilePlacement string `toml:"volatile_placement"` // turn or system; default turn (R-PROMPT-30)
}

// History says how another vendor's history is shown to a model.
type History struct {
	CrossVendor string `toml:"cross_vendor"` // typed or text; default typed
	Executed    string `toml:"executed"`     // template of a call that is told as text, with {{tool}} and {{summary}}; "" is the usual one
}

// Attachments limits what is given in full.
type Attachments struct {
	InlineBytes int `toml:"inline_bytes"` // default 16384
}

// Instructions says which files that directories carry for agents are read.
type Instructions struct {
	AgentsMD  bool `toml:"agents_md"`  // AGENTS.md of the working directory and above; default true
	FileBytes int  `toml:"file_bytes"` // of one with its imports; default 32768
	AllBytes  int  `toml:"all_bytes"`  // of all of them; default 65536
}

// ToolRoute sets the request up that decides whether a turn needs tools.
type ToolRoute struct {
	Model     string `toml:"model"`      // PROVIDER/MODEL; "" keeps the tools without asking
	OnFailure string `toml:"on_failure"` // none, search_only or all; default none
}

// Task sets the requests beside the main answer up.
type Task struct {
	Model string `toml:"model"` // PROVIDER/MODEL; "" is the session's
}

// Compaction says when and how a history is shortened.
type Compaction struct {
	Trigger      int    `toml:"trigger"`     // tokens; default 32000
	KeepRounds   int    `toml:"keep_rounds"` // default 6
	CacheAligned bool   `toml:"cache_aligned"`
	Instruction  string `toml:"instruction" show:"private"`
}

// Web sets search and fetch up.
type Web struct {
	Backend      string  `toml:"backend"` // "" has no search
	URL          string  `toml:"url" show:"url"`
	AllowPrivate bool    `toml:"allow_private"` // addresses of the local network may be fetched
	Caps         WebCaps `toml:"caps"`
}

// WebCaps are the calls of one turn by intent (R-WEB-02).
type WebCaps struct {
	Auto     int `toml:"auto"`     // default 5
	Search   int `toml:"search"`   // default 12
	Research int `toml:"research"` // default 30
}

// Permissions are patterns of calls that run, ask or are refused.
type Permissions struct {
	Allow []string `toml:"allow"`
	Ask   []string `toml:"ask"`
	Deny  []string `toml:"deny"`
}

// Budget is a limit of spending in credits; nil is none.
type Budget struct {
	Day    *int64 `toml:"day"`
	Month  *int64 `toml:"month"`
	Thread *int64 `toml:"thread"`
}

// Moderation switches the check of user messages.
type Moderation struct {
	Enabled bool `toml:"enabled"`
}

// Experimental switches what may still change.
type Experimental struct {
	Tasks bool `toml:"tasks"`
}

// ACP sets the editor protocol up.
type ACP struct {
	Terminal string `toml:"terminal"` // own or client; default own (R-ACP-43)
}

// Harness sets up what a session holds in memory.
type Harness struct {
	Idle Duration `toml:"idle"` // how long it is kept after the last answer; default 30m (R-HARN-13)
}

// Provider is what a file says of a provider of models.
type Provider struct {
	Kind          string            `toml:"kind"`     // the protocol, see [Endpoint]
	BaseURL       string            `toml:"base_url"` // without a slash at the end
	Model         string            `toml:"model"`    // the model that PROVIDER alone means
	APIKeyEnv     string            `toml:"api_key_env"`
	APIKeyFile    string            `toml:"api_key_file"`                   // relative to the configuration file; ~/ is the home directory
	APIKeyCommand string            `toml:"api_key_command" show:"command"` // run by sh; its output is the key
	Headers       map[string]string `toml:"headers" show:"secret"`
	CAFile        string            `toml:"ca_file"`               // as that of the whole program, and beside it
	Options       map[string]string `toml:"options" show:"secret"` // of a kind of langchaingo, such as its region
}

// A Tool is a custom tool: a command that reads its input as JSON (R-TOOLS-31).
type Tool struct {
	Name        string         `toml:"name"`
	Description string         `toml:"description"`
	Schema      map[string]any `toml:"schema"` // JSON Schema of the input
	Verb        string         `toml:"verb"`
	Kind        string         `toml:"kind"`
	Cacheable   bool           `toml:"cacheable"`
	Command     []string       `toml:"command" show:"args"`
	Timeout     Duration       `toml:"timeout"` // default 60s
}

// Run is what only flags and the environment set.
type Run struct {
	Trace     string
	Clock     time.Time     // zero is the real clock (R-CMD-08)
	ClockStep time.Duration // by which a fixed clock advances with each send
	Zone      *time.Location
	Drain     time.Duration // running turns may finish for so long after the end of input; default 10m
	NoQueue   bool          // a prompt for a busy session is refused (R-ACP-25)
	LogLevel  string        // trace, debug, info, warn, error or off; default info
	LogFile   string        // "" is standard error
}

// Paths are the places that the program uses. None of them needs to exist.
type Paths struct {
	Config string // the configuration file
	State  string // directory for what must be kept
	Cache  string // directory for what can be made again
	Home   string // "" when there is none
}

// Duration is a time span, written like 90s or 2m.
type Duration time.Duration

// UnmarshalText reads the form that [time.ParseDuration] reads; a span is
// never negative.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := parseSpan(string(text))
	*d = Duration(v)
	return err
}

// check refuses a bare number, which the decoder takes for nanoseconds.
func (d Duration) check() error {
	if d != 0 && time.Duration(d) < time.Millisecond {
		return fmt.Errorf("%d is not a time span; write it like \"90s\" or \"2m\"", d)
	}
	return nil
}

// positive is check for a span that must not be zero.
func (d Duration) positive() error {
	if d == 0 {
		return errors.New("must be longer than zero")
	}
	return d.check()
}
