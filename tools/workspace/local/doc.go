// Package local is the workspace on this machine: its files and its shell.
//
// An [FS] shuts the tools into the directories of the session: it follows a name
// as the kernel would, links included, and then reaches the place through a
// handle of the directory that it is in.
package local
