package transport_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
)

func TestGoneError(t *testing.T) {
	const node = "node:internal/modules/cjs/loader:1228\n  throw err;\n  ^\n\nError: Cannot find module '/x.js'\n    at Module.load (error.js:1)\n  code: 'MODULE_NOT_FOUND'\n}\n\nNode.js v22.1.0\n"
	tests := []struct {
		name string
		err  transport.GoneError
		want string
	}{
		{"nothing is known", transport.GoneError{}, "the program has ended"},
		{"a line", transport.GoneError{State: "exit status 1", Stderr: "starting\nno key was given\n"}, "the program has ended (exit status 1): no key was given"},
		{"an error before a trace", transport.GoneError{State: "exit status 1", Stderr: node}, "the program has ended (exit status 1): Error: Cannot find module '/x.js'"},
		{"a panic before a trace", transport.GoneError{State: "exit status 2", Stderr: "panic: boom\n\ngoroutine 1 [running]:\nmain.main()\n\t/x/error.go:4\n"}, "the program has ended (exit status 2): panic: boom"},
		{"the last of several errors", transport.GoneError{Stderr: "error: a\nerror: b\nbye"}, "the program has ended: error: b"},
		{"an error long ago", transport.GoneError{Stderr: "error: a\n" + strings.Repeat("well\n", 50) + "bye"}, "the program has ended: bye"},
		{"by this side", transport.GoneError{State: "signal: killed", Cause: errors.New("it was closed")}, "the program has ended (signal: killed): it was closed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.err.Error(); got != tt.want {
				t.Errorf("error = %q, want %q", got, tt.want)
			}
			if !errors.Is(&tt.err, transport.ErrGone) {
				t.Error("it is no ErrGone")
			}
		})
	}
}

func TestUnsent(t *testing.T) {
	cause := &transport.GoneError{State: "exit status 1"}
	err := transport.Unsent(cause)
	for _, target := range []error{transport.ErrUnsent, transport.ErrGone, cause} {
		if !errors.Is(err, target) {
			t.Errorf("it is no %v", target)
		}
	}
	if errors.Is(err, transport.ErrSession) {
		t.Error("it is an ErrSession")
	}
	if got, want := err.Error(), cause.Error(); got != want {
		t.Errorf("error = %q, want %q", got, want)
	}
}
