// Package e2e drives the finished program with clients that others wrote, and
// judges every wire that it records (R-ACP-36).
package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lorimer-dev/lorimer/cmd/internal/cli"
	"github.com/lorimer-dev/lorimer/cmd/lorimer/e2e/require"
	"github.com/lorimer-dev/lorimer/cmd/lorimer/e2e/wirecheck"
)

// TestMain lets the test binary be lorimer, and the wiretap between it and a
// client.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"lorimer": func() {
			os.Exit(cli.Main(cli.Process{
				Args: os.Args[1:], Environ: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
			}))
		},
		"wiretap": func() { os.Exit(wiretap(os.Args[1], os.Args[2:])) },
	})
}

// wiretap runs a command and writes what passes through its standard input and
// output to a new file in the folder, a [wirecheck.Line] a line. It returns the
// exit code.
func wiretap(folder string, command []string) int {
	f, err := os.CreateTemp(folder, "*.jsonl")
	if err != nil {
		fmt.Fprintln(os.Stderr, "wiretap:", err)
		return 1
	}
	defer f.Close()
	var mu sync.Mutex // a line of the log is written at once
	record := func(d wirecheck.Dir) io.Writer {
		return &lines{take: func(text string) error {
			mu.Lock()
			defer mu.Unlock()
			return json.NewEncoder(f).Encode(wirecheck.Line{Dir: d, Text: text})
		}}
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stderr = os.Stderr
	cmd.Stdout = io.MultiWriter(record(wirecheck.ToClient), os.Stdout)
	in, err := cmd.StdinPipe()
	if err != nil {
		fmt.Fprintln(os.Stderr, "wiretap:", err)
		return 1
	}
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "wiretap:", err)
		return 1
	}
	// Both goroutines end with this process.
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGHUP, os.Interrupt)
	go func() {
		for s := range stop {
			cmd.Process.Signal(s)
		}
	}()
	go func() {
		// The log has the line before the agent can answer it.
		io.Copy(io.MultiWriter(record(wirecheck.ToAgent), in), os.Stdin)
		in.Close()
	}()
	if err := cmd.Wait(); err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			return exit.ExitCode()
		}
		return 1
	}
	return 0
}

// lines calls take with each complete line.
type lines struct {
	take func(string) error
	rest []byte
}

func (l *lines) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	for {
		line, rest, ok := bytes.Cut(l.rest, []byte("\n"))
		if !ok {
			return len(p), nil
		}
		if err := l.take(string(line)); err != nil {
			return 0, err
		}
		l.rest = rest
	}
}

// A peer is an installed client and what it says to the agent.
type peer struct {
	t     *testing.T
	node  string
	home  string // HOME of client and agent
	cwd   string // the workspace
	wires string // the folder with the wire of each process of the agent
}

// newHost skips the test where the packages of others are not installed.
func newHost(t *testing.T) *peer {
	t.Helper()
	return &peer{
		t:    t,
		node: require.Peer(t, require.NPM, abs(t, "node_modules/.bin/node")),
		home: t.TempDir(), cwd: t.TempDir(),
	}
}

// newPeer is newHost for a client of ACP. When the test ends the recorded wire is
// judged.
func newPeer(t *testing.T) *peer {
	t.Helper()
	p := newHost(t)
	p.wires = filepath.Join(p.home, "wires")
	if err := os.Mkdir(p.wires, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.judge)
	return p
}

func abs(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// agent is the command line of the agent behind its tap.
func (p *peer) agent(flags ...string) []string {
	return append([]string{"wiretap", p.wires, "lorimer", "acp"}, flags...)
}

// run runs a script or a program of the packages with node.
func (p *peer) run(args ...string) (stdout, stderr string, err error) {
	p.t.Helper()
	return p.exec(p.node, args...)
}

// command is a program at home, in the workspace.
func (p *peer) command(name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(p.t.Context(), name, args...)
	cmd.Dir = p.cwd
	cmd.Env = []string{"HOME=" + p.home, "PATH=" + filepath.Dir(p.node) + ":" + os.Getenv("PATH")}
	return cmd
}

// exec runs a program at home, in the workspace.
func (p *peer) exec(name string, args ...string) (stdout, stderr string, err error) {
	p.t.Helper()
	cmd := p.command(name, args...)
	var out, diag bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &diag
	err = cmd.Run()
	return out.String(), diag.String(), err
}

// recorded returns the wire of each process of the agent, in no order.
func (p *peer) recorded() (wires [][]wirecheck.Line) {
	p.t.Helper()
	files, err := filepath.Glob(filepath.Join(p.wires, "*.jsonl"))
	if err != nil {
		p.t.Fatal(err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			p.t.Fatal(err)
		}
		dec := json.NewDecoder(bytes.NewReader(data))
		var wire []wirecheck.Line
		for dec.More() {
			var l wirecheck.Line
			if err := dec.Decode(&l); err != nil {
				p.t.Fatalf("%s: %v", name, err)
			}
			wire = append(wire, l)
		}
		wires = append(wires, wire)
	}
	return wires
}

// judge reports every breach of the protocol in the recorded wires.
func (p *peer) judge() {
	schemas, err := wirecheck.Load(abs(p.t, "node_modules/@agentclientprotocol/sdk/schema"))
	if err != nil {
		p.t.Error(err)
		return
	}
	wires := p.recorded()
	if len(wires) == 0 {
		p.t.Error("nothing was recorded")
	}
	for _, wire := range wires {
		for _, f := range wirecheck.Check(wire, schemas) {
			p.t.Error(f)
		}
	}
	for _, wire := range wires {
		for _, l := range wire {
			if p.t.Failed() {
				p.t.Logf("%s %s", l.Dir, l.Text)
			}
		}
	}
}

// file writes a file into the workspace.
func (p *peer) file(name, content string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.cwd, name), []byte(content), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// read returns a file of the workspace.
func (p *peer) read(name string) string {
	p.t.Helper()
	data, err := os.ReadFile(filepath.Join(p.cwd, name))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(data)
}
