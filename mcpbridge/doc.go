// Package mcpbridge keeps the MCP servers of sessions at work: it connects them in
// the background, names their tools, and dials again when one is lost.
//
// A [Pool] belongs to the process, a [Bridge] to a session, and each server of a bridge
// has one goroutine, which alone dials it: so there is never a second program of it, and
// nothing that comes late can take the place of something newer. A server that is lost is
// dialled again with growing pauses; until it is back its tools are missing, and the turn
// goes on. What a send gets is a list that was complete when it was taken and never
// changes.
//
// Nothing that a server says is trusted: its names are changed into legal ones, its hints
// never allow more than a look, its texts are data, and its errors are shown without the
// secrets that its declaration holds.
package mcpbridge
