package config

import (
	"net/http"
	"net/url"

	"golang.org/x/net/http/httpproxy"
)

// Proxy is what the environment says of proxies.
type Proxy struct {
	HTTP  string `toml:"http" show:"url"`
	HTTPS string `toml:"https" show:"url"`
	No    string `toml:"no"` // hosts that are reached directly
}

// Func returns the function for [http.Transport.Proxy]. Addresses of this
// machine are never reached through a proxy.
func (p Proxy) Func() func(*http.Request) (*url.URL, error) {
	choose := (&httpproxy.Config{HTTPProxy: p.HTTP, HTTPSProxy: p.HTTPS, NoProxy: p.No}).ProxyFunc()
	return func(r *http.Request) (*url.URL, error) { return choose(r.URL) }
}
