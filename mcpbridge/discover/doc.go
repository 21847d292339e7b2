// Package discover reads the MCP servers that configuration files declare, in the
// dialects of the programs that have such files, and says which of them may be
// started.
//
// A declaration goes through three steps. [Parse] makes an [Entry] of it, with its
// variables as they were written. [Merge] puts the entries of several files into
// one order, replaces their variables and holds back those of a project that nobody
// has approved. [Join] adds what an editor sends. What is wrong with a declaration
// costs that server alone: it is in the Trouble of the server, in words for the user.
//
// Nothing is contacted or run here, and nothing is read but the files.
package discover
