package server

import "errors"

// ErrRefused tells a server that the user, or a rule of the user, said no.
var ErrRefused = errors.New("the user did not allow it")
