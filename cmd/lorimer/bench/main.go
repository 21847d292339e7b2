// Command bench measures the finished program from outside and prints each
// figure with what it is compared to. Nothing is asserted: a machine that is
// busy with other work gives other times, so compare the ratios of one run.
//
//	go run ./cmd/lorimer/bench            # all
//	go run ./cmd/lorimer/bench start size # some
package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// A figure is one measurement; it prints its own lines.
type figure struct {
	name string
	what string
	run  func(b *built) error
}

var figures = []figure{
	{"size", "size of the stripped program, CGO off", size},
	{"start", "start to the answer to initialize, beside the bare agent and a program without databases", start},
	{"cancel", "prompt and cancel in one write, 300 times", cancelRace},
	{"chunks", "processor time of a chunk in a turn of 2,000", chunks},
	{"replay", "session/load of long threads, from a store that was closed", replay},
	{"list", "session/list over 10,000 threads, page by page", list},
	{"store", "processor time of a turn with its database, beside one with none", storeTurns},
	{"reuse", "how much of a request the next one repeats, over turns with tools in each protocol", reuse},
	{"providers", "size of the clients of all providers", providers},
	{"servers", "session/new with MCP servers, how soon they are listed, and what is left of them", servers},
	{"memory", "resident memory after initialize and after one session", memory},
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(names []string) error {
	for _, n := range names {
		if !slices.ContainsFunc(figures, func(f figure) bool { return f.name == n }) {
			return fmt.Errorf("no figure %q; there are %s", n, known())
		}
	}
	dir, err := os.MkdirTemp("", "lorimer-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b, err := build(dir)
	if err != nil {
		return err
	}
	for _, f := range figures {
		if len(names) > 0 && !slices.Contains(names, f.name) {
			continue
		}
		fmt.Printf("%s: %s\n", f.name, f.what)
		if err := f.run(b); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return nil
}

func known() string {
	var all []string
	for _, f := range figures {
		all = append(all, f.name)
	}
	return strings.Join(all, ", ")
}

// size prints the size of the program, and of one without its databases.
func size(b *built) error {
	with, err := os.Stat(b.lorimer)
	if err != nil {
		return err
	}
	without, err := os.Stat(b.without)
	if err != nil {
		return err
	}
	fmt.Printf("  %.1f MB, %.1f MB of it for the databases\n", float64(with.Size())/1e6, float64(with.Size()-without.Size())/1e6)
	return nil
}
