package oauth_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/mcpbridge/oauth"
	"github.com/lorimer-dev/lorimer/mcpbridge/oauth/oauthtest"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport/web"
)

var _ web.Authorizer = (*oauth.Authorizer)(nil)

// start starts a server for the time of the test.
func start(t *testing.T, c oauthtest.Config) *oauthtest.Server {
	t.Helper()
	s := oauthtest.Start(c)
	t.Cleanup(s.Close)
	return s
}

// login logs in at a server, with a user who says yes.
func login(t *testing.T, s *oauthtest.Server, store *oauth.Store, settings oauth.Settings) (oauth.Grant, error) {
	t.Helper()
	return oauth.Login(t.Context(), store, loginOptions(s, settings))
}

func loginOptions(s *oauthtest.Server, settings oauth.Settings) oauth.LoginOptions {
	return oauth.LoginOptions{
		Options: oauth.Options{URL: s.URL(), Settings: settings},
		Open:    oauthtest.Browse,
		Limit:   time.Minute,
	}
}

func newStore(t *testing.T) *oauth.Store {
	t.Helper()
	return oauth.NewStore(filepath.Join(t.TempDir(), "oauth"))
}

// mustLogin is login that has to work.
func mustLogin(t *testing.T, s *oauthtest.Server, store *oauth.Store, settings oauth.Settings) oauth.Grant {
	t.Helper()
	g, err := login(t, s, store, settings)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// ask sends a request with the token of an authorizer and returns the status, with
// the token that was sent and what the server has said to it.
func ask(t *testing.T, s *oauthtest.Server, a *oauth.Authorizer, tool string) (status int, token, challenge string) {
	t.Helper()
	token, err := a.Token(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `"}}`
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL(), strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", token)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	return res.StatusCode, token, res.Header.Get("WWW-Authenticate")
}

func authorizer(s *oauthtest.Server, store *oauth.Store, settings oauth.Settings) *oauth.Authorizer {
	return oauth.NewAuthorizer(store, oauth.Options{URL: s.URL(), Settings: settings})
}

func TestLogin(t *testing.T) {
	const document = "https://lorimer.example/client.json"
	byHand := map[string]string{"me": "", "we": "s3cret/+ %"}
	tests := []struct {
		name     string
		config   oauthtest.Config
		settings oauth.Settings
		client   string // a pattern
	}{
		{"metadata in the challenge", oauthtest.Config{}, oauth.Settings{}, "^client-"},
		{"metadata at the path", oauthtest.Config{Quiet: true}, oauth.Settings{}, "^client-"},
		{"metadata at the root", oauthtest.Config{Quiet: true, ResourceAt: []string{"root"}}, oauth.Settings{}, "^client-"},
		{"issuer with a path", oauthtest.Config{IssuerPath: "/tenant"}, oauth.Settings{}, "^client-"},
		{"OpenID", oauthtest.Config{At: []string{"openid"}}, oauth.Settings{}, "^client-"},
		{"OpenID, path in the middle", oauthtest.Config{At: []string{"openid"}, IssuerPath: "/a/b"}, oauth.Settings{}, "^client-"},
		{"OpenID, path in front", oauthtest.Config{At: []string{"appended"}, IssuerPath: "/a/b"}, oauth.Settings{}, "^client-"},
		{"2025-03-26 with metadata", oauthtest.Config{Legacy: true}, oauth.Settings{}, "^client-"},
		{"2025-03-26 without any", oauthtest.Config{Legacy: true, Bare: true}, oauth.Settings{}, "^client-"},
		{"a server that refuses nothing yet", oauthtest.Config{Open: true}, oauth.Settings{}, "^client-"},
		{"a page for every address", oauthtest.Config{Quiet: true, ResourceAt: []string{"root"}, At: []string{"openid"}, Everywhere: true}, oauth.Settings{}, "^client-"},
		{"2025-03-26 without any, and a page for every address", oauthtest.Config{Legacy: true, Bare: true, Everywhere: true}, oauth.Settings{}, "^client-"},
		{"says who answers", oauthtest.Config{Iss: "sent"}, oauth.Settings{}, "^client-"},
		{"says who answers without a promise", oauthtest.Config{Iss: "sent-only"}, oauth.Settings{}, "^client-"},
		{"registered by hand", oauthtest.Config{Clients: byHand, Unlisted: true}, oauth.Settings{ClientID: "me"}, "^me$"},
		{"by hand goes before a registration", oauthtest.Config{Clients: byHand}, oauth.Settings{ClientID: "me"}, "^me$"},
		{"with a secret, in the header", oauthtest.Config{Clients: byHand, Auth: []string{"client_secret_basic", "client_secret_post"}},
			oauth.Settings{ClientID: "we", ClientSecret: byHand["we"]}, "^we$"},
		{"with a secret, in the body", oauthtest.Config{Clients: byHand, Auth: []string{"client_secret_post"}},
			oauth.Settings{ClientID: "we", ClientSecret: byHand["we"]}, "^we$"},
		{"document", oauthtest.Config{Documents: true}, oauth.Settings{ClientID: document}, "^" + regexp.QuoteMeta(document) + "$"},
		{"document that is not read", oauthtest.Config{}, oauth.Settings{ClientID: document}, "^client-"},
		{"registered with a secret, in the header", oauthtest.Config{Auth: []string{"client_secret_basic"}}, oauth.Settings{}, "^client-"},
		{"registered with a secret, in the body", oauthtest.Config{Auth: []string{"client_secret_post"}}, oauth.Settings{}, "^client-"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, store := start(t, tt.config), newStore(t)
			g := mustLogin(t, s, store, tt.settings)
			if !regexp.MustCompile(tt.client).MatchString(g.ClientID) || g.Issuer != s.Issuer() || !g.Renews {
				t.Errorf("Login() = %+v, want a client like %s of %s", g, tt.client, s.Issuer())
			}
			a := authorizer(s, store, tt.settings)
			status, token, _ := ask(t, s, a, "whoami")
			if status != http.StatusOK {
				t.Errorf("a request with the credential has status %d", status)
			}
			s.Expire()
			if again, err := a.Refused(t.Context(), token, http.StatusUnauthorized, `Bearer error="invalid_token"`); err != nil || !again {
				t.Errorf("Refused() = %v, %v, want another token", again, err)
			}
			if status, _, _ := ask(t, s, a, "whoami"); status != http.StatusOK {
				t.Errorf("a request with a renewed credential has status %d", status)
			}
		})
	}
}

// What goes wrong is one line that holds nothing secret, and leaves what was there.
func TestLoginFails(t *testing.T) {
	tests := []struct {
		name     string
		config   oauthtest.Config
		settings oauth.Settings
		want     string // a pattern
		codes    int    // that may have reached the token endpoint
	}{
		{"no PKCE", oauthtest.Config{PKCE: []string{}}, oauth.Settings{}, "PKCE", 0},
		{"plain PKCE", oauthtest.Config{PKCE: []string{"plain"}}, oauth.Settings{}, "PKCE", 0},
		{"nothing to log in at", oauthtest.Config{Open: true, Legacy: true, Bare: true}, oauth.Settings{}, "asks for no login", 0},
		{"metadata of another resource", oauthtest.Config{Resource: "https://bank.example/mcp"}, oauth.Settings{}, `of another resource, "https://bank.example/mcp"`, 0},
		{"metadata of a neighbour", oauthtest.Config{Resource: "HERE/mc"}, oauth.Settings{}, "of another resource", 0},
		{"metadata of another issuer", oauthtest.Config{Issuer: "https://bank.example"}, oauth.Settings{}, `another authorization server, "https://bank.example"`, 0},
		{"issuer without metadata", oauthtest.Config{At: []string{}}, oauth.Settings{}, "authorization server .* has no metadata", 0},
		{"issuer is down", oauthtest.Config{Broken: 502}, oauth.Settings{}, "status 502; try it again later", 0},
		{"metadata that cannot be read", oauthtest.Config{Issuers: []string{}, Resource: "HERE/mcp", Garbled: true}, oauth.Settings{}, "is no metadata that can be read", 0},
		{"issuer over http", oauthtest.Config{Issuers: []string{"http://auth.example"}}, oauth.Settings{}, "http://auth.example is not an https address", 0},
		{"issuer that is no address", oauthtest.Config{Issuers: []string{"\x1b[2J"}}, oauth.Settings{}, `is no address`, 0},
		{"token endpoint over http", oauthtest.Config{TokenAt: "http://auth.example/token?a=b"}, oauth.Settings{}, "http://auth.example/token is not an https address$", 0},
		{"metadata redirects elsewhere", oauthtest.Config{Elsewhere: "https://bank.example/"}, oauth.Settings{}, "redirects to https://bank.example, which is not followed", 0},
		{"no registration", oauthtest.Config{Unlisted: true}, oauth.Settings{}, `registers no client by itself; register one there by hand, with the redirect address http://127\.0\.0\.1:\d+/callback`, 0},
		{"document that nobody reads", oauthtest.Config{Unlisted: true}, oauth.Settings{ClientID: "https://a.example/b"}, "reads no client id metadata documents", 0},
		{"registration refused", oauthtest.Config{Unwilling: true}, oauth.Settings{}, "refuses: invalid_client_metadata: only friends of the house are registered; a client that was registered by hand", 0},
		{"registration wants keys", oauthtest.Config{NamedAuth: "private_key_jwt"}, oauth.Settings{}, "private_key_jwt, which is not supported", 0},
		{"the user says no", oauthtest.Config{Denied: true}, oauth.Settings{}, `^the authorization server refuses: access_denied: the user\\x1b\[2J said no$`, 0},
		{"wrong issuer answers", oauthtest.Config{Iss: "wrong"}, oauth.Settings{}, "from another authorization server", 0},
		{"wrong issuer says no", oauthtest.Config{Iss: "wrong-error"}, oauth.Settings{}, "from another authorization server than the one that was asked; nothing of it was used$", 0},
		{"promised issuer is missing", oauthtest.Config{Iss: "promised"}, oauth.Settings{}, "does not say which authorization server it is from", 0},
		{"two codes", oauthtest.Config{Twice: true}, oauth.Settings{}, `has "code" twice`, 0},
		{"wrong secret", oauthtest.Config{Clients: map[string]string{"me": "right"}}, oauth.Settings{ClientID: "me", ClientSecret: "wr0ng"}, "refuses: invalid_client: the client is not who it says$", 1},
		{"token endpoint down", oauthtest.Config{Down: 503}, oauth.Settings{}, "/token refuses with status 503$", 1},
		{"token endpoint redirects", oauthtest.Config{Down: 307}, oauth.Settings{}, "/token refuses with status 307$", 1},
		{"token endpoint repeats secrets", oauthtest.Config{Echo: true}, oauth.Settings{}, "invalid_grant: this is no good", 1},
		{"token without an end", oauthtest.Config{Huge: true}, oauth.Settings{}, "larger than 256 KiB", 1},
		{"token of another type", oauthtest.Config{Type: "DPoP"}, oauth.Settings{}, "DPoP, of which only Bearer is supported", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, store := start(t, oauthtest.Config{}), newStore(t)
			before := mustLogin(t, s, store, oauth.Settings{})
			done := len(s.Seen("/token"))
			s.Change(func(c *oauthtest.Config) {
				*c = tt.config
				c.Resource = strings.Replace(c.Resource, "HERE", strings.TrimSuffix(s.URL(), "/mcp"), 1)
			})
			_, err := login(t, s, store, tt.settings)
			if err == nil || !regexp.MustCompile(tt.want).MatchString(err.Error()) {
				t.Fatalf("error = %v, want one like %s", err, tt.want)
			}
			if strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Errorf("error = %q, want one line that steers no terminal", err)
			}
			sent := s.Seen("/token")[done:]
			if len(sent) != tt.codes {
				t.Errorf("%d requests reached the token endpoint, want %d", len(sent), tt.codes)
			}
			for _, r := range sent {
				for _, name := range []string{"code", "code_verifier", "client_secret"} {
					if v := r.Form.Get(name); v != "" && strings.Contains(err.Error(), v) {
						t.Errorf("error = %v, has the %s", err, name)
					}
				}
			}
			if stolen := s.Seen("/stolen"); len(stolen) > 0 {
				t.Errorf("a redirect was followed with %v", stolen)
			}
			after, ok, err := store.Grant(s.URL())
			if diff := cmp.Diff(before, after); diff != "" || !ok || err != nil {
				t.Errorf("Grant() = %v, %v (-before +after):\n%s", ok, err, diff)
			}
		})
	}
}

