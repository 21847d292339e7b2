package cli

import (
	"errors"
	"os/exec"
	"runtime"
	"slices"
	"strings"
)

// openBrowser shows an address in the user's browser, which outlives this program. It
// says what is missing for that, and not whether the browser shows it.
func openBrowser(environ []string, address string) error {
	name, args := browser(runtime.GOOS)
	if name == "xdg-open" && !hasDisplay(environ) {
		return errors.New("there is no display")
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return err
	}
	cmd := exec.Command(path, append(args, address)...)
	cmd.Env = environ
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release() // it lives as long as the browser, if it is the first
}

// without returns the environment without variables: a browser needs no keys of models.
func without(environ, names []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(names, name)
	})
}

// browser returns the command that opens an address with what the user has chosen for
// that.
func browser(system string) (name string, args []string) {
	switch system {
	case "windows":
		return "rundll32", []string{"url.dll,FileProtocolHandler"}
	case "darwin":
		return "open", nil
	}
	return "xdg-open", nil
}

// hasDisplay reports whether a browser could have a window: without, one for terminals
// would take this one.
func hasDisplay(environ []string) bool {
	return slices.ContainsFunc(environ, func(kv string) bool {
		name, value, _ := strings.Cut(kv, "=")
		return value != "" && (name == "DISPLAY" || name == "WAYLAND_DISPLAY")
	})
}
