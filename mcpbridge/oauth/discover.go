package oauth

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/lorimer-dev/lorimer/tools"
)

// maxIssuers is how many authorization servers of one resource are looked at.
const maxIssuers = 5

// resource is the metadata of a protected resource (RFC 9728 2).
type resource struct {
	at       string   // where it was
	Resource string   `json:"resource"`
	Issuers  []string `json:"authorization_servers"`
	Scopes   []string `json:"scopes_supported"`
}

// issuer is the metadata of an authorization server (RFC 8414 2, RFC 9207 3).
type issuer struct {
	Issuer       string   `json:"issuer"`
	Authorize    string   `json:"authorization_endpoint"`
	Token        string   `json:"token_endpoint"`
	Registration string   `json:"registration_endpoint"`
	Revocation   string   `json:"revocation_endpoint"`
	PKCE         []string `json:"code_challenge_methods_supported"`
	Auth         []string `json:"token_endpoint_auth_methods_supported"`
	Scopes       []string `json:"scopes_supported"`
	Grants       []string `json:"grant_types_supported"`
	SendsIssuer  bool     `json:"authorization_response_iss_parameter_supported"`
	Documents    bool     `json:"client_id_metadata_document_supported"`
}

// errNoMetadata tells that a document is nowhere that it may be.
var errNoMetadata = errors.New("it has no metadata")

// challengeOf asks the server without a credential for what it wants, and reports
// whether it wants any. The request asks nothing of the protocol: it begins no
// session.
func (f *fetcher) challengeOf(ctx context.Context, server *url.URL) (header string, wanted bool, err error) {
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for _, method := range []string{http.MethodPost, http.MethodGet} { // GET is for SSE
		r, err := http.NewRequest(method, server.String(), nil)
		if err != nil {
			return "", false, bare(err)
		}
		r.Header.Set("Accept", "text/event-stream")
		if method == http.MethodPost {
			if r, err = http.NewRequest(method, server.String(), bytes.NewReader([]byte(ping))); err != nil {
				return "", false, bare(err)
			}
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
		}
		a, err := f.do(ctx, r, false)
		if err != nil {
			return "", false, err
		}
		header := strings.Join(a.header.Values("WWW-Authenticate"), ", ")
		if a.status == http.StatusUnauthorized {
			return header, true, nil
		}
	}
	return "", false, nil
}

// resource finds the metadata of a server: where the server says, else in the usual
// places. It fails with errNoMetadata where there is none.
func (f *fetcher) resource(ctx context.Context, server *url.URL, said string) (*resource, error) {
	places := resourceMetadata(server)
	if said != "" {
		places = slices.Insert(places, 0, said)
	}
	for i, at := range places {
		if slices.Contains(places[:i], at) {
			continue
		}
		r := &resource{at: at}
		err := f.get(ctx, at, r)
		if _, absent := errors.AsType[*absentError](err); absent {
			continue
		}
		if err != nil {
			return nil, err
		}
		if !covers(r.Resource, server) {
			return nil, fmt.Errorf("the metadata at %s is of another resource, %q: a credential for that is not for %s",
				shown(at), tools.Line(r.Resource, maxText), show(server))
		}
		return r, nil
	}
	return nil, errNoMetadata
}

// issuer finds the metadata of an authorization server by its identifier. It fails
// with errNoMetadata where there is none.
func (f *fetcher) issuer(ctx context.Context, id string) (*issuer, error) {
	u, err := f.allow(id)
	if err != nil {
		return nil, err
	}
	var other error
	for _, at := range issuerMetadata(u) {
		m := &issuer{}
		err := f.get(ctx, at, m)
		if _, absent := errors.AsType[*absentError](err); absent {
			continue
		}
		if err == nil && !sameIssuer(m.Issuer, id) {
			err = fmt.Errorf("the metadata at %s is of another authorization server, %q", shown(at), tools.Line(m.Issuer, maxText))
		}
		if err == nil {
			return m, f.usable(m)
		}
		if ctx.Err() != nil {
			return nil, err
		}
		other = errors.Join(other, err)
	}
	if other != nil {
		return nil, other
	}
	return nil, errNoMetadata
}

