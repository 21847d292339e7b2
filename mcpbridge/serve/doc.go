// Package serve is an MCP server over two streams, of every revision from 2024-11-05
// to 2026-07-28 at once: a client may begin with initialize, or say with each request
// which revision it speaks.
//
// What is served stands behind a [Desk]. The server adds to it what a library leaves
// to luck: no answer is lost at the end of the input, none comes after a cancel, a
// call that hangs keeps nobody from leaving, and ping and cancel are heard however
// many calls run or wait. One goroutine reads, one writes, and what waits for the
// latter is bounded, so that a client that reads slowly slows its calls and nothing
// else.
//
// The package knows nothing of the process: who uses it keeps standard output for it
// alone.
package serve
