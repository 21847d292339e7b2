package app

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/acp"
	"github.com/lorimer-dev/lorimer/cmd/internal/config"
	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/mcpbridge"
	"github.com/lorimer-dev/lorimer/mcpbridge/client"
	"github.com/lorimer-dev/lorimer/tools/server"
)

// states are the servers of a session, each with its state and why.
func states(set server.Set) (lines []string) {
	if set == nil {
		return nil
	}
	for _, s := range set.Status() {
		lines = append(lines, strings.TrimSpace(s.Prefix+" "+string(s.State)+" "+s.LastError))
	}
	return lines
}

func (m *machine) connect(editor ...mcpbridge.Server) server.Set {
	m.t.Helper()
	set, err := m.Connect(m.t.Context(), acp.Servers{Session: "s", Dirs: acp.Dirs{Cwd: m.dir}, Editor: editor, Host: Alone{}})
	if err != nil {
		m.t.Fatal(err)
	}
	return set
}

// told are the notices of a session's first turn, in which no server is asked.
func (m *machine) told(set server.Set) (lines []string) {
	m.t.Helper()
	for range 2 { // the second turn hears nothing more
		if _, err := set.Tools(m.t.Context(), func(line string) { lines = append(lines, line) }); err != nil {
			m.t.Fatal(err)
		}
	}
	return lines
}

// The servers of the configuration come first, then those of the files that it names,
// of the directory and of the editor (R-MCP-01).
func TestConnectOrder(t *testing.T) {
	m := newMachine(t, Apart, `mcp_files = ["~/more.json"]
[mcp.Z]
command = "z"
disabled = true
[mcp.a]
command = "a"
url = "https://a"
`)
	m.write("more.json", `{"mcpServers":{"m":{"command":"m","disabled":true},"k":{"url":"https://${NOPE}","trust":true}}}`)
	m.write("work/.mcp.json", `{"mcpServers":{"p":{"command":"p"}}}`)
	set := m.connect(mcpbridge.Server{Name: "e", Kind: mcpbridge.Stdio, Command: "e"}, mcpbridge.Server{Name: "p", Kind: mcpbridge.Stdio, Command: "other"})
	want := []string{
		"z disabled switched off in ~/.config/lorimer/config.toml:3",
		"a failed give either command or url",
		"m disabled switched off in ~/more.json:1",
		"k failed url: the variable NOPE is not set; set it, or write ${NOPE:-DEFAULT}",
		`p disabled not approved; look at it in the file, then "lorimer mcp approve" with its name allows it`,
		"e connecting",
		"p_2 connecting",
	}
	got := states(set)
	for i := range got {
		got[i] = strings.ReplaceAll(got[i], m.home, "~")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("servers differ (-want +got):\n%s", diff)
	}
}

func TestConnectNothing(t *testing.T) {
	m := newMachine(t, Apart, "")
	if set := m.connect(); set != nil {
		t.Errorf("Connect() = %v, want no set where there are no servers", states(set))
	}
	if m.mcp.pool != nil {
		t.Error("there is a pool, and no server")
	}
}

// What a directory declares is told once in a session, until somebody has decided.
func TestNoticesOfADirectory(t *testing.T) {
	m := newMachine(t, Apart, "[mcp.own]\ncommand = \"a\"\ndisabled = true\n")
	m.write("work/.mcp.json", "{\"mcpServers\":{\"p\":{\"command\":\"p\",\"autoApprove\":[\"*\"]}}}")
	want := []string{`.mcp.json declares the MCP server "p", which is off until you approve it: ` +
		`"lorimer mcp approve NAME" in this directory allows one, "lorimer mcp revoke NAME" refuses it.`}
	if diff := cmp.Diff(want, m.told(m.connect())); diff != "" {
		t.Errorf("notices differ (-want +got):\n%s", diff)
	}
	m.o.Warn = func(config.Warning) {} // of what has no effect in the file, and of what is broken below
	if done, err := m.Refuse(t.Context(), m.dir, "p"); err != nil || len(done) != 1 {
		t.Fatalf("Refuse() = %v, %v", done, err)
	}
	if got := m.told(m.connect()); got != nil {
		t.Errorf("notices = %q of a server that is not wanted, want none", got)
	}
	m.write("work/.mcp.json", "{\"mcpServers\":\n{\"own\":{\"command\":\"evil\"}}}")
	want = []string{m.dir + `/.mcp.json:2: server "own": is declared by ` + m.home + `/.config/lorimer/config.toml:2 already and has no effect here; give it another name`}
	if diff := cmp.Diff(want, m.told(m.connect())); diff != "" {
		t.Errorf("notices of a name that is taken differ (-want +got):\n%s", diff)
	}
	m.write("work/.mcp.json", "{\n\"mcpServers\" {}}")
	want = []string{m.dir + "/.mcp.json:2: not JSON: invalid character '{' after object key"}
	if diff := cmp.Diff(want, m.told(m.connect())); diff != "" {
		t.Errorf("notices of a broken file differ (-want +got):\n%s", diff)
	}
}

