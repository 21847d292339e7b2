package oauthtest

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// A Config says how the servers behave. The zero value keeps to the rules: discovery
// by challenge, registration of anybody, PKCE, refresh tokens that are used up.
type Config struct {
	// Discovery.
	IssuerPath  string   // of the issuer, such as /tenant
	At          []string // where the issuer's metadata is: oauth, openid, appended; nil is oauth
	Quiet       bool     // 401 has no WWW-Authenticate
	ResourceAt  []string // where the resource's metadata is: path, root; nil is path
	Legacy      bool     // no metadata of the resource; the issuer is at its address
	Bare        bool     // no metadata of the issuer either, with Legacy
	Resource    string   // that the metadata names instead
	Issuer      string   // that the issuer's metadata names instead
	Issuers     []string // that the resource names instead; nil is this one
	Elsewhere   string   // address that metadata is redirected to
	Everywhere  bool     // there is a page at every address
	Broken      int      // status of the issuer's metadata instead
	Garbled     bool     // metadata is of other types than it should be
	PKCE        []string // nil is S256; an empty one says nothing
	TokenAt     string   // token endpoint that the metadata names instead
	Open        bool     // nothing is protected
	ScopesAsked string   // in the challenge
	ScopesOf    []string // in the metadata of the resource
	ScopesThere []string // in that of the issuer

	// Clients.
	Documents  bool              // client id metadata documents are read
	Unlisted   bool              // no registration
	Unwilling  bool              // registration is refused
	Auth       []string          // ways to authenticate; nil is none
	Clients    map[string]string // registered by hand: secrets by id
	NamedAuth  string            // way that a registration answers with instead
	SecretEnds int64             // of a registered client, in seconds since 1970

	// Consent.
	Denied     bool
	WrongState bool
	Iss        string // sent, promised, sent-only, wrong, wrong-error, or "" for none
	Twice      bool   // the answer has its code twice

	// Tokens.
	Lasts     int            // seconds; 0 says nothing and lasts
	Ending    map[string]int // seconds, by the grant
	Unrenewed bool           // no refresh token
	Kept      bool           // a refresh token is good for ever
	Refuse    string         // error of a refresh, such as invalid_grant
	Down      int            // status of the token endpoint instead; a redirect leads to /stolen
	Echo      bool           // an error of the token endpoint repeats what it was sent
	Type      string         // of a token; "" is Bearer
	Huge      bool           // the answer of the token endpoint has no end
	Needs     map[string]string
	// Needs are the scopes that tools need: a call without is refused with status 403.
}

// A Request is what one of the servers was asked.
type Request struct {
	Method string
	Path   string
	Form   url.Values // of the query and of the body
	JSON   map[string]any
	Auth   string // Authorization header
}

// A Server is both servers.
type Server struct {
	mcp, as *httptest.Server

	mu      sync.Mutex // guards the fields below
	c       Config
	seen    []Request
	clients map[string]registered
	codes   map[string]code
	tokens  map[string]token  // access tokens that hold
	renew   map[string]string // refresh tokens that hold: the scopes by the token
	spent   map[string]bool   // refresh tokens that were used
	gate    chan struct{}     // that requests for tokens wait for; nil is none
}

type registered struct{ secret, redirect string }

type code struct{ client, redirect, challenge, resource, scope string }

type token struct{ scope, refresh string }

// Start starts both servers.
func Start(c Config) *Server {
	s := &Server{
		c:       c,
		clients: map[string]registered{},
		codes:   map[string]code{},
		tokens:  map[string]token{},
		renew:   map[string]string{},
		spent:   map[string]bool{},
	}
	s.mcp = httptest.NewServer(http.HandlerFunc(s.resource))
	s.as = httptest.NewServer(http.HandlerFunc(s.authorization))
	return s
}

// Close ends both.
func (s *Server) Close() {
	s.Hold(nil)
	s.mcp.Close()
	s.as.Close()
}

// URL returns the address of the MCP server.
func (s *Server) URL() string { return s.mcp.URL + "/mcp" }

// Issuer returns the identifier of the authorization server.
func (s *Server) Issuer() string { return s.issuer(s.config()) }

func (s *Server) issuer(c Config) string {
	if c.Legacy {
		return s.mcp.URL
	}
	return s.as.URL + c.IssuerPath
}

func (s *Server) config() Config {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.c
}

// Change changes how the servers behave from now on.
func (s *Server) Change(f func(*Config)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.c)
}

// Expire ends all access tokens; those that renew them stay.
func (s *Server) Expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.tokens)
}

// Hold lets requests for tokens wait until gate is closed.
func (s *Server) Hold(gate chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gate = gate
}

// Seen returns the requests to a path, such as /token, in order.
func (s *Server) Seen(path string) []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.seen), func(r Request) bool { return r.Path != path })
}

// Valid returns the access tokens that hold.
func (s *Server) Valid() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.tokens))
}

// note keeps what was asked.
func (s *Server) note(r *http.Request) Request {
	n := Request{Method: r.Method, Path: r.URL.Path, Auth: r.Header.Get("Authorization"), Form: url.Values{}}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		json.NewDecoder(r.Body).Decode(&n.JSON) // what is none has no members
	} else if r.ParseForm() == nil {
		n.Form = r.Form
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, n)
	return n
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v) // a client that is gone needs no answer
}

// nothing is the answer where nothing is.
func nothing(w http.ResponseWriter, r *http.Request, c Config) {
	if !c.Everywhere {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	io.WriteString(w, "<!doctype html><title>Welcome</title>") // a client that is gone needs no answer
}

func fail(w http.ResponseWriter, status int, code, text string) {
	reply(w, status, map[string]any{"error": code, "error_description": text})
}

// Browse is a user with a browser, who opens address and says yes.
func Browse(address string) error {
	res, err := http.Get(address)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode >= 500 {
		return fmt.Errorf("the page has status %d", res.StatusCode)
	}
	return nil
}

// secret returns a text that nobody can guess, with what it is in front.
func secret(what string) string { return what + "-" + strings.ToLower(rand.Text()) }
