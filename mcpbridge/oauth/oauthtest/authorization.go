package oauthtest

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// authorization is the authorization server.
func (s *Server) authorization(w http.ResponseWriter, r *http.Request) {
	n, c := s.note(r), s.config()
	path := c.IssuerPath
	switch strings.TrimPrefix(r.URL.Path, path) {
	case "/authorize":
		s.consent(w, r, n, c)
	case "/token":
		s.token(w, n, c)
	case "/register":
		s.register(w, n, c)
	case "/revoke":
		s.revoke(w, n)
	default:
		s.metadata(w, r, c)
	}
}

// metadata has the document of the issuer.
func (s *Server) metadata(w http.ResponseWriter, r *http.Request, c Config) {
	const oauth, openid = "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"
	at := c.At
	if at == nil {
		at = []string{"oauth"}
	}
	there := slices.Contains(at, "oauth") && r.URL.Path == oauth+c.IssuerPath ||
		slices.Contains(at, "openid") && r.URL.Path == openid+c.IssuerPath ||
		slices.Contains(at, "appended") && r.URL.Path == c.IssuerPath+openid
	if !there || c.Bare {
		nothing(w, r, c)
		return
	}
	if c.Broken != 0 {
		w.WriteHeader(c.Broken)
		return
	}
	if c.Elsewhere != "" {
		http.Redirect(w, r, c.Elsewhere, http.StatusFound)
		return
	}
	issuer := s.issuer(c)
	m := map[string]any{
		"issuer":                           cmp.Or(c.Issuer, issuer),
		"authorization_endpoint":           issuer + "/authorize?tenant=1",
		"token_endpoint":                   cmp.Or(c.TokenAt, issuer+"/token"),
		"revocation_endpoint":              issuer + "/revoke",
		"response_types_supported":         []string{"code"},
		"grant_types_supported":            []string{"authorization_code", "refresh_token"},
		"code_challenge_methods_supported": []string{"S256"},
	}
	if c.PKCE != nil {
		m["code_challenge_methods_supported"] = c.PKCE
	}
	if len(c.PKCE) == 0 && c.PKCE != nil {
		delete(m, "code_challenge_methods_supported")
	}
	if !c.Unlisted {
		m["registration_endpoint"] = issuer + "/register"
	}
	if c.Auth != nil {
		m["token_endpoint_auth_methods_supported"] = c.Auth
	}
	if c.ScopesThere != nil {
		m["scopes_supported"] = c.ScopesThere
	}
	if c.Documents {
		m["client_id_metadata_document_supported"] = true
	}
	if c.Iss == "sent" || c.Iss == "promised" || c.Iss == "wrong" || c.Iss == "wrong-error" {
		m["authorization_response_iss_parameter_supported"] = true
	}
	reply(w, http.StatusOK, m)
}

// register makes a client of whoever asks.
func (s *Server) register(w http.ResponseWriter, n Request, c Config) {
	redirects, _ := n.JSON["redirect_uris"].([]any)
	switch {
	case c.Unlisted:
		w.WriteHeader(http.StatusNotFound)
		return
	case c.Unwilling:
		fail(w, http.StatusForbidden, "invalid_client_metadata", "only friends of the house are registered")
		return
	case n.JSON["application_type"] != "native" || len(redirects) != 1:
		fail(w, http.StatusBadRequest, "invalid_redirect_uri", "only native clients can be on this machine")
		return
	}
	id, made := secret("client"), registered{redirect: fmt.Sprint(redirects[0])}
	way, _ := n.JSON["token_endpoint_auth_method"].(string)
	answer := map[string]any{"client_id": id, "redirect_uris": redirects, "token_endpoint_auth_method": cmp.Or(c.NamedAuth, way)}
	if way != "none" {
		made.secret = secret("secret")
		answer["client_secret"], answer["client_secret_expires_at"] = made.secret, c.SecretEnds
	}
	s.mu.Lock()
	s.clients[id] = made
	s.mu.Unlock()
	reply(w, http.StatusCreated, answer)
}

