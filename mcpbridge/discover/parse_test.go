package discover_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/mcpbridge"
	"github.com/lorimer-dev/lorimer/mcpbridge/discover"
)

// parse parses data, whose name is file, and wants no error.
func parse(t *testing.T, file, data string) ([]discover.Entry, []string) {
	t.Helper()
	entries, warnings, err := discover.Parse(file, []byte(data), discover.Vars{Workspace: "/ws"})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, w := range warnings {
		lines = append(lines, map[discover.Weight]string{discover.Ignored: "ignored ", discover.Hint: "hint "}[w.Weight]+w.String())
	}
	return entries, lines
}

func TestParseDialects(t *testing.T) {
	tests := []struct {
		name, file, data string
		want             mcpbridge.Server // but for its source
	}{
		{
			"Claude Desktop", "claude_desktop_config.json",
			`{"mcpServers":{"files":{"command":"npx","args":["-y","server","/tmp"],"env":{"A":"b","PORT":80,"ON":true}}}}`,
			mcpbridge.Server{
				Name: "files", Kind: mcpbridge.Stdio, Command: "npx", Args: []string{"-y", "server", "/tmp"},
				Env: map[string]string{"A": "b", "PORT": "80", "ON": "true"},
			},
		},
		{
			"Claude Code over HTTP", ".mcp.json",
			`{"mcpServers":{"x":{"type":"http","url":"https://h/mcp","headers":{"X-Key":"${KEY}"},
			  "oauth":{"clientId":"c","clientSecret":"s","callbackPort":8080,"scopes":["a","b"],"authServerMetadataUrl":"https://as/m"}}}}`,
			mcpbridge.Server{
				Name: "x", Kind: mcpbridge.HTTP, URL: "https://h/mcp", Headers: map[string]string{"X-Key": "${KEY}"},
				OAuth: mcpbridge.OAuth{ClientID: "c", ClientSecret: "s", CallbackPort: 8080, Scopes: []string{"a", "b"}, Metadata: "https://as/m"},
			},
		},
		{
			"Cursor", ".cursor/mcp.json", `{"mcpServers":{"x":{"url":"https://h/mcp","description":"d","alwaysLoad":true}}}`,
			mcpbridge.Server{Name: "x", Kind: mcpbridge.HTTP, URL: "https://h/mcp"},
		},
		{
			"VS Code", ".vscode/mcp.json",
			`{"inputs":[],"servers":{"x":{"type":"stdio","command":"a","envFile":"${workspaceFolder}/.env","cwd":"${workspaceFolder}/sub","dev":{}}}}`,
			mcpbridge.Server{Name: "x", Kind: mcpbridge.Stdio, Command: "a", Dir: "${workspaceFolder}/sub"},
		},
		{
			"settings of VS Code", "settings.json", `{"mcp":{"inputs":[],"servers":{"x":{"command":"a"}}}}`,
			mcpbridge.Server{Name: "x", Kind: mcpbridge.Stdio, Command: "a"},
		},
		{
			"opencode, started here", "opencode.jsonc",
			"{ // mine\n\"mcp\":{\"x\":{\"type\":\"local\",\"command\":[\"bun\",\"x\",\"a\"],\"environment\":{\"A\":\"b\"},\"enabled\":true,\"timeout\":5000,},},}",
			mcpbridge.Server{
				Name: "x", Kind: mcpbridge.Stdio, Command: "bun", Args: []string{"x", "a"}, Env: map[string]string{"A": "b"}, Connect: 5 * time.Second,
			},
		},
		{
			"opencode, elsewhere", "opencode.json", `{"mcp":{"x":{"type":"remote","url":"https://h/mcp","oauth":false}}}`,
			mcpbridge.Server{Name: "x", Kind: mcpbridge.HTTP, URL: "https://h/mcp"},
		},
		{
			"a server of opencode that is called servers", "opencode.json", `{"mcp":{"servers":{"type":"remote","url":"https://h/mcp"}}}`,
			mcpbridge.Server{Name: "servers", Kind: mcpbridge.HTTP, URL: "https://h/mcp"},
		},
		{
			"crush", "crush.json", `{"mcp":{"x":{"type":"sse","url":"https://h/sse","timeout":120,"disabled_tools":["rm"]}}}`,
			mcpbridge.Server{Name: "x", Kind: mcpbridge.SSE, URL: "https://h/sse", Timeout: 2 * time.Minute, Exclude: []string{"rm"}},
		},
		{
			"Zed", "settings.json", `{"context_servers":{"x":{"source":"custom","command":"a","args":["b"],"env":null,"settings":{}}}}`,
			mcpbridge.Server{Name: "x", Kind: mcpbridge.Stdio, Command: "a", Args: []string{"b"}},
		},
		{
			"older Zed", "settings.json", `{"context_servers":{"x":{"command":{"path":"a","args":["b"],"env":{"C":"d"}}}}}`,
			mcpbridge.Server{Name: "x", Kind: mcpbridge.Stdio, Command: "a", Args: []string{"b"}, Env: map[string]string{"C": "d"}},
		},
		{
			"Gemini over SSE", "/home/u/.gemini/settings.json", `{"mcpServers":{"x":{"url":"https://h/sse","timeout":600000,"includeTools":["a*"],"excludeTools":["ab"]}}}`,
			mcpbridge.Server{
				Name: "x", Kind: mcpbridge.SSE, URL: "https://h/sse", Timeout: 10 * time.Minute, Include: []string{"a*"}, Exclude: []string{"ab"},
			},
		},
		{
			"Gemini over HTTP", "/home/u/.gemini/settings.json", `{"mcpServers":{"x":{"url":"https://h/sse","httpUrl":"https://h/mcp"}}}`,
			mcpbridge.Server{Name: "x", Kind: mcpbridge.HTTP, URL: "https://h/mcp"},
		},
		{
			"Gemini with a type", "/home/u/.gemini/settings.json", `{"mcpServers":{"x":{"url":"https://h/mcp","type":"http"}}}`,
			mcpbridge.Server{Name: "x", Kind: mcpbridge.HTTP, URL: "https://h/mcp"},
		},
		{
			"Windsurf", "mcp_config.json", `{"mcpServers":{"x":{"serverUrl":"https://h/mcp","disabledTools":["a"],"disabled":true}}}`,
			mcpbridge.Server{Name: "x", Kind: mcpbridge.HTTP, URL: "https://h/mcp", Exclude: []string{"a"}, Off: "switched off in mcp_config.json:1"},
		},
		{
			"Cline", "cline_mcp_settings.json", `{"mcpServers":{"x":{"type":"streamableHttp","url":"https://h/mcp","timeout":60}}}`,
			mcpbridge.Server{Name: "x", Kind: mcpbridge.HTTP, URL: "https://h/mcp", Timeout: time.Minute},
		},
		{
			"Copilot", "mcp-config.json", `{"mcpServers":{"x":{"type":"local","command":"a","tools":["*"]},"y":{"command":"b","tools":[]}}}`,
			mcpbridge.Server{Name: "x", Kind: mcpbridge.Stdio, Command: "a"},
		},
		{
			"Claude Code for one project", ".claude.json", `{"projects":{"/ws":{"mcpServers":{"x":{"command":"a"}}},"/other":{"mcpServers":{"z":{"command":"z"}}}},"mcpServers":{"y":{"command":"b"}}}`,
			mcpbridge.Server{Name: "x", Kind: mcpbridge.Stdio, Command: "a"},
		},
		{
			"Codex", "config.toml", `model = "m"
[mcp_servers.x]
command = "a"
args = ["b"]
env_vars = ["HOST"]
startup_timeout_sec = 20
tool_timeout_sec = 90.5
enabled_tools = ["r"]
[mcp_servers.x.env]
A = "b"
`,
			mcpbridge.Server{
				Name: "x", Kind: mcpbridge.Stdio, Command: "a", Args: []string{"b"}, Env: map[string]string{"A": "b", "HOST": "${HOST:-}"},
				Connect: 20 * time.Second, Timeout: 90*time.Second + 500*time.Millisecond, Include: []string{"r"},
			},
		},
		{
			"Codex over HTTP", "config.toml", `mcp_servers = { x = { url = "https://h/mcp", bearer_token_env_var = "T", http_headers = { A = "b" }, env_http_headers = { C = "D" }, startup_timeout_ms = 1500, enabled = false } }`,
			mcpbridge.Server{
				Name: "x", Kind: mcpbridge.HTTP, URL: "https://h/mcp", Connect: 1500 * time.Millisecond, Off: "switched off in config.toml:1",
				Headers: map[string]string{"A": "b", "C": "${D}", "Authorization": "Bearer ${T}"},
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			entries, _ := parse(t, tt.file, tt.data)
			if len(entries) == 0 {
				t.Fatal("Parse() gives no entry")
			}
			got := entries[0].Server
			if want := entries[0].File + ":"; !strings.HasPrefix(got.Source, want) {
				t.Errorf("source = %q, want the file and a line", got.Source)
			}
			got.Source = ""
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Parse() differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseKeepsTheOrderOfTheFile(t *testing.T) {
	tests := []struct {
		name, file, data string
		want             []string
	}{
		{"JSON", "a.json", "{\n \"mcpServers\": {\n  \"z\": {\"command\":\"z\"},\n  \"a\": {\n   \"command\":\"a\"},\n\n  \"m\": {\"url\":\"https://m\"}}}", []string{
			"z a.json:3", "a a.json:4", "m a.json:7",
		}},
		{"a project before the user", ".claude.json", "{\"mcpServers\":{\"u\":{\"command\":\"u\"}},\n\"projects\":{\"/ws\":{\"mcpServers\":{\"p\":{\"command\":\"p\"}}}}}", []string{
			"p .claude.json:2", "u .claude.json:1",
		}},
		{"TOML", "a.toml", "[mcp_servers.z]\ncommand=\"z\"\n[mcp_servers]\na = {command=\"a\"}\nm.command = \"m\"\n[mcp_servers.z.env]\nA=\"b\"\n[other.x]\ny=1\n", []string{
			"z a.toml:1", "a a.toml:4", "m a.toml:5",
		}},
		{"nothing at all", "a.json", " \n", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			entries, _ := parse(t, tt.file, tt.data)
			var got []string
			for _, e := range entries {
				got = append(got, e.Name+" "+e.Source)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("entries differ (-want +got):\n%s", diff)
			}
		})
	}
}

// What is wrong with one server is told, and the other is there.
func TestParseTrouble(t *testing.T) {
	tests := []struct{ name, entry, want string }{
		{"no object", `7`, "must be an object with a command or a url"},
		{"nothing", `{}`, "give either command or url"},
		{"both", `{"command":"a","url":"https://h"}`, "give either command or url, or a type that says which of them counts"},
		{"an unknown type", `{"type":"ws","url":"https://h"}`, `type "ws" is not one of stdio, http, sse`},
		{"a program without a command", `{"type":"stdio","url":"https://h"}`, "type stdio needs a command"},
		{"an address without a url", `{"type":"http","command":"a"}`, "type http needs a url"},
		{"arguments that are none", `{"command":"a","args":"b"}`, "args must be an array of strings"},
		{"an argument that is none", `{"command":"a","args":[["b"]]}`, "args must be an array of strings"},
		{"a variable that is none", `{"command":"a","env":{"SECRET":["hidden"]}}`, "env.SECRET must be a string"},
		{"a command that is none", `{"command":7}`, "command must be a string, or an array of strings"},
		{"an empty command", `{"command":[]}`, "give either command or url"},
		{"a name that steers a terminal", `{"command":"a","env":{"A\u001b[2J\nB":[]}}`, `env.A\x1b[2J\nB must be a string`},
		{"a span that is none", `{"command":"a","timeout":"soon"}`, `timeout is no span of time; write it like "90s" or "2m"`},
		{"a span below zero", `{"command":"a","timeout":-1}`, "timeout must not be negative"},
		{"a port that is none", `{"url":"https://h","oauth":{"callbackPort":70000}}`, "oauth.callbackPort must be a number up to 65535"},
		{"of Zed alone", `{"source":"extension","settings":{}}`, "it comes with an extension of Zed, which alone can start it; give its command"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			entries, _ := parse(t, "f.json", `{"mcpServers":{"bad":`+tt.entry+`,"good":{"command":"a"}}}`)
			if len(entries) != 2 || entries[1].Trouble != "" {
				t.Fatalf("Parse() = %+v, want two entries, the second of them in order", entries)
			}
			if got := entries[0].Trouble; got != tt.want {
				t.Errorf("trouble = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestParseWarns(t *testing.T) {
	tests := []struct {
		name, entry string
		want        []string
	}{
		{"nothing to say", `{"command":"a","description":"d","lazy":true,"metadata":{}}`, nil},
		{"unknown fields", `{"command":"a","comand":"b","arg":[],"gone":null}`, []string{
			`ignored f.json:1: server "x": unknown field arg has no effect`, `ignored f.json:1: server "x": unknown field comand has no effect`,
		}},
		{"permissions", `{"command":"a","autoApprove":["*"],"alwaysAllow":["b"],"trust":true}`, []string{
			`ignored f.json:1: server "x": autoApprove has no effect; permissions are asked for by the mode of the session`,
			`ignored f.json:1: server "x": alwaysAllow has no effect; permissions are asked for by the mode of the session`,
			`ignored f.json:1: server "x": trust has no effect; permissions are asked for by the mode of the session`,
		}},
		{"no permissions", `{"command":"a","trust":false,"required":false}`, nil},
		{"how tools of Codex are allowed", `{"command":"a","tools":{"search":{"approval_mode":"approve"}}}`, []string{
			`ignored f.json:1: server "x": tools has no effect; permissions are asked for by the mode of the session`,
		}},
		{"a sandbox", `{"command":"a","sandbox":true}`, []string{`ignored f.json:1: server "x": sandbox has no effect`}},
		{"a command with its arguments", `{"command":"npx -y server"}`, []string{
			`f.json:1: server "x": command has a space in it and is not split; put what follows it into args`,
		}},
		{"seconds", `{"command":"a","timeout":30}`, []string{`hint f.json:1: server "x": timeout = 30 is read as 30s`}},
		{"milliseconds", `{"command":"a","timeout":1000}`, []string{`hint f.json:1: server "x": timeout = 1000 is read as 1s`}},
		{"a span with a unit", `{"command":"a","timeout":"30s"}`, nil},
		{"a script for headers", `{"url":"https://h","headersHelper":"cat token"}`, []string{
			`f.json:1: server "x": headersHelper is not run; write ${NAME} in a header and set that variable`,
		}},
		{"a variable of a shell", `{"url":"https://h","headers":{"Authorization":"Bearer $TOKEN","X":"pa$word"}}`, []string{
			`f.json:1: server "x": headers.Authorization: $TOKEN is not replaced; write ${TOKEN}`,
		}},
		{"unknown fields within", `{"url":"https://h","oauth":{"clientId":"a","audience":"b"}}`, []string{
			`ignored f.json:1: server "x": unknown field oauth.audience has no effect`,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			entries, got := parse(t, "f.json", `{"mcpServers":{"x":`+tt.entry+`}}`)
			if len(entries) != 1 || entries[0].Trouble != "" {
				t.Errorf("Parse() = %+v, want one entry in order", entries)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("warnings differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseNoServers(t *testing.T) {
	for _, tt := range []struct{ name, file, data, want string }{
		{"another object", "f.json", `{"theme":"dark"}`, `f.json: declares no servers; they stand under "mcpServers"`},
		{"a name twice", "f.json", "{\"mcpServers\":{\"x\":{\"command\":\"a\"},\n\"x\":{\"command\":\"b\"}}}", `f.json:2: server "x": is declared in line 1 already and has no effect here; give it another name`},
		{"another table", "f.toml", "model = \"m\"\n", `f.toml: declares no servers; they stand under "mcpServers"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, got := parse(t, tt.file, tt.data); len(got) != 1 || got[0] != tt.want {
				t.Errorf("warnings = %q, want %q", got, tt.want)
			}
		})
	}
	if entries, got := parse(t, "f.json", `{"mcpServers":{}}`); entries != nil || got != nil {
		t.Errorf("Parse() = %v, %q for an empty object, want nothing", entries, got)
	}
}

func TestParseErrors(t *testing.T) {
	for _, tt := range []struct{ name, file, data, want string }{
		{"no JSON", "f.json", "{\n \"mcpServers\": {\n  \"x\": oops\n }}", "f.json:3: not JSON: invalid character 'o' looking for beginning of value"},
		{"half of it", "f.json", "{\n\"mcpServers\":{", "f.json:2: not JSON: unexpected end of JSON input"},
		{"an open comment", "f.json", "{} /* ", ""},
		{"a list", "f.json", "[]", "f.json:1: must be an object, in braces"},
		{"a list of servers", "f.json", "{\n\n\"mcpServers\":[]}", "f.json:3: mcpServers must be an object of servers by their names"},
		{"no TOML", "f.toml", "[mcp_servers.x]\ncommand = a\n", "f.toml:2: not TOML: "},
		{"no table", "f.toml", "mcp_servers = 1\n", "f.toml: mcp_servers must be a table of servers by their names"},
		{"YAML", "f.yaml", "extensions:\n", "f.yaml: YAML is not read; declare the servers in config.toml, or in a file of JSON"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := discover.Parse(tt.file, []byte(tt.data), discover.Vars{})
			got := ""
			if err != nil {
				got = err.Error()
			}
			if !strings.HasPrefix(got, tt.want) || (tt.want == "") != (got == "") || strings.Contains(got, "\n") {
				t.Errorf("error = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestParseBoundsAFile(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"mcpServers":{`)
	for i := range 300 {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"s` + strings.Repeat("x", i) + `":{"command":"a"}`)
	}
	entries, got := parse(t, "f.json", b.String()+"}}")
	if want := "f.json: declares 300 servers; the first 256 count"; len(entries) != 256 || len(got) != 1 || got[0] != want {
		t.Errorf("Parse() gives %d entries and says %q, want 256 and %q", len(entries), got, want)
	}
}

func TestReadProject(t *testing.T) {
	v := discover.Vars{Workspace: t.TempDir()}
	s, warnings, err := discover.ReadProject(v)
	if err != nil || len(s.Entries) != 0 || warnings != nil {
		t.Errorf("ReadProject() = %v, %v, %v without a file, want nothing", s, warnings, err)
	}
	path := filepath.Join(v.Workspace, discover.ProjectFile)
	if err := os.WriteFile(path, []byte("\xef\xbb\xbf{\"mcpServers\":{\"x\":{\"command\":\"a\"}}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, _, err = discover.ReadProject(v)
	if err != nil || len(s.Entries) != 1 || !s.Project {
		t.Errorf("ReadProject() = %+v, %v, want the server of a project", s, err)
	}
	if err := os.WriteFile(path, make([]byte, 1<<20+1), 0o600); err != nil {
		t.Fatal(err)
	}
	want := path + ": is no file of at most 1 MiB"
	if _, _, err := discover.ReadProject(v); err == nil || err.Error() != want {
		t.Errorf("ReadProject() = %v for a large file, want %q", err, want)
	}
	if _, _, err := discover.Read(v.Workspace, v); err == nil || !strings.Contains(err.Error(), "is no file") {
		t.Errorf("Read() = %v for a directory, want that it is no file", err)
	}
	missing := filepath.Join(v.Workspace, "none.json")
	if _, _, err := discover.Read(missing, v); err == nil || err.Error() != missing+": no such file or directory" {
		t.Errorf("Read() = %v for a file that is missing, want that once", err)
	}
}

// Whatever a file holds: there is an error of one line, or each server has a name of the
// file's, a place in it, and can be resolved.
func FuzzParse(f *testing.F) {
	f.Add("f.json", []byte("{ // c\n\"mcpServers\":{\"a\":{\"command\":\"x\",\"args\":[1,\"${A:-b}\"],},},}"))
	f.Add("f.json", []byte(`{"mcp":{"servers":{"a":{"type":"remote","url":"https://h/${B}","timeout":1e99}}}}`))
	f.Add("f.json", []byte(`{"projects":{"/ws":{"mcpServers":{"":{"command":{"path":"p"},"oauth":{"scopes":"a b"}}}}}}`))
	f.Add("f.toml", []byte("[mcp_servers.a]\ncommand='x'\nstartup_timeout_sec=nan\n[mcp_servers]\nb={url='http://h'}"))
	f.Add("f.json", []byte(`{"a":"/*","b":"//",/*"*/"c":"\"/",}`))
	f.Fuzz(func(t *testing.T, file string, data []byte) {
		v := discover.Vars{Workspace: "/ws", Home: "/home/u", Env: func(name string) (string, bool) { return "v", name == "A" }}
		entries, _, err := discover.Parse(file, data, v)
		if err != nil && (len(entries) > 0 || strings.Contains(err.Error(), "\n") && !strings.Contains(file, "\n")) {
			t.Errorf("Parse(%q, %q) = %v, %v", file, data, entries, err)
		}
		lines := 1 + strings.Count(string(data), "\n")
		for _, e := range entries {
			if e.Line < 1 || e.Line > lines {
				t.Errorf("Parse(%q, %q): %q in line %d of %d", file, data, e.Name, e.Line, lines)
			}
			s := e.Resolve(v)
			if s.Trouble == "" && (s.Command == "") == (s.URL == "") {
				t.Errorf("Parse(%q, %q): %+v has no trouble, and neither one command nor one address", file, data, s)
			}
			if s.Timeout < 0 || s.Connect < 0 {
				t.Errorf("Parse(%q, %q): %+v has negative limits", file, data, s)
			}
		}
	})
}
