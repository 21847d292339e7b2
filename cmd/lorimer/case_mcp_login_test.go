//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/lorimer-dev/lorimer/mcpbridge/oauth/oauthtest"
)

// A loginHome is a home with a server that wants an account.
type loginHome struct {
	t      *testing.T
	server *oauthtest.Server
	dir    string
	env    []string // beside the usual
}

func newLoginHome(t *testing.T, c oauthtest.Config) *loginHome {
	t.Helper()
	h := &loginHome{t: t, server: oauthtest.Start(c), dir: t.TempDir()}
	t.Cleanup(h.server.Close)
	h.file(".config/lorimer/config.toml", fmt.Sprintf("[mcp.house]\nurl = %q\n\n[mcp.keyed]\nurl = %q\nheaders = { authorization = \"Bearer x\" }\n\n[mcp.program]\ncommand = \"true\"\n\n[mcp.quiet]\nurl = %q\ndisabled = true\n",
		h.server.URL(), h.server.URL()+"/2", h.server.URL()+"/3"))
	return h
}

func (h *loginHome) file(name, content string) string {
	h.t.Helper()
	path := filepath.Join(h.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		h.t.Fatal(err)
	}
	return path
}

// command returns "lorimer mcp" with args.
func (h *loginHome) command(args ...string) (cmd *exec.Cmd, stdout *bytes.Buffer) {
	cmd, stdout = exec.Command("lorimer", append([]string{"mcp"}, args...)...), new(bytes.Buffer)
	cmd.Dir = h.dir
	cmd.Env = append([]string{"HOME=" + h.dir, "PATH=" + os.Getenv("PATH"), raceOptions()}, h.env...)
	cmd.Stdout = stdout
	return cmd, stdout
}

// run runs a command and returns its exit code and what it has said.
func (h *loginHome) run(args ...string) (code int, stdout, stderr string) {
	h.t.Helper()
	cmd, out := h.command(args...)
	var diag bytes.Buffer
	cmd.Stderr = &diag
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	return ends(h.t, cmd), out.String(), diag.String()
}

// login runs "lorimer mcp login" with args up to the address that it prints, which is
// given to visit, and then to its end.
func (h *loginHome) login(visit func(cmd *exec.Cmd, address string), args ...string) (code int, stdout string, lines []string) {
	h.t.Helper()
	cmd, out := h.command(append([]string{"login"}, args...)...)
	diag, err := cmd.StderrPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	for s := bufio.NewScanner(diag); s.Scan(); {
		lines = append(lines, s.Text())
		if strings.HasPrefix(s.Text(), "http") {
			visit(cmd, s.Text())
		}
	}
	return ends(h.t, cmd), out.String(), lines
}

func (h *loginHome) browse(_ *exec.Cmd, address string) {
	if err := oauthtest.Browse(address); err != nil {
		h.t.Error(err)
	}
}

// credentials returns the files of credentials.
func (h *loginHome) credentials() []string {
	h.t.Helper()
	files, err := filepath.Glob(filepath.Join(h.dir, ".local/state/lorimer/oauth/*"))
	if err != nil {
		h.t.Fatal(err)
	}
	return files
}

