package oauth_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/lorimer-dev/lorimer/mcpbridge/oauth"
	"github.com/lorimer-dev/lorimer/mcpbridge/oauth/oauthtest"
)

func atoi(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// hourly gives out tokens that last an hour.
var hourly = oauthtest.Config{Lasts: 3600}

// A home is a store with its directory, in which time can pass.
type home struct {
	*oauth.Store
	dir string
}

func newHome(t *testing.T) home {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "oauth")
	return home{oauth.NewStore(dir), dir}
}

// pass lets time pass for the credential.
func (h home) pass(t *testing.T, d time.Duration) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(h.dir, "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	content, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	var r map[string]any
	if err := json.Unmarshal(content, &r); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"obtained", "expires"} {
		at, err := time.Parse(time.RFC3339Nano, r[name].(string))
		if err != nil {
			t.Fatal(err)
		}
		r[name] = at.Add(-d)
	}
	if content, err = json.Marshal(r); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(files[0], content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// renewals returns how often a token was renewed, or was to be.
func renewals(s *oauthtest.Server) int {
	n := 0
	for _, r := range s.Seen("/token") {
		if r.Form.Get("grant_type") == "refresh_token" {
			n++
		}
	}
	return n
}

func mustToken(t *testing.T, a *oauth.Authorizer) string {
	t.Helper()
	token, err := a.Token(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// TestMain lets the test binary be a program that asks for a token.
func TestMain(m *testing.M) {
	if url := os.Getenv("OAUTH_TEST_URL"); url != "" {
		fmt.Println("begun")
		a := oauth.NewAuthorizer(oauth.NewStore(os.Getenv("OAUTH_TEST_DIR")), oauth.Options{URL: url})
		token, err := a.Token(context.Background())
		fmt.Println(token, err)
		return
	}
	os.Exit(m.Run())
}

// A token is used as it is until it ends soon.
func TestTokenIsRenewedInTime(t *testing.T) {
	tests := []struct {
		name   string
		config oauthtest.Config
		passed time.Duration
		want   int  // renewals
		valid  bool // a token is there then
	}{
		{"fresh", hourly, 0, 0, true},
		{"long before the end", hourly, 58 * time.Minute, 0, true},
		{"soon before the end", hourly, 59*time.Minute + time.Second, 1, true},
		{"after the end", hourly, 2 * time.Hour, 1, true},
		{"short, before the end", oauthtest.Config{Lasts: 40}, 20 * time.Second, 0, true},
		{"short, soon before the end", oauthtest.Config{Lasts: 40}, 31 * time.Second, 1, true},
		{"without renewal, before the end", oauthtest.Config{Lasts: 3600, Unrenewed: true}, 59*time.Minute + 30*time.Second, 0, true},
		{"without renewal, after the end", oauthtest.Config{Lasts: 3600, Unrenewed: true}, 2 * time.Hour, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, h := start(t, tt.config), newHome(t)
			mustLogin(t, s, h.Store, oauth.Settings{})
			h.pass(t, tt.passed)
			a := authorizer(s, h.Store, oauth.Settings{})
			token := mustToken(t, a)
			if got := renewals(s); got != tt.want {
				t.Errorf("%d renewals, want %d", got, tt.want)
			}
			if got := slices.Contains(s.Valid(), strings.TrimPrefix(token, "Bearer ")); got != tt.valid {
				t.Errorf("the token holds: %v, want %v", got, tt.valid)
			}
			if (token == "") == tt.valid {
				t.Errorf("Token() = %q", token)
			}
			if again := mustToken(t, a); again != token || renewals(s) != tt.want {
				t.Errorf("the next request has another token, after %d renewals", renewals(s))
			}
		})
	}
}

// A renewal keeps what its answer leaves out, and replaces what it brings.
func TestRenewalKeeps(t *testing.T) {
	for name, kept := range map[string]bool{"used up": false, "good for ever": true} {
		t.Run(name, func(t *testing.T) {
			s, h := start(t, oauthtest.Config{Lasts: 3600, Kept: kept, ScopesAsked: "a b"}), newHome(t)
			mustLogin(t, s, h.Store, oauth.Settings{})
			a := authorizer(s, h.Store, oauth.Settings{})
			for i := range 3 {
				h.pass(t, time.Hour)
				if token := mustToken(t, a); token == "" {
					t.Fatalf("no token after %d renewals", i)
				}
			}
			g, ok, err := h.Grant(s.URL())
			if !ok || err != nil || !slices.Equal(g.Scopes, []string{"a", "b"}) || !g.Renews {
				t.Errorf("Grant() = %+v, %v, %v", g, ok, err)
			}
			for _, r := range s.Seen("/token")[1:] {
				if r.Form.Get("resource") != s.URL() || r.Form.Get("client_id") != g.ClientID {
					t.Errorf("a renewal was asked for with %v", r.Form)
				}
			}
		})
	}
}

// Many requests at once, of several authorizers of one program, renew a token once.
func TestRenewalIsShared(t *testing.T) {
	s, h := start(t, hourly), newHome(t)
	mustLogin(t, s, h.Store, oauth.Settings{})
	h.pass(t, time.Hour)
	gate := make(chan struct{})
	s.Hold(gate)
	authorizers := []*oauth.Authorizer{authorizer(s, h.Store, oauth.Settings{}), authorizer(s, oauth.NewStore(h.dir), oauth.Settings{})}
	tokens := make([]string, 20)
	var begun, ended sync.WaitGroup
	for i := range tokens {
		begun.Add(1)
		ended.Go(func() {
			begun.Done()
			tokens[i], _ = authorizers[i%2].Token(t.Context()) // none is no token
		})
	}
	begun.Wait()
	close(gate)
	ended.Wait()
	if tokens[0] == "" || len(slices.Compact(tokens)) != 1 {
		t.Errorf("tokens = %q, want the same for all", tokens)
	}
	if got := renewals(s); got != 1 {
		t.Errorf("%d renewals, want 1", got)
	}
}

// Programs that share a store renew a token once, although a refresh token that is
// used twice would end the login.
func TestRenewalIsSharedByPrograms(t *testing.T) {
	s, h := start(t, hourly), newHome(t)
	mustLogin(t, s, h.Store, oauth.Settings{})
	h.pass(t, time.Hour)
	gate := make(chan struct{})
	s.Hold(gate)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const programs = 3
	var lines [programs]*bufio.Scanner
	for i := range programs {
		cmd := exec.CommandContext(t.Context(), exe)
		cmd.Env = append(os.Environ(), "OAUTH_TEST_URL="+s.URL(), "OAUTH_TEST_DIR="+h.dir)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Wait() }) // its output has been read
		lines[i] = bufio.NewScanner(out)
		if !lines[i].Scan() || lines[i].Text() != "begun" {
			t.Fatalf("the program begins with %q, %v", lines[i].Text(), lines[i].Err())
		}
	}
	close(gate)
	var tokens []string
	for _, l := range lines {
		l.Scan()
		tokens = append(tokens, l.Text())
	}
	if got := renewals(s); got != 1 {
		t.Errorf("%d renewals, want 1", got)
	}
	if !strings.HasPrefix(tokens[0], "Bearer access-") || len(slices.Compact(tokens)) != 1 {
		t.Errorf("tokens = %q, want the same for all", tokens)
	}
}

