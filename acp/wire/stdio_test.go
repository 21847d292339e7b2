//go:build unix

package wire_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lorimer-dev/lorimer/acp/wire"
)

// agentEnv names the part that the test binary plays as a child of itself.
const agentEnv = "WIRE_TEST_AGENT"

func TestMain(m *testing.M) {
	if part := os.Getenv(agentEnv); part != "" {
		if err := playAgent(part); err != nil {
			fmt.Fprintln(os.Stderr, "agent:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// playAgent is the main function of an agent.
func playAgent(part string) error {
	in, out, log, err := wire.Stdio()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	var c *wire.Conn
	h := handler{serve: func(context.Context, *wire.Request) (any, error) { return "ok", nil }}
	o := wire.Options{}
	switch part {
	case "strays":
		h.serve = strays
	case "unheard":
		h.serve = func(context.Context, *wire.Request) (any, error) {
			for _, f := range []*os.File{log, os.Stdout, os.Stderr} {
				if _, err := f.WriteString("unheard\n"); !errors.Is(err, syscall.EPIPE) {
					return nil, fmt.Errorf("writing without a reader: %v, want %v", err, syscall.EPIPE)
				}
			}
			return "ok", nil
		}
	case "stops":
		h.serve = func(_ context.Context, r *wire.Request) (any, error) {
			r.After(func() { cancel(errSignal) })
			return "bye", nil
		}
	case "stuck":
		o.Grace = 50 * time.Millisecond
		h.serve = func(context.Context, *wire.Request) (any, error) {
			time.AfterFunc(50*time.Millisecond, func() { cancel(errSignal) })
			for {
				if err := c.Notify("n", strings.Repeat("x", 1<<20)); err != nil {
					return nil, err
				}
			}
		}
	}
	c = wire.New(in, out, h, o)
	err = c.Serve(ctx)
	switch {
	case part == "stops" && errors.Is(err, errSignal) && !errors.Is(err, wire.ErrUnfinished):
		return nil
	case part == "stuck" && errors.Is(err, errSignal):
		return nil // whether the write could be ended depends on what the parent handed over
	case part == "closed" && errors.Is(err, wire.ErrClosed):
		return nil
	}
	return err
}

// strays does what must not reach the connection: it prints, and runs a child
// that prints, reads and is killed by a signal that the agent survives.
func strays(context.Context, *wire.Request) (any, error) {
	fmt.Println("stray print")
	cmd := exec.Command("sh", "-c", "echo stray child; cat; kill -PIPE $$; echo survived")
	cmd.Stdin, cmd.Stdout = os.Stdin, os.Stdout
	var exit *exec.ExitError
	if err := cmd.Run(); !errors.As(err, &exit) {
		return nil, fmt.Errorf("child ended with %v, want a signal", err)
	}
	return "ok", nil
}

// agent returns a command that plays part. It is killed with the test.
func agent(t *testing.T, part string) (cmd *exec.Cmd, stderr *bytes.Buffer) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	stderr = new(bytes.Buffer)
	cmd = exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), agentEnv+"="+part)
	cmd.Stderr = stderr
	return cmd, stderr
}

// C004, C075.
func TestStdioIsForTheProtocolAlone(t *testing.T) {
	cmd, stderr := agent(t, "strays")
	cmd.Stdin = strings.NewReader(request(1, "m") + echo)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("agent: %v\n%s", err, stderr)
	}
	if want := []string{`{"jsonrpc":"2.0","id":1,"result":"ok"}`, echoed}; !sameSet(strings.Split(strings.TrimSpace(string(out)), "\n"), want) {
		t.Errorf("stdout:\n%s\nwant in any order %q", out, want)
	}
	if got, want := stderr.String(), "stray print\nstray child\n"; got != want {
		t.Errorf("stderr = %q, want %q", got, want)
	}
}

// R-ACP-08: a log that nobody reads does not end the agent.
func TestStdioOutlivesTheReaderOfItsLog(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	cmd, _ := agent(t, "unheard")
	cmd.Stdin = strings.NewReader(request(1, "m"))
	cmd.Stderr = w
	out, err := cmd.Output()
	if got, want := string(out), `{"jsonrpc":"2.0","id":1,"result":"ok"}`+"\n"; err != nil || got != want {
		t.Errorf("stdout = %q (%v), want %q", got, err, want)
	}
}

// The agent leaves while its input stays open and nothing comes.
func TestStdioEndsWithItsContext(t *testing.T) {
	cmd, stderr := agent(t, "stops")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if _, err := io.WriteString(stdin, request(1, "m")); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("agent: %v\n%s", err, stderr)
	}
	if took := time.Since(start); took > 4*time.Second {
		t.Errorf("agent left after %v, as if by force", took)
	}
	if got, want := out.String(), `{"jsonrpc":"2.0","id":1,"result":"bye"}`+"\n"; got != want {
		t.Errorf("stdout = %q, want %q", got, want)
	}
}

func TestStdioWithoutAReaderIsAnError(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	cmd, stderr := agent(t, "closed")
	cmd.Stdin = strings.NewReader(request(1, "m"))
	cmd.Stdout = w
	if err := cmd.Run(); err != nil {
		t.Errorf("agent: %v\n%s", err, stderr)
	}
}

// R-ACP-05: an agent with nothing to do notices that nobody reads its output any
// more, though its input stays open.
func TestStdioLosesItsReader(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd, stderr := agent(t, "closed")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if _, err := io.WriteString(stdin, request(1, "m")); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(r).ReadString('\n'); err != nil { // it is up, and idle
		t.Fatal(err)
	}
	r.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("agent: %v\n%s", err, stderr)
	}
}

// A write that never returns does not keep the agent.
func TestStdioOutputThatIsNeverRead(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	cmd, stderr := agent(t, "stuck")
	cmd.Stdin = strings.NewReader(request(1, "m"))
	cmd.Stdout = w
	if err := cmd.Run(); err != nil {
		t.Errorf("agent: %v\n%s", err, stderr)
	}
}
