package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// providers prints what the clients of all providers add to a program.
func providers(b *built) error {
	const bar = 10e6
	none, err := program(b, "noprovider", nil)
	if err != nil {
		return err
	}
	for _, p := range []struct {
		name string
		tags []string
	}{
		{"as it is built", nil},
		{"with bedrock and cohere", []string{"-tags", "bedrock cohere"}},
	} {
		all, err := program(b, "everyprovider", p.tags)
		if err != nil {
			return err
		}
		fmt.Printf("  %-24s %5.2f MB, %.2f MB over a program with the types alone of %.2f MB (bar: %.0f MB)\n",
			p.name, mb(all), mb(all-none), mb(none), float64(bar)/1e6)
	}
	return nil
}

func mb(n int64) float64 { return float64(n) / 1e6 }

// program builds a program that stands beside this one and returns its size.
func program(b *built, name string, flags []string) (int64, error) {
	out := filepath.Join(b.dir, name)
	cmd := exec.Command("go", goBuild(out, module+"cmd/lorimer/bench/"+name, flags)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("building %s: %w", name, err)
	}
	info, err := os.Stat(out)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
