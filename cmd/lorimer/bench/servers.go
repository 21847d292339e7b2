package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// statusMethod tells how the MCP servers of a session stand.
const statusMethod = "_lorimer.dev/mcp_status"

// servers measures what MCP servers cost those who wait, and whether they leave
// anything behind.
func servers(b *built) error {
	return errors.Join(newWithServers(b), listServers(b), leaveServers(b))
}

// stubs returns n servers for session/new that behave as args say.
func stubs(b *built, n int, args ...string) []any {
	all := make([]any, n)
	for i := range all {
		all[i] = map[string]any{"name": fmt.Sprintf("stub %d", i+1), "command": b.stub, "args": args, "env": []any{}}
	}
	return all
}

// newWithServers times session/new with more and more programs to start, in turns.
func newWithServers(b *built) error {
	const rounds = 10
	counts := []int{0, 1, 5, 20}
	best := map[int]time.Duration{}
	for range rounds {
		for _, n := range counts {
			a, err := offline(b)
			if err != nil {
				return err
			}
			began := time.Now()
			if err := a.call("session/new", map[string]any{"cwd": a.cmd.Dir, "mcpServers": stubs(b, n)}, nil, nil); err != nil {
				return err
			}
			took := time.Since(began)
			if _, err := a.close(); err != nil {
				return err
			}
			if best[n] == 0 || took < best[n] {
				best[n] = took
			}
		}
	}
	for _, n := range counts {
		fmt.Printf("  session/new with %2d servers: %6.2f ms, fastest of %d, ratio %.2f (bar: 1.2)\n",
			n, ms(best[n]), rounds, float64(best[n])/float64(best[0]))
	}
	return nil
}

// listServers times from session/new until 20 servers are listed that take a second
// each to answer anything.
func listServers(b *built) error {
	const n, limit = 20, 30 * time.Second
	a, err := offline(b)
	if err != nil {
		return err
	}
	var s struct{ SessionID string }
	began := time.Now()
	err = a.call("session/new", map[string]any{"cwd": a.cmd.Dir, "mcpServers": stubs(b, n, "--delay", "1s")}, &s, nil)
	if err != nil {
		return err
	}
	connected := 0
	for connected < n && time.Since(began) < limit {
		time.Sleep(5 * time.Millisecond)
		if connected, err = a.connected(s.SessionID); err != nil {
			return err
		}
	}
	fmt.Printf("  %d of %d servers that sleep for 1 s are listed after %.0f ms (bar: 1500)\n", connected, n, ms(time.Since(began)))
	_, err = a.close()
	return err
}

// connected returns how many servers of a session have been listed.
func (a *agent) connected(session string) (n int, err error) {
	var all struct {
		Servers []struct{ State string }
	}
	if err := a.call(statusMethod, map[string]any{"sessionId": session}, &all, nil); err != nil {
		return 0, err
	}
	for _, s := range all.Servers {
		if s.State == "connected" { // and so listed
			n++
		}
	}
	return n, nil
}

// leaveServers opens and closes 100 sessions with a server each, and counts what is
// left of them.
func leaveServers(b *built) error {
	const sessions, warm = 100, 5
	a, err := offline(b)
	if err != nil {
		return err
	}
	var before, after left
	for i := range warm + sessions {
		if i == warm {
			if before, err = a.left(); err != nil {
				return err
			}
		}
		var s struct{ SessionID string }
		if err := a.call("session/new", map[string]any{"cwd": a.cmd.Dir, "mcpServers": stubs(b, 1)}, &s, nil); err != nil {
			return err
		}
		for n := 0; n == 0; {
			if n, err = a.connected(s.SessionID); err != nil {
				return err
			}
		}
		if err := a.call("session/close", map[string]any{"sessionId": s.SessionID}, nil, nil); err != nil {
			return err
		}
	}
	if after, err = a.left(); err != nil {
		return err
	}
	fmt.Printf("  after %d sessions with a server: %d processes (before %d), %d files (%d), %d threads (%d), %d KB resident (%d)\n",
		sessions, after.children, before.children, after.files, before.files, after.threads, before.threads, after.memory, before.memory)
	fmt.Println("  goroutines: go test -run Leak ./mcpbridge")
	_, err = a.close()
	return err
}

// left is what a process holds of the system.
type left struct{ children, files, threads, memory int }

func (a *agent) left() (l left, err error) {
	proc := fmt.Sprintf("/proc/%d/", a.cmd.Process.Pid)
	files, err := os.ReadDir(proc + "fd")
	if err != nil {
		return l, err
	}
	tasks, err := os.ReadDir(proc + "task")
	if err != nil {
		return l, err
	}
	l.files, l.threads = len(files), len(tasks)
	if l.memory, err = a.memory("VmRSS"); err != nil {
		return l, err
	}
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return l, err
	}
	for _, name := range all {
		p, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended since
		}
		if parent(p) == a.cmd.Process.Pid {
			l.children++
		}
	}
	return l, nil
}

// parent reads the parent from what the system tells of a process.
func parent(stat []byte) (pid int) {
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])) // from the third on
	if len(fields) > 1 {
		pid, _ = strconv.Atoi(fields[1])
	}
	return pid
}

// offline starts lorimer with the model that needs no network.
func offline(b *built) (*agent, error) {
	a, err := launch(b, b.lorimer, "acp", "--model", "offline")
	if err != nil {
		return nil, err
	}
	return a, a.call("initialize", initParams, nil, nil)
}
