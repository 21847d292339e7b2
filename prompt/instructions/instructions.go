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

// NestedBytes is how much is told of a file that [Nested] finds.
const NestedBytes = 8 << 10

// A File is a file of instructions below the working directory.
type File struct {
	Path string // as Nested made it from its root
	Text string
}

// Nested returns the files of the directories below root down to that of path,
// from the outermost to the nearest, and one line for each that was left out or
// cut at [NestedBytes]. The files of root and above it are those of [Read]. A path
// that ends with a separator is a directory; one that is such a file itself does
// not bring itself.
//
// A file is read by read, which gets its path and need not return more than
// NestedBytes and one; where it returns [fs.ErrNotExist], as for a file that was
// told before, there is none. Imports stay as they are.
func Nested(root, path string, read func(name string) ([]byte, error)) ([]File, []string) {
	return nil, nil
}
