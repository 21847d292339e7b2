// Package client speaks MCP to one server, of every revision from 2024-11-05 to
// 2026-07-28: it finds out which of them the server knows, and gives lists and
// results without loss, whatever their form.
//
// [Connect] makes a [Peer] over transports that the caller dials. There are two ways
// to begin, and nothing tells beforehand which one a server knows: it is asked first
// in the newer way, which an older server may refuse, ignore, or die of. A peer
// neither dials again when it is lost nor repeats a call: that is for its owner, who
// knows what may be done twice.
//
// The constants of mcp-go are used, and its rules for headers. Its client is not:
// package server comes along with it, whose schema library works for 5 ms in each
// start of the program, longer than everything else together; and it would lose lists
// and results of servers that are a little off (see the tests that hold it beside).
package client
