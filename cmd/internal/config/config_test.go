package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/cmd/internal/config"
)

// A machine is a home directory with a configuration file, and an environment.
type machine struct {
	home, file string
	env        map[string]string
	flags      map[string]string
}

// newMachine makes one; without content it has no file.
func newMachine(t *testing.T, content string) *machine {
	t.Helper()
	home := t.TempDir()
	m := &machine{home: home, file: filepath.Join(home, ".config/lorimer/config.toml"), env: map[string]string{"HOME": home}, flags: map[string]string{}}
	if content != "" {
		write(t, m.file, content, 0o600)
	}
	return m
}

func write(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

func (m *machine) sources() config.Sources {
	return config.Sources{Env: func(name string) string { return m.env[name] }, Flags: m.flags}
}

// load reads the configuration, which has to be free of mistakes.
func (m *machine) load(t *testing.T) *config.Config {
	t.Helper()
	c, warnings, err := config.Load(m.sources())
	if err != nil || len(warnings) > 0 {
		t.Fatalf("Load: %v, warnings %v", err, warnings)
	}
	return c
}

// shown returns the values by key, with the machine's home as ~.
func (m *machine) shown(c *config.Config) map[string]string {
	all := make(map[string]string)
	for _, v := range c.Values() {
		all[v.Key] = strings.ReplaceAll(v.Value+" <- "+v.Origin, m.home, "~")
	}
	return all
}

func TestEveryKey(t *testing.T) {
	full, err := os.ReadFile("testdata/full.toml")
	if err != nil {
		t.Fatal(err)
	}
	m := newMachine(t, string(full))
	write(t, filepath.Join(filepath.Dir(m.file), "openai.key"), "sk-file\n", 0o600)
	got := m.shown(m.load(t))
	want := map[string]string{
		"model":                            `"openai/gpt-5.2" <- FILE:2`,
		"mode":                             `"accept-edits" <- FILE:3`,
		"persona":                          `"You like short answers." <- FILE:4`,
		"tool_order":                       `["read","<unlisted-tools>","bash"] <- FILE:5`,
		"database":                         `"postgres://me:********@db.example.org/lorimer" <- FILE:6`,
		"locale":                           `"de" <- FILE:7`,
		"citations":                        `"linked" <- FILE:8`,
		"mcp_files":                        `["~/.cursor/mcp.json"] <- FILE:9`,
		"ca_file":                          `"company.pem" <- FILE:10`,
		"context.name":                     `"Kim" <- FILE:12`,
		"context.location":                 `"Bern" <- FILE:13`,
		"context.units":                    `"metric" <- FILE:14`,
		"context.latitude":                 `46.948 <- FILE:15`,
		"context.longitude":                `7.447 <- FILE:16`,
		"context.time":                     `"24h" <- FILE:17`,
		"context.currency":                 `"CHF" <- FILE:18`,
		"prompt_cache.volatile_placement":  `"system" <- FILE:21`,
		"history.cross_vendor":             `"text" <- FILE:24`,
		"history.executed":                 `"[ran {{tool}}: {{summary}}]" <- FILE:25`,
		"attachments.inline_bytes":         `4096 <- FILE:27`,
		"tool_route.model":                 `"openai/gpt-5-nano" <- FILE:30`,
		"tool_route.on_failure":            `"all" <- FILE:31`,
		"task.model":                       `"openai/gpt-5-mini" <- FILE:34`,
		"compaction.trigger":               `20000 <- FILE:37`,
		"compaction.keep_rounds":           `3 <- FILE:38`,
		"compaction.cache_aligned":         `true <- FILE:39`,
		"compaction.instruction":           `"********" <- FILE:40`,
		"web.backend":                      `"json" <- FILE:43`,
		"web.url":                          `"http://127.0.0.1:8888/search?key=********" <- FILE:44`,
		"web.allow_private":                `true <- FILE:45`,
		"web.caps.auto":                    `1 <- FILE:46`,
		"web.caps.search":                  `2 <- FILE:46`,
		"web.caps.research":                `3 <- FILE:46`,
		"permissions.allow":                `["bash(go test *)"] <- FILE:49`,
		"permissions.ask":                  `["bash(git push *)"] <- FILE:50`,
		"permissions.deny":                 `["read(*.pem)"] <- FILE:51`,
		"budget.day":                       `10 <- FILE:54`,
		"budget.month":                     `100 <- FILE:55`,
		"budget.thread":                    `5 <- FILE:56`,
		"moderation.enabled":               `true <- FILE:59`,
		"experimental.tasks":               `true <- FILE:62`,
		"acp.terminal":                     `"client" <- FILE:65`,
		"harness.idle":                     `"10m0s" <- FILE:142`,
		"skills.folder":                    `"my-skills" <- FILE:145`,
		"skills.claude":                    `true <- FILE:146`,
		"skills.workspace":                 `false <- FILE:147`,
		"skills.trusted":                   `["~/work"] <- FILE:148`,
		"skills.disabled":                  `["research"] <- FILE:149`,
		"instructions.agents_md":           `false <- FILE:152`,
		"instructions.file_bytes":          `1000 <- FILE:153`,
		"instructions.all_bytes":           `2000 <- FILE:154`,
		"providers.openai.kind":            `"" <- default`,
		"providers.openai.base_url":        `"" <- default`,
		"providers.openai.model":           `"" <- default`,
		"providers.openai.api_key_env":     `"" <- default`,
		"providers.openai.api_key_file":    `"openai.key" <- FILE:68`,
		"providers.openai.api_key_command": `"" <- default`,
		"providers.openai.ca_file":         `"" <- default`,
		"providers.acme.ca_file":           `"~/acme.pem" <- FILE:77`,
		"providers.water.kind":             `"langchain/watsonx" <- FILE:157`,
		"providers.water.base_url":         `"" <- default`,
		"providers.water.model":            `"" <- default`,
		"providers.water.api_key_env":      `"WATER_KEY" <- FILE:158`,
		"providers.water.api_key_file":     `"" <- default`,
		"providers.water.api_key_command":  `"" <- default`,
		"providers.water.ca_file":          `"" <- default`,
		"providers.water.options.project":  `"********" <- FILE:159`,
		"providers.acme.kind":              `"openai" <- FILE:71`,
		"providers.acme.base_url":          `"https://acme.example.org/v1/" <- FILE:72`,
		"providers.acme.model":             `"acme-1" <- FILE:73`,
		"providers.acme.api_key_env":       `"ACME_KEY" <- FILE:74`,
		"providers.acme.api_key_file":      `"" <- default`,
		"providers.acme.api_key_command":   `"echo ********" <- FILE:75`,
		"providers.acme.headers.X-Team":    `"********" <- FILE:76`,
		"mcp.zebra.command":                `"zebra-server" <- FILE:79`,
		"mcp.zebra.args":                   `["--token","********","--mode=fast","--api-key=********"] <- FILE:80`,
		"mcp.zebra.cwd":                    `"/tmp" <- FILE:81`,
		"mcp.zebra.timeout":                `"1m30s" <- FILE:82`,
		"mcp.zebra.env.ZEBRA_TOKEN":        `"********" <- FILE:83`,
		"mcp.zebra.url":                    `"" <- default`,
		"mcp.zebra.type":                   `"" <- default`,
		"mcp.zebra.disabled":               `false <- default`,
		"mcp.ape.command":                  `"" <- default`,
		"mcp.ape.args":                     `[] <- default`,
		"mcp.ape.cwd":                      `"" <- default`,
		"mcp.ape.timeout":                  `"0s" <- default`,
		"mcp.ape.url":                      `"https://mcp.example.org/sse?token=********" <- FILE:86`,
		"mcp.ape.type":                     `"sse" <- FILE:87`,
		"mcp.ape.disabled":                 `true <- FILE:88`,
		"mcp.ape.headers.Authorization":    `"********" <- FILE:91`,
		"mcp.zebra.connect_timeout":        `"0s" <- default`,
		"mcp.zebra.include":                `[] <- default`,
		"mcp.zebra.exclude":                `[] <- default`,
		"mcp.zebra.instructions":           ` <- default`,
		"mcp.zebra.oauth.client_id":        `"" <- default`,
		"mcp.zebra.oauth.client_secret":    `"" <- default`,
		"mcp.zebra.oauth.scopes":           `[] <- default`,
		"mcp.zebra.oauth.callback_port":    `0 <- default`,
		"mcp.zebra.oauth.metadata_url":     `"" <- default`,
		"mcp.ape.connect_timeout":          `"0s" <- default`,
		"mcp.ape.include":                  `[] <- default`,
		"mcp.ape.exclude":                  `[] <- default`,
		"mcp.ape.instructions":             ` <- default`,
		"mcp.ape.oauth.client_id":          `"" <- default`,
		"mcp.ape.oauth.client_secret":      `"" <- default`,
		"mcp.ape.oauth.scopes":             `[] <- default`,
		"mcp.ape.oauth.callback_port":      `0 <- default`,
		"mcp.ape.oauth.metadata_url":       `"" <- default`,
		"mcp.wolf.command":                 `"wolf" <- FILE:162`,
		"mcp.wolf.args":                    `[] <- default`,
		"mcp.wolf.cwd":                     `"" <- default`,
		"mcp.wolf.url":                     `"" <- default`,
		"mcp.wolf.type":                    `"" <- default`,
		"mcp.wolf.disabled":                `false <- default`,
		"mcp.wolf.timeout":                 `"0s" <- default`,
		"mcp.wolf.connect_timeout":         `"5s" <- FILE:163`,
		"mcp.wolf.include":                 `["read_*"] <- FILE:164`,
		"mcp.wolf.exclude":                 `["read_all"] <- FILE:165`,
		"mcp.wolf.instructions":            `false <- FILE:166`,
		"mcp.wolf.oauth.client_id":         `"c" <- FILE:169`,
		"mcp.wolf.oauth.client_secret":     `"********" <- FILE:170`,
		"mcp.wolf.oauth.scopes":            `["a"] <- FILE:171`,
		"mcp.wolf.oauth.callback_port":     `8080 <- FILE:172`,
		"mcp.wolf.oauth.metadata_url":      `"https://as.example.org/m?key=********" <- FILE:173`,
		"section.0.name":                   `"house:rules" <- FILE:94`,
		"section.0.order":                  `150.5 <- FILE:95`,
		"section.0.text":                   `"Be kind to {{team}}." <- FILE:96`,
		"section.0.literal":                `false <- FILE:97`,
		"section.0.scope":                  `"s1" <- FILE:98`,
		"section.1.name":                   `"house:raw" <- FILE:101`,
		"section.1.order":                  `0 <- default`,
		"section.1.text":                   `"{{ stays }}" <- FILE:102`,
		"section.1.literal":                `true <- FILE:103`,
		"section.1.scope":                  `"" <- default`,
		"variable.0.name":                  `"team" <- FILE:106`,
		"variable.0.value":                 `"Blue" <- FILE:107`,
		"variable.0.scope":                 `"s1" <- FILE:108`,
		"hook.0.action":                    `"append" <- FILE:111`,
		"hook.0.section":                   `"house:rules" <- FILE:112`,
		"hook.0.text":                      `"And to others." <- FILE:113`,
		"hook.0.literal":                   `true <- FILE:114`,
		"hook.0.scope":                     `"s1" <- FILE:115`,
		"hook.0.tool":                      `"" <- default`,
		"hook.0.order":                     `[] <- default`,
		"hook.0.target":                    `"" <- default`,
		"hook.1.action":                    `"reorder" <- FILE:118`,
		"hook.1.target":                    `"tools" <- FILE:119`,
		"hook.1.order":                     `["read","bash"] <- FILE:120`,
		"hook.1.section":                   `"" <- default`,
		"hook.1.tool":                      `"" <- default`,
		"hook.1.text":                      `"" <- default`,
		"hook.1.literal":                   `false <- default`,
		"hook.1.scope":                     `"" <- default`,
		"hook.2.action":                    `"drop" <- FILE:123`,
		"hook.2.tool":                      `"bash" <- FILE:124`,
		"hook.2.section":                   `"" <- default`,
		"hook.2.text":                      `"" <- default`,
		"hook.2.order":                     `[] <- default`,
		"hook.2.target":                    `"" <- default`,
		"hook.2.literal":                   `false <- default`,
		"hook.2.scope":                     `"" <- default`,
		"tool.0.name":                      `"deploy" <- FILE:127`,
		"tool.0.description":               `"Deploys." <- FILE:128`,
		"tool.0.verb":                      `"deploying {env}" <- FILE:129`,
		"tool.0.kind":                      `"execute" <- FILE:130`,
		"tool.0.cacheable":                 `false <- FILE:131`,
		"tool.0.command":                   `["./deploy.sh","--json"] <- FILE:132`,
		"tool.0.timeout":                   `"2m0s" <- FILE:133`,
		"tool.0.schema":                    `{"properties":{"env":{"type":"string"}},"type":"object"} <- FILE:135`,
		"config":                           `"~/.config/lorimer/config.toml" <- default`,
		"state":                            `"~/.local/state/lorimer" <- default`,
		"cache":                            `"~/.cache/lorimer" <- default`,
		"trace":                            `"" <- default`,
		"clock":                            `"" <- default`,
		"clock_step":                       `"0s" <- default`,
		"tz":                               `"` + time.Local.String() + `" <- default`,
		"drain":                            `"10m0s" <- default`,
		"no_queue":                         `false <- default`,
		"log_level":                        `"info" <- default`,
		"log_file":                         `"" <- default`,
		"proxy.http":                       `"" <- default`,
		"proxy.https":                      `"" <- default`,
		"proxy.no":                         `"" <- default`,
	}
	for k, v := range want {
		want[k] = strings.ReplaceAll(v, "FILE", "~/.config/lorimer/config.toml")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}

func TestDefaultsWithoutAFile(t *testing.T) {
	c := newMachine(t, "").load(t)
	if c.Mode != "ask" || c.ToolOrder != nil || c.Locale != "en" || c.Compaction.KeepRounds != 6 || c.Run.Drain != 10*time.Minute {
		t.Errorf("defaults = %+v", c)
	}
	for _, v := range c.Values() {
		if v.Origin != "default" {
			t.Errorf("%s comes from %s", v.Key, v.Origin)
		}
	}
}

func TestPrecedence(t *testing.T) {
	m := newMachine(t, `model = "openai/file"`)
	if got := m.shown(m.load(t))["model"]; got != `"openai/file" <- ~/.config/lorimer/config.toml:1` {
		t.Errorf("file: %s", got)
	}
	m.env["LORIMER_MODEL"] = "openai/env"
	if got := m.shown(m.load(t))["model"]; got != `"openai/env" <- env LORIMER_MODEL` {
		t.Errorf("environment: %s", got)
	}
	m.flags["model"] = "openai/flag"
	if got := m.shown(m.load(t))["model"]; got != `"openai/flag" <- flag --model` {
		t.Errorf("flag: %s", got)
	}
}

func TestFlags(t *testing.T) {
	m := newMachine(t, "")
	other := filepath.Join(m.home, "other.toml")
	write(t, other, "mode = \"auto\"\n", 0o600)
	m.flags = map[string]string{
		"config": other, "state": filepath.Join(m.home, "s"), "model": "offline", "mode": "read-only", "trace": "~/t.jsonl",
		"clock": "2026-11-30T09:05:00+01:00", "clock-step": "24h", "tz": "Europe/Berlin", "drain": "0s", "no-queue": "true",
		"log-level": "debug", "log-file": "l.txt",
	}
	c := m.load(t)
	want := config.Run{
		Trace: filepath.Join(m.home, "t.jsonl"), Clock: time.Date(2026, 11, 30, 8, 5, 0, 0, time.UTC), ClockStep: 24 * time.Hour,
		Zone: c.Run.Zone, NoQueue: true, LogLevel: "debug", LogFile: "l.txt",
	}
	if diff := cmp.Diff(want, c.Run, cmp.Comparer(func(a, b *time.Location) bool { return a.String() == b.String() })); diff != "" {
		t.Errorf("run (-want +got):\n%s", diff)
	}
	if c.Run.Zone.String() != "Europe/Berlin" || c.Mode != "read-only" || c.Paths.Config != other || c.Paths.State != filepath.Join(m.home, "s") {
		t.Errorf("zone %v, mode %q, paths %+v", c.Run.Zone, c.Mode, c.Paths)
	}
}

func TestPlaces(t *testing.T) {
	tests := []struct {
		name  string
		env   map[string]string
		home  string
		state string
	}{
		{"home of the environment", map[string]string{"HOME": "/home/a"}, "/home/b", "/home/a/.local/state/lorimer"},
		{"home of the system", nil, "/home/b", "/home/b/.local/state/lorimer"},
		{"XDG", map[string]string{"HOME": "/home/a", "XDG_STATE_HOME": "/var/x"}, "", "/var/x/lorimer"},
		{"a relative XDG directory is ignored", map[string]string{"HOME": "/home/a", "XDG_STATE_HOME": "x"}, "", "/home/a/.local/state/lorimer"},
		{"the variable of the flag", map[string]string{"HOME": "/home/a", "LORIMER_STATE": "/srv/s"}, "", "/srv/s"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, _, err := config.Load(config.Sources{Env: func(n string) string { return tt.env[n] }, Home: tt.home})
			if err != nil || c.Paths.State != tt.state {
				t.Errorf("state = %q (%v), want %q", c.Paths.State, err, tt.state)
			}
		})
	}
}

func TestNoHomeAtAll(t *testing.T) {
	c, warnings, err := config.Load(config.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	if !filepath.IsAbs(c.Paths.State) || len(warnings) != 2 ||
		!strings.Contains(warnings[0].String(), "--state") || !strings.Contains(warnings[1].String(), "--config") {
		t.Errorf("state %q, warnings %v; want a place, and a word about it and about the file", c.Paths.State, warnings)
	}
}

// Without a home the places are below a directory that everybody may write to.
func TestNobodysFileIsNotRead(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	c, _, err := config.Load(config.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	file := c.Paths.Config
	write(t, file, "mode = \"auto\"\n", 0o600)
	if c, _, err = config.Load(config.Sources{}); err != nil || c.Mode != "ask" {
		t.Errorf("mode %q, error %v; want the default, as if %s was not there", c.Mode, err, file)
	}
	if c, _, err = config.Load(config.Sources{Flags: map[string]string{"config": file}}); err != nil || c.Mode != "auto" {
		t.Errorf("with --config: mode %q, error %v; want what the file says", c.Mode, err)
	}
}

// keys ends the warning about a key that there is not.
const keys = `"lorimer help configuration" has those that there are`

func TestUnknownKeysAreWarnings(t *testing.T) {
	m := newMachine(t, "model = \"offline\"\nmodle = 1\n\n[web]\nbackend = \"json\"\nbakend = \"json\"\n\n[nonsense]\na = 1\n\n[[section]]\nname = \"a\"\ntxt = \"b\"\ntext = \"\"\n[mcp.a]\ncommand = \"b\"\nevn = { A = \"b\" }\n")
	c, warnings, err := config.Load(m.sources())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range warnings {
		got = append(got, strings.ReplaceAll(w.String(), m.file, "FILE"))
	}
	want := []string{
		"FILE:2: unknown key modle has no effect; " + keys,
		"FILE:6: unknown key web.bakend has no effect; " + keys,
		"FILE:8: unknown key nonsense has no effect; " + keys,
		"FILE:13: unknown key section.txt has no effect; " + keys,
		"FILE:17: unknown key mcp.a.evn has no effect; " + keys,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	if c.Model != "offline" || c.Web.Backend != "json" || c.MCP["a"].Command != "b" {
		t.Errorf("the rest does not hold: %+v", c)
	}
}

func TestMistakes(t *testing.T) {
	tests := []struct {
		name, file string
		env, flags map[string]string
		want       string
	}{
		{"syntax", "model = \"a\"\nmode = = 3\n", nil, nil, "FILE:2:8: "},
		{"an unfinished table", "\n[web", nil, nil, "FILE:2:"},
		{"a key twice", "mode = \"ask\"\nmode = \"ask\"\n", nil, nil, "FILE:2:1: "},
		{"a wrong type", "[compaction]\ntrigger = \"many\"\n", nil, nil, "FILE:2:11: compaction.trigger: must be a whole number, not a string"},
		{"a number for a string", "model = 3\n", nil, nil, "FILE:1:9: model: must be a string, not an integer"},
		{"a string for a table", "context = \"x\"\n", nil, nil, "FILE:1:11: context: must be a table, not a string"},
		{"a number for a provider", "[providers]\nacme = 1\n", nil, nil, "FILE:2:8: providers.acme: must be a table, not an integer"},
		{"a string for a list", "tool_order = \"a\"\n", nil, nil, "FILE:1:14: tool_order: must be an array of strings, not a string"},
		{"a table for a list of tables", "section = 3\n", nil, nil, "FILE:1:11: section: must be an array of tables, not an integer"},
		{"a word for a switch", "moderation.enabled = \"yes\"\n", nil, nil, "FILE:1:22: moderation.enabled: must be true or false, not a string"},
		{"invalid UTF-8", "model = \"\xff\"\n", nil, nil, "FILE:1:"},
		{"an unknown mode", "\nmode = \"yolo\"\n", nil, nil, `FILE:2: mode: "yolo" is not one of read-only, ask, accept-edits, auto`},
		{"the same from a flag", "", nil, map[string]string{"mode": "yolo"}, `flag --mode: "yolo" is not one of`},
		{"the same from the environment", "", map[string]string{"LORIMER_MODE": "yolo"}, nil, `env LORIMER_MODE: "yolo"`},
		{"a clock", "", nil, map[string]string{"clock": "now"}, `flag --clock: "now" is not a time; write it like`},
		{"a zone", "", nil, map[string]string{"tz": "Mars/Base"}, `flag --tz: "Mars/Base" is not a time zone`},
		{"a span", "", nil, map[string]string{"drain": "-1s"}, `flag --drain: "-1s" is not a time span`},
		{"a switch", "", map[string]string{"LORIMER_NO_QUEUE": "maybe"}, nil, `env LORIMER_NO_QUEUE: "maybe" is neither true nor false`},
		{"a log level", "", nil, map[string]string{"log-level": "loud"}, `flag --log-level: "loud" is not one of`},
		{"a file that was named and is missing", "", nil, map[string]string{"config": "/nowhere/c.toml"}, "/nowhere/c.toml: no such file"},
		{"an order without the marker", `tool_order = []`, nil, nil, `FILE:1: tool_order: add "<unlisted-tools>"`},
		{"an order with a name twice", `tool_order = ["a", "<unlisted-tools>", "a"]`, nil, nil, `FILE:1: tool_order: "a" occurs twice`},
		{"a negative number", "[web.caps]\nauto = -1", nil, nil, "FILE:2: web.caps.auto: must not be negative"},
		{"a provider without an address", "[providers.acme]\nmodel = \"x\"", nil, nil, "FILE:1: providers.acme: base_url is needed"},
		{"an address that is none", "[providers.acme]\nbase_url = \"acme.org\"", nil, nil, `FILE:2: providers.acme.base_url: "acme.org" is not an address`},
		{"a key in the place of its variable", "[providers.acme]\nbase_url = \"http://a\"\napi_key_env = \"sk-hunter2\"", nil, nil, "FILE:3: providers.acme.api_key_env: is not the name of a variable; a key itself"},
		{"an unknown protocol", "[providers.acme]\nbase_url = \"http://a\"\nkind = \"gopher\"", nil, nil, `FILE:3: providers.acme.kind: "gopher" is not one of openai, openai-chat, openai-responses, anthropic, gemini, ollama, langchain/bedrock, `},
		{"a kind of langchaingo that there is not", "[providers.acme]\nkind = \"langchain/openai\"", nil, nil, `FILE:2: providers.acme.kind: "langchain/openai" is not one of`},
		{"options for nobody", "[providers.openai]\noptions = { region = \"eu\" }", nil, nil, "FILE:2: providers.openai.options: means nothing to the kind openai; leave it out"},
		{"a call as text without its tool", "[history]\nexecuted = \"{{summary}}\"", nil, nil, "FILE:2: history.executed: {{tool}} is needed"},
		{"a call as text with something else", "[history]\nexecuted = \"{{tool}} {{args}}\"", nil, nil, "FILE:2: history.executed: nothing but {{tool}} and {{summary}}"},
		{"an address with a secret", "[providers.acme]\nbase_url = \"ftp://me:hunter2@a?key=hunter2\"", nil, nil, `providers.acme.base_url: "ftp://me:********@a?key=********" is not an address`},
		{"a bad address in the environment", "", map[string]string{"OPENAI_BASE_URL": "localhost:80"}, nil, "env OPENAI_BASE_URL: "},
		{"a database of another kind", "\ndatabase = \"mysql://me:hunter2@db/x\"", nil, nil, "FILE:2: database: neither the path of a file nor a postgres:// URL"},
		{"a database that is no URL", "database = \"postgres://me:hun%ter2@db/x\"", nil, nil, "FILE:1: database: not a URL; write it like postgres://USER@HOST/DATABASE"},
		{"a database by keywords", "database = \"host=db password=hunter2\"", nil, nil, "FILE:1: database: keywords and values are not read; write a URL like postgres://USER@HOST/DATABASE"},
		{"no patience at all", "[harness]\nidle = \"0s\"", nil, nil, "FILE:2: harness.idle: must be longer than zero"},
		{"an unknown citation mode", "citations = \"none\"", nil, nil, `FILE:1: citations: "none" is not one of registry, linked`},
		{"units that there are not", "[context]\nunits = \"miles\"", nil, nil, `FILE:2: context.units: "miles" is not one of metric, imperial`},
		{"a latitude beyond the pole", "[context]\nlatitude = 90.5", nil, nil, "FILE:2: context.latitude: must be degrees from -90 to 90"},
		{"a longitude that is no number", "[context]\nlongitude = nan", nil, nil, "FILE:2: context.longitude: must be degrees from -180 to 180"},
		{"a time format", "[context]\ntime = \"am\"", nil, nil, `FILE:2: context.time: "am" is not one of`},
		{"a currency by its sign", "[context]\ncurrency = \"€\"", nil, nil, `FILE:2: context.currency: "€" is not the code of a currency; write it like EUR`},
		{"a negative size", "[attachments]\ninline_bytes = -1", nil, nil, "FILE:2: attachments.inline_bytes: must not be negative"},
		{"no room for instructions", "[instructions]\nfile_bytes = 0", nil, nil, "FILE:2: instructions.file_bytes: must be larger than 0"},
		{"no room for all instructions", "[instructions]\nall_bytes = -1", nil, nil, "FILE:2: instructions.all_bytes: must be larger than 0"},
		{"a trusted directory of nowhere", "[skills]\ntrusted = [\"/a\", \"b\"]", nil, nil, "FILE:2: skills.trusted: write directories from the root, or from ~/"},
		{"a switch that is a list", "[skills]\nclaude = []", nil, nil, "FILE:2:10: skills.claude: must be true or false, not an array"},
		{"a section twice", "[[section]]\nname = \"a\"\n[[section]]\nname = \"b\"\n[[section]]\nname = \"a\"", nil, nil, `FILE:6: section: the name "a" is taken; choose another`},
		{"a section without a name", "[[section]]\ntext = \"a\"", nil, nil, "FILE:1: section: a name is needed"},
		{"a section without a text", "[[section]]\nname = \"a\"\ntext = \"\"\n[[section]]\nname = \"b\"\norder = 3\n", nil, nil, `FILE:4: section "b": a text is needed; write text = "" for`},
		{"a section without a text in a list", "\nsection = [{name = \"a\", text = \"\"}, {name = \"b\"}]", nil, nil, `FILE:2: section "b": a text is needed`},
		{"a section in no place", "[[section]]\nname = \"a\"\norder = nan", nil, nil, `FILE:3: section "a": order: must be a finite number`},
		{"a section at the end of all", "[[section]]\nname = \"a\"\norder = inf", nil, nil, `FILE:3: section "a": order: must be a finite number`},
		{"a variable twice", "[[variable]]\nname = \"a\"\n[[variable]]\nname = \"a\"", nil, nil, `FILE:4: variable: the name "a" is taken; choose another`},
		{"a hook that does nothing", "[[hook]]\naction = \"dance\"", nil, nil, `FILE:2: hook: action: "dance" is not one of drop`},
		{"a hook without an action", "[[hook]]\nsection = \"a\"", nil, nil, `FILE:1: hook: action: "" is not one of drop`},
		{"a hook that drops nothing", "[[hook]]\naction = \"drop\"", nil, nil, "FILE:1: hook: drop takes either a section or a tool out; name one of them"},
		{"a hook that drops both", "[[hook]]\naction = \"drop\"\nsection = \"a\"\ntool = \"b\"", nil, nil, "FILE:1: hook: drop takes either"},
		{"a hook that replaces a tool", "[[hook]]\naction = \"replace\"\ntool = \"b\"\ntext = \"c\"", nil, nil, "FILE:3: hook: tool means nothing to replace; leave it out"},
		{"a hook that appends to nothing", "[[hook]]\naction = \"append\"\ntext = \"c\"", nil, nil, "FILE:1: hook: name the section to append"},
		{"a hook that empties a section", "[[hook]]\naction = \"replace\"\nsection = \"a\"\ntext = \"\"", nil, nil, "FILE:4: hook: replace needs a text; drop takes a section out"},
		{"a hook that orders nothing", "[[hook]]\naction = \"reorder\"\norder = []", nil, nil, "FILE:3: hook: list in order what is to come first"},
		{"a hook that orders a name twice", "[[hook]]\naction = \"reorder\"\norder = [\"a\", \"a\"]", nil, nil, `FILE:3: hook: order: "a" occurs twice`},
		{"a hook with an unknown target", "[[hook]]\naction = \"reorder\"\ntarget = \"words\"\norder = [\"a\"]", nil, nil, `FILE:3: hook: target: "words" is not one of`},
		{"a hook that drops the identity", "\n[[hook]]\naction = \"drop\"\nsection = \"harness:identity\"", nil, nil, "FILE:4: hook: harness:identity cannot be taken away or replaced"},
		{"a hook that replaces the identity", "[[hook]]\naction = \"replace\"\nsection = \"harness:identity\"\ntext = \"I am root.\"", nil, nil, "FILE:3: hook: harness:identity cannot be"},
		{"the second hook", "[[hook]]\naction = \"drop\"\nsection = \"a\"\n[[hook]]\naction = \"drop\"\nsection = \"harness:identity\"", nil, nil, "FILE:6: hook: harness:identity"},
		{"a tool without a command", "[[tool]]\nname = \"a\"", nil, nil, "FILE:1: tool: name and command are needed"},
		{"a bad span in the file", "[mcp.a]\ncommand = \"a\"\ntimeout = \"soon\"", nil, nil, "FILE:3:11: "},
		{"the same of a tool", "[[tool]]\nname = \"a\"\ncommand = [\"a\"]\ntimeout = 30", nil, nil, `FILE:4: tool: timeout: 30 is not a time span`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(t, tt.file)
			for k, v := range tt.env {
				m.env[k] = v
			}
			m.flags = tt.flags
			_, _, err := config.Load(m.sources())
			if err == nil {
				t.Fatal("no error")
			}
			if got := strings.ReplaceAll(err.Error(), m.file, "FILE"); !strings.Contains(got, tt.want) {
				t.Errorf("error = %q, want one with %q", got, tt.want)
			} else {
				t.Log(got)
			}
		})
	}
}

func TestUnreadableFile(t *testing.T) {
	m := newMachine(t, "")
	if err := os.MkdirAll(m.file, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, _, err := config.Load(m.sources()); err == nil || !strings.Contains(err.Error(), m.file) {
		t.Errorf("a directory for a file: %v, want an error with the path", err)
	}
}

func TestByteOrderMark(t *testing.T) {
	m := newMachine(t, "\ufeffmodel = \"offline\"\n")
	if c := m.load(t); c.Model != "offline" {
		t.Errorf("model = %q", c.Model)
	}
}

func TestLocale(t *testing.T) {
	for lang, want := range map[string]string{
		"": "en", "C": "en", "C.UTF-8": "en", "POSIX": "en", "de_DE.UTF-8": "de-de", "zh_TW": "zh-tw", "ca@valencia": "ca",
	} {
		m := newMachine(t, "")
		m.env["LANG"] = lang
		if got := m.load(t).Locale; got != want {
			t.Errorf("LANG=%s gives %q, want %q", lang, got, want)
		}
	}
	m := newMachine(t, `locale = "fr"`)
	m.env["LANG"] = "de_DE"
	if got := m.load(t).Locale; got != "fr" {
		t.Errorf("locale = %q, want that of the file", got)
	}
}

func TestOrderThatIsAbsent(t *testing.T) {
	if c := newMachine(t, "").load(t); c.ToolOrder != nil {
		t.Errorf("order = %v, want none", *c.ToolOrder)
	}
	if c := newMachine(t, `tool_order = ["<unlisted-tools>"]`).load(t); c.ToolOrder == nil || len(*c.ToolOrder) != 1 {
		t.Errorf("order = %v, want the marker", c.ToolOrder)
	}
}

func TestServersKeepTheOrderOfTheFile(t *testing.T) {
	c := newMachine(t, "[mcp.z]\ncommand = \"z\"\n[mcp.a]\ncommand = \"a\"\n[mcp]\nm = { command = \"m\" }\n").load(t)
	var got []string
	for _, s := range c.Servers() {
		got = append(got, s.Name+"="+s.Command)
	}
	if want := []string{"z=z", "a=a", "m=m"}; !cmp.Equal(want, got) {
		t.Errorf("servers = %q, want %q", got, want)
	}
}

// What is wrong with one server is that server's alone.
func TestServerCheck(t *testing.T) {
	for _, tt := range []struct{ name, file, want string }{
		{"a program", "command = \"a\"\ntype = \"stdio\"", ""},
		{"an address", "url = \"https://h\"\ntimeout = \"90s\"", ""},
		{"two ways", "command = \"a\"\nurl = \"http://a\"", "give either command or url"},
		{"no way", "disabled = true", "give either command or url"},
		{"an unknown type", "url = \"http://a\"\ntype = \"ws\"", `type: "ws" is not one of http, sse, stdio`},
		{"the type of another", "url = \"http://a\"\ntype = \"stdio\"", "type stdio does not go with what is given; leave it out"},
		{"the same the other way", "command = \"a\"\ntype = \"sse\"", "type sse does not go with what is given; leave it out"},
		{"a span without a unit", "command = \"a\"\ntimeout = 30", `timeout: 30 is not a time span; write it like "90s" or "2m"`},
		{"the same of the connection", "command = \"a\"\nconnect_timeout = 30", `connect_timeout: 30 is not a time span; write it like "90s" or "2m"`},
		{"a port beyond all", "url = \"http://a\"\noauth = { callback_port = 70000 }", "oauth.callback_port must be a number up to 65535"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(t, "model = \"offline\"\n[mcp.a]\n"+tt.file+"\n")
			all := m.load(t).Servers()
			if len(all) != 1 || all[0].At != m.file+":2" {
				t.Fatalf("servers = %+v, want one of line 2", all)
			}
			got := ""
			if err := all[0].Check(); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("Check() = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestServerFiles(t *testing.T) {
	m := newMachine(t, `mcp_files = ["~/a.json", "b.json", "/c.json"]`)
	want := []string{filepath.Join(m.home, "a.json"), filepath.Join(filepath.Dir(m.file), "b.json"), "/c.json"}
	if diff := cmp.Diff(want, m.load(t).ServerFiles()); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func FuzzLoad(f *testing.F) {
	full, err := os.ReadFile("testdata/full.toml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(full))
	f.Add("a.b.c = { d = [ { e = 1 } ] }")
	f.Add("[[tool]]\n[tool.schema]\n[[tool]]\n[[tool.schema]]")
	f.Fuzz(func(t *testing.T, content string) {
		file := filepath.Join(t.TempDir(), "c.toml")
		write(t, file, content, 0o600)
		c, warnings, err := config.Load(config.Sources{Flags: map[string]string{"config": file, "state": t.TempDir()}})
		if err != nil {
			if !strings.Contains(err.Error(), file) {
				t.Errorf("error %q does not name the file", err)
			}
			return
		}
		for _, w := range warnings {
			if w.File == file && (w.Line < 1 || w.Line > 1+strings.Count(content, "\n")) {
				t.Errorf("warning %v names a line that is not there", w)
			}
		}
		c.Values()
	})
}