// A renewal that is refused ends the login; one that does not work now does not.
func TestRenewalFails(t *testing.T) {
	tests := []struct {
		name   string
		change func(*oauthtest.Config)
		passed time.Duration
		want   string // error, a part of it
		token  bool
		login  bool // is needed after that
	}{
		{"refused", func(c *oauthtest.Config) { c.Refuse = "invalid_grant" }, 2 * time.Hour, "", false, true},
		{"client forgotten", func(c *oauthtest.Config) { c.Refuse = "invalid_client" }, 2 * time.Hour, "", false, true},
		{"busy", func(c *oauthtest.Config) { c.Refuse = "temporarily_unavailable" }, 2 * time.Hour, "refuses: temporarily_unavailable", false, false},
		{"down", func(c *oauthtest.Config) { c.Down = 503 }, 2 * time.Hour, "/token refuses with status 503", false, false},
		{"down for good", func(c *oauthtest.Config) { c.Down = 404 }, 2 * time.Hour, "/token refuses with status 404", false, false},
		{"down, and the token still holds", func(c *oauthtest.Config) { c.Down = 503 }, 59*time.Minute + 10*time.Second, "", true, false},
		{"an answer without an end", func(c *oauthtest.Config) { c.Huge = true }, 2 * time.Hour, "larger than", false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, h := start(t, hourly), newHome(t)
			mustLogin(t, s, h.Store, oauth.Settings{})
			h.pass(t, tt.passed)
			s.Change(tt.change)
			var log bytes.Buffer
			a := oauth.NewAuthorizer(h.Store, oauth.Options{URL: s.URL(), Log: zerolog.New(&log)})
			token, err := a.Token(t.Context())
			if got := fmt.Sprint(err); (err != nil || tt.want != "") && !strings.Contains(got, tt.want) || (err == nil) != (tt.want == "") {
				t.Errorf("error = %v, want %q", err, tt.want)
			}
			if (token != "") != tt.token {
				t.Errorf("Token() = %q", token)
			}
			if token != "" {
				if mustToken(t, a); renewals(s) != 1 {
					t.Errorf("%d renewals in a row, want a pause", renewals(s))
				}
			}
			for _, r := range s.Seen("/token") {
				if v := r.Form.Get("refresh_token"); v != "" && strings.Contains(log.String()+fmt.Sprint(err), v) {
					t.Errorf("the log or the error has the refresh token")
				}
			}
			s.Change(func(c *oauthtest.Config) { *c = hourly })
			token, err = authorizer(s, h.Store, oauth.Settings{}).Token(t.Context())
			if err != nil || (token == "") != tt.login {
				t.Errorf("afterwards Token() = %q, %v, want a login: %v", token, err, tt.login)
			}
		})
	}
}