// known returns a client by its id, and whether there is one.
func (s *Server) known(id string, c Config) (registered, bool) {
	if password, ok := c.Clients[id]; ok {
		return registered{secret: password}, true
	}
	if c.Documents && strings.HasPrefix(id, "https://") {
		return registered{}, true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	made, ok := s.clients[id]
	return made, ok
}

// consent is the page on which the user says yes.
func (s *Server) consent(w http.ResponseWriter, r *http.Request, n Request, c Config) {
	f := n.Form
	client, ok := s.known(f.Get("client_id"), c)
	redirect, err := url.Parse(f.Get("redirect_uri"))
	switch {
	case !ok || err != nil || client.redirect != "" && client.redirect != redirect.String():
		fail(w, http.StatusBadRequest, "invalid_client", "nobody knows this client or where it is")
		return
	case f.Get("response_type") != "code" || f.Get("code_challenge_method") != "S256" || len(f.Get("code_challenge")) != 43:
		fail(w, http.StatusBadRequest, "invalid_request", "a login has to be protected")
		return
	case !c.Bare && f.Get("tenant") != "1":
		fail(w, http.StatusBadRequest, "invalid_request", "the query of the endpoint is lost")
		return
	}
	q := url.Values{"state": {f.Get("state")}}
	switch c.Iss {
	case "sent", "sent-only":
		q.Set("iss", s.issuer(c))
	case "wrong", "wrong-error":
		q.Set("iss", "https://attacker.example")
	}
	if c.Denied || c.Iss == "wrong-error" {
		q.Set("error", "access_denied")
		q.Set("error_description", "the user\x1b[2J said no")
	} else {
		one := secret("code")
		s.mu.Lock()
		s.codes[one] = code{f.Get("client_id"), redirect.String(), f.Get("code_challenge"), f.Get("resource"), f.Get("scope")}
		s.mu.Unlock()
		q.Set("code", one)
	}
	if c.WrongState {
		q.Set("state", "of another")
	}
	if c.Twice {
		q.Add("code", "another")
	}
	redirect.RawQuery = q.Encode()
	http.Redirect(w, r, redirect.String(), http.StatusFound)
}

// token gives tokens out.
func (s *Server) token(w http.ResponseWriter, n Request, c Config) {
	s.mu.Lock()
	gate := s.gate
	s.mu.Unlock()
	if gate != nil {
		<-gate
	}
	switch {
	case c.Down != 0:
		w.Header().Set("Location", s.mcp.URL+"/stolen")
		w.WriteHeader(c.Down)
		return
	case c.Huge:
		w.Write(make([]byte, 1<<20))
		return
	case c.Echo:
		fail(w, http.StatusBadRequest, "invalid_grant", fmt.Sprint("this is no good: ", n.Form, n.Auth))
		return
	case !s.authenticated(n, c):
		fail(w, http.StatusUnauthorized, "invalid_client", "the client is not who it says")
		return
	}
	grant := n.Form.Get("grant_type")
	scope, code, text := "", "", ""
	if grant == "refresh_token" {
		scope, code, text = s.renewed(n, c)
	} else {
		scope, code, text = s.redeemed(n)
	}
	if code != "" {
		fail(w, http.StatusBadRequest, code, text)
		return
	}
	reply(w, http.StatusOK, s.issue(n, c, grant, scope))
}

// authenticated reports whether a client is who it says, in the way that the metadata
// has.
func (s *Server) authenticated(n Request, c Config) bool {
	id, password, way := n.Form.Get("client_id"), n.Form.Get("client_secret"), "none"
	if password != "" {
		way = "client_secret_post"
	}
	if raw, ok := strings.CutPrefix(n.Auth, "Basic "); ok {
		pair, err := base64.StdEncoding.DecodeString(raw)
		if err != nil {
			return false
		}
		name, value, _ := strings.Cut(string(pair), ":")
		id, _ = url.QueryUnescape(name)
		password, _ = url.QueryUnescape(value)
		way = "client_secret_basic"
	}
	client, ok := s.known(id, c)
	return ok && client.secret == password && (c.Auth == nil || slices.Contains(c.Auth, way))
}

// redeemed returns the scopes of a code, which is good for once.
func (s *Server) redeemed(n Request) (scope, code, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, ok := s.codes[n.Form.Get("code")]
	delete(s.codes, n.Form.Get("code"))
	sum := sha256.Sum256([]byte(n.Form.Get("code_verifier")))
	switch {
	case !ok:
		return "", "invalid_grant", "nobody knows this code"
	case base64.RawURLEncoding.EncodeToString(sum[:]) != one.challenge:
		return "", "invalid_grant", "the code was asked for by another"
	case n.Form.Get("redirect_uri") != one.redirect || n.Form.Get("resource") != one.resource:
		return "", "invalid_target", "the code is for another place"
	}
	return one.scope, "", ""
}

// renewed returns the scopes of a refresh token. One that was used up betrays a thief:
// all tokens end.
func (s *Server) renewed(n Request, c Config) (scope, code, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := n.Form.Get("refresh_token")
	scope, ok := s.renew[old]
	switch {
	case c.Refuse != "":
		return "", c.Refuse, "no more of this"
	case s.spent[old]:
		clear(s.tokens)
		clear(s.renew)
		return "", "invalid_grant", "the token was used before"
	case !ok:
		return "", "invalid_grant", "nobody knows this token"
	case n.Form.Get("resource") == "":
		return "", "invalid_target", "it is not said what for"
	}
	if !c.Kept {
		delete(s.renew, old)
		s.spent[old] = true
	}
	return scope, "", ""
}

// issue makes tokens.
func (s *Server) issue(n Request, c Config, grant, scope string) map[string]any {
	access, refresh := secret("access"), secret("refresh")
	if c.Kept && grant == "refresh_token" {
		refresh = ""
	}
	answer := map[string]any{"access_token": access, "token_type": cmp.Or(c.Type, "Bearer")}
	lasts := c.Lasts
	if l, ok := c.Ending[grant]; ok {
		lasts = l
	}
	if lasts != 0 {
		answer["expires_in"] = lasts
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens[access] = token{scope: scope, refresh: refresh}
	if refresh != "" && !c.Unrenewed {
		answer["refresh_token"] = refresh
		s.renew[refresh] = scope
	}
	if grant != "refresh_token" && scope != "" {
		answer["scope"] = scope
	}
	return answer
}

// revoke ends a token.
func (s *Server) revoke(w http.ResponseWriter, n Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.tokens, n.Form.Get("token"))
	delete(s.renew, n.Form.Get("token"))
	w.WriteHeader(http.StatusOK)
}
