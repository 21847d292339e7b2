// Package mcpbridge keeps the MCP servers of sessions at work: it connects them in
// the background, names their tools, and dials again when one is lost.
package mcpbridge

import "time"

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
	Command string
	Args    []string
	Env     map[string]string // beside the few variables that every program gets
	Dir     string            // working directory; "" is that of the session
	URL     string
	Headers map[string]string // secret
	OAuth   OAuth

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
