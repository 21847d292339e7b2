package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// built names the programs under measurement.
type built struct {
	dir     string
	lorimer string
	without string // lorimer whose threads are in memory, with no database linked in
	bare    string // the least agent there can be
	stub    string // an MCP server
}

const module = "github.com/lorimer-dev/lorimer/"

// build builds the programs in dir as they are shipped.
func build(dir string) (*built, error) {
	b := &built{dir: dir}
	overlay, err := withoutStore(dir)
	if err != nil {
		return nil, err
	}
	for _, p := range []struct {
		path  *string
		name  string
		pkg   string
		flags []string
	}{
		{&b.lorimer, "lorimer", "cmd/lorimer", nil},
		{&b.without, "without", "cmd/lorimer", []string{"-overlay", overlay}},
		{&b.bare, "bare", "cmd/lorimer/bench/bare", nil},
		{&b.stub, "mcpstub", "cmd/mcpstub", nil},
	} {
		*p.path = filepath.Join(dir, p.name)
		cmd := exec.Command("go", goBuild(*p.path, module+p.pkg, p.flags)...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		cmd.Stderr = os.Stderr
		if err := cmd.Run(); err != nil {
			return nil, fmt.Errorf("building %s: %w", p.name, err)
		}
	}
	return b, nil
}

// goBuild returns the arguments that build a package as it is shipped.
func goBuild(out, pkg string, flags []string) []string {
	args := append([]string{"build", "-trimpath", "-ldflags", "-s -w", "-o", out}, flags...)
	return append(args, pkg)
}

//go:embed without/store.txt
var storeless []byte

// withoutStore writes an overlay in which one file takes the place of the store,
// and returns its name.
func withoutStore(dir string) (overlay string, err error) {
	out, err := exec.Command("go", "list", "-f", "{{.Dir}}\n{{join .GoFiles \"\\n\"}}", module+"harness/store").Output()
	if err != nil {
		return "", fmt.Errorf("listing the store: %w", err)
	}
	names := strings.Fields(string(out))
	stub := filepath.Join(dir, "store.go")
	replace := map[string]string{}
	for _, name := range names[1:] {
		replace[filepath.Join(names[0], name)] = ""
	}
	replace[filepath.Join(names[0], names[1])] = stub
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(stub, storeless, 0o600); err != nil {
		return "", err
	}
	return overlay, os.WriteFile(overlay, text, 0o600)
}
