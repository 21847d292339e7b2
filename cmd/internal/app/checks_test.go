package app

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/lorimer-dev/lorimer/cmd/internal/config"
	"github.com/lorimer-dev/lorimer/cmd/internal/doctor"
)

// TestChecks: what is declared, and what directories carry, is looked at without a
// session (R-CMD-10).
func TestChecks(t *testing.T) {
	home := t.TempDir()
	m := &machine{t: t, home: home, dir: filepath.Join(home, "src")}
	m.write("src/.keep", "")
	t.Chdir(m.dir)
	look := func() (map[string]string, bool) {
		reports, healthy := doctor.Run(t.Context(), Checks(config.Sources{Home: home}, nil))
		found := make(map[string]string)
		for _, r := range reports {
			var lines []string
			for _, f := range r.Findings {
				lines = append(lines, string(f.State)+" "+strings.ReplaceAll(f.Text, home, "~"))
			}
			found[r.Check] = strings.Join(lines, "\n")
		}
		return found, healthy
	}
	const sound = "model = \"offline\"\n"
	tests := []struct {
		name    string
		files   map[string]string
		check   string
		want    string // is among its findings
		healthy bool
	}{
		{"nothing", nil, "instructions", "ok there is no AGENTS.md for this directory", true},
		{"nothing of skills", nil, "skills", "ok 2 skills, 2 of them switched on", true},
		{"instructions", map[string]string{"src/AGENTS.md": "Use tabs.", "AGENTS.md": "Be kind."}, "instructions", "ok the model is told of ../AGENTS.md, AGENTS.md", true},
		{"a missing import", map[string]string{"src/AGENTS.md": "@none.md"}, "instructions", "note ~/src/AGENTS.md:1: @none.md", true},
		{"switched off", map[string]string{"src/AGENTS.md": "@none.md", ".config/lorimer/config.toml": sound + "[instructions]\nagents_md = false\n"}, "instructions", "ok switched off by instructions.agents_md", true},
		{"a broken skill", map[string]string{".config/lorimer/skills/Bad Name/SKILL.md": "---\nname: Bad Name\n---\n"}, "skills", "note ~/.config/lorimer/skills/Bad Name/SKILL.md: ", true},
		{"skills that are switched off", map[string]string{".config/lorimer/config.toml": sound + "[skills]\ndisabled = [\"search\"]\n"}, "skills", "ok 2 skills, 1 of them switched on", true},
		{"models", map[string]string{".config/lorimer/models.toml": "[models.offline]\nwindwo = 1\nchat_mode_addendum = \"{{model}}\"\n"}, "configuration", "ok ~/.config/lorimer/models.toml says something of 1 model\nnote ~/.config/lorimer/models.toml:2: unknown key", true},
		{"a model's text with a mistake", map[string]string{".config/lorimer/models.toml": "[models.\"a/*\"]\nchat_mode_addendum = \"{{nope}}\"\n"}, "prompt", `bad ~/.config/lorimer/models.toml:2: prompt section "Conversation style"`, false},
		{"a model's text on tools with a mistake", map[string]string{".config/lorimer/models.toml": "[models.\"a/*\"]\ntools_override = \"{{ model }}\"\n"}, "prompt", `bad ~/.config/lorimer/models.toml:2: prompt section "Tools override"`, false},
		{"a model's window", map[string]string{".config/lorimer/models.toml": "[models.\"a/*\"]\nwindow = 0\n"}, "configuration", "bad ~/.config/lorimer/models.toml:2: models.a/*.window", false},
		{"a provider without its key", map[string]string{".config/lorimer/config.toml": sound + "[providers.acme]\nbase_url = \"https://a\"\n"}, "providers", "ok 0 providers can be asked\nnote acme has no key; name a variable with api_key_env under [providers.acme] in ~/.config/lorimer/config.toml", true},
		{"a key that others can read", map[string]string{".config/lorimer/config.toml": sound + "[providers.acme]\nbase_url = \"http://a\"\napi_key_command = \"exit 1\"\n"}, "providers", "ok 1 provider can be asked\nnote acme is asked without encryption", true},
		{"a certificate that is missing", map[string]string{".config/lorimer/config.toml": "ca_file = \"none.pem\"\n" + sound}, "providers", "bad reading ca_file: open ~/.config/lorimer/none.pem", false},
		{"a certificate of a provider that is none", map[string]string{".config/lorimer/config.toml": sound + "[providers.openai]\nca_file = \"config.toml\"\n"}, "providers", "bad openai: ca_file ~/.config/lorimer/config.toml holds no certificate", false},
		{"a model that nobody knows", map[string]string{".config/lorimer/config.toml": "model = \"acme/m\"\n[providers.acme]\nbase_url = \"https://a\"\napi_key_command = \"echo k\"\n"}, "model", "ok acme/m, because it is configured\nnote Lorimer does not know the model acme/m: it assumes a window of 128000 tokens and", true},
		{"a setting that langchaingo needs", map[string]string{".config/lorimer/config.toml": "model = \"ibm/m\"\n[providers.ibm]\nkind = \"langchain/watsonx\"\napi_key_command = \"echo k\"\n"}, "model", "bad langchain/watsonx needs the option project", false},
		{"no servers", nil, "mcp", "ok no MCP server is declared", true},
		{"servers", map[string]string{".config/lorimer/config.toml": sound + "[mcp.a]\nurl = \"https://a\"\n[mcp.b]\ncommand = \"b\"\ndisabled = true\n"}, "mcp", "ok 2 servers declared, 1 of them in use", true},
		{"a server with two ways", map[string]string{".config/lorimer/config.toml": sound + "[mcp.a]\nurl = \"https://a\"\ncommand = \"b\"\n"}, "mcp", "ok 1 server declared, 0 of them in use\nnote ~/.config/lorimer/config.toml:2: server \"a\": give either command or url", true},
		{"a server that is none", map[string]string{".config/lorimer/config.toml": sound + "[mcp.a]\ncommand = \"/nowhere/a\"\n"}, "mcp", "note ~/.config/lorimer/config.toml:2: server \"a\": there is no program /nowhere/a; correct the path in command", true},
		{"an address that is none", map[string]string{".config/lorimer/config.toml": sound + "[mcp.a]\nurl = \"a.example\"\n"}, "mcp", "server \"a\": url must begin with http:// or https:// and name a host", true},
		{"a variable that is not set", map[string]string{".config/lorimer/config.toml": sound + "[mcp.a]\nurl = \"https://a/${B}\"\n"}, "mcp", "server \"a\": url: the variable B is not set", true},
		{"a file of servers that is missing", map[string]string{".config/lorimer/config.toml": "mcp_files = [\"none.json\"]\n" + sound}, "mcp", "ok no MCP server is declared\nnote ~/.config/lorimer/none.json: no such file or directory", true},
		{"a file of servers", map[string]string{".config/lorimer/config.toml": "mcp_files = [\"~/m.json\"]\n" + sound, "m.json": "{\"mcpServers\":{\"a\":{\"url\":\"https://a\",\"timeout\":30,\"nope\":1}}}"}, "mcp", "note ~/m.json:1: server \"a\": timeout = 30 is read as 30s\nnote ~/m.json:1: server \"a\": unknown field nope has no effect", true},
		{"servers of a directory", map[string]string{"src/.mcp.json": "{\"mcpServers\":{\"a\":{\"url\":\"https://a\",\"headers\":{\"Authorization\":\"Bearer x\"}}}}"}, "mcp", "note ~/src/.mcp.json:1: server \"a\": not approved; look at it in the file, then \"lorimer mcp approve\" with its name allows it\nnote ~/src/.mcp.json:1: server \"a\": headers.Authorization holds a secret that whoever has this file can read", true},
		{"a hook on a tool", map[string]string{".config/lorimer/config.toml": sound + "[[hook]]\naction = \"drop\"\ntool = \"deploy\"\n"}, "prompt", "ok ", true},
		{"a hook on nothing", map[string]string{".config/lorimer/config.toml": sound + "[[hook]]\naction = \"drop\"\nsection = \"nope\"\n"}, "prompt", `bad ~/.config/lorimer/config.toml:2: configuration key "hook": nothing to drop: there is no section "nope"`, false},
		{"a hook of one session", map[string]string{".config/lorimer/config.toml": sound + "[[hook]]\naction = \"append\"\nsection = \"mine\"\ntext = \"x\"\nliteral = true\nscope = \"s\"\n"}, "prompt", `bad ~/.config/lorimer/config.toml:2: prompt section "mine"`, false},
		{"a hook on the identity", map[string]string{".config/lorimer/config.toml": sound + "[[hook]]\naction = \"replace\"\nsection = \"harness:identity\"\ntext = \"x\"\n"}, "configuration", "bad ~/.config/lorimer/config.toml:4: hook: harness:identity", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, name := range []string{"AGENTS.md", "src/AGENTS.md", "src/.mcp.json", ".config/lorimer/models.toml"} {
				m.write(name, "")
			}
			m.write(".config/lorimer/config.toml", sound)
			for name, content := range tt.files {
				m.write(name, content)
			}
			found, healthy := look()
			if got := found[tt.check]; !strings.Contains(got, tt.want) || healthy != tt.healthy {
				t.Errorf("%s = %q, healthy %v; want %q, %v", tt.check, got, healthy, tt.want, tt.healthy)
			}
		})
	}
}
