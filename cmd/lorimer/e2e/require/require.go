// Package require tells a test whether something from outside is there, such as
// a client that others wrote.
//
// What is missing skips the test with one line, so that the tests pass on a
// machine with Go alone. The environment variable LORIMER_REQUIRE lists the
// kinds, with commas between them, that must not be missing: there it is a
// failure, so that a run that is meant to be complete cannot pass by skipping.
package require

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// Variable is the environment variable that lists what must be there.
const Variable = "LORIMER_REQUIRE"

// NPM is the kind of the packages that `npm ci` installs in cmd/lorimer/e2e. The
// kind postgres is that of harness/store/storetest.
const NPM = "npm"

// Peer returns path if there is a file or folder of that name. If there is none
// it skips the test, or fails it where kind is required.
func Peer(t testing.TB, kind, path string) string {
	t.Helper()
	_, err := os.Stat(path)
	if err == nil {
		return path
	}
	line := fmt.Sprintf("%s: no %s (%s)", t.Name(), path, hint(kind))
	if slices.Contains(strings.Split(os.Getenv(Variable), ","), kind) {
		t.Fatalf("%s, and %s asks for it", line, Variable)
	}
	if !testing.Verbose() { // else Skip says it
		fmt.Fprintln(os.Stderr, "skip", line)
	}
	t.Skip(line)
	return ""
}

func hint(kind string) string {
	if kind == NPM {
		return "npm ci in cmd/lorimer/e2e installs it"
	}
	return "kind " + kind
}
