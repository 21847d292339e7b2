package stdio

import "testing"

func TestMissingPackage(t *testing.T) {
	tests := []struct {
		command string
		args    []string
		missing bool
	}{
		{"npx", nil, true},
		{"/usr/local/bin/npx", []string{"-y"}, true},
		{`C:\nodejs\npx.cmd`, []string{"--yes"}, true},
		{"npx", []string{"-y", "@scope/server", "/tmp"}, false},
		{"npx", []string{"-p", "@scope/server"}, true},
		{"npx", []string{"--package=@scope/server", "start"}, false},
		{"npx", []string{"-p", "@scope/server", "-c", "start"}, false},
		{"npx", []string{"--"}, true},
		{"npx", []string{"--", "server"}, false},
		{"npm", []string{"exec", "-y"}, true},
		{"npm", []string{"exec", "--", "server"}, false},
		{"npm", []string{"run", "mcp"}, false},
		{"pnpm", []string{"dlx"}, true},
		{"yarn", []string{"dlx", "server"}, false},
		{"bun", []string{"x"}, true},
		{"bun", []string{"run", "server.ts"}, false},
		{"bunx", []string{"server"}, false},
		{"uvx", nil, true},
		{"uvx", []string{"--python", "3.12"}, true},
		{"uvx", []string{"--from", "git+https://example.org/x", "server"}, false},
		{"uv", []string{"tool", "run"}, true},
		{"uv", []string{"--directory", "/srv", "run", "server.py"}, false},
		{"node", nil, false},
		{"npx-server", nil, false},
	}
	for _, tt := range tests {
		if got := missingPackage(tt.command, tt.args); (got != "") != tt.missing {
			t.Errorf("missingPackage(%q, %q) = %q, want one: %t", tt.command, tt.args, got, tt.missing)
		}
	}
}
