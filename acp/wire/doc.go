// Package wire is the JSON-RPC connection of an agent: one JSON object a line,
// over standard input and output.
//
// A [Conn] has one reader and one writer. The reader admits requests in the
// order of their arrival and never waits for any of them, so a cancel can be
// read at any time, and one that stands right behind its request still hits it
// (R-ACP-08). Requests of one queue begin one after the other, those of
// different queues run at the same time. The writer alone touches the output;
// what waits for it is bounded, and so a peer that reads slowly slows those who
// write, and nothing else.
//
// The package knows JSON-RPC and nothing of ACP, except for the notification
// $/cancel_request, which it sends and obeys. It logs sizes, methods and
// errors, never the content of a frame (R-ACP-02).
package wire
