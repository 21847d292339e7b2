package oauth

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"github.com/lorimer-dev/lorimer/tools"
)

// parseServer returns the canonical form of the address of a server: its identifier
// where it names none (RFC 8707 2), and its name in a [Store].
func parseServer(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil, errors.New("the server has no address that one can log in at")
	}
	u = &url.URL{Scheme: strings.ToLower(u.Scheme), Host: hostOf(u), Path: u.Path, RawPath: u.RawPath, RawQuery: u.RawQuery}
	if u.Path == "/" {
		u.Path, u.RawPath = "", ""
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u)) {
		return nil, fmt.Errorf("%s is not an https address, and a login there could be read on the way", u.Redacted())
	}
	return u, nil
}

// hostOf returns host and port in lower case, without the port that the scheme has
// anyway.
func hostOf(u *url.URL) string {
	host := strings.ToLower(u.Host)
	usual := map[string]string{"http": ":80", "https": ":443"}[strings.ToLower(u.Scheme)]
	if usual != "" && u.Port() == usual[1:] {
		host = strings.TrimSuffix(host, usual)
	}
	return host
}

// origin returns scheme, host and port.
func origin(u *url.URL) string { return strings.ToLower(u.Scheme) + "://" + hostOf(u) }

// isLoopback reports whether u is on this machine, whatever its names say.
func isLoopback(u *url.URL) bool {
	host := strings.ToLower(u.Hostname())
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback()
}

// show returns what may be shown of an address that a request goes to, in one line:
// queries are for the servers.
func show(u *url.URL) string {
	return tools.Line((&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String(), maxText)
}

// shown is show for an address that may be none.
func shown(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "an address that cannot be read"
	}
	return show(u)
}

// covers reports whether a resource is the server at u, or what that server is a part
// of: the same origin, and its path or one that leads there.
func covers(resource string, u *url.URL) bool {
	r, err := url.Parse(resource)
	if err != nil || r.User != nil || r.Fragment != "" || origin(r) != origin(u) {
		return false
	}
	if r.RawQuery != "" && r.RawQuery != u.RawQuery {
		return false
	}
	path := strings.TrimSuffix(r.EscapedPath(), "/")
	rest, ok := strings.CutPrefix(u.EscapedPath(), path)
	return ok && (rest == "" || rest[0] == '/')
}

// resourceMetadata returns where the metadata of a server may be that does not say
// (RFC 9728 3.1): for its path, and for its origin.
func resourceMetadata(u *url.URL) []string {
	const known = "/.well-known/oauth-protected-resource"
	root := origin(u) + known
	path := strings.TrimSuffix(u.EscapedPath(), "/")
	if path == "" && u.RawQuery == "" {
		return []string{root}
	}
	at := root + path
	if u.RawQuery != "" {
		at += "?" + u.RawQuery
	}
	return []string{at, root}
}

// issuerMetadata returns where the metadata of an authorization server may be, in the
// order to try (RFC 8414 3.1 and 5, OpenID Connect Discovery 4).
func issuerMetadata(issuer *url.URL) []string {
	const oauth, openid = "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"
	root, path := origin(issuer), strings.TrimSuffix(issuer.EscapedPath(), "/")
	if path == "" {
		return []string{root + oauth, root + openid}
	}
	return []string{root + oauth + path, root + openid + path, root + path + openid}
}

// sameIssuer reports whether a document that was looked for at want is that of want
// (RFC 8414 3.3). A slash alone for a path makes no difference: both have the same
// metadata.
func sameIssuer(got, want string) bool {
	if got == want {
		return true
	}
	u, err := url.Parse(got)
	return err == nil && cmp.Or(u.Path, "/") == "/" && strings.TrimSuffix(got, "/") == strings.TrimSuffix(want, "/")
}