// What a server is known by may have a key in its query, which no error repeats.
func TestQueryIsNotShown(t *testing.T) { // R-MCP-19
	dir := t.TempDir()
	s, store := start(t, oauthtest.Config{}), oauth.NewStore(dir)
	o := loginOptions(s, oauth.Settings{})
	o.URL += "?key=k3y-0123456789"
	if _, err := oauth.Login(t.Context(), store, o); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	if err := os.WriteFile(files[0], []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, damaged := oauth.NewAuthorizer(store, o.Options).Token(t.Context())
	s.Change(func(c *oauthtest.Config) { c.Resource = "https://bank.example/mcp" })
	_, other := oauth.Login(t.Context(), store, o)
	s.Change(func(c *oauthtest.Config) { *c = oauthtest.Config{Open: true, Legacy: true, Bare: true} })
	_, none := oauth.Login(t.Context(), store, o)
	for want, err := range map[string]error{"is damaged": damaged, "of another resource": other, "asks for no login": none} {
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "k3y-") {
			t.Errorf("error = %v, want one with %q and without the key", err, want)
		}
	}
}

// What a login asks for is what the revisions want of it.
func TestLoginRequests(t *testing.T) {
	s, store := start(t, oauthtest.Config{ScopesAsked: "read"}), newStore(t)
	var lines []string
	o := loginOptions(s, oauth.Settings{})
	o.Tell = func(line string) { lines = append(lines, line) }
	g, err := oauth.Login(t.Context(), store, o)
	if err != nil {
		t.Fatal(err)
	}
	registered, consent, token := s.Seen("/register")[0], s.Seen("/authorize")[0], s.Seen("/token")[0]
	redirect := consent.Form.Get("redirect_uri")
	if !regexp.MustCompile(`^http://127\.0\.0\.1:\d+/callback$`).MatchString(redirect) {
		t.Errorf("redirect_uri = %q", redirect)
	}
	wantJSON := map[string]any{
		"client_name":                "Lorimer",
		"application_type":           "native",
		"redirect_uris":              []any{redirect},
		"grant_types":                []any{"authorization_code", "refresh_token"},
		"response_types":             []any{"code"},
		"token_endpoint_auth_method": "none",
		"scope":                      "read",
	}
	if diff := cmp.Diff(wantJSON, registered.JSON); diff != "" {
		t.Errorf("registration (-want +got):\n%s", diff)
	}
	want := []string{"client_id", "code_challenge", "code_challenge_method", "redirect_uri", "resource", "response_type", "scope", "state", "tenant"}
	if got := slices.Sorted(maps.Keys(consent.Form)); !slices.Equal(got, want) {
		t.Errorf("the address for the browser has %q, want %q", got, want)
	}
	want = []string{"client_id", "code", "code_verifier", "grant_type", "redirect_uri", "resource"}
	if got := slices.Sorted(maps.Keys(token.Form)); !slices.Equal(got, want) {
		t.Errorf("the request for a token has %q, want %q", got, want)
	}
	for _, r := range []oauthtest.Request{consent, token} {
		if got := r.Form.Get("resource"); got != s.URL() {
			t.Errorf("%s has the resource %q, want %q", r.Path, got, s.URL())
		}
	}
	if n := len(token.Form.Get("code_verifier")); n < 43 || n > 128 {
		t.Errorf("the code verifier has %d characters, want 43 to 128", n)
	}
	wantGrant := oauth.Grant{Resource: s.URL(), Issuer: s.Issuer(), ClientID: g.ClientID, Scopes: []string{"read"}, Renews: true}
	if diff := cmp.Diff(wantGrant, g); diff != "" {
		t.Errorf("Login() (-want +got):\n%s", diff)
	}
	all := strings.Join(lines, "\n")
	for _, secret := range append(s.Valid(), token.Form.Get("code"), token.Form.Get("code_verifier")) {
		if strings.Contains(all, secret) {
			t.Errorf("the user is told %q", secret)
		}
	}
	if _, err := http.Get(redirect); err == nil {
		t.Errorf("%s is answered after the login", redirect)
	}
}