func TestApprove(t *testing.T) {
	m := newMachine(t, Apart, "[mcp.own]\ncommand = \"a\"\ndisabled = true\n")
	m.write("work/.mcp.json", `{"mcpServers":{"p":{"command":"p"},"q":{"url":"https://q"},"r":{"command":"r"}}}`)
	for _, tt := range []struct{ name, want string }{
		{"none", `there is no MCP server "none"; those there are: p, q, r`},
		{"own", `the MCP server "own" is your own (` + m.home + `/.config/lorimer/config.toml:2) and needs no approval; "disabled" in its declaration switches it off`},
	} {
		if _, err := m.Approve(t.Context(), m.dir, tt.name); err == nil || err.Error() != tt.want {
			t.Errorf("Approve(%q) = %v, want %q", tt.name, err, tt.want)
		}
	}
	if _, err := m.Approve(t.Context(), m.home, "p"); err == nil || err.Error() != `.mcp.json of this directory declares no MCP server "p", and no other` {
		t.Errorf("Approve() = %v in another directory, want that there is none", err)
	}
	if _, err := m.Refuse(t.Context(), m.dir, "r"); err != nil {
		t.Fatal(err)
	}
	done, err := m.Approve(t.Context(), m.dir) // all that nobody has decided on
	if err != nil || len(done) != 2 {
		t.Fatalf("Approve() = %v, %v, want two servers", done, err)
	}
	want := []string{
		"own disabled switched off in " + m.home + "/.config/lorimer/config.toml:2", "p connecting", "q connecting",
		`r disabled revoked; "lorimer mcp approve" with its name allows it`,
	}
	if diff := cmp.Diff(want, states(m.connect())); diff != "" {
		t.Errorf("servers differ (-want +got):\n%s", diff)
	}
	m.write("work/.mcp.json", `{"mcpServers":{"p":{"command":"p","args":["--evil"]},"q":{"url":"https://q","timeout":5}}}`)
	got := states(m.connect())
	if !strings.HasPrefix(got[1], "p disabled changed since it was approved;") || got[2] != "q connecting" {
		t.Errorf("servers = %q, want that p has changed and q has not", got)
	}
}

