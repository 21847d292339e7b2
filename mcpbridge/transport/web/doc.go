// Package web carries messages to an MCP server that has an address: over streamable
// HTTP of every revision, with sessions and without, and over HTTP with server-sent
// events as it was in 2024-11-05.
//
// A [Transport] has one way at a time. It begins with streamable HTTP, where each
// request is answered by a body or by a stream of its own, and changes to the older way
// when the server refuses the handshake as one that has never heard of it. What goes out
// goes to one origin, scheme, host and port, and nowhere else, whatever a server says.
//
// An address does not die: a request that fails says so itself. A transport ends when it
// is closed, when its session has expired, or with the only stream of the older way.
// After Close nothing of it is left, no goroutine and no open body; connections that
// wait are left to whoever gave the way to make them.
package web
