// Package acptest provides an editor for tests: one that speaks the protocol
// over memory and keeps what was said.
package acptest