func TestLoginScopes(t *testing.T) {
	tests := []struct {
		name     string
		config   oauthtest.Config
		settings oauth.Settings
		want     string
	}{
		{"nobody says any", oauthtest.Config{}, oauth.Settings{}, ""},
		{"the challenge goes before the metadata", oauthtest.Config{ScopesAsked: "a b", ScopesOf: []string{"c"}}, oauth.Settings{}, "a b"},
		{"else the metadata", oauthtest.Config{ScopesOf: []string{"c", "d"}}, oauth.Settings{}, "c d"},
		{"those of the user narrow the metadata", oauthtest.Config{ScopesOf: []string{"c", "d"}}, oauth.Settings{Scopes: []string{"d"}}, "d"},
		{"and are asked for beside the challenge", oauthtest.Config{ScopesAsked: "a"}, oauth.Settings{Scopes: []string{"d", "a"}}, "a d"},
		{"offline access where it is offered", oauthtest.Config{ScopesAsked: "a", ScopesThere: []string{"offline_access"}}, oauth.Settings{}, "a offline_access"},
		{"but not alone", oauthtest.Config{ScopesThere: []string{"offline_access"}}, oauth.Settings{}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, tt.config)
			mustLogin(t, s, newStore(t), tt.settings)
			consent := s.Seen("/authorize")[0].Form
			if got := consent.Get("scope"); got != tt.want {
				t.Errorf("scope = %q, want %q", got, tt.want)
			}
			if got := consent.Get("prompt") == "consent"; got != strings.Contains(tt.want, "offline_access") {
				t.Errorf("prompt = %q with the scopes %q", consent.Get("prompt"), tt.want)
			}
		})
	}
}

