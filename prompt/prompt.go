// Package prompt assembles what a model is told, strictly: a registry takes
// sections, tool schemas and variables, and every mistake in them is an error
// that names its place before any model is asked.
package prompt

import "encoding/json"

// A Registry holds the contributions to a prompt.
type Registry struct{}

// A ToolSchema is a tool as a section sees it.
type ToolSchema struct {
	Name        string
	Description string
	Schema      json.RawMessage
}

// Facts is what the configuration knows of the user, given anew for each send.
type Facts struct{}

// A Client is the program at the other end of the connection.
type Client struct{ Name, Version string }
