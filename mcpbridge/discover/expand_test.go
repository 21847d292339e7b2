package discover_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/mcpbridge"
	"github.com/lorimer-dev/lorimer/mcpbridge/discover"
)

// vars has a few variables.
func vars() discover.Vars {
	set := map[string]string{"HOST": "h.example", "API_TOKEN": "t0ken-12345", "EMPTY": "", "NESTED": "${HOST}", "LONG_KEY": "k3y-67890"}
	return discover.Vars{
		Env:  func(name string) (string, bool) { v, ok := set[name]; return v, ok },
		Home: "/home/u", Workspace: "/ws",
	}
}

func TestResolve(t *testing.T) {
	tests := []struct{ name, value, want string }{
		{"no variable", "plain $HOST ${", "plain $HOST ${"},
		{"a variable", "a ${HOST} b", "a h.example b"},
		{"two of them", "${HOST}${HOST}", "h.exampleh.example"},
		{"in the words of VS Code", "${env:HOST}", "h.example"},
		{"with a default", "${HOST:-other}", "h.example"},
		{"the default", "${NONE:-other}", "other"},
		{"the default of VS Code", "${env:NONE:-a:-b}", "a:-b"},
		{"an empty default", "[${NONE:-}]", "[]"},
		{"a default for nothing", "${EMPTY:-other}", "other"},
		{"set to nothing", "[${EMPTY}]", "[]"},
		{"once", "${NESTED}", "${HOST}"},
		{"the workspace", "${workspaceFolder}${pathSeparator}a", "/ws" + string(filepath.Separator) + "a"},
		{"the home directory", "${userHome}${/}a", "/home/u" + string(filepath.Separator) + "a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := discover.Entry{Server: mcpbridge.Server{Name: "x", Kind: mcpbridge.Stdio, Command: "sh", Args: []string{tt.value}}}
			if tt.name != "no variable" { // which a shell may have to itself
				e.Command = "a"
				e.Env = map[string]string{"E": tt.value}
			}
			s := e.Resolve(vars())
			if s.Trouble != "" || s.Args[0] != tt.want || e.Env != nil && s.Env["E"] != tt.want {
				t.Errorf("Resolve() of %q = args %q, env %q, trouble %q, want %q", tt.value, s.Args, s.Env, s.Trouble, tt.want)
			}
		})
	}
}

func TestResolveTrouble(t *testing.T) {
	program := func(f func(*discover.Entry)) discover.Entry {
		e := discover.Entry{Server: mcpbridge.Server{Name: "x", Kind: mcpbridge.Stdio, Command: "a"}}
		f(&e)
		return e
	}
	address := func(url string, headers map[string]string) discover.Entry {
		return discover.Entry{Server: mcpbridge.Server{Name: "x", Kind: mcpbridge.HTTP, URL: url, Headers: headers}}
	}
	tests := []struct {
		name  string
		entry discover.Entry
		want  string
	}{
		{"a variable that is not set", address("https://h", map[string]string{"Authorization": "Bearer ${NONE}"}),
			"headers.Authorization: the variable NONE is not set; set it, or write ${NONE:-DEFAULT}"},
		{"the same in an argument", program(func(e *discover.Entry) { e.Args = []string{"a", "${env:NONE}"} }),
			"args[1]: the variable NONE is not set; set it, or write ${NONE:-DEFAULT}"},
		{"a question", program(func(e *discover.Entry) { e.Env = map[string]string{"T": "${input:token}"} }),
			"env.T: ${input:token} would have to be asked for; set a variable instead, and write ${NAME}"},
		{"a command in it", program(func(e *discover.Entry) { e.Env = map[string]string{"T": "$(cat token)"} }),
			"env.T: $(…) is not run; set a variable to what it prints, and write ${NAME}"},
		{"something else", program(func(e *discover.Entry) { e.Dir = "${command:x}" }),
			"cwd: ${command:x} is not understood; ${NAME}, ${NAME:-DEFAULT} and ${workspaceFolder} are"},
		{"an open brace", program(func(e *discover.Entry) { e.Command = "${HOST" }), "command: ${ without a } behind it"},
		{"an empty command", program(func(e *discover.Entry) { e.Command = "${EMPTY}" }), "command is empty"},
		{"a name that is none", program(func(e *discover.Entry) { e.Env = map[string]string{"A=B": "c"} }), `env: "A=B" is not the name of a variable`},
		{"a zero byte", program(func(e *discover.Entry) { e.Args = []string{"a\x00b"} }), "args has a zero byte in it"},
		{"another scheme", address("ftp://h", nil), "url must begin with http:// or https:// and name a host"},
		{"no host", address("https:///mcp", nil), "url must begin with http:// or https:// and name a host"},
		{"no address", address("https://${HOST}:port/%zz", nil), "url cannot be read; write it like https://HOST/PATH"},
		{"no header", address("https://h", map[string]string{"a b": "c"}), `headers: "a b" is not the name of a header`},
		{"two lines", address("https://h", map[string]string{"A": "b\nc"}), "headers.A has a line break in it"},
		{"no pattern", program(func(e *discover.Entry) { e.Exclude = []string{"read_*", "[a"} }), `"[a" is no pattern of names of tools; write it like read_*`},
		{"a file that is missing", program(func(e *discover.Entry) { e.EnvFile = "/nowhere/.env" }), "envFile: stat /nowhere/.env: no such file or directory"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.entry.Resolve(vars()).Trouble; got != tt.want {
				t.Errorf("trouble = %q, want %q", got, tt.want)
			}
		})
	}
}