// Metadata that the user names goes before what the server says of it.
func TestLoginMetadata(t *testing.T) {
	s, other := start(t, oauthtest.Config{Issuers: []string{"https://bank.example"}}), newStore(t)
	g, err := login(t, s, other, oauth.Settings{Metadata: s.Issuer() + "/.well-known/oauth-authorization-server"})
	if err != nil || g.Issuer != s.Issuer() {
		t.Errorf("Login() = %+v, %v, want the issuer %s", g, err, s.Issuer())
	}
}

// A server elsewhere leads to no service of this machine.
func TestLoginLeadsNowhere(t *testing.T) {
	s := start(t, oauthtest.Config{})
	for _, address := range []string{"http://mcp.example/mcp", "ftp://127.0.0.1/mcp", "/mcp", ":"} {
		o := loginOptions(s, oauth.Settings{})
		o.URL = address
		if _, err := oauth.Login(t.Context(), newStore(t), o); err == nil {
			t.Errorf("a login at %s works", address)
		}
	}
	o := loginOptions(s, oauth.Settings{})
	o.URL = "https://mcp.example/mcp"
	o.Challenge = `Bearer resource_metadata="` + s.Issuer() + `/x"`
	_, err := oauth.Login(t.Context(), newStore(t), o)
	if err == nil || !strings.Contains(err.Error(), "is on this machine, to which a server elsewhere may not lead") {
		t.Errorf("error = %v", err)
	}
	if seen := s.Seen("/x"); len(seen) > 0 {
		t.Errorf("this machine was asked %v", seen)
	}
}

