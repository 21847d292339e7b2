// Package v1 tells a client of protocol version 1 what a turn does: it encodes
// events as session/update notifications.
package v1
