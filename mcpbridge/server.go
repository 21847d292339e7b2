package mcpbridge

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"maps"
	"slices"
	"time"
)

// A Kind is how a server is reached.
type Kind string

// The kinds.
const (
	Stdio Kind = "stdio"
	HTTP  Kind = "http" // streamable
	SSE   Kind = "sse"
)

// A Server is an MCP server as somebody has declared it. Its variables have been
// replaced.
type Server struct {
	Name    string
	Kind    Kind
	Source  string // who declared it: the editor, or a file and its line
	Editor  bool   // it was the editor, for this session alone
	Command string
	Args    []string
	Env     map[string]string // beside the few variables that every program gets
	Dir     string            // working directory; "" is that of the session
	URL     string
	Headers map[string]string // secret
	OAuth   OAuth
	// Secrets are the values that variables of the declaration were replaced with.
	// They are not shown, wherever they stand.
	Secrets []string

	// Off says why it is never contacted, in words for the user; "" is on.
	Off string
	// Trouble says what is wrong with the declaration, in words for the user, so
	// that it fails without being contacted; "" is nothing.
	Trouble string

	Timeout time.Duration // of one call; 0 is a minute (R-MCP-18)
	Connect time.Duration // of the connection; 0 is a minute (R-MCP-10)
	Include []string      // patterns of the server's own names of tools; nil is all
	Exclude []string      // wins
	Silent  bool          // its instructions are not told to the model
}

// OAuth is what is known beforehand of how to log in at a server. The zero value
// finds everything out.
type OAuth struct {
	ClientID     string
	ClientSecret string
	Scopes       []string
	CallbackPort int    // 0 is any
	Metadata     string // URL of the authorization server's metadata; "" looks for it
}

// The bounds of a server that declares none.
const (
	defaultTimeout = time.Minute // of a call without a sign of progress
	defaultConnect = time.Minute // cold package runners need it (R-MCP-10)
)

func (s Server) timeout() time.Duration { return cmp.Or(s.Timeout, defaultTimeout) }

func (s Server) connect() time.Duration { return cmp.Or(s.Connect, defaultConnect) }

// Fingerprint says which server s is, whatever it is called: servers of one fingerprint
// are reached in the same way, with the same credentials (R-MCP-12, R-ACP-41). It tells
// nothing of them.
func (s Server) Fingerprint() string {
	d := s.digest()
	d.pairs(s.Env)
	d.pairs(s.Headers)
	return d.sum()
}

// place is the fingerprint without what may be secret, which may be written to a disk.
func (s Server) place() string { return s.digest().sum() }

func (s Server) digest() digest {
	d := digest{sha256.New()}
	d.texts(string(s.Kind), s.Command, s.Dir, s.URL)
	d.texts(s.Args...)
	return d
}

// Fingerprint says what the servers of a session are, so that one that asks for those it
// has can be told from one that asks for others (C097).
func Fingerprint(servers []Server) string {
	d := digest{sha256.New()}
	for _, s := range servers {
		d.texts(s.Name, s.Fingerprint(), s.Source, s.Off, s.Trouble, s.Timeout.String(), s.Connect.String(), fmt.Sprint(s.Silent))
		d.texts(s.Include...)
		d.texts(s.Exclude...)
		d.texts(s.OAuth.ClientID, s.OAuth.ClientSecret, s.OAuth.Metadata, fmt.Sprint(s.OAuth.CallbackPort))
		d.texts(s.OAuth.Scopes...)
	}
	return d.sum()
}

// A digest is a hash of texts that keeps them apart.
type digest struct{ hash.Hash }

func (d digest) texts(texts ...string) {
	fmt.Fprintf(d, "%d;", len(texts))
	for _, t := range texts {
		fmt.Fprintf(d, "%d:%s", len(t), t)
	}
}

func (d digest) pairs(m map[string]string) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		d.texts(k, m[k])
	}
	d.texts()
}

func (d digest) sum() string { return hex.EncodeToString(d.Sum(nil)) }
