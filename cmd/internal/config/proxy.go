package config

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpproxy"
)

// Proxy is what the environment says of proxies.
type Proxy struct {
	HTTP  string `toml:"http" show:"url"`
	HTTPS string `toml:"https" show:"url"`
	No    string `toml:"no"` // hosts that are reached directly
}

// Func returns the function for [http.Transport.Proxy]. Addresses of this
// machine are never reached through a proxy; no other is reached without the one
// that is named for it, even if that cannot be used.
func (p Proxy) Func() func(*http.Request) (*url.URL, error) {
	choose := (&httpproxy.Config{HTTPProxy: p.HTTP, HTTPSProxy: p.HTTPS, NoProxy: p.No}).ProxyFunc()
	broken := map[string]error{"http": checkProxy("HTTP_PROXY", p.HTTP), "https": checkProxy("HTTPS_PROXY", p.HTTPS)}
	// Whether a proxy that cannot be used would be used is known by one that can.
	const some = "http://proxy.invalid"
	would := (&httpproxy.Config{HTTPProxy: some, HTTPSProxy: some, NoProxy: p.No}).ProxyFunc()
	return func(r *http.Request) (*url.URL, error) {
		if err := broken[r.URL.Scheme]; err != nil {
			if u, _ := would(r.URL); u != nil {
				return nil, err
			}
			return nil, nil
		}
		return choose(r.URL)
	}
}

// Check returns an error for each address of a proxy that cannot be used.
func (p Proxy) Check() error {
	return errors.Join(checkProxy("HTTP_PROXY", p.HTTP), checkProxy("HTTPS_PROXY", p.HTTPS))
}

// checkProxy refuses what is no address of a proxy. It does not repeat it, since a
// password may be in it.
func checkProxy(variable, address string) error {
	if address == "" {
		return nil
	}
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || !slices.Contains([]string{"http", "https", "socks5", "socks5h"}, strings.ToLower(u.Scheme)) {
		return proxyError(variable)
	}
	return nil
}

// A proxyError names the variable whose address is of no proxy.
type proxyError string

func (e proxyError) Error() string {
	return fmt.Sprintf("env %s is not the address of a proxy; write it like http://HOST:PORT", string(e))
}

// Permanent says that waiting does not help.
func (proxyError) Permanent() bool { return true }

// secrets returns the passwords in the addresses.
func (p Proxy) secrets() []string {
	var all []string
	for _, address := range []string{p.HTTP, p.HTTPS} {
		if address != "" && !strings.Contains(address, "://") {
			address = "http://" + address
		}
		all = append(all, secretsInURL(address)...)
	}
	return all
}