// The next login after a refused renewal asks for what was allowed before.
func TestLoginAfterTheEnd(t *testing.T) {
	s, h := start(t, oauthtest.Config{Lasts: 3600}), newHome(t)
	mustLogin(t, s, h.Store, oauth.Settings{Scopes: []string{"a"}})
	h.pass(t, time.Hour)
	s.Change(func(c *oauthtest.Config) { c.Refuse = "invalid_grant" })
	if token := mustToken(t, authorizer(s, h.Store, oauth.Settings{})); token != "" {
		t.Fatalf("Token() = %q", token)
	}
	if _, ok, err := h.Grant(s.URL()); ok || err != nil {
		t.Errorf("Grant() = %v, %v", ok, err)
	}
	if g := mustLogin(t, s, h.Store, oauth.Settings{}); !slices.Equal(g.Scopes, []string{"a"}) {
		t.Errorf("scopes = %q, want those of before", g.Scopes)
	}
}

// A renewal whose caller is gone is not lost: what it brings is the only way on.
func TestRenewalOutlivesItsCaller(t *testing.T) {
	s, h := start(t, hourly), newHome(t)
	mustLogin(t, s, h.Store, oauth.Settings{})
	h.pass(t, time.Hour)
	gate := make(chan struct{})
	s.Hold(gate)
	a := authorizer(s, h.Store, oauth.Settings{})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		a.Token(ctx) // nobody waits for it
	}()
	for renewals(s) == 0 {
		runtime.Gosched()
	}
	cancel()
	close(gate)
	<-ended
	if token := mustToken(t, authorizer(s, h.Store, oauth.Settings{})); token == "" || renewals(s) != 1 {
		t.Errorf("Token() = %q after %d renewals", token, renewals(s))
	}
}

