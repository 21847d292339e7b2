package oauth

import (
	"errors"
	"net/http"
	"time"

	"github.com/rs/zerolog"
)

// ErrLogin tells that the user has to log in, or to log in anew.
var ErrLogin = errors.New("needs a login")

// Settings are what is known beforehand of how to log in at a server. The zero value
// finds everything out.
type Settings struct {
	// ClientID is the client that was registered at the authorization server. An
	// https address with a path is that of a client id metadata document: it is used
	// where the authorization server reads such documents, and elsewhere as if there
	// were none.
	ClientID     string
	ClientSecret string
	Scopes       []string // asked for beside those that the server demands
	CallbackPort int      // of the redirect address http://127.0.0.1:PORT/callback; 0 is any
	Metadata     string   // URL of the authorization server's metadata; "" looks for it
}

// Options say which server it is about.
type Options struct {
	URL      string // of the MCP server: https, or http on this machine
	Settings Settings
	Client   http.RoundTripper // nil is http.DefaultTransport
	Log      zerolog.Logger    // of an [Authorizer]
}

// LoginOptions are those of [Login].
type LoginOptions struct {
	Options
	// Challenge is the WWW-Authenticate that the server has answered with; "" asks it.
	Challenge string
	// Open shows the user an address in a browser; nil leaves that to the user. Its
	// error is told and ends nothing.
	Open func(url string) error
	Tell func(line string) // hears lines for the user; nil tells nobody
	// Limit is how long the user may take; default 5 minutes.
	Limit time.Duration
}

// A Grant is what a login has brought, without its secrets.
type Grant struct {
	Resource string // identifier of what was logged in at
	Issuer   string // of the authorization server
	ClientID string
	Scopes   []string
	Expires  time.Time // zero is unknown
	Renews   bool      // without the user, when it has expired
	Wanted   []string  // scopes that the server has refused a request for
}