// A shell has $ to itself, but for the variables that this program knows.
func TestResolveLeavesAShellItsOwn(t *testing.T) {
	e := discover.Entry{Server: mcpbridge.Server{
		Kind: mcpbridge.Stdio, Command: "/bin/sh", Args: []string{"-c", `T=$(cat ~/t) exec a ${HOST} "${@:2}" ${T%x}`},
	}}
	s := e.Resolve(vars())
	want := []string{"-c", `T=$(cat ~/t) exec a h.example "${@:2}" ${T%x}`}
	if s.Trouble != "" || !slices.Equal(s.Args, want) {
		t.Errorf("Resolve() = %q, trouble %q, want %q", s.Args, s.Trouble, want)
	}
}

func TestResolvePaths(t *testing.T) {
	for _, tt := range []struct{ dir, want string }{
		{"", ""}, {"sub", "/ws/sub"}, {"~/a", "/home/u/a"}, {"${workspaceFolder}/b", "/ws/b"}, {"/abs", "/abs"},
	} {
		e := discover.Entry{Server: mcpbridge.Server{Kind: mcpbridge.Stdio, Command: "~/bin/a", Dir: tt.dir}}
		if s := e.Resolve(vars()); s.Dir != tt.want || s.Command != "/home/u/bin/a" {
			t.Errorf("Resolve() = command %q in %q for %q, want /home/u/bin/a in %q", s.Command, s.Dir, tt.dir, tt.want)
		}
	}
}

func TestResolveReadsVariablesFromAFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, ".env")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	v := vars()
	v.Workspace = dir
	e := discover.Entry{EnvFile: "${workspaceFolder}/.env", Server: mcpbridge.Server{
		Kind: mcpbridge.Stdio, Command: "a", Env: map[string]string{"A": "declared"},
	}}
	write("# mine\n\nA=file\nexport B = \"b c\"\nC='d'\nD=${HOST}\nE=\n")
	want := map[string]string{"A": "declared", "B": "b c", "C": "d", "D": "${HOST}", "E": ""}
	s := e.Resolve(v)
	if diff := cmp.Diff(want, s.Env); diff != "" || s.Trouble != "" {
		t.Errorf("variables differ (-want +got), trouble %q:\n%s", s.Trouble, diff)
	}
	before := e.Digest(v)
	write("A=other\n")
	if e.Digest(v) == before {
		t.Error("the digest is the same for another file of variables")
	}
	write("A=b\nnot a variable\n")
	if got, want := e.Resolve(v).Trouble, "envFile: line 2 of ${workspaceFolder}/.env is not NAME=value"; got != want {
		t.Errorf("trouble = %q, want %q", got, want)
	}
}

func TestSecrets(t *testing.T) {
	e := discover.Entry{Server: mcpbridge.Server{
		Kind: mcpbridge.HTTP, URL: "https://u:passw0rd@${HOST}/?key=${LONG_KEY}&q=shown",
		Headers: map[string]string{"Authorization": "Bearer ${API_TOKEN}", "X-Team": "blue", "Accept": "text/plain"},
		OAuth:   mcpbridge.OAuth{ClientSecret: "cl1ent"},
	}}
	s := e.Resolve(vars())
	want := []string{"Bearer t0ken-12345", "blue", "cl1ent", "k3y-67890", "passw0rd", "t0ken-12345"}
	if got := s.Credentials(); !slices.Equal(got, want) {
		t.Errorf("Credentials() = %q, want %q", got, want)
	}
	e = discover.Entry{Server: mcpbridge.Server{
		Kind: mcpbridge.Stdio, Command: "a", Args: []string{"--as", "${API_TOKEN}", "${HOST}"},
		Env: map[string]string{"MY_KEY": "k", "MODE": "production", "MYSQL_PWD": "p", "SMTP_PASS": "q"},
	}}
	want = []string{"k", "p", "q", "t0ken-12345"}
	if got := e.Resolve(vars()).Credentials(); !slices.Equal(got, want) {
		t.Errorf("Credentials() = %q, want %q", got, want)
	}
}

func TestLiteral(t *testing.T) {
	e := discover.Entry{Server: mcpbridge.Server{
		Args:    []string{"--token", "abc", "--api-key=def", "--key", "${K}", "--mode", "x"},
		Env:     map[string]string{"A_TOKEN": "abc", "B_TOKEN": "${B}", "MODE": "x", "C_KEY": ""},
		Headers: map[string]string{"Authorization": "Bearer abc", "Cookie": "${C}"},
	}}
	want := []string{"env.A_TOKEN", "headers.Authorization", "args", "args"}
	if got := e.Literal(); !slices.Equal(got, want) {
		t.Errorf("Literal() = %q, want %q", got, want)
	}
}