// R-MCP-19: a user logs in with a browser and out again, and no secret
// is anywhere but in its file.
func TestMCPLogin(t *testing.T) {
	t.Parallel()
	h := newLoginHome(t, oauthtest.Config{Lasts: 3600, ScopesAsked: "read"})
	code, stdout, lines := h.login(h.browse, "house", "--no-browser", "--json", "--log-level", "trace")
	if code != 0 {
		t.Fatalf("exit code %d, standard error %q", code, lines)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatalf("%v: %s", err, stdout)
	}
	want := map[string]any{"server": "house", "resource": h.server.URL(), "issuer": h.server.Issuer(), "scopes": []any{"read"}, "renews": true}
	if !contains(got, want) || !regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$`).MatchString(fmt.Sprint(got["expires"])) {
		t.Errorf("it prints %s, want %v and a time", stdout, want)
	}
	files := h.credentials()
	if len(files) != 1 {
		t.Fatalf("%q, want one credential", files)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v, want a file of the user's own", info.Mode(), err)
	}
	for _, secret := range append(h.server.Valid(), h.server.Seen("/token")[0].Form.Get("code")) {
		if said := stdout + strings.Join(lines, "\n"); strings.Contains(said, secret) {
			t.Errorf("it says %q: %s", secret, said)
		}
	}

	// Again, in words.
	code, stdout, _ = h.login(h.browse, "house", "--no-browser")
	if want := "logged in at house, by " + h.server.Issuer() + ", for read; it is renewed by itself\n"; code != 0 || stdout != want {
		t.Errorf("exit code %d, standard output %q, want %q", code, stdout, want)
	}

	// By its address: it is the same server.
	code, stdout, stderr := h.run("logout", h.server.URL(), "--json")
	if want := `{"server": "` + h.server.URL() + `", "forgotten": true, "revoked": true}`; code != 0 || !sameJSON(stdout, want) {
		t.Errorf("exit code %d, %s %s, want %s", code, stdout, stderr, want)
	}
	if left := h.credentials(); len(left) > 0 {
		t.Errorf("%q is left", left)
	}
	code, stdout, stderr = h.run("logout", "house")
	if code != 0 || stdout != "" || stderr != "lorimer: nobody is logged in at house\n" {
		t.Errorf("exit code %d, %q, %q", code, stdout, stderr)
	}
}

func sameJSON(got, want string) bool {
	var g, w any
	return json.Unmarshal([]byte(got), &g) == nil && json.Unmarshal([]byte(want), &w) == nil && contains(g, w) && contains(w, g)
}

// The address is opened by itself where there is a browser, which gets no key of a
// model and is not waited for.
func TestMCPLoginOpens(t *testing.T) {
	t.Parallel()
	h := newLoginHome(t, oauthtest.Config{})
	pipe := filepath.Join(h.dir, "address")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	opener := h.file("bin/xdg-open", "#!/bin/sh\nenv > environment\nprintf %s \"$1\" > address\n")
	if err := os.Chmod(opener, 0o700); err != nil {
		t.Fatal(err)
	}
	open := h.file("bin/open", "#!/bin/sh\nexec xdg-open \"$1\"\n") // where that is its name
	if err := os.Chmod(open, 0o700); err != nil {
		t.Fatal(err)
	}
	h.env = []string{"PATH=" + filepath.Dir(opener) + ":" + os.Getenv("PATH"), "DISPLAY=:0", "OPENAI_API_KEY=sk-of-the-user"}
	code, _, lines := h.login(func(_ *exec.Cmd, printed string) {
		opened, err := os.ReadFile(pipe)
		if err != nil || string(opened) != printed {
			t.Errorf("%q was opened (%v), want %q", opened, err, printed)
		}
		h.browse(nil, string(opened))
	}, "house")
	if code != 0 {
		t.Errorf("exit code %d, standard error %q", code, lines)
	}
	environ, err := os.ReadFile(filepath.Join(h.dir, "environment"))
	if err != nil || strings.Contains(string(environ), "sk-of-the-user") || !strings.Contains(string(environ), "DISPLAY=:0") {
		t.Errorf("the browser has the environment %s (%v)", environ, err)
	}

	h.env = nil
	code, _, lines = h.login(h.browse, "house")
	if said := strings.Join(lines, "\n"); code != 0 || !strings.Contains(said, "It could not be opened by itself: there is no display") {
		t.Errorf("exit code %d, standard error %s", code, said)
	}
}

// What goes wrong is one line that says what to do.
func TestMCPLoginFails(t *testing.T) {
	t.Parallel()
	h := newLoginHome(t, oauthtest.Config{Denied: true})
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"login"}, 2, `needs NAME`},
		{[]string{"login", "house", "--port", "70000"}, 2, `there is no such port`},
		{[]string{"login", "home"}, 1, `^lorimer: there is no MCP server "home"; "lorimer mcp list" shows those there are`},
		{[]string{"login", "program"}, 1, `nobody logs in at the MCP server "program": it is a program`},
		{[]string{"login", "keyed"}, 1, `has a header Authorization, which goes before a login; take it out first$`},
		{[]string{"login", "quiet"}, 1, `the MCP server "quiet" is off: `},
		{[]string{"login", "http://mcp.example/mcp"}, 1, `http://mcp.example/mcp is not an https address`},
		{[]string{"logout", "program"}, 1, `nobody logs in at the MCP server "program"`},
	} {
		code, stdout, stderr := h.run(tt.args...)
		if code != tt.code || stdout != "" || !regexp.MustCompile(tt.want).MatchString(strings.TrimSpace(stderr)) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: exit code %d, %q, %q, want %d and a line like %s", tt.args, code, stdout, stderr, tt.code, tt.want)
		}
	}
	code, _, lines := h.login(h.browse, "house", "--no-browser")
	want := `lorimer: logging in at house: the authorization server refuses: access_denied: the user\x1b[2J said no`
	if last := lines[len(lines)-1]; code != 1 || last != want {
		t.Errorf("exit code %d, %q, want %q", code, last, want)
	}
	if files := h.credentials(); len(files) > 0 {
		t.Errorf("%q is there", files)
	}
}

