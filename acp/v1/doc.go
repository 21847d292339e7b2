// Package v1 tells a client of protocol version 1 what a turn does, or did: it
// encodes events as session/update notifications.
//
// An [Encoder] belongs to a session. Pieces of text, which come by the thousand,
// are encoded by hand into frames that the connection can merge; everything else
// goes through encoding/json. What a tool prints while it runs is collected and
// told a few times a second, with a limit, so that no flood reaches the client
// (R-ACP-43).
package v1
