package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/lorimer-dev/lorimer/tools"
)

// Ways to authenticate at the token endpoint.
const (
	authNone  = "none"
	authBasic = "client_secret_basic"
	authPost  = "client_secret_post"
)

// A client is who logs in, as the authorization server knows it.
type client struct {
	ID         string    `json:"id"`
	Secret     string    `json:"secret,omitempty"` // a configured one is never kept
	Auth       string    `json:"auth"`
	Configured bool      `json:"configured,omitempty"` // by the user, at one authorization server
	Expires    time.Time `json:"secret_expires,omitzero"`
}

// isDocument reports whether a client id is the address of a client id metadata
// document.
func isDocument(id string) bool {
	u, err := url.Parse(id)
	return err == nil && u.Scheme == "https" && u.Host != "" && u.Path != "" && u.Path != "/"
}

// client returns who logs in at an authorization server: who was registered there by
// hand, else the document that the user names, else who is registered now.
func (f *fetcher) client(ctx context.Context, m *issuer, s Settings, redirect string, scopes []string) (client, error) {
	document := isDocument(s.ClientID)
	switch {
	case s.ClientID != "" && !document:
		return client{ID: s.ClientID, Auth: authOf(m, s.ClientSecret), Configured: true}, nil
	case document && m.Documents:
		return client{ID: s.ClientID, Auth: authNone}, nil
	case m.Registration != "":
		return f.register(ctx, m, redirect, scopes)
	}
	lead := fmt.Sprintf("the authorization server %s registers no client by itself", tools.Line(m.Issuer, maxText))
	if document {
		lead += " and reads no client id metadata documents"
	}
	return client{}, fmt.Errorf("%s; register one there by hand, with the redirect address %s, and give its client id (and the port) in the configuration of the server", lead, redirect)
}

// authOf returns how a client with a secret, or without one, authenticates.
func authOf(m *issuer, secret string) string {
	switch {
	case secret == "":
		return authNone
	case slices.Contains(m.Auth, authPost) && !slices.Contains(m.Auth, authBasic):
		return authPost
	}
	return authBasic // every authorization server has it (RFC 6749 2.3.1)
}

// wish returns which way a new client asks for.
func wish(m *issuer) string {
	for _, way := range []string{authNone, authBasic, authPost} {
		if slices.Contains(m.Auth, way) {
			return way
		}
	}
	return authNone
}

// register makes a new client (RFC 7591).
func (f *fetcher) register(ctx context.Context, m *issuer, redirect string, scopes []string) (client, error) {
	asked := map[string]any{
		"client_name":                "Lorimer",
		"redirect_uris":              []string{redirect},
		"grant_types":                []string{"authorization_code", "refresh_token"},
		"response_types":             []string{"code"},
		"token_endpoint_auth_method": wish(m),
		"application_type":           "native",
	}
	if len(scopes) > 0 {
		asked["scope"] = strings.Join(scopes, " ")
	}
	body, err := json.Marshal(asked)
	if err != nil {
		return client{}, err
	}
	a, err := f.post(ctx, m.Registration, "application/json", body, nil)
	if err != nil {
		return client{}, fmt.Errorf("registering at the authorization server: %w", err)
	}
	if err := refused(m.Registration, a); err != nil {
		return client{}, fmt.Errorf("registering at the authorization server: %w; a client that was registered by hand, with the redirect address %s, can be given in the configuration of the server", err, redirect)
	}
	var got struct {
		ID      string `json:"client_id"`
		Secret  string `json:"client_secret"`
		Auth    string `json:"token_endpoint_auth_method"`
		Expires int64  `json:"client_secret_expires_at"` // seconds; 0 is never
	}
	if err := json.Unmarshal(a.body, &got); err != nil || got.ID == "" {
		return client{}, errors.New("registering at the authorization server: its answer has no client id")
	}
	c := client{ID: got.ID, Secret: got.Secret, Auth: got.Auth}
	if got.Expires > 0 {
		c.Expires = time.Unix(got.Expires, 0).UTC()
	}
	switch {
	case c.Auth == "":
		c.Auth = authOf(m, c.Secret)
	case c.Auth == authNone:
		c.Secret = ""
	case c.Auth != authBasic && c.Auth != authPost:
		return client{}, fmt.Errorf("registering at the authorization server: it wants its clients to authenticate by %s, which is not supported; register one by hand", tools.Line(c.Auth, maxText))
	case c.Secret == "":
		return client{}, errors.New("registering at the authorization server: its answer has no secret for the client")
	}
	return c, nil
}

// secret returns the secret of a client: a configured one is in the settings alone.
func (c client) secret(s Settings) string {
	if c.Configured {
		return s.ClientSecret
	}
	return c.Secret
}

// authenticate adds who asks to a request for tokens.
func (c client) authenticate(s Settings, form url.Values) func(*http.Request) {
	secret := c.secret(s)
	if c.Auth == authBasic && secret != "" {
		return func(r *http.Request) {
			r.SetBasicAuth(url.QueryEscape(c.ID), url.QueryEscape(secret))
		}
	}
	form.Set("client_id", c.ID)
	if c.Auth == authPost && secret != "" {
		form.Set("client_secret", secret)
	}
	return nil
}