// Nothing of a server's credentials is in the trace (R-MCP-19).
func TestConnectHidesSecrets(t *testing.T) {
	m := newMachine(t, Apart, `[mcp.a]
url = "https://a"
headers = { X-Key = "literal-secret", Authorization = "Bearer ${A_TOKEN}" }
`)
	file := filepath.Join(m.home, "trace")
	a, err := Open(Options{
		Sources: config.Sources{Home: m.home, Flags: map[string]string{"trace": file}},
		Environ: []string{"A_TOKEN=variable-secret"},
		Keep:    Apart,
		Warn:    func(w config.Warning) { t.Errorf("warning: %v", w) },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close(context.Background())
	if _, err := a.Connect(t.Context(), acp.Servers{Dirs: acp.Dirs{Cwd: m.dir}, Editor: []mcpbridge.Server{
		{Name: "e", Kind: mcpbridge.Stdio, Command: "e", Env: map[string]string{"E_TOKEN": "editor-secret"}},
	}}); err != nil {
		t.Fatal(err)
	}
	a.turn(harness.TurnTrace{Session: "literal-secret variable-secret editor-secret shown"})
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out := string(data)
	if strings.Contains(out, "-secret") || !strings.Contains(out, "shown") {
		t.Errorf("trace = %s, want it without the secrets", out)
	}
}

// What was learned of servers outlives the process, and a file that is broken does not.
func TestEras(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cache", "eras.json")
	one, other := &eras{file: file}, &eras{file: file}
	if got := one.Era("a"); got != client.Unknown {
		t.Errorf("Era() = %q before anything, want unknown", got)
	}
	one.Remember("a", client.Handshake)
	other.Remember("b", client.Stateless)
	third := &eras{file: file}
	if a, b := third.Era("a"), third.Era("b"); a != client.Handshake || b != client.Stateless {
		t.Errorf("Era() = %q, %q, want what two processes have learned", a, b)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v, want one that the user alone reads", info, err)
	}
	third.Remember("a", client.Unknown)
	if got := (&eras{file: file}).Era("a"); got != client.Unknown {
		t.Errorf("Era() = %q after it was forgotten", got)
	}
	if err := os.WriteFile(file, []byte(`{"a":"initialize"`), 0o600); err != nil {
		t.Fatal(err)
	}
	broken := &eras{file: file}
	if got := broken.Era("a"); got != client.Unknown {
		t.Errorf("Era() = %q of a broken file, want unknown", got)
	}
	broken.Remember("c", client.Handshake)
	if got := (&eras{file: file}).Era("c"); got != client.Handshake {
		t.Errorf("Era() = %q, want that the broken file was replaced", got)
	}
	for i := range 2 * maxEras {
		broken.Remember(string(rune('A'+i)), client.Handshake)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]string
	if err := json.Unmarshal(data, &all); err != nil || len(all) > maxEras {
		t.Errorf("%d servers are remembered (%v), want at most %d", len(all), err, maxEras)
	}
	nowhere := &eras{file: "/dev/null/eras.json"}
	nowhere.Remember("a", client.Handshake)
	if got := nowhere.Era("a"); got != client.Handshake {
		t.Errorf("Era() = %q where nothing can be written, want what was learned", got)
	}
	left, err := fs.Glob(os.DirFS(filepath.Dir(file)), ".eras-*")
	if err != nil || len(left) > 0 {
		t.Errorf("files are left: %q, %v", left, err)
	}
}

func TestServerStatesAskNobody(t *testing.T) {
	m := newMachine(t, Apart, "[mcp.a]\ncommand = \"touch\"\nargs = [\"made\"]\n")
	got, err := m.ServerStates(t.Context(), m.dir, false)
	if err != nil || len(got) != 1 || got[0].State != NotAsked {
		t.Errorf("ServerStates() = %+v, %v, want one that was not asked", got, err)
	}
	if _, err := os.Stat(filepath.Join(m.dir, "made")); err == nil {
		t.Error("the program was started")
	}
	if _, err := m.ProbeServer(t.Context(), m.dir, "b"); err == nil || err.Error() != `there is no MCP server "b"; those there are: a` {
		t.Errorf("ProbeServer() = %v, want the names that there are", err)
	}
}

func TestServerStatesOfDeadServers(t *testing.T) {
	m := newMachine(t, Apart, "[mcp.a]\ncommand = \"/nowhere/a\"\n[mcp.b]\ncommand = \"b\"\ndisabled = true\n")
	got, err := m.ServerStates(t.Context(), m.dir, true)
	if err != nil || len(got) != 2 || got[0].State != server.Failed || got[0].Attempts != 1 || !strings.Contains(got[0].LastError, "/nowhere/a") || got[1].State != server.Disabled {
		t.Errorf("ServerStates() = %+v, %v, want one that has failed and one that is off", got, err)
	}
	p, err := m.ProbeServer(t.Context(), m.dir, "a")
	if err != nil || p.State != server.Failed || !slices.Equal(p.Tools, []string{}) {
		t.Errorf("ProbeServer() = %+v, %v, want that it has failed", p, err)
	}
}
