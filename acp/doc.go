// Package acp speaks the Agent Client Protocol for the harness: it translates
// and decides nothing.
//
// A [Server] answers initialize from constants. The [Backend], and with it
// configuration, models and network, is started by the first request for a
// session, so that a broken configuration is told where an editor can show it.
// A connection owns the only map of sessions in the program; what belongs to a
// session is a field of it.
//
// A session is opened by session/new, load, resume or fork, all through one
// function, and is one session of the harness at a time: a load of one that is
// open waits for its prompts and keeps it, or opens another one in its place.
//
// Order is the heart of the package. What a request means for its session is
// noted when the request is admitted, on the reader's goroutine: a cancel, a
// close or a prompt concerns exactly what came before it, however fast they
// follow each other (R-ACP-07, R-ACP-08).
package acp
