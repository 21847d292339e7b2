package web

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// parseAddress reads the address of a server.
func parseAddress(text string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(text))
	switch {
	case err != nil: // its error repeats the address, and what is secret in it
		return nil, errors.New("the address is no URL; it looks like https://host/path")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("an address begins with https:// or http://, and not with %q", u.Scheme)
	case u.Hostname() == "":
		return nil, errors.New("the address has no host; it looks like https://host/path")
	}
	u.Fragment = ""
	return u, nil
}

// checkHeaders says which header cannot be sent, without its value.
func checkHeaders(headers map[string]string) error {
	for name, value := range headers {
		switch {
		case name == "" || strings.ContainsFunc(name, func(c rune) bool {
			return c <= ' ' || c >= 0x7f || strings.ContainsRune("()<>@,;:\\\"/[]?={}", c)
		}):
			return fmt.Errorf("%q is no name of a header", name)
		case strings.ContainsFunc(value, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }):
			return fmt.Errorf("the value of the header %q holds a line break or another character that cannot be sent", name)
		}
	}
	return nil
}

// originOf returns scheme, host and port of u.
func originOf(u *url.URL) string {
	scheme := strings.ToLower(u.Scheme)
	host := strings.ToLower(u.Hostname())
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port := cmp.Or(u.Port(), portOf(scheme)); port != portOf(scheme) {
		host += ":" + port
	}
	return scheme + "://" + host
}

func portOf(scheme string) string {
	switch scheme {
	case "http":
		return "80"
	case "https":
		return "443"
	}
	return ""
}

// within returns to, which has the origin of from, with all of that which is no path.
func within(from, to *url.URL) *url.URL {
	to.Scheme, to.Host, to.User, to.Fragment = from.Scheme, from.Host, from.User, ""
	return to
}

// redirected returns where an answer sends the request that went to from, nil if
// nowhere. Only a way within the same origin is taken, since the request may hold what
// nobody else is to know; the error names where it would have gone.
func redirected(from *url.URL, method string, res *http.Response) (*url.URL, error) {
	switch res.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return nil, nil
	}
	to, err := from.Parse(res.Header.Get("Location"))
	switch {
	case res.Header.Get("Location") == "":
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("the server redirects to what is no address (HTTP %d)", res.StatusCode)
	case originOf(to) != originOf(from):
		return nil, fmt.Errorf("the server redirects to %s (HTTP %d), and headers and credentials do not leave %s; declare the new address if it is right",
			originOf(to), res.StatusCode, originOf(from))
	case res.StatusCode == http.StatusSeeOther && method == http.MethodPost:
		return nil, errors.New("the server redirects to a page (HTTP 303); the address is not that of an MCP server")
	}
	return within(from, to), nil
}
