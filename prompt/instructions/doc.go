// Package instructions reads the files in which a directory tells agents how to
// work in it.
//
// [Read] takes those of the working directory and of the directories above it,
// which stand in the system prompt, and [Nested] those below it, which are told
// when a tool first touches their directory. Whoever can write into a directory
// can write such a file, so nothing about one is taken for granted: it counts only
// if it is a regular file of the user's own, it never brings in what stands outside
// its directory, and what is read of it is bounded before it is read. What is left
// out for that is told in one line each, and the rest holds.
package instructions
