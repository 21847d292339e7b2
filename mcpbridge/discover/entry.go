package discover

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/lorimer-dev/lorimer/mcpbridge"
)

// An Entry is a server as it was written down: the variables in it are not replaced.
type Entry struct {
	mcpbridge.Server
	File    string
	Line    int    // from 1; 0 is unknown
	EnvFile string // of variables for the program, NAME=value in each line; "" is none
}

// A Weight says who should hear a [Warning].
type Weight int

// The weights.
const (
	Wrong   Weight = iota // something does not do what it is there for: everybody
	Ignored               // it has no effect here, and may have one on another program: who looks after servers
	Hint                  // how something was understood: who looks for mistakes
)

// A Warning is something in a file that has no effect, or not the one that it may be
// meant to have.
type Warning struct {
	File   string
	Line   int    // from 1; 0 is the whole file
	Text   string // without secrets
	Weight Weight
}

func (w Warning) String() string { return at(w.File, w.Line) + ": " + w.Text }

// A FileError says why nothing of a file is read.
type FileError struct {
	File string
	Line int // from 1; 0 is the whole file
	Err  error
}

func (e *FileError) Error() string { return at(e.File, e.Line) + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *FileError) Unwrap() error { return e.Err }

// at names a place in a file.
func at(file string, line int) string {
	if line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, line)
}

// Vars is what the variables of entries stand for.
type Vars struct {
	Env       func(name string) (value string, set bool) // of the process; nil has none
	Home      string                                     // "" is none
	Workspace string                                     // directory of the session, absolute
}

func (v Vars) lookup(name string) (value string, set bool) {
	if v.Env == nil {
		return "", false
	}
	return v.Env(name)
}

// Digest returns a hash of what would run, or be spoken to, before its variables are
// replaced: who has approved one declaration has not approved another. The content of
// a file of variables counts, since it settles what a program does as much as its
// arguments do.
func (e Entry) Digest(v Vars) string {
	runs := struct {
		Kind                 mcpbridge.Kind
		Command              string
		Args                 []string
		Env                  map[string]string
		Dir, URL             string
		Headers              map[string]string
		OAuth                mcpbridge.OAuth
		EnvFile, EnvFileHash string
	}{
		Kind: e.Kind, Command: e.Command, Args: e.Args, Env: e.Env, Dir: e.Dir, URL: e.URL, Headers: e.Headers, OAuth: e.OAuth,
		EnvFile: e.EnvFile,
	}
	if e.EnvFile != "" {
		if data, err := e.readEnvFile(v); err == nil { // else the server fails, and says so
			sum := sha256.Sum256(data)
			runs.EnvFileHash = hex.EncodeToString(sum[:])
		}
	}
	data, err := json.Marshal(runs)
	if err != nil {
		panic(err) // strings cannot fail
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
