//go:build unix

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/cmd/lorimer/e2e/wirecheck"
)

// patience bounds a failure; nothing is expected to take so long.
const patience = time.Minute

// A keeper is acpx with sessions that it keeps: a process of its own owns the
// agent between the commands of a session, for a second.
type keeper struct {
	*peer
	agent string   // its command line
	lines *os.File // ends when no agent is left
}

// newKeeper prepares acpx. Each agent holds on to a pipe, by which the test can
// tell when the last of them has gone.
func newKeeper(t *testing.T) *keeper {
	t.Helper()
	k := &keeper{peer: newPeer(t)}
	pipe, script := filepath.Join(k.home, "lifeline"), filepath.Join(k.home, "agent.sh")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if k.lines, err = os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.lines.Close() })
	text := fmt.Sprintf("exec 9>'%s'\nexec %s\n", pipe, strings.Join(k.peer.agent("--model", "offline"), " "))
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	k.agent = "sh " + script
	return k
}

// gone waits until no agent runs.
func (k *keeper) gone() {
	k.t.Helper()
	k.lines.SetReadDeadline(time.Now().Add(patience))
	if p, err := io.ReadAll(k.lines); err != nil || len(p) > 0 {
		k.t.Fatalf("an agent is left (%v, %q)", err, p)
	}
}

// acpx runs a command of acpx and returns what it prints.
func (k *keeper) acpx(args ...string) string {
	k.t.Helper()
	main := abs(k.t, "node_modules/acpx/dist/cli.js")
	out, diag, err := k.run(append([]string{main, "--agent", k.agent, "--ttl", "1", "--approve-all"}, args...)...)
	if err != nil {
		k.t.Fatalf("acpx %q: %v\n%s\n%s", args, err, out, diag)
	}
	return out
}

// asked returns the methods that the client called on each agent that was sent a
// prompt, in order, without those between them that set options.
func (k *keeper) asked() (calls []string) {
	k.t.Helper()
	for _, wire := range k.recorded() {
		var methods []string
		for _, l := range wire {
			var m struct{ ID, Method any }
			if l.Dir == wirecheck.ToAgent && json.Unmarshal([]byte(l.Text), &m) == nil && m.Method != nil && m.ID != nil {
				methods = append(methods, fmt.Sprint(m.Method))
			}
		}
		if slices.Contains(methods, "session/prompt") {
			calls = append(calls, strings.Join(methods, " "))
		}
	}
	return calls
}

// TestRow177KeptSessionOfAcpx goes on with a session over several processes of the
// agent, which acpx resumes by its id, and finds it in the list of the agent.
func TestRow177KeptSessionOfAcpx(t *testing.T) {
	k := newKeeper(t)
	k.file("notes.txt", "first line\n")
	id := strings.TrimSpace(lastLine(k.acpx("sessions", "new")))
	k.gone()
	for _, tt := range []struct{ prompt, want string }{
		{"read notes.txt", "first line"}, {"run echo hello-$((40+2))", "hello-42"}, {"stream 5 words", "word4 word5"},
	} {
		if out := k.acpx("prompt", tt.prompt); !strings.Contains(out, tt.want) || !strings.Contains(out, "end_turn") {
			t.Errorf("acpx prompt %q prints %q, want %q and the end of the turn", tt.prompt, out, tt.want)
		}
		k.gone() // the owner of the session has ended its agent
	}
	const one = "initialize session/resume session/prompt"
	if diff := cmp.Diff([]string{one, one, one}, k.asked()); diff != "" {
		t.Errorf("what the agents that answered were asked (-want +got):\n%s", diff)
	}
	if fields := strings.Split(lastLine(k.acpx("sessions", "list")), "\t"); len(fields) < 3 || !slices.Equal(fields[:3], []string{id, "read notes.txt", k.cwd}) {
		t.Errorf("acpx sessions list prints %q, want %s with its title and %s", fields, id, k.cwd)
	}

	out, diag, err := k.exec("lorimer", "session", "show", id, "--json")
	if err != nil {
		t.Fatalf("lorimer session show: %v: %s", err, diag)
	}
	var shown struct{ Pieces []struct{ Kind, Text string } }
	if err := json.NewDecoder(bytes.NewReader([]byte(out))).Decode(&shown); err != nil {
		t.Fatal(err)
	}
	var users []string
	for _, p := range shown.Pieces {
		if p.Kind == "user" {
			users = append(users, p.Text)
		}
	}
	if diff := cmp.Diff([]string{"read notes.txt", "run echo hello-$((40+2))", "stream 5 words"}, users); diff != "" {
		t.Errorf("messages of the user in the store (-want +got):\n%s", diff)
	}
	k.acpx("sessions", "close")
	k.gone()
}

// lastLine returns the last line that is not empty.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