// R-CMD-11: Ctrl-C ends the waiting.
func TestMCPLoginInterrupted(t *testing.T) {
	t.Parallel()
	h := newLoginHome(t, oauthtest.Config{})
	code, stdout, lines := h.login(func(cmd *exec.Cmd, _ string) {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
	}, "house", "--no-browser")
	if code != 130 || stdout != "" {
		t.Errorf("exit code %d, standard output %q, standard error %q, want 130 and nothing", code, stdout, lines)
	}
}

// C096 and R-MCP-19: a session whose server wants an account goes on without it, has it
// after a login, and needs another when a tool wants more rights. Nothing of the
// credential is outside its file.
func TestMCPLoginInSession(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	h := &loginHome{t: t, server: oauthtest.Start(oauthtest.Config{Lasts: 3600, ScopesAsked: "read", Needs: map[string]string{"save": "write"}}), dir: e.home}
	t.Cleanup(h.server.Close)
	h.file(".config/lorimer/config.toml", fmt.Sprintf("[mcp.house]\nurl = %q\n", h.server.URL()))
	script := h.file("script.jsonl", steps(
		`{"match": {"contains": "hello"}, "text": "hi"}`,
		`{"match": {"contains": "who"}, "tools": [{"name": "house_whoami", "args": {}}], "repeat": true}`,
		`{"match": {"contains": "save"}, "tools": [{"name": "house_save", "args": {}}], "repeat": 2}`,
		`{"text": "done", "repeat": true}`,
	))
	e.acp("--model", "script:"+script, "--mode", "auto", "--log-level", "trace")
	session := e.open(object{})
	says := func(text, want string, failed bool) {
		t.Helper()
		e.prompt(session, text)
		all := e.results(session)
		if len(all) == 0 {
			t.Fatalf("%s: no call was made\n%s", text, e.text(session))
		}
		if got := all[len(all)-1]; !strings.Contains(got.Text, want) || got.IsError != failed {
			t.Errorf("%s: the tool says %q (an error: %v), want %q", text, got.Text, got.IsError, want)
		}
	}
	login := func() {
		t.Helper()
		if code, _, lines := h.login(h.browse, "house", "--no-browser"); code != 0 {
			t.Fatalf("exit code %d, standard error %q", code, lines)
		}
	}

	e.prompt(session, "hello")
	if want := []string{"The MCP server house needs a login; run lorimer mcp login house."}; !slices.Equal(e.notices(session), want) {
		t.Errorf("the user is told %q, want %q", e.notices(session), want)
	}
	login()
	says("who am I now?", "allowed: read", false)
	h.server.Expire()
	says("who am I, when the token has ended?", "allowed: read", false)
	says("save it", "needs a login that allows more: write", true)
	login()
	says("save it, with more rights", "allowed: read write", false)
	if n := len(h.server.Seen("/authorize")); n != 2 {
		t.Errorf("the user was asked %d times, want 2", n)
	}

	secrets := h.server.Valid()
	for _, r := range h.server.Seen("/token") {
		for _, name := range []string{"code", "code_verifier", "refresh_token"} {
			if v := r.Form.Get(name); v != "" {
				secrets = append(secrets, v)
			}
		}
	}
	e.leave()
	said := map[string]string{"the protocol": e.transcript(), "standard error": e.stderr.String()}
	err := filepath.WalkDir(e.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || filepath.Base(filepath.Dir(path)) == "oauth" {
			return err
		}
		content, err := os.ReadFile(path)
		said[path] = string(content)
		return err
	})
	if err != nil || len(said) < 4 {
		t.Fatalf("%v, %d files", err, len(said))
	}
	for where, text := range said {
		for _, secret := range secrets {
			if strings.Contains(text, secret) {
				t.Errorf("%s has %q", where, secret)
			}
		}
	}
}