// What was renewed and cannot be written goes on in this program, and is written when
// that works again.
func TestRenewalWithoutDisk(t *testing.T) {
	s, h := start(t, hourly), newHome(t)
	mustLogin(t, s, h.Store, oauth.Settings{})
	h.pass(t, time.Hour)
	gate := make(chan struct{})
	s.Hold(gate)
	var log bytes.Buffer
	a := oauth.NewAuthorizer(h.Store, oauth.Options{URL: s.URL(), Log: zerolog.New(&log)})
	got := make(chan string)
	go func() {
		token, err := a.Token(t.Context())
		got <- fmt.Sprint(token, err)
	}()
	for renewals(s) == 0 {
		runtime.Gosched()
	}
	away := h.dir + "-away"
	if err := os.Rename(h.dir, away); err != nil {
		t.Skip("a directory in use cannot be taken away here")
	}
	if err := os.WriteFile(h.dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	close(gate)
	if token := <-got; !strings.HasPrefix(token, "Bearer access-") || !strings.Contains(log.String(), "is not kept") {
		t.Fatalf("Token() = %q, log %s", token, &log)
	}
	if err := errors.Join(os.Remove(h.dir), os.Rename(away, h.dir)); err != nil {
		t.Fatal(err)
	}
	token := mustToken(t, a)
	if !slices.Contains(s.Valid(), strings.TrimPrefix(token, "Bearer ")) || renewals(s) != 1 {
		t.Errorf("Token() = %q after %d renewals, want that of the first", token, renewals(s))
	}
	s.Expire()
	if again, err := a.Refused(t.Context(), token, http.StatusUnauthorized, ""); !again || err != nil {
		t.Errorf("Refused() = %v, %v", again, err)
	}
	if status, _, _ := ask(t, s, authorizer(s, h.Store, oauth.Settings{}), "whoami"); status != http.StatusOK {
		t.Errorf("another authorizer gets the status %d", status)
	}
}

// The secret of a registered client may end.
func TestClientEnds(t *testing.T) {
	s, h := start(t, oauthtest.Config{Lasts: 3600, Auth: []string{"client_secret_basic"}, SecretEnds: 1}), newHome(t)
	mustLogin(t, s, h.Store, oauth.Settings{})
	h.pass(t, time.Hour)
	if token := mustToken(t, authorizer(s, h.Store, oauth.Settings{})); token != "" || renewals(s) != 0 {
		t.Errorf("Token() = %q after %d renewals", token, renewals(s))
	}
}

// A credential is for the client that was configured when it was granted.
func TestAnotherClient(t *testing.T) {
	s, store := start(t, oauthtest.Config{Clients: map[string]string{"me": ""}}), newStore(t)
	mustLogin(t, s, store, oauth.Settings{ClientID: "me"})
	for id, want := range map[string]bool{"me": true, "": true, "another": false} {
		if got := mustToken(t, authorizer(s, store, oauth.Settings{ClientID: id})); (got != "") != want {
			t.Errorf("Token() = %q for the client %q", got, id)
		}
	}
}

// A server at which nobody can log in gets no token.
func TestNobodyLogsIn(t *testing.T) {
	a := oauth.NewAuthorizer(newStore(t), oauth.Options{URL: "http://mcp.example/mcp"})
	if token := mustToken(t, a); token != "" {
		t.Errorf("Token() = %q", token)
	}
	if again, err := a.Refused(t.Context(), "", http.StatusUnauthorized, `Bearer scope="a"`); again || err != nil {
		t.Errorf("Refused() = %v, %v", again, err)
	}
}

func TestRefused(t *testing.T) {
	const invalid = `Bearer error="invalid_token"`
	t.Run("without a login", func(t *testing.T) {
		s, store := start(t, oauthtest.Config{ScopesAsked: "a"}), newStore(t)
		a := authorizer(s, store, oauth.Settings{})
		status, token, challenge := ask(t, s, a, "whoami")
		again, err := a.Refused(t.Context(), token, status, challenge)
		if status != http.StatusUnauthorized || token != "" || again || err != nil {
			t.Errorf("status %d with %q, Refused() = %v, %v", status, token, again, err)
		}
		mustLogin(t, s, store, oauth.Settings{})
		if again, err := a.Refused(t.Context(), token, status, challenge); !again || err != nil {
			t.Errorf("Refused() = %v, %v after a login", again, err)
		}
	})
	t.Run("what the server has said is remembered", func(t *testing.T) {
		s, store := start(t, oauthtest.Config{Open: true, ScopesOf: []string{"everything"}}), newStore(t)
		a := authorizer(s, store, oauth.Settings{})
		if again, err := a.Refused(t.Context(), "", http.StatusUnauthorized, `Bearer scope="tools"`); again || err != nil {
			t.Errorf("Refused() = %v, %v", again, err)
		}
		if g := mustLogin(t, s, store, oauth.Settings{}); !slices.Equal(g.Scopes, []string{"tools"}) {
			t.Errorf("scopes = %q", g.Scopes)
		}
	})
	t.Run("what cannot be remembered changes nothing", func(t *testing.T) {
		s, dir := start(t, oauthtest.Config{}), filepath.Join(t.TempDir(), "link")
		if err := os.Symlink("nowhere", dir); err != nil {
			t.Skip(err)
		}
		var log bytes.Buffer
		a := oauth.NewAuthorizer(oauth.NewStore(filepath.Join(dir, "oauth")), oauth.Options{URL: s.URL(), Log: zerolog.New(&log)})
		again, err := a.Refused(t.Context(), "", http.StatusUnauthorized, `Bearer scope="a"`)
		if again || err != nil || !strings.Contains(log.String(), "is not kept") {
			t.Errorf("Refused() = %v, %v, log %s", again, err, &log)
		}
	})
	t.Run("renewed by another", func(t *testing.T) {
		s, store := start(t, oauthtest.Config{}), newStore(t)
		mustLogin(t, s, store, oauth.Settings{})
		a := authorizer(s, store, oauth.Settings{})
		old := mustToken(t, a)
		mustLogin(t, s, store, oauth.Settings{})
		if again, err := a.Refused(t.Context(), old, http.StatusUnauthorized, invalid); !again || err != nil || renewals(s) != 0 {
			t.Errorf("Refused() = %v, %v after %d renewals", again, err, renewals(s))
		}
	})
	t.Run("again and again", func(t *testing.T) {
		s, store := start(t, oauthtest.Config{}), newStore(t)
		mustLogin(t, s, store, oauth.Settings{})
		a := authorizer(s, store, oauth.Settings{})
		for i, want := range []bool{true, false, false} {
			if again, err := a.Refused(t.Context(), mustToken(t, a), http.StatusUnauthorized, invalid); again != want || err != nil {
				t.Errorf("Refused() = %v, %v the time %d", again, err, i)
			}
		}
		if got := renewals(s); got != 1 {
			t.Errorf("%d renewals, want 1", got)
		}
	})
	t.Run("refresh refused", func(t *testing.T) {
		s, store := start(t, oauthtest.Config{Refuse: "invalid_grant"}), newStore(t)
		mustLogin(t, s, store, oauth.Settings{})
		a := authorizer(s, store, oauth.Settings{})
		if again, err := a.Refused(t.Context(), mustToken(t, a), http.StatusUnauthorized, invalid); again || err != nil {
			t.Errorf("Refused() = %v, %v", again, err)
		}
		if token := mustToken(t, a); token != "" {
			t.Errorf("Token() = %q, want a login", token)
		}
	})
	t.Run("refresh down", func(t *testing.T) {
		s, store := start(t, oauthtest.Config{}), newStore(t)
		mustLogin(t, s, store, oauth.Settings{})
		s.Change(func(c *oauthtest.Config) { c.Down = 502 })
		a := authorizer(s, store, oauth.Settings{})
		token := mustToken(t, a)
		if again, err := a.Refused(t.Context(), token, http.StatusUnauthorized, invalid); again || err == nil {
			t.Errorf("Refused() = %v, %v", again, err)
		}
		if got := mustToken(t, a); got != token {
			t.Errorf("Token() = %q, want that of before", got)
		}
	})
	for challenge, kept := range map[string]bool{invalid: false, "Bearer": true, "": true} {
		t.Run(fmt.Sprintf("no refresh token, %q", challenge), func(t *testing.T) {
			s, store := start(t, oauthtest.Config{Unrenewed: true}), newStore(t)
			mustLogin(t, s, store, oauth.Settings{})
			a := authorizer(s, store, oauth.Settings{})
			if again, err := a.Refused(t.Context(), mustToken(t, a), http.StatusUnauthorized, challenge); again || err != nil {
				t.Errorf("Refused() = %v, %v", again, err)
			}
			if token := mustToken(t, a); (token != "") != kept {
				t.Errorf("Token() = %q", token)
			}
		})
	}
	for _, status := range []int{http.StatusForbidden, http.StatusNotFound} {
		t.Run(fmt.Sprint("status ", status), func(t *testing.T) {
			s, store := start(t, oauthtest.Config{}), newStore(t)
			mustLogin(t, s, store, oauth.Settings{})
			a := authorizer(s, store, oauth.Settings{})
			token := mustToken(t, a)
			if again, err := a.Refused(t.Context(), token, status, ""); again || err != nil || mustToken(t, a) != token {
				t.Errorf("Refused() = %v, %v", again, err)
			}
		})
	}
}

// What the server names as its authorization server decides whose credential it gets.
func TestIssuerChanges(t *testing.T) {
	s, store := start(t, oauthtest.Config{}), newStore(t)
	mustLogin(t, s, store, oauth.Settings{})
	other := start(t, oauthtest.Config{})
	s.Change(func(c *oauthtest.Config) { c.Issuers = []string{other.Issuer()} })
	s.Expire()
	a := authorizer(s, store, oauth.Settings{})
	status, token, challenge := ask(t, s, a, "whoami")
	if again, err := a.Refused(t.Context(), token, status, challenge); again || err != nil {
		t.Errorf("Refused() = %v, %v", again, err)
	}
	if token := mustToken(t, a); token != "" || renewals(s) != 0 {
		t.Errorf("Token() = %q after %d renewals, want a login", token, renewals(s))
	}
	before := s.Seen("/authorize")[0].Form.Get("client_id")
	g := mustLogin(t, s, store, oauth.Settings{})
	if g.Issuer != other.Issuer() || g.ClientID == before || len(other.Seen("/register")) != 1 {
		t.Errorf("Login() = %+v, want a new client of %s", g, other.Issuer())
	}
}

// A tool that needs more than was allowed gets it with the next login, which keeps what
// was allowed before.
func TestStepUp(t *testing.T) {
	s, store := start(t, oauthtest.Config{ScopesAsked: "read", Needs: map[string]string{"save": "write", "drop": "admin"}}), newStore(t)
	mustLogin(t, s, store, oauth.Settings{})
	a := authorizer(s, store, oauth.Settings{})
	for _, tool := range []string{"save", "save", "drop"} {
		status, token, challenge := ask(t, s, a, tool)
		again, err := a.Refused(t.Context(), token, status, challenge)
		if status != http.StatusForbidden || again || !errors.Is(err, oauth.ErrLogin) {
			t.Errorf("status %d, Refused() = %v, %v", status, again, err)
		}
	}
	if status, _, _ := ask(t, s, a, "whoami"); status != http.StatusOK {
		t.Errorf("what was allowed has the status %d", status)
	}
	if g, _, err := store.Grant(s.URL()); err != nil || !slices.Equal(g.Wanted, []string{"write", "admin"}) {
		t.Errorf("Grant() = %+v, %v", g, err)
	}
	old := mustToken(t, a)
	g := mustLogin(t, s, store, oauth.Settings{})
	if want := []string{"read", "write", "admin"}; !slices.Equal(g.Scopes, want) || g.Wanted != nil {
		t.Errorf("Login() = %+v, want the scopes %q", g, want)
	}
	if again, err := a.Refused(t.Context(), old, http.StatusForbidden, `Bearer error="insufficient_scope", scope="write"`); !again || err != nil {
		t.Errorf("Refused() = %v, %v after the login", again, err)
	}
	if status, _, _ := ask(t, s, a, "save"); status != http.StatusOK {
		t.Errorf("what is allowed since has the status %d", status)
	}
}