// An answer to another login is not taken, and the login waits on for its own.
func TestLoginWaitsForItsOwn(t *testing.T) {
	s := start(t, oauthtest.Config{WrongState: true})
	o := loginOptions(s, oauth.Settings{})
	address, told := "", 0
	o.Open = func(a string) error { address = a; return oauthtest.Browse(a) }
	o.Tell = func(line string) {
		if line != "An answer came that is not of this login; it was not taken." {
			return
		}
		told++
		s.Change(func(c *oauthtest.Config) { c.WrongState = false })
		if err := oauthtest.Browse(address); err != nil {
			t.Error(err)
		}
	}
	if _, err := oauth.Login(t.Context(), newStore(t), o); err != nil {
		t.Error(err)
	}
	if n := len(s.Seen("/token")); n != 1 || told != 1 {
		t.Errorf("%d codes were redeemed, and the user was told %d times, want 1", n, told)
	}
}

// The address for the browser answers nobody but the browser, and once.
func TestCallback(t *testing.T) {
	s := start(t, oauthtest.Config{})
	o := loginOptions(s, oauth.Settings{})
	o.Open = func(string) error { return errors.New("no browser here") }
	told := make(chan string, 10)
	o.Tell = func(line string) { told <- line }
	ended := make(chan error, 1)
	go func() {
		_, err := oauth.Login(t.Context(), newStore(t), o)
		ended <- err
	}()
	<-told
	address := <-told
	if got, want := <-told, "It could not be opened by itself: no browser here"; got != want {
		t.Errorf("told %q, want %q", got, want)
	}
	redirect := redirectOf(t, address)
	for _, tt := range []struct {
		method, path, host string
		want               int
	}{
		{"GET", "/", "", http.StatusNotFound},
		{"GET", "/favicon.ico", "", http.StatusNotFound},
		{"GET", "/callback?code=x", "attacker.example", http.StatusNotFound},
		{"HEAD", "/callback?code=x", "", http.StatusMethodNotAllowed},
		{"POST", "/callback?code=x", "", http.StatusMethodNotAllowed},
		{"GET", "/callback?code=x&state=", "", http.StatusBadRequest},
	} {
		r, err := http.NewRequest(tt.method, strings.TrimSuffix(redirect, "/callback")+tt.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = tt.host
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != tt.want {
			t.Errorf("%s %s for %q has status %d, want %d", tt.method, tt.path, tt.host, res.StatusCode, tt.want)
		}
	}
	if err := oauthtest.Browse(address); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func redirectOf(t *testing.T, address string) string {
	t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	at, _, _ := strings.Cut(res.Header.Get("Location"), "?")
	return at
}

// A login ends with its context, and when the user does not come.
func TestLoginEnds(t *testing.T) {
	s := start(t, oauthtest.Config{})
	o := loginOptions(s, oauth.Settings{})
	o.Open, o.Limit = nil, 10*time.Millisecond
	_, err := oauth.Login(t.Context(), newStore(t), o)
	if want := "nobody has answered in the browser within 10ms; start the login again"; err == nil || err.Error() != want {
		t.Errorf("error = %v, want %s", err, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	o.Limit = time.Hour
	o.Open = func(string) error { cancel(); return nil }
	if _, err := oauth.Login(ctx, newStore(t), o); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want that of the context", err)
	}
}

// A port that is taken is named; one that is free is used.
func TestLoginPort(t *testing.T) {
	s := start(t, oauthtest.Config{})
	o := loginOptions(s, oauth.Settings{})
	var port string
	o.Open = func(address string) error {
		port = regexp.MustCompile(`\d+`).FindString(strings.TrimPrefix(redirectOf(t, address), "http://127.0.0.1:"))
		taken := loginOptions(s, oauth.Settings{CallbackPort: atoi(t, port)})
		if _, err := oauth.Login(t.Context(), newStore(t), taken); err == nil || !strings.Contains(err.Error(), port) {
			t.Errorf("error = %v, want one that names the port %s", err, port)
		}
		return oauthtest.Browse(address)
	}
	if _, err := oauth.Login(t.Context(), newStore(t), o); err != nil {
		t.Fatal(err)
	}
	mustLogin(t, s, newStore(t), oauth.Settings{CallbackPort: atoi(t, port)})
	if got := s.Seen("/authorize")[2].Form.Get("redirect_uri"); got != "http://127.0.0.1:"+port+"/callback" {
		t.Errorf("redirect_uri = %q, want the port %s", got, port)
	}
}

// A client that was registered by hand is for one authorization server.
func TestLoginClientIsBound(t *testing.T) {
	byHand := oauthtest.Config{Clients: map[string]string{"me": ""}}
	s, store := start(t, byHand), newStore(t)
	mustLogin(t, s, store, oauth.Settings{ClientID: "me"})
	other := start(t, byHand)
	s.Change(func(c *oauthtest.Config) { c.Issuers = []string{other.Issuer()} })
	_, err := login(t, s, store, oauth.Settings{ClientID: "me"})
	if err == nil || !strings.Contains(err.Error(), `the client "me" was used at `+s.Issuer()) {
		t.Errorf("error = %v", err)
	}
	if len(other.Seen("/authorize"))+len(other.Seen("/token")) > 0 {
		t.Error("the other authorization server was asked")
	}
	if _, err := oauth.Logout(t.Context(), store, oauth.Options{URL: s.URL(), Settings: oauth.Settings{ClientID: "me"}}); err != nil {
		t.Fatal(err)
	}
	if g := mustLogin(t, s, store, oauth.Settings{ClientID: "me"}); g.Issuer != other.Issuer() {
		t.Errorf("issuer = %s, want %s", g.Issuer, other.Issuer())
	}
}

// Files are their owner's alone, and none but that of the credential is left.
func TestStoreFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "oauth")
	store := oauth.NewStore(dir)
	s := start(t, oauthtest.Config{Clients: map[string]string{"me": "s3cret"}})
	settings := oauth.Settings{ClientID: "me", ClientSecret: "s3cret"}
	if _, had, err := store.Grant(s.URL()); had || err != nil {
		t.Errorf("Grant() = %v, %v before a login", had, err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("looking has made the directory")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	mustLogin(t, s, store, settings)
	mustLogin(t, s, store, settings)
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 1 || filepath.Ext(files[0].Name()) != ".json" {
		t.Fatalf("the directory has %v, want one credential", files)
	}
	content, err := os.ReadFile(filepath.Join(dir, files[0].Name()))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(content), "s3cret") {
		t.Error("the secret of the configuration was copied")
	}
	if runtime.GOOS == "windows" {
		return
	}
	for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, files[0].Name()): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has the mode %v (%v), want %v", path, info.Mode().Perm(), err, want)
		}
	}
}

