// Package stdio carries messages to an MCP server that is a program of this machine,
// over its standard input and output, a line for each.
//
// A [Transport] owns the program and whatever that starts. It notices at once when
// the program ends, and says how and with which last words. When the transport is
// closed, or the program has ended, nothing of it is left: no process of its group,
// no goroutine and no open file. What is neither is the server's own: it gets the
// environment and the directory that it was declared with, a session of its own
// without a terminal, and nothing else.
//
// Programs write to their output what does not belong there: lines of a log, a
// banner in front of a message, messages on several lines, answers whose id has
// become a text. All that can be understood is; what cannot is left out and costs
// no more than itself. A line without an end costs the program its life.
package stdio
