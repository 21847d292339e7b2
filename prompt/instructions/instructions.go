// Package instructions reads the files in which a directory tells agents how to
// work in it.
package instructions

import "github.com/lorimer-dev/lorimer/prompt"

// Name is what such a file is called.
const Name = "AGENTS.md"

// Limits bound what is read, in bytes.
type Limits struct {
	File int // of one file with its imports; 0 is 32 KiB
	All  int // of all of them; 0 is 64 KiB
}

// Read returns the files of dir and of the directories above it, from the
// outermost to the nearest, and one line for each thing that was left out or cut.
func Read(dir string, l Limits) ([]prompt.Instruction, []string) { return nil, nil }