// A file that is damaged says so, and a login or a logout replaces it.
func TestStoreDamaged(t *testing.T) {
	for name, mend := range map[string]func(*testing.T, *oauthtest.Server, *oauth.Store) error{
		"login": func(t *testing.T, s *oauthtest.Server, store *oauth.Store) error {
			_, err := login(t, s, store, oauth.Settings{})
			return err
		},
		"logout": func(t *testing.T, s *oauthtest.Server, store *oauth.Store) error {
			_, err := oauth.Logout(t.Context(), store, oauth.Options{URL: s.URL()})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s, store := start(t, oauthtest.Config{}), oauth.NewStore(dir)
			mustLogin(t, s, store, oauth.Settings{})
			files, err := filepath.Glob(filepath.Join(dir, "*.json"))
			if err != nil || len(files) != 1 {
				t.Fatalf("%v, %v", files, err)
			}
			if err := os.WriteFile(files[0], []byte("{"), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := authorizer(s, store, oauth.Settings{}).Token(t.Context()); err == nil || !strings.Contains(err.Error(), "log out and in again") {
				t.Errorf("Token() error = %v", err)
			}
			if err := mend(t, s, store); err != nil {
				t.Error(err)
			}
			if _, err := authorizer(s, store, oauth.Settings{}).Token(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestLogout(t *testing.T) {
	s, store := start(t, oauthtest.Config{}), newStore(t)
	o := oauth.Options{URL: s.URL()}
	if got, err := oauth.Logout(t.Context(), store, o); got.Had || err != nil {
		t.Errorf("Logout() = %+v, %v before a login", got, err)
	}
	mustLogin(t, s, store, oauth.Settings{})
	if got, err := oauth.Logout(t.Context(), store, o); !got.Had || !got.Revoked || got.Trouble != nil || err != nil {
		t.Errorf("Logout() = %+v, %v", got, err)
	}
	if left := s.Valid(); len(left) > 0 {
		t.Errorf("%d tokens hold after the logout", len(left))
	}
	if token, err := authorizer(s, store, oauth.Settings{}).Token(t.Context()); token != "" || err != nil {
		t.Errorf("Token() = %q, %v after the logout", token, err)
	}
	mustLogin(t, s, store, oauth.Settings{})
	s.Close()
	if got, err := oauth.Logout(t.Context(), store, o); !got.Had || got.Revoked || got.Trouble == nil || err != nil {
		t.Errorf("Logout() = %+v, %v without a server", got, err)
	}
	if _, had, err := store.Grant(s.URL()); had || err != nil {
		t.Errorf("Grant() = %v, %v after the logout", had, err)
	}
}