// usable says what is missing for a login at an authorization server.
func (f *fetcher) usable(m *issuer) error {
	at := tools.Line(m.Issuer, maxText)
	switch {
	case m.Authorize == "" || m.Token == "":
		return fmt.Errorf("the authorization server %s names no place for a login with a browser", at)
	case !slices.Contains(m.PKCE, "S256"):
		return fmt.Errorf("the authorization server %s does not say that it protects logins with PKCE (S256), without which they can be stolen", at)
	case m.Grants != nil && !slices.Contains(m.Grants, "authorization_code"):
		return fmt.Errorf("the authorization server %s offers no login with a browser", at)
	}
	for _, endpoint := range []string{m.Authorize, m.Token, m.Registration, m.Revocation} {
		if endpoint == "" {
			continue
		}
		if _, err := f.allow(endpoint); err != nil {
			return fmt.Errorf("the authorization server %s: %w", at, err)
		}
	}
	return nil
}

// configured reads the metadata that the user names, whose issuer is what it says.
func (f *fetcher) configured(ctx context.Context, address string) (*issuer, error) {
	m := &issuer{}
	if err := f.get(ctx, address, m); err != nil {
		return nil, err
	}
	if m.Issuer == "" {
		return nil, fmt.Errorf("the metadata at %s names no issuer", shown(address))
	}
	return m, f.usable(m)
}

// defaults are the places of revision 2025-03-26 at a server that names none. PKCE is
// required there; nothing says so.
func defaults(server *url.URL) *issuer {
	at := origin(server)
	return &issuer{Issuer: at, Authorize: at + "/authorize", Token: at + "/token", Registration: at + "/register"}
}

// A place is where to log in for a server.
type place struct {
	issuer   *issuer
	resource string   // identifier, for which the credential is
	metadata string   // of the resource, where it has some; else ""
	scopes   []string // that the resource has
}

// find looks for where to log in. Wanted says that the server has refused a request
// without a credential; prefer is the issuer of the last login.
func (f *fetcher) find(ctx context.Context, server *url.URL, s Settings, c Challenge, wanted bool, prefer string) (place, error) {
	r, err := f.resource(ctx, server, c.Metadata)
	if err != nil && !errors.Is(err, errNoMetadata) {
		return place{}, err
	}
	p := place{resource: server.String()}
	var issuers []string
	if err == nil {
		p.resource, p.metadata, p.scopes, issuers = r.Resource, r.at, r.Scopes, r.Issuers
	}
	if s.Metadata != "" {
		p.issuer, err = f.configured(ctx, s.Metadata)
		return p, err
	}
	if len(issuers) > 0 {
		p.issuer, err = f.first(ctx, issuers, prefer)
		return p, err
	}
	if !wanted && p.metadata == "" {
		return p, fmt.Errorf("%s asks for no login, and has no metadata that names an authorization server", show(server))
	}
	p.issuer, err = f.issuer(ctx, origin(server))
	if errors.Is(err, errNoMetadata) {
		p.issuer, err = defaults(server), nil
	}
	return p, err
}

// first returns the first authorization server of a list at which one can log in,
// that of the last login before the others.
func (f *fetcher) first(ctx context.Context, ids []string, prefer string) (*issuer, error) {
	ids = slices.Clone(ids[:min(len(ids), maxIssuers)])
	if i := slices.IndexFunc(ids, func(id string) bool { return sameIssuer(prefer, id) }); i > 0 {
		ids[0], ids[i] = ids[i], ids[0]
	}
	var failed error
	for _, id := range ids {
		m, err := f.issuer(ctx, id)
		if errors.Is(err, errNoMetadata) {
			err = fmt.Errorf("the authorization server %s has no metadata", tools.Line(id, maxText))
		}
		if err == nil {
			return m, nil
		}
		if failed == nil {
			failed = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, failed
}
