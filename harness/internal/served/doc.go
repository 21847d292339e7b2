// Package served puts what MCP servers have into words for their user, and reads what
// the user asks of them: a prompt by a command with arguments, and a resource by a
// token in the text.
//
// It knows servers by the lists of [server.Set] alone, and asks none.
package served
