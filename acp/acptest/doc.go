// Package acptest provides an editor for tests, and transcripts of what an agent
// and its editor say to each other.
//
// An [Editor] runs an agent over memory. Inside a testing/synctest bubble "the
// agent has nothing more to say" can be decided, and no time passes while it is
// waited for.
package acptest
