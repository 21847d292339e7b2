package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/lorimer-dev/lorimer/harness/store"
	"github.com/lorimer-dev/lorimer/harness/thread"
)

// keeper starts lorimer on a state directory of its own, which f has filled.
func keeper(b *built, f func(context.Context, *store.Store) error) (*agent, error) {
	state, err := os.MkdirTemp(b.dir, "state-")
	if err != nil {
		return nil, err
	}
	if err := fill(state, f); err != nil {
		return nil, err
	}
	a, err := launch(b, b.lorimer, "acp", "--state", state, "--model", "offline")
	if err != nil {
		return nil, err
	}
	return a, a.call("initialize", initParams, nil, nil)
}

// replay loads threads of two lengths and compares the rates and the memory.
func replay(b *built) error {
	const short, longer, rounds = 1_000, 10_000, 3
	peaks := map[int]int{}
	for _, n := range []int{short, longer} {
		var best time.Duration
		var frames, size int
		for range rounds {
			a, err := keeper(b, func(ctx context.Context, s *store.Store) error { return long(ctx, s, "long", b.dir, n) })
			if err != nil {
				return err
			}
			frames, size = 0, 0
			began := time.Now()
			err = a.call("session/load", map[string]any{"sessionId": "long", "cwd": b.dir, "mcpServers": []any{}}, nil, func(line []byte) {
				if bytes.Contains(line, []byte(`"session/update"`)) {
					frames++
					size += len(line)
				}
			})
			if err != nil {
				return err
			}
			took := time.Since(began)
			if best == 0 || took < best {
				best = took
			}
			peak, err := a.memory("VmHWM")
			if err != nil {
				return err
			}
			if peaks[n] == 0 || peak < peaks[n] {
				peaks[n] = peak
			}
			if _, err := a.close(); err != nil {
				return err
			}
		}
		fmt.Printf("  %6d entries: fastest of %d: %7.1f ms, %6.0f entries/s, %5.1f MB/s in %d frames, peak memory %.1f MB\n",
			n, rounds, ms(best), float64(n)/best.Seconds(), float64(size)/1e6/best.Seconds(), frames, float64(peaks[n])/1e3)
	}
	fmt.Printf("  memory for ten times the entries: %+.1f MB (bar: a page, 1 MB, and what the collector leaves)\n",
		float64(peaks[longer]-peaks[short])/1e3)
	return nil
}

// list pages through many threads, all of them and those of one directory.
func list(b *built) error {
	const threads, projects = 10_000, 100
	dir := func(i int) string { return filepath.Join("/projects", fmt.Sprint(i%projects)) }
	a, err := keeper(b, func(ctx context.Context, s *store.Store) error {
		for i := range threads {
			said := thread.User{MessageID: "m", Sent: []thread.Part{{Text: "hello"}}}
			if err := s.Create(ctx, fmt.Sprintf("thread-%05d", i), thread.Created{Cwd: dir(i)}, said, thread.Title{Text: fmt.Sprint("the title of thread ", i)}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, q := range []struct {
		name   string
		params map[string]any
	}{
		{"all", map[string]any{}},
		{"of one directory", map[string]any{"cwd": dir(7)}},
	} {
		pages, found := 0, 0
		var slowest time.Duration
		busy, err := a.busy()
		if err != nil {
			return err
		}
		began := time.Now()
		for {
			var page struct {
				Sessions   []struct{ SessionID string }
				NextCursor string
			}
			asked := time.Now()
			if err := a.call("session/list", q.params, &page, nil); err != nil {
				return err
			}
			slowest = max(slowest, time.Since(asked))
			pages++
			found += len(page.Sessions)
			if page.NextCursor == "" {
				break
			}
			q.params["cursor"] = page.NextCursor
		}
		took := time.Since(began)
		now, err := a.busy()
		if err != nil {
			return err
		}
		fmt.Printf("  %-16s %5d of %d threads in %3d pages: %6.1f ms, slowest page %5.2f ms, processor %6.1f ms\n",
			q.name, found, threads, pages, ms(took), ms(slowest), ms(now-busy))
	}
	_, err = a.close()
	return err
}

// A kept is a program whose threads are kept somewhere, and what it took at best.
type kept struct {
	name      string
	start     func() (*agent, error)
	one, many cost // of a process with one turn, and with many
}

// A cost is what a process took.
type cost struct{ cpu, wall time.Duration }

// storeTurns compares turns of the program with those of the same program whose
// threads are in memory alone.
func storeTurns(b *built) error {
	const rounds, turns = 5, 200
	script, err := script(b, 1)
	if err != nil {
		return err
	}
	programs := []*kept{
		{name: "in memory", start: func() (*agent, error) { return launch(b, b.without, "acp", "--model", script) }},
		{name: "in SQLite", start: func() (*agent, error) { return launch(b, b.lorimer, "acp", "--model", script) }},
	}
	for range rounds {
		for _, p := range programs {
			if err := p.one.lower(p.start, 1); err != nil {
				return err
			}
			if err := p.many.lower(p.start, 1+turns); err != nil {
				return err
			}
		}
	}
	for _, p := range programs {
		fmt.Printf("  %s, best of %d: %.2f ms of processor time with one turn; each of %d more %.2f ms, %.2f ms from prompt to answer\n",
			p.name, rounds, ms(p.one.cpu), turns, p.each(turns), ms(p.many.wall-p.one.wall)/turns)
	}
	fmt.Printf("  the database adds %.2f ms of processor time to a turn (bar: 2 ms), and %.2f ms to be opened\n",
		programs[1].each(turns)-programs[0].each(turns), ms(programs[1].one.cpu-programs[0].one.cpu))
	return nil
}

// each returns the processor time of a turn beyond the first, in milliseconds.
func (p *kept) each(turns int) float64 { return ms(p.many.cpu-p.one.cpu) / float64(turns) }

// lower has turns in one session of a new process and keeps the lower figures.
func (c *cost) lower(start func() (*agent, error), turns int) error {
	a, err := start()
	if err != nil {
		return err
	}
	session, err := a.open()
	if err != nil {
		return err
	}
	began := time.Now()
	for range turns {
		if err := a.call("session/prompt", promptParams(session, "hello"), nil, nil); err != nil {
			return err
		}
	}
	wall := time.Since(began)
	cpu, err := a.close()
	if err != nil {
		return err
	}
	if c.cpu == 0 || cpu < c.cpu {
		c.cpu = cpu
	}
	if c.wall == 0 || wall < c.wall {
		c.wall = wall
	}
	return nil
}
